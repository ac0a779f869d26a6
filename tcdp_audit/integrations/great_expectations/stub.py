"""This package as type checkers see it: `__init__.pyi`, written from the built-in checks.

The classes are made while the program runs, so that only a stub shows an editor their parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from tcdp_audit.integrations.great_expectations.parameters import (
    DECLARED_COLUMNS,
    Field,
    attribute_fields,
    check_fields,
    class_names,
    columns_fields,
    table_fields,
)

HEAD = """\
# Written by `python -m tools.generate` from the built-in checks.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, Unpack

from great_expectations.core.expectation_suite import ExpectationSuite
from great_expectations.expectations.expectation import BatchExpectation
from great_expectations.expectations.row_conditions import RowConditionType

from tcdp_audit.plugin.engine import TcdpAuditError
from tcdp_audit.api import Policy


class IncompleteRunError(TcdpAuditError): ...

def guarded_run(definition: Any, **parameters: Any) -> Any: ...
def load_suite(source: str | Path | Mapping[str, Any]) -> ExpectationSuite: ...
def suite_of(policy: str | Path | Mapping[str, Any] | Policy, name: str | None = None) -> ExpectationSuite: ...
def policy_of(suite: ExpectationSuite) -> dict[str, Any]: ...
def expectation_of(check: str) -> type[BatchExpectation]: ...

_Parameter: TypeAlias = Mapping[str, str]  # {"$PARAMETER": name}, a parameter of the suite

"""
HOST = """\
class _Made(BatchExpectation):  # type: ignore[misc]
    def _validate(self, metrics: Any, runtime_configuration: Any = ..., execution_engine: Any = ...) -> Any: ...

class _Host(TypedDict, total=False):
    row_condition: RowConditionType
    condition_parser: str | None
    severity: Literal["critical", "warning", "info"]
    result_format: Any
    meta: dict[str, Any] | None
    notes: str | list[str] | None
    description: str | None
    catch_exceptions: bool
    id: str | None
    batch_id: str | None
"""
SHARED = ("severity", "reason", "attribute")  # parameters of checks that a host has its own words for
TYPES = {
    "quasi_identifiers": "Sequence[str] | str",
    "declarations": "Mapping[str, Mapping[str, Any]]",
    "conventions": "Mapping[str, Any]",
    "rows_aligned": "bool",
    "unit_released": "bool",
    "keep_key": "bool",
    "internal_only": "bool",
    **dict.fromkeys(("original", "population", "holdout", "registry"), "str | Mapping[str, Any]"),
    "previous": "str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]",
    "sampling_fraction": "float | str",
    "scale": 'Literal["nominal", "ordinal", "numeric"]',
    "order": "Sequence[str]",
    "hierarchy": "str | Mapping[str, Any]",
    "distribution": "str | Mapping[str, Any]",
}


def stub_of(checks: Mapping[str, Any]) -> str:
    """The text of the stub for some checks."""
    whole, *table = columns_fields()
    shared = [_grouped("_Table", "_Host", table), _grouped("_Column", "_Table", attribute_fields())]
    classes = [_class(DECLARED_COLUMNS, [whole], {}, "_Table")]
    for name, check in class_names(checks).items():
        model = check.parameters.model_fields
        own = {field: info.annotation for field, info in model.items() if field not in SHARED}
        first = [one for one in table_fields(grouped=True) if one.name in ("quasi_identifiers", "declarations")]
        fields = sorted([*first, *check_fields(check)], key=lambda one: not one.required)
        classes.append(_class(name, fields, own, "_Column" if check.on_attribute else "_Table"))
    return "\n".join([f"{HEAD}{HOST}", *shared, *classes])


def _grouped(name: str, base: str, fields: Sequence[Field]) -> str:
    lines = "".join(f"    {_parameter(one, {}).removesuffix(' = ...')}\n" for one in fields)
    return f"class {name}({base}, total=False):\n{lines}"


def _class(name: str, fields: Sequence[Field], own: Mapping[str, Any], others: str) -> str:
    parameters = (*(_parameter(one, own) for one in fields), f"**others: Unpack[{others}]")
    lines = "".join(f"        {line},\n" for line in parameters)
    return f"class {name}(_Made):\n    def __init__(\n        self,\n        *,\n{lines}    ) -> None: ...\n"


def _parameter(one: Field, own: Mapping[str, Any]) -> str:
    is_own = one.parameter in own and one.name in (one.parameter, f"check_{one.parameter}")
    kind = _typed(own[one.parameter]) if is_own else TYPES.get(one.name, "str")
    if one.required:
        return f"{one.name}: {kind} | _Parameter"
    return f"{one.name}: {kind} | _Parameter | None = ..."


def _typed(annotation: Any) -> str:
    """A parameter's type in terms of JSON's types."""
    return " | ".join(dict.fromkeys(_kinds(annotation)))


def _kinds(annotation: Any) -> list[str]:
    if hasattr(annotation, "__metadata__"):
        return _kinds(get_args(annotation)[0])
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return [f"Literal[{', '.join(_quoted(one) for one in inside)}]"]
    if origin is list:
        return [f"Sequence[{_typed(inside[0])}]"]
    if origin is dict:
        return ["Mapping[str, Any]"]
    if inside:
        return [kind for one in inside if one is not NoneType for kind in _kinds(one)]
    return _plain(annotation)


def _plain(kind: Any) -> list[str]:
    if kind is Fraction:
        return ["float", "str"]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [f"Literal[{', '.join(_quoted(one.value) for one in kind)}]"]
    return [kind.__name__] if kind in (int, float, bool, str) else ["Any"]


def _quoted(text: Any) -> str:
    return f'"{text}"'
