"""The auditor: policy and release in, outcomes out.

The table is read once into shards of codes. Every shard is grouped once per set of quasi-identifiers, every
sensitive attribute is counted once per grouping, and every check measures the classes. Summaries merge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.check import Marginal
from tcdp_audit.classes import Grouping, Shard
from tcdp_audit.encoding import Domain
from tcdp_audit.engines.base import Engine
from tcdp_audit.errors import DataError
from tcdp_audit.histogram import Counts, Histogram
from tcdp_audit.outcome import Outcome
from tcdp_audit.policy import Expectation, Policy, Role
from tcdp_audit.release import Release
from tcdp_audit.resources import default_memory, processors
from tcdp_audit.shards import Plan, Progress, Shards, partition, plan, silent
from tcdp_audit.structure import examine
from tcdp_audit.tasks import Summaries, Task, conventions_of, first_of


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


def evaluate(policy: Policy, engine: Engine, options: Options) -> tuple[Outcome, ...]:
    """Every outcome of a release under a policy: structure first, then the expectations in the policy's order.

    Raises:
        DataError: the release is empty or cannot be read.
    """
    if not engine.records:
        raise DataError(f"{engine.name}: the table has no records; an empty release cannot be audited")
    release = Release(engine, policy)
    structural = tuple(examine(release))
    return structural + tuple(_Evaluation(release, options).outcomes())


class _Evaluation:
    """The expectations of one audit."""

    def __init__(self, release: Release, options: Options) -> None:
        self.release, self.options = release, options
        self.policy, self.conventions = release.policy, release.policy.conventions
        self.memory = options.memory or default_memory()
        self.wildcard = self.conventions.missing_quasi_identifier == "wildcard"
        self._marginals: dict[str, Marginal] = {}

    def outcomes(self) -> Iterator[Outcome]:
        """One outcome per expectation and attribute."""
        if not self.release.quasi_identifiers:
            tasks = [self._task(e, a) for e in self.policy.expectations for a in self._attributes(e)]
            yield from (task.outcome(None) for task in tasks)
            return
        with self._partitioned() as shards:
            self.shards = shards
            tasks = [self._task(e, a) for e in self.policy.expectations for a in self._attributes(e)]
            results = self._run([task for task in tasks if not task.obstacle])
            for task in tasks:
                yield task.outcome(results.get(id(task)))

    def _attributes(self, expectation: Expectation) -> list[str | None]:
        return expectation.check.attributes(expectation.parameters, self.policy.document)

    def _partitioned(self) -> Shards:
        release = self.release
        unit = () if release.unit is None else (release.unit,)
        domains = [*release.quasi_identifiers, *release.sensitive, *unit]
        chosen = plan(release.engine.records, domains, self.memory, processors())
        if self.options.shards is not None:
            chosen = Plan(self.options.shards, chosen.spill)
        by = [d for d in release.quasi_identifiers if not (self.wildcard and d.missing)]
        return partition(release.engine, domains, by, chosen, self.options.progress)

    def _task(self, expectation: Expectation, attribute: str | None) -> Task:
        domain = self.release.domains.get(attribute) if attribute is not None else None
        declaration = self.policy.attributes.get(attribute) if attribute is not None else None
        obstacle = self._obstacle(expectation, attribute, domain)
        return Task(
            expectation,
            domain,
            attribute,
            self._marginal(domain) if domain is not None and not obstacle else None,
            conventions_of(
                self.conventions,
                domain,
                declared=declaration is not None and declaration.order is not None,
                unit=self.policy.document.unit,
            ),
            obstacle,
            self._violation(domain),
        )

    def _obstacle(self, expectation: Expectation, attribute: str | None, domain: Domain | None) -> str:
        """Why an expectation cannot be evaluated, or nothing."""
        unit = self.policy.document.unit
        needed = [*self.policy.with_role(Role.QUASI_IDENTIFIER), attribute, unit]
        reason = first_of([self.release.obstacle(name) for name in needed if name is not None])
        if reason:
            return f"cannot be evaluated: {reason}"
        if self._suppressed_throughout:
            return "cannot be evaluated: every record is fully suppressed"
        ordered = expectation.check.scales(expectation.parameters) is not None
        if ordered and domain is not None and domain.missing and self.conventions.missing_sensitive == "own_category":
            return (
                f"cannot be evaluated: missing values of {attribute!r} have no place in its order; "
                "set `missing_sensitive: excluded` or remove them"
            )
        if domain is not None and not self._marginal(domain).total:
            return f"cannot be evaluated: column {attribute!r} has no value in any record"
        return ""

    def _violation(self, domain: Domain | None) -> str:
        """Why an expectation fails whatever is measured, or nothing: the conventions that say `fail`."""
        if self.conventions.missing_quasi_identifier == "fail":
            incomplete = [d for d in self.release.quasi_identifiers if d.missing]
            if incomplete:
                worst = max(incomplete, key=lambda d: d.missing)
                return f"{worst.missing:,} records have no value in the quasi-identifier {worst.attribute!r}"
        if self.conventions.missing_sensitive == "fail" and domain is not None and domain.missing:
            return f"{domain.missing:,} records have no value in the sensitive attribute {domain.attribute!r}"
        return ""

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

    def _marginal(self, domain: Domain) -> Marginal:
        """The reference distribution of a sensitive attribute, under the conventions that shape it."""
        if domain.attribute not in self._marginals:
            self._marginals[domain.attribute] = Marginal(self._weights(domain))
        return self._marginals[domain.attribute]

    def _weights(self, domain: Domain) -> Counts:
        exempt = self.conventions.suppressed == "exempt" and self._may_be_suppressed
        if self.release.unit is None and not exempt:
            counts = np.append(domain.counts, domain.missing)
        else:
            counts = np.zeros(domain.size + 1, dtype=np.int64)
            for shard in self.shards:
                counted = self._counted(shard)
                if len(counted[domain.attribute]):
                    grouping = self._grouping(counted, wildcard=False)
                    histogram = grouping.histogram(counted[domain.attribute], domain.size + 1)
                    np.add.at(counts, histogram.values, histogram.counts)
        return counts if self.conventions.missing_sensitive == "own_category" else counts[:-1]

    # Measuring

    def _grouping(self, shard: Shard, *, wildcard: bool) -> Grouping:
        return Grouping(shard, self.release.quasi_identifiers, self.release.unit, wildcard)

    def _run(self, tasks: Sequence[Task]) -> dict[int, Summaries | Exception]:
        """Every task over all shards, shards side by side."""
        if not tasks:
            return {}
        merged: dict[int, Summaries | Exception] = {}
        with ThreadPoolExecutor(processors()) as pool:
            futures = [pool.submit(self._measure, shard, tasks) for shard in range(self.shards.count)]
            try:
                for done, future in enumerate(futures, 1):
                    for task, result in zip(tasks, future.result(), strict=True):
                        merged[id(task)] = _merged(task, merged.get(id(task)), result)
                    self.options.progress("measuring", done, len(futures))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return {key: result for key, result in merged.items() if result is not None}

    def _measure(self, number: int, tasks: Sequence[Task]) -> list[Summaries | Exception | None]:
        """All tasks on one shard, which is grouped once."""
        shard = self.shards.read(number)
        shard = self._counted(shard) if shard else shard
        if not shard or not len(next(iter(shard.values()))):
            return [None] * len(tasks)
        grouping = self._grouping(shard, wildcard=self.wildcard)
        histograms: dict[str | None, Histogram | None] = {None: None}
        results: list[Summaries | Exception | None] = []
        for task in tasks:
            try:
                if task.attribute_name not in histograms:
                    histograms[task.attribute_name] = self._histogram(grouping, shard, task)
                histogram = histograms[task.attribute_name]
                results.append(task.measure(grouping, histogram, show_values=self.options.show_values))
            except Exception as error:  # noqa: BLE001 - a check that raises must not take the others down
                results.append(error)
        return results

    def _histogram(self, grouping: Grouping, shard: Shard, task: Task) -> Histogram:
        assert task.attribute is not None  # noqa: S101 - a task without its attribute has an obstacle and is not run
        domain = task.attribute
        counted = grouping.histogram(shard[domain.attribute], domain.size + 1)
        return counted if self.conventions.missing_sensitive == "own_category" else counted.without(domain.size)


def _merged(
    task: Task, before: Summaries | Exception | None, result: Summaries | Exception | None
) -> Summaries | Exception | None:
    """Results of one task so far; an error stays an error."""
    if isinstance(before, Exception) or result is None:
        return before
    if before is None or isinstance(result, Exception):
        return result
    return task.merge(before, result)


def _all_in(shard: Mapping[str, NDArray[np.int64]], domains: Sequence[Domain]) -> NDArray[np.bool_]:
    """Which records have a suppressed cell in every one of some attributes."""
    inside = (np.isin(shard[d.attribute], list(d.suppressed)) for d in domains)
    return reduce(np.logical_and, inside)
