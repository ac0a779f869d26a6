"""Rows that stand for several records give what the records give: classes, histograms, combinations, distributions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from tcdp_audit.core.classes.grouping import Grouping, count_codes
from tcdp_audit.core.classes.joint import combinations_in, joint_domain
from tcdp_audit.core.classes.shards import suppressed_in_all, without_exempt
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain

SIZES = {"zip": 3, "age": 2, "answer": 4, "person": 5}


def domain(name: str) -> Domain:
    values = np.arange(SIZES[name])
    return Domain(name, values, np.ones(SIZES[name], np.int64), 0, values, suppressed=frozenset({0}))


DOMAINS = [domain(name) for name in SIZES]
rows = st.lists(
    st.tuples(*(st.integers(0, size) for size in SIZES.values()), st.integers(1, 4)), min_size=1, max_size=25
)


def tables(drawn: list[tuple[int, ...]]) -> tuple[CountedCodes, CountedCodes]:
    """The rows with their counts, and the records that they stand for."""
    columns = np.array(drawn).T
    counted = CountedCodes(dict(zip(SIZES, columns, strict=False)), columns[-1])
    return counted, CountedCodes(counted.take(np.repeat(np.arange(counted.rows), counted.each)).codes)


def test_the_rows_and_records_of_a_table() -> None:
    counted, records = tables([(0, 1, 2, 3, 2), (1, 1, 1, 1, 3)])
    assert (counted.rows, counted.records, records.rows, records.records) == (2, 5, 5, 5)
    joined = CountedCodes.joined([counted, records])
    assert (joined.rows, joined.records) == (7, 10)
    assert CountedCodes.joined([records, records]).times is None
    assert CountedCodes({}).rows == 0


@given(rows, st.booleans(), st.booleans())
def test_classes_and_histograms_are_those_of_the_records(drawn: list[tuple[int, ...]], unit: bool, wild: bool) -> None:
    counted, records = (
        Grouping(table, DOMAINS[:2], DOMAINS[3] if unit else None, wild and not unit) for table in tables(drawn)
    )
    assert counted.records.tolist() == records.records.tolist()
    assert counted.size.tolist() == records.size.tolist()
    assert [one.tolist() for one in counted.codes()] == [one.tolist() for one in records.codes()]
    one, two = (each.histogram(each.shard["answer"], 5) for each in (counted, records))
    assert [one.offsets.tolist(), one.values.tolist(), one.counts.tolist()] == [
        two.offsets.tolist(),
        two.values.tolist(),
        two.counts.tolist(),
    ]


@given(rows)
def test_combinations_and_codes_are_counted_by_records(drawn: list[tuple[int, ...]]) -> None:
    one, two = (joint_domain("both", DOMAINS[1:3], [combinations_in(DOMAINS[1:3], table)]) for table in tables(drawn))
    assert (one.counts.tolist(), one.missing) == (two.counts.tolist(), two.missing)
    assert one.missing == sum(times for _, age, answer, _, times in drawn if age == 2 or answer == 4)
    counts, plain = (count_codes(DOMAINS[2], table) for table in tables(drawn))
    assert counts.tolist() == plain.tolist()


@given(rows)
def test_exempt_rows_are_exempt_with_all_their_records(drawn: list[tuple[int, ...]]) -> None:
    counted, _ = tables(drawn)
    retained = sum(times for *codes, times in drawn if codes[0] or codes[1])
    assert without_exempt(counted, DOMAINS[:2]).records == retained
    assert without_exempt(counted, ()) is counted
    assert suppressed_in_all(counted, DOMAINS[:2]).sum() == sum(not (row[0] or row[1]) for row in drawn)
