"""Remediation: apply a remedy, audit everything again, until the policy holds or nothing more helps.

Remedies run in the policy's order. After each the whole release is audited, because a remedy for one expectation can
break another. Where the policy names no remedy, those that apply are tried, and the one with the least loss is
kept. One that loses more than another after which the release passes is stopped as soon as that is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from types import TracebackType
from typing import Any, Self

import numpy as np
from pydantic import ValidationError

from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.plugin_faults import sentence_about
from tcdp_audit.core.information_loss.loss import InformationLoss, information_loss
from tcdp_audit.core.information_loss.prediction import require_scikit_learn
from tcdp_audit.core.policy.policy import PlannedRemedy
from tcdp_audit.core.release.unit_readings import as_read
from tcdp_audit.core.remedy.remedy import DominatedError, Remedy, RemedyError, Treatment, applicability, require_least
from tcdp_audit.core.remedy.treatment import apply_treatment, same_cells, touched
from tcdp_audit.core.remedy.unit_cells import with_unit_cells
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.repair.candidate import Candidate, LossLimits, OpenTable, TooMuchLostError
from tcdp_audit.core.results.change_log import Step, failing_demands, flow
from tcdp_audit.core.session.inputs import AuditInputs

MOST_ROUNDS = 5
MOST_STEPS = 3  # of a plan
NOTHING_PROPOSED = "proposes nothing for a release like this"
LOST_BEFORE = "not tried: it lost {} where less was demanded"
UNSOUND = "it proposed parameters that a policy would reject"


class RepairLoop:
    """The way of one release through remedies. What it opens is closed with it.

    Args:
        inputs: the release as it came in, what it must satisfy, and every registered remedy.
        lost: what single remedies lost where less was demanded of the same release, by their entries in a policy. A
            plan begins with those that lost least, and does not try those that lost more than another one does now.
    """

    def __init__(self, inputs: AuditInputs, lost: Mapping[str, float] | None = None) -> None:
        self.inputs, self.policy, self.lost = inputs, inputs.policy, lost or {}
        if self.policy.document.utility.models:
            require_scikit_learn()  # before the work, not after it
        self.input = OpenTable.of_input(inputs)
        self.tried: list[Step] = []
        self._left_out: dict[str, str] = {}  # remedy -> why it was not tried
        self.limits = LossLimits.of(inputs.policy.document)
        self._refused: list[tuple[float, str]] = []  # loss beyond the limits, and the sentence that says so
        self._least = inf  # loss of the best candidate that passes, of those that are compared
        self._open = [self.input]
        self._views: dict[OpenTable, RemedyView] = {}

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close every table that is open."""
        self._close_all_but()

    def start(self, outcomes: tuple[Outcome, ...]) -> Candidate:
        """The release as it came in, with its audit."""
        return Candidate(self.input, np.arange(self.input.table.num_rows), outcomes)

    def run(self, outcomes: tuple[Outcome, ...]) -> Candidate:
        """The release after remedies: the first that passes, else the best one found.

        Args:
            outcomes: its audit as it came in.
        """
        return self._as_named(self.start(outcomes)) if self.policy.remedies else self._planned(self.start(outcomes))

    @property
    def refusal(self) -> str:
        """The sentence on the release that lost least of those that lost more than the policy allows; or nothing."""
        return min(self._refused)[1] if self._refused else ""

    @property
    def left_out(self) -> dict[str, str]:
        """The titles of the remedies that a plan never tried, each with the reason."""
        tried = {one.remedy for one in self.tried}
        remedies = self.inputs.plugins.remedies
        return {remedies[name].title: reason for name, reason in self._left_out.items() if name not in tried}

    # Remedies that the policy names

    def _as_named(self, start: Candidate) -> Candidate:
        candidate = best = start
        for turn in range(MOST_ROUNDS):
            before = candidate
            for planned in self.policy.remedies:
                if turn and (planned.remedy.random or planned.remedy.once):
                    continue  # noise is added once, and values are moved about once
                after = self._repeated(candidate, planned)
                if turn and same_cells(after.table, candidate.table):
                    continue  # it has nothing more to do
                candidate, best = after, _better(best, after)
                if candidate.passes:
                    return candidate
                self._close_all_but(self.input, candidate.opened, best.opened, before.opened)
            if same_cells(candidate.table, before.table):
                break  # a fixed point: another round would change nothing
        self.tried += candidate.steps[len(best.steps) :]
        return best

    def _repeated(self, candidate: Candidate, planned: PlannedRemedy) -> Candidate:
        """One remedy, applied again where it was extended to further rows of units and something is amiss.

        It goes on for as long as fewer records fail than before, or did in one of the last rounds.
        """
        after = self._step(candidate, planned)
        if planned.remedy.random or planned.remedy.once:
            return after
        fewest, waited = after.failing, 0
        while after.joined and not after.passes and waited < MOST_ROUNDS:
            before, after = after, self._step(after, planned)
            if after is before or same_cells(after.table, before.table):
                break  # it has nothing more to do
            fewest, waited = min(fewest, after.failing), 0 if after.failing < fewest else waited + 1
        return after

    def _step(self, candidate: Candidate, planned: PlannedRemedy) -> Candidate:
        """One remedy, applied and audited; where it cannot be applied the candidate stays, and `tried` says why."""
        unhelped = ""
        try:
            unhelped = self._unhelped(candidate, planned)
            return self._applied(candidate, planned, unhelped)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - one remedy that raises must not take the others down
            self.tried.append(_failed(planned, error, unhelped))
            return candidate

    def _unhelped(self, candidate: Candidate, planned: PlannedRemedy) -> str:
        """Say what a remedy that the policy names does not act on, before it starts; or nothing."""
        if not self.policy.remedies:
            return ""
        sentence = applicability(
            planned.remedy, self._view(candidate), planned.parameters, candidate.failing_demands
        ).sentence
        if sentence:
            self.inputs.options.progress(f"{planned.remedy.title} {sentence}", 1, 1)
        return sentence

    def _applied(self, candidate: Candidate, planned: PlannedRemedy, unhelped: str) -> Candidate:
        if not candidate.steps:
            require_least(self.lost.get(_entry(planned), 0.0), self._least, LOST_BEFORE)
        view = self._view(candidate)
        treatment = with_unit_cells(view, answer := planned.remedy.apply(view, planned.parameters))
        after = replace(self._treated(candidate, treatment), joined=treatment is not answer)
        self._open.append(after.opened)
        if self.limits.are_set or not self.policy.remedies:
            after = replace(after, loss=self._affordable(planned, self.loss_of(after)))
        if not self.policy.remedies:
            require_least(after.rank[1], self._least)
        outcomes = after.opened.settled.outcomes()
        step = Step(
            remedy=planned.remedy.name,
            title=planned.remedy.title,
            parameters=explicit_parameters(planned),
            outcomes=outcomes,
            cells=touched(view, treatment),
            suppressed=candidate.table.num_rows - after.table.num_rows,
            notes=treatment.notes,
            lines=treatment.lines,
            loss=after.total_loss,
            unhelped=unhelped,
            attacks=treatment.attacks,
        )
        return replace(after, outcomes=outcomes, steps=(*candidate.steps, step))

    def _affordable(self, planned: PlannedRemedy, loss: InformationLoss) -> InformationLoss:
        """A loss that keeps within the policy's limits."""
        try:
            self.limits.require(loss)
        except TooMuchLostError as error:
            self._refused.append((loss.total, f"{planned.remedy.title}: {error}"))
            raise
        return loss

    def _treated(self, candidate: Candidate, treatment: Treatment) -> Candidate:
        """A candidate after a treatment, not audited yet."""
        view = self._view(candidate)
        table = apply_treatment(candidate.table, view, with_unit_cells(view, treatment))
        retained = candidate.retained if treatment.retained is None else candidate.retained[treatment.retained]
        if len(retained) < len(candidate.retained) and self.policy.document.rows_aligned:
            raise RemedyError(
                "dropping records would break `rows_aligned: true`; declare a `key:` that aligns release and original"
            )
        return Candidate(OpenTable(table, self.inputs), retained, (), candidate.steps)

    def _view(self, candidate: Candidate) -> RemedyView:
        """The view of a candidate that every remedy gets."""

        def audited(treatment: Treatment) -> tuple[Outcome, ...]:
            with self._treated(candidate, treatment).opened as opened:
                return opened.settled.outcomes()

        def part_audited(treatment: Treatment, checks: frozenset[str]) -> tuple[Outcome, ...]:
            after = self._treated(candidate, treatment)
            with after.opened as opened:
                if least_loss() < inf:
                    require_least(self.loss_of(after).total, least_loss())
                return opened.settled.outcomes(checks)

        def least_loss() -> float:
            return inf if candidate.steps else self._least  # a view does not know what was lost before

        seed, progress = self.policy.document.seed, self.inputs.options.progress
        if candidate.opened not in self._views:
            release, outcomes = as_read(candidate.opened.release, missing_is_open=True), candidate.outcomes
            view = RemedyView(release, outcomes, seed, audited, progress, least_loss, part_audited)
            self._views[candidate.opened] = view
        return self._views[candidate.opened]

    def _close_all_but(self, *retained: OpenTable) -> None:
        """Close the tables that are not needed any more, and forget what remedies saw of them."""
        for one in [one for one in self._open if one not in retained]:
            one.close()
            self._open.remove(one)
            self._views.pop(one, None)

    # A policy without remedies

    def _planned(self, start: Candidate) -> Candidate:
        candidate = start
        for _ in range(MOST_STEPS):
            after = self._improved(candidate)
            if after is None:
                return candidate
            candidate = after
            if candidate.passes:
                return candidate
        return candidate

    def _improved(self, candidate: Candidate) -> Candidate | None:
        """The best of what comes of a candidate by each remedy that might help; None where none leaves less amiss."""
        plans, best = self._in_turn(candidate, self._plans(candidate)), None
        for done, planned in enumerate(plans):
            self.inputs.options.progress("trying remedies", done, len(plans))
            after = self._repeated(candidate, planned)
            if after is not candidate:
                self.tried.append(after.steps[-1])
                improves = len(after.failing_demands) < len(candidate.failing_demands)
                if improves and (best is None or after.rank < best.rank):
                    best = after
            self._least = best.rank[1] if best is not None and best.passes else inf
            self._close_all_but(self.input, candidate.opened, *([] if best is None else [best.opened]))
        return best

    def _in_turn(self, candidate: Candidate, plans: Iterator[PlannedRemedy]) -> list[PlannedRemedy]:
        """Plans in the order in which they are tried."""
        return list(plans) if candidate.steps else sorted(plans, key=lambda one: self.lost.get(_entry(one), inf))

    def _plans(self, candidate: Candidate) -> Iterator[PlannedRemedy]:
        for name, remedy in sorted(self.inputs.plugins.remedies.items()):
            try:
                proposals = self._proposals(remedy, candidate)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - one remedy that raises must not take the others down
                self.tried.append(Step(remedy=name, title=remedy.title, parameters={}, error=_sentence(error)))
                continue
            for proposal in proposals:
                planned = self._sound(remedy, proposal)
                if planned is not None:
                    yield planned
                else:
                    self.tried.append(Step(remedy=name, title=remedy.title, parameters={}, error=UNSOUND))

    def _proposals(self, remedy: Remedy[Any], candidate: Candidate) -> list[Mapping[str, Any]]:
        """Parameters that a remedy proposes for what it may help; where there are none, it is noted why."""
        view = self._view(candidate)
        helpful = applicability(remedy, view, None, candidate.failing_demands)
        proposals = list(remedy.suggest_parameters(view, tuple(candidate.failing_demands))) if helpful.helped else []
        if not proposals:
            self._left_out[remedy.name] = helpful.reasons if not helpful.helped else NOTHING_PROPOSED
        return proposals

    def _sound(self, remedy: Remedy[Any], proposal: Mapping[str, Any]) -> PlannedRemedy | None:
        """A proposal as the policy would have it, or None if the policy could not name it so."""
        try:
            parameters = remedy.parameters.model_validate(dict(proposal))
        except ValidationError:
            return None
        return None if list(remedy.validate(parameters, self.policy.document)) else PlannedRemedy(remedy, parameters)

    def loss_of(self, candidate: Candidate) -> InformationLoss:
        """The information loss of a candidate, compared with the input; measures are computed on demand."""
        if candidate.loss is not None:
            return candidate.loss
        after = candidate.opened if candidate.opened is self.input else candidate.opened.settled
        return information_loss(self.input.release, after.release, candidate.retained)


def _entry(planned: PlannedRemedy) -> str:
    """A remedy as an entry of a policy's `remedy`."""
    return f"{planned.remedy.name}: {flow(explicit_parameters(planned))}"


def explicit_parameters(planned: PlannedRemedy) -> dict[str, Any]:
    """The parameters that were given, as they stand in a policy."""
    values = ((name, getattr(planned.parameters, name)) for name in planned.parameters.model_fields_set)
    return {name: value for name, value in sorted(values) if value is not None}


def beyond_repair(outcomes: tuple[Outcome, ...]) -> str:
    """Say why no remedy can help, or nothing: a remedy changes cells and records, never columns or the policy."""
    structural = [one for one in failing_demands(outcomes) if one.is_structural]
    return "; ".join(f"{one.check}: {one.message}" for one in structural)


def _better(best: Candidate, candidate: Candidate) -> Candidate:
    """The candidate with fewer outcomes against it; the earlier one of equals, because it has changed less."""
    return candidate if len(candidate.failing_demands) < len(best.failing_demands) else best


def _failed(planned: PlannedRemedy, error: BaseException, unhelped: str) -> Step:
    return Step(
        remedy=planned.remedy.name,
        title=planned.remedy.title,
        parameters=explicit_parameters(planned),
        error=_sentence(error, planned.plugin),
        at_least=error.at_least if isinstance(error, DominatedError) else None,
        unhelped=unhelped,
    )


def _sentence(error: BaseException, plugin: str = "") -> str:
    """Say what went wrong in a remedy. Only our own errors are quoted: another's text may hold a cell."""
    return str(error) if isinstance(error, RemedyError) else sentence_about(error, "the remedy", plugin)
