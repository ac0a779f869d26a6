"""A check's guide as a documentation page; `python -m tcdp_audit.guide_page docs/checks` writes all pages."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from tcdp_audit.check import AttributeParameters, ClassCheck
from tcdp_audit.files import write_atomically
from tcdp_audit.policy.schema import parameters_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tcdp_audit.check import Check

GENERATED = "<!-- Written by `python -m tcdp_audit.guide_page docs/checks` from the checks themselves. -->"
INDEX = "README.md"


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


def parameters_of(check: Check) -> list[Parameter]:
    """The parameters of a check, its own before those that every check has."""
    schema = parameters_schema(check)
    common = AttributeParameters.model_fields
    names = sorted(schema["properties"], key=lambda name: name in common)
    return [_parameter(check, name, schema["properties"][name], schema["$defs"]) for name in names]


def formula_lines(check: Check) -> list[str]:
    """The formula, one variant a line."""
    return check.guide.formula.split(";  ")


def demands(check: Check) -> dict[str, str]:
    """For each parameter that is a threshold, a sentence on what keeps it."""
    if isinstance(check, ClassCheck):
        return {
            one.parameter: f"A class keeps {one.parameter} if its figure ({one.label or one.parameter}) is "
            f"{one.comparison.value} {one.parameter}."
            for one in check.thresholds
        }
    return {"at_most": f"A release keeps at_most if the {check.label} is {check.comparison.value} at_most."}


def markdown(check: Check) -> str:
    """The documentation page of a check."""
    guide = check.guide
    sections = {
        "Definition": f"{guide.definition}\n\n{_fenced('text', *formula_lines(check))}",
        "Parameters": f"{_table(parameters_of(check))}\n\n{' '.join(demands(check).values())}",
        "How to read it": guide.reading,
        "How to choose a threshold": guide.choosing,
        "Limits": guide.limits,
        "In a policy": _fenced("yaml", "expect:", indent(guide.example, "  ")),
        "Source": guide.source,
    }
    told = [f"## {heading}\n\n{text}" for heading, text in sections.items() if text]
    head = f"# {check.title}\n\nCheck `{check.name}`. Disclosure: {check.quarter.value}."
    return "\n\n".join([GENERATED, head, *told]) + "\n"


def index(checks: Mapping[str, Check]) -> str:
    """The page that lists all checks."""
    rows = [f"| [`{name}`]({name}.md) | {one.title} | {one.quarter.value} |" for name, one in sorted(checks.items())]
    table = "\n".join(["| check | title | disclosure |", "|---|---|---|", *rows])
    return f"""{GENERATED}

# Checks

Every check that a policy may expect; `tcdp-audit explain CHECK` shows the same page.

{table}

What the auditor asks of every release by itself: [structure](../structure.md).
"""


def pages(checks: Mapping[str, Check]) -> dict[str, str]:
    """Every page by its file name."""
    return {INDEX: index(checks), **{f"{name}.md": markdown(one) for name, one in sorted(checks.items())}}


def main(arguments: Sequence[str]) -> int:
    """Write the pages of the built-in checks into a folder."""
    from tcdp_audit.plugin_manager import Plugins  # noqa: PLC0415 - loads every plugin

    folder = Path(*arguments[:1])
    for name, text in pages(Plugins.load(external=False).checks).items():
        write_atomically(folder / name, text)
    return 0


def _fenced(language: str, *lines: str) -> str:
    return "\n".join([f"```{language}", *lines, "```"])


def _table(parameters: Sequence[Parameter]) -> str:
    cells = [(f"`{one.name}`", one.kind, one.default, one.description) for one in parameters]
    rows = [("parameter", "type", "default", "meaning"), ("---",) * 4, *cells]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)


def _parameter(check: Check, name: str, node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Parameter:
    default = node.get("default")
    shown = "none" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
    if name in demands(check):
        shown = "none: measured only"
    return Parameter(name, _kind(node, definitions), shown, node.get("description", ""))


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
    told = [f"{words[key]} {node[key]:g}" for key in words if key in node]
    return f", {' and '.join(told)}" if told else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
