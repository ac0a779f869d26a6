"""Settings are tried one after another in this process, or side by side in several that are started for it."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic
from traceback import extract_tb
from types import TracebackType
from typing import Any, Protocol, Self

from tcdp_audit.api import Plugins, Policy, hold_signals, leaving_nothing, read_policy
from tcdp_audit.core.results.setting_trial import SettingTrial, VariedDemand
from tcdp_audit.frontiers.trial import Repairs, Task
from tcdp_audit.frontiers.varied import Variation
from tcdp_audit.plugin.engine import DataError, TcdpAuditError, UsageError

IN_PROCESS = "(in this process)"  # the distribution of plugins that were registered by a program
PATIENCE = 10  # seconds that a process has to clean up

Report = SettingTrial | TcdpAuditError | str  # a text says where a defect is


class WorkerPool(Protocol):
    """Who tries settings."""

    @property
    def is_free(self) -> bool:
        """Whether another setting can be begun."""
        ...

    @property
    def is_busy(self) -> bool:
        """Whether some setting is being tried."""
        ...

    def begin(self, task: Task, lost: Mapping[str, float]) -> None:
        """Begin another one.

        Args:
            task: the setting.
            lost: what remedies lost under laxer ones, by their entries in a policy.
        """
        ...

    @property
    def can_break_off(self) -> bool:
        """Whether a setting that is being tried can be given up."""
        ...

    def finished(self, until: float | None = None) -> tuple[Task, SettingTrial] | None:
        """Wait for a finished trial.

        Args:
            until: when to stop waiting, by `time.monotonic`, where one can be given up. Then there is none.
        """
        ...

    def __enter__(self) -> Self:
        """Return the pool itself."""
        ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End all workers."""
        ...


class SerialPool:
    """One setting at a time, in this process.

    Args:
        repairs: what is repaired.
        progress: called with (step, done, in all).
    """

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
        """Note what is next."""
        self._task = task, lost

    def finished(self, until: float | None = None) -> tuple[Task, SettingTrial]:  # noqa: ARG002 - it cannot be given up
        """Try it."""
        begun, self._task = self._task, None
        assert begun is not None  # noqa: S101 - only asked for what was begun
        task, lost = begun
        return task, self.repairs.tried(task, lost, self.progress)

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """There are no workers to end."""


@dataclass(frozen=True)
class Blueprint:
    """What another process needs to repair the same release in the same way.

    Args:
        tables: the paths of release, original and population.
        policy: the policy's path, or its content.
        policy_sha256: its digest.
        demands: what is varied.
        positions: of its expectations.
        plugins: whether external ones are used, which are left out, and which may be used.
        memory: budget in bytes.
        sha256: digest of the release.
        trusts_code: whether code next to the policy runs that it names.
    """

    tables: Mapping[str, str | Path | None]
    policy: str | Path | Mapping[str, Any]
    policy_sha256: str
    demands: tuple[VariedDemand, ...]
    positions: tuple[tuple[int, ...], ...]
    plugins: tuple[bool, frozenset[str], frozenset[str] | None]
    memory: int
    sha256: str | None
    trusts_code: bool = False

    @classmethod
    def of(cls, repairs: Repairs, policy: Any, memory: int) -> Blueprint:
        """That of what is repaired here.

        Args:
            repairs: it.
            policy: what the caller gave for the policy.
            memory: budget of one process.

        Raises:
            UsageError: another process could not be given a table, a plugin or the policy.
        """
        alone = "; several workers cannot be given it, so leave `workers` out"
        for name, table in repairs.tables.items():
            if table is not None and not isinstance(table, str | Path):
                raise UsageError(f"the {name} is a table in memory{alone}")
        plugins, own = repairs.plugins, repairs.variation.policy
        for info in plugins.infos:
            if info.distribution == IN_PROCESS:
                raise UsageError(f"the plugin {info.name!r} was registered by this program{alone}")
        given = own.path if isinstance(policy, Policy) else policy
        if given is None:
            raise UsageError(f"the policy was made by this program{alone}")
        chosen = plugins.external, plugins.blocked, plugins.allowed
        variation = repairs.variation
        demands, positions = variation.demands, variation.positions
        return cls(
            repairs.tables, given, own.sha256, demands, positions, chosen, memory, repairs.sha256, own.trusts_code
        )

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
        return Repairs(self.tables, variation, plugins, self.memory, self.sha256)


class ProcessPool:
    """Several settings at a time, each in a process of its own.

    Args:
        blueprint: what each of them repairs.
        number: how many there are at most. Each is started when there is something for it.
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
        ):  # the process starts with it blocked: it would print where it was interrupted
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
        patience = None if until is None else max(until - monotonic(), 0)
        connection = next((one for one in wait(list(self._tasks), patience) if isinstance(one, Connection)), None)
        if connection is None:
            return None
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

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

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
    """The whole of another process: what its starter sends is tried, until nothing more comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # blocked already but on Windows; the starter hears it and ends this
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with leaving_nothing():
            serve(connection, blueprint)
    except KeyboardInterrupt:
        pass


def serve(connection: Connection, blueprint: Blueprint) -> None:
    """Try every setting that arrives, and send back its trial."""
    repairs: Repairs | None = None
    while True:
        try:
            task, lost = connection.recv()
        except (EOFError, OSError):
            return
        report: Report
        try:
            repairs = repairs or blueprint.repairs()
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


def _interrupt(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt
