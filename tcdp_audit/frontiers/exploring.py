"""`frontier`: what other thresholds would cost, and the releases that no other one dominates in risk and loss."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from tcdp_audit.api import (
    AuditInputs,
    Plugins,
    Policy,
    Session,
    describe_table,
    open_session,
    require_records,
    require_writable,
)
from tcdp_audit.core.results.frontier import Frontier, front_of
from tcdp_audit.core.results.protected_files import files_of, require_own_files
from tcdp_audit.core.results.setting_trial import Setting, SettingTrial, is_laxer
from tcdp_audit.frontiers.trial import Repairs, Saved, Task, kinds_of
from tcdp_audit.frontiers.varied import Variation, grid, one_at_a_time_grid
from tcdp_audit.frontiers.workers import Blueprint, ProcessPool, SerialPool, WorkerPool
from tcdp_audit.plugin.engine import UsageError, redact_errors
from tcdp_audit.plugin.report import Run, tool

STEP = "trying settings"
OnTrial = Callable[[SettingTrial, Sequence[SettingTrial]], None]


@redact_errors()
def frontier(
    release: Any,
    policy: str | Path | Mapping[str, Any] | Policy | None = None,
    original: Any = None,
    population: Any = None,
    *,
    vary: Mapping[str, str | Sequence[Any]] | None = None,
    budget: float | None = None,
    resume: str | Path | None = None,
    workers: int = 1,
    plugins: Plugins | None = None,
    memory: int | None = None,
    run_by: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    on_trial: OnTrial | None = None,
    examples: Sequence[int] = (),
    replace_running: bool = False,
) -> Frontier:
    """Find what other thresholds would cost, and the front of risk against loss.

    Every setting of the thresholds is repaired as `fix` does it, written to a private file, or to a private folder of
    several linked tables, audited by reading what was written, and removed again. The policy's own setting is the
    first, so that no result is worse than that of `fix`.

    Args:
        release: a path or a table; see `audit`. None for the release that the policy names. A `Session` in its place is
            asked with the tables that it has open; then `original`, `population`, `plugins` and `memory` are its own.
            Several linked tables are a mapping of names to tables, or the folder of their files.
        policy: a policy, the path of a policy file, or its content as a mapping. None for that of the session.
        original: the table that the release was made from, where the policy needs one.
        population: the population that the release was drawn from, likewise.
        vary: the demands to vary, by the name of the check (`k_anonymity`), with a colon and the attribute where the
            policy has several of it (`t_closeness:salary`): a range (`"3..50"`, of which round numbers are tried) or
            a list of thresholds. By default every demand by itself, two round numbers below its own and two above.
        budget: seconds. A setting that would not end in time, by the longest one so far, is not begun; with several
            workers one is begun until the end, and given up there. The policy's own is always tried.
        resume: a file for what is finished. Where it is there, the run goes on from it.
        workers: how many processes. With more than one, a script must be guarded by `if __name__ == "__main__"`.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes, shared by all workers; by default three quarters of what is free.
        run_by: who runs this, as the result shall say.
        progress: called with (step, done, in all).
        on_trial: called with each finished trial and the front of all trials so far, as soon as there is one; first
            with those that `resume` has.
        examples: places of records, from 0, that `SettingTrial.example` shows before and after; only of one table, and
            of a session that was opened with `show_values=True`.
        replace_running: end the computation of the session that runs, in place of waiting for it.

    Returns:
        The settings, what each costs, and the front. The same inputs give the same result, whatever the number of
        workers and however often a run was interrupted, unless the budget cut it short.

    Raises:
        UsageError: a file does not exist, there is no policy, or the thresholds are none that the policy could have.
        Cancelled: `Session.cancel` was called meanwhile.
        PolicyError: the policy is wrong.
        DataError: the release is empty or cannot be read.
        PluginError: a plugin that the policy needs does not work.

    Cost: that of `fix` for each setting that no release made under a laxer one keeps already.
    """
    _require_sound(budget, workers)
    with (
        _session(release, policy, original, population, plugins, memory) as session,
        session.turn(progress, replace_running=replace_running) as reporting,
    ):
        asked = policy if session is release else None  # its own session was opened with it
        require_records(session.read(asked), "remedies change records")
        inputs = session.inputs(asked, progress=reporting, samples=False)
        variation = Variation.around(inputs.policy) if vary is None else Variation.asked(inputs.policy, vary)
        settings = one_at_a_time_grid(variation.demands) if vary is None else grid(variation.demands)
        table, saved = describe_table(inputs.engine), _saved(resume, inputs, variation, settings, session.given)
        _require_shown(examples, inputs)
        repairs, tasks = Repairs(session, variation, table.sha256, tuple(examples)), _tasks(settings, inputs.policy)
        search = Search(variation, tasks, saved, budget, on_trial=on_trial)
        given = session.given_policy if asked is None else asked
        with _pool(repairs, given, inputs.memory, min(workers, len(tasks)), progress) as pool:
            search.run(pool, reporting)
    return Frontier(
        release=table,
        policy=None if inputs.policy.path is None else str(inputs.policy.path),
        policy_sha256=inputs.policy.sha256,
        seed=inputs.policy.document.seed,
        demands=variation.demands,
        settings=settings,
        trials=tuple(search.trials[task] for task in tasks if task in search.trials),
        untried=tuple(dict.fromkeys(task[0] for task in tasks if not search.is_settled(task))),
        plugins=inputs.plugins,
        run=Run(run_by, None),
    )


@contextmanager
def _session(release: Any, policy: Any, original: Any, population: Any, plugins: Any, memory: Any) -> Iterator[Session]:
    """The session that a caller gave and goes on with, or one of this question alone."""
    if not isinstance(release, Session):
        with open_session(release, policy, original, population, plugins=plugins, memory=memory) as session:
            yield session
        return
    if any(one is not None for one in (original, population, plugins, memory)):
        raise UsageError(
            "original, population, plugins and memory are those of the session; give them to `open_session`"
        )
    yield release


def _require_shown(examples: Sequence[int], inputs: AuditInputs) -> None:
    if examples and inputs.policy.document.tables is not None:
        raise UsageError("examples show records of one table, and the policy has several; leave them out")
    if examples and not inputs.options.show_values:
        raise UsageError("examples show cells; give a session that was opened with `show_values=True`")
    for record in examples:
        if not 0 <= record < inputs.engine.records:
            raise UsageError(f"examples: there is no record {record}; they count from 0 to {inputs.engine.records - 1}")


def _require_sound(budget: float | None, workers: int) -> None:
    if budget is not None and not budget > 0:
        raise UsageError("budget: must be a positive number of seconds")
    if workers < 1:
        raise UsageError("workers: must be a whole number, 1 or more")


def _saved(
    resume: str | Path | None,
    inputs: AuditInputs,
    variation: Variation,
    settings: Sequence[Setting],
    tables: Mapping[str, Any],
) -> Saved:
    """The file of this run, whose key is that of everything which decides what it finds."""
    if resume is None:
        return Saved(None, "")
    path = Path(resume)
    require_writable(path)
    require_own_files([("the file to resume from", path)], files_of(inputs.policy, **tables))
    read = {
        "release": describe_table(inputs.engine),
        **{name: describe_table(one, inputs.policy) for name, one in inputs.companions.items()},
    }
    for name, one in read.items():
        if one.sha256 is None:
            raise UsageError(f"{path}: the {name} has no digest, so no later run could know it again; leave this out")
    decisive = {
        "tool": tool(),
        "plugins": [one.as_json() for one in inputs.plugins.infos],
        "tables": {name: one.sha256 for name, one in read.items()},
        "policy": inputs.policy.sha256,
        "files": [one.sha256 for one in inputs.files],
        "demands": [one.as_json() for one in variation.demands],
        "settings": [list(map(str, one)) for one in settings],
        "kind": kinds_of(inputs),
    }
    return Saved(path, hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest())


def _tasks(settings: Sequence[Setting], policy: Policy) -> tuple[Task, ...]:
    """Each setting with the policy's remedies, where it names some, and with those that are chosen for it."""
    ways = (False, True) if policy.remedies else (True,)
    return tuple((setting, planned) for setting in settings for planned in ways)


def _pool(
    repairs: Repairs, policy: Any, memory: int, workers: int, progress: Callable[[str, int, int], None] | None
) -> WorkerPool:
    if workers == 1:
        return SerialPool(repairs, progress)
    return ProcessPool(Blueprint.of(repairs, policy, memory // workers), workers)


@dataclass
class Search:
    """The path through the settings. Its results depend neither on the workers nor on the order in which they end."""

    variation: Variation  # what is varied
    tasks: Sequence[Task]  # the settings in their order, each with its way of choosing remedies
    saved: Saved  # the file of what is finished
    budget: float | None = None  # seconds, if they are limited
    trials: dict[Task, SettingTrial] = field(default_factory=dict)  # the finished trials
    on_trial: OnTrial | None = None  # called with each, and the front so far

    @cached_property
    def _before(self) -> dict[Task, list[Task]]:
        """For each setting the earlier and laxer ones, whose releases may keep it too; none for the policy's own."""
        demands = self.variation.demands
        return {
            task: [one for one in self.tasks[:place] if one[1] is task[1] and is_laxer(demands, one[0], task[0])]
            for place, task in enumerate(self.tasks)
        }

    def run(self, pool: WorkerPool, progress: Callable[[str, int, int], None]) -> None:
        """Try every setting that needs it, as long as there is time."""
        for known in self.saved.trials(self.tasks).items():
            self._finish(*known)
        clock = _Clock(self.budget)
        while True:
            progress(STEP, sum(map(self.is_settled, self.tasks)), len(self.tasks))
            while pool.is_free and clock.is_early(pool) and (task := self._next(clock.begun)) is not None:
                clock.begun[task] = monotonic()
                pool.begin(task, self._lost(task))
            if not pool.is_busy:
                return
            until = clock.end if pool.can_break_off and self.is_settled(self.tasks[0]) else None
            ended = pool.finished(until)
            if ended is None:
                return
            task, trial = ended
            clock.finished(task)
            self._finish(task, trial)
            self.saved.keep(self.trials)

    def _finish(self, task: Task, trial: SettingTrial) -> None:
        self.trials[task] = trial
        if self.on_trial is not None:
            self.on_trial(trial, front_of(self.variation.demands, self.trials.values()))

    def is_settled(self, task: Task) -> bool:
        """Whether a setting was tried, or needs no trial."""
        return task in self.trials or self._is_finished(task)

    def _is_finished(self, task: Task) -> bool:
        """Whether a release that was made under a laxer setting keeps this one.

        What loses least among all that keep the laxer one loses least among those that keep the stricter one too.
        """
        demands, before = self.variation.demands, self._before[task]
        return any(one in self.trials and self.trials[one].keeps(demands, task[0]) for one in before)

    def _lost(self, task: Task) -> dict[str, float]:
        """The loss of each remedy under laxer settings: under a stricter one it is taken to lose no less."""
        lost: dict[str, float] = {}
        for trial in (self.trials[one] for one in self._before[task] if one in self.trials):
            for attempt in trial.attempts:
                if attempt.bound is not None:
                    lost[attempt.entry] = max(attempt.bound, lost.get(attempt.entry, 0.0))
        return lost

    def _next(self, begun: Mapping[Task, float]) -> Task | None:
        """The first setting that is neither settled nor begun, and that no unsettled one may settle."""
        waiting = (task for task in self.tasks if task not in begun and not self.is_settled(task))
        return next((task for task in waiting if all(map(self.is_settled, self._before[task]))), None)


class _Clock:
    """The time of a search in seconds, and how long its settings took."""

    def __init__(self, budget: float | None) -> None:
        self.end = None if budget is None else monotonic() + budget
        self.begun: dict[Task, float] = {}
        self.longest = 0.0

    def is_early(self, pool: WorkerPool) -> bool:
        """Whether another setting may be begun. The first always may.

        One that cannot be given up has to end in time, and is taken to need as long as the longest before it.
        """
        if self.end is None or not self.begun:
            return True
        return monotonic() + (0 if pool.can_break_off else self.longest) <= self.end

    def finished(self, task: Task) -> None:
        """Record how long a setting took."""
        self.longest = max(self.longest, monotonic() - self.begun[task])
