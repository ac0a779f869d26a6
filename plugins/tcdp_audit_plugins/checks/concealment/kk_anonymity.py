"""(k, k)-anonymity: how many released records fit everyone, and how many people fit every released record."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks.concealment.consistency import consistent
from tcdp_audit_plugins.checks.concealment.k_concealment import ConcealmentParameters, distribution_of_people, known
from tcdp_audit_plugins.guides import built_in_guide


class KKParameters(ConcealmentParameters):
    """Parameters of `kk_anonymity`."""

    kind: Annotated[
        Literal["k_k", "one_to_k", "k_to_one"],
        Field(
            description=(
                "one_to_k: every person fits at least k released records; k_to_one: every released record fits at "
                "least k people; k_k: both."
            )
        ),
    ] = "k_k"


def kk_anonymity(view: TableView, parameters: KKParameters) -> TableFigure:
    """The least number of released records that a person fits, of people that a released record fits, or of both.

    Returns:
        A whole number from 1 on, over the people who were released, each with their record.

    Raises:
        CheckError: see `k_concealment`.

    Cost: that of `consistent`.

    Source: Gionis, Mazza, Tassa (2008), (1,k)-, (k,1)- and (k,k)-anonymity.
    """
    sets, pairs = consistent(view, known(parameters, view.quasi_identifiers))
    fitting = {"one_to_k": sets.size, "k_to_one": people_of_record(sets)}
    fitting["k_k"] = np.minimum(*fitting.values())
    least = fitting[parameters.kind]
    return TableFigure(
        value=Fraction(int(least.min())),
        records=len(least),
        failing=None if parameters.k is None else int((least < parameters.k).sum()),
        distribution=distribution_of_people(least),
        details={
            **{name: int(fitting[name].min()) for name in ("one_to_k", "k_to_one")},
            "candidates": int(sets.size.sum()),
            **pairs.counted(),
        },
    )


def people_of_record(sets: CandidateSets) -> Counts:
    """The number of people of the original that each pair's released record fits, whether they were released or not."""
    people = np.bincount(sets.known, minlength=len(sets.lone_known)) + sets.lone_known
    fitting = np.zeros(len(sets.lone_released), dtype=np.int64)
    np.add.at(fitting, sets.candidates, people[sets.rows])
    return fitting[sets.released]


CHECKS = [
    TableCheck(
        name="kk_anonymity",
        title="(k, k)-anonymity",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=KKParameters,
        measure=kk_anonymity,
        threshold="k",
        comparison=Comparison.AT_LEAST,
        label="records that fit each other",
        worst=lambda _, __: Fraction(1),
        needs={Need.ORIGINAL, Need.ROWS, Need.KNOWABLE},
        sentences=Sentences(
            passed="Every {record} that was released is {enough}, by {known}.",
            failed=("{failing/records:{record}} {failing/records:is|are} {few}, by {known}; the least is {observed}."),
            impact="{intruder} is left with {details.one_to_k:released record} at worst.",
            parts={
                "enough": {
                    "by": "kind",
                    "one_to_k": "consistent with at least {observed} of the released records",
                    "k_to_one": ("released as a record with which at least {observed} of the original are consistent"),
                    "k_k": (
                        "consistent with at least {observed} of the released records, and released as one with "
                        "which at least {observed} of the original are consistent"
                    ),
                },
                "few": {
                    "by": "kind",
                    "one_to_k": "consistent with fewer than {threshold} of the released records",
                    "k_to_one": (
                        "released as a record with which fewer than {threshold} of the original are consistent"
                    ),
                    "k_k": (
                        "consistent with fewer than {threshold} of the released records, or released as one with "
                        "which fewer than {threshold} of the original are consistent"
                    ),
                },
            },
        ),
        guide=built_in_guide(__file__, "kk_anonymity.md"),
    )
]
