"""`explain NAME` composes a page without its check where only built-in plugins are installed: as the check has it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import tcdp_audit_plugins
from tcdp_audit.cli import built_in_pages, main
from tcdp_audit.cli.built_in_pages import built_in_page
from tcdp_audit.cli.declarations import registered_page
from tcdp_audit.cli.page import laid_out
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
PLACE = str(Path(tcdp_audit_plugins.__file__).parents[1])
NAMES = [*PLUGINS.checks, *PLUGINS.remedies]


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What every check and every remedy says of itself, by name."""
    registered = [*PLUGINS.checks.values(), *PLUGINS.remedies.values()]
    return {one.name: laid_out(registered_page(one, for_terminal=True)) for one in registered}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that modules are imported from, the only one beside that of tcdp-audit itself."""
    ours = tmp_path / "ours" / "tcdp_audit-0.1.0.dist-info"
    ours.mkdir(parents=True)
    (ours / "entry_points.txt").write_text("[tcdp_audit]\nchecks = tcdp_audit_plugins.checks\n", encoding="utf-8")
    monkeypatch.setattr(
        sys, "path", [str(tmp_path / "ours"), str(tmp_path / "others"), str(tmp_path / "nowhere"), PLACE]
    )
    monkeypatch.setattr(sys, "meta_path", [one for one in sys.meta_path if not hasattr(one, "find_distributions")])
    (tmp_path / "others").mkdir()
    return tmp_path / "others"


def _install(place: Path, metadata: str, text: str | None) -> None:
    (place / metadata).mkdir()
    if text is not None:
        (place / metadata / "entry_points.txt").write_text(text, encoding="utf-8")


@pytest.mark.xdist_group("built-in pages")  # one worker makes them
@pytest.mark.parametrize("name", NAMES)
def test_it_is_what_the_loaded_one_says(name: str, said: dict[str, str], place: Path) -> None:  # noqa: ARG001
    assert built_in_page(name) == said[name]


@pytest.mark.parametrize("name", ["nobody", "../checks/k_anonymity", "k_anonymity.md", "--help", ""])
def test_another_name_is_left_to_the_command(name: str, place: Path) -> None:  # noqa: ARG001
    assert built_in_page(name) is None


def test_distributions_without_plugins_of_ours_do_not_matter(place: Path) -> None:
    _install(place, "one-1.dist-info", "[console_scripts]\none = one:main\n")
    _install(place, "two-1.dist-info", None)
    (place / "three-1.egg-info").write_text("Metadata-Version: 1.0\n", encoding="utf-8")  # as distutils left it
    assert built_in_page("k_anonymity") is not None


@pytest.mark.parametrize("metadata", ["acme-1.dist-info", "acme.egg-info", "EGG-INFO"])
def test_where_another_distribution_has_plugins_they_are_asked(metadata: str, place: Path) -> None:
    _install(place, metadata, "[console_scripts]\na = a:b\n\n[tcdp_audit]\nacme = acme\n")
    assert built_in_page("k_anonymity") is None


def test_where_distributions_cannot_be_seen_plugins_are_asked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        @staticmethod
        def find_distributions(*_: object) -> list[object]:
            return []

    (place / "archive.zip").write_bytes(b"PK")
    monkeypatch.setattr(sys, "path", [*sys.path, str(place / "archive.zip")])
    assert built_in_page("k_anonymity") is None
    monkeypatch.setattr(sys, "path", sys.path[:-1])
    assert built_in_page("k_anonymity") is not None
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert built_in_page("k_anonymity") is None


def test_where_our_own_plugins_are_not_installed_there_is_nothing_to_show(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(place)])
    assert built_in_page("k_anonymity") is None


def _entry(title: str, guide: str) -> dict[str, Any]:
    return {"name": "both", "title": title, "summary": "One.", "parameters": {}, "conditions": [], "guide": guide}


CATALOGUE = {"checks": [_entry("In checks", "a.md")], "remedies": [_entry("In remedies", "b.md")]}


def test_a_check_and_a_remedy_of_one_name_are_both_shown(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    package = place / built_in_pages.PACKAGE
    (package / "generated").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "generated" / "catalogue.json").write_text(json.dumps(CATALOGUE), encoding="utf-8")
    (package / "a.md").write_text("## Definition\n\nIt is one.\n\n```text\n1\n```\n", encoding="utf-8")
    (package / "b.md").write_text("## Method\n\nIt waits\nand waits.\n", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["tcdp-audit", "explain", "both"])
    assert main() == 0
    first, second = capsys.readouterr().out.split("In remedies\n")
    assert first.startswith("In checks\n\nOne.\n\nDefinition\n\n  It is one.\n\n  1\n")
    assert "Method\n\n  It waits and waits.\n\nParameters\n\n  None.\n" in second
