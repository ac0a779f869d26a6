"""Interval disclosure by standard deviation as a check."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.check import DisclosureType, Guide, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit_plugins.checks.interval_disclosure.attribute_pairs import AttributePairs
from tcdp_audit_plugins.checks.interval_disclosure.guide_texts import CHOOSING, LIMITS, READING
from tcdp_audit_plugins.checks.interval_disclosure.parameters import (
    IntervalParameters,
    Widths,
    compared,
    interval_faults,
)
from tcdp_audit_plugins.checks.interval_disclosure.sd_intervals import inside_sd_interval
from tcdp_audit_plugins.checks.interval_disclosure.sentences import SENTENCES
from tcdp_audit_plugins.checks.interval_disclosure.shares import interval_figure
from tcdp_audit_plugins.formulas import formula

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
        guide=Guide(
            question="How often is the true value close to the masked one?",
            risk="A masked value may lie so near to the true one that masking protects nobody.",
            definition=(
                "An intruder takes the masked value of a record and guesses that the original one is near. It is "
                "disclosed if the two differ by at most p percent of the attribute's standard deviation, which is that "
                "of all original values with n - 1 in its denominator."
            ),
            **formula(
                r"\left|v_i - v'_i\right| \le \frac{p}{100} \operatorname{sd}(v)",
            ),
            reading=(
                f"{READING} Differences next to the limit are decided in exact fractions, in which a number stored as "
                "floating point is the decimal that it prints as: 0.1 is one tenth."
            ),
            choosing=CHOOSING,
            limits=(
                "A few very large values make the standard deviation, and with it every interval, wide; the check by "
                f"ranks does not depend on them. {LIMITS}"
            ),
            source=(
                "Torra, Privacy models and disclosure risk (lecture, 2020); Guide to Data Privacy, Springer "
                "2022, doi:10.1007/978-3-031-12837-0"
            ),
            example="- sd_interval_disclosure: {p: [1, 5], at_most: 0.2, attributes: [age, salary]}",
        ),
    ),
]
