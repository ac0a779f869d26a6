"""The stub `core/repair/typed.pyi`: a signature of `measure` for each check, from the JSON Schema of its parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import parameters_schema

if TYPE_CHECKING:
    from tcdp_audit.api import Check

HEAD = """# Written by `python -m tools.generate` from the parameters of the checks themselves.

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, overload

from tcdp_audit.plugin.sentences import Outcome, Severity

_Number: TypeAlias = float | str | Decimal | Fraction  # 0.2, "1/5"
_Value: TypeAlias = str | float  # a name, or a cell as text

"""
OF_ATTRIBUTE = (
    "attribute: str | None = None",
    'scale: Literal["nominal", "ordinal", "numeric"] | None = None',
    "order: Iterable[Any] | None = None",
    "hierarchy: str | Mapping[str, Any] | None = None",
    'distribution: Literal["uniform"] | Mapping[str, Any] | None = None',
)
CONVENTIONS = "conventions: Mapping[str, Any] | None = None"
ANY_CHECK = (*OF_ATTRIBUTE, CONVENTIONS, "parameters: Mapping[str, Any] | None = None")
LINE_LENGTH = 120
PLAIN = {"integer": "int", "boolean": "bool", "string": "str", "null": "None"}


def signatures(checks: Mapping[str, Check]) -> str:
    """The text of the stub: one signature a check in the order of their names, and one for a name that is no literal.

    The last one takes no parameters by keyword. Otherwise it would accept a built-in check with a misspelt one.
    """
    known = [
        _signature(f"Literal[{_literal(name)}]", _arguments(check))
        for name, check in sorted(checks.items())
        if check.on_records
    ]
    return HEAD + "".join([*known, _signature("str", ANY_CHECK)])


def _signature(check: str, arguments: Iterable[str]) -> str:
    lines = [f"check: {check}", "frame: Any", "*", "quasi_identifiers: str | Iterable[str]", *arguments]
    return "@overload\ndef measure(\n" + "".join(map(_line, lines)) + ") -> Outcome: ...\n"


def _line(argument: str) -> str:
    """The line of an argument as ruff formats it: the values of a long `Literal` are on a separate line."""
    line = f"    {argument},\n"
    if len(line.rstrip()) <= LINE_LENGTH:
        return line
    before, values = argument.split("Literal[", 1)
    values, after = values.split("]", 1)
    return f"    {before}Literal[\n        {values}\n    ]{after},\n"


def _arguments(check: Check) -> Iterator[str]:
    """The arguments of `measure` for a check: the declarations of its attribute, if it has one, and its parameters.

    A parameter that has the name of such a declaration is left out, because `measure` takes it for that.
    """
    schema = parameters_schema(check)
    declarations = OF_ATTRIBUTE if "attribute" in schema["properties"] else ()
    yield from declarations
    yield CONVENTIONS
    taken = {"severity", *(one.partition(":")[0] for one in declarations)}
    own = ((name, node) for name, node in schema["properties"].items() if name not in taken)
    for name, node in own:
        kind = _type(node, schema["$defs"])
        yield f"{name}: {kind}" + ("" if name in schema.get("required", ()) else f" = {_default(node, kind)}")
    yield f'severity: Severity | Literal["error", "warning"] = {_literal(schema["properties"]["severity"]["default"])}'


def _type(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    return " | ".join(dict.fromkeys(_types(node, definitions)))


def _types(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    """The types that a JSON Schema accepts. A number or text is a name, a cell, or an exact number."""
    if "$ref" in node:
        yield from _types(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    elif "anyOf" in node:
        for one in node["anyOf"]:
            yield from _types(one, definitions)
    elif "enum" in node or "const" in node:
        yield f"Literal[{', '.join(map(_literal, node.get('enum', [node.get('const')])))}]"
    elif node["type"] == "array":
        yield f"Sequence[{_type(node['items'], definitions)}]"
    elif node["type"] == "object":
        values = node["additionalProperties"]  # false where the keys are named
        yield f"Mapping[str, {_type(values, definitions) if values else 'Any'}]"
    elif node["type"] == ["string", "number"]:
        yield "_Value"
    else:
        yield "_Number" if node["type"] == "number" or "pattern" in node else PLAIN[node["type"]]


def _default(node: Mapping[str, Any], kind: str) -> str:
    """A default as a stub may have it, without lists and exact numbers."""
    default = node.get("default")
    if default is None or isinstance(default, bool | int):
        return repr(default)
    return "..." if isinstance(default, list) or "_Number" in kind else _literal(default)


def _literal(value: object) -> str:
    return json.dumps(value)
