"""Lists of the built-in checks and remedies, with links to their guides: in README.md and in docs/."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tcdp_audit.api import Check, Plugins
from tcdp_audit.cli.declarations import index_of_checks, index_of_remedies
from tcdp_audit.plugin.check import DisclosureType

README = Path(__file__).parents[2] / "README.md"
MARK = "<!-- Written by `python -m tools.generate` from the checks and remedies themselves. -->\n\n"
LIST = re.compile(r"(?<=from the checks themselves -->\n).*?(?=<!-- end of checks -->)", re.DOTALL)


def lists(plugins: Plugins, checks: Mapping[str, str], remedies: Mapping[str, str]) -> dict[str, str]:
    """The pages with lists, by their paths, given the paths of the guides of checks and remedies by name."""
    return {
        "docs/checks/README.md": MARK + index_of_checks(plugins.checks, _from_docs(checks)),
        "docs/remedies/README.md": MARK + index_of_remedies(plugins.remedies, _from_docs(remedies)),
        "README.md": LIST.sub(lambda _: _list_of(plugins.checks, checks), README.read_text(encoding="utf-8")),
    }


def _from_docs(paths: Mapping[str, str]) -> dict[str, str]:
    return {name: f"../../{path}" for name, path in paths.items()}


def _list_of(checks: Mapping[str, Check], paths: Mapping[str, str]) -> str:
    """A table with one row for each kind and degree of disclosure that has checks."""
    rows = ["| disclosure | checks |", "|---|---|"]
    for disclosure in DisclosureType:
        names = sorted(name for name, one in checks.items() if one.disclosure_type is disclosure)
        if names:
            rows.append(f"| {disclosure.value} | {', '.join(f'[`{name}`]({paths[name]})' for name in names)} |")
    return "\n".join(rows) + "\n"
