"""A table check with several thresholds: each is judged, by the figure that it is about."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import pytest
from pydantic import Field

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.table_check import Estimate, TableCheck, TableFigure
from tcdp_audit.core.check.threshold import Limit
from tcdp_audit.plugin.check import DisclosureType, Guide, Parameters
from tcdp_audit.plugin.detector import Exact


class Both(Parameters):
    at_most: Annotated[Exact | None, Field(ge=0, le=1)] = None
    at_least: Annotated[Exact | None, Field(ge=0, le=1)] = None


CHECK = TableCheck(
    name="both",
    title="Both",
    disclosure_type=DisclosureType.IDENTITY_DEGREE,
    parameters=Both,
    measure=lambda _, __: TableFigure(0.0, 1),
    further=(Limit("at_least", Comparison.AT_LEAST, "other figure"),),
    guide=Guide(definition="", formula="", reading="", choosing="", source="", example=""),
)


def figure(value: Any = Fraction(1, 2), other: Any = Fraction(1, 4), **more: Any) -> TableFigure:
    return TableFigure(value, 8, further={"at_least": other}, **more)


@pytest.mark.parametrize(
    ("demands", "failed"),
    [
        ({}, None),
        ({"at_most": "1/2"}, False),
        ({"at_most": "0.49"}, True),
        ({"at_least": "1/4"}, False),
        ({"at_least": "0.26"}, True),
        ({"at_most": "1/2", "at_least": "1/4"}, False),
        ({"at_most": "0.49", "at_least": "1/4"}, True),
        ({"at_most": "1/2", "at_least": "0.26"}, True),
    ],
)
def test_every_demand_is_judged(demands: dict[str, str], failed: bool | None):
    verdict = CHECK.verdict(figure(), Both.model_validate(demands))
    assert (verdict.failed, verdict.undecided) == (failed, False)


def test_a_demand_that_is_broken_for_certain_decides_beside_an_estimate_that_leaves_another_open():
    estimate = Estimate(0.4, 0.6, 4, 8, 0, "compare more")
    open_one = CHECK.verdict(figure(estimate=estimate), Both.model_validate({"at_most": "1/2", "at_least": "1/4"}))
    assert (open_one.failed, open_one.undecided) == (None, True)
    broken = CHECK.verdict(figure(estimate=estimate), Both.model_validate({"at_most": "1/2", "at_least": "0.26"}))
    assert (broken.failed, broken.undecided) == (True, False)


@pytest.mark.parametrize(
    ("demands", "unfailable"),
    [
        ({"at_most": 1, "at_least": "0.1"}, ("at_most",)),
        ({"at_most": "0.9", "at_least": 0}, ("at_least",)),
        ({"at_most": 1, "at_least": 0}, ("at_most", "at_least")),
    ],
)
def test_each_demand_that_nothing_can_fail_is_said(demands: dict[str, Any], unfailable: tuple[str, ...]):
    assert CHECK.unfailable(figure(), Both.model_validate(demands)) == unfailable


@pytest.mark.parametrize("one", [TableFigure(0.5, 8), figure(other=float("nan")), figure(other="much")])
def test_a_figure_that_is_none_is_an_error(one: TableFigure):
    with pytest.raises(CheckError, match="a figure must be a"):
        CHECK.verdict(one, Both())
