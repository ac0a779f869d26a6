"""The auditor: policy and release in, outcomes out.

The table is read once into shards of codes. Every shard is grouped once per set of quasi-identifiers, every
sensitive attribute is counted once per grouping, and every check measures the classes. Summaries merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock
from types import MappingProxyType

from tcdp_audit.auditor.class_tasks import ClassTask
from tcdp_audit.auditor.expectations import Tasks
from tcdp_audit.auditor.matched import MatchedShard
from tcdp_audit.auditor.tasks import Measurements, Result
from tcdp_audit.check.table_view import TableView
from tcdp_audit.classes.grouping import Grouping, Shard
from tcdp_audit.classes.histogram import Histogram
from tcdp_audit.classes.shards import Plan, Progress, Shards, largest_shard, partition, plan, silent
from tcdp_audit.encoding.domain import Domain
from tcdp_audit.engines.base import BorrowedEngine, Engine
from tcdp_audit.errors import DataError
from tcdp_audit.frozen import FrozenDict
from tcdp_audit.outcome import Outcome
from tcdp_audit.policy import Policy
from tcdp_audit.release.release import Release
from tcdp_audit.release.structure import examine
from tcdp_audit.resources import budget, processors

PARTS = 8  # of a single shard whose classes overlap, for each processor


@dataclass(frozen=True)
class Options:
    """How to run an audit; none of it changes an answer.

    Args:
        memory: budget in bytes; None for three quarters of what is free.
        shards: a number of shards, instead of the one that suits the memory.
        show_values: name the worst classes by their cells. The evidence then is as confidential as the release.
        progress: told how far the audit is.
    """

    memory: int | None = None
    shards: int | None = None
    show_values: bool = False
    progress: Progress = silent


def evaluate(
    policy: Policy, engine: Engine, options: Options, companions: Mapping[str, Engine] = MappingProxyType({})
) -> tuple[Outcome, ...]:
    """Every outcome of a release under a policy: structure first, then the expectations in the policy's order.

    Args:
        policy: what the release must satisfy.
        engine: the release.
        options: how to run.
        companions: the further tables by their name in the policy: original, population, holdout.

    Raises:
        DataError: the release is empty or cannot be read.
        PolicyError: a hierarchy that the policy names is not one.
    """
    if not engine.records:
        raise DataError(f"{engine.name}: the table has no records; an empty release cannot be audited")
    release = Release(engine, policy, companions.get("original"))
    structural = tuple(examine(release, show_values=options.show_values))
    return structural + tuple(_Evaluation(release, options, companions).outcomes())


class _Evaluation:
    """The expectations of one audit."""

    def __init__(self, release: Release, options: Options, companions: Mapping[str, Engine]) -> None:
        self.release, self.options = release, options
        borrowed = FrozenDict({name: BorrowedEngine(engine) for name, engine in companions.items()})
        self.view = TableView(release.policy, BorrowedEngine(release.engine), borrowed)
        self.conventions = release.policy.conventions
        self.memory = budget(options.memory)
        self.wildcard = self.conventions.missing_quasi_identifier == "wildcard"

    def outcomes(self) -> Iterator[Outcome]:
        """One outcome per expectation and target."""
        if not self.release.quasi_identifiers:
            yield from (task.outcome(Measurements(self.view)) for task in Tasks(self.release, ()))
            return
        with self._partitioned() as shards:
            self.shards, self.tasks = shards, Tasks(self.release, shards)
            tasks = list(self.tasks)
            on_classes = [one for task in tasks for one in task.on_classes() if not one.obstacle]
            measurements = Measurements(self.view, self._run(on_classes))
            for task in tasks:
                yield task.outcome(measurements)

    def _partitioned(self) -> Shards:
        release = self.release
        unit = () if release.unit is None else (release.unit,)
        domains = [*release.quasi_identifiers, *release.sensitive, *unit]
        chosen = plan(release.engine.rows, domains, self.memory, processors())
        if self.options.shards is not None:
            chosen = Plan(self.options.shards, chosen.spill)
        by = [d for d in release.quasi_identifiers if not (self.wildcard and d.missing)]
        return partition(release.engine, domains, by, chosen, self.options.progress)

    # Measuring

    def _run(self, tasks: Sequence[ClassTask]) -> dict[int, Result]:
        """Every task over all shards, shards side by side."""
        if not tasks:
            return {}
        shards: list[list[Result]] = []
        with ThreadPoolExecutor(processors()) as pool:
            futures = [pool.submit(work) for work in self._work(tasks)]
            try:
                for done, future in enumerate(futures, 1):
                    shards.append(future.result())
                    self.options.progress("measuring", done, len(futures))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        by_task = zip(*shards, strict=True)
        return {id(task): _merged(task, results) for task, results in zip(tasks, by_task, strict=True)}

    def _work(self, tasks: Sequence[ClassTask]) -> Iterator[Callable[[], list[Result]]]:
        """What threads take in turn: a shard, or a part of the classes of one where there are few shards."""
        if not self.wildcard or not any(domain.missing for task in tasks for domain in task.quasi_identifiers):
            yield from (partial(self._measure, number, tasks) for number in range(self.shards.count))
            return
        parts = max(1, PARTS * processors() // self.shards.count)
        for number in range(self.shards.count):
            shard = _Kept(partial(self._matched, number, tasks))
            yield from (partial(self._measure_part, shard, (part, parts), len(tasks)) for part in range(parts))

    def _matched(self, number: int, tasks: Sequence[ClassTask]) -> MatchedShard | None:
        """A shard whose classes overlap; None if it has no records."""
        shard = self._counted(number)
        if shard is None:
            return None
        return MatchedShard(
            shard,
            tasks,
            self.release.unit,
            missing_is_a_value=self.conventions.missing_sensitive == "own_category",
            show_values=self.options.show_values,
            memory=self.memory,
            limit=4 * largest_shard(self.memory, processors()),
        )

    def _measure_part(self, kept: _Kept, part: tuple[int, int], tasks: int) -> list[Result]:
        """All tasks on a part of a shard's classes; the last part forgets the shard."""
        shard = kept.shard()
        try:
            return [None] * tasks if shard is None else shard.measure(part)
        finally:
            kept.done(part[1])

    def _counted(self, number: int) -> Shard | None:
        shard = self.shards.read(number)
        shard = self.tasks.counted(shard) if shard.rows else shard
        return shard if shard.rows else None

    def _measure(self, number: int, tasks: Sequence[ClassTask]) -> list[Result]:
        """All tasks on one shard, which is grouped once for each set of quasi-identifiers."""
        shard = self._counted(number)
        if shard is None:
            return [None] * len(tasks)
        view = _ShardView(shard, self.release.unit, self.conventions.missing_sensitive == "own_category")
        results: list[Result] = []
        for task in tasks:
            try:
                grouping, histogram = view.classes(task)
                results.append(task.measure(grouping, histogram, show_values=self.options.show_values))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
                results.append(error)
        return results


@dataclass
class _ShardView:
    """One shard, grouped and counted only once for all tasks that ask for the same."""

    shard: Shard
    unit: Domain | None
    missing_is_a_value: bool
    groupings: dict[tuple[str, ...], Grouping] = field(default_factory=dict)
    histograms: dict[tuple[tuple[str, ...], str], Histogram] = field(default_factory=dict)

    def classes(self, task: ClassTask) -> tuple[Grouping, Histogram | None]:
        """The equivalence classes that a task measures, and its attribute counted in them."""
        names = tuple(domain.attribute for domain in task.quasi_identifiers)
        if names not in self.groupings:
            self.groupings[names] = Grouping(self.shard, task.quasi_identifiers, self.unit)
        grouping, attribute = self.groupings[names], task.attribute
        if attribute is None:
            return grouping, None
        key = (names, attribute.attribute)
        if key not in self.histograms:
            counted = grouping.histogram(attribute.codes(self.shard), attribute.size + 1)
            self.histograms[key] = counted if self.missing_is_a_value else counted.without(attribute.size)
        return grouping, self.histograms[key]


class _Kept:
    """A shard that is read when its first part is asked for, and forgotten after its last."""

    def __init__(self, read: Callable[[], MatchedShard | None]) -> None:
        self.read, self.lock, self.parts_done = read, Lock(), 0

    def shard(self) -> MatchedShard | None:
        """The shard; several threads may ask."""
        with self.lock:
            return self._shard

    @cached_property
    def _shard(self) -> MatchedShard | None:
        return self.read()

    def done(self, parts: int) -> None:
        """Count a part that was measured, of so many."""
        with self.lock:
            self.parts_done += 1
            if self.parts_done == parts:
                self.__dict__.pop("_shard", None)


def _merged(task: ClassTask, results: Sequence[Result]) -> Result:
    """One task's results over all shards: the first error if there is one, None if no shard had a record."""
    errors = [result for result in results if isinstance(result, BaseException)]
    summaries = [result for result in results if result is not None and not isinstance(result, BaseException)]
    return errors[0] if errors else task.merge(summaries) if summaries else None
