"""The tasks that a policy's expectations become on a release, each with its attribute, reference and hierarchy.

This module also applies the conventions on records before they are grouped, such as exempt ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_audit.core.auditor.class_tasks import ClassTask
from tcdp_audit.core.auditor.tasks import CountedRecords, conventions_of
from tcdp_audit.core.auditor.views import ROWS, View, targets_of
from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.errors import CheckError, TcdpAuditError, sentence_about
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import DisplayNames
from tcdp_audit.core.base.words import agree, count
from tcdp_audit.core.check.class_check import CheckOnClasses
from tcdp_audit.core.check.evidence import (
    ReferenceDistribution,
    marginal_as_declared,
    marginal_of_original,
    marginal_of_release,
)
from tcdp_audit.core.check.kinds import Check
from tcdp_audit.core.check.threshold import Parameters, Target
from tcdp_audit.core.classes.grouping import Grouping, Shard, count_codes
from tcdp_audit.core.classes.histogram import Counts
from tcdp_audit.core.classes.shards import suppressed_in_all, without_exempt
from tcdp_audit.core.encoding.counted import MappedShards
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.policy.model import Conventions, Role
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.release import Release

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.table_tasks import TableTask
    from tcdp_audit.core.check.aggregate_check import AggregateCheck
    from tcdp_audit.core.check.table_check import TableCheck


@dataclass
class Tasks:
    """The expectations of a policy, ready to be measured on the shards of a release.

    Args:
        release: the table under its policy.
        shards: its records as codes; None for a release without quasi-identifiers.
        whole: whether the shards hold every record of the release, so that the domains' counts are theirs.
        view: the table in which they are judged; None for the rows of the release.
        asks: whether a demand is judged in this view; None for all.
    """

    release: Release
    shards: MappedShards | None
    whole: bool = True
    view: View | None = None
    asks: Callable[[Expectation, Target], bool] | None = None
    _attributes: dict[tuple[str, ...], Domain] = field(default_factory=dict)
    _marginals: dict[tuple[Target, tuple[str, ...], bool], ReferenceDistribution] = field(default_factory=dict)

    @property
    def policy(self) -> Policy:
        """The policy that the release must satisfy."""
        return self.release.policy

    @property
    def conventions(self) -> Conventions:
        """The conventions of its verdicts."""
        return self.release.policy.conventions

    def __iter__(self) -> Iterator[ClassTask | TableTask]:
        """The task of each expectation and target, in the policy's order."""
        for expectation, target in targets_of(self.policy):
            if self.asks is None or self.asks(expectation, target):
                yield self._task(expectation, target)

    @cached_property
    def _view(self) -> View:
        return self.view or View(ROWS, self.release)

    @property
    def _rows(self) -> Release:
        """The rows of the release, whose columns the policy declares."""
        return self.release if self._view.histories is None else self._view.histories.release

    def _task(self, expectation: Expectation, target: Target) -> ClassTask | TableTask:
        """Create a task; an error that the check raises becomes its obstacle."""

        def on_classes(check: CheckOnClasses[Any]) -> ClassTask | TableTask:
            return ClassTask(check, expectation, target)

        def on_tables(check: TableCheck[Any]) -> ClassTask | TableTask:
            from tcdp_audit.core.auditor.table_tasks import TableTask  # noqa: PLC0415 - only for a check on tables

            unit = self._rows.unit
            return TableTask(check, expectation, target, several_rows=unit is not None and unit.repeats)

        def on_cells(check: AggregateCheck[Any]) -> ClassTask | TableTask:
            raise CheckError(f"{check.name} judges tables of figures, which have no records")

        check: Check = expectation.check
        task = replace(
            check.by_kind(on_classes, on_tables, on_cells), scenario=self._rows.policy.document.scenario_name
        )
        try:
            return self._prepared(task)
        except (TcdpAuditError, KeyboardInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
            return replace(task, obstacle=sentence_about(error, "the check", expectation.plugin))

    def _prepared(self, bare: ClassTask | TableTask) -> ClassTask | TableTask:
        target = bare.target
        task = replace(
            bare,
            conventions=conventions_of(
                self.conventions,
                sensitive=bool(target.attributes),
                declared=any(self.policy.attributes[name].order is not None for name in target.attributes),
                unit=self._rows.policy.document.root if self._view.is_whole else self.policy.document.unit,
                known_rows=self._known_rows(bare),
            ),
            obstacle=self._view.obstacle(bare.check, bare.expectation.parameters, target)
            or self._obstacle(bare.expectation, target),
            violation=self._violation(target),
            known=tuple(bare.check.known(bare.expectation.parameters, self._rows.policy.document, target)),
            naming=self._naming(target, on_classes=isinstance(bare, ClassTask)),
        )
        if task.obstacle:
            return task
        try:
            return self._with_evidence(task) if isinstance(task, ClassTask) else task
        except CheckError as error:
            return replace(task, obstacle=f"cannot be evaluated: {error}")

    def _known_rows(self, task: ClassTask | TableTask) -> str | None:
        """The part of an outcome about the rows that are known; None of a check whose parameters say it."""
        reads_events = task.check.reading(task.expectation.parameters) == "events"
        return None if reads_events else self._view.known_rows

    def _naming(self, target: Target, *, on_classes: bool) -> DisplayNames:
        """The names of people and columns in sentences; attributes that are read together are a combination.

        Checks on tables say themselves whether the intruder knows who is in the release.
        """
        naming = replace(self._rows.policy.naming, record_name=self._view.record_name)
        naming = naming if on_classes else replace(naming, is_blind=False)
        if self._view.is_of_households:
            naming = replace(naming, unit_name="household", history_name="composition by")
        return naming.with_combination(target.attributes, target.name or "") if len(target.attributes) > 1 else naming

    def _with_evidence(self, task: ClassTask) -> ClassTask:
        """The task with its grouping, attribute, reference distribution and hierarchy."""
        attribute = self._attribute(task.target.attributes)
        check, parameters = task.check, task.expectation.parameters
        quasi_identifiers = self._view.grouped_by(check, parameters, task.target)
        counts_units = self._view.counts_units(check, parameters)
        return replace(
            task,
            quasi_identifiers=quasi_identifiers,
            attribute=attribute,
            certain_in=self._view.certain_in(check, parameters, task.target),
            counts_units=counts_units,
            marginal=None
            if attribute is None
            else self._marginal(task.target, attribute, quasi_identifiers, counts_units=counts_units),
            tree=None if attribute is None else self.release.tree(attribute),
            records=self.records,
            incomplete=tuple(self.incomplete(task.target)),
            **self._files(parameters),
        )

    def _files(self, parameters: Parameters) -> dict[str, Any]:
        """The fields of a task that has files in its parameters: the place of each, and digests."""
        named = [Path(self.policy.resolve(location)) for *_, location in parameters.files()]
        return {"resolve": self.policy.resolve, "files": tuple(map(content_digest, named))} if named else {}

    def _obstacle(self, expectation: Expectation, target: Target) -> str:
        """The reason why an expectation cannot be evaluated, or nothing."""
        unit = self.policy.document.unit
        needed = [*self.policy.with_role(Role.QUASI_IDENTIFIER), *target.attributes, unit]
        needed += [] if self._view.is_whole else target.known
        reasons = (self.release.obstacle(name) for name in needed if name is not None)
        reason = next((reason for reason in reasons if reason), "") or self._unordered(expectation, target)
        if not reason and expectation.check.needs_hierarchy(expectation.parameters):
            unknown = [name for name in target.attributes if name in self.release.unknown_labels]
            reason = f"the hierarchy of {unknown[0]!r} does not know all its values" if unknown else ""
        if not reason and self.shards is not None and self._suppressed_throughout:
            reason = "every record is fully suppressed"
        return f"cannot be evaluated: {reason}" if reason else ""

    def _unordered(self, expectation: Expectation, target: Target) -> str:
        """The reason why values cannot be ordered for a measure of rank or difference: overlapping or missing ones."""
        restricted = expectation.check.scales(expectation.parameters) is not None
        overlapping = [name for name in target.attributes if not self.release.domains[name].is_ordered]
        if restricted and overlapping:
            return f"generalised values of {overlapping[0]!r} overlap, so that they have no order"
        if self.conventions.missing_sensitive != "own_category":
            return ""
        if not restricted and not expectation.check.needs_hierarchy(expectation.parameters):
            return ""
        missing = [name for name in target.attributes if self._has_missing(name)]
        return (
            f"missing values of {missing[0]!r} have no place in its order; set `missing_sensitive: excluded`"
            if missing
            else ""
        )

    def _has_missing(self, name: str) -> bool:
        """Whether an attribute is missing in a record of the release, or of the original that is its reference."""
        reference = self.release.original_domains.get(name)
        return self.release.domains[name].missing > 0 or (reference is not None and reference.missing > 0)

    def _violation(self, target: Target) -> str:
        """The reason why an expectation fails by a convention `fail`, whatever is measured; empty if it does not."""
        incomplete = [*self._incomplete_known(), *self._incomplete_secrets(target)]
        known = [domain for domain in incomplete if domain.attribute not in target.attributes]
        if known:
            worst = max(known, key=lambda domain: domain.missing)
            return f"{_valueless(worst.missing)} in the quasi-identifier {worst.attribute!r}"
        if incomplete:
            return f"{_valueless(incomplete[0].missing)} in the sensitive attribute {incomplete[0].attribute!r}"
        return ""

    def incomplete(self, target: Target) -> Sequence[Domain]:
        """The columns of the view with a missing value that a convention says to `fail`, those that are known first."""
        known = self._view.incomplete if self._view.is_whole else self._incomplete_known()
        return [*known, *self._incomplete_secrets(target)]

    def _incomplete_known(self) -> list[Domain]:
        """The quasi-identifiers with a missing value that a convention says to `fail`."""
        known = self._rows.quasi_identifiers if self.conventions.missing_quasi_identifier == "fail" else ()
        return [domain for domain in known if domain.missing]

    def _incomplete_secrets(self, target: Target) -> list[Domain]:
        names = target.attributes if self.conventions.missing_sensitive == "fail" else ()
        return [
            domain
            for domain in (self._rows.domains[name] for name in names if name in self._rows.domains)
            if domain.missing
        ]

    def _attribute(self, names: tuple[str, ...]) -> Domain | None:
        """The domain of an attribute, or of several that are read together."""
        if len(names) < 2:
            return self.release.domains[names[0]] if names else None
        if names not in self._attributes:
            parts = [self.release.domains[name] for name in names]
            original = self.release.original if self.conventions.reference == "original" else None
            derived, key = self._shards.derived, ("joint", Identity(original, *parts))
            if key not in derived:
                derived[key] = self._joint(names, parts)
            self._attributes[names] = derived[key]
        return self._attributes[names]

    def _joint(self, names: tuple[str, ...], parts: Sequence[Domain]) -> Domain:
        """The domain of several attributes read together: the combinations that records have."""
        from tcdp_audit.core.classes.joint import combinations_in, joint_domain  # noqa: PLC0415 - rarely asked for

        counted = self._shards.each(partial(combinations_in, parts))
        original = self._original(names) if self.conventions.reference == "original" else ()
        others = [combinations_in(parts, rows) for rows in original]
        return joint_domain(" × ".join(names), parts, counted, others)

    @property
    def _shards(self) -> MappedShards:
        assert self.shards is not None  # noqa: S101 - nothing is counted without quasi-identifiers
        return self.shards

    def _original(self, names: Sequence[str]) -> Iterator[Shard]:
        """The original's records, with the codes of the release."""
        original, coded = self.release.original, self.release.original_domains
        if original is None:
            raise CheckError("the reference is the original, and no original is given")
        lacking = [name for name in names if name not in coded]
        if lacking:
            raise CheckError(f"the original has no column {lacking[0]!r}")
        return original.counted([coded[name] for name in names])

    def _marginal(
        self, target: Target, attribute: Domain, quasi_identifiers: tuple[Domain, ...], *, counts_units: bool
    ) -> ReferenceDistribution:
        """The reference distribution of an attribute under the policy's conventions."""
        key = (target, tuple(one.attribute for one in quasi_identifiers), counts_units)
        if key not in self._marginals:
            marginal = self._reference(target, attribute, quasi_identifiers, counts_units=counts_units)
            if not marginal.total:
                raise CheckError(f"column {attribute.attribute!r} has no value in any record")
            made_of = ("reference", marginal.weights.dtype, marginal.weights.tobytes(), marginal.units)
            self._marginals[key] = self.release.cache.get(made_of, lambda: marginal)  # equal ones are one object
        return self._marginals[key]

    def _reference(
        self, target: Target, attribute: Domain, quasi_identifiers: tuple[Domain, ...], *, counts_units: bool
    ) -> ReferenceDistribution:
        if self.conventions.reference == "declared":
            return marginal_as_declared(attribute, self.policy)
        if self.conventions.reference == "original" and self._view.in_original is not None:
            return self._reference_of_units(attribute, quasi_identifiers, counts_units=counts_units)
        if self.conventions.reference == "original":
            return marginal_of_original(attribute, self._counts_in_original(target, attribute), self.policy)
        counts = self._counts_in_release(attribute, quasi_identifiers)
        marginal = marginal_of_release(attribute, self.policy, counts)
        if not counts_units:
            return marginal
        return replace(marginal, units=self._units_with_a_value(attribute, quasi_identifiers))

    def _reference_of_units(
        self, attribute: Domain, quasi_identifiers: tuple[Domain, ...], *, counts_units: bool
    ) -> ReferenceDistribution:
        """The distribution among the units of an original of several tables."""
        coded = self.release.original_domains.get(attribute.attribute)
        if coded is None:
            raise CheckError(
                "the reference is the original, and no original is given"
                if self.release.original is None
                else f"the original has no column {attribute.attribute!r}"
            )
        assert self._view.in_original is not None  # noqa: S101 - as the caller saw
        counts, units = self._view.in_original(coded, in_cells=len(quasi_identifiers) > 1)
        marginal = marginal_of_original(attribute, counts, self.policy)
        return replace(marginal, units=units) if counts_units else marginal

    def _counts_in_original(self, target: Target, attribute: Domain) -> Counts:
        original = self._original(target.attributes)
        return _added((count_codes(attribute, rows) for rows in original), attribute.size + 1)

    def _counts_in_release(self, attribute: Domain, quasi_identifiers: tuple[Domain, ...]) -> Counts:
        """The counts of each code in the reference; wildcards do not apply, so that no classes overlap."""
        if self.release.unit is not None:
            figure = _CountsInClasses(self.exempt, quasi_identifiers, self.release.unit, attribute)
            return _added(self._shards.each(figure), attribute.size + 1)
        if self.whole and not self.exempt:
            return np.append(attribute.counts, attribute.missing)
        return _added(self._shards.each(_Counts(self.exempt, attribute)), attribute.size + 1)

    def _units_with_a_value(self, attribute: Domain, quasi_identifiers: tuple[Domain, ...]) -> int:
        """The units that have any value of an attribute; each is in one class."""
        assert self.release.unit is not None  # noqa: S101 - histories are those of units
        missing_is_a_value = self.conventions.missing_sensitive == "own_category"
        figure = _UnitsWithAValue(
            self.exempt, quasi_identifiers, self.release.unit, attribute, missing_is_a_value=missing_is_a_value
        )
        return sum(self._shards.each(figure))

    # Conventions on records before they are grouped

    @cached_property
    def _may_be_suppressed(self) -> bool:
        return not self._view.is_whole and all(domain.suppressed for domain in self.release.quasi_identifiers)

    @cached_property
    def _suppressed_throughout(self) -> bool:
        if self._view.is_whole:
            return all(_is_suppressed_throughout(one) for one in self._rows.quasi_identifiers)
        if not self._may_be_suppressed or not self.release.quasi_identifiers:
            return False
        return all(self._shards.each(_SuppressedThroughout(self.release.quasi_identifiers)))

    @cached_property
    def exempt(self) -> tuple[Domain, ...]:
        """The attributes in all of which an exempt record is suppressed; empty if the policy exempts none."""
        if self._view.is_whole:
            return self._view.exempt
        if self.conventions.suppressed == "counted" or not self._may_be_suppressed:
            return ()
        return (*self.release.quasi_identifiers, *self.release.sensitive)

    @cached_property
    def records(self) -> int:
        """The number of counted records of the release; of entities with such a record, if the policy names a unit."""
        return self.counted.records if self.counted.entities is None else self.counted.entities

    @cached_property
    def counted(self) -> CountedRecords:
        """The records and entities that are not exempt. Cost: a pass over the shards if any may be exempt."""
        unit = self.release.unit
        if self.whole and not self.exempt:  # all records without an entity count as one entity
            entities = None if unit is None else int(np.count_nonzero(unit.counts)) + (unit.missing > 0)
            return CountedRecords(self.release.engine.records, entities)
        if unit is None:
            return CountedRecords(sum(self._shards.each(_Records(self.exempt))))
        records = _added(self._shards.each(_Counts(self.exempt, unit)), unit.size + 1)
        return CountedRecords(int(records.sum()), int(np.count_nonzero(records)))


def _is_suppressed_throughout(domain: Domain) -> bool:
    return not domain.missing and not np.delete(domain.counts, [*domain.suppressed]).any()


def _added(counts: Iterable[Counts], size: int) -> Counts:
    return sum(counts, np.zeros(size, dtype=np.int64))


# Figures of a shard. They may be sent to another process, so each holds only its own input.


@dataclass(frozen=True)
class _SuppressedThroughout:
    domains: Sequence[Domain]

    def __call__(self, shard: Shard) -> bool:
        return bool(suppressed_in_all(shard, self.domains).all())


@dataclass(frozen=True)
class _Records:
    exempt: Sequence[Domain]

    def __call__(self, shard: Shard) -> int:
        return without_exempt(shard, self.exempt).records


@dataclass(frozen=True)
class _Counts:
    exempt: Sequence[Domain]
    attribute: Domain

    def __call__(self, shard: Shard) -> Counts:
        return count_codes(self.attribute, without_exempt(shard, self.exempt))


@dataclass(frozen=True)
class _UnitsWithAValue:
    exempt: Sequence[Domain]
    quasi_identifiers: Sequence[Domain]
    unit: Domain
    attribute: Domain
    missing_is_a_value: bool

    def __call__(self, shard: Shard) -> int:
        counted = without_exempt(shard, self.exempt)
        if not counted.rows:
            return 0
        left_out = None if self.missing_is_a_value else self.attribute.size
        classes = Grouping(counted, self.quasi_identifiers, self.unit)
        return int(classes.histogram(self.attribute.codes(counted), self.attribute.size + 1, left_out).members.sum())


@dataclass(frozen=True)
class _CountsInClasses:
    exempt: Sequence[Domain]
    quasi_identifiers: Sequence[Domain]
    unit: Domain
    attribute: Domain

    def __call__(self, shard: Shard) -> Counts:
        counted = without_exempt(shard, self.exempt)
        if not counted.rows:
            return np.zeros(self.attribute.size + 1, dtype=np.int64)
        classes = Grouping(counted, self.quasi_identifiers, self.unit)
        return classes.occurrences(self.attribute.codes(counted), self.attribute.size + 1)


def _valueless(records: int) -> str:
    return f"{count(records, 'record')} {agree(records, 'has', 'have')} no value"
