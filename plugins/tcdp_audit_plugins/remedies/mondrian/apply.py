"""Mondrian: its parameters, and the remedy from a view to one label for each class, by several strategies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import Lock
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import ThreadPool
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.remedy import (
    Attribute,
    MergedDemands,
    NewColumn,
    Progress,
    RemedyError,
    RemedyParameters,
    RemedyView,
    Treatment,
)
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.recoding import is_ranged, recode
from tcdp_audit_plugins.remedies._shared.scope import only_by_size
from tcdp_audit_plugins.remedies._shared.search import (
    ClassSize,
    proposals_of_size,
    refused_as_one_class,
    step_of_size,
    treatment_of_size,
)
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, HierarchyAxis, OrderedAxis
from tcdp_audit_plugins.remedies.mondrian.partition import STRATEGIES, Partitioning, Space, Strategy, partition_table
from tcdp_audit_plugins.remedies.mondrian.rank_ranges import DistinctRows, Indices, Integers, Mask

SIDE_BY_SIDE = 2  # strategies at a time, where they take no more memory than one on every record would


class MondrianParameters(RemedyParameters):
    """Parameters of `mondrian`."""

    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1, description="The quasi-identifiers to generalise; without it, all. Others stay as they are."
        ),
    ] = None
    k: ClassSize = None
    weights: Annotated[
        dict[Text, Annotated[Exact, Field(gt=0)]] | None,
        Field(
            min_length=1, description="The relative weight of the detail of an attribute: {age: 2}; 1 where not named."
        ),
    ] = None


def faults(parameters: MondrianParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    quasi_identifiers = {name for name, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER}
    for field in ("attributes", "weights"):
        for name in getattr(parameters, field) or ():
            if name not in quasi_identifiers:
                yield field, f"{name!r} is no quasi-identifier of the policy"
            elif field == "weights" and name not in (parameters.attributes or quasi_identifiers):
                yield field, f"{name!r} is not among `attributes`, so that its weight has no use"


def why_not_applicable(view: RemedyView, parameters: MondrianParameters | None, outcome: Outcome) -> str:  # noqa: ARG001
    """Say why cutting the records into classes cannot help a failing demand, or nothing."""
    return only_by_size(view, outcome)


class Tally:
    """The rows that all strategies are done with.

    Args:
        progress: called with (step, done, in all), by one thread at a time.
        step: what the rows are gone through for.
        total: how many rows there are, each counted once for every strategy.
    """

    def __init__(self, progress: Progress, step: str, total: int) -> None:
        self._progress, self._step, self._total = progress, step, total
        self._done, self._lock = 0, Lock()

    def add(self, rows: int) -> None:
        """Count some more rows as done."""
        with self._lock:
            self._done += rows
            self._progress(self._step, self._done, self._total)


def cut(view: RemedyView, parameters: MondrianParameters) -> Treatment:
    """Cut the table into classes that keep every demand, and give each one label in every quasi-identifier.

    Raises:
        RemedyError: nothing is demanded of a class, or the classes to start with do not keep the demands already.

    Cost: a grouping of the records, and that of `partition_table` on their distinct rows for each strategy.
    """
    return treatment_of_size(view, parameters.k, partial(_of_size, view, parameters))


def _of_size(view: RemedyView, parameters: MondrianParameters, k: int | None) -> Treatment:
    task = Task(view, parameters.model_copy(update={"k": k}), DistinctRows.of(view))
    task.require_attainable()
    partitionings = task.partitionings()
    penalties = {name: penalty for name, (_, penalty) in partitionings.items()}
    strategy = min(penalties, key=penalties.__getitem__)
    best = partitionings[strategy][0]
    return Treatment(
        {one.name: task.recoded(one, best) for one in task.attributes},
        notes={
            "classes": best.count,
            "levels": best.levels,
            "strategy": strategy,
            "penalties": penalties,
        },
    )


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a demand on classes fails, or one that larger classes keep."""
    if view.failing_on_classes(outcomes):
        yield {}
        return
    yield from proposals_of_size(view, outcomes, [({}, partial(_of_size, view, MondrianParameters()))])


def axis_of(attribute: Attribute) -> Axis:
    """The dimension of an attribute: its hierarchy where it is nominal and has one, else the order of its values."""
    ranged = is_ranged(attribute)
    if ranged or attribute.hierarchy is None:
        return OrderedAxis(attribute, is_set=not ranged)
    return HierarchyAxis(attribute, attribute.hierarchy)


@dataclass(frozen=True)
class Task:
    """A release to cut."""

    view: RemedyView
    parameters: MondrianParameters
    rows: DistinctRows  # its records, those that no cut can part as one row

    @cached_property
    def attributes(self) -> list[Attribute]:
        """The quasi-identifiers to generalise, coded by row."""
        return [one for one in self.rows.attributes if self._is_chosen(one)]

    def _is_chosen(self, attribute: Attribute) -> bool:
        return self.parameters.attributes is None or attribute.name in self.parameters.attributes

    @cached_property
    def space(self) -> Space:
        """Their dimensions, and what every class must keep."""
        weights = self.parameters.weights or {}
        return Space(
            axes=[axis_of(one) for one in self.attributes],
            times=self.rows.counted.each.astype(np.float64),
            weights=[float(weights.get(one.name, 1)) for one in self.attributes],
            keep=self._keep,
            least=self._demands.least_size,
        )

    def _keep(self, classes: Integers, count: int, rows: Indices | None = None) -> Mask:
        return self._demands.satisfied_by(classes, count, chosen=rows)

    @cached_property
    def roots(self) -> Integers:
        """The classes to start with: those of the quasi-identifiers that stay as they are. Shape (rows,)."""
        roots = np.zeros(self.rows.counted.rows, dtype=np.int64)
        others = [one for one in self.view.quasi_identifiers if not self._is_chosen(one)]
        if others:
            roots[self.rows.of_record] = self.view.classes(others)[0]
        return roots

    @cached_property
    def _demands(self) -> MergedDemands:
        return MergedDemands(
            self.view.demands.of_classes(self.parameters.k), self.rows.of_record, self.rows.counted.rows
        )

    def partitionings(self) -> Mapping[str, tuple[Partitioning, float]]:
        """Partition the table by each strategy, with its certainty penalty; some strategies in parallel."""
        step = step_of_size("cutting partitions", self.parameters.k)
        tally = Tally(self.view.progress, step, len(self.roots) * len(STRATEGIES))

        def partitioned(strategy: Strategy) -> tuple[Partitioning, float]:
            partitioning = partition_table(self.space, self.roots, strategy, tally.add)
            return partitioning, self.space.penalty(partitioning.classes)

        with ThreadPool(min(SIDE_BY_SIDE, max(self.view.records // len(self.roots), 1))) as pool:
            return dict(zip(STRATEGIES, pool.map(partitioned, STRATEGIES.values()), strict=True))

    def recoded(self, attribute: Attribute, partitioning: Partitioning) -> NewColumn:
        """A quasi-identifier with one label for each class, record by record."""
        column = recode(attribute, partitioning.classes, partitioning.count, self.view.suppressed_token)
        return replace(column, codes=column.codes[self.rows.of_record])

    def require_attainable(self) -> None:
        """Raise a RemedyError where the classes to start with are not allowed, or any class is."""
        if not self.view.demands and self.parameters.k is None:
            raise RemedyError("the policy demands nothing of a class, so that any would do; give `k`")
        if failing := int((~self._roots_allowed).sum()):
            raise RemedyError(self._refusal(failing, len(self._roots_allowed)))

    @property
    def is_attainable(self) -> bool:
        """Say whether the classes to start with are allowed."""
        return bool(self._roots_allowed.all())

    @cached_property
    def _roots_allowed(self) -> Mask:
        return self._keep(self.roots, int(self.roots.max()) + 1)

    def _refusal(self, failing: int, count: int) -> str:
        demands, k = self._demands.failed(self.roots, count), self.parameters.k or 1
        if count == 1:
            most = f"; the largest k is {self.view.records:,}, all records" if k > self.view.records else ""
            return (
                f"no partition of the table keeps the policy: {refused_as_one_class(demands, self.view.demands)}{most}"
            )
        return (
            f"{failing:,} of the {count:,} classes of the quasi-identifiers that are not among `attributes` do not "
            f"keep {' and '.join(demands)}; add some of them to `attributes`, or leave it out"
        )
