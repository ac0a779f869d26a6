"""k-concealment: how many released records a person may be once everyone must have a record of their own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Comparison, DisclosureType, Guide, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.sentences import (
    Sentences,
)
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.concealment.consistency import consistent
from tcdp_audit_plugins.checks.concealment.parameters import ConcealmentParameters, known
from tcdp_audit_plugins.formulas import formula


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
        label="released records that somebody may be",
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
                "ruled_out": ("[; that everyone has a record of their own rules out {candidates_removed:candidate}]"),
            },
        ),
        guide=Guide(
            question="Among how many released records is everybody hidden from somebody who knows all people?",
            risk="Groups may look large enough and still leave only one record for somebody.",
            definition=(
                "A record of the original is consistent with a released one if each released cell stands for its "
                "value: the same value, a range, a set or a node of the hierarchy that holds it, or a suppressed cell. "
                "Everybody has one record, so somebody can be a record only if the others can all be given records of "
                "their own. Everybody must have at least k released records that are left so."
            ),
            **formula(
                r"\min_i \#\{j : (i, j) \in M\} \ge k",
                r"M \subseteq C \text{ a perfect matching}",
                r"C = \{(i, j) : \text{original } i \text{ is consistent with released } j\}",
            ),
            reading=(
                "Ages 20, 21, 30, 40, 41 released as [20, 30], [20, 21], [30, 40], [40, 41], [40, 41] are each "
                "consistent with two records at least, yet the person of 30 is certain: 20 and 21 use up the first "
                "two, 40 and 41 the last two. Details: `one_to_k_anonymity`, the least number of consistent records "
                "before that; `certain` and `certain_before`, people with a single one after and before; "
                "`candidates`, pairs of a person and a consistent record, and `candidates_removed`, those that no "
                "assignment has; `matched`, `released_without_original` and `originals_not_released` tell the "
                "pairing. The distribution is over people."
            ),
            choosing=(
                "As for k-anonymity: 5, 10 or more. It is at least what k-anonymity is where every record falls into "
                "its own class, and it may be more where ranges overlap."
            ),
            limits=(
                "It is the worst intruder of one kind: who knows these attributes of all people in the original and "
                "nothing of the others. The number of assignments that somebody has for each record is not counted, so "
                "that one of k records may still be likelier than the others. A missing value of the original is "
                "consistent with suppressed and missing cells only; these stand for every value, whatever "
                "`missing_quasi_identifier` says. Records in one table only leave their places free. Values that were "
                "changed and not generalised are refused, and so is a `unit`. Memory grows with the pairs of different "
                "records that are consistent."
            ),
            source=(
                "Tassa, Mazza, Gionis, k-Concealment: an alternative model of k-type anonymity, Transactions on Data "
                "Privacy 5(1), 2012, 189-222; Tassa, Finding all maximally-matchable edges in a bipartite graph, "
                "Theoretical Computer Science 423, 2012"
            ),
            example="- k_concealment: {k: 5}",
        ),
    ),
]
