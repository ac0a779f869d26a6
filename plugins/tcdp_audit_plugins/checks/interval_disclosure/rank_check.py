"""Rank-based interval disclosure as a check."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from tcdp_audit.plugin.check import DisclosureType, Guide, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, Scale
from tcdp_audit_plugins.checks.interval_disclosure.attribute_pairs import AttributePairs
from tcdp_audit_plugins.checks.interval_disclosure.guide_texts import CHOOSING, LIMITS, READING
from tcdp_audit_plugins.checks.interval_disclosure.parameters import (
    IntervalParameters,
    as_list,
    compared,
    interval_faults,
    widths_schema,
)
from tcdp_audit_plugins.checks.interval_disclosure.rank_intervals import inside_rank_interval
from tcdp_audit_plugins.checks.interval_disclosure.sentences import SENTENCES
from tcdp_audit_plugins.checks.interval_disclosure.shares import interval_figure
from tcdp_audit_plugins.formulas import formula

SCALES = frozenset({Scale.NUMERIC, Scale.ORDINAL})


class RankIntervalParameters(IntervalParameters):
    """Parameters of `rank_interval_disclosure`."""

    p: Annotated[
        list[Annotated[Exact, Field(gt=0, le=100)]],
        Field(
            min_length=1,
            description="Width of the whole interval in percent of the released records: p/2 to either side. "
            "One number, or several at once.",
        ),
        BeforeValidator(as_list),
        widths_schema(exclusiveMinimum=0, maximum=100),
    ]


def _inside(one: AttributePairs, p: Fraction) -> NDArray[np.bool_]:
    return inside_rank_interval(one.released, one.original, one.released_counts, p)


def _measure(view: TableView, parameters: RankIntervalParameters) -> TableFigure:
    names = compared(parameters, view.policy.document, SCALES)
    return interval_figure(view, names, parameters, _inside)


CHECKS = [
    TableCheck(
        name="rank_interval_disclosure",
        title="Rank-based interval disclosure",
        disclosure_type=DisclosureType.ATTRIBUTE_DEGREE,
        parameters=RankIntervalParameters,
        measure=_measure,
        label="share of original values inside the interval",
        needs={Need.ORIGINAL},
        validate=lambda parameters, document: interval_faults(parameters, document, SCALES),
        sentences=SENTENCES,
        guide=Guide(
            question="How often is the true value among the neighbours of the masked one?",
            risk="A masked value may lie so near to the true one, in rank, that masking protects nobody.",
            definition=(
                "An intruder takes the masked value of a record and guesses that the original one is among its "
                "neighbours. The masked values are sorted, and the interval reaches w = floor(p N / 200) positions to "
                "either side of the record's own, whole groups of equal values included; N counts the released records "
                "with a value. The original value is disclosed if it lies in the closed interval."
            ),
            **formula(
                r"R_{\max(i - w, 0)} \le v_i \le R_{\min(i + w, N - 1)}",
                r"w = \left\lfloor \frac{p N}{200} \right\rfloor",
                r"R \text{ the sorted masked values}",
            ),
            reading=READING,
            choosing=(
                "p is the width of the whole interval: programs that give the half width call p = 10 what is p = 20 "
                f"here. {CHOOSING}"
            ),
            limits=(
                "Ranks say nothing of distances: between two neighbours may lie half the range, and in a dense part "
                f"of the distribution the interval may be a few units. {LIMITS}"
            ),
            source=(
                "Torra, Privacy models and disclosure risk (lecture, 2020); Guide to Data Privacy, Springer "
                "2022, doi:10.1007/978-3-031-12837-0"
            ),
            example="- rank_interval_disclosure: {p: [2, 10], at_most: 0.3, attributes: [age, salary]}",
        ),
    ),
]
