"""Remediation: apply a remedy, audit everything again, until the policy holds or nothing more helps.

Remedies run in the policy's order. After each the whole release is audited, because a remedy for one expectation can
break another. Where the policy names no remedy, those that apply are tried, and the one with the least loss is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from tcdp_audit.engines import open_engine
from tcdp_audit.information_loss import InformationLoss, information_loss
from tcdp_audit.inputs import AuditInputs
from tcdp_audit.outcome import Outcome
from tcdp_audit.plugin_faults import sentence_about
from tcdp_audit.policy.policy import PlannedRemedy
from tcdp_audit.release.release import Release
from tcdp_audit.remedy.remedy import Remedy, RemedyError, Treatment
from tcdp_audit.remedy.treatment import same_cells, settled, touched, treated
from tcdp_audit.remedy.view import RemedyView
from tcdp_audit.results.change_log import Step, blocking

MOST_ROUNDS = 5
MOST_STEPS = 3  # of a plan
UNSOUND = "it proposed parameters that a policy would reject"


@dataclass(frozen=True)
class Candidate:
    """What remedies have made of a release so far.

    Args:
        table: its records, in the input's order.
        kept: for each record its position in the input.
        outcomes: its audit.
        steps: what made it.
    """

    table: pa.Table
    kept: NDArray[np.intp]
    outcomes: tuple[Outcome, ...]
    steps: tuple[Step, ...] = ()

    @property
    def blocking(self) -> list[Outcome]:
        """The outcomes for which it does not pass."""
        return blocking(self.outcomes)

    @property
    def passes(self) -> bool:
        """Whether there are none."""
        return not self.blocking


class RepairLoop:
    """The way of one release through remedies.

    Args:
        inputs: the release as it came in, what it must satisfy, and every registered remedy.
    """

    def __init__(self, inputs: AuditInputs) -> None:
        self.inputs, self.policy = inputs, inputs.policy
        self.table = inputs.engine.table()
        self.tried: list[Step] = []

    def start(self, outcomes: tuple[Outcome, ...]) -> Candidate:
        """The release as it came in, with its audit."""
        return Candidate(self.table, np.arange(self.table.num_rows), outcomes)

    def run(self, outcomes: tuple[Outcome, ...]) -> Candidate:
        """The release after remedies: the first that passes, else the best one found.

        Args:
            outcomes: its audit as it came in.
        """
        return self._as_named(self.start(outcomes)) if self.policy.remedies else self._planned(self.start(outcomes))

    # Remedies that the policy names

    def _as_named(self, start: Candidate) -> Candidate:
        candidate = best = start
        for turn in range(MOST_ROUNDS):
            before = candidate
            for planned in self.policy.remedies:
                if turn and planned.remedy.random:
                    continue  # noise is added once
                after = self._step(candidate, planned)
                if turn and same_cells(after.table, candidate.table):
                    continue  # it has nothing more to do
                candidate, best = after, _better(best, after)
                if candidate.passes:
                    return candidate
            if same_cells(candidate.table, before.table):
                break  # a fixed point: another round would change nothing
        self.tried += candidate.steps[len(best.steps) :]
        return best

    def _step(self, candidate: Candidate, planned: PlannedRemedy) -> Candidate:
        """One remedy, applied and audited; where it cannot be applied the candidate stays, and `tried` says why."""
        try:
            return self._applied(candidate, planned)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - one remedy that raises must not take the others down
            self.tried.append(_failed(planned, error))
            return candidate

    def _applied(self, candidate: Candidate, planned: PlannedRemedy) -> Candidate:
        with self._view(candidate) as view:
            treatment = planned.remedy.apply(view, planned.parameters)
            after = self._after(candidate, view, treatment)
            cells = touched(view, treatment)
        step = Step(
            remedy=planned.remedy.name,
            title=planned.remedy.title,
            parameters=given(planned),
            outcomes=after.outcomes,
            cells=cells,
            suppressed=candidate.table.num_rows - after.table.num_rows,
            notes=treatment.notes,
            lines=treatment.lines,
        )
        return replace(after, steps=(*candidate.steps, step))

    def _after(self, candidate: Candidate, view: RemedyView, treatment: Treatment) -> Candidate:
        table = treated(candidate.table, view, treatment)
        kept = candidate.kept if treatment.kept is None else candidate.kept[treatment.kept]
        if len(kept) < len(candidate.kept) and self.policy.document.rows_aligned:
            raise RemedyError(
                "dropping records would break `rows_aligned: true`; declare a `key:` that aligns release and original"
            )
        return Candidate(table, kept, self._audited(table))

    @contextmanager
    def _view(self, candidate: Candidate) -> Iterator[RemedyView]:
        def audited(treatment: Treatment) -> tuple[Outcome, ...]:
            return self._after(candidate, view, treatment).outcomes

        seed, progress = self.policy.document.seed, self.inputs.options.progress
        with self._release(candidate.table) as release:
            view = RemedyView(release, candidate.outcomes, seed, audited, progress)
            yield view

    @contextmanager
    def _release(self, table: pa.Table) -> Iterator[Release]:
        with open_engine(table, self.inputs.memory) as engine:
            yield Release(engine, self.policy)

    def _audited(self, table: pa.Table) -> tuple[Outcome, ...]:
        with self.inputs.with_release(self.settled(table)) as inputs:
            return inputs.outcomes()

    def released(self, candidate: Candidate) -> pa.Table:
        """The table that a candidate releases, in the input's order; without a remedy it is the input itself."""
        return self.settled(candidate.table) if candidate.steps else candidate.table

    def settled(self, table: pa.Table) -> pa.Table:
        """The table as it is released: no quasi-identifier is missing. See `treatment.settled`."""
        with self._release(table) as release:
            domains = {one.attribute: one for one in release.quasi_identifiers if one.missing}
            if not domains:
                return table
            batches = list(release.engine.batches(list(domains.values())))
            codes = {name: np.concatenate([batch[name] for batch in batches]) for name in domains}
            missing = {name: (domains[name], codes[name]) for name in domains}
            return settled(table, missing, self.policy.conventions.suppressed_token)

    # A policy without remedies

    def _planned(self, start: Candidate) -> Candidate:
        candidate = start
        for _ in range(MOST_STEPS):
            candidates = list(self._candidates(candidate))
            passing = [one for one in candidates if one.passes]
            if passing:
                return min(passing, key=_lost)
            improved = [one for one in candidates if len(one.blocking) < len(candidate.blocking)]
            if not improved:
                return candidate
            candidate = min(improved, key=lambda one: (len(one.blocking), _lost(one)))
        return candidate

    def _candidates(self, candidate: Candidate) -> Iterator[Candidate]:
        """The candidate after each remedy that might help, by itself."""
        plans = list(self._plans(candidate))
        for done, planned in enumerate(plans):
            self.inputs.options.progress("trying remedies", done, len(plans))
            after = self._step(candidate, planned)
            if after is candidate:
                continue
            with self.information_loss_of(after) as loss:
                step = replace(after.steps[-1], loss=loss.total)
            self.tried.append(step)
            yield replace(after, steps=(*candidate.steps, step))

    def _plans(self, candidate: Candidate) -> Iterator[PlannedRemedy]:
        for name, remedy in sorted(self.inputs.plugins.remedies.items()):
            try:
                with self._view(candidate) as view:
                    proposals = list(remedy.plan(view, tuple(candidate.blocking)))
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

    def _sound(self, remedy: Remedy[Any], proposal: Mapping[str, Any]) -> PlannedRemedy | None:
        """A proposal as the policy would have it, or None if the policy could not name it so."""
        try:
            parameters = remedy.parameters.model_validate(dict(proposal))
        except ValidationError:
            return None
        return None if list(remedy.validate(parameters, self.policy.document)) else PlannedRemedy(remedy, parameters)

    @contextmanager
    def information_loss_of(self, candidate: Candidate) -> Iterator[InformationLoss]:
        """What a candidate costs beside the input. Its measures are computed when they are asked for."""
        with self._release(self.table) as before, self._release(self.released(candidate)) as after:
            yield information_loss(before, after, candidate.kept)


def given(planned: PlannedRemedy) -> dict[str, Any]:
    """The parameters that were given, as they stand in a policy."""
    values = ((name, getattr(planned.parameters, name)) for name in planned.parameters.model_fields_set)
    return {name: value for name, value in sorted(values) if value is not None}


def beyond_repair(outcomes: tuple[Outcome, ...]) -> str:
    """Why no remedy can help, or nothing: a remedy changes cells and records, never columns or the policy."""
    structural = [one for one in blocking(outcomes) if one.is_structural]
    return "; ".join(f"{one.check}: {one.message}" for one in structural)


def _lost(candidate: Candidate) -> float:
    """The total information loss of a candidate; what was not measured is never the least."""
    loss = candidate.steps[-1].loss
    return inf if loss is None else loss


def _better(best: Candidate, candidate: Candidate) -> Candidate:
    """The candidate with fewer outcomes against it; the earlier one of equals, because it has changed less."""
    return candidate if len(candidate.blocking) < len(best.blocking) else best


def _failed(planned: PlannedRemedy, error: BaseException) -> Step:
    remedy = planned.remedy
    return Step(
        remedy=remedy.name, title=remedy.title, parameters=given(planned), error=_sentence(error, planned.plugin)
    )


def _sentence(error: BaseException, plugin: str = "") -> str:
    """What went wrong in a remedy. Only our own errors are quoted: another's text may hold a cell."""
    return str(error) if isinstance(error, RemedyError) else sentence_about(error, "the remedy", plugin)
