"""k-concealment and (k,k)-anonymity: how many records a person of the original may be, and how many people a record."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Check, DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Text
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
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


CHECKS: list[Check] = [
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
            impact="{intruder}, and those of everyone else, finds the record with {guess:chance} where the fewest fit.",
            parts={
                "ruled_out": ("[; that everyone has a record of their own rules out {candidates_removed:candidate}]")
            },
        ),
        guide=built_in_guide(__file__, "k_concealment.md"),
    ),
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
            impact="{intruder} is left with {details.one_to_k:released record} where the fewest fit.",
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
    ),
]
