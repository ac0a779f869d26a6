"""Histories in words: a worst class is named by the rows of a unit that is in it, and by no link and no pseudonym."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from test_trees import KNOWN, SECRET, Drugs, People, Visits, clinic, policy, tables_of

import tcdp_audit
from tcdp_audit.core.results.comparison import compare
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit.core.units.evidence import listed

FORMATS = (".json", ".html", ".md", ".sarif", ".junit.xml")


def cells_of(tables: Any, asked: Mapping[str, Any], check: str = "k_anonymity") -> list[tuple[int, Mapping[str, str]]]:
    result = tcdp_audit.audit(tables, asked, show_values=True)
    outcome = next(one for one in result.outcomes if one.check == check)
    return [(one.records, one.cells or {}) for one in outcome.worst]


def said(rows: Counter[str]) -> str:
    """Rows in words, for fewer than four different ones."""
    return "; ".join(text if number == 1 else f"{number} × {text}" for text, number in sorted(rows.items()))


def slowly(people: People, visits: Visits, drugs: Drugs) -> Counter[tuple[str, ...]]:
    """The number of patients that each description fits."""
    fitting: Counter[tuple[str, ...]] = Counter()
    for person, sex in people.items():
        rows: Counter[tuple[str, str]] = Counter()
        for visit, (owner, quarter) in visits.items():
            if owner == person:
                given = Counter(f"drug {drug}" for of, drug in drugs if of == visit)
                rows[f"quarter {quarter}", said(given)] += 1
        texts = Counter({f"{row} (drugs: {given})" if given else row: n for (row, given), n in rows.items()})
        fitting[f"sex {sex}", said(texts) or "none"] += 1
    return fitting


@pytest.mark.parametrize("seed", range(6))
def test_a_worst_class_has_as_many_units_as_its_description_fits(seed: int) -> None:
    drawn = clinic(131 * seed + 7, 4 * seed + 2)
    fitting = slowly(*drawn)
    worst = cells_of(tables_of(*drawn), policy())
    assert worst
    for records, cells in worst:
        assert fitting[cells["patients"], cells["visits"]] == records
        assert set(cells) == {"patients", "visits"}


def test_rows_are_counted_and_of_many_the_first_are_named() -> None:
    visits = pa.table({"patient": ["p"] * 25 + ["q"], "day": [*range(12), *range(12), 7, 3], "ward": ["a"] * 26})
    known = {"day": {"role": "quasi_identifier", "scale": "numeric"}, "ward": KNOWN}
    asked = {"version": 1, "unit": "patient", "attributes": known, "expect": [{"k_anonymity": {"k": 2}}]}
    texts = sorted(cells["whole history"] for _, cells in cells_of(visits, asked))
    assert texts[1] == "day 3, ward a"
    assert texts[0].startswith("2 × day 0, ward a; 2 × day 1, ward a; ")
    assert texts[0].endswith("2 × day 9, ward a; and 4 more")
    assert "3 × day 7, ward a" in texts[0]
    assert listed([]) == "none"


def test_the_people_of_a_household_are_distinguished() -> None:
    rows = pa.table({"home": ["1", "1", "1"], "person": ["p", "p", "q"], "ward": ["a", "b", "a"]})
    asked = {
        "version": 1,
        "unit": "person",
        "household": "home",
        "attributes": {"ward": KNOWN, "home": {"role": "insensitive"}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    ((_, cells),) = cells_of(rows, asked)
    assert cells == {"whole history": "a person (rows: ward a); a person (rows: ward a; ward b)"}


def test_a_household_over_tables_has_people_with_rows() -> None:
    tables = tables_of({0: "f", 1: "m"}, {0: (0, 3), 1: (0, 3)}, [(1, "A")], {0: 5, 1: 5})
    ((_, cells),) = cells_of(tables, policy(household="home"))
    assert cells == {"patients": "sex f (visits: quarter 3; quarter 3 (drugs: drug A)); sex m"}


def test_a_table_of_rows_alone() -> None:
    tables = {"visits": pa.table({"patient": ["p", "p"], "month": ["1", "2"]})}
    declared = {"visits": {"belongs_to": "units", "attributes": {"month": KNOWN}}}
    ((_, cells),) = cells_of(tables, policy(tables=declared))
    assert cells == {"visits": "month 1; month 2"}


def test_a_secret_of_rows_is_named_by_the_history_and_the_rows_above() -> None:
    tables = tables_of({0: "f"}, {0: (0, 1), 1: (0, 2)}, [(0, "A"), (1, "A")])
    drugs = tables["drugs"].append_column("dose", pa.array(["x", "y"]))
    declared = policy()["tables"]
    declared["drugs"]["attributes"]["dose"] = SECRET
    asked = policy({"distinct_l_diversity": {"l": 2}}, tables=declared)
    worst = cells_of({**tables, "drugs": drugs}, asked, "distinct_l_diversity")
    assert sorted(cells["visits.quarter"] for _, cells in worst) == ["1", "2"]
    assert {cells["visits"] for _, cells in worst} == {"quarter 1 (drugs: drug A); quarter 2 (drugs: drug A)"}
    assert {cells["drugs.drug"] for _, cells in worst} == {"A"}


def test_a_column_that_is_called_history_is_shown_as_well() -> None:
    rows = {"id": ["p", "p"], "history": ["long", "short"], "secret": ["a", "b"]}
    asked = {
        "version": 1,
        "unit": "id",
        "attributes": {"history": KNOWN, "secret": SECRET},
        "expect": [{"distinct_l_diversity": {"l": 2}}],
    }
    worst = cells_of(pa.table(rows), asked, "distinct_l_diversity")
    assert sorted(cells["history"] for _, cells in worst) == ["long", "short"]
    assert {cells["whole history"] for _, cells in worst} == {"history long; history short"}


def test_secrets_that_are_taken_to_be_known_are_part_of_the_history() -> None:
    rows = {"id": ["p", "p", "q"], "ward": ["1", "2", "1"], "flu": ["F", "G", "F"], "drug": ["A", "B", "A"]}
    asked = {
        "version": 1,
        "unit": "id",
        "attributes": {"ward": KNOWN, "flu": SECRET, "drug": SECRET},
        "conventions": {"multiple_sensitive": "others_as_quasi_identifiers"},
        "expect": [{"homogeneity": {"attribute": "flu", "at_most": 0}}],
    }
    texts = {cells["whole history"] for _, cells in cells_of(pa.table(rows), asked, "homogeneity")}
    assert texts == {"ward 1, drug A", "ward 1, drug A; ward 2, drug B"}


def marked() -> tuple[dict[str, Any], dict[str, Any]]:
    """Tables whose every cell is found in a text, and a policy that fails on them."""
    draw, people = random.Random(4), [f"pseudonym{number}x" for number in range(30)]  # noqa: S311 - a table to test on
    visits = [f"visitkey{number}x" for number in range(60)]
    tables = {
        "patients": pa.table({"patient": people, "sex": [f"cellsex{draw.randrange(2)}" for _ in people]}),
        "visits": pa.table(
            {
                "patient": [draw.choice(people) for _ in visits],
                "visit": visits,
                "quarter": [f"cellquarter{draw.randrange(4)}" for _ in visits],
                "diagnosis": [f"cellsecret{draw.randrange(3)}" for _ in visits],
            }
        ),
        "drugs": pa.table({"visit": visits, "drug": [f"celldrug{draw.randrange(3)}" for _ in visits]}),
    }
    declared = policy()["tables"]
    declared["visits"]["attributes"]["diagnosis"] = SECRET
    expect = [
        {"k_anonymity": {"k": 5}},
        {"homogeneity": {"at_most": 0}},
        {"entropy_l_diversity": {"l": 2}},
        {"t_closeness": {"t": "0.1"}},
    ]
    return tables, policy(*expect, tables=declared)


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_format_has_a_value_that_was_not_asked_for(suffix: str) -> None:
    tables, asked = marked()
    text = tcdp_audit.audit(tables, asked).render(suffix)
    assert [
        word for word in ("pseudonym", "visitkey", "cellsex", "cellquarter", "cellsecret", "celldrug") if word in text
    ] == []


@pytest.mark.parametrize("suffix", FORMATS)
def test_no_format_has_a_link_or_a_pseudonym(suffix: str) -> None:
    tables, asked = marked()
    text = tcdp_audit.audit(tables, asked, show_values=True).render(suffix)
    assert "pseudonym" not in text
    assert "visitkey" not in text
    assert ("cellquarter" in text) is (suffix in (".json", ".html", ".md"))


def test_every_outcome_has_its_table() -> None:
    tables, asked = marked()
    asked["tables"]["patients"]["attributes"]["sex"] = SECRET
    result = json.loads(tcdp_audit.audit(tables, asked).render(".json"))
    judged = [(one["check"], one["attribute"], one["table"]) for one in result["outcomes"] if one["attribute"]]
    assert ("homogeneity", "visits.diagnosis", "visits") in judged
    assert ("homogeneity", "patients.sex", "patients") in judged
    assert {one["check"]: one["table"] for one in result["outcomes"]}["k_anonymity"] is None
    one_table = json.loads(
        tcdp_audit.audit(
            tables["patients"], {"version": 1, "attributes": {"sex": KNOWN}, "expect": [{"k_anonymity": {"k": 2}}]}
        ).render(".json")
    )
    assert all("table" not in one for one in one_table["outcomes"])


def test_a_fault_of_a_link_is_of_its_table() -> None:
    tables, asked = marked()
    drugs = pa.table({"visit": ["nowhere"], "drug": ["A"]})
    outcomes = {one.check: one for one in tcdp_audit.audit({**tables, "drugs": drugs}, asked).outcomes}
    assert outcomes["orphan_rows"].table == "drugs"
    assert (outcomes["missing_columns"].table, outcomes["linked_rows"].table) == ("", "")


def test_a_comparison_says_whose_records_fail() -> None:
    tables, asked = marked()
    written = [WrittenAudit(Path("x.json"), tcdp_audit.audit(tables, asked).as_json()) for _ in range(2)]
    states = {one.entry["check"]: one.state(one.new) for one in compare(*written, {}).expectations}
    assert re.fullmatch(r"failed, \d+ records of visits", states["entropy_l_diversity"])
    assert re.fullmatch(r"failed, \d+ records", states["k_anonymity"])
