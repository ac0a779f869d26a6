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

from tcdp_audit.classes.shards import silent
from tcdp_audit_plugins.remedies.mondrian.apply import axis_of
from tcdp_audit_plugins.remedies.mondrian.cuts import STRATEGIES
from tcdp_audit_plugins.remedies.mondrian.partition import Space, partition_table

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
    found: dict[Any, set[int]] = {}
    for record, number in enumerate(numbers):
        found.setdefault(number, set()).add(record)
    return {frozenset(group) for group in found.values()}


@pytest.mark.long
@pytest.mark.parametrize("name", STRATEGIES)
@settings(max_examples=30)
@given(records=RECORDS, asked=POLICIES)
def test_the_same_partitions_as_plain_python(name: str, records: list[Record], asked: Asked) -> None:
    assume(_attainable(records, asked))  # otherwise it refuses, which is the matter of another test
    ages, places, names, _ = _columns(records).values()
    dimensions: list[Dimension] = [Line(ages), Line(names, is_set=True), Hierarchy(places, BRANCHES)]
    everybody = list(range(len(records)))
    slow = own_partitioning(dimensions, everybody, lambda part: _keeps(records, part, asked), STRATEGIES[name])
    with view_of(_columns(records), _policy(asked)) as view:
        axes = [axis_of(one) for one in view.quasi_identifiers]
        space = Space(axes, [1.0] * len(axes), view.demands.kept_by, 1)
        found = partition_table(space, np.zeros(len(records), dtype=np.int64), STRATEGIES[name], silent)
    assert _groups(found.classes.tolist()) == {frozenset(part) for part in slow}
    assert found.count == len(slow)


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
