"""k-concealment: how many released records somebody may be once everybody must have a record of their own."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Comparison, DisclosureType, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    chance_of,
    count,
    intruder_who_knows,
    known_columns,
    record_noun,
    records_of,
)
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.concealment.consistency import consistent
from tcdp_audit_plugins.checks.concealment.parameters import ConcealmentParameters, declared, known
from tcdp_audit_plugins.guides import built_in_guide


def k_concealment(view: TableView, parameters: ConcealmentParameters) -> TableFigure:
    """The least number of released records that somebody is matched with in some assignment of all people to records.

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
            "one_k_anonymity": int(before.min()),
            "certain": int((after == 1).sum()),
            "certain_before": int((before == 1).sum()),
            "candidates": int(before.sum()),
            "candidates_removed": int(before.sum() - after.sum()),
            **pairs.counted(),
        },
    )


def distribution_of_people(size: Counts) -> list[list[float]]:
    """[records that somebody may be, people, people] for the chart, in ascending order."""
    return distribution_of(size, np.ones(len(size), dtype=np.int64))


def _sentence(outcome: Outcome) -> str:
    records, least = outcome.records, int(outcome.observed or 0)
    assert records is not None  # noqa: S101 - outcomes of this check have them
    noun, removed = record_noun(outcome), int(outcome.details["candidates_removed"])
    alike = f"by {known_columns(outcome)}"
    ruled = f"; that everybody has a record of their own rules out {count(removed, 'candidate')}" if removed else ""
    if outcome.status is Status.FAILED:
        few = f"hidden among fewer than {count(int(outcome.threshold or 0), 'released record')} {alike}"
        return f"{records_of(records, noun)} {few}; the least is {least:,}{ruled}."
    if least == 1:
        certain = count(int(outcome.details["certain"]), noun)
        return f"A single released record is left for {certain} {alike}{ruled}."
    return f"Every {noun} that was released may be one of {least:,} released records at least {alike}{ruled}."


def _person(outcome: Outcome) -> str:
    least = int(outcome.observed or 0)
    narrowed = f"{intruder_who_knows(outcome)}, and those of everybody else,"
    return f"{narrowed} finds the record with {chance_of(Fraction(1, max(least, 1)))} at worst."


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
        requires=frozenset({"original"}),
        worst=lambda _, __: Fraction(1),
        validate=declared,
        sentence=_sentence,
        person=_person,
        guide=built_in_guide(__file__, "k_concealment.md"),
    ),
]
