"""The auditor: policy and release in, outcomes out.

The table is read once into shards of codes. Every shard is grouped once per set of quasi-identifiers, every
sensitive attribute is counted once per grouping, and every check measures the classes. Summaries merge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.check import Marginal, TableCheck, Target
from tcdp_audit.classes import Grouping, Shard
from tcdp_audit.encoding import Domain
from tcdp_audit.engines.base import Engine
from tcdp_audit.errors import CheckError, DataError
from tcdp_audit.histogram import Histogram
from tcdp_audit.joint import count_codes, joint_domain
from tcdp_audit.outcome import Outcome
from tcdp_audit.policy import Expectation, Policy, Role
from tcdp_audit.reference import marginal_as_declared, marginal_of_original, marginal_of_release
from tcdp_audit.release import Release
from tcdp_audit.resources import default_memory, processors
from tcdp_audit.shards import Plan, Progress, Shards, partition, plan, silent
from tcdp_audit.structure import examine
from tcdp_audit.table_view import TableView
from tcdp_audit.tasks import Summaries, Task, conventions_of


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
        self.policy, self.conventions = release.policy, release.policy.conventions
        self.memory = options.memory or default_memory()
        self.wildcard = self.conventions.missing_quasi_identifier == "wildcard"
        self._attributes: dict[tuple[str, ...], Domain] = {}
        self._marginals: dict[tuple[str, ...], Marginal] = {}

    def outcomes(self) -> Iterator[Outcome]:
        """One outcome per expectation and target."""
        if not self.release.quasi_identifiers:
            yield from (task.outcome(None) for task in self._tasks())
            return
        with self._partitioned() as shards:
            self.shards = shards
            tasks = list(self._tasks())
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

    # What each expectation becomes

    def _tasks(self) -> Iterator[Task]:
        for expectation in self.policy.expectations:
            for target in expectation.check.targets(expectation.parameters, self.policy.document):
                yield self._task(expectation, target)

    def _task(self, expectation: Expectation, target: Target) -> Task:
        task = Task(
            expectation,
            target,
            conventions=conventions_of(
                self.conventions,
                sensitive=bool(target.attributes),
                declared=any(self.policy.attributes[name].order is not None for name in target.attributes),
                unit=self.policy.document.unit,
            ),
            obstacle=self._obstacle(expectation, target),
            violation=self._violation(target),
        )
        if task.obstacle:
            return task
        known = tuple(self.release.domains[name] for name in target.known)
        try:
            attribute = self._attribute(target.attributes)
            return replace(
                task,
                quasi_identifiers=(*self.release.quasi_identifiers, *known),
                attribute=attribute,
                marginal=None if attribute is None else self._marginal(target.attributes, attribute),
                tree=None if attribute is None else self.release.tree(attribute),
                records=self._records,
            )
        except CheckError as error:
            return replace(task, obstacle=f"cannot be evaluated: {error}")

    def _obstacle(self, expectation: Expectation, target: Target) -> str:
        """Why an expectation cannot be evaluated, or nothing."""
        unit = self.policy.document.unit
        needed = [*self.policy.with_role(Role.QUASI_IDENTIFIER), *target.attributes, *target.known, unit]
        reasons = (self.release.obstacle(name) for name in needed if name is not None)
        reason = next((reason for reason in reasons if reason), "") or self._unordered(expectation, target)
        if not reason and expectation.check.needs_hierarchy(expectation.parameters):
            unknown = [name for name in target.attributes if name in self.release.unknown_labels]
            reason = f"the hierarchy of {unknown[0]!r} does not know all its values" if unknown else ""
        if not reason and self._suppressed_throughout:
            reason = "every record is fully suppressed"
        return f"cannot be evaluated: {reason}" if reason else ""

    def _unordered(self, expectation: Expectation, target: Target) -> str:
        """Why missing values, counted as a value, have no place in a measure of rank or difference."""
        if self.conventions.missing_sensitive != "own_category":
            return ""
        restricted = expectation.check.scales(expectation.parameters) is not None
        if not restricted and not expectation.check.needs_hierarchy(expectation.parameters):
            return ""
        missing = [name for name in target.attributes if self.release.domains[name].missing]
        return (
            f"missing values of {missing[0]!r} have no place in its order; set `missing_sensitive: excluded`"
            if missing
            else ""
        )

    def _violation(self, target: Target) -> str:
        """Why an expectation fails whatever is measured, or nothing: the conventions that say `fail`."""
        if self.conventions.missing_quasi_identifier == "fail":
            incomplete = [d for d in self.release.quasi_identifiers if d.missing]
            if incomplete:
                worst = max(incomplete, key=lambda d: d.missing)
                return f"{worst.missing:,} records have no value in the quasi-identifier {worst.attribute!r}"
        if self.conventions.missing_sensitive == "fail":
            for name in target.attributes:
                domain = self.release.domains.get(name)
                if domain is not None and domain.missing:
                    return f"{domain.missing:,} records have no value in the sensitive attribute {name!r}"
        return ""

    def _attribute(self, names: tuple[str, ...]) -> Domain | None:
        """The domain of an attribute, or of several read together."""
        if len(names) < 2:
            return self.release.domains[names[0]] if names else None
        if names not in self._attributes:
            parts = [self.release.domains[name] for name in names]
            original = [self._original(names)] if self.conventions.reference == "original" else []
            self._attributes[names] = joint_domain(" × ".join(names), parts, self.shards, *original)
        return self._attributes[names]

    def _original(self, names: Sequence[str]) -> list[Shard]:
        """The original's records, coded as the release's are."""
        original, coded = self.release.original, self.release.original_domains
        if original is None:
            raise CheckError("the reference is the original, and no original is given")
        lacking = [name for name in names if name not in coded]
        if lacking:
            raise CheckError(f"the original has no column {lacking[0]!r}")
        return list(original.batches([coded[name] for name in names]))

    def _marginal(self, names: tuple[str, ...], attribute: Domain) -> Marginal:
        """The reference distribution of an attribute, under the conventions that shape it."""
        if names not in self._marginals:
            marginal = self._reference(names, attribute)
            if not marginal.total:
                raise CheckError(f"column {attribute.attribute!r} has no value in any record")
            self._marginals[names] = marginal
        return self._marginals[names]

    def _reference(self, names: tuple[str, ...], attribute: Domain) -> Marginal:
        if self.conventions.reference == "declared":
            return marginal_as_declared(attribute, self.policy)
        if self.conventions.reference == "original":
            return marginal_of_original(attribute, count_codes(attribute, self._original(names)), self.policy)
        exempt = self.conventions.suppressed == "exempt" and self._may_be_suppressed
        counted = self._counted_shards() if exempt or self.release.unit is not None else None
        return marginal_of_release(attribute, self.policy, counted, self._ungeneralised)

    # Conventions that look at records before they are grouped

    @cached_property
    def _may_be_suppressed(self) -> bool:
        return all(domain.suppressed for domain in self.release.quasi_identifiers)

    @cached_property
    def _suppressed_throughout(self) -> bool:
        if not self._may_be_suppressed or not self.release.quasi_identifiers:
            return False
        return all(_all_in(shard, self.release.quasi_identifiers).all() for shard in self.shards)

    def _counted(self, shard: Shard) -> Shard:
        """A shard without the records that the policy exempts."""
        if self.conventions.suppressed == "counted" or not self._may_be_suppressed:
            return shard
        keep = ~_all_in(shard, [*self.release.quasi_identifiers, *self.release.sensitive])
        return {attribute: codes[keep] for attribute, codes in shard.items()}

    @cached_property
    def _records(self) -> int:
        """Records of the release that are counted; entities, where the policy names a unit."""
        unit = self.release.unit
        if unit is not None:
            return unit.size + (unit.missing > 0)  # records without an entity are one entity together
        if self.conventions.suppressed == "exempt" and self._may_be_suppressed:
            return sum(len(next(iter(shard.values()))) for shard in self._counted_shards())
        return self.release.engine.records

    def _counted_shards(self) -> Iterator[Shard]:
        for shard in self.shards:
            counted = self._counted(shard)
            if len(next(iter(counted.values()))):
                yield counted

    # Measuring

    def _ungeneralised(self, shard: Shard) -> Grouping:
        """A shard grouped without wildcards."""
        return Grouping(shard, self.release.quasi_identifiers, self.release.unit)

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
        shard = self._counted(shard) if shard else shard
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


def _all_in(shard: Mapping[str, NDArray[np.int64]], domains: Sequence[Domain]) -> NDArray[np.bool_]:
    """Which records have a suppressed cell in every one of some attributes."""
    inside = (np.isin(shard[d.attribute], list(d.suppressed)) for d in domains)
    return reduce(np.logical_and, inside)
