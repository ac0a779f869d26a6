"""Risks under `wildcard`: f, F and sums of weights over all records that are compatible, record by record."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings, strategies as st

from tcdp_audit import Outcome, PolicyError, audit

Row = tuple[str | None, str | None, str | None]
NAMES = ("a", "b", "c")
WILDCARD = {"missing_quasi_identifier": "wildcard"}
cells = st.sampled_from(["x", "y", None])
rows = st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=12)
few = settings(max_examples=15, deadline=None)  # an audit takes a while


def table(records: Sequence[Row], **further: Sequence[Any]) -> pa.Table:
    columns = {name: pa.array([one[i] for one in records], pa.string()) for i, name in enumerate(NAMES)}
    return pa.table({**columns, **further})


def outcome(
    check: str, release: pa.Table, population: pa.Table | None = None, policy: Any = None, **parameters: Any
) -> Outcome:
    attributes: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in NAMES}
    attributes |= {name: {"role": "insensitive"} for name in release.column_names if name not in NAMES}
    if "w" in attributes:
        attributes["w"]["scale"] = "numeric"
    document = {"version": 1, "attributes": attributes, "expect": [{check: parameters}], "conventions": WILDCARD}
    return audit(release, {**document, **(policy or {})}, population=population).expectations[0]


def compatible(one: Row, other: Row) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def frequencies(records: Sequence[Row], among: Sequence[Row]) -> list[int]:
    return [sum(compatible(one, other) for other in among) for one in records]


def risk(f: int, population: float) -> float:
    """Benedetti and Franconi's, as sdcMicro computes it from f and F."""
    p = f / population
    if p >= 1:
        return 1 / f
    if f == 1:
        return p / (1 - p) * log(1 / p)
    if f == 2:
        return p / (1 - p) - (p / (1 - p)) ** 2 * log(1 / p)
    return p / (f - (1 - p))


@pytest.mark.long
@few
@given(rows, st.data())
def test_individual_risk_counts_and_weighs_all_compatible_records(records: list[Row], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 2.5, 7.0]), min_size=len(records), max_size=len(records)))
    f = frequencies(records, records)
    pairs = [zip(records, weights, strict=True) for _ in records]
    estimated = [sum(w for other, w in row if compatible(one, other)) for one, row in zip(records, pairs, strict=True)]
    risks = [risk(*one) for one in zip(f, estimated, strict=True)]

    result = outcome("individual_risk", table(records, w=weights), policy={"weight": "w"}, at_most="0.2")

    assert result.observed == pytest.approx(max(risks), rel=1e-9)
    assert float(result.details["expected"]) == pytest.approx(sum(risks), rel=1e-9)
    assert float(result.details["average"]) == pytest.approx(sum(risks) / len(records), rel=1e-9)
    assert result.details["uniques"] == f.count(1)


def test_expected_reidentifications_of_a_census_are_exact() -> None:
    """f = F = 3, 2, 2 for three records of which the first lacks a value: 1/3 + 1/2 + 1/2."""
    records = [("x", "x", None), ("x", "x", "x"), ("x", "x", "y")]
    result = outcome("individual_risk", table(records), policy={"sampling_fraction": 1}, measure="expected")

    assert result.details["expected"] == Fraction(4, 3)


@pytest.mark.long
@few
@given(rows)
def test_prosecutor_and_sample_uniques(records: list[Row]) -> None:
    f = frequencies(records, records)

    prosecutor = outcome("reidentification_risk", table(records), threshold_risk="0.4", measure="share_above")
    alone = outcome("sample_uniqueness", table(records))

    assert prosecutor.details["highest"] == Fraction(1, min(f))
    assert prosecutor.details["average"] == sum(Fraction(1, one) for one in f) / len(f)
    assert prosecutor.details["share_above"] == Fraction(sum(one < 3 for one in f), len(f))
    assert alone.details["victims"] == f.count(1)


@pytest.mark.long
@few
@given(rows, rows)
def test_a_population_is_compared_record_by_record(records: list[Row], others: list[Row]) -> None:
    everybody = [*records, *others]
    f, big = frequencies(records, records), frequencies(records, everybody)
    among = frequencies(everybody, everybody)
    release, population = table(records), table(everybody)

    journalist = outcome("reidentification_risk", release, population, scenario="journalist")
    least = outcome("k_map", release, population, k=3)
    unique = outcome("population_uniqueness", release, population)

    assert journalist.details["highest"] == Fraction(1, min(big))
    assert journalist.details["average"] == sum(Fraction(1, one) for one in big) / len(big)
    assert (least.observed, least.details["population_records"]) == (min(big), len(everybody))
    assert least.records is not None
    assert least.records.failing == sum(one < 3 for one in big)
    assert least.details["records_at_the_least"] == big.count(min(big))
    lone = [one for one, own in zip(big, f, strict=True) if own == 1]
    assert unique.details["sample_uniques"] == len(lone)
    assert unique.details["population_uniques"] == among.count(1)
    assume(lone)
    assert unique.details["exact"] == Fraction(lone.count(1), len(lone))
    assert unique.details["match_probability"] == Fraction(len(lone), sum(lone))


@pytest.mark.parametrize(
    ("check", "parameters"),
    [("population_uniqueness", {"estimator": "zayatz"}), ("delta_presence", {"delta_max": "1/2"}), ("suda", {})],
)
def test_what_needs_classes_that_are_apart_says_why(check: str, parameters: dict[str, Any]) -> None:
    reason = "a record with a missing value is in several of them"
    with pytest.raises(PolicyError, match=f"its classes must not overlap, and .* they do: {reason}"):
        outcome(check, table([("x", "y", None)]), **parameters)
