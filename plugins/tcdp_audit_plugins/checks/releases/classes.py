"""The equivalence classes of several releases of the same people, and the sensitive values that are in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Codes, Counts, fold, numbered
from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.engine import CheckError, CodedTable, Domain
from tcdp_audit.plugin.sentences import count, listing

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class ReleaseClasses:
    """The equivalence classes of one release."""

    table: CodedTable
    names: Sequence[str]  # the quasi-identifiers
    class_of: Positions  # the class of each row. Shape (rows,).
    # the code of each class, for each quasi-identifier in the order of `names`. Shapes (classes,).
    codes: Sequence[Codes]
    records: Counts  # how many records each class has. Shape (classes,).

    @classmethod
    def of(cls, table: CodedTable, names: Sequence[str], advice: str = "correct `previous:`") -> ReleaseClasses:
        """The classes of a release. O(rows x quasi-identifiers).

        Raises:
            CheckError: it has no records; `advice` says what to do.
        """
        if not table.records:
            raise CheckError(f"{table.name} has no records, so nothing can be compared with it; {advice}")
        keys = fold([table.codes[name] for name in names], [table.domains[name].size + 1 for name in names])
        distinct, number = numbered(keys.values, keys.span)
        class_of = number.astype(np.int64)
        records = np.bincount(class_of, table.rows.each, len(distinct)).astype(np.int64)
        return cls(table, names, class_of, keys.decode(distinct.astype(np.int64)), records)

    @property
    def domains(self) -> list[Domain]:
        """The domain of each quasi-identifier."""
        return [self.table.domains[name] for name in self.names]

    def values(self, attribute: str, *, missing_is_a_value: bool) -> ClassValues:
        """The values of a sensitive attribute in each class.

        A missing value is none unless it is to be one; a suppressed cell never is.

        Cost: O(rows log rows).
        """
        domain = self.table.domains[attribute]
        says = ~domain.is_uninformative
        says[-1] = missing_is_a_value
        codes, width = self.table.codes[attribute], domain.size + 1
        known = says[codes]
        each = self.table.rows.each[known]
        keys, number = numbered(self.class_of[known] * width + codes[known], len(self.records) * width)
        times = np.bincount(number, each, len(keys)).astype(np.int64)
        offsets = np.searchsorted(keys, np.arange(len(self.records) + 1) * width)
        return ClassValues(offsets.astype(np.int64), keys.astype(np.int64), times, width, known)


@dataclass(frozen=True)
class ClassValues:
    """The different values of a sensitive attribute in each class, as compressed rows."""

    offsets: Positions  # where the values of each class begin. Shape (classes + 1,).
    keys: Positions  # the class of each value times `width`, plus its code; ascending
    times: Counts  # how many records of the class have the value
    width: int  # a number above all codes
    known: NDArray[np.bool_]  # for each row of the release whether it has a value. Shape (rows,).

    @property
    def number(self) -> Counts:
        """The number of different values that each class has. Shape (classes,)."""
        return np.diff(self.offsets)

    @cached_property
    def records(self) -> Counts:
        """The number of records of each class that have a value. Shape (classes,)."""
        upto = np.concatenate([[0], np.cumsum(self.times)])
        return np.diff(upto[self.offsets])

    def shares(self, positions: Positions) -> NDArray[np.float64]:
        """The share of its class that each value has, as a binary logarithm."""
        of_class = self.records[self.keys[positions] // self.width]
        return np.log2(self.times[positions]) - np.log2(of_class)


def classes_of_releases(view: TableView, alike: Sequence[str] = (), *, counted: bool = False) -> list[ReleaseClasses]:
    """The classes of this release and of all earlier ones, in this order; columns `alike` share common domains.

    Raises:
        CheckError: there is no earlier release, one cannot be read, or classes overlap by convention.
    """
    names = [name for name in view.quasi_identifiers if name not in alike]
    names += [name for name in view.quasi_identifiers if name in alike]
    tables = view.releases([name for name in names if name not in alike], alike, counted=counted)
    require_own_category(view, tables, "releases")
    return [ReleaseClasses.of(table, names) for table in tables]


def require_own_category(view: TableView, tables: Sequence[CodedTable], what: str) -> None:
    """Insist that a missing quasi-identifier is a value, if there is one.

    Raises:
        CheckError: it is not, by convention, and one of the tables, which are called `what`, has one.
    """
    convention, names = view.policy.conventions.missing_quasi_identifier, view.quasi_identifiers
    missing = (one.missing for table in tables for name, one in table.domains.items() if name in names)
    if convention != "own_category" and any(missing):
        raise CheckError(
            f"a quasi-identifier is missing in one of the {what}, which `missing_quasi_identifier: {convention}` "
            f"does not take for a separate value, so that classes of two {what} cannot be compared; fill it in, "
            "or use `own_category`"
        )


def values_of_releases(view: TableView, releases: Sequence[ReleaseClasses], attribute: str) -> list[ClassValues]:
    """The values of a sensitive attribute in the classes of each release, under the policy's convention.

    Raises:
        CheckError: a value is missing, and the convention says that this is an error.
    """
    convention = view.policy.conventions.missing_sensitive
    without = [one.table.name for one in releases if one.table.domains[attribute].missing]
    if convention == "fail" and without:
        raise CheckError(
            f"{attribute!r} has no value in some records of {listing(without)}, which `missing_sensitive: fail` takes "
            "for an error; fill it in, or use another convention"
        )
    return [one.values(attribute, missing_is_a_value=convention == "own_category") for one in releases]


def followed_by(view: TableView, key: str) -> str:
    """The name of the column that people are followed by: the key, or the unit where histories are judged."""
    return key if view.of_rows is None else view.of_rows.policy.document.unit or key


def rows_of_people(releases: Sequence[ReleaseClasses], key: str, name: str) -> list[Positions]:
    """For each release the row of each person by the code of their key, -1 for anyone who is not in it.

    Errors call the key by `name`.

    Raises:
        CheckError: a record has no key, or two of a release have the same; the message counts, and names no value.

    Cost: O(records).
    """
    return [_rows_of_people(one.table, key, name) for one in releases]


def _rows_of_people(table: CodedTable, key: str, name: str) -> Positions:
    codes, people = table.codes[key], table.domains[key].size
    times = np.bincount(codes, minlength=people + 1)
    if times[-1]:
        records = count(int(times[-1]), "record")
        raise CheckError(
            f"people cannot be followed: the key {name!r} is missing in {records} of {table.name}; fill it in"
        )
    repeated = int((times > 1).sum())
    if repeated:
        raise CheckError(
            f"people cannot be followed: {count(repeated, 'value')} of the key {name!r} in more than one record of "
            f"{table.name}; name a key with one record for each person"
        )
    rows = np.full(people, -1, dtype=np.int64)
    rows[codes] = np.arange(len(codes))
    return rows


def blocks_of(sizes: Counts, limit: int) -> list[tuple[int, int]]:
    """Runs of neighbours whose sizes add up to about a limit; one that is larger by itself is a run.

    Example:
        >>> blocks_of(np.array([2, 2, 9, 1]), 4)
        [(0, 2), (2, 3), (3, 4)]
    """
    upto = np.cumsum(sizes)
    blocks, begin = [], 0
    while begin < len(sizes):
        before = int(upto[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(upto, before + limit, side="right")), begin + 1)
        blocks.append((begin, end))
        begin = end
    return blocks


def together(memory: int | None, each: int) -> int:
    """The number of things of so many bytes that are looked at together."""
    return 2**22 if memory is None else max(1, min(2**22, memory // (2 * each)))


@dataclass(frozen=True)
class Lifespans:
    """The classes of people through the releases that they are in, equal combinations of classes together."""

    people: Positions  # the code of the key of each
    combination: Positions  # the combination of each. Shape (people,).
    classes: Sequence[Positions]  # for each release the class in each combination, -1 where it has no part

    @classmethod
    def of(
        cls, releases: Sequence[ReleaseClasses], rows: Sequence[Positions], values: Sequence[ClassValues]
    ) -> Lifespans:
        """Everyone who is in two releases or more; anyone who has no value in a release is not in it. O(people)."""
        classes = [
            np.where(np.append(own.known, False)[row], np.append(one.class_of, -1)[row], -1)
            for one, row, own in zip(releases, rows, values, strict=True)
        ]
        people = np.flatnonzero(np.sum([own >= 0 for own in classes], axis=0) > 1)
        keys = fold([own[people] + 1 for own in classes], [len(one.records) + 1 for one in releases])
        distinct, which = numbered(keys.values, keys.span)
        combinations = [codes - 1 for codes in keys.decode(distinct.astype(np.int64))]
        return cls(people, which.astype(np.int64), combinations)

    @property
    def now(self) -> NDArray[np.bool_]:
        """The classes that are in this release."""
        return self.classes[0][self.combination] >= 0
