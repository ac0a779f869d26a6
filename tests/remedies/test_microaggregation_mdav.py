"""MDAV: the published losses, another program's files cell by cell, and the algorithm in plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import assume, given, strategies as st
from microaggregated import Record, flat, microaggregated, parts, plain_mdav, points, policy_of

from tcdp_audit_plugins.remedies.microaggregation import mdav as remaining_records
from tcdp_audit_plugins.remedies.microaggregation.mdav import Remaining, least, mdav

PUBLISHED = {3: 5.70, 5: 9.09, 10: 14.16}


@pytest.fixture(scope="module")
def census(data: Path) -> pa.Table:
    return pyarrow.csv.read_csv(data / "casc" / "census.csv")


def _policy(table: pa.Table, k: int) -> dict[str, Any]:
    return policy_of(dict.fromkeys(table.column_names, "numeric"), {"k_anonymity": {"k": k}})


@pytest.mark.parametrize("k", PUBLISHED)
def test_the_published_loss_on_census(census: pa.Table, k: int) -> None:
    """Domingo-Ferrer, Torra (2005) and later tables: 5.69, 9.09 and 14.16 %."""
    result = microaggregated(census, _policy(census, k), method="mdav")
    assert result.notes["information_loss"] == pytest.approx(PUBLISHED[k], abs=0.01)
    assert result.notes["information_loss"] <= PUBLISHED[k]
    assert (result.notes["clusters"], result.notes["smallest"], result.notes["largest"]) == (1080 // k, k, k)
    assert result.audit().passed


@pytest.mark.parametrize("k", PUBLISHED)
def test_the_cells_are_those_of_another_program(census: pa.Table, data: Path, k: int) -> None:
    result = microaggregated(census, _policy(census, k), method="mdav", rounded=False)
    theirs = pyarrow.csv.read_csv(data / "casc" / "census_masked" / f"mdav_k{k}.csv")
    for name in census.column_names:
        assert np.allclose(result.column(name), theirs[name].to_pylist(), rtol=1e-9), name


def _records(seed: int, count: int, numbers: int, labels: int) -> list[Record]:
    random = np.random.default_rng(seed)
    drawn = random.normal(size=(count, numbers)).tolist()
    return [(tuple(row), tuple(random.integers(0, 3, labels).tolist())) for row in drawn]


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(0, 30), st.integers(1, 3), st.integers(0, 2))
def test_it_is_the_algorithm_as_printed(seed: int, k: int, more: int, numbers: int, labels: int) -> None:
    records = _records(seed, k + more, numbers, labels)
    result = mdav(points(records, [flat(3)] * labels), k)
    assert parts(result) == plain_mdav(records, k)


def test_it_is_the_algorithm_as_printed_on_many_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough for removed records to be dropped from the sweeps, and for bounds by groups."""
    monkeypatch.setattr(remaining_records, "MANY", 0)
    records = _records(1, 900, 3, 1)
    assert parts(mdav(points(records, [flat(3)]), 4)) == plain_mdav(records, 4)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(2, 4))
def test_sizes_where_many_records_are_equal(values: list[int], k: int) -> None:
    sizes = np.bincount(mdav(points([((float(one),), ()) for one in values]), k))
    assert sizes[:-1].tolist() == [k] * (len(values) // k - 1)
    assert k <= sizes[-1] < 2 * k
    assert sizes.sum() == len(values)


@given(st.lists(st.sampled_from([0.0, 1.0, 2.5, np.inf]), min_size=1, max_size=700), st.booleans(), st.data())
def test_the_least_are_the_first_of_a_stable_sort(values: list[float], grouped: bool, data: st.DataObject) -> None:
    finite = sum(np.isfinite(values))
    assume(finite)
    k = data.draw(st.integers(1, finite))
    with mock.patch.object(remaining_records, "MANY", 0 if grouped else 10**6):
        result = least(np.array(values), k)
    assert set(result.tolist()) == set(np.argsort(values, kind="stable")[:k].tolist())


def test_what_remains_is_measured_from_its_own_centroid() -> None:
    records = [((0.0,), (0,)), ((1.0,), (1,)), ((2.0,), (1,)), ((30.0,), (2,)), ((40.0,), (2,))]
    remaining = Remaining(points(records, [flat(3)]))
    remaining.remove(np.array([3, 4]))
    assert remaining.left.tolist() == [0, 1, 2]
    distances = remaining.from_centroid()  # from mean 1 and label 1, less the square of the mean
    assert (distances + 1).tolist()[:3] == pytest.approx([2.0, 0.0, 1.0])
