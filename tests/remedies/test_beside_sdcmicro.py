"""Masking held against what sdcMicro 5.8.1 documents of it, what its files show, and what papers print of the methods.

rankSwap: "two records are eligible for swapping if their ranks, i and j, satisfy |i - j| <= P N / 100"; values change
places, so that every column keeps its values. pram: Q_kj = P_jk p_j / sum_i P_ik p_i, R = P Q, p R = p, and
alpha R + (1 - alpha) I. mdav: clusters of k to 2k - 1 records, each of which gets the means.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from casc_like import EDUCATION, adult_like, tarragona_like
from masked import PLUGINS, masked, paired_policy

from tcdp_audit import audit
from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.masking_attacks.channel import invariant, retention_matrix

ADULT: dict[str, Any] = {
    "age": "numeric",
    "hours": "numeric",
    "education": {"role": "quasi_identifier", "scale": "ordinal", "order": EDUCATION},
    "work": {"role": "insensitive"},
    "sex": {"role": "insensitive"},
}
CATEGORIES = {"work": "nominal", "sex": "nominal"}


def numeric(table: pa.Table) -> dict[str, str]:
    return dict.fromkeys(table.column_names, "numeric")


def displacement(before: list[Any], after: list[Any]) -> int:
    """The largest |i - j| of a record's ranks in the sorted column; equal values stand on all of their ranks."""
    ranks = sorted(before)
    low = {value: rank for rank, value in reversed(list(enumerate(ranks)))}
    high = {value: rank for rank, value in enumerate(ranks)}
    return max(max(low[x] - high[y], low[y] - high[x], 0) for x, y in zip(before, after, strict=True))


@pytest.mark.parametrize("p", [1, 5, 15])
@pytest.mark.parametrize("name", ["tarragona", "adult"])
def test_ranks_that_are_swapped_are_within_p_percent_of_the_records(name: str, p: int) -> None:
    table, declared = (tarragona_like(), None) if name == "tarragona" else (adult_like(), ADULT)
    done = masked(table, declared or numeric(table), "rank_swapping", percent=p, seed=p)
    farthest = 0
    for column in ["age", "hours", "education"] if declared else table.column_names:
        before, after = table[column].to_pylist(), done.column(column)
        assert sorted(after) == sorted(before)
        farthest = max(farthest, displacement(before, after))
        assert farthest <= p * len(before) // 100
    assert farthest > p * len(table) // 200  # and it is no smaller bound that holds
    assert done.notes["displacement"] <= p * len(table) // 100
    assert done.notes["alone"] <= 0.05 * (done.notes["swapped"] + done.notes["alone"])


@pytest.mark.long
@pytest.mark.parametrize("p", [1, 5, 15])
def test_census_as_sdcmicro_has_swapped_it_and_as_it_is_swapped_here(data: Path, p: int) -> None:
    """Its files keep our definition, to the rank; and distance links about as many records of either."""
    census = pyarrow.csv.read_csv(data / "casc" / "census.csv")
    theirs = pyarrow.csv.read_csv(data / "casc" / "census_masked" / f"rankswap_P{p}.csv")
    ours = masked(census, numeric(census), "rank_swapping", percent=p, seed=1).table
    quasi = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in census.column_names}
    expect = [{"rank_swap_attack": {"p": p}}, {"distance_record_linkage": {}}]
    linked = []
    for released in (theirs, ours):
        for name in census.column_names:
            before, after = census[name].to_pylist(), released[name].to_pylist()
            assert sorted(before) == sorted(after)
            assert displacement(before, after) <= p * 1_080 // 100
        attack, distance = audit(released, paired_policy(quasi, *expect), census, plugins=PLUGINS).expectations
        assert attack.details["without_own_record"] == 0
        linked.append(distance.observed)
    assert abs(float(linked[0]) - float(linked[1])) < 0.08


def rs_of_sdcmicro(p: Floats, matrix: Floats, alpha: float) -> Floats:
    """Rs, cell by cell as its documentation defines it."""
    size = range(len(p))
    drawn = p @ matrix
    back = np.array([[matrix[j, k] * p[j] / drawn[k] for j in size] for k in size])
    return np.asarray(alpha * (matrix @ back) + (1 - alpha) * np.eye(len(p)))


@pytest.mark.parametrize("column", ["work", "sex", "education"])
def test_the_invariant_matrix_is_sdcmicro_s_and_no_margin_is_expected_to_change(column: str) -> None:
    _, counts = np.unique(adult_like()[column].to_pylist(), return_counts=True)
    diagonal = np.random.default_rng(8).uniform(0.8, 1, len(counts))  # pd = 0.8
    drawn = np.array([retention_matrix(len(counts), one)[row] for row, one in enumerate(diagonal)])
    ours = invariant(drawn, counts)
    assert ours == pytest.approx(rs_of_sdcmicro(counts / counts.sum(), drawn, 1.0))
    assert counts @ ours == pytest.approx(counts)
    assert counts @ rs_of_sdcmicro(counts / counts.sum(), drawn, 0.5) == pytest.approx(counts)


@pytest.mark.long
def test_released_margins_are_as_expected_and_a_plain_matrix_moves_them() -> None:
    table = adult_like(300)
    sexes = np.unique(table["sex"].to_pylist(), return_counts=True)[1]
    for is_invariant in (True, False):
        matrix = retention_matrix(2, 0.8)
        matrix = invariant(matrix, sexes) if is_invariant else matrix
        draws = [
            masked(table, CATEGORIES, "pram", retention=0.8, invariant=is_invariant, attributes=["sex"], seed=seed)
            for seed in range(8)
        ]
        women = np.array([one.column("sex").count("female") for one in draws])
        expected = sexes @ matrix
        deviation = np.sqrt((sexes[:, None] * matrix * (1 - matrix)).sum(axis=0)[0] / len(draws))
        assert abs(women.mean() - expected[0]) < 4 * deviation
        moved = abs(expected[0] - sexes[0]) / len(table)
        assert draws[0].notes["margin_shift"] == pytest.approx(moved, abs=1e-12)
        assert moved < 1e-12 if is_invariant else moved > 0.05


def test_sdcmicro_s_matrix_may_be_declared() -> None:
    """Rs with alpha = 0.5 of a column with as many of both values: P = 0.8 gives R = 0.68 and Rs = 0.84."""
    rs = rs_of_sdcmicro(np.array([0.5, 0.5]), retention_matrix(2, 0.8), 0.5)
    assert rs == pytest.approx(np.array([[0.84, 0.16], [0.16, 0.84]]))
    lines = {one: {one: Fraction(84, 100), other: Fraction(16, 100)} for one, other in (("a", "b"), ("b", "a"))}
    done = masked(pa.table({"sex": ["a", "b"] * 50}), {"sex": "nominal"}, "pram", matrix={"sex": lines})
    assert (done.notes["retention"], done.notes["margin_shift"]) == (0.84, 0)


@pytest.mark.parametrize("k", [3, 10])
def test_mdav_has_clusters_of_k_to_2k_less_1_and_keeps_every_sum(k: int) -> None:
    table = tarragona_like()
    done = masked(table, numeric(table), "microaggregation", k=k, method="mdav", closeness="none", rounded=False)
    assert (done.notes["smallest"], done.notes["clusters"]) == (k, len(table) // k)
    assert done.notes["largest"] <= 2 * k - 1
    released = np.column_stack([done.column(name) for name in table.column_names])
    numbers = np.column_stack([table[name].to_numpy() for name in table.column_names]).astype(float)
    assert released.sum(axis=0) == pytest.approx(numbers.sum(axis=0))
    spread = numbers.std(axis=0)
    error = (((released - numbers) / spread) ** 2).sum() / (((numbers - numbers.mean(axis=0)) / spread) ** 2).sum()
    assert done.notes["information_loss"] == pytest.approx(100 * error, abs=1e-4)
