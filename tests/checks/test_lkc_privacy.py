"""LKC-privacy: the printed figures, plain Python over every set of attributes, demands at the figures."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import assume, given, strategies as st

from tcdp_audit import Outcome, PolicyError, Status, audit

SIX = [("e1", "j", "c"), ("e1", "j", "h"), ("e1", "k", "c"), ("e2", "j", "c"), ("e2", "k", "c"), ("e2", "k", "c")]
Record = tuple[Any, ...]
records = st.lists(st.tuples(*[st.integers(0, 1)] * 3, st.sampled_from(["c", "h", None])), min_size=1, max_size=8)


def table(rows: list[Record]) -> pa.Table:
    """Quasi-identifiers a, b, c ... and the sensitive attribute `secret`, the last of each record."""
    names = [*"abcdefgh"[: len(rows[0]) - 1], "secret"]
    texts = [[None if row[i] is None else str(row[i]) for row in rows] for i in range(len(names))]
    return pa.table({name: pa.array(one, pa.string()) for name, one in zip(names, texts, strict=True)})


def outcome(release: pa.Table, parameters: dict[str, Any], **policy: Any) -> Outcome:
    attributes = {
        name: {"role": "sensitive" if name == "secret" else "quasi_identifier"} for name in release.schema.names
    }
    document = {"version": 1, "attributes": attributes, "expect": [{"lkc_privacy": parameters}], **policy}
    return audit(release, document).expectations[0]


def plain(rows: list[Record], largest: int, k: int, most: Fraction, *, own: bool) -> dict[str, Any]:
    """The figures from their definition: every group by every set of at most so many attributes."""
    length = len(rows[0]) - 1
    least, confidence, failing = len(rows), Fraction(0), set()
    unique: dict[str, set[int]] = {}
    homogeneous: dict[str, set[int]] = {}
    for size in range(1, min(largest, length) + 1):
        unique[str(size)], homogeneous[str(size)] = set(), set()
        for chosen in combinations(range(length), size):
            groups: dict[Record, list[int]] = {}
            for number, row in enumerate(rows):
                groups.setdefault(tuple(row[i] for i in chosen), []).append(number)
            for members in groups.values():
                secrets = Counter(rows[one][-1] for one in members if own or rows[one][-1] is not None)
                share = Fraction(max(secrets.values()), sum(secrets.values())) if secrets else Fraction(1)
                least, confidence = min(least, len(members)), max(confidence, share)
                if len(members) < k or share > most:
                    failing |= {*members}
                if len(members) == 1:
                    unique[str(size)] |= {*members}
                if len(secrets) == 1:
                    homogeneous[str(size)] |= {*members}
    return {
        "least": least,
        "confidence": confidence,
        "failing": len(failing),
        "unique": {size: len(one) for size, one in unique.items()},
        "homogeneous": {size: len(one) for size, one in homogeneous.items()},
    }


@pytest.mark.long
@given(records, st.integers(1, 4), st.integers(1, 4), st.sampled_from(["1/3", "0.5", "1"]), st.booleans())
def test_by_definition(rows: list[Record], largest: int, k: int, most: str, own: bool):
    assume(any(row[-1] is not None for row in rows))
    conventions = {"missing_sensitive": "own_category" if own else "excluded"}
    result = outcome(table(rows), {"L": largest, "K": k, "C": most}, conventions=conventions)
    expected = plain(rows, largest, k, Fraction(most), own=own)
    assert result.records is not None

    assert (result.observed, result.details["confidence"]) == (expected["least"], expected["confidence"])
    assert result.records.failing == expected["failing"]
    assert result.details["unique_records"] == expected["unique"]
    assert result.details["records_in_homogeneous_groups"] == expected["homogeneous"]
    retained = expected["least"] >= k and expected["confidence"] <= Fraction(most)
    assert (result.status is Status.FAILED) == (not retained)


@pytest.mark.parametrize(
    ("parameters", "least", "confidences"),
    [
        ({"L": 1}, 3, {"1": 1}),
        ({"L": 2}, 1, {"1": 1, "2": 1}),
        ({"L": 1, "values": ["h"]}, 3, {"1": Fraction(1, 3)}),
        ({"L": 2, "values": ["h"]}, 1, {"1": Fraction(1, 3), "2": Fraction(1, 2)}),  # it grows with L
    ],
)
def test_six_records(parameters: dict[str, Any], least: int, confidences: dict[str, Any]):
    result = outcome(table(SIX), parameters)
    assert (result.observed, result.details["confidences"], result.status) == (least, confidences, Status.MEASURED)


def test_missing_values_may_make_a_share_larger():
    result = outcome(table([(0, "c"), (0, "h"), (0, None), (0, "c")]), {"L": 1})
    assert result.details["confidence"] == Fraction(2, 3)
    own = outcome(
        table([(0, "c"), (0, "h"), (0, None), (0, "c")]), {}, conventions={"missing_sensitive": "own_category"}
    )
    assert own.details["confidence"] == Fraction(1, 2)


@pytest.mark.parametrize(
    ("demand", "status"),
    [
        ({"K": 3}, Status.PASSED),
        ({"K": 4}, Status.FAILED),
        ({"C": "1/3"}, Status.PASSED),
        ({"C": "0.333"}, Status.FAILED),
        ({"K": 3, "C": "1/3"}, Status.PASSED),
        ({"K": 3, "C": "0.3"}, Status.FAILED),
        ({"K": 4, "C": "1/3"}, Status.FAILED),
    ],
)
def test_both_demands_at_the_figure_and_beside_it(demand: dict[str, Any], status: Status):
    assert outcome(table(SIX), {"L": 1, "values": ["h"], **demand}).status is status


def test_the_worst_sets_are_named_and_no_value_is():
    result = outcome(table(SIX), {"L": 2, "K": 2, "C": "0.4", "values": ["h"]})
    assert (result.details["smallest_set"], result.details["surest_set"]) == (["a", "b"], ["a", "b"])
    assert result.details["surest_attribute"] == "secret"
    assert result.details["records_in_small_groups"] == {"1": 0, "2": 2}
    assert result.details["records_inferred"] == {"1": 0, "2": 2}


def test_of_several_sensitive_attributes_the_worst_decides():
    release = table(SIX).append_column("other", pa.array(list("uvuvuv")))
    attributes = {name: {"role": "quasi_identifier"} for name in "ab"}
    attributes |= {"secret": {"role": "sensitive"}, "other": {"role": "sensitive"}}
    result = outcome(release, {"L": 1, "C": "0.7"}, attributes=attributes)
    assert (result.details["surest_attribute"], result.details["confidence"]) == ("secret", 1)
    one = outcome(release, {"L": 1, "C": "0.7", "attribute": "other"}, attributes=attributes)
    assert (one.details["surest_attribute"], one.details["confidence"]) == ("other", Fraction(2, 3))
    for conventions in ({"multiple_sensitive": "joint"}, {"multiple_sensitive": "others_as_quasi_identifiers"}):
        with pytest.raises(PolicyError, match="measures each sensitive attribute by itself"):
            outcome(release, {}, attributes=attributes, conventions=conventions)
    with pytest.raises(PolicyError, match="say which in `attribute`"):
        outcome(release, {"values": ["h"]}, attributes=attributes)
    with pytest.raises(PolicyError, match="declares no sensitive attribute 'a'"):
        outcome(release, {"attribute": "a"}, attributes=attributes)


@pytest.mark.parametrize(
    ("further", "sentence"),
    [
        ({"attributes": {name: {"role": "quasi_identifier"} for name in ("a", "b", "secret")}}, "the role sensitive"),
        ({"conventions": {"missing_quasi_identifier": "wildcard"}}, "must not overlap"),
    ],
)
def test_what_it_cannot_measure_is_a_fault(further: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        outcome(table(SIX), {}, **further)


def test_values_that_no_one_has_and_columns_without_any_are_errors():
    result = outcome(table(SIX), {"values": ["plague"], "C": "0.5"})
    assert result.status is Status.ERROR
    assert "no one could infer it" in result.message
    missing = outcome(table([(0, None), (0, "c")]), {"C": 1}, conventions={"missing_sensitive": "fail"})
    assert (missing.status, "1 record has no value" in missing.message) == (Status.FAILED, True)
    assert missing.details["confidence"] == 1
    empty = outcome(table([(*row[:2], None) for row in SIX]), {"C": "0.5"})
    assert (empty.status, "has no value in any record" in empty.message) == (Status.ERROR, True)


def test_too_many_sets_are_refused():
    release = pa.table({**{f"c{number}": ["1", "2"] for number in range(120)}, "secret": ["c", "h"]})
    with pytest.raises(PolicyError, match="sets of attributes are too many, 100,000 at most; choose a smaller `L`"):
        outcome(release, {"L": 3})


def test_order_of_records_makes_no_difference():
    assert outcome(table(SIX[::-1]), {"K": 2}).details == outcome(table(SIX), {"K": 2}).details


def test_adult(data: Path):
    release = pyarrow.csv.read_csv(data / "adult" / "adult.csv")
    attributes = {name: {"role": "quasi_identifier"} for name in release.column_names}
    attributes["salary-class"] = {"role": "sensitive"}
    actual = outcome(release, {"L": 4, "K": 5}, attributes=attributes).details
    assert actual["sets"] == {"1": 8, "2": 28, "3": 56, "4": 70}
    assert actual["unique_records"] == {"1": 2, "2": 936, "3": 6_132, "4": 11_403}
    assert actual["records_in_small_groups"] == {"1": 8, "2": 2_948, "3": 12_789, "4": 18_916}
    assert actual["records_in_homogeneous_groups"] == {"1": 1_491, "2": 7_857, "3": 17_920, "4": 22_237}
    assert set(actual["confidences"].values()) == {1}
