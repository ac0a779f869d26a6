"""The expectation classes: one for each registered check, and one for the demands on the columns.

They are made, and registered with Great Expectations, when this module is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from pydantic.v1 import Field as PydanticField

from tcdp_audit.integrations.great_expectations.demands import plugins
from tcdp_audit.integrations.great_expectations.expectation import DisclosureExpectation
from tcdp_audit.integrations.great_expectations.names import DECLARED_COLUMNS, class_names
from tcdp_audit.integrations.great_expectations.parameters import Field, all_fields, columns_fields

PACKAGE = __name__.rpartition(".")[0]  # where the classes are attributes, so that they can be pickled
COLUMNS = "The core's own demands on the columns: each is declared and there, none identifies, values keep their scale."


def fields_of(check: Any) -> list[Field]:
    """Every parameter of an expectation, required ones first; of the demands on the columns for None."""
    return columns_fields() if check is None else all_fields(check)


def _made(name: str, check: Any) -> type[DisclosureExpectation]:
    fields = fields_of(check)
    namespace: dict[str, Any] = {
        one.name: PydanticField(... if one.required else None, description=one.description) for one in fields
    }
    names = tuple(one.name for one in fields)
    namespace |= {
        "__module__": PACKAGE,
        "__qualname__": name,
        "__doc__": COLUMNS if check is None else f"{check.title}. {check.guide.definition}",
        "__annotations__": {**dict.fromkeys(names, Any), "checked": ClassVar[Any], "is_made": ClassVar[bool],
                            "success_keys": ClassVar[Any], "args_keys": ClassVar[Any]},
        "checked": check,
        "is_made": True,
        "success_keys": names,
        "args_keys": names,
    }  # fmt: skip
    metaclass: Any = type(DisclosureExpectation)  # it registers what it makes
    made: type[DisclosureExpectation] = metaclass(name, (DisclosureExpectation,), namespace)
    return made


CLASSES: Mapping[str, Any] = MappingProxyType(
    {name: _made(name, check) for name, check in {DECLARED_COLUMNS: None, **class_names(plugins().checks)}.items()}
)
BY_TYPE: Mapping[str, Any] = MappingProxyType({one.expectation_type: one for one in CLASSES.values()})


def expectation_of(check: str) -> Any:
    """The class of a check's name.

    Raises:
        KeyError: no such check is registered.
    """
    return {one.checked.name: one for one in CLASSES.values() if one.checked is not None}[check]
