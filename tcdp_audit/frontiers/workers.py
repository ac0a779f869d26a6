"""Try settings one after another in this process, or in parallel in several processes that are started for it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from math import inf
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from traceback import extract_tb
from types import TracebackType
from typing import Any, Protocol, Self

from tcdp_audit.api import (
    Cancellation,
    Cancelled,
    Plugins,
    Policy,
    cancellable,
    checkpoint,
    hold_signals,
    leaving_nothing,
    open_session,
    read_policy,
)
from tcdp_audit.core.results.setting_trial import SettingTrial, VariedDemand
from tcdp_audit.frontiers.trial import Repairs, Task
from tcdp_audit.frontiers.varied import Variation
from tcdp_audit.plugin.engine import DataError, TcdpAuditError, UsageError

IN_PROCESS = "(in this process)"  # the distribution of plugins that were registered by a program
PAUSE = 0.1  # seconds between two questions whether to go on
PATIENCE = 10  # seconds that a process has to clean up

Report = SettingTrial | TcdpAuditError | str  # a text says where a defect is


class WorkerPool(Protocol):
    """Tries settings. It is a context manager."""

    can_break_off: bool  # whether a setting that is being tried can be given up

    @property
    def is_free(self) -> bool:
        """Whether another setting can be begun."""
        ...

    @property
    def is_busy(self) -> bool:
        """Whether some setting is being tried."""
        ...

    def begin(self, task: Task, lost: Mapping[str, float]) -> None:
        """Begin another setting, given the loss of each remedy under laxer ones, by its entry in a policy."""
        ...

    def finished(self, until: float | None = None) -> tuple[Task, SettingTrial] | None:
        """Wait for a finished trial, at most until a time of `time.monotonic` if it can be given up; then None."""
        ...

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End all workers."""
        ...


class SerialPool(WorkerPool):
    """One setting at a time, in this process."""

    can_break_off = False

    def __init__(self, repairs: Repairs, progress: Callable[[str, int, int], None] | None) -> None:
        self.repairs, self.progress = repairs, progress
        self._task: tuple[Task, Mapping[str, float]] | None = None

    @property
    def is_free(self) -> bool:
        """Whether another setting can be begun."""
        return self._task is None

    @property
    def is_busy(self) -> bool:
        """Whether one was begun."""
        return self._task is not None

    def begin(self, task: Task, lost: Mapping[str, float]) -> None:
        """Record the next setting."""
        self._task = task, lost

    def finished(self, until: float | None = None) -> tuple[Task, SettingTrial]:  # noqa: ARG002 - it cannot be given up
        """Try it."""
        begun, self._task = self._task, None
        assert begun is not None  # noqa: S101 - only asked for what was begun
        task, lost = begun
        return task, self.repairs.tried(task, lost, self.progress)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """There are no workers to end."""


@dataclass(frozen=True)
class Blueprint:
    """The input of another process that repairs the same release in the same way."""

    tables: Mapping[str, Any]  # the paths of release, original and population; of several tables a path for each name
    policy: str | Path | Mapping[str, Any]  # the policy's path, or its content
    policy_sha256: str  # its digest
    demands: tuple[VariedDemand, ...]  # what is varied
    positions: tuple[tuple[int, ...], ...]  # of its expectations
    plugins: tuple[bool, frozenset[str], frozenset[str] | None]  # whether external, which not, which only
    memory: int  # budget in bytes
    sha256: str | None  # digest of the release
    trusts_code: bool = False  # whether code next to the policy that it names may run
    examples: tuple[int, ...] = ()  # the records that are shown before and after

    @classmethod
    def of(cls, repairs: Repairs, policy: Any, memory: int) -> Blueprint:
        """The blueprint of a repair in this process.

        Args:
            repairs: the repair.
            policy: the policy as the caller gave it.
            memory: budget of one process.

        Raises:
            UsageError: another process could not be given a table, a plugin or the policy.
        """
        alone = "; several workers cannot be given it, so leave `workers` out"
        session = repairs.session
        if not session.is_as_read:
            raise UsageError(f"the release is seen at levels of hierarchies{alone}")
        for name, table in _given(session.given):
            if table is not None and not isinstance(table, str | Path):
                raise UsageError(f"the {name} is a table in memory{alone}")
        plugins, own = session.plugins, repairs.variation.policy
        for info in plugins.infos:
            if info.distribution == IN_PROCESS:
                raise UsageError(f"the plugin {info.name!r} was registered by this program{alone}")
        given = own.path if isinstance(policy, Policy) else policy
        if given is None:
            raise UsageError(f"the policy was made by this program{alone}")
        chosen = plugins.external, plugins.blocked, plugins.allowed
        demands, positions = repairs.variation.demands, repairs.variation.positions
        sha256, trusts, examples = repairs.sha256, own.trusts_code, repairs.examples
        return cls(session.given, given, own.sha256, demands, positions, chosen, memory, sha256, trusts, examples)

    def repairs(self) -> Repairs:
        """The inputs of a repair in another process.

        Raises:
            DataError: the policy is another one than it was.
        """
        external, blocked, allowed = self.plugins
        plugins = Plugins.load(external=external, blocked=blocked)
        plugins = plugins if allowed is None else plugins.only(allowed)
        policy = replace(read_policy(self.policy, plugins), trusts_code=self.trusts_code)
        if policy.sha256 != self.policy_sha256:
            raise DataError("the policy has changed while it was worked on; start again")
        variation = Variation(policy, self.demands, self.positions)
        release, original, population = (self.tables[name] for name in ("release", "original", "population"))
        session = open_session(
            release, policy, original, population, plugins=plugins, memory=self.memory, show_values=bool(self.examples)
        )
        return Repairs(session, variation, self.sha256, self.examples)


def _given(tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each table that was given, with what to call it."""
    for name, table in tables.items():
        if isinstance(table, Mapping):
            yield from ((f"table {one!r}", part) for one, part in table.items())
        else:
            yield name, table


class ProcessPool(WorkerPool):
    """Several settings at a time, each in a process of its own.

    Args:
        blueprint: the repair that each of them makes.
        number: how many there are at most. Each is started for a setting.
    """

    can_break_off = True  # its process is ended

    def __init__(self, blueprint: Blueprint, number: int) -> None:
        self.blueprint, self.number = blueprint, number
        self._processes: dict[Connection, BaseProcess] = {}
        self._tasks: dict[Connection, Task] = {}

    @property
    def is_free(self) -> bool:
        """Whether another setting can be begun."""
        return len(self._tasks) < self.number

    @property
    def is_busy(self) -> bool:
        """Whether some setting is being tried."""
        return bool(self._tasks)

    def begin(self, task: Task, lost: Mapping[str, float]) -> None:
        """Give it to a process that has nothing to do."""
        idle = next((one for one in self._processes if one not in self._tasks), None) or self._started()
        self._tasks[idle] = task
        idle.send((task, lost))

    def _started(self) -> Connection:
        context = get_context("spawn")  # a fork would share locks with the threads of this process
        here, there = context.Pipe()
        process = context.Process(target=serve_process, args=(there, self.blueprint), daemon=True)
        with hold_signals(
            [signal.SIGINT]
        ):  # starts it with the signal blocked: it prints no traceback when interrupted
            process.start()
        there.close()
        self._processes[here] = process
        return here

    def finished(self, until: float | None = None) -> tuple[Task, SettingTrial] | None:
        """Wait for the first that is finished; None where none is by then.

        Raises:
            TcdpAuditError: as the setting's own process did.
            DataError: a process has ended.
        """
        end = inf if until is None else until
        while not (ready := wait(list(self._tasks), max(min(end - monotonic(), PAUSE), 0))):
            checkpoint()
            if monotonic() >= end:
                return None
        (connection, *_) = (one for one in ready if isinstance(one, Connection))
        try:
            report: Report = connection.recv()
        except (EOFError, OSError):
            raise DataError(
                "a process that repaired the release has ended, as it does where the memory is used up; try again with "
                "one worker"
            ) from None
        if isinstance(report, TcdpAuditError):
            raise report
        if isinstance(report, str):
            raise RuntimeError(report)  # noqa: TRY004 - a defect
        return self._tasks.pop(connection), report

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End every process; one that is at work removes its files first."""
        for connection, process in self._processes.items():
            if connection in self._tasks:
                process.terminate()
            connection.close()  # a worker that waits for another setting ends by that
        for process in self._processes.values():
            process.join(PATIENCE)
            if process.is_alive():
                process.kill()


def serve_process(connection: Connection, blueprint: Blueprint) -> None:
    """Try what the starter sends until nothing more comes: the whole of another process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # blocked already, except on Windows; the starter ends this process
    cancellation = Cancellation()

    def end(_number: int, _frame: Any) -> None:
        cancellation.request()  # its threads
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    with suppress(KeyboardInterrupt, Cancelled), cancellable(cancellation), leaving_nothing():
        serve(connection, blueprint)


def serve(connection: Connection, blueprint: Blueprint) -> None:
    """Try every setting that arrives, and send back its trial."""
    with ExitStack() as stack:
        _serve(connection, blueprint, stack)


def _serve(connection: Connection, blueprint: Blueprint, stack: ExitStack) -> None:
    repairs: Repairs | None = None
    while True:
        try:
            task, lost = connection.recv()
        except (EOFError, OSError):
            return
        report: Report
        try:
            if repairs is None:
                repairs = blueprint.repairs()
                stack.callback(repairs.session.close)
            report = repairs.tried(task, lost)
        except TcdpAuditError as error:
            report = error
        except Exception as error:  # noqa: BLE001 - its text may hold a cell, and must not leave this process
            frame = extract_tb(error.__traceback__)[-1]
            report = f"{type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}"
        try:
            connection.send(report)
        except OSError:
            return  # the parent has ended
