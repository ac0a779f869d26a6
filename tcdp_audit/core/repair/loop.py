"""Remediation: apply remedies and audit the release after each, until it satisfies the policy or no remedy helps.

Remedies run in the policy's order. After each the whole release is audited, because a remedy for one expectation can
break another. If the policy names no remedy, those that apply are tried, and the one with the least loss is kept. A
remedy is stopped once it loses more than another after which the release passes.

Where the policy has several intruders, the remedies run along several `routes`: against all of them at once, against
those whom the release fails, and against one after another. Each sees as quasi-identifiers what these know. Every
result is audited under the whole policy, and the one with the least loss is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ValidationError

from tcdp_audit.core.base.errors import sentence_about
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.words import listing
from tcdp_audit.core.information_loss.prediction import require_scikit_learn
from tcdp_audit.core.policy.policy import PlannedRemedy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.unit_readings import as_read
from tcdp_audit.core.remedy.remedy import DominatedError, Remedy, RemedyError, Treatment, applicability, require_least
from tcdp_audit.core.remedy.treatment import apply_treatment, require_treatment, touched
from tcdp_audit.core.remedy.unit_cells import with_unit_cells
from tcdp_audit.core.remedy.view import Attribute, RemedyView, judges_histories
from tcdp_audit.core.repair.candidate import (
    Candidate,
    LossLimits,
    OpenTable,
    Perspective,
    TooMuchLostError,
    is_of_columns,
)
from tcdp_audit.core.repair.pseudonyms import require_units_behind
from tcdp_audit.core.results.change_log import Step, failing_demands, flow
from tcdp_audit.core.session.inputs import AuditInputs

if TYPE_CHECKING:
    from tcdp_audit.core.information_loss.loss import Loss
    from tcdp_audit.core.units.coding import LinkedRows

    Measure = Callable[[OpenTable, OpenTable, NDArray[np.intp]], Loss]

SEVERAL = 2  # intruders
ALL, TOGETHER, IN_TURN = "all", "together", "in turn"  # routes: against all intruders, those who fail, one by one
MOST_ROUNDS = 5
MOST_STEPS = 3  # remedies of a plan
NOTHING_PROPOSED = "proposes nothing for a release like this"
LOST_BEFORE = "not tried: it lost {} of the detail where less was demanded"
UNSOUND = "it proposed parameters that a policy would reject"


class RepairLoop:
    """The application of remedies to one release. Closing the loop closes everything that it has opened.

    Args:
        inputs: the release before the repair, its policy, and every registered remedy.
        measure: the information loss of a candidate's table compared with the input, given also the retained records.
        lost: the losses of single remedies under weaker demands on the same release, by their entries in a policy. A
            plan starts with those that lost least, and skips those that lost more than another one does now.
    """

    def __init__(self, inputs: AuditInputs, measure: Measure, lost: Mapping[str, float] | None = None) -> None:
        self.inputs, self.policy, self.lost, self._measure = inputs, inputs.policy, lost or {}, measure
        if self.policy.document.utility.models:
            require_scikit_learn()  # before the work, not after it
        self.input = self._opened_input()
        self.tried: list[Step] = []
        self._left_out: dict[str, str] = {}  # remedy -> reason why it was not tried
        self.limits = LossLimits.of(inputs.policy.document)
        self._refused: list[tuple[float, str]] = []  # loss beyond the limits, and the message
        self._least = inf  # the least loss of the compared candidates that pass
        self._passing = inf  # the least loss after an earlier route
        self._open = [self.input]
        self._best_so_far: list[OpenTable] = []  # the best result of earlier routes
        self._views: dict[OpenTable, dict[tuple[str, Perspective], RemedyView]] = {}
        self._route, self._turn = ALL, 0
        self._at_work = ""  # the remedy that is at work, as the progress names it
        self._lost = self.lost

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close every table that is open."""
        self._best_so_far = []
        self._close_all_but()

    def _opened_input(self) -> OpenTable:
        return OpenTable.of_input(self.inputs)

    def start(self, outcomes: tuple[Outcome, ...]) -> Candidate:
        """The release before the repair, with its audit."""
        return Candidate(self.input, np.arange(self.input.rows), outcomes)

    def run(self, outcomes: tuple[Outcome, ...]) -> Candidate:
        """Apply remedies; return the first candidate that passes, otherwise the best one.

        Args:
            outcomes: the audit before the repair.
        """
        start = self.start(outcomes)
        best, routes = start, self._routes(start)
        self._lost = self.lost if len(routes) == 1 else {}  # what was lost along one route says little of another
        for self._route in routes:
            result = self._as_named(start) if self.policy.remedies else self._planned(start)
            if best is not start:
                best, result = (replace(one, loss=self.loss_of(one)) for one in (best, result))
            best = result if best is start or result.rank < best.rank else best
            if best.passes and best.loss is not None and not self.policy.remedies:
                self._passing = self._least = min(self._passing, best.loss.total)
            self._best_so_far = [best.opened]
            self._close_all_but(self.input)
        self.tried = [one for number, one in enumerate(self.tried) if one not in self.tried[:number]]
        return best

    def _routes(self, start: Candidate) -> Sequence[str]:
        """The ways to choose the intruders against whom remedies act, where the policy has several."""
        if len(self.policy.intruders) < SEVERAL or self.policy.document.tables is not None:
            return [ALL]
        failing = self._failing_intruders(start)
        one = self.policy.of_intruders(failing, known_first=True).attributes
        is_other = failing != self.policy.intruders or one != self.policy.of_one_intruder.attributes
        return [*([TOGETHER] if is_other else []), *([IN_TURN] if len(failing) > 1 else []), ALL]

    def _failing_intruders(self, candidate: Candidate) -> tuple[str, ...]:
        """The intruders against whom a demand fails, in the policy's order; all where none is against one."""
        failing = {one.scenario for one in candidate.failing_demands if not one.unit and not is_of_columns(one)}
        return tuple(name for name in self.policy.intruders if name in failing) or self.policy.intruders

    def _perspective(self, candidate: Candidate) -> Perspective:
        """The intruders whose demands remedies see of a candidate."""
        if self._route == ALL:
            return Perspective.of_all(self.policy)
        failing = self._failing_intruders(candidate)
        if self._route == TOGETHER:
            return Perspective(failing, known_first=True)
        return Perspective((failing[self._turn % len(failing)],))

    def finished(self, candidate: Candidate) -> Candidate:
        """The candidate as it is written, after everything that is no remedy."""
        return candidate

    @property
    def refusal(self) -> str:
        """The message on the least loss beyond the policy's limits; empty if no candidate exceeded them."""
        return min(self._refused)[1] if self._refused else ""

    @property
    def left_out(self) -> dict[str, str]:
        """The titles of the remedies that no plan tried, each with the reason."""
        tried = {one.remedy for one in self.tried}
        remedies = self.inputs.plugins.remedies
        return {remedies[name].title: reason for name, reason in self._left_out.items() if name not in tried}

    # Remedies that the policy names

    def _as_named(self, start: Candidate) -> Candidate:
        candidate = best = start
        for turn in range(MOST_ROUNDS):
            before, self._turn = candidate, turn
            for planned in self.policy.remedies:
                if turn and (planned.remedy.random or planned.remedy.once):
                    continue  # noise and permutations are applied once
                after = self._repeated(candidate, planned)
                if turn and after.opened.is_same(candidate.opened):
                    continue  # it has nothing more to do
                candidate, best = after, _better(best, after)
                if candidate.passes:
                    return candidate
                self._close_all_but(self.input, candidate.opened, best.opened, before.opened)
            if candidate.opened.is_same(before.opened) and self._route != IN_TURN:
                break  # a fixed point: another round would change nothing
        self.tried += candidate.steps[len(best.steps) :]
        return best

    def _repeated(self, candidate: Candidate, planned: PlannedRemedy) -> Candidate:
        """Apply a remedy, and repeat it if it was extended to further rows of units and a demand fails.

        Stop when the number of failing records has not decreased in the last rounds.
        """
        after = self._step(candidate, planned)
        if planned.remedy.random or planned.remedy.once:
            return after
        fewest, waited = after.failing, 0
        while after.joined and not after.passes and waited < MOST_ROUNDS:
            before, after = after, self._step(after, planned)
            if after is before or after.opened.is_same(before.opened):
                break  # it has nothing more to do
            fewest, waited = min(fewest, after.failing), 0 if after.failing < fewest else waited + 1
        return after

    def _step(self, candidate: Candidate, planned: PlannedRemedy) -> Candidate:
        """Apply a remedy and audit the result; if it cannot be applied, return the candidate and record why."""
        unhelped, parameters = "", explicit_parameters(planned)
        self._at_work = f"{planned.remedy.title}{f' {flow(parameters)}' if parameters else ''}"
        try:
            unhelped = self._unhelped(candidate, planned)
            return self._applied(candidate, planned, unhelped)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - one remedy that raises must not take the others down
            against = self._perspective(candidate)
            failed = replace(_failed(planned, error, unhelped), after=candidate.steps)
            self.tried.append(failed if against.is_whole else replace(failed, against=against.names))
            return candidate

    def _unhelped(self, candidate: Candidate, planned: PlannedRemedy) -> str:
        """Report, before a named remedy starts, the failing demands on which it does not act; empty if none."""
        if not self.policy.remedies:
            return ""
        views = [self._view(candidate, place) for place in self._places(planned)]
        failing = self._perspective(candidate).seen(candidate.failing_demands)
        sentences = [applicability(planned.remedy, one, planned.parameters, failing).sentence for one in views]
        if not all(sentences):
            return ""
        self.inputs.options.progress(f"{planned.remedy.title} {sentences[0]}", 1, 1)
        return sentences[0]

    def _applied(self, candidate: Candidate, planned: PlannedRemedy, unhelped: str) -> Candidate:
        if not candidate.steps:
            require_least(self._lost.get(_entry(planned), 0.0), self._least, LOST_BEFORE)
        after, made, joined = candidate, list[tuple[RemedyView, Treatment]](), False
        against = self._perspective(candidate)
        for place in self._places(planned):
            view = self._view(after, place)
            answer = planned.remedy.apply(view, planned.parameters)
            require_treatment(answer, view)
            treatment = with_unit_cells(view, answer)
            after, joined = self._treated(after, treatment, place), joined or treatment is not answer
            self._open.append(after.opened)
            made.append((view, treatment))
        after = replace(after, joined=joined)
        if self.limits.are_set or not self.policy.remedies:
            after = replace(after, loss=self._affordable(planned, self.loss_of(after)))
        if not self.policy.remedies:
            require_least(after.rank[1], self._least)
        after = replace(after, outcomes=after.opened.settled.outcomes())
        self._require_units_behind(after)
        step = Step(
            remedy=planned.remedy.name,
            title=planned.remedy.title,
            parameters=explicit_parameters(planned),
            against=() if against.is_whole else against.names,
            outcomes=after.outcomes,
            cells={name: cells for one in made for name, cells in touched(*one).items()},
            suppressed=candidate.opened.rows - after.opened.rows,
            notes=_notes([treatment.notes for _, treatment in made]),
            lines=tuple(line for _, treatment in made for line in treatment.lines),
            loss=after.total_loss,
            unhelped=unhelped,
            attacks=tuple(attack for _, treatment in made for attack in treatment.attacks),
            after=candidate.steps,
        )
        return replace(after, steps=(*candidate.steps, step))

    def _affordable(self, planned: PlannedRemedy, loss: Loss) -> Loss:
        """Return a loss that is within the policy's limits; otherwise raise `TooMuchLostError`."""
        try:
            self.limits.require(loss)
        except TooMuchLostError as error:
            self._refused.append((loss.total, f"{planned.remedy.title}: {error}"))
            raise
        return loss

    def _require_units_behind(self, after: Candidate) -> None:
        """Insist that new pseudonyms keep the policy for the units behind them; see `require_units_behind`."""
        require_units_behind(self.inputs, self.input, after)

    def _places(self, planned: PlannedRemedy) -> Sequence[str]:  # noqa: ARG002 - of several tables
        """The tables that a remedy acts on, where there are several."""
        return ("",)

    def _treated(self, candidate: Candidate, treatment: Treatment, place: str) -> Candidate:
        """The candidate after a treatment of one table, before its audit."""
        view = self._view(candidate, place)
        require_treatment(treatment, view)
        return self._changed(candidate, view, with_unit_cells(view, treatment), place)

    def _changed(
        self,
        candidate: Candidate,
        view: RemedyView,
        treatment: Treatment,
        place: str,  # noqa: ARG002 - likewise
    ) -> Candidate:
        """The candidate with the columns and rows of a treatment that is sound."""
        table = apply_treatment(candidate.table, view, treatment)
        retained = candidate.retained if treatment.retained is None else candidate.retained[treatment.retained]
        if len(retained) < len(candidate.retained) and self.policy.document.rows_aligned:
            raise RemedyError(
                "dropping records would break `rows_aligned: true`; declare a `key:` that aligns release and original"
            )
        return Candidate(OpenTable(table, self.inputs), retained, (), candidate.steps)

    def _seen(self, candidate: Candidate, place: str) -> tuple[Release, Attribute | None]:  # noqa: ARG002 - likewise
        """The table that a remedy sees, and the column that joins its rows where that is in another table."""
        release, against = candidate.opened.release, self._perspective(candidate)
        if against.is_whole:
            return release, None
        policy = self.policy.of_intruders(against.names, known_first=against.known_first)
        return replace(release, policy=policy), None

    def _linked(
        self,
        candidate: Candidate,  # noqa: ARG002 - likewise
        place: str,  # noqa: ARG002 - likewise
    ) -> tuple[Mapping[str, RemedyView], LinkedRows | None]:
        """The views of other tables and the rows of all, for a remedy that changes several linked tables at once."""
        return {}, None

    def _failing_records(
        self,
        candidate: Candidate,
        place: str,  # noqa: ARG002 - likewise
        against: Perspective,
    ) -> NDArray[np.bool_]:
        """Whether each record of the table that a remedy sees fails a demand on classes."""
        return candidate.opened.settled.failing_records(None if against.is_whole else against.names)

    def _view(self, candidate: Candidate, place: str = "") -> RemedyView:
        """The view of a candidate for remedies; of several tables that of one of them."""
        against = self._perspective(candidate)

        def audited(treatment: Treatment) -> tuple[Outcome, ...]:
            with self._treated(candidate, treatment, place).opened as opened:
                return against.seen(opened.settled.outcomes())

        def part_audited(treatment: Treatment, checks: frozenset[str]) -> tuple[Outcome, ...]:
            after = self._treated(candidate, treatment, place)
            with after.opened as opened:
                if least_loss() < inf:
                    require_least(self.loss_of(after).total, least_loss())
                return against.seen(opened.settled.outcomes(checks))

        def records_failing(treatment: Treatment) -> NDArray[np.bool_]:
            after = self._treated(candidate, treatment, place)
            with after.opened:
                return self._failing_records(after, place, against)

        def least_loss() -> float:
            return inf if candidate.steps else self._least  # a view does not know the losses of earlier steps

        def least_of_view() -> float:
            return least_loss() if against.is_whole else inf  # nor those of columns that it does not see

        seed, progress = self.policy.document.seed, self._progress
        views = self._views.setdefault(candidate.opened, {})
        if (place, against) not in views:
            seen, joining = self._seen(candidate, place)
            views[place, against] = RemedyView(
                release=as_read(seen, missing_is_open=True),
                outcomes=against.seen(candidate.outcomes),
                seed=seed,
                audited=audited,
                progress=progress,
                least_loss=least_of_view,
                part_audited=part_audited,
                records_failing=records_failing,
                joining=joining,
                linking=lambda: self._linked(candidate, place),
            )
        return views[place, against]

    def _progress(self, step: str, done: int, total: int) -> None:
        """Report a step of the remedy that is at work, whose name the step has."""
        self.inputs.options.progress(f"{self._at_work}: {step}" if self._at_work else step, done, total)

    def _trying(self, candidate: Candidate) -> str:
        """The step of trying all remedies, which says what it is that they are tried on: they are more than once."""
        against = self._perspective(candidate)
        after = f" after {listing([one.title for one in candidate.steps])}" if candidate.steps else ""
        return f"trying remedies{after}{'' if against.is_whole else f' against {listing(against.names)}'}"

    def _close_all_but(self, *retained: OpenTable) -> None:
        """Close the tables that are no longer needed, and drop the views of them."""
        for one in [one for one in self._open if one not in (*retained, *self._best_so_far)]:
            one.close()
            self._open.remove(one)
            self._views.pop(one, None)

    # A policy without remedies

    def _planned(self, start: Candidate) -> Candidate:
        candidate = best = start
        turns = len(self.policy.intruders) if self._route == IN_TURN else 1
        for _ in range(MOST_STEPS * turns):
            for self._turn in range(turns):
                after = self._followed(*self._improved(candidate))
                if after is not None:
                    break
            else:
                return best
            candidate, best = after, _better(best, after)
            self._best_so_far = [*self._best_so_far[:1], best.opened]
            if candidate.passes:
                return candidate
        return best

    def _improved(
        self, candidate: Candidate, passing: Candidate | None = None, followed: Sequence[Candidate] = ()
    ) -> tuple[Candidate | None, list[Candidate]]:
        """The best result of the remedies that may help, and the steps that improve the candidate and do not suffice.

        Args:
            candidate: what remedies are applied to.
            passing: a release that passes; what loses more is stopped.
            followed: other candidates whose tables stay open.

        Returns:
            The best result, `passing` if none is better, None if none improves the candidate. There are steps only
            where whole histories are judged.
        """
        plans, best = self._in_turn(candidate, self._plans(candidate)), passing
        steps: list[Candidate] = []
        follows = self._judges_histories(candidate)
        remedies = sorted(self.inputs.plugins.remedies)
        trying, done = self._trying(candidate), 0
        self.inputs.options.progress(trying, done, len(remedies))
        for planned in plans:
            done = max(done, remedies.index(planned.remedy.name))  # those that lost little before may come first
            self.inputs.options.progress(trying, done, len(remedies))
            after = self._repeated(candidate, planned)
            if after is not candidate:
                self.tried.append(after.steps[-1])
                if self._improves(candidate, after):
                    best = after if best is None or self._ranked(after) < self._ranked(best) else best
                    steps += [] if after.passes or not follows else [after]
            self._least = min(self._passing, best.rank[1] if best is not None and best.passes else inf)
            needed = [one.opened for one in (candidate, *steps, *followed, *filter(None, [best, passing]))]
            self._close_all_but(self.input, *needed)
        return best, steps

    def _followed(self, best: Candidate | None, steps: list[Candidate]) -> Candidate | None:
        """The best result of steps that do not suffice, each followed by another remedy; `best` if none is better.

        Whole histories are made alike by several remedies more cheaply than by one: coarser dates, and then those few
        dropped who are still alone. The steps that lose least are followed.
        """
        for step in sorted(steps, key=lambda one: one.rank[1])[:MOST_STEPS]:
            passing = best if best is not None and best.passes else None
            after, _ = self._improved(step, passing, steps)
            if after is not None and after.passes:
                best = after
        return best

    def _improves(self, candidate: Candidate, after: Candidate) -> bool:
        """Whether fewer demands fail. Of whole histories fewer failing records are a step as well.

        One remedy seldom makes enough histories alike; what is left of one may be little for the next one. Of several
        intruders in turn the demands of one count, since what is done against one may help another.
        """
        if self._route == IN_TURN:
            before, now = (len(self._perspective(candidate).seen(one.failing_demands)) for one in (candidate, after))
            return now < before
        if len(after.failing_demands) != len(candidate.failing_demands):
            return len(after.failing_demands) < len(candidate.failing_demands)
        return self._judges_histories(candidate) and after.failing_share < candidate.failing_share

    def _ranked(self, candidate: Candidate) -> tuple[float, ...]:
        """The rank of a result: failing demands, then what fails of whole histories, then the loss."""
        failing, loss = candidate.rank
        return failing, candidate.failing_share if self._judges_histories(candidate) else 0.0, loss

    def _judges_histories(self, candidate: Candidate) -> bool:
        """Whether some demands fail, and all of them judge all rows of a unit together."""
        failing = candidate.failing_demands
        return bool(failing) and all(judges_histories(self.policy, one) for one in failing)

    def _in_turn(self, candidate: Candidate, plans: Iterator[PlannedRemedy]) -> Iterable[PlannedRemedy]:
        """The plans in the order in which they are tried.

        A remedy proposes its own after those before it were tried, so that its search stops at what they lose.
        """
        if candidate.steps or not self._lost:
            return plans
        return sorted(plans, key=lambda one: self._lost.get(_entry(one), inf))

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
                planned = self._sound(remedy, proposal, candidate)
                if planned is not None:
                    yield planned
                else:
                    self.tried.append(Step(remedy=name, title=remedy.title, parameters={}, error=UNSOUND))

    def _proposals(self, remedy: Remedy[Any], candidate: Candidate) -> list[Mapping[str, Any]]:
        """The parameters that a remedy proposes; if there are none, the reason is recorded."""
        view, self._at_work = self._view(candidate), remedy.title
        failing = self._perspective(candidate).seen(candidate.failing_demands)
        helpful = applicability(remedy, view, None, failing)
        proposals = remedy.proposals(view, failing) if helpful.helped else []
        if not proposals:
            self._left_out[remedy.name] = helpful.reasons if not helpful.helped else NOTHING_PROPOSED
        return proposals

    def _sound(self, remedy: Remedy[Any], proposal: Mapping[str, Any], candidate: Candidate) -> PlannedRemedy | None:
        """A proposal as an entry of a policy; None if a policy would reject it."""
        document = self.policy.document if self._route == ALL else self._view(candidate).policy.document
        try:
            parameters = remedy.parameters.model_validate(dict(proposal))
        except ValidationError:
            return None
        return None if remedy.faults(parameters, document) else PlannedRemedy(remedy, parameters)

    def loss_of(self, candidate: Candidate) -> Loss:
        """The information loss of a candidate, compared with the input; measures are computed on demand."""
        if candidate.loss is not None:
            return candidate.loss
        after = candidate.opened if candidate.opened is self.input else candidate.opened.settled
        return self._measure(self.input, after, candidate.retained)


def _notes(notes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The figures of a remedy that was applied to some tables: their sums, where there are several."""
    if len(notes) == 1:
        return notes[0]
    return {
        name: sum(one.get(name, 0) for one in notes) for name in dict.fromkeys(name for one in notes for name in one)
    }


def _entry(planned: PlannedRemedy) -> str:
    """A remedy as an entry of a policy's `remedy`."""
    return f"{planned.remedy.name}: {flow(explicit_parameters(planned))}"


def explicit_parameters(planned: PlannedRemedy) -> dict[str, Any]:
    """The parameters that were set explicitly, as in a policy."""
    return dict(sorted(_set_fields(planned.parameters).items()))


def _set_fields(model: BaseModel) -> dict[str, Any]:
    """The fields of a model that were set, and of the models in it."""
    values = {name: getattr(model, name) for name in model.model_fields_set}
    return {name: _without_models(value) for name, value in values.items() if value is not None}


def _without_models(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return _set_fields(value)
    if isinstance(value, Mapping) and any(isinstance(one, BaseModel) for one in value.values()):
        return {name: _without_models(one) for name, one in value.items()}
    return value


def beyond_repair(outcomes: tuple[Outcome, ...]) -> str:
    """The reason why no remedy can help, as remedies change neither columns nor the policy; empty if one may help."""
    structural = [one for one in failing_demands(outcomes) if one.is_structural]
    return "; ".join(f"{one.check}: {one.message}" for one in structural)


def _better(best: Candidate, candidate: Candidate) -> Candidate:
    """The candidate of the lower rank; of equals the earlier one, because it has changed less."""
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
    """The message on a remedy's error. Only this package's errors are quoted: others may contain a cell."""
    return str(error) if isinstance(error, RemedyError) else sentence_about(error, "the remedy", plugin)
