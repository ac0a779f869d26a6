"""The contract of an engine: schema, distinct values with their counts, and the records as codes.

An engine never sees roles, thresholds or conventions, and the core never sees where the table is stored.

A seeded hash of a column's text decides which records are in a sample. A record is drawn where the MD5 of the seed, a
slash and its text, in hexadecimal digits, sorts before `bound`. Every engine can compute it, so two tables with the
same column give the same values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from hashlib import md5
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError, PluginError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.provenance import TableVersion
from tcdp_audit.core.base.scratch import Scratch
from tcdp_audit.core.base.words import listing
from tcdp_audit.core.encoding.counted import CountedCodes, MappedShards, UnitClasses
from tcdp_audit.core.encoding.domain import Domain, RawDomain, texts_of
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.engines.text_form import PLAIN_FORM, TextForm

Batch = Mapping[str, Codes]  # attribute -> code of each record
DIGITS = 12  # hexadecimal digits of a hash that are compared: shares are exact to 1 in 2**48
EVERYTHING = "g"  # sorts after all hexadecimal digits


@dataclass(frozen=True)
class Column:
    """A column of the table: its name, and the engine's name of its type."""

    name: str
    type: str


@dataclass(frozen=True)
class Translation:
    """The names and codes of a table with a schema of its own, in terms of the release's attributes.

    Args:
        place: the place in the policy that declares the table, for messages.
        places: that of each attribute that is declared with another name or with codes.
        columns: the table's column by attribute, where it has another name.
        codes: for each attribute with codes, the table's codes of each of its values; no code is named twice.
        hidden: how many columns of the table are left out, as another column is the attribute of that name.
    """

    place: str
    places: Mapping[str, str]
    columns: Mapping[str, str]
    codes: Mapping[str, Mapping[str, Sequence[str]]]
    hidden: int = 0

    def where(self, attribute: str) -> str:
        """The place in the policy that an error about an attribute names."""
        return self.places.get(attribute, self.place)


class Engine(ABC):
    """A table that can be counted and encoded. Use it as a context manager; it may hold files and connections.

    Args:
        name: what messages call the table; to be set.
        uri: where it comes from, for provenance, without credentials; to be set.
    """

    name: str
    uri: str
    path: Path | None = None
    scratches: tuple[Scratch, ...] = ()  # hold the copies that the engine reads; removed when it is closed
    value_labels: Mapping[str, bool] = MappingProxyType({})  # labelled columns: whether cells are read as labels
    declared_missing: frozenset[str] = frozenset()  # columns with cells that the file declares missing, read as missing
    opened_with_codes: Callable[[Sequence[str]], Engine] | None = None  # reopens the table with those codes as values
    text_form: TextForm = PLAIN_FORM  # how the policy says that its text is written
    encoding: str = ""  # that of a text file which is not UTF-8
    version: TableVersion | None = None  # which of a table's versions it reads, where the table keeps several
    snapshot: str = ""  # a database's own identifier of the moment at which it is read, where it has one
    hashes_content: bool | None = None  # whether it has a `content_hash`; None where `sha256` identifies the table
    encoding_is_detected: bool = False  # whether nothing but the bytes of the file says so
    further_content: Sequence[str] | None = None  # noun phrases for what a file holds next to its table, if it can
    ordered: bool = True  # whether record i is the same in every scan; not in a database
    progress: Callable[[str, int, int], None] | None = None  # called with (step, rows done, all rows or 0 if unknown)
    most: int | None = None  # limit of the records that `batches` gives; None for all
    translation: Translation | None = None  # of a table whose names and codes a policy declares

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Refuse an engine that lacks a method.

        Raises:
            PluginError: it names those that are missing.
        """
        if missing := sorted(cls.__abstractmethods__):
            raise PluginError(
                f"the engine {cls.__name__} lacks {listing(missing)}; see `tcdp_audit.plugin.engine.Engine`"
            )
        return super().__new__(cls)

    @property
    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order."""

    @property
    @abstractmethod
    def records(self) -> int:
        """The number of records that the table has."""

    @property
    def rows(self) -> int:
        """The greatest number of rows that `counted` gives."""
        return self.records

    def group_by(self, attributes: Sequence[str]) -> None:  # noqa: B027 - an engine may have no use for it
        """Learn which columns will be counted together, before any of them is asked for.

        An engine over a database can then run one query for all of them.
        """

    def with_codes(self, columns: Sequence[str]) -> Engine:
        """The table with declared missing codes as values in some columns, because they distinguish records.

        Returns this engine where no such code is declared in the columns; otherwise closes it and opens another.
        """
        asked = [name for name in columns if name in self.declared_missing]
        if not asked or self.opened_with_codes is None:
            return self
        engine = self.opened_with_codes(asked)
        engine.name, engine.uri = self.name, self.uri
        engine.scratches, self.scratches = (*engine.scratches, *self.scratches), ()  # it may read the same copy
        self.close()
        return engine

    @abstractmethod
    def domain(self, attribute: str) -> RawDomain:
        """The distinct values of a column with their counts.

        Raises:
            DataError: the column holds nested data, whose distinct values are not defined.
        """

    @abstractmethod
    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        """All records as codes, in the table's order. Call `domain` for each column before."""

    def counted(self, domains: Sequence[Domain]) -> Iterator[CountedCodes]:
        """All records as codes in any order; an engine may count equal records and give each row once.

        The default is `batches` with one record a row. Call `domain` for each column before.
        """
        return map(CountedCodes, self.batches(domains))

    def sample(self, attributes: Sequence[str], sampling: Sampling) -> pa.Table:
        """Columns of the records that are drawn. A record without a value in the drawing column is not drawn.

        The default selects them from `batches`. An engine may select them in the database if it draws the same records.

        Args:
            attributes: the columns, including the drawing column.
            sampling: which records to draw.

        Returns:
            The columns by name, with the same distinct values as `domain` gives for those records.

        Raises:
            DataError: a column holds nested data.
        """
        domains = [domain_as_typed(name, self.domain(name)) for name in attributes]
        drawn = sampling.drawn_of(self.domain(sampling.by))
        parts = [_decoded(domains, {name: np.zeros(0, np.intp) for name in attributes})]
        for batch in self.batches(domains):
            rows = np.flatnonzero(drawn[batch[sampling.by]])
            parts.append(_decoded(domains, {name: batch[name][rows] for name in attributes}))
        return pa.concat_tables(parts)

    def glimpse(self, attributes: Sequence[str], most: int) -> Engine:  # noqa: ARG002
        """A table with these columns and at least `most` records, if there are so many; by default this one.

        An engine that would need another pass over a remote table may fetch only its first records.
        """
        return BorrowedEngine(self)

    def repeats(self, attribute: str) -> tuple[int, int]:
        """The number of records without a value in a column, and of values that occur in more than one record."""
        raw = self.domain(attribute)
        return raw.nulls, int((raw.counts > 1).sum())

    def shards(self, domains: Sequence[Domain], by: Sequence[Domain], wanted: int) -> MappedShards | None:  # noqa: ARG002
        """The table as shards that are processed where they are stored; None to build shards here from `counted`.

        Args:
            domains: the columns of a shard, as codes.
            by: the columns that decide on the shard: records that agree in them share one. Empty for one shard.
            wanted: the number of shards that suits a machine that processes two at a time.
        """
        return None

    def unit_classes(self, unit: str, known: Sequence[str], missing: Sequence[str]) -> UnitClasses | None:  # noqa: ARG002
        """The classes of whole histories, formed where the table is; None to read the rows here.

        Args:
            unit: the column that joins rows.
            known: the columns that make the label of a row.
            missing: texts that count as no value.
        """
        return None

    @abstractmethod
    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """The first record, from 1, that holds one of these raw values; None where records have no order."""

    @abstractmethod
    def table(self) -> pa.Table:
        """All records as one Arrow table, text unchanged; for libraries that need the whole table at once."""

    def token_kinds(self) -> pa.Table | None:
        """The kind of JSON token of each cell of a JSON lines file, see `json_tokens`; None for other tables."""
        return None

    def source_table(self) -> pa.Table:
        """All records in the types of the source, including types that the engine does not have."""
        return self.table()

    @abstractmethod
    def sha256(self) -> str | None:
        """SHA-256 of the file's bytes as read, or of a table's content; None if the engine has neither.

        Raises:
            DataError: the file changed after it was opened.
        """

    def content_hash(self) -> str:
        """SHA-256 over the names of the columns and the hashes of the rows, whatever their order; empty for no hash.

        It identifies a table that has no bytes of its own, such as one in a database, against change by accident. It
        does not withstand who looks for other rows of the same hash, so no attestation rests on it.

        Raises:
            DataError: the table cannot be read.
        """
        return ""

    def require_unchanged(self) -> None:
        """Insist that the file is what it was when it was opened; a table that is no file has nothing to be compared.

        Raises:
            DataError: it is another, or gone.

        Cost: a pass over the file's bytes.
        """
        digest = self.sha256()
        if self.path is not None and content_digest(self.path) != digest:
            raise DataError(f"{self.name}: the file changed after it was opened; open it again")

    def close(self) -> None:
        """Release files, connections and temporary copies."""
        for scratch in self.scratches:
            scratch.cleanup()

    def __enter__(self) -> Self:
        """Use as a context manager."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()


class BorrowedEngine(Engine):
    """A table lent to a table check, which reads it and cannot close it."""

    borrowed: tuple[str, ...] = ("_lender",)  # not of its own size

    def __init__(self, lender: Engine) -> None:
        self._lender = lender
        self.name, self.uri, self.path, self.ordered = lender.name, lender.uri, lender.path, lender.ordered
        self.most, self.translation = lender.most, lender.translation
        self.text_form, self.encoding = lender.text_form, lender.encoding
        self.encoding_is_detected, self.further_content = lender.encoding_is_detected, lender.further_content
        self.version, self.snapshot, self.hashes_content = lender.version, lender.snapshot, lender.hashes_content

    @property
    def columns(self) -> Sequence[Column]:
        """The columns, in the table's order."""
        return tuple(self._lender.columns)

    @property
    def records(self) -> int:
        """The number of records that the table has."""
        return self._lender.records

    @property
    def rows(self) -> int:
        """The greatest number of rows that `counted` gives."""
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
        """The number of records without a value of a column, and of values that occur in several records."""
        return self._lender.repeats(attribute)

    def group_by(self, attributes: Sequence[str]) -> None:
        """Announce columns that will be counted together."""
        self._lender.group_by(attributes)

    def locate(self, attribute: str, values: NDArray[Any]) -> int | None:
        """The first record, from 1, that holds one of these raw values; None where records have no order."""
        return self._lender.locate(attribute, values)

    def table(self) -> pa.Table:
        """All records as one Arrow table."""
        return self._lender.table()

    def sha256(self) -> str | None:
        """Digest of the table's file."""
        return self._lender.sha256()

    def content_hash(self) -> str:
        """Hash over the rows, whatever their order."""
        return self._lender.content_hash()


def recode(raw: NDArray[Any], domain: Domain) -> Codes:
    """Convert raw positions (the number of raw values for null) to codes of a domain, in its narrowest type."""
    table = np.append(domain.code_of_raw, domain.size).astype(domain.dtype)
    return table[raw]


def domain_as_typed(attribute: str, raw: RawDomain) -> Domain:
    """A domain whose codes are the positions of the raw values."""
    return Domain(attribute, raw.values, raw.counts, raw.nulls, np.arange(len(raw.values)))


def _decoded(domains: Sequence[Domain], codes: Batch) -> pa.Table:
    """Convert codes back to values."""
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
        by: the drawing column. Integers are hashed as decimal digits, other cells as the text of nominal values.
        share: the expected share of the column's values that is drawn, from 0 to 1.
        seed: the seed of the draw.

    Example:
        >>> Sampling("id", Fraction(1, 2), 1).drawn(["1", "2", "3", "4"]).tolist()
        [True, False, False, False]
    """

    by: str
    share: Fraction
    seed: int

    @property
    def prefix(self) -> str:
        """The prefix of the text that is hashed."""
        return f"{self.seed}/"

    @property
    def bound(self) -> str:
        """The least hash that is not drawn; hashes are compared as text."""
        if self.share >= 1:
            return EVERYTHING
        return f"{int(self.share * 16**DIGITS):0{DIGITS}x}"

    def drawn(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether records with these texts are drawn. O(texts)."""
        bound, prefix = self.bound, self.prefix
        hashes = (md5((prefix + text).encode(), usedforsecurity=False).hexdigest() for text in texts)
        return np.fromiter((one < bound for one in hashes), bool, len(texts))

    def drawn_of(self, raw: RawDomain) -> NDArray[np.bool_]:
        """Whether records with each value of a column are drawn; null, the last, never is. Shape (values + 1,)."""
        return np.append(self.drawn(texts_of(raw.values).tolist()), False)
