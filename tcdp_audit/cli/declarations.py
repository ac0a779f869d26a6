"""The declarations of loaded checks and remedies: their pages, the lists of them, and their parameters in words."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from tcdp_audit.api import parameters_schema
from tcdp_audit.cli.page import page_of, table
from tcdp_audit.plugin.check import AttributeParameters, Parameters as CheckParameters
from tcdp_audit.plugin.remedy import Remedy

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from tcdp_audit.api import Check

RANDOM = "It draws from a source that no seed repeats, and runs once only."
ONCE = "It draws from the policy's seed, and runs once only."


def registered_page(registered: Check | Remedy[Any], *, for_terminal: bool = False) -> str:
    """The page of a loaded check or remedy as Markdown."""
    guide = {one.name: getattr(registered.guide, one.name) for one in fields(registered.guide)}
    return page_of(declaration(registered), guide, for_terminal=for_terminal)


def declaration(registered: Check | Remedy[Any]) -> dict[str, Any]:
    """The part of a page that the guide lacks: `kind`, `name`, `title`, `summary`, `parameters`, `conditions`."""
    kind, summary, conditions = _of_remedy(registered) if isinstance(registered, Remedy) else _of_check(registered)
    measured = () if isinstance(registered, Remedy) else [limit.parameter for limit in registered.limits]
    return {
        "kind": kind,
        "name": registered.name,
        "title": registered.title,
        "summary": summary,
        "parameters": {one.name: one.words for one in parameters_of(registered, measured)},
        "conditions": conditions,
    }


def _of_check(check: Check) -> tuple[str, str, list[str]]:
    demands = " and ".join(limit.demand for limit in check.limits)
    summary = f"Check `{check.name}`. Disclosure: {check.disclosure_type.value}."
    return "checks", summary, [f"{check.passes_if} {demands}."]


def _of_remedy(remedy: Remedy[Any]) -> tuple[str, str, list[str]]:
    return "remedies", f"Remedy `{remedy.name}`. {remedy.summary}", [RANDOM] * remedy.random + [ONCE] * remedy.once


def index_of_checks(checks: Mapping[str, Check], links: Mapping[str, str]) -> str:
    """The page that lists all checks, with the links to their pages by name; `NAME.md` for a missing one."""
    rows = [(_link(name, links), one.title, one.disclosure_type.value) for name, one in sorted(checks.items())]
    return f"""# Checks

Every check that a policy may expect; `tcdp-audit explain CHECK` shows its page.

{table(("check", "title", "disclosure"), rows)}

What the auditor asks of every release by itself: [structure](../structure.md).
"""


def index_of_remedies(remedies: Mapping[str, Remedy[Any]], links: Mapping[str, str]) -> str:
    """The page that lists all remedies; the arguments are those of `index_of_checks`."""
    rows = [(_link(name, links), one.title, one.summary) for name, one in sorted(remedies.items())]
    return f"""# Remedies

Every remedy that a [policy](../policy.md#remedies) may name; `tcdp-audit explain REMEDY` shows its page.

{table(("remedy", "title", "what it changes"), rows)}

None of them judges itself: after each the whole release is audited again.
"""


def _link(name: str, links: Mapping[str, str]) -> str:
    return f"[`{name}`]({links.get(name, f'{name}.md')})"


@dataclass(frozen=True)
class Parameter:
    """A parameter as a person reads it."""

    name: str  # its key in a policy
    kind: str  # the values that it takes, such as "whole number, at least 1"
    default: str  # the value where it is left out
    description: str  # its effect

    @property
    def words(self) -> list[str]:
        """Type, default and meaning, as a table has them."""
        return [self.kind, self.default, self.description]


def parameters_of(registered: Check | Remedy[Any], measured: Container[str] = ()) -> list[Parameter]:
    """The parameters in the order of their model, common last; without a `measured` one, a figure is not judged."""
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


def _default(node: Mapping[str, Any], required: bool) -> str:  # noqa: FBT001 - one call, next to its meaning
    if required:
        return "required"
    default = node.get("default")
    if default is None:
        return "none"
    return str(default).lower() if isinstance(default, bool) else str(default)


def _kind(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """The values that a JSON Schema accepts, in words."""
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
    words = {"minimum": "at least", "exclusiveMinimum": "more than"}
    words |= {"maximum": "at most", "exclusiveMaximum": "less than"}
    limits = [f"{words[key]} {node[key]:g}" for key in words if key in node]
    return f", {' and '.join(limits)}" if limits else ""
