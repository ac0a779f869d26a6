"""Bucketization on the paper's example and on real data: every t and k is released and proved, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from bucketized import bucketized, distance_of, quasi_identifiers, sensitive

from tcdp_audit.core.remedy.remedy import RemedyError

BUCKETS_ABOVE_K = {("3", 3): 4, ("5", 3): 6, ("5", 5): 6}  # (t, k): floor(t) + 1
ATTAINABLE = [(t, k) for t in ("1.5", "2", "3", "5") for k in (3, 5, 10, 25) if (t, k) not in BUCKETS_ABOVE_K]


@cache
def _read(path: Path, *names: str) -> pa.Table:
    return pyarrow.csv.read_csv(path).select(names)


@pytest.mark.parametrize("remedy", [{"t": 2}, {"t": 1.5, "buckets": 3}])
def test_figure_2_of_the_paper_comes_out_as_printed(data: Path, remedy: Mapping[str, Any]) -> None:
    table = _read(data / "papers" / "ds15_figure2.csv", "equivalence_class", "value")
    released = bucketized(table, {**quasi_identifiers(["equivalence_class"]), "value": sensitive()}, k=4, **remedy)
    assert released.table["value"].to_pylist() == ["[1, 5)"] * 4 + ["[5, 9)"] * 4 + ["[9, 12]"] * 4
    classes = released.classes()
    assert {key[0]: dict(held) for key, held in classes.items()} == {
        "E1": {"[1, 5)": 2, "[5, 9)": 1, "[9, 12]": 1},
        "E2": {"[1, 5)": 1, "[5, 9)": 2, "[9, 12]": 1},
        "E3": {"[1, 5)": 1, "[5, 9)": 1, "[9, 12]": 2},
    }
    assert distance_of(classes) == Fraction(3, 2)
    assert [one.observed for one in released.audit().expectations] == [4, 1.5, pytest.approx(0.8109, abs=5e-5)]


def test_table_1_of_the_paper_comes_out_as_printed() -> None:
    """N = 18, t = 2, k = 6: each class has four records of the bucket it emphasises, and one of each other."""
    table = pa.table({"age": list(range(18)), "value": list(range(1, 19))})
    released = bucketized(table, {**quasi_identifiers(["age"], "numeric"), "value": sensitive()}, t=2, k=6)
    buckets = ("[1, 7)", "[7, 13)", "[13, 18]")
    compositions = [tuple(held[one] for one in buckets) for held in released.classes().values()]
    assert sorted(compositions, reverse=True) == [(4, 1, 1), (1, 4, 1), (1, 1, 4)]
    assert distance_of(released.classes()) == 2


def _adult(data: Path) -> tuple[pa.Table, dict[str, Any]]:
    folder = data / "adult" / "hierarchies"
    names = ["sex", "race", "education"]
    attributes = quasi_identifiers(names)
    for name in names:
        attributes[name]["hierarchy"] = str(folder / f"{name}.csv")
    return _read(data / "adult" / "adult.csv", *names, "age"), {**attributes, "age": sensitive()}


def _census(data: Path) -> tuple[pa.Table, dict[str, Any]]:
    names = ["AGI", "EMCONTRB", "TAXINC"]
    table = _read(data / "casc" / "census.csv", *names, "FICA")
    return table, {**quasi_identifiers(names, "numeric"), "FICA": sensitive()}


@pytest.mark.parametrize("read", [_adult, _census])
@pytest.mark.parametrize(("t", "k"), BUCKETS_ABOVE_K)
def test_fewer_records_than_buckets_are_refused_with_the_reason(data: Path, read: Any, t: str, k: int) -> None:
    table, attributes = read(data)
    buckets = BUCKETS_ABOVE_K[t, k]
    reason = (
        f"k >= b fails, because a class of {k} records cannot hold a record of each of {buckets} buckets. The "
        f"nearest that can: k = {buckets} with t = {t}; t = {k - 0.01:g} with k = {k}; buckets = {k} with t = {t}"
    )
    with pytest.raises(RemedyError, match=reason):
        bucketized(table, attributes, t=t, k=k)


@pytest.mark.parametrize("read", [_adult, _census])
@pytest.mark.parametrize(("t", "k"), ATTAINABLE)
def test_real_data_are_released_with_proof(data: Path, read: Any, t: str, k: int) -> None:
    table, attributes = read(data)
    released = bucketized(table, attributes, t=t, k=k)
    classes = released.classes()
    distance = distance_of(classes)
    assert distance <= Fraction(t)
    assert min(sum(held.values()) for held in classes.values()) >= k
    assert {len(held) for held in classes.values()} == {int(float(t)) + 1}
    audit = released.audit()
    assert audit.passed
    assert audit.expectations[1].observed == float(distance)
