"""docs/architecture.md has every module of the core, and no module that is gone."""

from __future__ import annotations

from documents import ROOT, code, read, rows, section

PAGE = read("docs/architecture.md")
PACKAGE = ROOT / "tcdp_audit"


def test_every_module_has_a_row():
    told = [code(cells[0])[0] for cells in rows(section(PAGE, "## Where things are"))]
    there = [path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py")]

    assert sorted(told) == sorted(there)


def test_every_file_that_the_text_names_is_there():
    named = {span for span in code(PAGE) if span.endswith((".py", ".yaml", ".json"))}
    files = {path.name for path in [*PACKAGE.rglob("*"), *(ROOT / "reports").rglob("*")]}

    assert [name for name in named if name.rsplit("/", 1)[-1] not in files] == []
