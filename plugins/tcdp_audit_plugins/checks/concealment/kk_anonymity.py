"""(k, k)-anonymity: how many released records fit everyone, and how many people fit every released record."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Comparison, DisclosureType, Guide, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.sentences import (
    Sentences,
)
from tcdp_audit_plugins.checks._shared.candidate_sets import CandidateSets
from tcdp_audit_plugins.checks.concealment.consistency import consistent
from tcdp_audit_plugins.checks.concealment.k_concealment import distribution_of_people
from tcdp_audit_plugins.checks.concealment.parameters import ConcealmentParameters, known
from tcdp_audit_plugins.formulas import formula


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
    """How many people of the original each pair's released record fits, whether they were released or not."""
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
        guide=Guide(
            question="How many released records fit everybody, and how many people fit every released record?",
            risk="Whoever knows somebody may find one record that fits, whatever size its group has.",
            definition=(
                "A record of the original is consistent with a released one if each released cell stands for its "
                "value: the same value, a range, a set or a node of the hierarchy that holds it, or a suppressed cell. "
                "(1, k)-anonymity asks that everybody is consistent with at least k released records, (k, 1)-anonymity "
                "that at least k people of the original are consistent with every released record, and "
                "(k, k)-anonymity both."
            ),
            **formula(
                r"\text{one\_to\_k: } \min_i \#\{j : (i, j) \in C\} \ge k",
                r"\text{k\_to\_one: } \min_j \#\{i : (i, j) \in C\} \ge k",
                r"\text{k\_k: both}",
                r"C = \{(i, j) : \text{original } i \text{ is consistent with released } j\}",
            ),
            reading=(
                "Ages 20, 21, 22, 23 released as [20, 21], [20, 22], [21, 23], [22, 23] are (2, 2)-anonymous, "
                "although every record is alone in its class. Details: `one_to_k` and `k_to_one`, the least number "
                "on either side; `candidates`, pairs of a person and a consistent record; `matched`, "
                "`released_without_original` and `originals_not_released` tell the pairing. The distribution is "
                "over people, each with their own record."
            ),
            choosing=(
                "As for k-anonymity, from which all three follow. Demand `k_concealment` rather: it is what remains of "
                "(1, k) against somebody who knows everybody in the original."
            ),
            limits=(
                "(k, k)-anonymity can leave somebody a single record: see the example of `k_concealment`. Over people "
                "who were released; those who were not count for (k, 1), as they might have been, and records without "
                "an original for (1, k). Missing values, columns that were changed and not generalised, a `unit` and "
                "memory are as for `k_concealment`."
            ),
            source=(
                "Gionis, Mazza, Tassa, k-Anonymization revisited, ICDE 2008; Tassa, Mazza, Gionis, k-Concealment: an "
                "alternative model of k-type anonymity, Transactions on Data Privacy 5(1), 2012, 189-222"
            ),
            example="- kk_anonymity: {k: 5, kind: k_k}",
        ),
    ),
]
