"""A demand that names a unit is judged as in a policy of that unit, and people whom it exposes are the policy's own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

from tcdp_audit import Audit, PolicyError, UsageError, audit, failing_records, fix, frontier, load_policy
from tcdp_audit.cli.linting import implied
from tcdp_audit.cli.schema import result_schema
from tcdp_audit.core.base.outcome import WORST_GROUP
from tcdp_audit.integrations.pytest_plugin.answer import by_key, plan

ROLES = {
    "home": {"role": "insensitive"},
    "person": {"role": "insensitive"},
    "ward": {"role": "insensitive"},
    "sex": {"role": "quasi_identifier"},
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "disease": {"role": "sensitive"},
    "pay": {"role": "sensitive", "scale": "numeric"},
}
EXPECT: list[tuple[str, dict[str, Any]]] = [
    ("k_anonymity", {"k": 2}),
    ("k_anonymity", {"k": 3, "known_rows": "one"}),
    ("distinct_l_diversity", {"l": 2}),
    ("t_closeness", {"attribute": "pay", "t": 0.4, "distance": "ordered"}),
    ("homogeneity", {"at_most": 0.1}),
    ("reidentification_risk", {"at_most": 0.3, "threshold_risk": 0.2}),
    ("individual_risk", {"measure": "expected", "at_most": 2}),
    ("sample_uniqueness", {"at_most": 0.2}),
    ("known_events", {"m": 1, "k": 2}),
]
COUNTS_EVERY_RECORD = {"reidentification_risk", "individual_risk", "known_events"}
OF_POLICY: list[dict[str, Any]] = [{}, {"unit": "person"}, {"unit": "person", "household": "home"}]
FEW = {"age": [20, 21], "disease": ["x", "y"], "pay": [1, 2, 3]}


def table(seed: int) -> pd.DataFrame:
    """Rows of people, who live in homes and stay in wards, some cells missing or suppressed."""
    generator = np.random.default_rng(seed)
    records = int(generator.integers(6, 40))
    person = generator.integers(0, max(2, records // int(generator.integers(1, 4))), records)
    frame = pd.DataFrame(
        {
            "home": (person // int(generator.integers(1, 4))).astype(str),
            "person": person.astype(str),
            "ward": generator.integers(0, 6, records).astype(str),
            "sex": generator.choice(["m", "f"], records),
            **{name: generator.choice(values, records).astype(str) for name, values in FEW.items()},
        }
    )
    if seed % 3 == 1:
        frame.loc[generator.random(records) < 0.15, ["sex", "disease"]] = None
    if seed % 3 == 2:
        frame.loc[generator.random(records) < 0.15, ["sex", "age", "disease", "pay"]] = "*"
    if seed % 4 == 3:
        frame.loc[generator.random(records) < 0.1, "home"] = None
    return frame


def policy(expect: Sequence[Mapping[str, Any]], **further: Any) -> dict[str, Any]:
    """A policy with these expectations."""
    return {"version": 1, "attributes": ROLES, "sampling_fraction": 0.1, "expect": expect, **further}


def figures(audited: Audit, unit: str = "") -> list[Any]:
    """The outcomes of the demands that name a unit, or none, but for what names it."""
    left = ("unit", "table")
    outcomes = [one for one in audited.expectations if one.unit == unit]
    entries = [{name: value for name, value in one.as_json().items() if name not in left} for one in outcomes]
    for each in entries:
        for shown in each.get("details", {}).get(WORST_GROUP, ()):
            shown.pop("value")  # numbered by the audit
    return entries


def assert_as_alone(seed: int, checks: int, *, own: bool) -> None:
    """Compare a few demands of a unit with those of a policy of the unit, and the others with those of a policy."""
    generator = np.random.default_rng(seed)
    frame, of_policy = table(seed), OF_POLICY[seed % len(OF_POLICY)]
    chosen = [EXPECT[number] for number in sorted(generator.choice(len(EXPECT), checks, replace=False))]
    conventions = {"suppressed": "exempt"} if seed % 5 == 4 else {"missing_quasi_identifier": "own_category"}
    units = [one for one in ("home", "person", "ward") if one not in of_policy.values()]
    units += ["person"] if "household" in of_policy else []
    unit = str(generator.choice(units))
    if conventions.get("suppressed") == "exempt":
        chosen = [one for one in chosen if one[0] not in COUNTS_EVERY_RECORD] or EXPECT[:1]
    expect = [{name: parameters} for name, parameters in chosen if of_policy or name != "known_events"]
    expect += [{name: {**parameters, "unit": unit}} for name, parameters in chosen]
    together = audit(frame, policy(expect, conventions=conventions, **of_policy))
    alone = policy([{name: parameters} for name, parameters in chosen], conventions=conventions, unit=unit)
    assert figures(together, unit) == figures(audit(frame, alone))
    plain = [one for one in expect if "unit" not in next(iter(one.values()))]
    if own and plain:
        assert figures(together) == figures(audit(frame, policy(plain, conventions=conventions, **of_policy)))


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_every_figure_is_that_of_a_policy_of_the_unit(seed: int) -> None:
    assert_as_alone(seed, checks=1, own=False)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
@settings(max_examples=50)
@given(seed=st.integers(0, 2**32))
def test_every_figure_is_that_of_a_policy_of_the_unit_on_many_tables(part: int, seed: int) -> None:
    assert_as_alone(4 * seed + part, checks=3, own=True)


def alone_units(frame: pd.DataFrame, unit: str, k: int) -> set[str]:
    """The units whose history of sex and age fewer than k units share."""
    histories = {
        name: tuple(sorted(zip(rows["sex"], rows["age"], strict=True))) for name, rows in frame.groupby(unit, sort=True)
    }
    sizes = Counter(histories.values())
    return {str(name) for name, history in histories.items() if sizes[history] < k}


def assert_exposes(seed: int) -> None:
    frame = table(3 * (seed // 4) * 4)  # without missing and suppressed cells
    expect: list[dict[str, Any]] = [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 3, "unit": "ward"}}]
    of_wards = frame["ward"].isin(alone_units(frame, "ward", 3))
    own = frame["person"].isin(alone_units(frame, "person", 2))
    of_unit = audit(frame, policy(expect, unit="person")).exposed
    if not (own | of_wards).any():
        assert of_unit is None
        return
    assert of_unit is not None
    assert of_unit.records == int((own | of_wards).sum())
    assert (of_unit.units, of_unit.units_of) == (frame["person"][own | of_wards].nunique(), frame["person"].nunique())
    row_of_class = frame.groupby(["sex", "age"])["sex"].transform("size") < 2
    of_rows = audit(frame, policy(expect)).exposed
    assert (0 if of_rows is None else of_rows.records) == int((row_of_class | of_wards).sum())


@settings(max_examples=8)
@given(st.integers(0, 10_000))
def test_people_exposed_are_those_of_the_policy(seed: int) -> None:
    assert_exposes(seed)


@pytest.mark.long
@settings(max_examples=100)
@given(st.integers(0, 2**32))
def test_people_exposed_are_those_of_the_policy_on_many_tables(seed: int) -> None:
    assert_exposes(seed)


def test_records_that_fail_are_those_of_every_row_of_the_unit() -> None:
    frame = table(24)
    expect = [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 2, "unit": "ward"}}]
    marked = failing_records(frame, policy(expect, unit="person"))
    alone = failing_records(frame, policy([{"k_anonymity": {"k": 2}}], unit="ward"))
    masks = [None if one is None else one.tolist() for one in (marked.masks[1], alone.masks[0])]
    assert masks[0] == masks[1]


HOUSES = pd.DataFrame({"home": list("aabbc"), "person": list("uvwxy"), "ward": list("11223"), "sex": list("mfmfm"),
                       "age": ["20"] * 5, "disease": list("xyxyx"), "pay": ["1"] * 5})  # fmt: skip


def test_the_household_of_a_policy_can_be_named() -> None:
    expect = [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 2, "unit": "home"}}]
    both = audit(HOUSES, policy(expect, unit="person", household="home"))
    assert figures(both) == figures(both, "home")
    assert "households" in both.expectations[1].message


def test_the_unit_is_in_every_name() -> None:
    audited = audit(HOUSES, policy([{"k_anonymity": {"k": 3, "unit": "home"}}], unit="person"))
    (outcome,) = audited.expectations
    assert (outcome.unit, outcome.scenario) == ("home", "")
    assert outcome.title == "k-anonymity for each home"
    assert outcome.name == "k_anonymity, unit home"
    assert outcome.as_json()["unit"] == "home"
    Draft202012Validator(json.loads(result_schema())).validate(audited.as_json())
    assert outcome.conventions["unit"] == "home"
    assert "homes" in outcome.message


@pytest.mark.parametrize(
    ("unit", "of_policy", "sentence"),
    [
        ("hom", {}, "the policy declares no attribute 'hom'; did you mean 'home'?"),
        ("person", {"unit": "person"}, "'person' is the unit of the policy, which every demand judges; leave `unit`"),
        ("sex", {}, "'sex' joins rows, and its role is quasi-identifier; name a column that is neither known nor at"),
        ("pay", {}, "'pay' joins rows, and its role is sensitive; name a column that is neither known nor at stake"),
        ("ward", {"key": "ward"}, "'ward' is the key, which is not released, so that it joins no rows"),
        (
            "home",
            {"scenarios": {"neighbour": {"knows": ["sex"]}}},
            "a scenario is judged by the unit of the policy; leave `unit` out, or write a separate policy",
        ),
    ],
)
def test_a_wrong_unit_is_a_fault_with_its_line(
    tmp_path: Path, unit: str, of_policy: Mapping[str, Any], sentence: str
) -> None:
    import yaml

    text = yaml.safe_dump(policy([{"k_anonymity": {"k": 2, "unit": unit}}], **of_policy), sort_keys=False)
    path = tmp_path / "policy.tcdp.yaml"
    path.write_text(text)
    line = next(number for number, one in enumerate(text.splitlines(), 1) if f"unit: {unit}" in one and one[0] == " ")
    with pytest.raises(PolicyError) as raised:
        audit(HOUSES, path)
    assert f"policy.tcdp.yaml:{line}:" in str(raised.value)
    assert f"expect[0].k_anonymity.unit: {sentence}" in str(raised.value)


def test_an_identifier_and_a_set_of_known_columns_are_refused() -> None:
    roles = {**ROLES, "home": {"role": "identifier"}}
    with pytest.raises(PolicyError, match="'home' is an identifier, which no release may contain"):
        audit(HOUSES, {**policy([{"k_anonymity": {"k": 2, "unit": "home"}}]), "attributes": roles})
    with pytest.raises(PolicyError, match="a scenario is judged by the unit of the policy"):
        audit(HOUSES, policy([{"k_anonymity": {"k": 2, "unit": "home", "knows": ["sex"]}}]))


def test_a_set_of_known_columns_and_a_unit_may_be_in_one_policy() -> None:
    expect = [{"k_anonymity": {"k": 2, "unit": "home"}}, {"k_anonymity": {"k": 2, "knows": ["sex"]}}]
    both = audit(HOUSES, policy(expect, unit="person"))
    assert [(one.unit, one.scenario, one.observed) for one in both.expectations] == [
        ("home", "", 1.0),
        ("", "knows sex", 2.0),
    ]
    assert [one.name for one in both.scenarios] == ["knows sex"]


TABLES = {
    "people": {
        "file": "people.csv",
        "attributes": {
            "id": {"role": "insensitive"},
            "home": {"role": "insensitive"},
            "sex": {"role": "quasi_identifier"},
        },
    },
    "visits": {
        "file": "visits.csv",
        "belongs_to": "people",
        "attributes": {"id": {"role": "insensitive"}, "drug": {"role": "quasi_identifier"}},
    },
}


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """A folder with two linked tables: six people in three homes, of whom one has two visits."""
    people = pd.DataFrame({"id": range(6), "home": [1, 1, 2, 2, 3, 3], "sex": list("mfmfmf")})
    visits = pd.DataFrame({"id": [0, 1, 2, 3, 4, 5, 5], "drug": list("abababb")})
    people.to_csv(tmp_path / "people.csv", index=False)
    visits.to_csv(tmp_path / "visits.csv", index=False)
    return tmp_path


def audited_tables(folder: Path, expect: Sequence[Mapping[str, Any]], **further: Any) -> Audit:
    path = folder / "linked.tcdp.yaml"
    path.write_text(json.dumps({"version": 1, "unit": "id", "tables": TABLES, "expect": expect, **further}))
    return audit(None, path)


def test_a_unit_of_linked_tables_is_judged_as_their_household(linked: Path) -> None:
    expect = [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 3, "unit": "home"}}]
    both = audited_tables(linked, expect)
    alone = audited_tables(linked, [{"k_anonymity": {"k": 3}}], household="home")
    assert figures(both, "people.home") == figures(alone)
    assert "households" in both.expectations[1].message
    assert both.exposed is not None
    assert (both.exposed.records, both.exposed.units, both.exposed.units_of) == (6, 6, 6)
    of_people = audited_tables(
        linked, [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 2, "unit": "id"}}], household="home"
    )
    assert figures(of_people, "people.id") == figures(audited_tables(linked, [{"k_anonymity": {"k": 2}}]))


def test_a_unit_of_linked_tables_is_a_column_of_the_table_of_units(linked: Path) -> None:
    with pytest.raises(PolicyError, match=r"'visits\.id' is no column of the table of units, 'people', whose rows"):
        audited_tables(linked, [{"k_anonymity": {"k": 2, "unit": "visits.id"}}])


def test_remedies_repair_the_other_demands_and_say_so() -> None:
    expect = [{"k_anonymity": {"k": 3}}, {"k_anonymity": {"k": 3, "unit": "home"}}]
    repaired = fix(HOUSES, policy(expect, unit="person"))
    assert [one.status.value for one in repaired.after.expectations] == ["passed", "failed"]
    assert "remedies repair no demand that names a unit; repair the release under a policy with `unit: home`" in str(
        repaired.log.reason
    )


def test_a_frontier_varies_no_demand_that_names_a_unit() -> None:
    expect = [{"k_anonymity": {"k": 2, "unit": "home"}}]
    with pytest.raises(UsageError, match="--vary k_anonymity: it names a unit, for which remedies repair nothing"):
        frontier(HOUSES, policy(expect), vary={"k_anonymity": [2, 3]})


def test_lint_compares_demands_of_one_unit_alone() -> None:
    expect = [
        {"k_anonymity": {"k": 5}},
        {"k_anonymity": {"k": 3, "unit": "home"}},
        {"k_anonymity": {"k": 2, "unit": "home"}},
        {"sample_uniqueness": {"at_most": 0.1, "unit": "ward"}},
    ]
    weaker = [(weak.parameters.k, strong.parameters.k) for weak, strong in implied(load_policy(policy(expect)))]
    assert weaker == [(2, 3)]


def test_reports_name_the_unit() -> None:
    audited = audit(HOUSES, policy([{"k_anonymity": {"k": 3, "unit": "home"}}], unit="person"))
    assert "k_anonymity[unit home]" in audited.render(".junit.xml")
    assert "k-anonymity for each home" in audited.render(".html")
    assert "k-anonymity for each home" in audited.render(".md")


def test_items_of_pytest_and_outcomes_have_the_same_keys(tmp_path: Path) -> None:
    expect = [{"k_anonymity": {"k": 3}}, {"k_anonymity": {"k": 3, "unit": "home"}}, {"homogeneity": {"unit": "ward"}}]
    path = tmp_path / "p.tcdp.yaml"
    path.write_text(json.dumps(policy(expect, unit="person", household="home")))
    read = load_policy(path)
    planned = [one for one in plan(read) if one.key.check and one.line > 0 and one.key.part != "columns"]
    assert [one.name for one in planned] == [
        "k_anonymity",
        "k_anonymity[unit home]",
        "homogeneity[disease, unit ward]",
        "homogeneity[pay, unit ward]",
    ]
    assert {one.key for one in planned} <= by_key(one.as_json() for one in audit(HOUSES, read).outcomes).keys()
