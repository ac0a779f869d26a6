"""Suppression: its parameters, the remedy, the records of failing classes dropped, and the limit of what may go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, partial
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, checkpoint
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.remedy import Demands, MergedDemands, RemedyError, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome, count as count_of
from tcdp_audit_plugins.remedies._shared.scope import ALIGNED, only_by_size, require_few
from tcdp_audit_plugins.remedies._shared.search import ClassSize, proposals_of_size, treatment_of_size
from tcdp_audit_plugins.remedies.suppression.cells import suppress_cells
from tcdp_audit_plugins.remedies.suppression.local_suppression import Integers, Mask, QuasiIdentifierCells

Weight = Annotated[Exact, Field(ge=0)]
AT_ONCE = 8  # an eighth of the failing records is dropped before the others are judged again
FORESEEN = 16  # with so few failing classes, each is dropped on trial


class SuppressionTarget(StrEnum):
    """The unit of suppression."""

    RECORDS = "records"
    CELLS = "cells"


class SuppressionParameters(RemedyParameters):
    """Parameters of `suppression`."""

    of: Annotated[
        SuppressionTarget,
        Field(strict=False, description="records: failing classes are dropped; cells: some of their cells become `*`."),
    ] = SuppressionTarget.RECORDS
    at_most: Annotated[
        Exact,
        Field(gt=0, le=1, description="The largest share of records, or of quasi-identifier cells, to be suppressed."),
    ] = Fraction(1)
    importance: Annotated[
        dict[Text, Weight] | None,
        Field(
            description="The weight of a cell of an attribute, 1 by default; cells of more weight are suppressed later."
        ),
    ] = None
    k: ClassSize = None


def faults(parameters: SuppressionParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    if parameters.of is SuppressionTarget.RECORDS and document.rows_aligned:
        yield "of", f"{ALIGNED}, or use `of: cells`"
    if parameters.of is SuppressionTarget.CELLS and not document.conventions.suppressed_tokens:
        yield "of", "a suppressed cell needs a token; declare `suppressed_tokens` under `conventions:`"
    if parameters.of is SuppressionTarget.RECORDS and parameters.importance is not None:
        yield "importance", "records are dropped as a whole; importance belongs to `of: cells`"
    for name in parameters.importance or {}:
        if name not in document.attributes or document.attributes[name].role is not Role.QUASI_IDENTIFIER:
            yield "importance", f"{name!r} is no quasi-identifier of this policy; only their cells are suppressed"


def why_not_applicable(view: RemedyView, parameters: SuppressionParameters | None, outcome: Outcome) -> str:  # noqa: ARG001
    """Say why suppressing what fails in its class cannot help a failing demand, or nothing."""
    return only_by_size(view, outcome)


def drop_records(view: RemedyView, demands: Demands) -> Treatment:
    """Drop the records of failing classes. Each drop moves the distributions that the other classes are held against.

    Two orders are followed, and the one that drops fewer records is taken: always the smallest failing classes; or,
    once few classes fail, the one after which the fewest records fail.

    Raises:
        RemedyError: no record would be left.

    Cost: a pass over the records and a sort of the pairs of class and value for each of some 30 to 300 rounds of
    judging; 2 rounds where the demands look at no distribution.
    """
    cells = QuasiIdentifierCells.of(view)
    classes, count = cells.classes()
    release = _Classes(MergedDemands(demands.without(cells.exempt), classes, count))
    ways = [release.drop(foreseen) for foreseen in (0, FORESEEN)]
    gone, rounds = min(ways, key=lambda way: release.records(way[0]))
    retained = ~gone[classes] | cells.exempt
    if gone[release.sizes > 0].all():
        raise RemedyError(
            f"no record would be left: each of the {int((release.sizes > 0).sum()):,} classes fails, at the latest "
            f"once others are dropped; the largest has {count_of(int(release.sizes.max()), 'record')}; generalise "
            "first, or use `of: cells`"
        )
    dropped = view.records - int(retained.sum())
    notes = {"records": dropped, "share": dropped / view.records, "classes": int(gone.sum()), "rounds": rounds}
    return Treatment(retained=retained if dropped else None, notes=notes)


@dataclass(frozen=True)
class _Classes:
    demands: MergedDemands

    @cached_property
    def sizes(self) -> Counts:
        return self.demands.sizes

    @cached_property
    def _numbers(self) -> Integers:
        return np.arange(self.demands.count)

    def records(self, classes: Mask) -> int:
        return int(self.sizes[classes].sum())

    def failing(self, gone: Mask) -> Mask:
        """The classes that fail once others are gone. One without records neither fails nor is there."""
        there = ~gone & (self.sizes > 0)
        if not there.any():
            return there
        return there & ~self.demands.without(gone).satisfied_by(self._numbers, len(gone))

    def drop(self, foreseen: int) -> tuple[Mask, int]:
        """Drop classes until none fails; return which are gone, and in how many rounds.

        With at most `foreseen` failing classes, look what dropping each of them would do.
        """
        gone, rounds = np.zeros(len(self.sizes), dtype=bool), 0
        while (failing := self.failing(gone)).any():
            checkpoint()
            foresee = failing.sum() <= foreseen
            gone = gone | (self._most_helpful(gone, failing) if foresee else self._smallest(failing))
            rounds += 1
        return gone, rounds

    def _smallest(self, failing: Mask) -> Mask:
        """The smallest failing classes, equal sizes together, until they have their part of the failing records."""
        ordered = np.sort(self.sizes[failing])
        limit = ordered[np.searchsorted(np.cumsum(ordered) * AT_ONCE, ordered.sum())]
        return np.asarray(failing & (self.sizes <= limit))

    def _most_helpful(self, gone: Mask, failing: Mask) -> Mask:
        """The failing class without which the fewest records fail; all of them where none helps another."""
        trials: list[Mask] = [self._numbers == number for number in np.flatnonzero(failing)]
        left = [self.failing(gone | trial) for trial in trials]
        if all(np.array_equal(after, failing & ~trial) for trial, after in zip(trials, left, strict=True)):
            return failing
        costs = [(self.records(trial | after), self.records(trial)) for trial, after in zip(trials, left, strict=True)]
        return trials[costs.index(min(costs))]


def suppress(view: RemedyView, parameters: SuppressionParameters) -> Treatment:
    """Suppress records or cells until every class keeps the policy.

    Raises:
        RemedyError: nothing is demanded of classes, the search finds no way, or more would go than `at_most` allows.

    Cost: that of `drop_records` or of `suppress_cells`.
    """
    return treatment_of_size(view, parameters.k, partial(_of_size, view, parameters))


def _of_size(view: RemedyView, parameters: SuppressionParameters, k: int | None) -> Treatment:
    demands = view.demands.of_classes(k)
    if not demands:
        raise RemedyError("the policy demands nothing of equivalence classes, so no suppression would help")
    if parameters.of is SuppressionTarget.RECORDS:
        treatment = drop_records(view, demands)
        suppressed, total, noun = treatment.notes["records"], view.records, "records"
    else:
        treatment = suppress_cells(view, demands, parameters.importance or {})
        suppressed = sum(treatment.notes["cells"].values())
        total, noun = view.records * len(view.quasi_identifiers), "quasi-identifier cells"
    require_few(suppressed, total, parameters.at_most, noun, "generalising first")
    return treatment


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Propose dropping few records or suppressing cells, where a class fails or is too small for a demand."""
    if not view.quasi_identifiers:
        return
    ways: list[dict[str, Any]] = [{"of": "records", "at_most": "0.05"}, {"of": "cells"}]
    cells = QuasiIdentifierCells.of(view)
    if view.demands and not view.demands.satisfied_by(*cells.classes()).all():
        yield from ways
        return
    sized = [(given, partial(_of_size, view, SuppressionParameters.model_validate(given))) for given in ways]
    yield from proposals_of_size(view, outcomes, sized)
