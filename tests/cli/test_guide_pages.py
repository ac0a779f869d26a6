"""The documentation of checks and remedies is complete, and is what they say of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tcdp_audit import audit, load_policy
from tcdp_audit.cli import written_pages
from tcdp_audit.cli.guide_page.__main__ import INDEX, generated, main, pages
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.testing.remedy_cases import ROLES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PLUGINS = Plugins.load(external=False)
CHECKS, REMEDIES = dict(sorted(PLUGINS.checks.items())), dict(sorted(PLUGINS.remedies.items()))
PAGES = pages(PLUGINS)
INDICES = (f"checks/{INDEX}", f"remedies/{INDEX}")
GENERATED = generated(PLUGINS, (ROOT / "README.md").read_text(encoding="utf-8"))
COMMAND = "python -m tcdp_audit.cli.guide_page"


def test_everything_registered_has_a_page():
    registered = [*(f"checks/{name}.md" for name in CHECKS), *(f"remedies/{name}.md" for name in REMEDIES)]

    assert sorted(PAGES) == sorted([*INDICES, *registered])


@pytest.mark.parametrize("name", GENERATED)
def test_each_generated_file_is_there_and_up_to_date(name: str):
    page = ROOT / name

    assert page.is_file(), f"{name} is missing: {COMMAND}"
    assert page.read_text(encoding="utf-8") == GENERATED[name], f"{name} is stale: {COMMAND}"


def test_pages_schema_list_of_checks_and_signatures_are_generated():
    signatures = {"tcdp_audit/core/repair/typed.pyi", "tcdp_audit/integrations/great_expectations/__init__.pyi"}
    others = {"docs/policy.schema.json", "README.md", *signatures}

    printed = {f"tcdp_audit/cli/pages/{name}" for name in PAGES if name not in INDICES}
    assert set(GENERATED) == {*(f"docs/{name}" for name in PAGES), *printed, *others}
    assert all(f"docs/checks/{name}.md" in GENERATED["README.md"] for name in CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_a_page_demands_by_parameters_that_there_are(name: str):
    (demand,) = (line for line in PAGES[f"checks/{name}.md"].splitlines() if line.startswith("Passes if"))

    named = demand.split("`")[1::2]
    assert named == [limit.parameter for limit in CHECKS[name].limits]
    assert set(named) <= set(CHECKS[name].parameters.model_fields)


def test_no_page_is_left_of_what_is_gone():
    there, printed = (
        {f"{kind}/{path.name}" for kind in ("checks", "remedies") for path in (folder / kind).iterdir()}
        for folder in (DOCS, written_pages.PAGES)
    )

    assert there == set(PAGES)
    assert printed == set(PAGES) - set(INDICES)


@pytest.mark.parametrize("name", [name for name in PAGES if name not in INDICES])
def test_the_pages_are_what_the_command_prints(name: str, here: Any):
    assert here("explain", Path(name).stem, "--markdown", "--no-external-plugins").out == PAGES[name]


def test_without_a_name_the_command_prints_both_lists(here: Any):
    printed = here("explain", "--markdown", "--no-external-plugins").out

    assert printed == "\n".join(PAGES[name] for name in INDICES)


def test_everything_is_written_by_the_documented_command(tmp_path: Path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (tmp_path / "README.md").write_text(readme.replace("[`k_map`](docs/checks/k_map.md)", ""), encoding="utf-8")

    assert main([str(tmp_path)]) == 0

    written = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    assert {name: path.read_text("utf-8") for name, path in written.items()} == GENERATED
    assert COMMAND in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_a_folder_without_the_projects_readme_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        f"{tmp_path / 'README.md'}: no README with a marked list of checks; name the project's folder\n"
    )
    assert list(tmp_path.iterdir()) == []


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
    companions = {name: f"{name}.csv" for name in ("original", "population", "holdout", "registry", "previous")} | {
        "key": "id"
    }

    policy = load_policy({"version": 1, **companions, "attributes": attributes, "expect": expectations})

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

    policy = load_policy({"version": 1, "attributes": ROLES, "expect": expect, "remedy": remedies}, PLUGINS)

    assert [one.remedy.name for one in policy.remedies] == [name] * len(remedies)


def test_the_structural_outcomes_are_documented(papers: Path):
    text = (DOCS / "structure.md").read_text(encoding="utf-8")
    rows = {line.split("`")[1] for line in text.splitlines() if line.startswith("| `")}

    structure = audit(None, papers / "li07_table4.tcdp.yaml").structure

    assert rows == {one.check for one in structure}
