"""`explain NAME` prints what was written ahead where only built-in plugins are installed: what they say themselves."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.cli import main, written_pages
from tcdp_audit.cli.guide import for_terminal
from tcdp_audit.cli.guide_page import page_of
from tcdp_audit.cli.written_pages import written_page
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
NAMES = [*PLUGINS.checks, *PLUGINS.remedies]


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What every check and every remedy says of itself, by name."""
    registered = [*PLUGINS.checks.values(), *PLUGINS.remedies.values()]
    return {one.name: for_terminal(page_of(one, for_terminal=True)) for one in registered}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that modules are imported from, the only one beside that of tcdp-audit itself."""
    ours = tmp_path / "ours" / "tcdp_audit-0.1.0.dist-info"
    ours.mkdir(parents=True)
    (ours / "entry_points.txt").write_text("[tcdp_audit]\nchecks = tcdp_audit_plugins.checks\n", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "ours"), str(tmp_path / "others"), str(tmp_path / "nowhere")])
    monkeypatch.setattr(sys, "meta_path", [one for one in sys.meta_path if not hasattr(one, "find_distributions")])
    (tmp_path / "others").mkdir()
    return tmp_path / "others"


def _install(place: Path, metadata: str, text: str | None) -> None:
    (place / metadata).mkdir()
    if text is not None:
        (place / metadata / "entry_points.txt").write_text(text, encoding="utf-8")


@pytest.mark.xdist_group("written pages")  # one worker writes them
@pytest.mark.parametrize("name", NAMES)
def test_it_is_what_the_loaded_one_says(name: str, said: dict[str, str], place: Path) -> None:  # noqa: ARG001
    assert written_page(name) == said[name]


@pytest.mark.parametrize("name", ["nobody", "../checks/k_anonymity", "k_anonymity.md", "--help", ""])
def test_another_name_is_left_to_the_command(name: str, place: Path) -> None:  # noqa: ARG001
    assert written_page(name) is None


def test_distributions_without_plugins_of_ours_do_not_matter(place: Path) -> None:
    _install(place, "one-1.dist-info", "[console_scripts]\none = one:main\n")
    _install(place, "two-1.dist-info", None)
    (place / "three-1.egg-info").write_text("Metadata-Version: 1.0\n", encoding="utf-8")  # as distutils left it
    assert written_page("k_anonymity") is not None


@pytest.mark.parametrize("metadata", ["acme-1.dist-info", "acme.egg-info", "EGG-INFO"])
def test_where_another_distribution_has_plugins_they_are_asked(metadata: str, place: Path) -> None:
    _install(place, metadata, "[console_scripts]\na = a:b\n\n[tcdp_audit]\nacme = acme\n")
    assert written_page("k_anonymity") is None


def test_where_distributions_cannot_be_seen_plugins_are_asked(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        @staticmethod
        def find_distributions(*_: object) -> list[object]:
            return []

    (place / "archive.zip").write_bytes(b"PK")
    monkeypatch.setattr(sys, "path", [*sys.path, str(place / "archive.zip")])
    assert written_page("k_anonymity") is None
    monkeypatch.setattr(sys, "path", sys.path[:-1])
    assert written_page("k_anonymity") is not None
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert written_page("k_anonymity") is None


def test_where_our_own_plugins_are_not_installed_there_is_nothing_to_show(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(place)])
    assert written_page("k_anonymity") is None


def test_the_command_prints_it(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(written_pages, "PAGES", place)
    monkeypatch.setattr(sys, "argv", ["tcdp-audit", "explain", "k_anonymity"])
    (place / "checks").mkdir()
    (place / "checks" / "k_anonymity.md").write_text("<!-- -->\n\n# Written ahead\n", encoding="utf-8")
    assert main() == 0
    assert capsys.readouterr() == ("Written ahead\n", "")


def test_a_check_and_a_remedy_of_one_name_are_both_shown(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written_pages, "PAGES", place)
    for kind in ("checks", "remedies"):
        (place / kind).mkdir()
        (place / kind / "both.md").write_text(f"<!-- -->\n\n# In {kind}\n", encoding="utf-8")
    assert written_page("both") == "In checks\nIn remedies\n"
