"""The columns of two releases next to each other: the change of values, of equivalence classes, and of joined rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Severity
from tcdp_audit.core.check.demands import required_class_size
from tcdp_audit.core.classes.grouping import Grouping
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import number_text
from tcdp_audit.core.encoding.hierarchy import Hierarchy
from tcdp_audit.core.encoding.keys import Codes, Floats, fold, tally
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.policy.model import AttributeDeclaration, Role, Scale
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.units.reading import root_of

Positions = NDArray[np.intp]
LOSSY_ROLES = (Role.QUASI_IDENTIFIER, Role.SENSITIVE)


@dataclass(frozen=True)
class Transitions:
    """The distinct changes of a column: `records` records had the value `before` and have the value `after`."""

    before: Codes  # codes of the domain before; its size for a missing value, shape (transitions,)
    after: Codes  # codes of the domain after, likewise
    records: NDArray[np.int64]  # how many records, int64, at least 1


@dataclass(frozen=True)
class PairedColumn:
    """One attribute of two releases."""

    declaration: AttributeDeclaration  # role and scale
    hierarchy: Hierarchy | None  # its generalisation hierarchy, where it has one
    before: Domain  # its domain in the first release
    after: Domain  # its domain in the second one
    before_codes: Codes  # the code of each record of the first release
    after_codes: Codes  # the code of each record of the second one
    position_before: Positions  # for each record of the second release its position in the first

    @property
    def name(self) -> str:
        """The column's name."""
        return self.before.attribute

    @property
    def is_quasi_identifier(self) -> bool:
        """Whether it takes part in equivalence classes."""
        return self.declaration.role is Role.QUASI_IDENTIFIER

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers or ranges of numbers."""
        return self.declaration.scale is Scale.NUMERIC

    @property
    def suppressed(self) -> int:
        """The number of records of the first release that are not in the second."""
        return len(self.before_codes) - len(self.position_before)

    @cached_property
    def same(self) -> NDArray[np.int64]:
        """For each code after, the missing one included, the code before of the same value; -1 for a new value."""
        return np.append(_positions(self.before, self.after), self.before.size)

    def returned(self, weights: Floats) -> Floats:
        """Weights of the values after, given to those that were there before. Shape (values before,)."""
        own = self.same[:-1]
        return np.bincount(own[own >= 0], weights[own >= 0], self.before.size).astype(np.float64, copy=False)

    @cached_property
    def transitions(self) -> Transitions:
        """The changes of the values of the records that stayed. O(records), and a sort of them for large domains."""
        radix = self.after.size + 1
        key = self.before_codes[self.position_before].astype(np.int64)
        key *= radix
        key += self.after_codes
        if (span := (self.before.size + 1) * radix) <= 2 * len(key):
            records = np.bincount(key, minlength=span)
            distinct = np.flatnonzero(records)
            records = records[distinct]
        else:
            distinct, records = np.unique(key, return_counts=True)
        return Transitions(*np.divmod(distinct, radix), records)

    @cached_property
    def unchanged(self) -> NDArray[np.bool_]:
        """The transitions that leave the value as it was. Shape (transitions,)."""
        return self.same[self.transitions.after] == self.transitions.before

    @property
    def is_emptied(self) -> bool:
        """Whether it had several values, and has at most one now. Missing and suppressed cells are one value."""
        return _different(self.before) > 1 and _different(self.after) < 2

    @cached_property
    def cells_changed(self) -> int:
        """The number of records that stayed with another value; a missing value that is suppressed is another one."""
        return int(self.transitions.records[~self.unchanged].sum())


def records_with(domain: Domain) -> NDArray[np.int64]:
    """The number of records with each code, the missing one included. Shape (domain + 1,)."""
    return np.append(domain.counts, domain.missing)


def _different(domain: Domain) -> int:
    """The number of different values that records have; no value counts as one."""
    there = records_with(domain) > 0
    return int((there & ~domain.is_uninformative).sum()) + bool((there & domain.is_uninformative).any())


def share(part: float, whole: float) -> float:
    """A part of a whole; 0 of nothing."""
    return part / whole if whole else 0.0


def weighted_sum(figures: Floats, domain: Domain) -> float:
    """The sum of a figure of each code over all records of a domain."""
    return float(figures @ records_with(domain))


def lossy_columns(release: Release) -> list[str]:
    """The quasi-identifiers and the sensitive attributes that a release has, by name."""
    declared = release.policy.attributes
    return sorted(name for name in release.columns if name in declared and declared[name].role in LOSSY_ROLES)


def paired_columns(
    before: Release, after: Release, position_before: Positions, names: Sequence[str]
) -> tuple[PairedColumn, ...]:
    """Some declared columns of two releases, in the order of their names here.

    Raises:
        DataError: a column cannot be read.

    Cost: one scan of each release; memory for one code per record and column.
    """
    declared = before.policy.attributes
    sides = [_read(release, names) for release in (before, after)]
    hierarchies = before.hierarchies
    return tuple(
        PairedColumn(declared[name], hierarchies.get(name), old, new, codes, new_codes, position_before)
        for name, (old, codes), (new, new_codes) in zip(names, *sides, strict=True)
    )


def _read(release: Release, names: Sequence[str]) -> list[tuple[Domain, Codes]]:
    """Domains as the table has them, without values that only a reference distribution knows."""
    policy = release.policy
    raw, declared = release.engine.domain, policy.attributes
    domains = [domain_of(name, raw(name), declared[name], policy.conventions)[0] for name in names]
    batches = list(release.engine.batches(domains)) if domains else []
    codes = ([np.zeros(0, one.dtype), *(batch[one.attribute] for batch in batches)] for one in domains)
    return [(one, np.concatenate(parts)) for one, parts in zip(domains, codes, strict=True)]


def _positions(before: Domain, after: Domain) -> NDArray[np.int64]:
    """The place of each value after among the values before; -1 for a new one."""
    if before.size and before.values.dtype == after.values.dtype != object and not before.rounded and not after.rounded:
        nearest = np.minimum(np.searchsorted(before.values, after.values), before.size - 1)
        return np.where(before.values[nearest] == after.values, nearest, -1)
    place = {label: code for code, label in enumerate(before.labels)}
    for number in {*before.rounded, *after.rounded}:
        if before.rounded.get(number) != after.rounded.get(number):  # other numbers, of the same float64
            place.pop(number_text(number), None)
    return np.array([place.get(label, -1) for label in after.labels], dtype=np.int64)


@dataclass(frozen=True)
class ClassSizes:
    """Sizes of the equivalence classes of two releases; a missing quasi-identifier is a value of its own."""

    before: NDArray[np.int64]  # records in each class of the first release
    after: NDArray[np.int64]  # records in each class of the second release
    suppressed: int  # records of the first that are not in the second

    @property
    def discernibility(self) -> tuple[int, int]:
        """Sum of squared class sizes, each suppressed record counted as indistinguishable from all records.

        Source: Bayardo, Agrawal, ICDE 2005.
        """
        records = int(self.before.sum())
        return _squares(self.before), _squares(self.after) + records * self.suppressed

    def average(self, k: Fraction | None) -> tuple[float | None, float | None]:
        """Records by classes and by k (or 1), before and after; None without classes.

        Source: LeFevre, DeWitt, Ramakrishnan, ICDE 2006, C_avg.
        """
        return _average(self.before, k), _average(self.after, k)


def class_sizes(columns: Sequence[PairedColumn], suppressed: int) -> ClassSizes | None:
    """The classes of two releases by their quasi-identifiers; None without any. A sort of the records of each."""
    keys = [one for one in columns if one.is_quasi_identifier]
    if not keys:
        return None
    before = Grouping(CountedCodes({one.name: one.before_codes for one in keys}), [one.before for one in keys])
    after = Grouping(CountedCodes({one.name: one.after_codes for one in keys}), [one.after for one in keys])
    return ClassSizes(before.records, after.records, suppressed)


def demanded_k(policy: Policy) -> Fraction | None:
    """The largest class size that an expectation on classes demands, or one on risk needs; None where none does."""
    sizes = [
        required_class_size(one, policy.document)
        for one in policy.expectations
        if one.check.on_classes or one.parameters.severity is Severity.ERROR
    ]
    return max((Fraction(size) for size in sizes if size is not None), default=None)


def _squares(sizes: NDArray[np.int64]) -> int:
    """Exact as long as the square of the number of records keeps within 63 bits."""
    return int(sizes @ sizes)


def _average(sizes: NDArray[np.int64], k: Fraction | None) -> float | None:
    return float(Fraction(int(sizes.sum()), len(sizes)) / (k or 1)) if len(sizes) else None


@dataclass(frozen=True)
class LostLinks:
    """The pairs of rows that a released unit joins, or its household, before and after.

    Args:
        unit: the column that joins them: the household's, or else the unit's.
        before: the pairs of rows of one unit before.
        after: how many of them are joined after.
        loss: the mean over all rows before of the share of their unit's other rows that they are no longer joined to;
            1 for a suppressed row. From 0 to 1.
    """

    unit: str
    before: int
    after: int
    loss: float


def lost_links(before: Release, after: Release, position_before: Positions) -> LostLinks | None:
    """The loss of histories; None where no column that stays joins rows before.

    Rows without a unit count as rows of one unit.

    Args:
        before: the release before the repair.
        after: what a remedy made of it.
        position_before: for each record of `after` its position in `before`.

    Cost: a scan of the column in each release, and a sort of the records.
    """
    root = root_of(before)
    if root is None or not root.repeats or (name := root.attribute) not in after.domains:
        return None
    units, new_units = (_units(release, release.domains[name]) for release in (before, after))
    return links_between(name, units, new_units, position_before)


def links_between(
    name: str, units: NDArray[np.int64], new_units: NDArray[np.int64], position_before: Positions
) -> LostLinks:
    """The loss of links between rows.

    Args:
        name: the column that joins them.
        units: the unit of each row before, as a number. Shape (rows before,).
        new_units: the unit of each row after. Shape (rows after,).
        position_before: for each row after its position before.

    Cost: a sort of the rows.
    """
    sizes = np.bincount(units)
    keys = fold([units[position_before], new_units], [len(sizes), int(new_units.max(initial=0)) + 1])
    distinct, rows = tally(keys.values, keys.span)
    unit, _ = keys.decode(distinct)
    size = sizes[unit]
    # of a row's other rows a share stays; a row without others loses nothing while it stays
    remaining = np.divide(rows - 1, size - 1, out=np.ones(len(rows)), where=size > 1)
    return LostLinks(
        name,
        int((sizes * (sizes - 1) // 2).sum()),
        int((rows * (rows - 1) // 2).sum()),
        1 - share(float(rows @ remaining), len(units)),
    )


def _units(release: Release, unit: Domain) -> NDArray[np.int64]:
    """The unit of each row, as the audit joins them."""
    return np.concatenate([one[unit.attribute].astype(np.int64) for one in release.engine.batches([unit])])
