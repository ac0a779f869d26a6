"""Imports run one way, in the order of the table in docs/architecture.md, and applications use the waist alone.

Imports for type checkers and in functions are imports as well.
"""

from __future__ import annotations

import re

import pytest
from imports import ROOT, Import, imports, modules

PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
ROWS = PAGE.split("<!-- packages -->")[1].split("<!-- end -->")[0].strip().splitlines()[2:]
LAYERS = [re.findall("`([^`]+)`", row.split("|")[1]) for row in ROWS]  # each may import what is above it
FLOOR = {name: number for number, names in enumerate(LAYERS) for name in names}
APPLICATIONS = ("cli", "integrations", "drafting", "arx", "frontiers", "verification", "testing", "demo", "studio")
WAIST = {"tcdp_audit", "api", "core.results"}
pytestmark = pytest.mark.xdist_group("imports")  # which one worker reads


def inside() -> list[Import]:
    """The imports of the package from itself."""
    return [use for use in imports("tcdp_audit") if use.module.split(".")[0] == "tcdp_audit"]


def room(module: str) -> str:
    """The room that a module belongs to, as the table calls it."""
    parts = module.split(".")
    if parts[1:2] == ["core"]:
        return ".".join(parts[1:3])
    return parts[1] if len(parts) > 1 else module


def test_every_room_has_its_row() -> None:
    rooms = {room(module) for module in modules() if module.split(".")[0] == "tcdp_audit"} - {"core"}
    assert rooms == set(FLOOR)


def test_imports_run_one_way() -> None:
    def climbs(use: Import) -> bool:
        importer, imported = room(use.importer), room(use.module)
        return importer != imported and FLOOR[imported] >= FLOOR[importer]

    assert len(inside()) > 500
    assert [use for use in inside() if climbs(use)] == []


def test_the_core_knows_neither_its_plugins_nor_its_reports() -> None:
    outside = [use for use in imports("tcdp_audit") if use.module.split(".")[0] != "tcdp_audit"]
    assert outside == []


def test_the_core_imports_no_application() -> None:
    core = [use for use in inside() if use.importer.startswith("tcdp_audit.core.")]
    assert len(core) > 300
    assert [use for use in core if not use.module.startswith("tcdp_audit.core.")] == []


@pytest.mark.parametrize("application", APPLICATIONS)
def test_an_application_imports_the_waist_alone(application: str) -> None:
    def passes(use: Import) -> bool:
        imported = room(use.module)
        public = imported == "plugin" and not use.module.endswith("._internal")
        return public or imported in WAIST or imported in APPLICATIONS

    uses = [use for use in inside() if room(use.importer) == application]
    assert [use for use in uses if not passes(use)] == []
