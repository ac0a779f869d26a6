"""Refusals of remedies: which demand not even one class of all records keeps, and what would be attainable."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcdp_audit import Outcome, Status
from tcdp_audit.outcome import Comparison
from tcdp_audit_plugins.remedies._shared.refusal import refused_as_one_class

FAR = Outcome(
    check="t_closeness",
    title="t-closeness",
    status=Status.FAILED,
    attribute="pay",
    observed=0.375,
    threshold=Fraction(1, 5),
    comparison=Comparison.AT_MOST,
)


@pytest.mark.parametrize(("titles", "named"), [(["A"], "A"), (["A", "B"], "A and B"), ([*"ABC"], "A, B and C")])
def test_the_demands_are_named(titles: list[str], named: str) -> None:
    assert refused_as_one_class(titles) == f"{named} would fail even if all records were one class"


def test_the_figure_of_one_class_is_attainable() -> None:
    others = [Outcome(check="k_anonymity", title="k-anonymity", status=status) for status in Status]

    assert refused_as_one_class(["t-closeness"], [*others, FAR]) == (
        "t-closeness would fail even if all records were one class. Attainable by that class: t-closeness of 'pay' "
        "0.375, where <= 0.2 is demanded."
    )
