"""Classes and histograms of a shard, by cells and by radix passes, packed or not, as plain Python counts them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.classes.grouping import Grouping
from tcdp_audit.core.encoding import keys
from tcdp_audit.core.encoding.counted import CountedCodes, Packing
from tcdp_audit.core.encoding.domain import Domain

SIZES = {"zip": 3, "age": 70_000, "answer": 4, "person": 5}
CELLS = st.sampled_from([{"COUNTED": 0, "MARKED": 0}, {"COUNTED": 2**20, "MARKED": 2**20, "BLOCK": 16}])
Cells = dict[str, int]
Row = tuple[int, ...]  # the codes of each attribute, and how many records the row stands for
codes = st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 65_536, 70_000]), st.integers(0, 4), st.integers(0, 5))
rows = st.lists(st.tuples(codes, st.integers(1, 4)).map(lambda one: (*one[0], one[1])), min_size=1, max_size=20)


def domain(name: str) -> Domain:
    values = np.arange(SIZES[name])
    return Domain(name, values, np.ones(SIZES[name], np.int64), 0, values)


DOMAINS = {name: domain(name) for name in SIZES}


def shard(drawn: list[Row], packed: tuple[str, ...]) -> CountedCodes:
    columns = np.array(drawn).T
    table = CountedCodes(dict(zip(SIZES, columns, strict=False)), columns[-1])
    packing = Packing.of([DOMAINS[name] for name in packed])
    return table if packing is None else table.packed(packing)


@pytest.mark.parametrize("packed", [(), ("zip", "age"), ("age", "zip"), ("zip", "answer")])
@given(rows, st.booleans(), CELLS)
def test_classes_are_those_of_equal_codes(packed: tuple[str, ...], drawn: list[Row], unit: bool, cells: Cells) -> None:
    names = ("zip", "age", "answer")[: 3 if unit else 2]
    classes = sorted({row[: len(names)] for row in drawn})
    members = [[row for row in drawn if row[: len(names)] == one] for one in classes]
    with patch.multiple(keys, **cells):
        grouping = Grouping(
            shard(drawn, packed), [DOMAINS[name] for name in names], DOMAINS["person"] if unit else None
        )
        assert list(zip(*(one.tolist() for one in grouping.codes()), strict=True)) == classes
        assert grouping.records.tolist() == [sum(row[-1] for row in one) for one in members]
        entities = [len({row[3] for row in one}) for one in members]
        assert grouping.size.tolist() == (entities if unit else grouping.records.tolist())
        assert [classes[one] for one in grouping.class_of_row] == [row[: len(names)] for row in drawn]


@given(rows, st.booleans())
def test_classes_are_shared_where_further_columns_divide_none(drawn: list[Row], unit: bool) -> None:
    unit_column = DOMAINS["person"] if unit else None
    few, many, other = (
        Grouping(shard(drawn, ()), [DOMAINS[name] for name in names], unit_column)
        for names in (("zip",), ("zip", "age"), ("age",))
    )
    divides = len({row[:1] for row in drawn}) < len({row[:2] for row in drawn})
    assert many.has_classes_of(few) == few.has_classes_of(many) == (not divides)
    assert not few.has_classes_of(other)
    if not divides:
        alone = many.records.tolist(), many.size.tolist(), many.histogram(many.shard["answer"], 5).counts.tolist()
        shared = few.sharing(many)
        assert shared.class_of_row is many.class_of_row
        counts = shared.histogram(shared.shard["answer"], 5).counts.tolist()
        assert (shared.records.tolist(), shared.size.tolist(), counts) == alone


@pytest.mark.parametrize(("counted", "scale"), [("answer", 1), ("age", 1), ("age", 2**46)])
@given(rows, st.booleans(), CELLS)
def test_values_are_counted_in_each_class(counted: str, scale: int, drawn: list[Row], unit: bool, cells: Cells) -> None:
    place, expected = list(SIZES).index(counted), dict[int, Counter[int]]()
    values = [(row[0], row[place] * scale, row[3], row[-1]) for row in drawn]
    if unit:  # an entity counts once per class and value
        values = sorted({(*one[:3], 1) for one in values})
    for zip_code, value, _, times in values:
        expected.setdefault(zip_code, Counter())[value] += times
    with patch.multiple(keys, **cells):
        grouping = Grouping(shard(drawn, ()), [DOMAINS["zip"]], DOMAINS["person"] if unit else None)
        histogram = grouping.histogram(grouping.shard[counted].astype(np.int64) * scale, (SIZES[counted] + 1) * scale)
    assert {histogram.values.dtype, histogram.counts.dtype, histogram.offsets.dtype} == {np.dtype(np.int64)}
    parts = [np.split(one, histogram.offsets[1:-1]) for one in (histogram.values, histogram.counts)]
    actual = [list(zip(*(one.tolist() for one in row), strict=True)) for row in zip(*parts, strict=True)]
    assert actual == [sorted(expected[one].items()) for one in sorted(expected)]


@given(rows, st.booleans(), CELLS)
def test_what_counts_in_all_classes_is_what_counts_in_each(drawn: list[Row], unit: bool, cells: Cells) -> None:
    with patch.multiple(keys, **cells):
        grouping = Grouping(shard(drawn, ()), [DOMAINS["zip"]], DOMAINS["person"] if unit else None)
        codes, radix = grouping.shard["age"], SIZES["age"] + 1
        histogram = grouping.histogram(codes, radix)
        result = grouping.occurrences(codes, radix)
    expected = np.zeros(radix, dtype=np.int64)
    np.add.at(expected, histogram.values, histogram.counts)
    assert result.tolist() == expected.tolist()


@given(rows, st.booleans())
def test_what_a_column_before_determines_divides_no_class(drawn: list[Row], unit: bool) -> None:
    drawn = [(row[1] % 3, *row[1:]) for row in drawn]  # the age determines the place
    age = replace(DOMAINS["age"], determines=frozenset(["zip", "age of another"]))
    unit_column, answer = DOMAINS["person"] if unit else None, DOMAINS["answer"]
    plain = Grouping(shard(drawn, ()), [DOMAINS["age"], DOMAINS["zip"], answer], unit_column)
    fewer = Grouping(shard(drawn, ()), [age, DOMAINS["zip"], answer], unit_column)
    assert [one.attribute for one in fewer.dividing] == ["age", "answer"]
    assert fewer.class_of_row.tolist() == plain.class_of_row.tolist()
    assert [one.tolist() for one in fewer.codes()] == [one.tolist() for one in plain.codes()]
    assert fewer.size.tolist() == plain.size.tolist()
    later = Grouping(shard(drawn, ()), [DOMAINS["zip"], age], unit_column)
    assert len(later.dividing) == 2  # left out, the place would not come first in the order of classes
    assert fewer.has_classes_of(Grouping(fewer.shard, [age, answer, DOMAINS["zip"]], unit_column))


@given(rows, st.lists(st.booleans(), min_size=4, max_size=4), CELLS)
def test_entities_of_some_classes_are_those_of_their_rows(drawn: list[Row], chosen: list[bool], cells: Cells) -> None:
    with patch.multiple(keys, **cells):
        grouping = Grouping(shard(drawn, ()), [DOMAINS["zip"]], DOMAINS["person"])
        entities = grouping.entities_in(np.array(chosen[: len(grouping.records)]))
    zips = [one for one, here in zip(sorted({row[0] for row in drawn}), chosen, strict=False) if here]
    assert sorted(entities.tolist()) == sorted(
        person for _, person in {(row[0], row[3]) for row in drawn if row[0] in zips}
    )
