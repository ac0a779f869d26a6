"""Views of a release: whole histories by default, single rows where a policy says so, and no way to pass by neither.

The golden figures are those of section 11 of the definitions: by hand, generated, and of real tables.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import Audit, PolicyError, audit, load_policy
from tcdp_audit.core.results.verdict import verdict_title

T1 = [
    *(("p", "jan", "a", "flu"), ("p", "feb", "b", "flu"), ("q", "jan", "a", "gout"), ("q", "feb", "b", "hiv")),
    *(("r", "jan", "a", "flu"), ("r", "feb", "b", "hiv"), ("r", "feb", "b", "hiv"), ("s", "jan", "a", "hiv")),
    *(("s", "mar", "a", "hiv"), ("t", "jan", "a", "flu"), ("t", "mar", "a", "hiv"), ("u", "feb", "b", "gout")),
    ("u", "mar", "a", "flu"),
]
T5 = [(one, "1", ill) for one, other in zip("pqr", ("flu", "gout", "asthma"), strict=True) for ill in ("hiv", other)]
VISIT = ("month", "ward")


def policy(known: Sequence[str], expect: Sequence[Any], secret: str | None = None, **more: Any) -> dict[str, Any]:
    secrets = {} if secret is None else {secret: {"role": "sensitive", "scale": "nominal"}}
    quasi_identifiers = {name: {"role": "quasi_identifier"} for name in known}
    declared = {**quasi_identifiers, **secrets}
    return {"version": 1, "unit": "id", "attributes": declared, "expect": [*expect], **more}


def frame(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> pa.Table:
    cells = zip(*rows, strict=True)
    return pa.table({name: pa.array([*map(str, own)], pa.string()) for name, own in zip(columns, cells, strict=True)})


def judged(table: Any, known: Sequence[str], *expect: Any, secret: str | None = None, **more: Any) -> Audit:
    """The audit of some columns of a table."""
    columns = ["id", *known, *([] if secret is None else [secret])]
    return audit(table.select(columns) if isinstance(table, pa.Table) else table, policy(known, expect, secret, **more))


def figures(table: pa.Table, known: Sequence[str]) -> tuple[int, int, int, int]:
    """Classes of histories, the fewest units of one, units alone, and the fewest units with one row."""
    result = judged(table, known, {"k_anonymity": {}}, {"sample_uniqueness": {}})
    size, unique = result.expectations
    (linked,) = [one for one in result.structure if one.check == "linked_rows"]
    whole = linked.details["whole_histories"]
    assert size.classes is not None
    assert (whole["classes"], whole["k"]) == (size.classes.total, size.observed)
    assert unique.observed == pytest.approx(whole["alone"] / linked.details["units"], abs=1e-15)
    return whole["classes"], whole["k"], whole["alone"], linked.details["per_row"]["k"]


def certainty(table: pa.Table, known: Sequence[str], secret: str) -> tuple[int, int, int]:
    """Units of classes with a certain value, cells, and cells with fewer than two values by the rule of certainty."""
    asked = [{"homogeneity": {}}, {"distinct_l_diversity": {"l": 2}}]
    attack, varied = judged(table, known, *asked, secret=secret).expectations
    assert varied.classes is not None
    units = Fraction(attack.observed or 0).limit_denominator(10**5) * attack.details["units"]
    return int(units), varied.classes.total, varied.classes.failing or 0


def test_the_table_by_hand() -> None:
    table = frame(["id", *VISIT, "ill"], T1)
    assert figures(table, VISIT) == (4, 1, 2, 3)
    assert certainty(table, VISIT, "ill") == (4, 8, 6)
    assert figures(table, ["ward"])[:3] == (3, 1, 1)
    average = judged(table, VISIT, {"reidentification_risk": {"measure": "average"}}).expectations[0]
    assert average.observed == pytest.approx(2 / 3, abs=1e-15)


def test_a_value_that_all_have_is_certain_whatever_else_they_have() -> None:
    """Three patients of one history: each has hiv and something else, and no demand on variety may pass."""
    table = frame(["id", "ward", "ill"], T5)
    demands = [{"distinct_l_diversity": {}}, {"alpha_k_anonymity": {"k": 1}}, {"homogeneity": {}}]
    demands += [{"entropy_l_diversity": {}}, {"recursive_cl_diversity": {"l": 2}}, {"background_knowledge": {}}]
    for known in ("all", "one"):
        outcomes = judged(table, ["ward"], *demands, secret="ill", conventions={"known_rows": known}).expectations  # noqa: S106 - a column
        assert [one.observed for one in outcomes] == [1, 1, 1, 1, float("inf"), 0], known


def test_a_value_that_is_certain_over_several_rows_is_certain_in_each() -> None:
    """Flu is certain though no single row says so: p has it in January and q in February."""
    table = frame(
        ["id", "month", "ill"], [("p", "1", "flu"), ("p", "2", "gout"), ("q", "1", "cold"), ("q", "2", "flu")]
    )
    demands = [{"distinct_l_diversity": {"l": 2}}, {"entropy_l_diversity": {"l": 2}}]
    demands += [{"recursive_cl_diversity": {"l": 2, "c": 9}}, {"p_sensitive_k_anonymity": {"p": 2, "k": 2}}]
    whole = judged(table, ["month"], *demands, secret="ill").expectations  # noqa: S106 - a column
    assert [one.status.value for one in whole] == ["failed"] * 4
    single = judged(table, ["month"], *demands, secret="ill", conventions={"known_rows": "one"}).expectations  # noqa: S106 - a column
    assert [one.status.value for one in single] == ["passed"] * 4  # of one month nothing is certain
    spared = {"variant": "positive_disclosure", "dont_care": ["flu"], "attribute": "ill"}
    (harmless,) = judged(
        table,
        ["month"],
        {"recursive_cl_diversity": {"l": 2, "c": 9, **spared}},
        secret="ill",  # noqa: S106 - a column
    ).expectations
    assert harmless.status.value == "passed"


def f1() -> pa.Table:
    """The table of the finding: 2,000 patients with one to four visits."""
    draw = random.Random(5)  # noqa: S311 - a table to test on
    rows = []
    for patient in range(2000):
        rows += [
            (patient, f"2024-{draw.randint(1, 12):02d}", draw.choice(["north", "south"]))
            for _ in range(draw.randint(1, 4))
        ]
    diagnosis = draw.choices("abcd", k=len(rows))
    return frame(["id", *VISIT, "ill"], [(*row, ill) for row, ill in zip(rows, diagnosis, strict=True)])


def test_the_table_of_the_finding() -> None:
    table = f1()
    assert figures(table, VISIT) == (1211, 1, 996, 169)
    assert certainty(table, VISIT, "ill") == (1219, 3642, 3436)
    result = judged(table, VISIT, {"k_anonymity": {"k": 5}})
    assert (verdict_title(result), result.exit_code()) == ("Not fit for release", 1)
    assert result.expectations[0].details["per_row"] == {"k": 169, "classes": 24}
    by_rows = judged(table, VISIT, {"k_anonymity": {"k": 5, "known_rows": "one"}})
    sentence = "Fit for people of whom one row is known: id joins the rows, and 996 of 2,000 patients are alone with"
    named = judged(table, VISIT, {"k_anonymity": {"k": 5}}, conventions={"known_rows": "one"}, unit_name="patient")
    assert verdict_title(named) == f"{sentence} all of theirs"
    assert (by_rows.exit_code(), by_rows.exit_code(fail_on_warning=True)) == (0, 1)


def lcg(seed: int) -> Iterator[int]:
    state = seed
    while True:
        state = (1103515245 * state + 12345) % 2**31
        yield state >> 8


def synthetic(seed: int, people: int, most: int, wards: int) -> pa.Table:
    """Events of people, some of whom have none: a person without a row is no unit of the one table."""
    draw, rows = lcg(seed), []
    for person in range(people):
        sex, band = "fm"[next(draw) % 2], next(draw) % 4
        for _ in range(next(draw) % (most + 1)):
            day, one, other, ill = next(draw) % 360, next(draw), next(draw), next(draw)
            rows.append((person, sex, band, day, day // 30, min(one % wards, other % wards), "abcdef"[ill % 6]))
    return frame(["id", "sex", "band", "day", "month", "ward", "ill"], rows)


def slowly(table: pa.Table, known: Sequence[str]) -> tuple[int, int, int]:
    """Classes of histories, the fewest units of one and units alone, as sorted lists."""
    histories: dict[str, list[tuple[str, ...]]] = {}
    for row in table.to_pylist():
        histories.setdefault(row["id"], []).append(tuple(row[name] for name in known))
    sizes: dict[tuple[tuple[str, ...], ...], int] = {}
    for one in histories.values():
        sizes[tuple(sorted(one))] = sizes.get(tuple(sorted(one)), 0) + 1
    return len(sizes), min(sizes.values()), [*sizes.values()].count(1)


@pytest.mark.parametrize(
    ("generated", "known", "golden", "certain"),
    [
        ((1, 2000, 4, 4), ("sex", "band", "month", "ward"), (1412, 1, 1285), (1302, 3680, 3560)),
        ((1, 400, 4, 4), ("sex", "band", "day", "ward"), (343, 1, 335), None),
        ((1, 400, 4, 4), ("sex", "band", "ward"), (190, 1, 102), (180, 366, 304)),
    ],
)
def test_generated_tables(
    generated: tuple[int, int, int, int],
    known: tuple[str, ...],
    golden: tuple[int, int, int],
    certain: tuple[int, int, int] | None,
) -> None:
    """The golden numbers count people without events too, who form classes by what is static."""
    table = synthetic(*generated)
    own = figures(table, known)[:3]
    assert own == slowly(table, known)
    without = 8 if "sex" in known else 1  # classes of people without events
    assert golden[0] - without <= own[0] <= golden[0]
    assert own[2] == golden[2]
    assert certain is None or certainty(table, known, "ill") == certain


def real(data: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(data / "histories" / f"{name}.csv", dtype=str, keep_default_na=False)


def test_pbcseq(data: Path) -> None:
    read = real(data, "pbcseq")
    read["age"] = read["age"].map(lambda cell: str(int(float(cell)) // 10))
    read["year"] = read["day"].map(lambda cell: str(int(cell) // 365))
    read["edema"] = read["edema"].replace("", "none")
    table = pa.Table.from_pandas(read, preserve_index=False)
    assert figures(table, ["sex", "age", "year", "edema"]) == (270, 1, 247, 1)
    assert certainty(table, ["sex", "age", "year", "edema"], "stage") == (272, 1438, 1409)
    assert figures(table, ["sex", "year"]) == (164, 1, 129, 1)
    assert figures(table, ["sex"]) == (31, 1, 7, 36)


def test_insteval(data: Path) -> None:
    table = pa.Table.from_pandas(real(data, "InstEval").rename(columns={"s": "id"}), preserve_index=False)
    assert figures(table, ["studage", "d"]) == (2533, 1, 2444, 1)


# One table in every form


def stored(table: pa.Table, folder: Path) -> Iterator[Any]:
    frame = table.to_pandas()
    frame.to_csv(folder / "t.csv", index=False)
    pq.write_table(table, folder / "t.parquet")
    yield from (table, frame, folder / "t.csv", folder / "t.parquet")


def test_forms_shards_and_memory_change_nothing(tmp_path: Path) -> None:
    table = synthetic(3, 120, 4, 2).select(["id", "month", "ward", "ill"])
    expect = [{"k_anonymity": {"k": 2}}, {"homogeneity": {}}, {"t_closeness": {}}, {"distinct_l_diversity": {"l": 2}}]
    asked = policy(["month", "ward"], [*expect, {"k_anonymity": {"k": 2, "known_rows": "one"}}], "ill")
    plain = audit(table, asked)
    for release in stored(table, tmp_path):
        for options in ({}, {"shards": 3}, {"shards": 7, "memory": 2**26}):
            result = audit(release, asked, **options)
            assert (result.outcomes, result.exposed) == (plain.outcomes, plain.exposed)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6))
def test_neither_order_nor_names_change_anything(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - a table to test on
    table = synthetic(seed % 97, 40, 3, 2).select(["id", "ward", "ill"])
    rows = [(row["id"], row["ward"], row["ill"]) for row in table.to_pylist()]
    names = [*{row[0] for row in rows}]
    others = dict(zip(names, draw.sample([f"u{number}" for number in range(1000)], len(names)), strict=True))
    shuffled = draw.sample([(others[who], ward, ill) for who, ward, ill in rows], len(rows))
    doubled = [*rows, *((f"{who}'", ward, ill) for who, ward, ill in rows)]
    expect = [{"k_anonymity": {}}, {"homogeneity": {}}, {"distinct_l_diversity": {}}, {"skewness": {}}]
    before, after, twice = (
        judged(frame(["id", "ward", "ill"], one), ["ward"], *expect, secret="ill").expectations  # noqa: S106 - a column
        for one in (rows, shuffled, doubled)
    )
    assert before == after
    assert [one.observed for one in twice] == [2 * (before[0].observed or 0), *(one.observed for one in before[1:])]


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), rows=st.integers(1, 4))
def test_whole_histories_are_never_kinder_than_single_rows(seed: int, rows: int) -> None:
    """The order of intruders is a theorem: for k, variety, distances, alpha and homogeneity."""
    table = synthetic(seed % 9973, 25, rows, 2)
    falling = [{"k_anonymity": {}}, {"distinct_l_diversity": {}}, {"entropy_l_diversity": {}}]
    rising = [{"alpha_k_anonymity": {"k": 1}}, {"homogeneity": {}}, {"recursive_cl_diversity": {"l": 2}}]
    whole, single = (
        [
            one.observed or 0
            for one in judged(table, ["ward"], *falling, *rising, secret="ill", conventions=known).expectations  # noqa: S106 - a column
        ]
        for known in ({}, {"known_rows": "one"})
    )
    assert all(one <= other + 1e-12 for one, other in zip(whole[:3], single[:3], strict=True))
    assert all(one >= other - 1e-12 for one, other in zip(whole[3:], single[3:], strict=True))


# An intruder's friend looks for a way to pass


VISITS = frame(["id", "ward"], [(who, ward) for who in range(12) for ward in (["1", "2"] if who else ["1", "1"])])
STRICT = {"k_anonymity": {"k": 2, "known_rows": "one"}}


@pytest.mark.parametrize(
    "vacuous",
    [
        {"k_anonymity": {"k": 1}},
        {"k_anonymity": {}},
        {"k_anonymity": {"k": 2, "severity": "warning"}},
        {"sample_uniqueness": {"at_most": 1}},
        {"reidentification_risk": {"at_most": 1}},
    ],
)
def test_a_demand_that_nothing_can_fail_does_not_judge_histories(vacuous: dict[str, Any]) -> None:
    result = judged(VISITS, ["ward"], STRICT, vacuous)
    assert result.exit_code(fail_on_warning=True) == 1
    assert verdict_title(result).startswith("Fit for people of whom one row is known: id joins the rows, and 1 of 12")
    assert judged(VISITS, ["ward"], STRICT, {"k_anonymity": {"k": 2}}).exit_code() == 1


@pytest.mark.parametrize("unit", ["*", "", None, " "])
def test_rows_without_a_unit_never_help_one_another(unit: str | None) -> None:
    """Two rows without a unit may be of one person: they are a history of two, which no one else has."""
    names = pa.array(["a", "b", unit, unit], pa.string())
    table = pa.table({"id": names, "ward": ["1"] * 4})
    (size,) = judged(table, ["ward"], {"k_anonymity": {"k": 2}}).expectations
    assert (size.observed, size.status.value) == (1, "failed")


def test_an_exempt_row_stays_in_its_history() -> None:
    """Its being there is known: only a unit that is suppressed throughout is exempt, and it supports no one."""
    rows = [("a", "1", "x"), ("a", "2", "y"), ("a", "*", "*"), ("b", "1", "x"), ("b", "2", "y"), ("c", "*", "*")]
    table = frame(["id", "ward", "ill"], [*rows, ("c", "*", "*")])
    exempt = {"conventions": {"suppressed": "exempt"}}
    (size,) = judged(table, ["ward"], {"k_anonymity": {"k": 2}}, secret="ill", **exempt).expectations  # noqa: S106 - a column
    assert (size.observed, size.status.value) == (1, "failed")
    assert size.classes is not None
    assert (size.classes.total, size.records.total if size.records else None) == (2, 2)


def test_a_wholly_suppressed_release_is_refused() -> None:
    table = frame(["id", "ward"], [("a", "*"), ("a", "*"), ("b", "*"), ("b", "*")])
    (size,) = judged(table, ["ward"], {"k_anonymity": {"k": 2}}).expectations
    assert (size.status.value, "every record is fully suppressed" in size.message) == ("error", True)


def test_histories_beyond_the_memory_are_an_error_and_no_pass_by_rows() -> None:
    result = audit(VISITS, policy(["ward"], [{"k_anonymity": {"k": 2}}, STRICT]), memory=200)
    assert {one.status.value for one in result.expectations} == {"error"}
    assert result.exit_code() == 3


def test_a_check_of_rows_lifts_no_warning() -> None:
    result = judged(VISITS, ["ward"], {"km_anonymity": {"m": 1, "k": 2}}, STRICT)
    (linked,) = [one for one in result.structure if one.check == "linked_rows"]
    assert linked.status.value == "failed"


def revealing() -> pa.Table:
    """Forty people with two rows each: by a ward each has company, by both wards 32 are alone."""
    wards = [(person, ward, person >= 36) for person in range(40) for ward in (person % 8, (person // 8 + person) % 8)]
    return frame(["id", "ward", "ill"], wards)


@pytest.mark.parametrize("of_secret", [{"t_closeness": {"t": 0.89}}, {"homogeneity": {"at_most": 0.99}}])
def test_a_demand_on_a_secret_does_not_judge_how_many_are_alone(of_secret: dict[str, Any]) -> None:
    """Sizes of classes are demanded of single rows only, whatever is demanded of secrets."""
    result = judged(revealing(), ["ward"], STRICT, of_secret, secret="ill")  # noqa: S106 - a column
    assert [one.conventions["known_rows"] for one in result.expectations] == ["one", "all"]
    assert (result.exit_code(), result.exit_code(fail_on_warning=True)) == (0, 1)
    assert verdict_title(result).startswith("Fit for people of whom one row is known: id joins the rows, and 32 of 40")
    vacuous = {"alpha_k_anonymity": {"k": 1, "alpha": 1}}
    assert judged(revealing(), ["ward"], STRICT, vacuous, secret="ill").exit_code(fail_on_warning=True) == 1  # noqa: S106 - a column
    by_secret = judged(revealing(), ["ward"], of_secret, secret="ill")  # noqa: S106 - a column
    assert verdict_title(by_secret) == "Fit for release"  # no size is demanded, of rows or of histories


@pytest.mark.parametrize(
    ("demand", "is_judged"),
    [
        ({"known_events": {"m": 2, "k": 2}}, True),
        ({"known_events": {"m": 1, "k": 2}}, False),
        ({"known_events": {"m": 2, "k": 1}}, False),
        ({"known_events": {"m": 2, "C": "9/10", "attribute": "ill"}}, False),
        ({"unicity": {"points": 2, "at_most": "1/2"}}, True),
        ({"unicity": {"points": 1, "at_most": "1/2"}}, False),
    ],
)
def test_a_demand_on_several_known_events_judges_histories(demand: dict[str, Any], *, is_judged: bool) -> None:
    rows = [(one, month, f"{one}{month}") for one in "pqrs" for month in ("jan", "feb")]
    table = frame(("id", "month", "ill"), rows)

    result = judged(table, ["month"], STRICT, demand, secret="ill", conventions={"known_rows": "one"})  # noqa: S106 - a column

    assert verdict_title(result).startswith("Fit for people of whom one row is known") is not is_judged
    (linked,) = [one for one in result.structure if one.check == "linked_rows"]
    assert (linked.status.value == "passed") is is_judged


def test_a_household_of_each_row_does_not_hide_what_the_unit_joins() -> None:
    """Each ward has three people, and c is alone with one row; every row names another household."""
    rows = [(person, ward, home) for home, (person, ward) in enumerate(zip("aabbcd", "121212", strict=True))]
    result = audit(frame(["id", "ward", "home"], rows), policy(["ward"], [{"k_anonymity": {"k": 3}}], household="home"))
    (size,) = result.expectations
    assert (size.status.value, result.exit_code()) == ("error", 3)
    assert "2 units are in several households" in size.message
    (linked,) = [one for one in result.structure if one.check == "linked_rows"]
    assert (linked.status.value, linked.details["columns"]) == ("failed", ["id"])


def test_whole_histories_cannot_be_asked_of_a_check_that_reads_single_rows() -> None:
    with pytest.raises(PolicyError, match="known_rows"):
        load_policy(policy(["ward"], [{"km_anonymity": {"m": 1, "k": 2, "known_rows": "all"}}]))
