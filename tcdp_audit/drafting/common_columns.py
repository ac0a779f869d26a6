"""What two tables say of a link between them: columns compared value by value, and sentences on what was found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.vocabulary import topic_of, words_of
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import Domain, Engine, RawDomain
from tcdp_audit.plugin.sentences import agree, count, listing

NUMBERS = frozenset(  # words that say that a column is a number, and not of what
    (
        *("id", "ids", "key", "no", "nr", "num", "number", "nummer", "code", "row", "record", "rec", "index", "idx"),
        *("uuid", "guid", "unnamed", "rownum", "serial", "seqn"),
    )
)
FEW = 3  # findings about a table without a link
WHOLE = 2.0**63  # whole floats below are whole numbers of 64 bits
Places = NDArray[np.int64]


@dataclass(frozen=True)
class DraftLink:
    """A link that values and names allow: `column` of both tables, and the table that has each of its values once."""

    parent: str
    column: str


@dataclass(frozen=True)
class ReadTable:
    """A table as it was read.

    Args:
        name: what the policy calls it.
        engine: over it.
        columns: the facts of each column, by its name.
        naming: columns whose values or names are those of direct identifiers, such as e-mail addresses.
    """

    name: str
    engine: Engine
    columns: Mapping[str, ColumnFacts]
    naming: Collection[str]

    @cached_property
    def keys(self) -> Sequence[str]:
        """The columns with a different value in each row."""
        return [name for name, one in self.columns.items() if is_complete(one) and one.distinct == one.records]

    def domains(self, *columns: str) -> list[Domain]:
        """Columns that are read together, with the positions of their raw values as codes."""
        self.engine.group_by(columns)
        raw = {name: self.engine.domain(name) for name in columns}
        return [
            Domain(name, one.values, one.counts, one.nulls, np.arange(len(one.values))) for name, one in raw.items()
        ]


def is_complete(facts: ColumnFacts) -> bool:
    """Whether every record has a value."""
    return facts.raw is not None and facts.filled == facts.records > 0


def places_in(own: RawDomain, key: RawDomain) -> Places:
    """The position in `key` of each value of `own`, exactly; -1 where it is not there. Shape (values of own,)."""
    absent = np.full(len(own.values), -1, np.int64)
    if own.is_text != key.is_text:
        return absent
    if own.values.dtype == key.values.dtype:
        kind = pa.large_string() if own.is_text else None
        return _indices(pa.array(own.values, kind), pa.array(key.values, kind))
    own_places, own_wholes = _whole_numbers(own)  # one has whole numbers, the other floats
    key_places, key_wholes = _whole_numbers(key)
    indices = _indices(pa.array(own_wholes), pa.array(key_wholes))
    there = indices >= 0
    absent[own_places[there]] = key_places[indices[there]]
    return absent


def _whole_numbers(raw: RawDomain) -> tuple[Places, Places]:
    """The values that whole numbers of 64 bits are equal to: their positions, and these numbers. Exact."""
    values = raw.values
    if values.dtype == np.int64:
        return np.arange(len(values)), values
    places = np.flatnonzero((np.floor(values) == values) & (values >= -WHOLE) & (values < WHOLE))
    return places, values[places].astype(np.int64)


def _indices(own: pa.Array, key: pa.Array) -> Places:
    places = pc.call_function("index_in", [own], pc.SetLookupOptions(key))
    indices = pc.fill_null(places, -1)
    return np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def is_included(own: ColumnFacts, key: ColumnFacts) -> bool:
    """Whether every record has a value, and it occurs in another column. Exact; O(distinct values)."""
    if own.raw is None or key.raw is None or not is_complete(own) or own.distinct > key.distinct:
        return False
    return bool((places_in(own.raw, key.raw) >= 0).all())


def doubt_about(column: str, child: ReadTable, parent: ReadTable) -> str:
    """The reason why a column with the right values and names is still no link that is proposed; empty for none."""
    if column in child.naming or column in parent.naming:
        return "it names people directly, so replace it by a pseudonym in both tables"
    topic = topic_of(column)
    if topic is not None and topic.role is not Role.IDENTIFIER:
        return f"its name speaks of {topic.noun}, which is no link; leave a table of what values mean out of the policy"
    if not {*words_of(column)} - NUMBERS and column in child.keys:
        return "each table may number its own rows by it; if it links them, say so"
    return ""


def notes_of_link(
    table: ReadTable, tables: Mapping[str, ReadTable], link: DraftLink, implied: Sequence[str]
) -> tuple[str, ...]:
    """Sentences on a link that was found."""
    values = count(table.columns[link.column].distinct, "value")
    rows = count(tables[link.parent].engine.records, "row")
    sentence = f"All {values} of {link.column!r} occur in {link.parent}, where each of {rows} has a different one."
    if not implied:
        return (sentence,)
    are = agree(len(implied), "is", "are")
    return sentence, f"{listing([repr(one) for one in implied])} {are} in each row as in {link.parent}."


def notes_of_open_link(table: ReadTable, tables: Sequence[ReadTable], links: Sequence[DraftLink]) -> tuple[str, ...]:
    """Sentences on a table whose link a person must decide."""
    if links:
        named = " or ".join(f"{one.parent} by {one.column!r}" for one in links)
        circular = "" if len(links) > 1 else ", whose rows may belong to its own"
        return (f"Its rows may belong to {named}{circular}. Choose a link, and check the roles of the other columns.",)
    others = [one for one in tables if one is not table]
    findings = [one for other in others for one in (*_nearly(table, other), *_otherwise_named(table, other))]
    return ("No link of it was found.", *findings[:FEW])


def _nearly(table: ReadTable, other: ReadTable) -> Iterator[str]:
    """Sentences on columns of both tables: what speaks for a link, and what against it."""
    for name in [one for one in table.columns if one in other.columns]:
        own, key = table.columns[name].raw, other.columns[name].raw
        if own is None or key is None or not len(own.values) or not len(key.values):
            continue
        if own.is_text != key.is_text:
            kinds = {True: "text", False: "numbers"}
            yield (
                f"{name!r} is read as {kinds[own.is_text]} here and as {kinds[key.is_text]} in {other.name}, where 007 "
                "and 7 would differ or not: write it alike in both."
            )
            continue
        doubt = doubt_about(name, table, other)
        said = _of_doubtful(name, table, other, doubt) if doubt else _of_faulty(name, table, other)
        yield from [said] if said else []


def _of_doubtful(name: str, table: ReadTable, other: ReadTable, doubt: str) -> str:
    """A sentence on a column that would be no link even if its values fitted."""
    own, key = table.columns[name], other.columns[name]
    if name in other.keys and is_included(own, key):
        return f"All values of {name!r} occur in {other.name}, but {doubt}."
    topic = topic_of(name)
    of_values = topic is not None and topic.role is not Role.IDENTIFIER
    if of_values and name in table.keys and is_included(key, own):
        return f"It has a row for each {name!r} of {other.name}: leave out a table of what values mean."
    return ""


def _of_faulty(name: str, table: ReadTable, other: ReadTable) -> str:
    """A sentence on a column whose values do not fit; empty where nothing speaks for a link."""
    own, key = table.columns[name], other.columns[name]
    if own.raw is None or key.raw is None:
        return ""
    known = places_in(own.raw, key.raw)[own.present] >= 0
    if not known.all() and _is_same_number(own, key):
        return f"{name!r} is written otherwise in {other.name}, as 007 and 7 are: write it alike in both."
    if not known.any():
        return ""
    if name in other.keys:
        lost = own.records - int(own.counts[known].sum())
        belong = agree(lost, "belongs", "belong")
        return f"By {name!r}, {lost:,} of {count(own.records, 'row')} {belong} to no row of {other.name}."
    if name in table.keys:
        return ""
    return (
        f"{name!r} is in {other.name} as well, which has {_faults_of_key(key)}: a link needs a table with one row for "
        "each."
    )


def _faults_of_key(key: ColumnFacts) -> str:
    several, lacking = int((key.counts > 1).sum()), key.records - key.filled
    parts = [f"several rows for {count(several, 'value')}"] if several else []
    return " and ".join([*parts, *([f"{count(lacking, 'row')} without one"] if lacking else [])])


def _is_same_number(own: ColumnFacts, key: ColumnFacts) -> bool:
    """Whether all values are numbers of the other column, written otherwise."""
    return own.numbers is not None and key.numbers is not None and bool(np.isin(own.numbers, key.numbers).all())


def _otherwise_named(table: ReadTable, other: ReadTable) -> Iterator[str]:
    """Columns whose values are all in a key of another name: codes, or columns whose names say that they are those."""
    for key in other.keys:
        for name, own in table.columns.items():
            if name == key or name in table.naming or not own.distinct:
                continue
            fits = _meaning(name, table.name) == _meaning(key, other.name)
            if (fits or own.numbers is None) and is_included(own, other.columns[key]):
                yield (
                    f"All values of {name!r} occur in {key!r} of {other.name}: if this is the link, give the two "
                    "columns one name and draft again."
                )


def _meaning(column: str, table: str) -> frozenset[str]:
    """The words of a name without those of numbers, and in the singular; of a bare number those of its table."""
    words = {*words_of(column)} - NUMBERS or {*words_of(table)}
    return frozenset(one.removesuffix("s") for one in words)
