"""Columns of one or more tables as codes over common domains, for checks that need records and not classes.

A table larger than the memory is read as its distinct rows, whole or part by part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack

import numpy as np

from tcdp_audit.core.base.errors import CheckError, DataError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.words import gibibytes, listing
from tcdp_audit.core.classes.histogram import Counts
from tcdp_audit.core.classes.shards import MOST_SHARDS, LocalShards, Plan, assign_to_shards, merged_rows
from tcdp_audit.core.encoding.counted import CountedCodes
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import Codes, Floats, frozen_array
from tcdp_audit.core.encoding.reading import domain_of, require_exact, union
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role

KEY = 16  # bytes of a row's number and its rank
CODE = 8  # greatest number of bytes of a code


@dataclass(frozen=True)
class CodedTable:
    """Some columns of a table: its records in the table's order, or rows that each represent several.

    Args:
        name: the table's name in messages.
        domains: the domain of each column, with the same values for all tables that were coded together.
        codes: the code of each row, for each column.
        times: the number of records that each row represents; None if the rows are the records.
    """

    name: str
    domains: Mapping[str, Domain]
    codes: Mapping[str, Codes]
    times: Counts | None = None

    @property
    def rows(self) -> CountedCodes:
        """The rows with their counts."""
        return CountedCodes(self.codes, self.times)

    @property
    def records(self) -> int:
        """The number of records."""
        return self.rows.records

    def numbers(self, attribute: str) -> Floats:
        """A numeric column of each row as float64, NaN where the value is missing.

        Raises:
            CheckError: the column is not numeric.
        """
        domain = self.domains[attribute]
        if domain.values.dtype == object:
            raise CheckError(f"column {attribute!r} is not numeric; declare `scale: numeric` if it is")
        return np.append(domain.values.astype(np.float64), np.nan)[self.codes[attribute]]


@dataclass(frozen=True)
class StreamedTable:
    """Some columns of a table, read batch by batch in every iteration.

    Args:
        engine: the table.
        columns: their domains, in the requested order.
    """

    engine: Engine
    columns: tuple[Domain, ...]

    @property
    def name(self) -> str:
        """The table's name in messages."""
        return self.engine.name

    def __iter__(self) -> Iterator[CodedTable]:
        """The engine's rows: in any order, not grouped. One scan of the table."""
        domains = FrozenDict({one.attribute: one for one in self.columns})
        for rows in self.engine.counted(self.columns):
            yield CodedTable(self.name, domains, rows, rows.times)


def code_together(
    engines: Sequence[Engine],
    attributes: Sequence[str],
    declarations: Mapping[str, AttributeDeclaration],
    conventions: Conventions,
    *,
    counted: bool = False,
    memory: int | None = None,
) -> list[CodedTable]:
    """Columns of several tables, coded over the union of their values so that equal codes are equal values.

    Args:
        engines: the tables.
        attributes: the columns.
        declarations: the declarations of the columns.
        conventions: decide which cells are missing.
        counted: whether a row may represent several records, so that the order of records is lost.
        memory: budget in bytes for the codes and results computed from them; None for no limit.

    Raises:
        CheckError: a table lacks a column, or holds values that do not fit its declared scale; or the rows would
            exceed the memory.

    Cost: one scan of each table; memory for one code per row and column.
    """
    by_table = common_domains(engines, attributes, declarations, conventions)
    if memory is not None:
        _require_memory(engines, by_table[0], memory, counted=counted)
    return [_coded(engine, domains, counted=counted) for engine, domains in zip(engines, by_table, strict=True)]


def code_apart(
    engines: Sequence[Engine],
    attributes: Sequence[str],
    alike: Sequence[str],
    declarations: Mapping[str, AttributeDeclaration],
    conventions: Conventions,
    *,
    counted: bool = False,
    memory: int | None = None,
) -> list[CodedTable]:
    """Some columns of several tables, coded over the values of each table, and others over common domains.

    Args:
        engines: the tables.
        attributes: the columns that may be generalised differently in each table.
        alike: the columns whose equal codes are equal values.
        declarations: the declarations of the columns.
        conventions: decide which cells are missing.
        counted: whether a row may represent several records, so that the order of records is lost.
        memory: budget in bytes for the codes and results computed from them; None for no limit.

    Raises:
        CheckError: as `code_together`.

    Cost: one scan of each table; memory for one code per row and column.
    """
    common = common_domains(engines, alike, declarations, conventions) if alike else [()] * len(engines)
    own = [tuple(_domain(engine, name, declarations, conventions) for name in attributes) for engine in engines]
    by_table = [(*one, *other) for one, other in zip(own, common, strict=True)]
    if memory is not None:
        _require_memory(engines, max(by_table, key=bytes_of_record), memory, counted=counted)
    return [_coded(engine, domains, counted=counted) for engine, domains in zip(engines, by_table, strict=True)]


def common_domains(
    engines: Sequence[Engine],
    attributes: Sequence[str],
    declarations: Mapping[str, AttributeDeclaration],
    conventions: Conventions,
) -> list[tuple[Domain, ...]]:
    """The domains of some columns of each table, over the union of their values.

    Raises:
        CheckError: a table lacks a column, or holds values that do not fit its declared scale.
    """
    own = [[_domain(engine, name, declarations, conventions) for engine in engines] for name in attributes]
    return list(zip(*(_united(engines, name, one) for name, one in zip(attributes, own, strict=True)), strict=True))


def _united(engines: Sequence[Engine], attribute: str, domains: Sequence[Domain]) -> list[Domain]:
    """The domains of an attribute over the values of all tables."""
    try:
        return union(domains)
    except DataError as error:
        places = (_place(engine, attribute) for engine in engines)
        raise CheckError(f"{next(filter(None, places), '')}{error}") from None


def _place(engine: Engine, attribute: str) -> str:
    """The place in the policy that declares an attribute of a table with a schema of its own, to begin a sentence."""
    return "" if engine.translation is None else f"{engine.translation.where(attribute)}: "


def separate_domains(
    engines: Sequence[Engine],
    attributes: Sequence[str],
    declarations: Mapping[str, AttributeDeclaration],
    conventions: Conventions,
) -> list[tuple[Domain, ...]]:
    """The domains of some columns of each table over its own values, with comparable labels.

    Raises:
        CheckError: as `common_domains`, but tables may be generalised differently.
    """
    own = [[_domain(engine, name, declarations, conventions) for engine in engines] for name in attributes]
    try:
        for domains in own:
            require_exact(domains)
    except DataError as error:
        raise CheckError(str(error)) from None
    return list(zip(*own, strict=True))


def require_columns(name: str, table: Engine, attributes: Sequence[str]) -> None:
    """Insist that a table next to the release has some columns.

    Args:
        name: what the policy calls the table.
        table: the table.
        attributes: the columns.

    Raises:
        CheckError: it lacks one; the message says how the policy names it.
    """
    own = {column.name for column in table.columns}
    lacking = next((one for one in attributes if one not in own), None)
    if lacking is None:
        return
    if table.translation is None:
        key = name.partition(" ")[0]
        named = f"`{key}: {{file: …, columns: {{{lacking}: …}}}}`"
        raise CheckError(
            f"column {lacking!r} is not in {table.name}; if it has another name there, or none, say so as {named}"
        )
    raise CheckError(
        f"{table.translation.place}: column {lacking!r} is not in {table.name}; name its column under `columns:`, or "
        "do not ask for it"
    )


def nothing_shared(tables: Mapping[str, Engine]) -> str:
    """The sentence on tables that together have no quasi-identifier of the release."""
    places = dict.fromkeys(one.translation.place for one in tables.values() if one.translation is not None)
    return (
        f"{listing([*places])}: no quasi-identifier is a column of {listing([*tables])}, so that nothing can be "
        "compared; name their columns under `columns:`"
    )


def bytes_of_record(domains: Sequence[Domain]) -> int:
    """The bytes of a record's codes and of results computed from them."""
    return sum(one.dtype.itemsize for one in domains) + KEY * len(domains)


def fit(engines: Sequence[Engine], each: int, memory: int) -> bool:
    """Whether all records of some tables, of `each` bytes, can be compared in memory."""
    return are_few(engines) and each * sum(engine.records for engine in engines) <= memory


def are_few(engines: Sequence[Engine]) -> bool:
    """Whether each engine gives all its records."""
    return all(engine.most is None or engine.records <= engine.most for engine in engines)


def _require_memory(engines: Sequence[Engine], domains: Sequence[Domain], memory: int, *, counted: bool) -> None:
    """Raise `CheckError`, before rows are read, if they would exceed the budget."""
    rows = sum(engine.rows if counted else engine.records for engine in engines)
    each = sum(one.dtype.itemsize for one in domains) + KEY if counted else bytes_of_record(domains)
    needed = rows * each
    if needed > memory:
        names = listing([engine.name for engine in engines])
        raise CheckError(
            f"it needs {'the distinct rows' if counted else 'every record'} of {names} at once, about "
            f"{gibibytes(needed)} for {rows:,}, and {gibibytes(memory)} may be used; give more with --memory"
        )


def _coded(engine: Engine, domains: Sequence[Domain], *, counted: bool) -> CodedTable:
    empty = CountedCodes({one.attribute: np.zeros(0, one.dtype) for one in domains})
    parts = engine.counted(domains) if counted else map(CountedCodes, engine.batches(domains))
    rows = CountedCodes.joined([*parts] or [empty])
    codes = {name: frozen_array(column) for name, column in rows.items()}
    times = None if rows.times is None else frozen_array(rows.times)
    return CodedTable(engine.name, FrozenDict({one.attribute: one for one in domains}), FrozenDict(codes), times)


def _domain(
    engine: Engine, name: str, declarations: Mapping[str, AttributeDeclaration], conventions: Conventions
) -> Domain:
    if name not in {column.name for column in engine.columns}:
        raise CheckError(f"column {name!r} is not in {engine.name}")
    declaration = declarations.get(name, AttributeDeclaration(role=Role.INSENSITIVE))
    try:
        domain, misfit = domain_of(name, engine.domain(name), declaration, conventions)
    except DataError as error:
        raise CheckError(f"{_place(engine, name)}{error}") from None
    if misfit is not None:
        raise CheckError(f"{_place(engine, name)}column {name!r} of {engine.name} holds {misfit.reason}")
    return domain


PARTS = 4  # the memory divided by this is the planned size of a part, as some are larger than others


def in_parts(
    engines: Sequence[Engine], domains: Sequence[tuple[Domain, ...]], memory: int
) -> Iterator[list[CodedTable]]:
    """Split tables into parts so that equal records of all tables are in the same part, as counted rows.

    Args:
        engines: the tables.
        domains: the columns of each, over common domains.
        memory: budget in bytes. The parts are stored on disk.

    Cost: one scan of each table, which is written once and read once.
    """
    needed = bytes_of_record(domains[0]) * sum(engine.records for engine in engines)
    plan = Plan(min(max(1, -(-PARTS * needed // memory)), MOST_SHARDS), spill=True)
    with ExitStack() as stack:
        shards = []
        for engine, own in zip(engines, domains, strict=True):
            shards.append(assign_to_shards(engine, own, own, plan, merged=True))
            stack.callback(shards[-1].close)
        for number in range(plan.shards):
            yield [
                _table(engine.name, own, _part(one, own, number))
                for engine, own, one in zip(engines, domains, shards, strict=True)
            ]


def _part(shards: LocalShards, domains: Sequence[Domain], number: int) -> CountedCodes:
    rows = shards.read(number)
    return rows if len(rows) else CountedCodes({one.attribute: np.zeros(0, one.dtype) for one in domains})


def distinct_rows(engine: Engine, domains: Sequence[Domain], memory: int | None) -> CodedTable:
    """The distinct rows of a table, each with the number of records that it represents.

    Args:
        engine: the table.
        domains: its columns.
        memory: budget in bytes; None for no limit.

    Raises:
        CheckError: they exceed the memory.

    Cost: one scan of the table, and a sort each time that as many rows were read as there were distinct ones.
    """
    each = bytes_of_record(domains)
    distinct = CountedCodes({one.attribute: np.zeros(0, one.dtype) for one in domains}, np.zeros(0, np.int64))
    waiting: list[CountedCodes] = []
    for rows in engine.counted(domains):
        waiting.append(rows)
        if sum(one.rows for one in waiting) > distinct.rows:
            distinct = merged_rows(CountedCodes.joined([distinct, *waiting]), domains)
            waiting.clear()
        if memory is not None and distinct.rows * each > memory:
            raise CheckError(
                f"it needs the distinct rows of {engine.name} at once, which take more than the {gibibytes(memory)} "
                "that may be used; compare fewer `attributes`, or give more with --memory"
            )
    return _table(engine.name, domains, merged_rows(CountedCodes.joined([distinct, *waiting]), domains))


def _table(name: str, domains: Sequence[Domain], rows: CountedCodes) -> CodedTable:
    codes = {attribute: frozen_array(codes) for attribute, codes in rows.items()}
    times = None if rows.times is None else frozen_array(rows.times)
    return CodedTable(name, FrozenDict({one.attribute: one for one in domains}), FrozenDict(codes), times)
