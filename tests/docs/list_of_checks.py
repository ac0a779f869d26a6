"""The README's list of checks, made from the registered ones; `python tests/docs/list_of_checks.py` writes it."""

from __future__ import annotations

import re
from pathlib import Path

from tcdp_audit.check.kinds import Quarter
from tcdp_audit.files import write_atomically
from tcdp_audit.registry import Plugins

README = Path(__file__).parents[2] / "README.md"
MARKED = re.compile(r"(?<=from the checks themselves -->\n).*?(?=<!-- end of checks -->)", re.DOTALL)


def table() -> str:
    """One row for each quarter of Torra's map that has checks."""
    checks = Plugins.load(external=False).checks
    rows = ["| disclosure | checks |", "|---|---|"]
    for quarter in Quarter:
        names = sorted(name for name, one in checks.items() if one.quarter is quarter)
        if names:
            links = ", ".join(f"[`{name}`](docs/checks/{name}.md)" for name in names)
            rows.append(f"| {quarter.value} | {links} |")
    return "\n".join(rows) + "\n"


def with_table(text: str) -> str:
    """A README whose list is that of today."""
    assert MARKED.search(text), "the README has lost the marks of its list of checks"
    return MARKED.sub(lambda _: table(), text)


if __name__ == "__main__":
    write_atomically(README, with_table(README.read_text(encoding="utf-8")))
