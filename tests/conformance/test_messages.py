"""What a failure of the conformance suite says: what was expected, what came, where, and the usual cause."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tcdp_audit.testing.conformance import ConformanceError, Subject, first_difference


@pytest.mark.parametrize(
    ("got", "expected", "difference"),
    [
        (1, 1, None),
        (float("nan"), float("nan"), None),
        (1, 1.0, "expected 1.0, got 1"),
        (np.array([1, 2, 4]), np.array([1, 2, 3]), "position 2: expected 3, got 4"),
        ([1], [1, 2], "expected 2 values, got 1"),
        ({"a": {"b": [1]}}, {"a": {"b": [2]}}, "a b position 0: expected 2, got 1"),
        ({"a": 1}, {"a": 1, "b": None}, "keys: expected 2 values, got 1"),
        ({"b": 1, "a": 1}, {"a": 1, "b": 1}, "keys position 0: expected 'a', got 'b'"),
    ],
)
def test_the_first_difference_is_named(got: Any, expected: Any, difference: str | None):
    assert first_difference(got, expected) == difference


def test_a_failure_has_its_place_and_its_usual_cause():
    subject = Subject("check", "mine").at("case: one record")

    with pytest.raises(ConformanceError) as caught:
        subject.require_equal(1, 2, "records", "the number of records", "groups are counted")

    assert str(caught.value) == (
        "check 'mine': records: the number of records: expected 2, got 1 (case: one record); "
        "usual cause: groups are counted"
    )
