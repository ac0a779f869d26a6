"""The documentation of checks is complete, and is what the checks say of themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tcdp_audit import audit
from tcdp_audit.guide_page import INDEX, main, pages
from tcdp_audit.plugin_manager import Plugins
from tcdp_audit.policy import load_policy

DOCS = Path(__file__).parents[2] / "docs"
CHECKS = dict(sorted(Plugins.load(external=False).checks.items()))


@pytest.mark.parametrize("name", [INDEX, *(f"{name}.md" for name in CHECKS)])
def test_each_page_is_there_and_up_to_date(name: str):
    page = DOCS / "checks" / name

    assert page.is_file(), f"{name} is missing: python -m tcdp_audit.guide_page docs/checks"
    assert page.read_text(encoding="utf-8") == pages(CHECKS)[name], (
        f"{name} is stale: python -m tcdp_audit.guide_page docs/checks"
    )


def test_no_page_is_left_of_a_check_that_is_gone():
    assert {path.name for path in (DOCS / "checks").iterdir()} == set(pages(CHECKS))


@pytest.mark.parametrize("name", [None, *CHECKS])
def test_the_pages_are_what_the_command_prints(name: str | None, here: Any):
    page = DOCS / "checks" / (INDEX if name is None else f"{name}.md")
    arguments = [] if name is None else [name]

    assert here("explain", *arguments, "--markdown", "--no-external-plugins").out == page.read_text("utf-8")


def test_the_pages_are_written_by_the_documented_command(tmp_path: Path):
    assert main([str(tmp_path)]) == 0
    assert {path.name: path.read_text("utf-8") for path in tmp_path.iterdir()} == pages(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_a_guide_leaves_nothing_out(name: str):
    guide = CHECKS[name].guide

    for part in ("definition", "formula", "reading", "choosing", "source", "example"):
        assert len(getattr(guide, part).strip()) >= 10, f"{name}: the guide's {part} is missing"
    assert any(character.isdigit() for character in guide.source), f"{name}: the source has no year or number"


@pytest.mark.parametrize("name", CHECKS)
def test_the_example_is_an_expectation_on_this_check(name: str):
    expectations = yaml.safe_load(CHECKS[name].guide.example)
    given = [one[name] or {} for one in expectations]
    named = {one.get("attribute") for one in given} - {None}
    named |= {attribute for one in given for attribute in one.get("attributes", ())}
    tree = {"*": {"all": ["low", "high"]}}
    sensitive = {"role": "sensitive", "scale": "numeric", "hierarchy": tree}
    attributes = {"zip": {"role": "quasi_identifier"}, **dict.fromkeys(named or {"salary"}, sensitive)}
    companions = {"original": "original.csv", "rows_aligned": True, "population": "population.csv"}

    policy = load_policy({"version": 1, **companions, "attributes": attributes, "expect": expectations})

    assert [one.check.name for one in policy.expectations] == [name] * len(expectations)


def test_the_structural_outcomes_are_documented(papers: Path):
    text = (DOCS / "structure.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}

    structure = audit(None, papers / "li07_table4.tcdp.yaml").structure

    assert rows == {one.check for one in structure}
