"""Attacks with a control set against plain Python, on tables of up to seven records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import brute_control as brute
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from brute_control import Row
from hypothesis import given, settings, strategies as st

from tcdp_audit import audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)
GRADES = ["low", "middle", "high"]
KNOWN = ["age", "city", "grade"]
ATTRIBUTES: dict[str, Any] = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "grade": {"role": "quasi_identifier", "scale": "ordinal", "order": GRADES},
    "city": {"role": "quasi_identifier", "scale": "nominal"},
    "illness": {"role": "sensitive"},
    "pay": {"role": "sensitive", "scale": "numeric"},
}
TYPES = {"age": pa.int64(), "grade": pa.string(), "city": pa.string(), "illness": pa.string(), "pay": pa.float64()}
VALUES: dict[str, list[Any]] = {
    "age": [20, 21, 30, None],
    "grade": [0, 1, 2, None],
    "city": ["a", "b", None],
    "illness": ["flu", "gout", None],
    "pay": [0.1, 0.2, 0.3, 0.9, None],
}
row = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VALUES.items()})
tables = st.lists(row, min_size=1, max_size=7)

Asked = tuple[str, dict[str, Any], Callable[[brute.Tables], float]]
ASKED: list[Asked] = [
    ("singling_out", {}, lambda all_: brute.singling_out(all_, [KNOWN])),
    ("singling_out", {"size": 2}, lambda all_: brute.singling_out(all_, list(combinations(KNOWN, 2)))),
    ("linkability", {"other_attributes": ["grade"]}, lambda all_: brute.linkability(all_, ["age", "city"], ["grade"])),
    (
        "attribute_inference",
        {"target": "illness"},
        lambda all_: brute.inference(all_, KNOWN, "illness", lambda guess, true: guess == true),
    ),
    (
        "attribute_inference",
        {"target": "pay", "attributes": ["age", "city"], "tolerance": "1/8"},  # 0.1 of 0.8: 0.3 - 0.2 is near enough
        lambda all_: brute.inference(all_, ["age", "city"], "pay", brute.near_enough(all_, "pay", Fraction(1, 8))),
    ),
    ("membership_inference", {}, lambda all_: brute.membership(all_, KNOWN, calibrated=False)[1]),
    ("membership_inference", {"calibrated": True}, lambda all_: brute.membership(all_, KNOWN, calibrated=True)[1]),
    ("closest_record_share", {}, lambda all_: float(brute.closest_share(all_, KNOWN))),
    ("exact_match_rate", {"measure": "originals"}, lambda all_: brute.exact_matches(all_, KNOWN)),
]


def as_table(rows: Sequence[Row]) -> pa.Table:
    columns = {name: [one[name] for one in rows] for name in VALUES}
    columns["grade"] = [None if rank is None else GRADES[rank] for rank in columns["grade"]]
    return pa.table({name: pa.array(column, TYPES[name]) for name, column in columns.items()})


def outcomes(all_: brute.Tables) -> list[Outcome]:
    released, original, holdout = map(as_table, all_)
    expect = [{check: parameters} for check, parameters, _ in ASKED]
    with TemporaryDirectory() as folder:
        pq.write_table(holdout, Path(folder) / "holdout.parquet")
        policy = {"version": 1, "holdout": f"{folder}/holdout.parquet", "attributes": ATTRIBUTES, "expect": expect}
        return list(audit(released, policy, original, plugins=PLUGINS).expectations)


def exactly(rows: Sequence[Row]) -> list[Row]:
    """The same with pay as the decimal that is written."""
    return [{**one, "pay": None if one["pay"] is None else Fraction(str(one["pay"]))} for one in rows]


@pytest.mark.long
@settings(max_examples=30)
@given(released=tables, original=tables, holdout=tables)
def test_every_attack_is_that_of_plain_python(released: list[Row], original: list[Row], holdout: list[Row]):
    agree(released, original, holdout)


def test_every_attack_on_a_few_records_is_that_of_plain_python():
    """A released copy of one record, one that is near, and one with a gap; a hold-out of one record more."""
    names = list(VALUES)

    def rows(*records: tuple[Any, ...]) -> list[Row]:
        return [dict(zip(names, one, strict=True)) for one in records]

    original = rows((20, 0, "a", "flu", 0.1), (21, 1, "b", "gout", 0.2), (30, 2, None, None, 0.3))
    released = rows((20, 0, "a", "flu", 0.1), (21, 2, "b", "flu", 0.3), (None, 2, "b", "gout", 0.9))
    strangers = rows((20, 0, "a", "gout", 0.1), (30, 1, "a", "flu", None), (21, 1, "a", "flu", 0.9))
    holdout = [*strangers, *rows((30, 2, "b", "gout", 0.2))]
    assert agree(released, original, holdout) == len(ASKED)


def agree(released: list[Row], original: list[Row], holdout: list[Row]) -> int:
    """Hold every attack against its reference; how many there was something to measure for."""
    measured = 0
    all_ = exactly(released), exactly(original), exactly(holdout)
    for (check, parameters, reference), match in zip(ASKED, outcomes((released, original, holdout)), strict=True):
        try:
            expected = reference(all_)
        except brute.Nothing:
            assert match.status is Status.ERROR, (check, parameters)
            continue
        assert match.status is Status.MEASURED, (check, parameters, match.message)
        observed = require_interval(all_, match) if check == "closest_record_share" else match.observed
        assert observed == pytest.approx(expected, abs=1e-9), (check, parameters)
        measured += 1
    return measured


def require_interval(all_: brute.Tables, outcome: Outcome) -> float:
    """The share itself, once its interval is that of as many attempts as vary alike."""
    share, attempts = float(outcome.details["share"]), outcome.details["independent_attempts"]
    centre, error = brute.wilson(share * attempts, attempts)
    assert outcome.observed == pytest.approx(min(1, max(centre + error, share)))
    if len(all_[1]) == len(all_[2]):
        assert attempts == brute.independent_attempts(all_, KNOWN)
    return share
