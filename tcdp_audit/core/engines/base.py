"""The contract of an engine: schema, distinct values with their counts, and the records as codes.

An engine never sees roles, thresholds or conventions, and the core never sees where the table lives.

Which records are in a sample: a seeded hash of a column's text decides, and every engine can compute it.

Two tables with the same column give the same values, wherever they live. A record is drawn where the MD5 of the seed,
a slash and its text, in hexadecimal digits, comes before `bound`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import md5
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.scratch import Scratch
from tcdp_audit.core.encoding.counted import CountedCodes, MappedShards
from tcdp_audit.core.encoding.domain import Domain, RawDomain, texts_of
from tcdp_audit.core.encoding.keys import Codes

Batch = Mapping[str, Codes]  # attribute -> code of each record
DIGITS = 12  # of a hash, which decide: shares to 1 in 281 million million
EVERYTHING = "g"  # after all hexadecimal digits


@dataclass(frozen=True)
class Column:
    """A column of the table: its name, and its type as the engine calls it."""

    name: str
    type: str


class Engine(ABC):
    """A table that can be counted and encoded. Use it as a context manager; it may hold files and connections."""

    name: str
    uri: str
    path: Path | None = None
    scratches: tuple[Scratch, ...] = ()  # with the copies that it reads, removed with it
    value_labels: Mapping[str, bool] = MappingProxyType({})  # of columns that have some: whether cells are read as them
    declared_missing: frozenset[str] = frozenset()  # columns with cells that the file declares missing, read as missing
    opened_with_codes: Callable[[Sequence[str]], Engine] | None = None  # the table again, with their codes as values
    ordered: bool = True  # whether record i is the same whenever it is read: not in a database
    progress: Callable[[str, int, int], None] | None = None  # called with (step, rows done, in all; 0 for not known)
    most: int | None = None  # records that `batches` gives; None for as many as there are

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order."""

    @property
    @abstractmethod
    def records(self) -> int:
        """How many records the table has."""

    @property
    def rows(self) -> int:
        """How many rows `counted` gives at the most."""
        return self.records

    def group_by(self, attributes: Sequence[str]) -> None:  # noqa: B027 - an engine may have no use for it
        """Be told which columns will be counted together, before any of them is asked for.

        An engine that counts where the table lives then asks once for all.
        """

    def with_codes(self, columns: Sequence[str]) -> Engine:
        """The table with the codes of what its file declares missing as values in some columns.

        They stand in the file, and tell records apart there. The engine itself where there are none in these columns;
        otherwise it is closed.
        """
        asked = [name for name in columns if name in self.declared_missing]
        if not asked or self.opened_with_codes is None:
            return self
        engine = self.opened_with_codes(asked)
        engine.name, engine.uri = self.name, self.uri
        engine.scratches, self.scratches = (*engine.scratches, *self.scratches), ()  # with a copy that it may read
        self.close()
        return engine

    @abstractmethod
    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts.

        Raises:
            DataError: the column's type has no distinct values to speak of (nested data).
        """

    @abstractmethod
    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order. Needs `domain` called on each before."""

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes in any order, equal ones counted where the engine can: at best each row once.

        By default `batches`, each row one record. Needs `domain` called on each before.
        """
        return map(CountedCodes, self.batches(domains))

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn; a record without a value to draw by is not.

        By default they are picked from `batches`. An engine may pick them where the table lives, if it draws the same.

        Args:
            attributes: the columns, the one that is drawn by among them.
            sampling: which records.

        Returns:
            The columns by name, as values that give the same distinct values as `domain` does of those records.

        Raises:
            DataError: a column has no distinct values to speak of.
        """
        domains = [domain_as_typed(name, self.domain(name)) for name in attributes]
        drawn = sampling.drawn_of(self.domain(sampling.by))
        parts = [_decoded(domains, {name: np.zeros(0, np.intp) for name in attributes})]
        for batch in self.batches(domains):
            rows = np.flatnonzero(drawn[batch[sampling.by]])
            parts.append(_decoded(domains, {name: batch[name][rows] for name in attributes}))
        return pa.concat_tables(parts)

    def glimpse(self, attributes: Sequence[str], most: int) -> Engine:  # noqa: ARG002
        """A table with some columns, of which only some values matter: this one, or fewer of its records.

        An engine that would need another pass over a table elsewhere may bring the first records instead.

        Args:
            attributes: the columns.
            most: how many records are enough.
        """
        return BorrowedEngine(self)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """How many records have no value of a column, and how many values stand in more than one record."""
        raw = self.domain(attribute)
        return raw.nulls, int((raw.counts > 1).sum())

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> MappedShards | None:  # noqa: ARG002
        """The table as shards that are worked on where they are; None where `counted` is to be assigned to shards here.

        Args:
            domains: the columns that a shard is to have, as codes.
            by: the columns that decide on the shard: records that agree in them are in one. None: one shard.
            wanted: how many shards would suit a machine that works on two at a time.
        """
        return None

    @abstractmethod
    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """The first record, from 1, that holds one of some raw values of a column; None where records have no order."""

    @abstractmethod
    def table(self) -> pa.Table:
        """All records as one Arrow table, text as it stands; for libraries that need the whole table at once."""

    def token_kinds(self) -> pa.Table | None:
        """Of a JSON lines file the kind of token that each cell was read from, see `json_tokens`; None elsewhere."""
        return None

    def source_table(self) -> pa.Table:
        """All records in the types of the source itself, where it has types that the engine does not know."""
        return self.table()

    @abstractmethod
    def sha256(self) -> str | None:
        """SHA-256 of the file's bytes as they were read, or of a table's content; None where an engine has neither.

        Raises:
            DataError: the file changed after it was opened.
        """

    def close(self) -> None:
        """Give back what the engine holds."""
        for scratch in self.scratches:
            scratch.cleanup()

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class BorrowedEngine(Engine):
    """Somebody else's table to read: a table check looks at it and cannot close it."""

    def __init__(self, lender: Engine) -> None:
        self._lender = lender
        self.name, self.uri, self.path, self.ordered = lender.name, lender.uri, lender.path, lender.ordered
        self.most = lender.most

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order."""
        return tuple(self._lender.columns)

    @property
    def records(self) -> int:
        """How many records the table has."""
        return self._lender.records

    @property
    def rows(self) -> int:
        """How many rows `counted` gives at the most."""
        return self._lender.rows

    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts."""
        return self._lender.domain(attribute)

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order."""
        return self._lender.batches(domains)

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes, equal ones counted where the engine can."""
        return self._lender.counted(domains)

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Some columns of the records that are drawn."""
        return self._lender.sample(attributes, sampling)

    def glimpse(self, attributes: Sequence[str], most: int) -> Engine:
        """Some columns of some records."""
        return self._lender.glimpse(attributes, most)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """How many records have no value of a column, and how many values stand in more than one record."""
        return self._lender.repeats(attribute)

    def group_by(self, attributes: Sequence[str]) -> None:
        """Be told which columns will be counted together."""
        self._lender.group_by(attributes)

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """The first record, from 1, that holds one of some raw values of a column; None where records have no order."""
        return self._lender.locate(attribute, values)

    def table(self) -> pa.Table:
        """All records as one Arrow table."""
        return self._lender.table()

    def sha256(self) -> str | None:
        """Digest of the table's file."""
        return self._lender.sha256()


def recode(raw: NDArray[Any], domain: Domain) -> Codes:
    """Raw positions (the number of raw values for null) as the codes of a domain, in its narrowest type."""
    table = np.append(domain.code_of_raw, domain.size).astype(domain.dtype)
    return table[raw]


def domain_as_typed(attribute: str, raw: RawDomain) -> Domain:
    """A domain whose codes are the positions of a column's values."""
    return Domain(attribute, raw.values, raw.counts, raw.nulls, np.arange(len(raw.values)))


def _decoded(domains: Sequence[Domain], codes: Batch) -> pa.Table:
    """The values behind codes."""
    return pa.table({one.attribute: _values(one, codes[one.attribute]) for one in domains})


def _values(domain: Domain, codes: Codes) -> pa.Array:
    kind = pa.string() if domain.values.dtype == object else pa.from_numpy_dtype(domain.values.dtype)
    if not domain.size:
        return pa.nulls(len(codes), kind)
    missing = codes == domain.size
    values = domain.values[np.where(missing, 0, codes)]
    return pa.array(values.tolist(), kind, mask=missing)


@dataclass(frozen=True)
class Sampling:
    """A draw of records by the text of a column.

    Args:
        by: the column: its integers as decimal digits, everything else as the text that nominal values compare by.
        share: about how large a share of the column's values is drawn.
        seed: of the draw.

    Example:
        >>> Sampling("id", Fraction(1, 2), 1).drawn(["1", "2", "3", "4"]).tolist()
        [True, False, False, False]
    """

    by: str
    share: Fraction
    seed: int

    @property
    def prefix(self) -> str:
        """What stands before the text that is hashed."""
        return f"{self.seed}/"

    @property
    def bound(self) -> str:
        """The hashes before this are drawn, compared as text."""
        if self.share >= 1:
            return EVERYTHING
        return f"{int(self.share * 16**DIGITS):0{DIGITS}x}"

    def drawn(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether records with these texts are drawn. O(texts)."""
        bound, prefix = self.bound, self.prefix
        hashes = (md5((prefix + text).encode(), usedforsecurity=False).hexdigest() for text in texts)
        return np.fromiter((one < bound for one in hashes), bool, len(texts))

    def drawn_of(self, raw: RawDomain) -> NDArray[np.bool_]:
        """The same for the values of a column, and last for null, which is never drawn. Shape (values + 1,)."""
        return np.append(self.drawn(texts_of(raw.values).tolist()), False)
