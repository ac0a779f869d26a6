"""k-concealment: how many released records a person may be once everyone must have a record of their own."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Text
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.concealment.consistency import consistent
from tcdp_audit_plugins.guides import built_in_guide


class ConcealmentParameters(Parameters):
    """Parameters of `k_concealment`."""

    k: Annotated[
        int | None, Field(ge=1, description="The least number of records that each person must be hidden among.")
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that an intruder knows; without it, all quasi-identifiers."),
    ] = None


def known(parameters: ConcealmentParameters, quasi_identifiers: Sequence[str]) -> list[str]:
    """The attributes that an intruder knows, sorted."""
    return sorted(set(parameters.attributes or quasi_identifiers))


def k_concealment(view: TableView, parameters: ConcealmentParameters) -> TableFigure:
    """The least number of released records that a person is matched with in some assignment of all people to records.

    Returns:
        A whole number from 1 on, over the people who were released.

    Raises:
        CheckError: release and original cannot be paired, the release is no generalisation of the original, or too many
            records are consistent for the memory.

    Cost: that of `consistent`; O(points + edges) for the assignments.

    Source: Tassa, Mazza, Gionis (2012), k-concealment; Tassa (2012), maximally matchable edges.
    """
    sets, pairs = consistent(view, known(parameters, view.quasi_identifiers))
    before, after = sets.size, sets.closed().size
    return TableFigure(
        value=Fraction(int(after.min())),
        records=len(after),
        failing=None if parameters.k is None else int((after < parameters.k).sum()),
        distribution=distribution_of_people(after),
        details={
            "one_to_k_anonymity": int(before.min()),
            "certain": int((after == 1).sum()),
            "certain_before": int((before == 1).sum()),
            "candidates": int(before.sum()),
            "candidates_removed": int(before.sum() - after.sum()),
            **pairs.counted(),
        },
    )


def distribution_of_people(size: Counts) -> list[list[float]]:
    """[records that a person may be, people, people] for the chart, in ascending order."""
    return distribution_of(size, np.ones(len(size), dtype=np.int64))


CHECKS = [
    TableCheck(
        name="k_concealment",
        title="k-concealment",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=ConcealmentParameters,
        measure=k_concealment,
        threshold="k",
        comparison=Comparison.AT_LEAST,
        label="least number of released records that a person may be",
        worst=lambda _, __: Fraction(1),
        needs={Need.ORIGINAL, Need.ROWS, Need.KNOWABLE},
        sentences=Sentences(
            passed=(
                "[{observed=1?}A single released record is left for {certain:{record}} by {known}|Every {record} "
                "that was released may be any of at least {observed} released records by {known}]{ruled_out}."
            ),
            failed=(
                "{failing/records:{record}} {failing/records:is|are} hidden among fewer than {threshold:released "
                "record} by {known}; the least is {observed}{ruled_out}."
            ),
            impact="{intruder}, and those of everyone else, finds the record with {guess:chance} at worst.",
            parts={
                "ruled_out": ("[; that everyone has a record of their own rules out {candidates_removed:candidate}]")
            },
        ),
        guide=built_in_guide(__file__, "k_concealment.md"),
    )
]
