"""The strictest demand that a release keeps is named by the check's own parameter, whatever kind of check it is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tcdp_audit import Comparison, Outcome, Status
from tcdp_audit.registry import Plugins
from tcdp_audit_reports.demand import kept_demand

NEAREST = "nearest_neighbour_distance_ratio"
CHECKS = Plugins.load(external=False).checks


@pytest.mark.parametrize(
    ("name", "demanded", "observed", "line"),
    [
        ("k_anonymity", 5, 2.0, "k_anonymity: {k: 2}"),
        ("k_map", 5, 2.0, "k_map: {k: 2}"),
        ("delta_presence", Fraction(1, 10), 0.5, "delta_presence: {delta_max: 0.501}"),
        ("distance_to_closest_record", Fraction(1, 2), 0.25, "distance_to_closest_record: {at_least: 0.249}"),
        (
            "nearest_neighbour_distance_ratio",
            Fraction(1, 2),
            0.25,
            "nearest_neighbour_distance_ratio: {at_least: 0.249}",
        ),
        ("homogeneity", Fraction(1, 10), 0.5, "homogeneity: {at_most: 0.501}"),
    ],
)
def test_a_failed_demand_has_one_that_is_kept(name: str, demanded: Fraction, observed: float, line: str):
    check = CHECKS[name]
    outcome = Outcome(
        check=name,
        status=Status.FAILED,
        parameters={check.headline.parameter: demanded},
        observed=observed,
        threshold=Fraction(demanded),
        comparison=check.headline.comparison,
    )

    kept = kept_demand(outcome, check)

    assert kept is not None
    assert kept.policy == f"expect:\n  - {line}"


def test_nothing_is_said_to_be_kept_where_two_bounds_were_demanded():
    outcome = Outcome(
        check="delta_presence",
        status=Status.FAILED,
        parameters={"delta_max": Fraction(1, 10), "delta_min": Fraction(0)},
        observed=0.5,
        threshold=Fraction(1, 10),
        comparison=Comparison.AT_MOST,
    )

    assert kept_demand(outcome, CHECKS["delta_presence"]) is None
    assert kept_demand(outcome, None) is None
