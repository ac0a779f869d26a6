"""Interval disclosure by standard deviation as a check."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit_plugins.checks.interval_disclosure.attribute_pairs import AttributePairs
from tcdp_audit_plugins.checks.interval_disclosure.parameters import (
    IntervalParameters,
    Widths,
    compared,
    interval_faults,
)
from tcdp_audit_plugins.checks.interval_disclosure.sd_intervals import inside_sd_interval
from tcdp_audit_plugins.checks.interval_disclosure.sentences import SENTENCES
from tcdp_audit_plugins.checks.interval_disclosure.shares import interval_figure
from tcdp_audit_plugins.guides import built_in_guide

SCALES = frozenset({Scale.NUMERIC})


class SdIntervalParameters(IntervalParameters):
    """Parameters of `sd_interval_disclosure`."""

    p: Annotated[
        Widths,
        Field(
            description="Half the width of the interval in percent of the original's standard deviation. One number, "
            "or several at once."
        ),
    ]


def _inside(one: AttributePairs, p: Fraction) -> NDArray[np.bool_]:
    return inside_sd_interval(one.released, one.original, one.values, one.original_counts, p)


def _measure(view: TableView, parameters: SdIntervalParameters) -> TableFigure:
    names = compared(parameters, view.policy.document, SCALES)
    return interval_figure(view, names, parameters, _inside)


CHECKS = [
    TableCheck(
        name="sd_interval_disclosure",
        title="Standard-deviation interval disclosure",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=SdIntervalParameters,
        measure=_measure,
        label="share of original values inside the interval",
        needs={Need.ORIGINAL},
        validate=lambda parameters, document: interval_faults(parameters, document, SCALES),
        sentences=SENTENCES,
        guide=built_in_guide(__file__, "sd_interval_disclosure.md"),
    ),
]
