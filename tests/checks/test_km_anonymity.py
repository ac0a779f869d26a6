"""k^m-anonymity: an example by hand, plain Python over every combination, demands at the figures, and the memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, strategies as st

from tcdp_audit import CheckError, Outcome, PolicyError, Status, audit
from tcdp_audit_plugins.checks.km_anonymity import item_sets
from tcdp_audit_plugins.checks.km_anonymity.item_sets import ItemSets, joined, least_of_each, supports

# bread 4, milk 4, beer 2, caviar 1; bread + milk 3, milk + beer 2, bread + beer 1, with caviar 1 each
BASKETS = ["bread;milk", " milk ; bread", "bread;milk;beer", "milk;beer", "bread; caviar ;", None, ";;", "*"]
sets_of_items = st.lists(st.sets(st.integers(0, 5), max_size=5), min_size=1, max_size=9)


def outcome(cells: Sequence[Any], parameters: dict[str, Any], **policy: Any) -> Outcome:
    release = pa.table(
        {"items": pa.array(cells, pa.string()), "who": [f"p{place // 2}" for place in range(len(cells))]}
    )
    attributes = {"items": {"role": "quasi_identifier"}, "who": {"role": "insensitive"}}
    if "unit" in policy:
        del attributes["who"]
    document = {"version": 1, "attributes": attributes, "expect": [{"km_anonymity": parameters}], **policy}
    return audit(release, document).expectations[0]


def plain(baskets: Sequence[set[Any]], m: int) -> dict[int, Counter[tuple[Any, ...]]]:
    """How many baskets hold each combination, by definition."""
    sizes = range(1, m + 1)
    return {size: Counter(one for basket in baskets for one in combinations(sorted(basket), size)) for size in sizes}


@pytest.mark.long
@given(sets_of_items, st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_by_definition(baskets: list[set[int]], k: int, m: int, united: bool):
    assume(any(baskets))
    cells = [";".join(map(str, one)) for one in baskets]
    whole = baskets
    if united:
        whole = [set().union(*baskets[place : place + 2]) for place in range(0, len(baskets), 2)]
    result = outcome(cells, {"k": k, "m": m}, **({"unit": "who"} if united else {}))
    counts = plain(whole, m)
    every = {one: number for counter in counts.values() for one, number in counter.items()}
    rare = {one for one, number in every.items() if number < k}
    exposed = [basket for basket in whole if any({*one} <= basket for one in rare)]
    assert result.records is not None

    assert result.observed == min(every.values())
    assert (result.records.total, result.records.failing) == (len(whole), len(exposed))
    assert (result.status is Status.FAILED) == bool(rare)
    expected = {str(size): len(counter) for size, counter in counts.items() if counter}
    assert result.details["combinations"] == expected
    assert result.details["rare_combinations"] == {
        str(size): sum(number < k for number in counter.values()) for size, counter in counts.items() if counter
    }


def test_eight_baskets():
    result = outcome(BASKETS, {"k": 2, "m": 2})
    assert (result.status, result.observed, result.records) == (Status.FAILED, 1, result.records)
    assert result.details["items"] == 4
    assert (result.details["largest_set"], result.details["without_items"]) == (3, 3)  # missing, empty and suppressed
    assert result.details["combinations"] == {"1": 4, "2": 4}
    assert result.details["smallest_supports"] == {"1": 1, "2": 1}
    assert result.details["rare_combinations"] == {"1": 1, "2": 2}  # caviar; caviar with bread, bread with beer
    assert result.details["exposed"] == {"1": 1, "2": 2}
    assert result.details["distribution"] == [[1.0, 2, 2], [2.0, 1, 1], [3.0, 2, 2]]


@pytest.mark.parametrize(
    ("cells", "m", "least"),
    [
        (["a;b", "a;b", "b;c", "b;c"], 1, 2),
        (["a;b", "a;b", "b;c", "a;c", "a;c", "b;c"], 2, 2),
        (["a;b;c", "a;b", "b;c", "a;c"], 2, 2),  # every pair twice
        (["a;b;c", "a;b", "b;c", "a;c"], 3, 1),  # all three once
        (["a;b;c;d"] * 3 + ["a;b;c", "a"], 4, 3),
    ],
)
def test_demands_at_the_least_and_beside_it(cells: list[str], m: int, least: int):
    assert outcome(cells, {"k": least, "m": m}).observed == least
    assert outcome(cells, {"k": least + 1, "m": m}).status is Status.FAILED
    if least > 1:
        assert outcome(cells, {"k": least, "m": m}).status is Status.PASSED


def test_an_entity_has_the_items_of_all_its_rows():
    cells = ["a", "b", "a", "b", "a", "a"]
    assert outcome(cells, {"m": 2}, unit="who").details["combinations"] == {"1": 2, "2": 1}
    result = outcome(cells, {"k": 3, "m": 2}, unit="who")
    assert (result.observed, result.records.total if result.records else 0) == (2, 3)
    assert result.message.startswith("2 of 3 whos have 2 items or fewer in 'items' that fewer than 3 whos have")


def test_a_wrong_delimiter_never_passes_what_the_right_one_fails():
    cells = ["a|b", "a|c", "a|b", "b|c", "b|c", "a|c"]
    assert outcome(cells, {"delimiter": "|"}).observed == 2
    assert outcome(cells, {}).observed == 2
    assert outcome([*cells, "a|b|c"], {}).observed == 1


@pytest.mark.parametrize(
    ("parameters", "further", "sentence"),
    [
        ({"attributes": ["colour"]}, {}, "declares no attribute 'colour'"),
        ({"attributes": ["items", "items"]}, {}, "named twice"),
        ({"attributes": ["who"]}, {"unit": "who"}, "which holds no items"),
        ({}, {"conventions": {"missing_quasi_identifier": "wildcard"}}, "must not overlap"),
        ({}, {"attributes": {"items": {"role": "insensitive"}}}, "say which columns hold the items"),
    ],
)
def test_what_it_cannot_measure_is_a_fault(parameters: dict[str, Any], further: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome(BASKETS, parameters, **further)


def test_an_item_of_one_column_is_none_of_another():
    release = pa.table({"left": ["a;b", "a", "b"], "right": ["b", "b;c", None]})
    attributes = {name: {"role": "quasi_identifier"} for name in ("left", "right")}
    document = {"version": 1, "attributes": attributes, "expect": [{"km_anonymity": {}}]}
    actual = audit(release, document).expectations[0]
    assert actual.details["combinations"] == {"1": 4, "2": 5}
    assert actual.details["items"] == 4


@pytest.mark.long
@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=8), st.integers(1, 3))
def test_of_single_items_it_is_the_k_of_lkc_privacy(rows: list[tuple[int, ...]], m: int):
    columns = {name: [str(row[place]) for row in rows] for place, name in enumerate("abc")}
    attributes = {name: {"role": "quasi_identifier"} for name in columns} | {"secret": {"role": "sensitive"}}
    expect = [{"km_anonymity": {"m": m}}, {"lkc_privacy": {"L": m}}]
    release = pa.table({**columns, "secret": ["x"] * len(rows)})
    items, sets = audit(release, {"version": 1, "attributes": attributes, "expect": expect}).expectations
    assert (items.observed, items.details["distribution"]) == (sets.observed, sets.details["distribution"])


def test_no_items_are_an_error():
    result = outcome([None, "*", ";"], {"k": 2})
    assert (result.status, "no record has an item in 'items'" in result.message) == (Status.ERROR, True)


def test_lists_are_no_single_cells():
    release = pa.table({"items": pa.array([["a", "b"], ["a"]], pa.list_(pa.string()))})
    document = {"version": 1, "attributes": {"items": {"role": "quasi_identifier"}}, "expect": [{"km_anonymity": {}}]}
    actual = audit(release, document).expectations[0]
    assert (actual.status, "nested or binary data" in actual.message) == (Status.ERROR, True)


def items_of(seed: int, sets: int, items: int, most: int) -> ItemSets:
    generator = np.random.default_rng(seed)
    owner = np.repeat(np.arange(sets), generator.integers(0, most, sets))
    return joined(owner, sets, generator.integers(0, items, len(owner)), generator.integers(1, 4, sets))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_blocks_make_no_difference(size: int, monkeypatch: pytest.MonkeyPatch):
    sets = items_of(1, 60, 12, 8)
    whole = supports(sets, size, None)
    least = least_of_each(sets, whole)
    monkeypatch.setattr(item_sets, "BLOCK", 16)
    monkeypatch.setattr(item_sets, "DIRECT", 0)
    again = supports(sets, size, None)
    assert (again.numbers.tolist(), again.records.tolist()) == (whole.numbers.tolist(), whole.records.tolist())
    assert least_of_each(sets, again).tolist() == least.tolist()


def test_combinations_that_outgrow_the_memory_are_refused():
    sets = items_of(2, 50, 40, 20)
    assert len(supports(sets, 1, 1).numbers) == sets.different
    for size in (2, 3):
        with pytest.raises(CheckError, match=f"combinations of {size} items, and 1 MiB may be used; lower `m`"):
            supports(sets, size, 1_000)
    wide = ItemSets(np.array([0, 1]), np.array([2**32]), np.array([1]))
    with pytest.raises(CheckError, match="too many to be numbered; lower `m`"):
        supports(wide, 2, None)


def test_shuffled_records_tell_the_same():
    assert outcome(BASKETS[::-1], {"k": 2}).details == outcome(BASKETS, {"k": 2}).details
    assert Fraction(outcome(BASKETS, {"k": 2}).observed or 0) == 1
