"""The auditor: policy and release in, outcomes out.

The table is read once into shards of codes. Every shard is grouped once per set of quasi-identifiers, every
sensitive attribute is counted once per grouping, and every check measures the classes. Summaries merge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType

from tcdp_audit.check import TableCheck
from tcdp_audit.classes import Grouping, Shard
from tcdp_audit.encoding import Domain
from tcdp_audit.engines.base import Engine
from tcdp_audit.errors import DataError
from tcdp_audit.expectations import Tasks
from tcdp_audit.histogram import Histogram
from tcdp_audit.outcome import Outcome
from tcdp_audit.policy import Policy
from tcdp_audit.release import Release
from tcdp_audit.resources import default_memory, processors
from tcdp_audit.shards import Plan, Progress, Shards, partition, plan, silent
from tcdp_audit.structure import examine
from tcdp_audit.table_view import TableView
from tcdp_audit.tasks import Summaries, Task


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
        self.view = TableView(release.policy, release.engine, companions)
        self.conventions = release.policy.conventions
        self.memory = options.memory or default_memory()
        self.wildcard = self.conventions.missing_quasi_identifier == "wildcard"

    def outcomes(self) -> Iterator[Outcome]:
        """One outcome per expectation and target."""
        if not self.release.quasi_identifiers:
            yield from (task.outcome(None) for task in Tasks(self.release, ()))
            return
        with self._partitioned() as shards:
            self.shards, self.tasks = shards, Tasks(self.release, shards)
            tasks = list(self.tasks)
            results = self._run([task for task in tasks if not task.obstacle and not _is_of_table(task)])
            for task in tasks:
                yield task.found(self.view) if _is_of_table(task) else task.outcome(results.get(id(task)))

    def _partitioned(self) -> Shards:
        release = self.release
        unit = () if release.unit is None else (release.unit,)
        domains = [*release.quasi_identifiers, *release.sensitive, *unit]
        chosen = plan(release.engine.records, domains, self.memory, processors())
        if self.options.shards is not None:
            chosen = Plan(self.options.shards, chosen.spill)
        by = [d for d in release.quasi_identifiers if not (self.wildcard and d.missing)]
        return partition(release.engine, domains, by, chosen, self.options.progress)

    # Measuring

    def _run(self, tasks: Sequence[Task]) -> dict[int, Summaries | Exception | None]:
        """Every task over all shards, shards side by side."""
        if not tasks:
            return {}
        shards: list[list[Summaries | Exception | None]] = []
        with ThreadPoolExecutor(processors()) as pool:
            futures = [pool.submit(self._measure, shard, tasks) for shard in range(self.shards.count)]
            try:
                for done, future in enumerate(futures, 1):
                    shards.append(future.result())
                    self.options.progress("measuring", done, len(futures))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        by_task = zip(*shards, strict=True)
        return {id(task): _merged(task, results) for task, results in zip(tasks, by_task, strict=True)}

    def _measure(self, number: int, tasks: Sequence[Task]) -> list[Summaries | Exception | None]:
        """All tasks on one shard, which is grouped once for each set of quasi-identifiers."""
        shard = self.shards.read(number)
        shard = self.tasks.counted(shard) if shard else shard
        if not shard or not len(next(iter(shard.values()))):
            return [None] * len(tasks)
        view = _ShardView(shard, self.release.unit, self.wildcard, self.conventions.missing_sensitive == "own_category")
        results: list[Summaries | Exception | None] = []
        for task in tasks:
            try:
                grouping, histogram = view.classes(task)
                results.append(task.measure(grouping, histogram, show_values=self.options.show_values))
            except Exception as error:  # noqa: BLE001 - a check that raises must not take the others down
                results.append(error)
        return results


@dataclass
class _ShardView:
    """One shard, grouped and counted only once for all tasks that ask for the same."""

    shard: Shard
    unit: Domain | None
    wildcard: bool
    missing_is_a_value: bool
    groupings: dict[tuple[str, ...], Grouping] = field(default_factory=dict)
    histograms: dict[tuple[tuple[str, ...], str], Histogram] = field(default_factory=dict)

    def classes(self, task: Task) -> tuple[Grouping, Histogram | None]:
        """The equivalence classes that a task measures, and its attribute counted in them."""
        names = tuple(domain.attribute for domain in task.quasi_identifiers)
        if names not in self.groupings:
            self.groupings[names] = Grouping(self.shard, task.quasi_identifiers, self.unit, self.wildcard)
        grouping, attribute = self.groupings[names], task.attribute
        if attribute is None:
            return grouping, None
        key = (names, attribute.attribute)
        if key not in self.histograms:
            counted = grouping.histogram(attribute.codes(self.shard), attribute.size + 1)
            self.histograms[key] = counted if self.missing_is_a_value else counted.without(attribute.size)
        return grouping, self.histograms[key]


def _is_of_table(task: Task) -> bool:
    return isinstance(task.expectation.check, TableCheck)


def _merged(task: Task, results: Sequence[Summaries | Exception | None]) -> Summaries | Exception | None:
    """One task's results over all shards: the first error if there is one, None if no shard had a record."""
    errors = [result for result in results if isinstance(result, Exception)]
    found = [result for result in results if result is not None and not isinstance(result, Exception)]
    return errors[0] if errors else task.merge(found) if found else None
