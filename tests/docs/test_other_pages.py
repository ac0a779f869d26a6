"""Decisions keep their form, the changelog its own, and the guide for contributors names files that exist."""

from __future__ import annotations

import re

import pytest
from documents import ROOT, blocks, code, links, read, rows, section

from tcdp_audit import __version__
from tcdp_audit.testing.releases import ROLES

DECISIONS = sorted(path for path in (ROOT / "docs" / "decisions").iterdir())


@pytest.mark.parametrize("name", [path.name for path in DECISIONS])
def test_a_decision_has_context_choice_and_cost(name: str):
    text = read(f"docs/decisions/{name}")

    assert re.fullmatch(r"\d{3}-[a-z0-9-]+\.md", name)
    assert re.findall(r"^#+ .*", text, re.MULTILINE)[1:] == ["## Context", "## Choice", "## Cost"]
    assert 10 <= len(text.splitlines()) <= 30


def test_decisions_are_numbered_and_listed():
    listed = [link for link in links(section(read("docs/README.md"), "## Decisions")) if "decisions/" in link]

    assert [int(path.name[:3]) for path in DECISIONS] == list(range(1, len(DECISIONS) + 1))
    assert listed == [f"decisions/{path.name}" for path in DECISIONS]


def test_the_index_lists_every_page_of_the_folder():
    listed = set(links(read("docs/README.md")))

    assert {path.name for path in (ROOT / "docs").glob("*.md")} - listed == {"README.md"}


def test_the_changelog_has_this_version():
    text = read("CHANGELOG.md")

    assert __version__ in text
    assert re.findall(r"^## (.*)", text, re.MULTILINE)[0] == "[Unreleased]"
    assert "### Added" in text


def test_files_of_a_check_are_where_contributors_look():
    for cells in rows(section(read("CONTRIBUTING.md"), "## Adding a check")):
        for path in code(cells[0]):
            assert (
                ROOT / path.replace("NAME", "k_anonymity").replace("test_k_anonymity", "test_beta_likeness")
            ).exists(), path


def test_files_of_a_remedy_are_where_contributors_look():
    for cells in rows(section(read("CONTRIBUTING.md"), "## Adding a remedy")):
        for path in code(cells[0]):
            assert (ROOT / path.replace("NAME", "mondrian")).exists(), path


def test_the_columns_that_an_examples_remedy_may_name_are_documented():
    documented = code(section(read("CONTRIBUTING.md"), "## Adding a remedy"))

    assert [name for name in ROLES if name not in documented] == []


def test_contributors_are_given_commands_that_exist():
    for block in blocks(read("CONTRIBUTING.md"), "sh"):
        for file in re.findall(r"(?:python |^)([\w./]+/[\w.]+)(?= |$)", block.text, re.MULTILINE):
            assert (ROOT / file).exists(), file
