"""Rank-based interval disclosure as a check."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from tcdp_audit.plugin.check import DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, Scale
from tcdp_audit_plugins.checks.interval_disclosure.attribute_pairs import AttributePairs
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
from tcdp_audit_plugins.guides import built_in_guide

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
        guide=built_in_guide(__file__, "rank_interval_disclosure.md"),
    ),
]
