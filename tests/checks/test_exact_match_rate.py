"""The share of released records that equal an original one."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from synthetic_tables import ORIGINAL, REMEMBERED, TAUGHT, asked

from tcdp_audit.core.base.outcome import Status


def test_copies_are_counted():
    released = pd.DataFrame({"v": [0, 0, 2, 5], "c": ["a", "b", "b", "b"]})
    outcome = asked("exact_match_rate", released, ORIGINAL, at_most="1/2")
    assert outcome.status is Status.PASSED
    assert outcome.observed == 0.5
    assert outcome.details["matches"] == outcome.details["matches_of_unique_originals"] == 2
    failed = asked("exact_match_rate", released, ORIGINAL, at_most=0.4999999999999999)
    assert failed.status is Status.FAILED
    assert (
        failed.message == "2 of 4 released records (50%) equal an original record in 'v' and 'c'; "
        "at most 49.99999999999999% is allowed."
    )


def test_matches_with_a_holdout_stand_beside_those_with_the_original(holdout: Path):
    outcome = asked("exact_match_rate", REMEMBERED, TAUGHT, holdout)
    assert (outcome.observed, outcome.details["holdout_rate"]) == (pytest.approx(2 / 7), 0)
