"""few_contributors: extremes, quantiles, and statistics of as many people as are published."""

from __future__ import annotations

import pytest
from cell_tables import names
from contributor_tables import RICH, judged as asked

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit_plugins.checks.published_cells.few_contributors import FEW_CONTRIBUTORS


def test_a_statistic_of_one_person() -> None:
    measures = {
        "n": {"counts": "people"},
        "largest": {"maximum": "x", "over": "n"},
        "mean": {"mean": "x", "over": "n", "decimals": 2},
    }
    assert asked(FEW_CONTRIBUTORS, {"ward": RICH}, measures).value == 1
    assert asked(FEW_CONTRIBUTORS, {"ward": [5, 5, 5, 1]}, measures, k=3).value == 3
    assert asked(FEW_CONTRIBUTORS, {"ward": [5, 5, 5, 1]}, measures, records=False).value == 1
    of_mean = {name: one for name, one in measures.items() if name != "largest"}
    figure = asked(FEW_CONTRIBUTORS, {"a": RICH, "b": [1, 2]}, of_mean, k=10, records=False)
    assert (figure.value, names(figure), figure.cells) == (2, [("b",)], 3)


@pytest.mark.parametrize(("at", "people"), [("0.95", 1), ("0.5", 6), ("0.1", 2), ("0.25", 3)])
def test_a_quantile_is_about_the_people_beyond_it(at: str, people: int) -> None:
    measures = {"n": {"counts": "people"}, "largest": {"quantile": "x", "at": at, "over": "n"}}
    assert asked(FEW_CONTRIBUTORS, {"a": RICH}, measures, records=False).value == people


def test_the_largest_of_negative_values_is_taken_as_of_one_person() -> None:
    measures = {"largest": {"maximum": "x", "at_least": -10}}
    assert asked(FEW_CONTRIBUTORS, {"a": [3, 3, 3, -9]}, measures).value == 1
    assert asked(FEW_CONTRIBUTORS, {"a": [3, 3, 3, 0]}, measures).value == 3
    assert asked(FEW_CONTRIBUTORS, {"a": [3] * 30}, measures).value == 20  # counted up to 20, or to the demand
    assert asked(FEW_CONTRIBUTORS, {"a": [3] * 30}, measures, k=25).value == 25


def test_the_least_value_is_taken_as_of_one_person() -> None:
    assert asked(FEW_CONTRIBUTORS, {"a": [3, 3, 3]}, {"least": {"minimum": "x"}}).value == 1


def test_a_mean_over_unnamed_people_is_an_error() -> None:
    with pytest.raises(CheckError, match="does not say over whom it is"):
        asked(FEW_CONTRIBUTORS, {"a": [1, 2]}, {"mean": {"mean": "x", "decimals": 2}}, records=False)
    assert asked(FEW_CONTRIBUTORS, {"a": [1, 2]}, {"mean": {"mean": "x", "decimals": 2}}).value == 2


def test_without_statistics_there_is_nothing_to_judge() -> None:
    with pytest.raises(CheckError, match="no table has statistics"):
        asked(FEW_CONTRIBUTORS, {"a": [1, 2]}, {"n": {"counts": "people"}})
