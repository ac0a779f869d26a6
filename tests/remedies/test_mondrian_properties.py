"""Mondrian against plain Python on small tables, and what holds of every partitioning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from mondrian_tables import policy, repaired, view_of
from slow_mondrian import Dimension, Hierarchy, Line, own_partitioning

from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit_plugins.remedies.mondrian import MondrianParameters, rank_ranges
from tcdp_audit_plugins.remedies.mondrian.apply import Task
from tcdp_audit_plugins.remedies.mondrian.partition import STRATEGIES
from tcdp_audit_plugins.remedies.mondrian.rank_ranges import DistinctRows

PLACES = {"any": {"north": ["n1", "n2", "n3"], "south": ["s1", "s2"], "west": ["w1"]}}
BRANCHES = {leaf: (leaf, node, "any") for node, leaves in PLACES["any"].items() for leaf in leaves}
ATTRIBUTES: Mapping[str, Any] = {
    "age": {"scale": "numeric"},
    "place": {"scale": "nominal", "hierarchy": PLACES},
    "name": None,
    "disease": {"role": "sensitive", "scale": "nominal"},
}
Record = tuple[int | None, str | None, str | None, str]
RECORDS = st.lists(
    st.tuples(
        st.integers(20, 29) | st.none(),
        st.sampled_from([*BRANCHES, *BRANCHES, "north", None]),
        st.sampled_from(["a", "b", "c", "d", None]),
        st.sampled_from("xyz"),
    ),
    min_size=2,
    max_size=40,
).filter(lambda records: all(any(record[column] is not None for record in records) for column in range(3)))
POLICIES = st.tuples(st.integers(2, 4), st.integers(1, 2), st.sampled_from(["1", "0.6", "0.3"]))
Asked = tuple[int, int, str]


def _policy(asked: Asked) -> dict[str, Any]:
    k, l, t = asked
    closeness = {"t_closeness": {"t": float(t), "distance": "equal"}}
    return policy(ATTRIBUTES, {"k_anonymity": {"k": k}}, {"distinct_l_diversity": {"l": l}}, closeness)


def _columns(records: Sequence[Record]) -> dict[str, list[Any]]:
    return {name: [record[place] for record in records] for place, name in enumerate(ATTRIBUTES)}


def _keeps(records: Sequence[Record], part: Sequence[int], asked: Asked) -> bool:
    """k, distinct l and equal-distance t from their definitions."""
    k, l, t = asked
    table = Counter(record[3] for record in records)
    inside = Counter(records[one][3] for one in part)
    distance = sum(abs(Fraction(inside[one], len(part)) - Fraction(table[one], len(records))) for one in table) / 2
    return len(part) >= k and len(inside) >= l and distance <= Fraction(t)


def _attainable(records: Sequence[Record], asked: Asked) -> bool:
    return _keeps(records, range(len(records)), asked)


def _groups(numbers: Sequence[Any]) -> set[frozenset[int]]:
    actual: dict[Any, set[int]] = {}
    for record, number in enumerate(numbers):
        actual.setdefault(number, set()).add(record)
    return {frozenset(group) for group in actual.values()}


@pytest.mark.long
@settings(max_examples=30)
@given(records=RECORDS, asked=POLICIES)
def test_the_same_partitions_as_plain_python(records: list[Record], asked: Asked) -> None:
    assume(_attainable(records, asked))  # otherwise it refuses, which is the matter of another test
    ages, places, names, _ = _columns(records).values()
    dimensions: list[Dimension] = [Line(ages), Line(names, is_set=True), Hierarchy(places, BRANCHES)]
    everybody = list(range(len(records)))
    with view_of(_columns(records), _policy(asked)) as view:
        classes, _ = _partitioned(view, DistinctRows.of(view))
    for name, strategy in STRATEGIES.items():
        slow = own_partitioning(dimensions, everybody, lambda part: _keeps(records, part, asked), strategy)
        assert _groups(classes[name]) == {frozenset(part) for part in slow}


def _partitioned(view: RemedyView, rows: DistinctRows) -> tuple[dict[str, list[int]], dict[str, float]]:
    """The class of each record under each strategy, and the penalty of each."""
    done = Task(view, MondrianParameters(), rows).partitionings()
    classes = {name: one.classes[rows.of_record].tolist() for name, (one, _) in done.items()}
    return classes, {name: penalty for name, (_, penalty) in done.items()}


def _each_record(view: RemedyView) -> DistinctRows:
    """The records as they are, every one as a row."""
    every = view.quasi_identifiers
    return DistinctRows(np.arange(view.records), CountedCodes({one.name: one.codes for one in every}), every)


def _require_alike(columns: Mapping[str, Any], asked: Mapping[str, Any], room: int) -> None:
    """Distinct rows, whose places are counted or sorted, get the very numbers and penalties of their records."""
    with view_of(columns, asked) as view:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rank_ranges, "ROOM", room)
            apart = _partitioned(view, _each_record(view))
        rows = DistinctRows.of(view)
        assert rows.counted.rows < rows.counted.records == view.records
        assert _partitioned(view, rows) == apart


def test_distinct_rows_are_cut_as_their_records_are() -> None:
    random = np.random.default_rng(7)
    drawn = {
        "age": random.integers(20, 26, 300).tolist(),
        "place": random.choice([*BRANCHES, "north"], 300).tolist(),
        "name": random.choice([*"abc"], 300).tolist(),
        "disease": random.choice([*"xyz"], 300).tolist(),
    }
    _require_alike(drawn, _policy((3, 2, "0.6")), room=0)


@pytest.mark.long
@settings(max_examples=30)
@given(records=RECORDS, asked=POLICIES, times=st.integers(2, 3), room=st.sampled_from([0, rank_ranges.ROOM]))
def test_distinct_rows_of_any_table_are_cut_as_its_records_are(
    records: list[Record], asked: Asked, times: int, room: int
) -> None:
    assume(_attainable(records * times, asked))
    _require_alike(_columns(records * times), _policy(asked), room)


@pytest.mark.long
@pytest.mark.parametrize("unit", [None, "person"])
@settings(max_examples=20)
@given(records=RECORDS, asked=POLICIES)
def test_distinct_rows_count_entities_as_their_records_do(
    records: list[Record], asked: Asked, unit: str | None
) -> None:
    columns = {**_columns(records * 2), "person": [f"p{number // 3}" for number in range(2 * len(records))]}
    document = _policy(asked)
    document["attributes"] |= {"person": {"role": "insensitive"}}
    with view_of(columns, {**document, **({} if unit is None else {"unit": unit})}) as view:
        every = _each_record(view)
        assume(Task(view, MondrianParameters(), every).is_attainable)
        assert _partitioned(view, DistinctRows.of(view)) == _partitioned(view, every)


@pytest.mark.long
@settings(max_examples=30)
@given(records=RECORDS, asked=POLICIES)
def test_what_holds_of_every_repaired_release(records: list[Record], asked: Asked) -> None:
    assume(_attainable(records, asked))  # otherwise it refuses, which is the matter of another test
    before, after = _columns(records), repaired(_columns(records), _policy(asked))
    released = list(zip(after["age"], after["place"], after["name"], strict=True))
    for part in _groups(released):
        assert _keeps(records, sorted(part), asked)
    originals = _groups(list(zip(before["age"], before["place"], before["name"], strict=True)))
    assert all(any(one <= part for part in _groups(released)) for one in originals)
    assert after["disease"] == before["disease"]
    assert not any(cell is None for record in released for cell in record)


@pytest.mark.long
@settings(max_examples=20)
@given(records=RECORDS, asked=POLICIES, seed=st.randoms(use_true_random=False))
def test_the_order_of_the_records_is_no_matter(records: list[Record], asked: Asked, seed: Any) -> None:
    assume(_attainable(records, asked))  # otherwise it refuses, which is the matter of another test
    shuffled = list(records)
    seed.shuffle(shuffled)
    one, other = (repaired(_columns(some), _policy(asked)) for some in (records, shuffled))
    assert Counter(zip(*one.values(), strict=True)) == Counter(zip(*other.values(), strict=True))
