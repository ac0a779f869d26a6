"""Whom failing demands expose, each counted once: as many as the masks of `failing_records` have together."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import audit, failing_records
from tcdp_audit.core.base.audit_figures import ExposureCount
from tcdp_audit.core.base.outcome import COLUMN_DEMANDS, Status
from tcdp_audit.core.results.verdict import verdict_sentence

FIRST = len(COLUMN_DEMANDS)  # the number of the first expectation among the outcomes

FIRST = len(COLUMN_DEMANDS)  # the position of the first outcome of an expectation
DEMANDS: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 2}},
    {"k_anonymity": {"k": 3, "severity": "warning"}},
    {"distinct_l_diversity": {"l": 2}},
    {"homogeneity": {"at_most": "0.4"}},
    {"entropy_l_diversity": {"l": "1.5", "attribute": "illness"}},
    {"k_anonymity": {}},
]
CONVENTIONS: dict[str, list[str]] = {
    "missing_quasi_identifier": ["own_category", "wildcard", "fail"],
    "missing_sensitive": ["excluded", "own_category", "fail"],
    "multiple_sensitive": ["per_attribute", "others_as_quasi_identifiers", "joint"],
    "suppressed": ["counted", "exempt"],
}
cell = st.sampled_from(["1", "2", "*", None])
records = st.lists(st.tuples(cell, cell, cell, cell, st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=12)
conventions = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CONVENTIONS.items()})


def table(rows: list[tuple[str | None, ...]]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in zip(NAMES, columns, strict=True)})


NAMES = ("ward", "street", "illness", "habit", "patient_id")


def policy(*, unit: bool, conventions: dict[str, str]) -> dict[str, Any]:
    attributes = {
        "ward": {"role": "quasi_identifier"},
        "street": {"role": "quasi_identifier"},
        "illness": {"role": "sensitive"},
        "habit": {"role": "sensitive"},
        "patient_id": {"role": "insensitive"},
    }
    expect = [one for one in DEMANDS if conventions["multiple_sensitive"] != "joint" or "attribute" not in str(one)]
    document: dict[str, Any] = {"version": 1, "attributes": attributes, "conventions": conventions, "expect": expect}
    if unit:
        del attributes["patient_id"]
    return {**document, "unit": "patient_id", "unit_released": False} if unit else document


def exposed_records(release: pa.Table, asked: dict[str, Any]) -> list[int]:
    """The records that fail a demand which fails the release, by the slow way."""
    masks = [mask for one, mask in failing_records(release, asked) if one.blocks and one.status is Status.FAILED]
    return np.flatnonzero(reduce(np.logical_or, masks)).tolist() if masks else []  # type: ignore[arg-type]


@pytest.mark.long
@settings(deadline=None, max_examples=50)
@given(rows=records, chosen=conventions, unit=st.booleans(), shards=st.sampled_from([1, 3]))
def test_as_many_as_the_masks_have_together(
    rows: list[tuple[str | None, ...]], chosen: dict[str, str], unit: bool, shards: int
) -> None:
    compare(rows, chosen, unit=unit, shards=shards)


@pytest.mark.parametrize(
    ("chosen", "unit"),
    [
        ({}, True),
        ({"missing_quasi_identifier": "wildcard"}, True),
        ({"missing_quasi_identifier": "wildcard", "multiple_sensitive": "others_as_quasi_identifiers"}, False),
        ({"missing_quasi_identifier": "wildcard", "missing_sensitive": "fail"}, False),
        ({"missing_quasi_identifier": "fail", "suppressed": "exempt"}, False),
        ({"suppressed": "exempt"}, True),
        ({"missing_sensitive": "fail", "multiple_sensitive": "others_as_quasi_identifiers"}, True),
    ],
)
def test_as_many_as_the_masks_of_one_table_have_together(chosen: dict[str, str], *, unit: bool) -> None:
    first = {name: values[0] for name, values in CONVENTIONS.items()}
    compare(ROWS, first | chosen, unit=unit, shards=2)


ROWS: list[tuple[str | None, ...]] = [
    ("1", "1", "1", "2", "a"),
    ("1", "1", "2", None, "a"),
    ("1", None, "1", "1", "b"),
    ("2", "1", None, "1", "b"),
    ("2", "2", "2", "2", None),
    ("2", "2", "2", "1", "c"),
    ("*", "*", "*", "*", "c"),
    ("*", "*", "1", "2", None),
    ("2", "*", "1", "1", "a"),
]


def compare(rows: list[tuple[str | None, ...]], chosen: dict[str, str], *, unit: bool, shards: int) -> None:
    """Hold the count of an audit against the masks of `failing_records`."""
    release, asked = table(rows), policy(unit=unit, conventions=chosen)
    result = audit(release, asked, shards=shards)
    exposed, expected = result.exposed, exposed_records(release, asked)
    if exposed is None or exposed.records is None:
        assert expected == []
        return
    assert exposed.records == len(expected)
    patients = [row[-1] for row in rows]
    exempt = chosen["suppressed"] == "exempt"
    count = [number for number, row in enumerate(rows) if not exempt or set(row[:4]) != {"*"}]
    assert exposed.of == len(count)
    assert exposed.units == (len({patients[number] for number in expected}) if unit else None)
    assert exposed.units_of == (len({patients[number] for number in count}) if unit else None)
    assert [result.outcomes[number].status for number in exposed.counted] == [Status.FAILED] * len(exposed.counted)


WARDS = pa.table({"ward": list("aaabbc"), "illness": ["flu", "flu", "gout", "flu", "flu", "gout"]})
ATTRIBUTES = {"ward": {"role": "quasi_identifier"}, "illness": {"role": "sensitive"}}


def of(*expect: dict[str, Any], **further: Any) -> ExposureCount | None:
    return audit(WARDS, {"version": 1, "attributes": ATTRIBUTES, "expect": list(expect), **further}).exposed


def test_exempt_people_are_not_among_those_that_a_verdict_is_about() -> None:
    """Of six people two are exempt: all of the four who count are exposed, and not 4 of 6."""
    wards = pa.table({"ward": ["1", "1", "1", "2", "*", "*"], "illness": [*"ffff", "*", "*"]})
    asked = {"version": 1, "attributes": ATTRIBUTES, "expect": [{"k_anonymity": {"k": 4}}]}
    result = audit(wards, asked | {"conventions": {"suppressed": "exempt"}})
    assert result.exposed is not None
    assert (result.exposed.records, result.exposed.of) == (4, 4)
    assert "All 4 records (100%) are exposed" in verdict_sentence(result)


def test_a_record_that_two_demands_expose_counts_once() -> None:
    exposed = of({"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2}})
    assert exposed == ExposureCount(records=3, of=6, counted=(FIRST, FIRST + 1))


def test_nothing_is_reported_where_nothing_fails_or_only_warns() -> None:
    assert of({"k_anonymity": {"k": 1}}, {"distinct_l_diversity": {"l": 2, "severity": "warning"}}) is None


def test_victims_count_only_where_more_of_them_are_than_allowed() -> None:
    attack = {"homogeneity": {"at_most": "0.6"}}
    assert of(attack, {"k_anonymity": {"k": 2}}) == ExposureCount(records=1, of=6, counted=(FIRST + 1,))


def test_a_figure_of_the_whole_release_is_left_out_beside_groups() -> None:
    risk = {"reidentification_risk": {"at_most": "0.4"}}
    assert of(risk, {"k_anonymity": {"k": 2}}) == ExposureCount(
        records=1, of=6, counted=(FIRST + 1,), left_out=(FIRST,)
    )


def test_a_figure_of_the_whole_release_that_is_alone_is_reported() -> None:
    assert of({"reidentification_risk": {"at_most": "0.4"}}) == ExposureCount(records=3, of=6, counted=(FIRST,))


def test_what_counts_no_records_gives_no_number() -> None:
    average = {"reidentification_risk": {"measure": "average", "at_most": "0.1"}}
    assert of(average) == ExposureCount(records=None, of=6, left_out=(FIRST,))


def test_columns_are_left_out() -> None:
    attributes = {**ATTRIBUTES, "ward": {"role": "quasi_identifier", "scale": "numeric"}}
    asked = {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}]}
    exposed = audit(WARDS, asked).exposed
    assert exposed is not None
    assert (exposed.records, exposed.counted, len(exposed.left_out)) == (None, (), 1)


@pytest.mark.parametrize("demands", [63, 70])
def test_more_demands_than_a_word_has_bits(demands: int) -> None:
    exposed = of(*({"k_anonymity": {"k": 2 + number % 2}} for number in range(demands)))
    assert exposed is not None
    assert (exposed.records, len(exposed.counted)) == (3, demands)
