"""The class expectations of a policy, applied to proposed equivalence classes.

A remedy proposes classes as one number per record and asks which of them satisfy the demands. The auditor's tasks,
references and exact comparisons decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.auditor.class_tasks import ClassTask, only_on_classes
from tcdp_audit.core.auditor.expectations import Tasks
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Comparison, Severity
from tcdp_audit.core.check.class_check import ClassCheck
from tcdp_audit.core.check.demands import required_class_size
from tcdp_audit.core.check.evidence import counts_in_classes, marginal_of_release
from tcdp_audit.core.check.threshold import Parameters, Threshold
from tcdp_audit.core.classes.grouping import Grouping
from tcdp_audit.core.classes.histogram import Histogram
from tcdp_audit.core.encoding.counted import CountedCodes, ShardInMemory
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.release import Release

CLASS = "\0class"  # no column of a table has this name


class ClassSizeParameters(Parameters):
    """The size that a demand on the table needs every class to have."""

    k: int | None = None


def with_class_sizes(policy: Policy) -> Policy:
    """A policy whose demands on the table are demands on the size of classes as well, where they need one.

    A highest risk of at most 0.2 needs classes of 5. The size is judged by the auditor, as k-anonymity is: in units,
    and by the conventions of the policy. The demands themselves stay.
    """
    sizes = [
        _as_class_size(one, k, against)
        for one in policy.expectations
        if not one.check.on_classes and one.parameters.severity is Severity.ERROR
        for against, k in _needed(one, policy.document)
    ]
    return replace(policy, expectations=(*policy.expectations, *sizes)) if sizes else policy


def _needed(one: Expectation, document: PolicyDocument) -> Iterator[tuple[str | None, int]]:
    """The class size that an expectation needs, where it needs one; in each declared scenario, with its name."""
    for name, own in (one.check.parts(one.parameters, document) or {"": document}).items():
        k = required_class_size(replace(one, parameters=one.parameters.in_scenario(own)), own)
        if k is not None:
            yield name if name in (document.scenarios or {}) else None, k


def _as_class_size(one: Expectation, k: int, against: str | None) -> Expectation:
    """The class size that an expectation needs, as one on classes."""
    check, known_rows = one.check, one.parameters.known_rows
    size = ClassCheck[ClassSizeParameters](
        name=check.name,
        title=f"{check.title} (as a class size)",
        guide=check.guide,
        disclosure_type=check.disclosure_type,
        parameters=ClassSizeParameters,
        thresholds=(Threshold("k", Comparison.AT_LEAST, lambda classes, _: classes.size, "class size", counts=True),),
        monotone=lambda _: True,  # a union is no smaller than its parts
    )
    return replace(
        one,
        check=size,
        parameters=ClassSizeParameters(k=k, known_rows=known_rows, against=against, knows=one.parameters.knows),
    )


@dataclass(frozen=True)
class Demands:
    """The demands on every equivalence class of a release.

    Only expectations that apply to a single class are included: those with a threshold, of error severity, and the
    class sizes that others need. An attack
    with a limited share of victims counts as a demand that no class be a victim, unless the table as one class is a
    victim. An expectation that no grouping can fail is no demand. The audit of the treated release checks all others.

    Args:
        release: the table under its policy.
        columns: its sensitive attributes and its entity column as codes, in the table's order.
        retained_records: the retained records, bool, shape (records,); distributions are those of these records.
        share: factor applied to upper thresholds, from 0 to 1.
        k: the least number of records in a class, in addition to the policy's demands.
    """

    release: Release
    columns: Mapping[str, Codes]
    retained_records: NDArray[np.bool_] | None = None
    share: Fraction = Fraction(1)
    k: int = 1

    @cached_property
    def shard(self) -> Mapping[str, Codes]:
        """The columns of the retained records."""
        if self.retained_records is None:
            return self.columns
        return {name: codes[self.retained_records] for name, codes in self.columns.items()}

    @cached_property
    def tasks(self) -> Sequence[ClassTask]:
        """The included expectations, with the distributions of the retained records.

        Raises:
            CheckError: one of them cannot be evaluated.
        """
        every = Tasks(self.release, ShardInMemory(CountedCodes(self.shard)), self.retained_records is None)
        tasks = [task for task in only_on_classes(every) if _is_demand(task)]
        obstacles = [task.obstacle for task in tasks if task.obstacle]
        if obstacles:
            raise CheckError(obstacles[0])
        failable = (task for task in tasks if task.can_fail)
        retained = [one for one in failable if one.check.judges_each_class or not self._is_victim(one)]
        return [_stricter(one, self.share) for one in retained]

    def _is_victim(self, task: ClassTask) -> bool:
        """Whether an attack succeeds on the table as one class, so that no grouping can prevent it."""
        whole = np.zeros(len(next(iter(self.shard.values()))), dtype=np.int64)
        return bool(self.failing(task, {**self.shard, CLASS: whole}, 1)[0])

    @property
    def _by_class(self) -> bool:
        """Whether distributions depend on the classes: an entity counts once per class and value."""
        return self.release.unit is not None and self.release.policy.conventions.reference == "release"

    def __bool__(self) -> bool:
        """Whether there is any demand on classes."""
        return bool(self.tasks) or self.k > 1

    @property
    def monotone(self) -> bool:
        """Whether the union of classes that satisfy every demand always satisfies them too."""
        return all(_is_monotone(task, self.release.unit) for task in self.tasks)

    def without(self, removed: NDArray[np.bool_]) -> Demands:
        """The demands on the table without some records, whose distributions may differ."""
        retained = ~removed if self.retained_records is None else self.retained_records & ~removed
        return replace(self, retained_records=None if retained.all() else retained)

    def of_classes(self, k: int | None) -> Demands:
        """The demands with a least class size of `k`; the same object for None."""
        return self if k is None else replace(self, k=k)

    def stricter(self, share: Fraction) -> Demands:
        """The demands with all upper thresholds on figures of a class multiplied by `share`.

        Lower thresholds and those on a share of victims do not change.
        """
        return replace(self, share=self.share * share)

    def satisfied_by(
        self, classes: NDArray[np.int64], count: int, records: NDArray[np.intp] | None = None
    ) -> NDArray[np.bool_]:
        """Whether each class, judged separately and exactly, satisfies every demand.

        Args:
            classes: class number of each record, from 0 to count - 1, in the table's order without removed records.
            count: the number of classes; a class without records does not satisfy the demands.
            records: positions of the records that `classes` numbers, ascending; None for all. If an entity counts once
                per class and value, the reference is that of these classes if all are known, and otherwise that of the
                unchanged release.

        Returns:
            bool, shape (count,).

        Cost: a sort of the records for each sensitive attribute with a demand.
        """
        shard: dict[str, NDArray[np.int64]] = {CLASS: classes}
        for name, codes in self.shard.items():
            shard[name] = codes if records is None else codes[records]
        failing = np.bincount(classes, minlength=count) < max(self.k, 1)
        for task in self.tasks:
            failing |= self.failing(task, shard, count, whole=records is None)
        return ~failing

    def failing(
        self, task: ClassTask, shard: Mapping[str, NDArray[np.int64]], count: int, *, whole: bool = True
    ) -> NDArray[np.bool_]:
        """Whether each class fails one expectation.

        Args:
            task: the expectation on one attribute.
            shard: the columns, with the number of each record's class in `CLASS`.
            count: the number of classes.
            whole: whether these are all retained records, so that the reference is the mixture of their classes.

        Returns:
            bool, shape (count,).
        """
        task, grouping, histogram = self._grouped(task, shard, count, whole=whole)
        fails = task.failing(grouping.size, histogram)
        unsound = np.zeros(count, dtype=bool)
        unsound[grouping.codes()[0][fails]] = True
        return unsound

    def _grouped(
        self, task: ClassTask, shard: Mapping[str, NDArray[np.int64]], count: int, *, whole: bool
    ) -> tuple[ClassTask, Grouping, Histogram | None]:
        """The expectation with its reference, its classes, and their histogram; see `failing`."""
        number = Domain(CLASS, np.arange(count), np.ones(count, np.int64), 0, np.arange(count))
        known = task.quasi_identifiers[
            len(self.release.quasi_identifiers) :
        ]  # sensitive attributes that an intruder knows
        grouping = Grouping(CountedCodes(shard), [number, *known], self.release.unit)
        attribute = task.attribute
        if attribute is None:
            return task, grouping, None
        left_out = None if self._missing_is_a_value else attribute.size
        histogram = grouping.histogram(attribute.codes(shard), attribute.size + 1, left_out)
        if whole and self._by_class:
            counts = counts_in_classes(attribute, histogram)  # a value that is left out has no weight either
            task = replace(task, marginal=marginal_of_release(attribute, self.release.policy, counts))
        return task, grouping, histogram

    def attained_as_one_class(self) -> Sequence[tuple[ClassTask, float, Fraction, Comparison]]:
        """The figures of all retained records as one class, for the demands that it fails.

        No grouping attains a better figure of a monotone demand.

        Returns:
            Expectation, figure, threshold and comparison of each demand except attacks.

        Cost: one evaluation of the tasks.
        """
        shard = {**self.shard, CLASS: np.zeros(len(next(iter(self.shard.values()))), dtype=np.int64)}
        attained_figures = []
        for one in self.tasks:
            task, grouping, histogram = self._grouped(one, shard, 1, whole=True)
            if len(grouping.size) == 1:  # several if an intruder knows more attributes
                attained_figures += [(task, *attained) for attained in task.attained(grouping.size, histogram)]
        return attained_figures

    def counted(self, histogram: Histogram, attribute: Domain) -> Histogram:
        """A histogram of records under the convention on missing sensitive values."""
        return histogram if self._missing_is_a_value else histogram.without(attribute.size)

    @property
    def _missing_is_a_value(self) -> bool:
        return self.release.policy.conventions.missing_sensitive == "own_category"


def _is_monotone(task: ClassTask, unit: Domain | None) -> bool:
    """Whether the union of classes that satisfy an expectation always satisfies it.

    An attack must have no victim here, even if the policy allows a share. If an entity counts once per class and value,
    the counts of two classes do not add up to those of their union.
    """
    check = task.check
    monotone = check.monotone(check.of_each_class(task.expectation.parameters))
    return monotone and not (unit is not None and check.on_attribute)


def _stricter(task: ClassTask, share: Fraction) -> ClassTask:
    """The expectation with its upper thresholds on figures of a class multiplied by `share`."""
    parameters, check = task.expectation.parameters, task.check
    if share == 1 or not check.judges_each_class:
        return task
    bounds = {one.parameter for one in check.limits if one.comparison in (Comparison.AT_MOST, Comparison.BELOW)}
    lowered = {name: value * share for name, value in check.demands(parameters).items() if name in bounds}
    return replace(task, expectation=replace(task.expectation, parameters=parameters.model_copy(update=lowered)))


def _is_demand(task: ClassTask) -> bool:
    """Whether an expectation has a demand whose failure fails the audit."""
    parameters = task.expectation.parameters
    return parameters.severity is Severity.ERROR and bool(task.check.demands(parameters))
