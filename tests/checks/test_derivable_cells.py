"""Golden numbers of what follows from several published figures, through files and policies."""

from __future__ import annotations

from pathlib import Path
from time import sleep
from typing import Any

import pytest
from figure_tables import audit_tables, crosstab, table

from tcdp_audit import Outcome, PolicyError, audit
from tcdp_audit.core.base.cancellation import Cancellation, Cancelled, cancellable

TOTALS = {"row": {"total": "T"}, "column": {"total": "T"}}
NAMES = ("row", "column")
GEURTS = crosstab(
    ["1", "2", "T"], [("1", ["x", "x", 7]), ("2", ["x", "x", 3]), ("3", [3, 3, 6]), ("T", [9, 7, 16])], NAMES
)
ROW = {"row": {"total": "T"}}


def judged(folder: Path, text: str, expectation: dict[str, Any], dimensions: Any = None, **declared: Any) -> Outcome:
    """The outcome of one expectation on one table, with the figures of failing cells."""
    tables = {"t": table(text, dimensions or TOTALS, **{"suppressed": {"x": "unknown"}, **declared})}
    (outcome,) = audit_tables(folder, tables, [expectation], show_values=True).expectations
    return outcome


def ends(outcome: Outcome) -> dict[tuple[str, ...], tuple[object, ...]]:
    """The ends of each failing cell's interval by its labels."""
    return {tuple(cell.labels.values()): tuple((cell.figures or {}).values()) for cell in outcome.failing_cells}


def line(*cells: object) -> str:
    """A table of one dimension; the last figure is the total."""
    labels = [*"ABCDEFGHIJ"[: len(cells) - 1], "T"]
    return "row,patients\n" + "".join(f"{label},{cell}\n" for label, cell in zip(labels, cells, strict=True))


def test_geurts_table_leaves_three_values_more(tmp_path: Path):
    outcome = judged(tmp_path, GEURTS, {"feasibility_interval": {"sliding": 4}})

    assert (outcome.status.value, outcome.observed) == ("failed", 4)
    assert ends(outcome) == {("1", "1"): (3, 6), ("1", "2"): (1, 4), ("2", "1"): (0, 3), ("2", "2"): (0, 3)}
    assert judged(tmp_path, GEURTS, {"feasibility_interval": {"sliding": 3}}).status.value == "passed"


def test_a_total_gives_a_redacted_count_back(tmp_path: Path):
    outcome = judged(tmp_path, line(10, 15, "x", 25, 51), {"derivable_small_count": {"k": 5}}, ROW)

    assert (outcome.status.value, outcome.observed) == ("failed", 1)
    assert ends(outcome) == {("C",): (1,)}
    assert outcome.failing_cells[0].says == "is the grand total less row A, row B and row D"
    assert "1" not in outcome.failing_cells[0].says


@pytest.mark.parametrize(("total", "known"), [(118, 9), (102, 1)])
def test_the_meaning_of_a_token_gives_both_counts_away(tmp_path: Path, total: int, known: int):
    declared = {"suppressed": {"<10": [1, 9]}}
    outcome = judged(tmp_path, line(60, 40, "<10", "<10", total), {"derivable_small_count": {"k": 10}}, ROW, **declared)

    assert ends(outcome) == {("C",): (known,), ("D",): (known,)}


def test_without_its_meaning_they_have_a_range(tmp_path: Path):
    outcome = judged(tmp_path, line(60, 40, "x", "x", 118), {"feasibility_interval": {"sliding": 20}}, ROW)
    assert ends(outcome) == {("C",): (0, 18), ("D",): (0, 18)}
    passing = judged(tmp_path, line(60, 40, "x", "x", 118), {"derivable_small_count": {"k": 10}}, ROW)
    assert passing.status.value == "passed"


def test_a_declared_token_says_that_counts_are_below_k(tmp_path: Path):
    declared = {"suppressed": {"<10": [1, 9]}}
    expectation = {"derivable_small_count": {"k": 10, "certainty": "below"}}
    outcome = judged(tmp_path, line(60, 40, "<10", "<10", 109), expectation, ROW, **declared)

    assert (outcome.status.value, outcome.observed) == ("failed", 2)
    assert ends(outcome) == {("C",): (1, 8), ("D",): (1, 8)}


def test_rounding_is_unpicked_by_a_total(tmp_path: Path):
    rounding = {"rounding": {"base": 3, "kind": "random"}}
    outcome = judged(tmp_path, line(0, 3, 3, 0), {"rounding_unpicked": {"least_values": 2}}, ROW, **rounding)

    assert ends(outcome) == {("A",): (0,), ("B",): (1,), ("C",): (1,), ("T",): (2,)}


@pytest.mark.parametrize(("kind", "total", "narrowed"), [("conventional", 5, 5), ("controlled", 10, 0)])
def test_only_rounding_that_adds_up_narrows_nothing(tmp_path: Path, kind: str, total: int, narrowed: int):
    """G7: conventional rounding, which does not add up, narrows 5 of 12 cells; controlled rounding none."""
    rows = [("A", [0, 0, 0]), ("B", [5, 5, total]), ("C", [10, 20, 30]), ("T", [15, 25, 40])]
    text = crosstab(["M", "F", "T"], rows, NAMES)
    outcome = judged(tmp_path, text, {"rounding_unpicked": {}}, rounding={"base": 5, "kind": kind})

    assert (outcome.cells.total, outcome.details["narrowed"]) == (12, narrowed)


def test_noise_of_two_is_narrowed_by_the_total(tmp_path: Path):
    noise = {"noise": {"kind": "bounded", "deviation": 2}}
    outcome = judged(tmp_path, line(1000, 1100, 16, 2109), {"perturbation_bounds": {"least_values": 3}}, ROW, **noise)

    assert outcome.details["narrowed"] == 4
    assert ends(outcome) == {("A",): (998, 999), ("B",): (1098, 1099), ("C",): (14, 15), ("T",): (2110, 2111)}


def test_two_tables_give_what_each_hides(tmp_path: Path):
    """G6 of the definitions: by county alone and by group alone all five are protected, together K is known."""
    figures = {"A": "x", "B": "x", "I": 8, "J": 8, "K": "x", "L": "x", "M": "x", "N": 7}
    county = {"county-1": list("ABIJ"), "county-2": list("KLMN")}
    group = {"big": list("LM"), "small": list("ABIJKN")}
    by_county = "area,patients\n" + "".join(f"{one},{n}\n" for one, n in figures.items())
    by_county += "county-1,20\ncounty-2,16\nT,36\n"
    by_group = "area,patients\n" + "".join(f"{one},{n}\n" for one, n in figures.items()) + "big,6\nsmall,30\nT,36\n"
    more = {"suppressed": {"x": "unknown"}, "about": {"who": "everyone"}}
    tables = {
        "county": table(by_county, {"area": {"total": "T", "hierarchy": county}}, **more),
        "group": table(by_group, {"area": {"total": "T", "hierarchy": group}}, **more),
    }
    expect = [{"derivable_small_count": {"k": 10}}]
    for name in tables:
        assert audit_tables(tmp_path, {name: tables[name]}, expect).expectations[0].status.value == "passed"

    outcome = audit_tables(tmp_path, tables, expect, show_values=True).expectations[0]
    assert ends(outcome) == {("K",): (3,)}


def test_all_less_men_leaves_women(tmp_path: Path):
    """G17: a table of everyone and one of men leave 1 of 1, 5 of 10, 7 of 12 and 12 of 15 women."""
    ages = ["21-30", "31-40", "41-50", "51-60"]
    everyone, men = [11, 25, 37, 42], [10, 20, 30, 30]

    def text(counts: list[int]) -> str:
        return "age,patients\n" + "".join(f"{age},{n}\n" for age, n in zip(ages, counts, strict=True))

    tables = {
        "all": table(text(everyone), {"age": {}}, about={"who": "patients"}),
        "men": table(text(men), {"age": {}}, about={"who": "patients", "sex": "male"}),
    }
    outcome = audit_tables(tmp_path, tables, [{"table_differencing": {"k": 10}}], show_values=True).expectations[0]

    assert (outcome.status.value, outcome.observed) == ("failed", 1)
    assert [dict(cell.figures or {}) for cell in outcome.failing_cells] == [{"value": 1}, {"value": 5}, {"value": 7}]


def test_bands_that_are_cut_differently_give_a_year(tmp_path: Path):
    first = "age,patients\n17-24,50\n25-34,60\n"
    second = "age,patients\n17-25,58\n26-34,52\n"
    tables = {
        "first": table(first, {"age": {"order": "by_bounds"}}, about={"who": "patients"}),
        "second": table(second, {"age": {"order": "by_bounds"}}, about={"who": "patients"}),
    }
    outcome = audit_tables(tmp_path, tables, [{"table_differencing": {"k": 10}}], show_values=True).expectations[0]

    assert (outcome.status.value, outcome.observed) == ("failed", 8)
    assert [dict(cell.labels) for cell in outcome.failing_cells] == [{"age": "25"}]


def test_a_table_that_does_not_add_up_is_an_error(tmp_path: Path):
    outcome = judged(tmp_path, line(10, 15, "x", 20), {"derivable_small_count": {"k": 5}}, ROW)
    assert outcome.status.value == "error"
    assert "contradict" in outcome.message


def of_people(folder: Path, contributions: dict[str, list[int]], text: str, **policy: Any) -> Outcome:
    """The outcome of the last expectation on a table of sums with the records behind it, with figures."""
    people = "row,x\n" + "".join(f"{row},{x}\n" for row, values in contributions.items() for x in values)
    (folder / "people.csv").write_text(people, encoding="utf-8")
    measures = {"total": {"sum": "x", "decimals": "exact"}}
    tables = {"t": table(text, ROW, suppressed={"x": "unknown"}) | {"measures": measures}}
    audit = audit_tables(folder, tables, microdata={"file": str(folder / "people.csv")}, show_values=True, **policy)
    return audit.expectations[-1]


@pytest.mark.parametrize(("other", "status"), [(22, "failed"), (23, "passed")])
def test_protection_follows_from_the_rule_of_the_policy(tmp_path: Path, other: int, status: str):
    """Handbook, example 4 of 4.2: contributions 300, 20, 10 need 22.94 under the (1, 85) rule."""
    text = f"row,total\nA,x\nB,x\nT,{330 + other}\n"
    expect = [
        {"dominance": {"n": 1, "k": 85, "severity": "warning"}},
        {"feasibility_interval": {"limits_from": "dominance"}},
    ]
    outcome = of_people(tmp_path, {"A": [300, 20, 10], "B": [other // 2, other - other // 2]}, text, expect=expect)

    assert outcome.status.value == status
    assert ends(outcome) == ({} if status == "passed" else {("A",): (0, 352)})


@pytest.mark.parametrize(("limits", "failing"), [({"upper": 5}, 0), ({"upper": 6}, 1), ({"upper": 5, "lower": 6}, 1)])
def test_intervals_must_reach_beyond_the_truth(tmp_path: Path, limits: dict[str, int], failing: int):
    """A + B = 12 with 7 and 5 people: 5 above the 7, 5 below the 5."""
    expect = [{"feasibility_interval": limits}]
    outcome = of_people(tmp_path, {"A": [7], "B": [5]}, "row,total\nA,x\nB,x\nT,12\n", expect=expect)

    assert outcome.observed == failing


def test_limits_around_the_truth_need_the_records(tmp_path: Path):
    assert judged(tmp_path, GEURTS, {"feasibility_interval": {"upper": 1}}).status.value == "error"


def test_limits_of_a_rule_need_the_demand_of_that_rule(tmp_path: Path):
    text, expect = "row,total\nA,x\nB,x\nT,12\n", [{"feasibility_interval": {"limits_from": "pq_rule"}}]
    with pytest.raises(PolicyError, match="add it under `expect:`"):
        of_people(tmp_path, {"A": [7], "B": [5]}, text, expect=expect)
    with pytest.raises(PolicyError, match="add it under `expect:`"):
        of_people(tmp_path, {"A": [7], "B": [5]}, text, expect=[*expect, {"pq_rule": None}])


@pytest.mark.parametrize(("at_most", "status"), [(1, "passed"), (1000, "measured")])
def test_a_demand_that_allows_every_cell_to_fail_is_none(tmp_path: Path, at_most: int, status: str):
    outcome = judged(tmp_path, GEURTS, {"feasibility_interval": {"sliding": 3, "at_most": at_most}})

    assert outcome.status.value == status


def test_values_that_whole_numbers_leave_out_are_not_counted(tmp_path: Path):
    outcome = judged(tmp_path, GEURTS, {"feasibility_interval": {"sliding": 3}})

    assert (outcome.details["feasible_values"], outcome.details["narrowest"]) == (4, 3)
    assert outcome.details["sum_of_widths"] == 12


SMOKERS = {
    "patients": {"counts": "people"},
    "smokers": {"share": "smoker", "over": "patients", "decimals": 1, "as": "percent"},
}


@pytest.mark.parametrize(("share", "figures"), [("2.5", (5,)), ("97.5", (5,)), ("3.3", None)])
def test_a_share_of_a_derived_number_of_people_gives_a_count_away(tmp_path: Path, share: str, figures: Any):
    """G14: 2.5 % of 200 are 5; the 200 are hidden, and follow from the total. 3.3 % are 7, which is not below 6."""
    text = f"row,patients,smokers\nA,x,{share}\nB,300,50.0\nT,500,30.0\n"
    tables = {"t": table(text, ROW, suppressed={"x": "unknown"}) | {"measures": SMOKERS}}
    expect = [{"derivable_small_count": {"k": 6}}]
    outcome = audit_tables(tmp_path, tables, expect, show_values=True).expectations[0]

    assert ends(outcome) == ({} if figures is None else {("A",): figures})
    assert outcome.status.value == ("passed" if figures is None else "failed")


@pytest.mark.parametrize(("certainty", "status"), [("exact", "passed"), ("below", "failed")])
def test_a_share_may_leave_several_small_counts(tmp_path: Path, certainty: str, status: str):
    """G14: 3 % of 200, without decimals, are 5 to 7."""
    measures = {**SMOKERS, "smokers": {**SMOKERS["smokers"], "decimals": 0}}
    tables = {"t": table("row,patients,smokers\nA,200,3\n", {"row": {}}) | {"measures": measures}}
    expect = [{"derivable_small_count": {"k": 8, "certainty": certainty}}]

    assert audit_tables(tmp_path, tables, expect).expectations[0].status.value == status


@pytest.mark.parametrize(("per_person", "k", "status"), [(2, 3, "failed"), (1, 3, "passed"), (None, 3, "passed")])
def test_counts_of_rows_are_examined_where_a_person_has_so_many(tmp_path: Path, per_person: Any, k: int, status: str):
    """4 visits are of 2 people at least where one person has 2 at most."""
    visits = {"counts": "rows", "of": "visit"} | ({} if per_person is None else {"per_person": per_person})
    text = "row,patients,visits\nA,20,x\nB,30,40\nT,50,44\n"
    measures = {"patients": {"counts": "people"}, "visits": visits}
    tables = {"t": table(text, ROW, suppressed={"x": "unknown"}) | {"measures": measures}}
    outcome = audit_tables(tmp_path, tables, [{"derivable_small_count": {"k": k}}]).expectations[0]

    assert outcome.status.value == status
    assert outcome.details["not_examined"] == ([] if per_person else ["t: visits"])
    assert ("not examined" in outcome.message) == (per_person is None)


def geurts(folder: Path) -> dict[str, Any]:
    """A policy on Geurts' table, in a file."""
    (folder / "t.csv").write_text(GEURTS, encoding="utf-8")
    declared = table("", TOTALS, suppressed={"x": "unknown"})
    return {
        "version": 1,
        "tables": {"t": {"file": str(folder / "t.csv"), **{key: declared[key] for key in declared if key != "text"}}},
        "expect": [{"feasibility_interval": {"sliding": 3}}],
    }


def test_what_is_decided_is_reported(tmp_path: Path):
    steps: list[tuple[str, int, int]] = []

    audit(None, geurts(tmp_path), progress=lambda *step: steps.append(step))

    assert steps[-1] == ("deriving hidden figures", 4, 4)


def test_a_search_ends_on_request(tmp_path: Path):
    cancellation = Cancellation()

    def stop(step: str, _done: int, _total: int) -> None:
        if step == "deriving hidden figures":
            cancellation.request()
            sleep(0.3)  # another thread passes it on

    with pytest.raises(Cancelled), cancellable(cancellation):
        audit(None, geurts(tmp_path), progress=stop)


NURSERY = {
    "not_recom": (1440, 1440, 1440),
    "priority": (858, 1484, 1924),
    "recommend": ("", "", ""),
    "spec_prior": (2022, 1264, 758),
    "very_recom": ("", 132, 196),
}
PARENTS = ("great_pret", "pretentious", "usual")


def nursery() -> dict[str, Any]:
    """The demonstration table of ACRO 1.0.2 with its four suppressed cells, and one of which it suppresses nothing."""
    rows = [(one, list(counts)) for one, counts in NURSERY.items()]
    first = crosstab(PARENTS, rows, ("recommendation", "parents"))
    second = crosstab(
        ["convenient", "inconv", "All"], [(one, [2160, 2160, 4320]) for one in PARENTS], ("parents", "finance")
    )
    about = {"who": "applications"}
    hidden = {"suppressed": {"": "unknown"}}
    return {
        "recommended": table(first, {"recommendation": {"exhaustive": True}, "parents": {}}, about=about, **hidden),
        "financed": table(second, {"parents": {}, "finance": {"total": "All"}}, about=about),
    }


def test_acros_demonstration_is_undone_by_a_second_table(tmp_path: Path):
    """G17: nothing bounds the four suppressed cells of the first table; next to the second they are 0, 0, 2 and 0."""
    expect = [{"derivable_small_count": {"k": 10}}, {"feasibility_interval": {}}]
    tables = nursery()
    alone = audit_tables(tmp_path, {"recommended": tables["recommended"]}, expect).expectations
    assert [one.status.value for one in alone] == ["passed", "passed"]

    small, interval = audit_tables(tmp_path, tables, expect, show_values=True).expectations
    assert ends(small) == {("recommend", "usual"): (2,)}
    cells = {key: value for key, value in ends(interval).items() if "All" not in key}
    assert cells == {
        ("recommend", "great_pret"): (0,),
        ("recommend", "pretentious"): (0,),
        ("recommend", "usual"): (2,),
        ("very_recom", "great_pret"): (0,),
    }
    assert small.failing_cells[0].says == (
        "is the total of parents usual of 'financed' less recommendation not_recom of 'recommended', recommendation "
        "priority of 'recommended', recommendation spec_prior of 'recommended' and recommendation very_recom of "
        "'recommended'"
    )
