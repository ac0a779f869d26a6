"""Figures over people: whoever has many rows counts once, and a value that everybody of a class has is certain."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from tcdp_audit import Outcome, audit
from tcdp_audit.core.classes.histogram import Histogram

Row = tuple[str, str, str]  # a person, what is known of a row, and its secret

MANY_ROWS = [(f"a{i}", "A", str(n)) for i in (1, 2) for n in range(50)]
UNEQUAL: list[Row] = [*MANY_ROWS, *((f"p{i}", f"q{i}", "x") for i in range(10))]  # 10 of 12 people are alone
CERTAIN: list[Row] = [
    (p, "ward 1", one) for p, own in zip("pqr", ("flu", "gout", "cold"), strict=True) for one in ("hiv", own)
]


def outcomes(
    rows: Sequence[Row], *expect: dict[str, Any], source: Any = None, shards: int | None = None, **conventions: Any
) -> list[Outcome]:
    columns = [list(one) for one in zip(*rows, strict=True)]
    table = pa.table(dict(zip(("person", "place", "secret"), columns, strict=True)))
    policy = {
        "version": 1,
        "unit": "person",
        "unit_released": False,  # where its column stays, cells of a person are read together
        "attributes": {"place": {"role": "quasi_identifier"}, "secret": {"role": "sensitive", "scale": "nominal"}},
        "conventions": conventions,
        "expect": list(expect),
    }
    return list(audit(table if source is None else source, policy, shards=shards).expectations)


ABOVE_A_HALF = {"measure": "share_above", "threshold_risk": 0.5}


@pytest.mark.parametrize("shards", [None, 5])
@pytest.mark.parametrize(
    ("demand", "figure", "message"),
    [
        (
            {"reidentification_risk": {**ABOVE_A_HALF, "at_most": 0.1}},
            Fraction(10, 12),
            (
                "10 of 12 people are at a risk above 50%, if an intruder knows 'place' and who is in the "
                "release; at most 10% is allowed."
            ),
        ),
        (
            {"reidentification_risk": {"measure": "average", "at_most": 0.6}},
            Fraction(11, 12),
            (
                "The average risk of a person is 91.7%, if an intruder knows 'place' and who is in the "
                "release; at most 60% is allowed."
            ),
        ),
        (
            {"reidentification_risk": {"measure": "average", "scenario": "marketer", "at_most": 0.6}},
            Fraction(11, 12),
            (
                "The average risk of a person is 91.7%, if an intruder links as many as possible by 'place'; "
                "at most 60% is allowed."
            ),
        ),
        ({"sample_uniqueness": {"at_most": 0.1}}, Fraction(10, 12), "10 of 12 people are alone with their 'place'."),
        (
            {"homogeneity": {"at_most": 0.1}},
            Fraction(1),
            (
                "All 12 people are in 11 groups in which all share a value of 'secret': finding the group "
                "is enough to know it."
            ),
        ),
    ],
    ids=["share above", "average", "marketer", "unique", "homogeneous"],
)
def test_people_with_many_rows_hide_no_one(demand: dict[str, Any], figure: Fraction, message: str, shards: int | None):
    (actual,) = outcomes(UNEQUAL, demand, shards=shards)

    assert (actual.status.value, actual.observed) == ("failed", float(figure))
    assert actual.message == message


def test_people_and_their_rows_are_both_counted():
    shares, unique = outcomes(UNEQUAL, {"reidentification_risk": ABOVE_A_HALF}, {"sample_uniqueness": {}})

    assert {name: shares.details[name] for name in ("units", "units_above", "records_above")} == {
        "units": 12,
        "units_above": 10,
        "records_above": 10,
    }
    assert {name: unique.details[name] for name in ("units", "victim_units", "victims", "victim_classes")} == {
        "units": 12,
        "victim_units": 10,
        "victims": 10,
        "victim_classes": 10,
    }


@pytest.mark.parametrize("shards", [1, 4])
def test_a_person_in_several_classes_has_the_risk_of_the_worst(shards: int):
    rows = [("p", "alone", "x"), *((one, "crowd", "x") for one in "pqrs"), ("q", "pair", "x"), ("r", "pair", "y")]
    expect = [
        {"reidentification_risk": {"measure": "average"}},
        {"reidentification_risk": ABOVE_A_HALF},
        {"reidentification_risk": {**ABOVE_A_HALF, "threshold_risk": "1/3"}},
        {"sample_uniqueness": {}},
    ]
    average, half, third, unique = outcomes(rows, *expect, shards=shards)

    assert average.details["average"] == Fraction(1 * 4 + 2 + 2 + 1, 16)  # 1, 1/2, 1/2 and 1/4
    assert (half.observed, third.observed, unique.observed) == (0.25, 0.75, 0.25)


def test_rows_without_a_person_are_one_person():
    rows = [("", "alone", "x"), ("", "also alone", "x"), ("p", "crowd", "x"), ("q", "crowd", "x")]
    average, unique = outcomes(rows, {"reidentification_risk": {"measure": "average"}}, {"sample_uniqueness": {}})

    assert (average.details["average"], average.details["units"]) == (Fraction(2, 3), 3)
    assert (unique.details["victim_units"], unique.details["units"]) == (1, 3)


def test_exempt_rows_are_nobodys():
    rows = [("p", "1", "x"), ("p", "*", "*"), ("q", "2", "x"), ("q", "2", "y"), ("r", "2", "x"), ("s", "*", "*")]
    (counted,) = outcomes(rows, {"sample_uniqueness": {}})
    (exempt,) = outcomes(rows, {"sample_uniqueness": {}}, suppressed="exempt")

    assert (counted.details["victim_units"], counted.details["units"]) == (1, 4)
    assert (exempt.details["victim_units"], exempt.details["units"]) == (1, 3)


def test_a_csv_file_says_the_same(tmp_path: Path):
    columns = dict(zip(("person", "place", "secret"), map(list, zip(*UNEQUAL, strict=True)), strict=True))
    pyarrow.csv.write_csv(pa.table(columns), tmp_path / "release.csv")
    expect = [{"sample_uniqueness": {}}, {"reidentification_risk": {"measure": "average"}}, {"homogeneity": {}}]

    result = outcomes(UNEQUAL, *expect, source=tmp_path / "release.csv", shards=3)

    assert [one.observed for one in result] == [one.observed for one in outcomes(UNEQUAL, *expect)]


def test_one_row_each_gives_the_figures_of_records():
    rows = [(str(number), place, secret) for number, (_, place, secret) in enumerate(UNEQUAL)]
    result = outcomes(rows, {"sample_uniqueness": {}}, {"reidentification_risk": ABOVE_A_HALF})

    assert [one.observed for one in result] == [10 / 110, 10 / 110]
    assert (result[0].details["victim_units"], result[0].details["units"]) == (10, 110)


def test_a_missing_quasi_identifier_exposes_no_one_by_itself():
    rows: list[Any] = [("p", None, "x"), ("q", None, "x"), ("r", "1", "x")]
    (actual,) = outcomes(rows, {"sample_uniqueness": {"at_most": 0.5}}, missing_quasi_identifier="fail")

    assert (actual.status.value, actual.observed) == ("failed", 1 / 3)


# Certain values


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize(
    ("demand", "figure"),
    [
        ({"homogeneity": {"at_most": 0}}, 1.0),
        ({"alpha_k_anonymity": {"alpha": 0.5}}, 1.0),
        ({"distinct_l_diversity": {"l": 4}}, 1.0),
        ({"entropy_l_diversity": {"l": 2}}, 1.0),
        ({"p_sensitive_k_anonymity": {"p": 2}}, 1.0),
        ({"recursive_cl_diversity": {"c": 9, "l": 2}}, float("inf")),
        ({"background_knowledge": {"at_least": 1}}, 0.0),
    ],
)
def test_three_patients_with_hiv_and_one_other_value_each(demand: dict[str, Any], figure: float, shards: int):
    (actual,) = outcomes(CERTAIN, demand, shards=shards)

    assert (actual.status.value, actual.observed) == ("failed", figure)


@pytest.mark.parametrize(("missing", "figure"), [("excluded", 1.0), ("own_category", 2 / 3)])
def test_a_person_without_a_value_makes_no_other_less_certain(missing: str, figure: float):
    rows: list[Any] = [("p", "1", "hiv"), ("p", "1", None), ("q", "1", "hiv"), ("q", "1", "flu"), ("r", "1", None)]
    (alpha,) = outcomes(rows, {"alpha_k_anonymity": {}}, missing_sensitive=missing)
    (homogeneous,) = outcomes(rows, {"homogeneity": {}}, missing_sensitive=missing)

    assert (alpha.observed, homogeneous.observed) == (figure, float(figure == 1))


def test_a_certain_value_of_no_concern_is_of_none():
    given = {"l": 2, "variant": "positive_disclosure", "attribute": "secret"}
    of_concern, of_none = outcomes(
        CERTAIN,
        {"recursive_cl_diversity": {**given, "dont_care": ["flu"]}},
        {"recursive_cl_diversity": {**given, "dont_care": ["hiv"]}},
    )

    assert (of_concern.observed, of_none.observed) == (float("inf"), 1 / 5)  # one gout over three hiv, a flu and a cold


@pytest.mark.parametrize("missing", ["own_category", "wildcard"])
def test_what_is_certain_among_compatible_rows(missing: str):
    rows: list[Any] = [*CERTAIN, ("s", None, "gout"), ("s", None, "flu")]
    (actual,) = outcomes(rows, {"alpha_k_anonymity": {}}, missing_quasi_identifier=missing)

    assert actual.observed == (1.0 if missing == "own_category" else 3 / 4)


# The golden numbers of whole histories, whose class is given as a column


def lcg(seed: int) -> Iterator[int]:
    x = seed
    while True:
        x = (1103515245 * x + 12345) % 2**31
        yield x >> 8


def synthetic(seed: int, people: int, most: int, wards: int) -> tuple[list[Any], list[Any]]:
    g, static, events = lcg(seed), [], []
    for person in range(people):
        static.append(("fm"[next(g) % 2], next(g) % 4))
        for _ in range(next(g) % (most + 1)):
            day, a, b, c = next(g) % 360, next(g), next(g), next(g)
            events.append((person, (day // 30, min(a % wards, b % wards)), "abcdef"[c % 6]))
    return static, events


def months_and_wards() -> list[Any]:
    g = random.Random(5)  # noqa: S311 - a golden table
    months, wards = range(1, 13), ["north", "south"]
    rows = [(one, (g.choice(months), g.choice(wards))) for one in range(2000) for _ in range(g.randint(1, 4))]
    return [(*row, secret) for row, secret in zip(rows, g.choices("abcd", k=len(rows)), strict=True)]


def as_histories(events: Sequence[Any], static: Sequence[Any] | None = None) -> list[Row]:
    """Rows whose place is the whole history of their person."""
    labels: dict[int, Counter[Any]] = defaultdict(Counter)
    for person, label, _ in events:
        labels[person][label] += 1
    place = {one: str((static and static[one], sorted(own.items()))) for one, own in labels.items()}
    return [(str(person), place[person], secret) for person, _, secret in events]


@pytest.mark.parametrize(
    ("rows", "certain"),
    [
        (as_histories(months_and_wards()), 1219),
        (as_histories(*reversed(synthetic(1, 2000, 4, 4))), 1302),
    ],
    ids=["months and wards", "synthetic"],
)
def test_people_with_a_certain_value_by_their_whole_histories(rows: list[Row], certain: int):
    (actual,) = outcomes(rows, {"homogeneity": {}}, shards=4)

    assert actual.details["victim_units"] == certain


# What compares rows, and what nothing can fail


@pytest.mark.parametrize("several", [True, False], ids=["several rows", "one row each"])
def test_a_comparison_of_rows_says_so_where_people_have_several(several: bool):
    people = ["p", "p", "q"] if several else ["p", "q", "r"]
    table = pa.table({"person": people, "age": [20, 30, 40]})
    policy = {
        "version": 1,
        "unit": "person",
        "rows_aligned": True,
        "attributes": {"age": {"role": "quasi_identifier", "scale": "numeric"}},
        "expect": [{"distance_record_linkage": {}}],
    }
    (actual,) = audit(table, policy, original=table).expectations

    said = "Every row counts, however many a person has, and what is known of a person is one row."
    assert (said in actual.message) is several


def test_no_share_of_rows_makes_a_demand_on_people_say_nothing():
    rows = [*(("p", str(number), "x") for number in range(9)), ("q", "9", "")]
    (actual,) = outcomes(rows, {"homogeneity": {"at_most": 0.95}})

    assert (actual.status.value, actual.observed) == ("failed", 1.0)
    assert not actual.unfailable


def test_a_value_of_entities_is_not_left_out_afterwards():
    row = Histogram(np.array([0, 2]), np.array([0, 1]), np.array([2, 1]), np.array([2]))

    assert (row.members.tolist(), row.certain.tolist(), row.total.tolist()) == ([2], [True], [3])
    with pytest.raises(ValueError, match="where entities are counted"):
        row.without(1)
