"""Imports run one way between the packages of the core, in the order of the table in docs/architecture.md.

Those for type checkers and in functions are imports as well.
"""

from __future__ import annotations

import re

from imports import ROOT, Import, imports, modules

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
ROWS = PAGE.split("<!-- packages -->")[1].split("<!-- end -->")[0].strip().splitlines()[2:]
LAYERS = [re.findall("`([^`]+)`", row.split("|")[1]) for row in ROWS]  # each may import what stands above it
FLOOR = {name: number for number, names in enumerate(LAYERS) for name in names}


def package(module: str) -> str:
    return module.split(".")[1] if "." in module else module


def test_every_package_has_its_row() -> None:
    assert {package(module) for module in modules() if module.split(".")[0] == "tcdp_audit"} == set(FLOOR)


def test_imports_run_one_way() -> None:
    def climbs(one: Import) -> bool:
        importer, imported = package(one.importer), package(one.module)
        return importer != imported and FLOOR[imported] >= FLOOR[importer]

    inside = [one for one in imports("tcdp_audit") if one.module.split(".")[0] == "tcdp_audit"]
    assert len(inside) > 500
    assert [one for one in inside if climbs(one)] == []


def test_the_core_knows_neither_its_plugins_nor_its_reports() -> None:
    outside = [one for one in imports("tcdp_audit") if one.module.split(".")[0] != "tcdp_audit"]
    assert outside == []
