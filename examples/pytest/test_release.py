"""Tests of a function that makes a release: of what it gives, and of the figures that its audit has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from tcdp_audit.testing import assert_releasable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tcdp_audit import Audit

POLICY = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier", "scale": "nominal"},
        "disease": {"role": "sensitive", "scale": "nominal"},
    },
    "expect": [{"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2}}],
}
PEOPLE = pa.table(
    {
        "zip": ["47677", "47602", "47678", "47905", "47909", "47906"],
        "disease": ["gastritis", "flu", "gastritis", "flu", "bronchitis", "flu"],
    }
)


def generalised(people: pa.Table, digits: int) -> pa.Table:
    """The table with so many digits of the postcode left: what your own project does to its data."""
    short = [f"{code[:digits]}{'*' * (5 - digits)}" for code in people["zip"].to_pylist()]
    return people.set_column(people.column_names.index("zip"), "zip", [short])


def test_three_digits_are_few_enough() -> None:
    """One line: it passes only if the audit does."""
    assert_releasable(generalised(PEOPLE, 3), POLICY)


def test_four_digits_are_too_many() -> None:
    """A failure has a line for each reason."""
    with pytest.raises(AssertionError, match=r"k_anonymity: .* groups of fewer than 3 records"):
        assert_releasable(generalised(PEOPLE, 4), POLICY)


@pytest.fixture(scope="module")
def audit(tcdp_audit: Callable[..., Audit]) -> Audit:
    """One audit for several tests. The fixture `tcdp_audit` comes with the plugin."""
    return tcdp_audit(generalised(PEOPLE, 3), POLICY)


def test_no_one_is_alone(audit: Audit) -> None:
    """Every figure is at hand."""
    assert audit.expectations[0].observed == 3


def test_no_disease_can_be_read_off(audit: Audit) -> None:
    """Several tests look at the same audit."""
    assert audit.expectations[1].records.failing == 0
