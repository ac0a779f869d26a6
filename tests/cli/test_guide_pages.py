"""The documentation of checks and remedies is complete, and is what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tcdp_audit import audit, load_policy
from tcdp_audit.api import LINK_DEMANDS
from tcdp_audit.cli.declarations import index_of_checks, index_of_remedies, registered_page
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.check import Need
from tcdp_audit.testing.releases import ROLES
from tools.generate import guides

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PLUGINS = Plugins.load(external=False)
CHECKS, REMEDIES = dict(sorted(PLUGINS.checks.items())), dict(sorted(PLUGINS.remedies.items()))


def test_every_guide_is_that_of_a_check_or_a_remedy():
    assert sorted(guides("checks")) == list(CHECKS)
    assert sorted(guides("remedies")) == list(REMEDIES)


@pytest.mark.parametrize(
    "path", [*guides("checks").values(), *guides("remedies").values()], ids=lambda path: Path(path).stem
)
def test_front_matter_is_yaml(path: str):
    guide = (CHECKS | REMEDIES)[Path(path).stem].guide
    text = (ROOT / path).read_text(encoding="utf-8")
    front = next(yaml.safe_load_all(text)) if text.startswith("---\n") else {}

    parts = ("question", "risk", "plainly")
    assert front == {name: getattr(guide, name) for name in parts if hasattr(guide, name)}
    assert all(front.values())


@pytest.mark.parametrize("name", CHECKS)
def test_a_page_demands_by_parameters_that_there_are(name: str):
    (demand,) = (line for line in registered_page(CHECKS[name]).splitlines() if line.startswith("Passes if"))

    named = demand.split("`")[1::2]
    assert named == [limit.parameter for limit in CHECKS[name].limits]
    assert set(named) <= set(CHECKS[name].parameters.model_fields)


@pytest.mark.parametrize("registered", [*CHECKS.values(), *REMEDIES.values()], ids=lambda one: one.name)
def test_the_command_prints_pages_for_the_documentation(registered: Any, here: Any):
    printed = here("explain", registered.name, "--markdown", "--no-external-plugins").out

    assert printed == registered_page(registered)
    assert printed.startswith(f"# {registered.title}\n")


def test_without_a_name_the_command_prints_both_lists(here: Any):
    printed = here("explain", "--markdown", "--no-external-plugins").out

    assert printed == f"{index_of_checks(CHECKS, {})}\n{index_of_remedies(REMEDIES, {})}"
    assert all(f"[`{name}`]({name}.md)" in printed for name in [*CHECKS, *REMEDIES])


@pytest.mark.parametrize("name", CHECKS)
def test_a_guide_leaves_nothing_out(name: str):
    guide = CHECKS[name].guide

    for part in ("definition", "formula", "reading", "choosing", "source", "example"):
        assert len(getattr(guide, part).strip()) >= 10, f"{name}: the guide's {part} is missing"
    assert any(character.isdigit() for character in guide.source), f"{name}: the source has no year or number"


def names_in(example: Any) -> Iterator[str]:
    """The columns that an example names, however deep."""
    if isinstance(example, list):
        yield from (name for one in example for name in names_in(one))
    elif isinstance(example, dict):
        for key, value in example.items():
            if key in {"attribute", "attributes", "column", "target", "other_attributes", "sensitive"}:
                yield from [value] if isinstance(value, str) else value
            elif isinstance(value, dict):
                yield from names_in(value)


@pytest.mark.parametrize("name", CHECKS)
def test_the_example_is_an_expectation_on_this_check(name: str):
    expectations = yaml.safe_load(CHECKS[name].guide.example)
    given = [one[name] or {} for one in expectations]
    named = set(names_in(given))
    tree = {"*": {"all": ["low", "high"]}}
    sensitive = {"role": "sensitive", "scale": "numeric", "hierarchy": tree}
    attributes = {"ward": {"role": "quasi_identifier"}, **dict.fromkeys(named or {"salary"}, sensitive)}
    if Need.WHOLE_RECORDS in CHECKS[name].needs:
        attributes = {"ward": {"role": "quasi_identifier"}}
    companions = {name: f"{name}.csv" for name in ("original", "population", "holdout", "registry", "previous")} | {
        "key": "id"
    }

    if Need.UNIT in CHECKS[name].needs:
        companions["unit"] = "person"

    described: dict[str, Any] = {**companions, "attributes": attributes}
    if Need.UNLINKED_TABLES in CHECKS[name].needs:
        tables = {table for one in given for table in one["tables"]}
        described = {"tables": {one: {"file": f"{one}.csv", "attributes": attributes} for one in tables}}
    if not CHECKS[name].on_records:
        figures = {"dimensions": {"ward": {"total": "All"}}, "measures": {"patients": {"counts": "people"}}}
        microdata = {"file": "people.csv", "unit": "person"}
        described = {"tables": {"wards": figures}, "models": {"income": {"n": 50, "parameters": 3}}}
        described["microdata"] = microdata

    policy = load_policy({"version": 1, **described, "expect": expectations})

    assert [one.check.name for one in policy.expectations] == [name] * len(expectations)


@pytest.mark.parametrize("name", REMEDIES)
def test_a_remedys_guide_leaves_nothing_out(name: str):
    guide = REMEDIES[name].guide

    for part in ("method", "choosing", "guarantees", "source", "example"):
        assert len(getattr(guide, part).strip()) >= 10, f"{name}: the guide's {part} is missing"
    assert any(character.isdigit() for character in guide.source), f"{name}: the source has no year or number"


@pytest.mark.parametrize("name", REMEDIES)
def test_the_example_is_a_remedy_of_a_policy(name: str):
    remedies = yaml.safe_load(REMEDIES[name].guide.example)
    expect = [{"k_anonymity": {"k": 5}}]
    masked = remedies[0].get("t_by_noise", {}).get("attributes")  # of which no secret may stay as it is
    roles = {
        column: one for column, one in ROLES.items() if masked is None or column in masked or one["role"] != "sensitive"
    }

    policy = load_policy({"version": 1, "attributes": roles, "expect": expect, "remedy": remedies}, PLUGINS)

    assert [one.remedy.name for one in policy.remedies] == [name] * len(remedies)


def test_the_structural_outcomes_are_documented(papers: Path):
    text = (DOCS / "structure.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}

    structure = audit(None, papers / "li07_table4.tcdp.yaml").structure

    assert rows == {*(one.check for one in structure), *LINK_DEMANDS, "further_content"}
