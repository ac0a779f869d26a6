"""Remediation: apply a remedy, audit everything again, until the policy holds or nothing more helps.

Remedies run in the policy's order. After each the whole release is audited, because a remedy for one expectation can
break another. Where the policy names no remedy, those that apply are tried, and the one with the least loss is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from tcdp_audit.classes.shards import Progress, silent
from tcdp_audit.engines import open_engine
from tcdp_audit.information_loss import InformationLoss, information_loss
from tcdp_audit.outcome import Outcome
from tcdp_audit.plugin_faults import sentence_about
from tcdp_audit.policy import Policy
from tcdp_audit.policy.policy import PlannedRemedy
from tcdp_audit.release.release import Release
from tcdp_audit.remedy.remedy import Remedy, RemedyError, Treatment
from tcdp_audit.remedy.treatment import same_cells, settled, touched, treated
from tcdp_audit.remedy.view import RemedyView
from tcdp_audit.results.change_log import Step, standing_against

MOST_ROUNDS = 5
MOST_STEPS = 3  # of a plan
UNSOUND = "it proposed parameters that a policy would reject"

Auditing = Callable[[pa.Table], tuple[Outcome, ...]]


@dataclass(frozen=True)
class State:
    """A release on its way.

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
    def passes(self) -> bool:
        """Whether nothing stands against it."""
        return not standing_against(self.outcomes)


@dataclass
class Course:
    """The way of one release through remedies.

    Args:
        policy: what it must satisfy.
        table: the release as it came in.
        remedies: every registered remedy, for planning.
        auditing: the complete audit of a table.
        memory: budget of an engine.
        progress: told (step, done, in all).
    """

    policy: Policy
    table: pa.Table
    remedies: Mapping[str, Remedy[Any]]
    auditing: Auditing
    memory: int
    progress: Progress = silent
    tried: list[Step] = field(default_factory=list)

    def run(self, start: State) -> State:
        """The release after remedies: the first that passes, else the best one found."""
        return self._as_named(start) if self.policy.remedies else self._planned(start)

    # Remedies that the policy names

    def _as_named(self, start: State) -> State:
        state = best = start
        for turn in range(MOST_ROUNDS):
            before = state
            for planned in self.policy.remedies:
                if turn and planned.remedy.random:
                    continue  # noise is added once
                after = self._step(state, planned)
                if turn and same_cells(after.table, state.table):
                    continue  # it has nothing more to do
                state, best = after, _better(best, after)
                if state.passes:
                    return state
            if same_cells(state.table, before.table):
                break  # a fixed point: another round would change nothing
        self.tried += state.steps[len(best.steps) :]
        return best

    def _step(self, state: State, planned: PlannedRemedy) -> State:
        """One remedy, applied and audited; where it cannot be applied the state stays, and `tried` says why."""
        try:
            return self._applied(state, planned)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - one remedy that raises must not take the others down
            self.tried.append(_failed(planned, error))
            return state

    def _applied(self, state: State, planned: PlannedRemedy) -> State:
        view = self._view(state)
        try:
            treatment = planned.remedy.apply(view, planned.parameters)
            after = self._after(state, view, treatment)
            cells = touched(view, treatment)
        finally:
            view.release.engine.close()
        step = Step(
            remedy=planned.remedy.name,
            title=planned.remedy.title,
            parameters=given(planned),
            outcomes=after.outcomes,
            cells=cells,
            suppressed=state.table.num_rows - after.table.num_rows,
            notes=treatment.notes,
            lines=treatment.lines,
        )
        return replace(after, steps=(*state.steps, step))

    def _after(self, state: State, view: RemedyView, treatment: Treatment) -> State:
        table = treated(state.table, view, treatment)
        kept = state.kept if treatment.kept is None else state.kept[treatment.kept]
        if len(kept) < len(state.kept) and self.policy.document.rows_aligned:
            raise RemedyError(
                "dropping records would break `rows_aligned: true`; declare a `key:` that aligns release and original"
            )
        return State(table, kept, self._audited(table))

    def _view(self, state: State) -> RemedyView:
        engine = open_engine(state.table, self.memory)
        release = Release(engine, self.policy)

        def audited(treatment: Treatment) -> tuple[Outcome, ...]:
            return self._after(state, view, treatment).outcomes

        view = RemedyView(release, state.outcomes, self.policy.document.seed, audited, self.progress)
        return view

    def _audited(self, table: pa.Table) -> tuple[Outcome, ...]:
        return self.auditing(self.settled(table))

    def released(self, state: State) -> pa.Table:
        """The table that a state releases, in the input's order; without a remedy it is the input itself."""
        return self.settled(state.table) if state.steps else state.table

    def settled(self, table: pa.Table) -> pa.Table:
        """The table as it is released: no quasi-identifier is missing. See `treatment.settled`."""
        with open_engine(table, self.memory) as engine:
            release = Release(engine, self.policy)
            domains = {one.attribute: one for one in release.quasi_identifiers if one.missing}
            if not domains:
                return table
            batches = list(engine.batches(list(domains.values())))
            codes = {name: np.concatenate([batch[name] for batch in batches]) for name in domains}
            missing = {name: (domains[name], codes[name]) for name in domains}
            return settled(table, missing, self.policy.conventions.suppressed_token)

    # A policy without remedies

    def _planned(self, start: State) -> State:
        state = start
        for _ in range(MOST_STEPS):
            found = list(self._candidates(state))
            passing = [one for one in found if one.passes]
            if passing:
                return min(passing, key=_lost)
            improved = [one for one in found if len(_standing(one)) < len(_standing(state))]
            if not improved:
                return state
            state = min(improved, key=lambda one: (len(_standing(one)), _lost(one)))
        return state

    def _candidates(self, state: State) -> Iterator[State]:
        """The state after each remedy that might help, by itself."""
        plans = list(self._plans(state))
        for done, planned in enumerate(plans):
            self.progress("trying remedies", done, len(plans))
            after = self._step(state, planned)
            if after is state:
                continue
            with self.losing(after) as loss:
                step = replace(after.steps[-1], loss=loss.total)
            self.tried.append(step)
            yield replace(after, steps=(*state.steps, step))

    def _plans(self, state: State) -> Iterator[PlannedRemedy]:
        for name, remedy in sorted(self.remedies.items()):
            view = self._view(state)
            try:
                proposals = list(remedy.plan(view, tuple(_standing(state))))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - one remedy that raises must not take the others down
                self.tried.append(Step(remedy=name, title=remedy.title, parameters={}, error=_sentence(error)))
                continue
            finally:
                view.release.engine.close()
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
    def losing(self, state: State) -> Iterator[InformationLoss]:
        """What a state costs beside the input. Its measures are computed when they are asked for."""
        before, after = self.table, self.released(state)
        with open_engine(before, self.memory) as one, open_engine(after, self.memory) as two:
            yield information_loss(Release(one, self.policy), Release(two, self.policy), state.kept)


def given(planned: PlannedRemedy) -> dict[str, Any]:
    """The parameters that were given, as they stand in a policy."""
    values = ((name, getattr(planned.parameters, name)) for name in planned.parameters.model_fields_set)
    return {name: value for name, value in sorted(values) if value is not None}


def beyond_repair(outcomes: tuple[Outcome, ...]) -> str:
    """Why no remedy can help, or nothing: a remedy changes cells and records, never columns or the policy."""
    structural = [one for one in standing_against(outcomes) if one.is_structural]
    return "; ".join(f"{one.check}: {one.message}" for one in structural)


def _standing(state: State) -> list[Outcome]:
    return standing_against(state.outcomes)


def _lost(state: State) -> float:
    """The total information loss of a state; what was not measured is never the least."""
    loss = state.steps[-1].loss
    return inf if loss is None else loss


def _better(best: State, state: State) -> State:
    """The state with fewer outcomes against it; the earlier one of equals, because it has changed less."""
    return state if len(_standing(state)) < len(_standing(best)) else best


def _failed(planned: PlannedRemedy, error: BaseException) -> Step:
    remedy = planned.remedy
    return Step(
        remedy=remedy.name, title=remedy.title, parameters=given(planned), error=_sentence(error, planned.plugin)
    )


def _sentence(error: BaseException, plugin: str = "") -> str:
    """What went wrong in a remedy. Only our own errors are quoted: another's text may hold a cell."""
    return str(error) if isinstance(error, RemedyError) else sentence_about(error, "the remedy", plugin)
