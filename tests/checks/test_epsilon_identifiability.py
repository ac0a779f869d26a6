"""Epsilon-identifiability against plain Python, pair by pair: ties, twins, copies, weights, missing cells, hold-out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import log, sqrt
from pathlib import Path
from statistics import variance
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, strategies as st

import tcdp_audit
from tcdp_audit import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
Row = tuple[int | None, str | None]
TYPES = {"age": pa.int64(), "city": pa.string()}
SCALES = {"age": "numeric", "city": "nominal"}
RESOLUTION = 1e-9
rows = st.lists(
    st.tuples(st.sampled_from([0, 1, 3, 7, None]), st.sampled_from(["a", "b", "b", None])), min_size=2, max_size=7
)


def table(cells: Sequence[Row]) -> pa.Table:
    return pa.table(
        {name: pa.array([one[place] for one in cells], kind) for place, (name, kind) in enumerate(TYPES.items())}
    )


def asked(released: pa.Table, original: pa.Table, **parameters: Any) -> Outcome:
    attributes = {
        name: {"role": "quasi_identifier", "scale": SCALES.get(name, "numeric")} for name in original.column_names
    }
    expect = [{"epsilon_identifiability": parameters}]
    document = {"version": 1, "attributes": attributes, "expect": expect}
    (one,) = tcdp_audit.audit(released, document, original, plugins=PLUGINS).expectations
    return one


def of_numbers(released: Sequence[float], original: Sequence[float], **parameters: Any) -> Outcome:
    return asked(pa.table({"v": released}), pa.table({"v": original}), **parameters)


def test_three_of_four_people():
    one = of_numbers([0.2, 2.9, 17], [0, 1, 4, 10], weights="equal", epsilon="0.05")
    assert (one.observed, one.status, one.details["identifiable"], one.details["tied"]) == (0.75, Status.FAILED, 3, 0)
    assert one.records is not None
    assert (one.records.failing, one.records.total) == (3, 4)


def test_as_near_is_not_nearer_and_twins_have_no_one_nearer():
    tied = of_numbers([1, 9], [0, 2, 3, 10])  # 0, 2 and 10 are 1 away from a released one; 2 also from 3
    assert (tied.details["identifiable"], tied.details["tied"]) == (2, 1)
    twins = of_numbers([5, 5, 9], [5, 5, 8, 1])
    assert (twins.details["originals_with_a_twin"], twins.details["copies"], twins.details["tied"]) == (2, 2, 3)
    assert twins.details["identifiable"] == 1


def entropy(cells: Sequence[Any]) -> float:
    counts = Counter(one for one in cells if one is not None)
    return sum(-n / counts.total() * log(n / counts.total()) for n in counts.values())


def plainly(released: Sequence[Row], original: Sequence[Row], weights: str) -> tuple[int, int]:
    """How many people are identifiable, and how many tie."""
    columns = list(zip(*original, strict=True))
    weight = [1 / entropy(column) if weights == "inverse_entropy" else 1.0 for column in columns]
    spread = sqrt(variance([one for one in columns[0] if one is not None]))  # type: ignore[type-var]

    def distance(one: Row, other: Row) -> float:
        missing = one[0] is None or other[0] is None
        number = 2.0 if missing else ((one[0] - other[0]) / spread) ** 2  # type: ignore[operator]
        nominal = one[1] is None or other[1] is None or one[1] != other[1]
        return sqrt(weight[0] ** 2 * number + weight[1] ** 2 * nominal)

    identifiable = tied = 0
    for place, person in enumerate(original):
        to_other = min(distance(person, one) for one in (*original[:place], *original[place + 1 :]))
        to_release = min(distance(person, one) for one in released)
        identifiable += to_release + RESOLUTION < to_other
        tied += abs(to_release - to_other) <= RESOLUTION
    return identifiable, tied


def compare(released: Sequence[Row], original: Sequence[Row], weights: str) -> None:
    result = asked(table(released), table(original), weights=weights)
    assert (result.details["identifiable"], result.details["tied"]) == plainly(released, original, weights)
    assert result.observed == result.details["identifiable"] / len(original)


@pytest.mark.long
@given(rows, rows, st.sampled_from(["inverse_entropy", "equal"]))
def test_every_pair_by_itself(released: list[Row], original: list[Row], weights: str):
    assume(all(len({*column} - {None}) > 1 for column in zip(*original, strict=True)))
    compare(released, original, weights)


@pytest.mark.parametrize("weights", ["inverse_entropy", "equal"])
def test_missing_cells_and_weights(weights: str):
    original: list[Row] = [(0, "a"), (3, "b"), (None, "a"), (7, None), (7, "b"), (None, "a")]
    compare([(1, "a"), (None, "b"), (6, None), (7, "a")], original, weights)


@pytest.mark.long
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(cells: list[Row], random: Any):
    assume(all(len({*column} - {None}) > 1 for column in zip(*cells, strict=True)))
    shuffled = random.sample(cells, len(cells))
    assert asked(table(cells[1:]), table(shuffled)) == asked(table(cells[:0:-1]), table(cells))


def test_weights_are_one_over_the_entropy():
    cells = pa.table({"age": [1, 2, 3, 4], "city": ["a", "a", "b", "b"]})
    weights = asked(cells, cells).details["weights"]
    assert weights == pytest.approx({"age": 1 / log(4), "city": 1 / log(2)})
    assert asked(cells, cells, weights="equal").details["weights"] == {"age": 1, "city": 1}
    still = asked(cells, cells.set_column(0, "age", pa.array([1, 1, 1, 1])))
    assert (still.details["weights"]["age"], still.details["without_variance"]) == (0, ["age"])


def test_a_holdout_says_what_strangers_give(tmp_path: Path):
    for name, values in (("release", [0.2, 2.9, 17]), ("original", [0, 1, 4, 10]), ("holdout", [100, 200, 300])):
        pq.write_table(pa.table({"v": pa.array(values, pa.float64())}), tmp_path / f"{name}.parquet")
    path = tmp_path / "v.tcdp.yaml"
    path.write_text(
        "version: 1\nrelease: release.parquet\noriginal: original.parquet\nholdout: holdout.parquet\n"
        "attributes: {v: {role: quasi_identifier, scale: numeric}}\nexpect: [{epsilon_identifiability: {}}]\n"
    )
    (one,) = tcdp_audit.audit(None, path).expectations
    assert one.details["holdout"] == {"share": Fraction(0), "records": 3}


@pytest.mark.parametrize(("original", "reason"), [([1], "fewer than two records"), ([1, 1], "nothing to compare by")])
def test_what_cannot_be_compared_is_reported(original: list[int], reason: str):
    one = of_numbers([1, 2], original)
    assert one.status is Status.ERROR
    assert reason in one.message
