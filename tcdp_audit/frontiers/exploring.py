"""`frontier`: what other thresholds would cost, and the releases that no other one dominates in risk and loss."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from tcdp_audit.api import AuditInputs, Options, Plugins, Policy, describe_table, open_inputs, require_writable
from tcdp_audit.core.results.frontier import Frontier
from tcdp_audit.core.results.protected_files import files_of, require_own_files
from tcdp_audit.core.results.setting_trial import Setting, SettingTrial, is_laxer
from tcdp_audit.frontiers.trial import Repairs, Saved, Task, kind_of
from tcdp_audit.frontiers.varied import Variation, grid, one_at_a_time_grid
from tcdp_audit.frontiers.workers import Blueprint, ProcessPool, SerialPool, WorkerPool
from tcdp_audit.plugin.engine import UsageError, redact_errors
from tcdp_audit.plugin.remedy import silent
from tcdp_audit.plugin.report import Run, tool

STEP = "trying settings"


@redact_errors()
def frontier(
    release: Any,
    policy: str | Path | Mapping[str, Any] | Policy,
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
) -> Frontier:
    """Find what other thresholds would cost, and the front of risk against loss.

    Every setting of the thresholds is repaired as `fix` does it, written to a private file, audited by reading that
    file, and removed again. The policy's own setting is the first, so that no result is worse than that of `fix`.

    Args:
        release: a path or a table; see `audit`. None for the release that the policy names.
        policy: a policy, the path of a policy file, or its content as a mapping.
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

    Returns:
        The settings, what each costs, and the front. The same inputs give the same result, whatever the number of
        workers and however often a run was interrupted, unless the budget cut it short.

    Raises:
        UsageError: a file does not exist, or the thresholds are none that the policy could have.
        PolicyError: the policy is wrong.
        DataError: the release is empty or cannot be read.
        PluginError: a plugin that the policy needs does not work.

    Cost: that of `fix` for each setting that no release made under a laxer one keeps already.
    """
    _require_sound(budget, workers)
    tables = {"release": release, "original": original, "population": population}
    options = Options(memory, progress=progress or silent, samples=False)
    with open_inputs(release, policy, original, population, plugins, options) as inputs:
        variation = Variation.around(inputs.policy) if vary is None else Variation.asked(inputs.policy, vary)
        settings = one_at_a_time_grid(variation.demands) if vary is None else grid(variation.demands)
        table, saved = describe_table(inputs.engine), _saved(resume, inputs, variation, settings, tables)
        repairs = Repairs(tables, variation, inputs.plugins, inputs.memory, table.sha256)
    tasks = _tasks(settings, inputs.policy)
    search = Search(variation, tasks, saved, budget)
    with _pool(repairs, policy, min(workers, len(tasks)), progress) as pool:
        search.run(pool, progress or silent)
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
        **{name: describe_table(one) for name, one in inputs.companions.items()},
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
        "kind": kind_of(inputs.release),
    }
    return Saved(path, hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest())


def _tasks(settings: Sequence[Setting], policy: Policy) -> tuple[Task, ...]:
    """Each setting with the policy's remedies, where it names some, and with those that are chosen for it."""
    ways = (False, True) if policy.remedies else (True,)
    return tuple((setting, planned) for setting in settings for planned in ways)


def _pool(repairs: Repairs, policy: Any, workers: int, progress: Callable[[str, int, int], None] | None) -> WorkerPool:
    if workers == 1:
        return SerialPool(repairs, progress)
    return ProcessPool(Blueprint.of(repairs, policy, repairs.memory // workers), workers)


@dataclass
class Search:
    """The way through the settings. What it finds does not depend on who tries them, or in which order they end.

    Args:
        variation: what is varied.
        tasks: the settings in their order, each with its way of choosing remedies.
        saved: the file of what is finished.
        budget: seconds, if they are limited.
        trials: the finished trials.
    """

    variation: Variation
    tasks: Sequence[Task]
    saved: Saved
    budget: float | None = None
    trials: dict[Task, SettingTrial] = field(default_factory=dict)

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
        self.trials = self.saved.trials(self.tasks)
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
            self.trials[task] = trial
            self.saved.keep(self.trials)

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
        """What each remedy lost under laxer settings: where more is demanded it is taken to lose no less."""
        lost: dict[str, float] = {}
        for trial in (self.trials[one] for one in self._before[task] if one in self.trials):
            for attempt in trial.attempts:
                if attempt.bound is not None:
                    lost[attempt.entry] = max(attempt.bound, lost.get(attempt.entry, 0.0))
        return lost

    def _next(self, begun: Mapping[Task, float]) -> Task | None:
        """The first setting that is neither settled nor begun, and that no unsettled one may settle."""
        for task in self.tasks:
            if task not in begun and not self.is_settled(task) and all(map(self.is_settled, self._before[task])):
                return task
        return None


class _Clock:
    """The time that a search has, and what it was spent on.

    Args:
        budget: seconds; None without a limit.
    """

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
        """Note how long a setting took."""
        self.longest = max(self.longest, monotonic() - self.begun[task])
