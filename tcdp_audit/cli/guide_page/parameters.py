"""The parameters of a check or a remedy in words, from their JSON Schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import parameters_schema
from tcdp_audit.plugin.check import AttributeParameters, Parameters as CheckParameters

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from tcdp_audit.api import Check
    from tcdp_audit.plugin.remedy import Remedy


@dataclass(frozen=True)
class Parameter:
    """A parameter as a person reads it.

    Args:
        name: its key in a policy.
        kind: what may stand there, such as "whole number, at least 1".
        default: what holds where it is left out.
        description: what it does.
    """

    name: str
    kind: str
    default: str
    description: str


def parameters_of(registered: Check | Remedy[Any], measured: Container[str] = ()) -> list[Parameter]:
    """The parameters in the order of their model; what every check has stands behind a check's own.

    Args:
        registered: whose parameters.
        measured: thresholds; without one, a figure is only measured.
    """
    schema = parameters_schema(registered)
    properties, required = schema.get("properties", {}), schema.get("required", ())
    common = AttributeParameters.model_fields if issubclass(registered.parameters, CheckParameters) else ()
    names = sorted(properties, key=lambda name: name in common)
    return [
        Parameter(
            name=name,
            kind=_kind(properties[name], schema["$defs"]),
            default="none: measured only" if name in measured else _default(properties[name], name in required),
            description=properties[name].get("description", ""),
        )
        for name in names
    ]


def _default(node: Mapping[str, Any], required: bool) -> str:  # noqa: FBT001 - one call, beside its meaning
    if required:
        return "required"
    default = node.get("default")
    if default is None:
        return "none"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _kind(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """What a JSON Schema accepts, in words."""
    if "$ref" in node:
        return _kind(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    if "anyOf" in node:
        kinds = [_kind(one, definitions) for one in node["anyOf"] if one.get("type") != "null"]
        return ", or ".join(kinds)
    if "enum" in node or "const" in node:
        return f"one of {', '.join(map(str, node.get('enum', [node.get('const')])))}"
    if node.get("type") == "array":
        return f"list of {_kind(node.get('items', {}), definitions)}"
    if isinstance(node.get("additionalProperties"), dict):
        return f"mapping of names, each with {_kind(node['additionalProperties'], definitions)}"
    return _plain(node) + _bounds(node)


def _plain(node: Mapping[str, Any]) -> str:
    if "pattern" in node and "/" in node["pattern"]:
        return "a fraction such as 3/8"
    words = {"integer": "whole number", "number": "number", "boolean": "true or false", "object": "mapping"}
    return words.get(str(node.get("type")), "text")


def _bounds(node: Mapping[str, Any]) -> str:
    words = {
        "minimum": "at least",
        "exclusiveMinimum": "more than",
        "maximum": "at most",
        "exclusiveMaximum": "less than",
    }
    limits = [f"{words[key]} {node[key]:g}" for key in words if key in node]
    return f", {' and '.join(limits)}" if limits else ""
