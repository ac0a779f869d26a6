"""The view of a table check: class sizes, population and weights, whole coded columns, and pairs; read when needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.resources import budget
from tcdp_audit.core.classes.grouping import Grouping
from tcdp_audit.core.classes.histogram import Counts
from tcdp_audit.core.encoding.keys import Codes, Floats, boundaries, fold, freeze_arrays
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import PREVIOUS, AttributeDeclaration, Role, Scale
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.coded import (
    CODE,
    KEY,
    CodedTable,
    StreamedTable,
    code_apart,
    code_together,
    common_domains,
    distinct_rows,
    fit,
    in_parts,
    nothing_shared,
    require_columns,
    separate_domains,
)

if TYPE_CHECKING:
    from tcdp_audit.core.detection.detector import Detector
    from tcdp_audit.core.encoding.hierarchy import Hierarchy
    from tcdp_audit.core.release.generalized_matches import GeneralizedMatch
    from tcdp_audit.core.release.pairs import Pairs
    from tcdp_audit.core.units.histories import Histories
    from tcdp_audit.core.units.rows import UnitRows


@dataclass(frozen=True)
class SampleClasses:
    """The equivalence classes of the release."""

    size: Counts  # f, what k counts in each class. int64, shape (classes,)
    records: Counts  # records of each class
    # records that each may be taken for: its own, and under `wildcard` all that are compatible with them
    matched: Counts
    expected: Floats  # n times the product of its quasi-identifiers' shares: the size under independence. float64
    # sum of the matched records' sampling weights, where the policy names a weight. float64, or None
    weight: Floats | None
    total_weight: float | None  # sum of all sampling weights, or None
    # where the policy names a unit, the size of the smallest class that each entity has a record in: the one that an
    # intruder picks, shape (entities,). None where the unit is the record
    of_entities: Counts | None = None

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "size", "records", "matched", "expected", "weight", "of_entities")


@dataclass(frozen=True)
class PopulationClasses:
    """The classes of release and population under one key.

    Args:
        sample: f, records of the release in each class that the release has.
        population: F, records of the population in the same class; 0 where it lacks the class.
        absent: F of the population's classes that the release lacks.
        overlap: what f and F no longer show under `wildcard`, where both count all compatible records; else None.
    """

    sample: Counts
    population: Counts
    absent: Counts
    overlap: Overlap | None = None

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "sample", "population", "absent")

    @classmethod
    def overlapping(
        cls, sample: Counts, population: Counts, absent: Counts, *, people: int, uniques: int
    ) -> PopulationClasses:
        """Classes whose cells cover people of one another, with the number of all people and of those alone."""
        return cls(sample, population, absent, Overlap(sample, people, uniques))

    @property
    def records(self) -> Counts:
        """Records of the release in each class itself. Shape (classes,)."""
        return self.sample if self.overlap is None else self.overlap.records

    @property
    def people(self) -> int:
        """The number of records that the population has."""
        return int(self.population.sum() + self.absent.sum()) if self.overlap is None else self.overlap.people

    @property
    def uniques(self) -> int:
        """The number of records of the population that are alone there."""
        if self.overlap is not None:
            return self.overlap.uniques
        return int((self.population == 1).sum() + (self.absent == 1).sum())


@dataclass(frozen=True)
class Overlap:
    """Figures of classes that overlap, so that they cannot be added up."""

    records: Counts  # records of the release in each class itself, shape (classes,)
    people: int  # records of the population
    uniques: int  # records of the population that are compatible with no other

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "records")


@dataclass(frozen=True)
class TableView:
    """A release with the tables that it can be compared with. Everything is read once, when it is first asked for.

    Args:
        policy: roles, scales and conventions.
        engine: the release.
        companions: the further tables by their name in the policy: original, population, holdout, registry, previous.
        memory: budget in bytes for what is read; None for no limit.
        samples: whether pairs may be a sample where whole tables outgrow the memory.
        find_detectors: finds the detectors of identifiers of all plugins that take part, by name.
        of_rows: the view of the release's rows, where this one has a row for each unit or household; else None. Of
            households of several tables it has a row for each person, whose whole history is what is known.
        histories: the whole histories of units, where these join rows; of several tables they are needed for `events`.
    """

    policy: Policy
    engine: Engine
    companions: Mapping[str, Engine]
    memory: int | None = None
    samples: bool = True
    find_detectors: Callable[[], Mapping[str, Detector]] = dict
    of_rows: TableView | None = None
    histories: Histories | None = None

    @property
    def detectors(self) -> Mapping[str, Detector]:
        """The detectors of identifiers of all plugins that take part, by name."""
        return self.find_detectors()

    @property
    def quasi_identifiers(self) -> list[str]:
        """The quasi-identifiers' names, sorted."""
        return self.policy.with_role(Role.QUASI_IDENTIFIER)

    @property
    def wildcard(self) -> bool:
        """Whether a missing quasi-identifier matches every value, so that classes overlap."""
        return self.policy.conventions.missing_quasi_identifier == "wildcard"

    @property
    def records(self) -> int:
        """The number of records that the release has."""
        return self.engine.records

    @property
    def sampling_fraction(self) -> float | None:
        """The declared share of the population that the release is, or its size over the population's."""
        declared = self.policy.document.sampling_fraction
        if declared is not None or "population" not in self.companions:
            return None if declared is None else float(declared)
        return self.records / self.companions["population"].records

    def coded(self, attributes: Sequence[str], *companions: str) -> list[CodedTable]:
        """Columns of the release, and of some companions, over common domains.

        Raises:
            CheckError: a table or a column is not there.
        """
        return self._coded(attributes, companions, counted=False)

    def counted(self, attributes: Sequence[str], *companions: str) -> list[CodedTable]:
        """The same where a row may represent several records: `times` says how many; the order of records is lost.

        An engine that counts where the table lives sends less than the records.

        Raises:
            CheckError: a table or a column is not there.
        """
        return self._coded(attributes, companions, counted=True)

    def streamed(self, attributes: Sequence[str]) -> Iterator[CodedTable]:
        """Columns of the release batch by batch, as the engine sends them: in any order, equal rows anywhere.

        For what is computed in one pass and in little memory, however many records there are.

        Raises:
            CheckError: a column is not there, or holds values that do not fit its scale.
        """
        (release,) = self.streams(attributes)
        return iter(release)

    def streams(self, attributes: Sequence[str], *companions: str) -> list[StreamedTable]:
        """The same of the release and of some companions, each over its own values and as often as it is asked.

        Equal labels are equal values, whether or not a table has generalised or suppressed cells next to them.

        Raises:
            CheckError: a table or a column is not there, or holds values that do not fit its scale; or numbers of one
                would be rounded to those of another.
        """
        engines = self._engines(companions, attributes)
        domains = separate_domains(engines, attributes, self.policy.attributes, self.policy.conventions)
        return [StreamedTable(engine, own) for engine, own in zip(engines, domains, strict=True)]

    def of_companion(self, name: str, attributes: Sequence[str], numeric: Sequence[str] = ()) -> CodedTable:
        """Columns of one companion by itself, which the release may lack. A row may represent several records.

        Args:
            name: of the companion.
            attributes: the columns.
            numeric: those of them that are numbers, whatever the policy declares of them.

        Raises:
            CheckError: the table or a column is not there, or holds values that do not fit its scale.
        """
        number = AttributeDeclaration(role=Role.INSENSITIVE, scale=Scale.NUMERIC)
        declared = {**self.policy.attributes, **dict.fromkeys(numeric, number)}
        others = [one for one in attributes if one not in numeric]
        engines, conventions = [self._companion(name, others)], self.policy.conventions
        return code_together(engines, attributes, declared, conventions, counted=True, memory=self.memory)[0]

    def releases(
        self, attributes: Sequence[str], alike: Sequence[str] = (), *, counted: bool = False
    ) -> list[CodedTable]:
        """This release and all earlier ones, in this order.

        Args:
            attributes: columns that may be generalised in another way in each; codes are over each table's own values.
            alike: further columns, over common domains.
            counted: whether a row may represent several records; the order of records is then lost.

        Raises:
            CheckError: there is no earlier release; or a column is not there, or the rows outgrow the memory.
        """
        named = [name for name in self.companions if name.partition(" ")[0] == PREVIOUS]
        earlier = [self._own(name, [*attributes, *alike]) for name in named]
        if not earlier:
            raise CheckError(f"no earlier release is given; name it in the policy as `{PREVIOUS}:`")
        declared, conventions = self.policy.attributes, self.policy.conventions
        engines = [self.engine, *earlier]
        return code_apart(engines, attributes, alike, declared, conventions, counted=counted, memory=self.memory)

    def in_parts(self, attributes: Sequence[str], *companions: str) -> Iterator[list[CodedTable]]:
        """The same part by part: all records that agree in these columns, of whatever table, are in the same part.

        Everything is one part where it fits into the memory. Otherwise parts wait on disk, and the order of records is
        lost.

        Raises:
            CheckError: a table or a column is not there.
        """
        engines = self._engines(companions, attributes)
        if self.memory is None or fit(engines, (CODE + KEY) * len(attributes), self.memory):
            return iter([self.coded(attributes, *companions)])
        domains = common_domains(engines, attributes, self.policy.attributes, self.policy.conventions)
        return in_parts(engines, domains, self.memory)

    def distinct(self, attributes: Sequence[str], *companions: str) -> list[CodedTable]:
        """Columns of the release and of some companions as distinct rows, however many records there are.

        Raises:
            CheckError: a table or a column is not there, or the distinct rows outgrow the memory.
        """
        engines = self._engines(companions, attributes)
        domains = common_domains(engines, attributes, self.policy.attributes, self.policy.conventions)
        each = None if self.memory is None else self.memory // len(engines)
        return [distinct_rows(engine, own, each) for engine, own in zip(engines, domains, strict=True)]

    def _coded(self, attributes: Sequence[str], companions: Sequence[str], *, counted: bool) -> list[CodedTable]:
        engines, declared, conventions = (
            self._engines(companions, attributes),
            self.policy.attributes,
            self.policy.conventions,
        )
        return code_together(engines, attributes, declared, conventions, counted=counted, memory=self.memory)

    def _engines(self, companions: Sequence[str], attributes: Sequence[str]) -> list[Engine]:
        return [self.engine, *(self._companion(name, attributes) for name in companions)]

    def _companion(self, name: str, attributes: Sequence[str]) -> Engine:
        """A companion that has some columns; its values are the release's cells where the policy declares its schema.

        Raises:
            CheckError: it is not given, or lacks a column.
        """
        table = self._own(name, attributes)
        return table if table.translation is None else self._aligned[name]

    def _own(self, name: str, attributes: Sequence[str]) -> Engine:
        """A companion that has some columns, with its own values."""
        if name not in self.companions:
            raise CheckError(f"no {name} is given; name it in the policy as `{name}:`")
        require_columns(name, self.companions[name], attributes)
        return self.companions[name]

    @cached_property
    def _aligned(self) -> Mapping[str, Engine]:
        """The companions that have a schema of their own, with the cells of the release that cover their values."""
        from tcdp_audit.core.release.alignment import aligned  # noqa: PLC0415 - few policies declare other names

        tables = {name: one for name, one in self.companions.items() if one.translation is not None}
        return {name: aligned(self.engine, one, self.policy) for name, one in tables.items()}

    def lacking(self, companion: str) -> list[str]:
        """The quasi-identifiers that a companion has no column for, where the policy declares that its schema differs.

        Empty where the policy does not: a demand on a column that such a table lacks is an error.
        """
        table = self.companions.get(companion)
        if table is None or table.translation is None:
            return []
        own = {one.name for one in table.columns}
        return [name for name in self.quasi_identifiers if name not in own]

    def known_with(self, *companions: str) -> TableView:
        """This view for an intruder who has some companions, and knows the quasi-identifiers only that are in all.

        The other quasi-identifiers are as if the policy declared them insensitive. The same view where none is lacking.

        Raises:
            CheckError: no quasi-identifier is left.
        """
        lacking = frozenset(name for one in companions for name in self.lacking(one))
        if not lacking:
            return self
        if lacking.issuperset(self.quasi_identifiers):
            raise CheckError(nothing_shared({one: self.companions[one] for one in companions if self.lacking(one)}))
        if lacking not in self._with_fewer_columns:
            self._with_fewer_columns[lacking] = replace(self, policy=self.policy.without_knowledge_of(lacking))
        return self._with_fewer_columns[lacking]

    @cached_property
    def _with_fewer_columns(self) -> dict[frozenset[str], TableView]:
        """The views in which some quasi-identifiers are not known, so that each is measured once."""
        return {}

    def events(
        self, attributes: Sequence[str] | None = None, *, attribute: str | None = None, table: str | None = None
    ) -> UnitRows:
        """The rows of each unit: what an intruder may know of them, when they were, and a sensitive attribute.

        Args:
            attributes: the columns that are known of a row; None for all quasi-identifiers that are not `of: unit`.
                Of several tables, columns of the one that has the rows.
            attribute: the sensitive attribute; None for none. Of several tables it may be in any.
            table: `members` for the rows of households, or of several tables the one whose rows are wanted; None for
                those of units, where one table has them.

        Raises:
            CheckError: the policy names no such unit, a column cannot be used, or the rows exceed the memory.
        """
        from tcdp_audit.core.release.release import Release  # noqa: PLC0415 - only for checks that ask
        from tcdp_audit.core.units.rows import unit_rows  # noqa: PLC0415

        memory, rows = budget(None) if self.memory is None else self.memory, self.of_rows or self
        if rows.policy.document.tables is not None:
            from tcdp_audit.core.units.table_rows import rows_of_table  # noqa: PLC0415 - only for several tables
            from tcdp_audit.core.units.trees import TableHistories  # noqa: PLC0415 - likewise

            assert isinstance(rows.histories, TableHistories)  # noqa: S101 - an audit reads them before any demand
            return rows_of_table(rows.histories, attributes, attribute, table, memory)
        return unit_rows(Release(rows.engine, rows.policy), attributes, attribute, table, memory)

    @cached_property
    def classes(self) -> SampleClasses:
        """The equivalence classes of the release, ordered as their codes are. O(records log records)."""
        unit, weight = self.policy.document.unit, self.policy.document.weight
        further = [name for name in (unit, weight) if name is not None]
        (table,) = self.counted([*self.quasi_identifiers, *further])
        domains = [table.domains[name] for name in self.quasi_identifiers]
        grouping = Grouping(table.rows, domains, None if unit is None else table.domains[unit], self.wildcard)
        expected = np.full(len(grouping.records), float(self.records))
        for domain, codes in zip(domains, grouping.codes(), strict=True):
            expected *= np.append(domain.counts, domain.missing)[codes] / self.records
        sums = None if weight is None else _sums_of_weights(grouping, table.numbers(weight), weight)
        total = None if sums is None else float(sums.sum())
        matched, compatible = grouping.records, grouping.compatibility
        if compatible is not None:
            matched = compatible.sum(grouping.records)
            sums = None if sums is None else compatible.sums([sums])[0]
        smallest = _smallest_of_entities(grouping)
        return SampleClasses(grouping.size, grouping.records, matched, expected, sums, total, smallest)

    @cached_property
    def population(self) -> PopulationClasses:
        """The classes of release and population, which must be generalised alike. O(N log N).

        Raises:
            CheckError: there is no population.
        """
        sample, population = self.counted(self.quasi_identifiers, "population")
        names = self.quasi_identifiers
        columns = [np.concatenate([sample.codes[name], population.codes[name]]) for name in names]
        keys = fold(columns, [sample.domains[name].size + 1 for name in names]).values
        order = np.argsort(keys, kind="stable")
        starts = boundaries(keys[order])
        times = np.concatenate([sample.rows.each, population.rows.each])
        of_sample = np.where(np.arange(len(keys)) < sample.rows.rows, times, 0)
        in_sample = np.add.reduceat(of_sample[order], starts)
        in_population = np.add.reduceat(times[order], starts) - in_sample
        in_release = in_sample > 0
        if self.wildcard:
            missing = [sample.domains[name].size for name in names]
            return _overlapping([column[order[starts]] for column in columns], missing, in_sample, in_population)
        return PopulationClasses(in_sample[in_release], in_population[in_release], in_population[~in_release])

    def pairs(self, attributes: Sequence[str], sample: int = 0) -> Pairs:
        """Release and original, paired as the policy says.

        Args:
            attributes: the columns to compare.
            sample: about how many pairs a check can do with where the tables outgrow the memory: `Pairs.sample` then
                says that they are a sample, and the figure needs an `Estimate`. 0 for a check that needs all of them.

        Raises:
            CheckError: there is no original, no pairing is declared, or it does not work; or the tables outgrow the
                memory, and the check needs all pairs.
        """
        from tcdp_audit.core.release.pairing import Pairing  # noqa: PLC0415 - only for checks that compare two tables

        engines = (self.engine, self._own("original", attributes))
        return Pairing(self.policy, engines, self.memory).pairs(attributes, sample if self.samples else 0)

    def generalised_pairs(self, attributes: Sequence[str]) -> tuple[Pairs, Mapping[str, GeneralizedMatch]]:
        """Release and original, paired as the policy says, where cells of the release may be generalised.

        Each table is coded over its own values; the values of the original that the cells of each attribute cover are
        next to them.

        Raises:
            CheckError: there is no original, no pairing is declared, or it does not work; or the tables outgrow the
                memory.
        """
        from tcdp_audit.core.release.pairing import Pairing  # noqa: PLC0415 - only for checks that compare two tables

        engines = (self.engine, self._own("original", attributes))
        pairs = Pairing(self.policy, engines, self.memory).apart(attributes)
        return pairs, self._covers(pairs.released, pairs.original, attributes)

    def generalised(
        self, attributes: Sequence[str], companion: str
    ) -> tuple[CodedTable, CodedTable, Mapping[str, GeneralizedMatch]]:
        """The release and a companion, each over its own values, and the companion's values that released cells cover.

        A row may represent several records.

        Raises:
            CheckError: the table or a column is not there, or the rows outgrow the memory.
        """
        engines = (self.engine, self._own(companion, attributes))
        declared, conventions = self.policy.attributes, self.policy.conventions
        released, known = code_apart(engines, attributes, (), declared, conventions, counted=True, memory=self.memory)
        return released, known, self._covers(released, known, attributes)

    def _covers(
        self, released: CodedTable, known: CodedTable, attributes: Sequence[str]
    ) -> Mapping[str, GeneralizedMatch]:
        """The values of a table that the cells of the release cover, by attribute."""
        from tcdp_audit.core.release.generalized_matches import generalized_match  # noqa: PLC0415 - only for checks that compare two tables

        covers = {}
        for name in attributes:
            declared = self.policy.attributes.get(name)
            domains = released.domains[name], known.domains[name]
            ordered = declared is not None and declared.is_ordered
            covers[name] = generalized_match(*domains, self.hierarchies.get(name), ordered=ordered)
        return covers

    @cached_property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """The hierarchies that the policy declares, by attribute."""
        from tcdp_audit.core.release.release import declared_hierarchies  # noqa: PLC0415 - only for checks that ask

        return declared_hierarchies(self.policy)


def _overlapping(
    codes: Sequence[Codes], missing: Sequence[int], in_sample: Counts, in_population: Counts
) -> PopulationClasses:
    """Release and population, each class with all records that are compatible with it."""
    from tcdp_audit.core.classes.wildcard import Compatibility  # noqa: PLC0415 - only for this convention

    compatible = Compatibility([column.astype(np.int64) for column in codes], missing)
    sample, population = (one.astype(np.int64) for one in compatible.sums([in_sample, in_population]))
    in_release, uniques = in_sample > 0, int(((population == 1) & (in_population == 1)).sum())
    overlap = Overlap(in_sample[in_release], int(in_population.sum()), uniques)
    return PopulationClasses(sample[in_release], population[in_release], population[~in_release], overlap)


def _smallest_of_entities(grouping: Grouping) -> Counts | None:
    """The size of the smallest class of each entity, in the order of their codes; None where the unit is the row."""
    if grouping.unit is None:
        return None
    none = np.iinfo(np.int64).max
    smallest = np.full(grouping.unit.size + 1, none)
    np.minimum.at(smallest, grouping.shard[grouping.unit.attribute], grouping.size[grouping.class_of_row])
    return smallest[smallest < none]


def _sums_of_weights(grouping: Grouping, weights: Floats, name: str) -> Floats:
    """Sum of weights in each class, added in one order whatever the order of records is and however they are counted.

    Equal weights of a class are multiplied before they are added.
    """
    if np.isnan(weights).any() or (weights <= 0).any():
        raise CheckError(f"the weight {name!r} must be a positive number in every record")
    order = np.lexsort((weights, grouping.class_of_row))
    classes, weights = grouping.class_of_row[order], weights[order]
    alike = np.flatnonzero(np.append(True, (classes[1:] != classes[:-1]) | (weights[1:] != weights[:-1])))
    products = np.add.reduceat(grouping.shard.each[order], alike) * weights[alike]
    return np.add.reduceat(products, boundaries(classes[alike]))
