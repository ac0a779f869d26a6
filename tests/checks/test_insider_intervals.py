"""The check `insider_intervals`: what the only contributor to a hidden cell can work out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from figure_tables import audit_tables, table

from tcdp_audit import Outcome

TOTALS = {"row": {"total": "T"}, "column": {"total": "T"}}
SINGLETON = {
    ("A", "1"): [30, 22],
    ("A", "2"): [15],
    ("A", "3"): [40, 22],
    ("A", "4"): [10, 7],
    ("B", "1"): [14, 10],
    ("B", "2"): [9, 9],
    ("B", "3"): [20, 11],
    ("B", "4"): [5, 3],
}
HIDDEN = {("A", "2"), ("A", "4"), ("B", "2"), ("B", "4")}
Groups = dict[tuple[str, str], list[int]]


def judged(
    folder: Path, groups: Groups, hidden: set[tuple[str, str]], parameters: dict[str, Any], **measure: Any
) -> Outcome:
    """The outcome on a table of sums with all totals, some cells of it hidden, and the records behind it."""
    people = "row,column,x\n" + "".join(f"{row},{column},{x}\n" for (row, column), own in groups.items() for x in own)
    (folder / "people.csv").write_text(people, encoding="utf-8")
    rows, columns = ([*sorted({key[place] for key in groups}), "T"] for place in (0, 1))
    text = "row,column,figure\n"
    for row in rows:
        for column in columns:
            own = [x for key, xs in groups.items() if row in (key[0], "T") and column in (key[1], "T") for x in xs]
            value = len(own) if measure.get("counts") else sum(own)
            text += f"{row},{column},{'x' if (row, column) in hidden else value}\n"
    declared = table(text, TOTALS, suppressed={"x": "unknown"})
    declared["measures"] = {"figure": measure or {"sum": "x", "decimals": "exact"}}
    microdata = {"file": str(folder / "people.csv")}
    expect = [{"insider_intervals": parameters}]
    return audit_tables(folder, {"t": declared}, expect, microdata=microdata, show_values=True).expectations[0]


def test_the_only_contributor_computes_three_others(tmp_path: Path):
    """G4: a person who is alone in A,2 knows its 15, and so the 17 of A,4, the 18 of B,2 and the 8 of B,4."""
    outcome = judged(tmp_path, SINGLETON, HIDDEN, {})

    assert (outcome.status.value, outcome.observed, outcome.details["insiders"]) == ("failed", 3, 1)
    assert {tuple(one.labels.values()) for one in outcome.failing_cells} == HIDDEN - {("A", "2")}
    assert [dict(one.figures or {}) for one in outcome.failing_cells] == [
        {"known by a contributor to": "row A, column 2"}
    ] * 3
    assert "row A, column 2" not in outcome.message


def test_no_one_is_alone(tmp_path: Path):
    groups = {**SINGLETON, ("A", "2"): [8, 7]}

    assert judged(tmp_path, groups, HIDDEN, {}).status.value == "passed"


@pytest.mark.parametrize(("p", "status"), [(10, "failed"), (0, "passed")])
def test_one_of_two_estimates_the_other(tmp_path: Path, p: int, status: str):
    """Column 1 adds up to 22: who has 10 of the 20 in A,1 has at most 12 to share out, and the other's 11 follow."""
    groups = {("A", "1"): [10, 11], ("B", "1"): [1, 0, 0], ("A", "2"): [50, 60, 70], ("B", "2"): [50, 60, 70]}
    hidden = {("A", "1"), ("B", "1"), ("A", "2"), ("B", "2")}
    outcome = judged(tmp_path, groups, hidden, {"coalition": "doubletons", "p": p})

    assert outcome.status.value == status
    assert judged(tmp_path, groups, hidden, {"coalition": "singletons", "p": p}).details["insiders"] == 0


def test_counts_fail_only_where_they_are_known(tmp_path: Path):
    outcome = judged(tmp_path, SINGLETON, HIDDEN, {}, counts="people")

    assert (outcome.status.value, outcome.observed) == ("failed", 3)


def test_it_needs_the_records(tmp_path: Path):
    tables = {"t": table("row,patients\nA,x\nB,x\nT,9\n", {"row": {"total": "T"}}, suppressed={"x": "unknown"})}
    outcome = audit_tables(tmp_path, tables, [{"insider_intervals": {}}]).expectations[0]

    assert outcome.status.value == "error"


def test_negative_contributions_are_an_error(tmp_path: Path):
    outcome = judged(tmp_path, {**SINGLETON, ("A", "2"): [16, -1]}, HIDDEN, {})

    assert outcome.status.value == "error"
