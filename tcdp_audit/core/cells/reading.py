"""Reads tables of figures, long and wide, into cells with intervals; all that is wrong with one is reported at once."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError, redact_errors
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import agree, count, listing, visible
from tcdp_audit.core.cells.categories import read_nodes
from tcdp_audit.core.cells.figures import FigureTexts, Problem
from tcdp_audit.core.cells.table import CellState, Figures, Finding, Nodes, PublishedTable
from tcdp_audit.core.policy.aggregates import AggregateDeclaration
from tcdp_audit.core.policy.faults import nearest

if TYPE_CHECKING:
    from pathlib import Path

    from tcdp_audit.core.engines.base import Engine
    from tcdp_audit.core.policy.policy import Policy

MOST_CELLS = 5_000_000  # of a cross
MOST_DIMENSIONS = 8
SHOWN = 5  # labels that a sentence lists
CSV = (".csv", ".tsv", ".txt")
ONCE = "keep one row for each cell; a table of microdata has `attributes` instead"


@dataclass(frozen=True)
class Texts:
    """A column as distinct texts, in the order in which they occur, and the position of each cell's."""

    texts: list[str]
    codes: NDArray[np.intp]


@dataclass(frozen=True)
class _Rows:
    """The cells of a file as rows of labels and figures: a row of a long file, or a cell of a wide one."""

    labels: dict[str, Texts]
    figures: dict[str, Texts]
    line: NDArray[np.int64]


@redact_errors()
def read_table(name: str, declaration: AggregateDeclaration, engine: Engine, policy: Policy) -> PublishedTable:
    """Read a table of figures; its `findings` are what is wrong with it by itself.

    Args:
        name: its name in the policy.
        declaration: what the policy says of it.
        engine: the table, open.
        policy: the policy, which says where hierarchies are.

    Raises:
        DataError: a column is missing, there is no row, or the cross has too many cells.
        PolicyError: a hierarchy cannot be read.

    Cost: O(cells of the cross x measures), and O(distinct texts) in Python.
    """
    if len(declaration.dimensions) > MOST_DIMENSIONS:
        raise DataError(f"{engine.name}: the table has {len(declaration.dimensions)} dimensions; at most 8 are read")
    rows = _wide(declaration, engine) if declaration.layout is not None else _long(declaration, engine)
    dimensions, faults = [], list[str]()
    for key, declared in declaration.dimensions.items():
        nodes, sentences = read_nodes(key, declared, rows.labels[key].texts, policy.directory)
        dimensions.append(nodes)
        faults += sentences
    cells = prod(len(one.labels) for one in dimensions)
    if cells > MOST_CELLS:
        sizes = " x ".join(count(len(one.labels)) for one in dimensions)
        raise DataError(
            f"{engine.name}: its categories combine to {count(cells, 'cell')} ({sizes}); at most {MOST_CELLS:,} are "
            "read; publish fewer dimensions together, or split the table"
        )
    empty = PublishedTable(name, declaration, engine.name, tuple(dimensions), {}, np.zeros(cells, np.int64))
    cell, outside = _cells(rows, dimensions, empty)
    faults += _undeclared(declaration, engine)
    findings = [Finding("unknown_category", name, f"{engine.name}: {fault}.") for fault in faults]
    return _filled(empty, rows, cell, [*findings, *outside])


def _filled(empty: PublishedTable, rows: _Rows, cell: NDArray[np.intp], findings: list[Finding]) -> PublishedTable:
    """The table with its lines and figures; of a cell with several rows the first counts."""
    known = np.flatnonzero(cell >= 0)
    used, first, times = np.unique(cell[known], return_index=True, return_counts=True)
    first = known[first]
    empty.line[used] = rows.line[first]
    if (times > 1).any():
        findings.append(empty.finding("duplicate_cell", used[times > 1], "has more than one row", ONCE))
    figures = {}
    for key, measure in empty.declaration.measures.items():
        column = rows.figures[key]
        reader = FigureTexts.of(measure, empty.declaration, column.texts)
        figures[key], faults = _figures(reader, column, used, first, empty)
        findings += [empty.finding(one.kind, cells, one.says, one.advice, key) for one, cells in faults]
    return replace(empty, figures=figures, findings=tuple(findings))


def _figures(
    reader: FigureTexts, column: Texts, used: NDArray[np.intp], first: NDArray[np.intp], table: PublishedTable
) -> tuple[Figures, list[tuple[Problem, NDArray[np.intp]]]]:
    """The intervals of a measure, and the cells of each problem."""
    meanings = [reader.read(text) for text in column.texts]
    code = column.codes[first]
    state, low, high, token = _unread(reader, table)
    state[used] = np.array([one.state for one in meanings], np.uint8)[code]
    low[used] = np.array([one.low for one in meanings], np.int64)[code]
    high[used] = np.array([one.high for one in meanings], np.int64)[code]
    token[used] = np.array([one.token for one in meanings], np.int16)[code]
    problems = list(dict.fromkeys(one.problem for one in meanings if one.problem is not None))
    number = np.array([-1 if one.problem is None else problems.index(one.problem) for one in meanings])[code]
    faults = [(one, used[number == place]) for place, one in enumerate(problems)]
    faults = [(one, cells) for one, cells in faults if len(cells)]
    return Figures(reader.measure, reader.scale, low, high, state, token), faults


def _unread(reader: FigureTexts, table: PublishedTable) -> tuple[NDArray[Any], ...]:
    """State, ends and token of every cell, as if the file had a row for none: what `absent` says.

    The mean of a combination without people is no number, and an inner node that occurs nowhere is not published:
    neither is 0.
    """
    cells, (least, largest) = table.cells, reader.limits
    absent = table.declaration.absent
    state = np.full(cells, CellState.IMPOSSIBLE if absent == "structural" else CellState.ABSENT, np.uint8)
    is_zero = absent != "unknown" and (reader.measure.is_additive or absent == "structural")
    low = np.full(cells, 0 if is_zero else least, np.int64)
    high = np.full(cells, 0 if is_zero else largest, np.int64)
    for axis, nodes in enumerate(table.dimensions):
        inner = [node for node, _, _ in nodes.sums if node not in nodes.occurring]
        for values, value in ((state, CellState.ABSENT), (low, least), (high, largest)):
            np.moveaxis(values.reshape(table.shape), axis, 0)[inner] = value
    return state, low, high, np.full(cells, -1, np.int16)


def _cells(rows: _Rows, dimensions: Sequence[Nodes], table: PublishedTable) -> tuple[NDArray[np.intp], list[Finding]]:
    """The cell of each row, -1 where a label is no category; and a finding for each dimension with such labels."""
    cell, findings = np.zeros(len(rows.line), np.intp), []
    known = np.ones(len(cell), np.bool_)
    for nodes in dimensions:
        column = rows.labels[nodes.name]
        code = {label: place for place, label in enumerate(nodes.labels)}
        codes = np.array([code.get(label, -1) for label in column.texts], np.intp)[column.codes]
        if (codes < 0).any():
            findings.append(_outside(nodes, column, codes, rows, table))
        known &= codes >= 0
        cell = cell * len(nodes.labels) + codes
    return np.where(known, cell, -1), findings


def _outside(nodes: Nodes, column: Texts, codes: NDArray[np.intp], rows: _Rows, table: PublishedTable) -> Finding:
    strange = np.flatnonzero(codes < 0)
    labels = [column.texts[place] for place in dict.fromkeys(column.codes[strange].tolist())]
    line = int(rows.line[strange[0]])
    listed = listing([repr(visible(one)) for one in labels[:SHOWN]])
    more = f" and {len(labels) - SHOWN:,} more" if len(labels) > SHOWN else ""
    close = nearest(labels[0], nodes.labels) if len(labels) == 1 else ""
    says = (
        f"{table.place}{f':{line}' if line else ''}: {visible(nodes.name)} {listed}{more} "
        f"{agree(len(labels), 'is', 'are')} not in the declared hierarchy or order{close}; "
        "add the category there, or correct the label."
    )
    return Finding("unknown_category", table.name, says, count=len(strange))


def _long(declaration: AggregateDeclaration, engine: Engine) -> _Rows:
    """A row is a cell: columns of labels and columns of figures."""
    names = [*declaration.dimensions, *declaration.measures]
    _require_columns(engine, names)
    table = _read(engine)
    columns = {name: texts_of(table.column(name)) for name in names}
    return _Rows(
        {name: columns[name] for name in declaration.dimensions},
        {name: columns[name] for name in declaration.measures},
        _lines(engine, table.num_rows),
    )


def _undeclared(declaration: AggregateDeclaration, engine: Engine) -> list[str]:
    """A sentence about columns of a long table that would be released without a look at them."""
    declared = {*declaration.dimensions, *declaration.measures}
    others = [repr(visible(one.name)) for one in engine.columns if one.name not in declared]
    if declaration.layout is not None or not others:
        return []
    listed = listing(others[:SHOWN]) if len(others) <= SHOWN else f"{', '.join(others[:SHOWN])} and others"
    columns = "a column that is" if len(others) == 1 else "columns that are"
    return [f"it has {columns} no dimension and no measure: {listed}; declare it, or leave it out of the file"]


def _wide(declaration: AggregateDeclaration, engine: Engine) -> _Rows:
    """A row has a figure for each category of one dimension, whose labels are the names of its columns."""
    layout = declaration.layout
    assert layout is not None  # noqa: S101 - it is why we are here
    if sorted([*layout.rows, *layout.columns]) != sorted(declaration.dimensions) or len(layout.columns) != 1:
        raise DataError(
            f"{engine.name}: `layout` must name each of its dimensions once, and one of them under `columns`; "
            f"they are {listing(list(map(visible, declaration.dimensions)))}"
        )
    if len(declaration.measures) != 1:
        raise DataError(f"{engine.name}: a wide table has one measure; publish several in long layout, a row a cell")
    _require_columns(engine, layout.rows)
    table = _read(engine)
    names = [one for one in table.column_names if one not in layout.rows]
    if not names:
        raise DataError(f"{engine.name}: it has no column of figures next to {listing(list(layout.rows))}")
    across = len(names)
    figures = _joined([texts_of(table.column(name)) for name in names])
    down = {name: texts_of(table.column(name)) for name in layout.rows}
    labels = {name: Texts(one.texts, np.repeat(one.codes, across)) for name, one in down.items()}
    labels[layout.columns[0]] = Texts(names, np.tile(np.arange(across), table.num_rows))
    lines = np.repeat(_lines(engine, table.num_rows), across)
    return _Rows(labels, {next(iter(declaration.measures)): figures}, lines)


def _require_columns(engine: Engine, names: Sequence[str]) -> None:
    """Refuse a table that lacks a column. Raises `DataError`, which names all of them."""
    there = [one.name for one in engine.columns]
    missing = [f"{visible(name)!r}{nearest(name, there)}" for name in names if name not in there]
    if missing:
        raise DataError(
            f"{engine.name}: it has no column {listing(missing)}; dimensions and measures are named as its columns are"
        )


def _read(engine: Engine) -> pa.Table:
    table = engine.table()
    if not table.num_rows:
        raise DataError(f"{engine.name}: the table has no rows, so it shows nothing that could be judged")
    return table


def texts_of(column: pa.ChunkedArray) -> Texts:
    """The cells of a column as texts; a cell without a value is the empty text, as is a number that is none (NaN)."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_floating(kind):
        coded = column.cast(kind).combine_chunks().dictionary_encode()
        texts = list(map(_text_of, coded.dictionary.to_numpy(zero_copy_only=False)))
    else:
        coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
        texts = coded.dictionary.to_pylist()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.chunk(0)
    codes = coded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False).astype(np.intp)
    return Texts([*texts, ""], codes) if coded.null_count else Texts(texts, codes)


def _text_of(number: Any) -> str:
    """A floating point number in the fewest plain digits that are it; without a point where it is whole."""
    return "" if np.isnan(number) else str(np.format_float_positional(number, trim="-"))


def _joined(columns: Sequence[Texts]) -> Texts:
    """Columns of figures as one, row by row."""
    place: dict[str, int] = {}
    codes = [
        np.array([place.setdefault(text, len(place)) for text in one.texts], np.intp)[one.codes] for one in columns
    ]
    return Texts(list(place), np.stack(codes, axis=1).ravel())


def _lines(engine: Engine, records: int) -> NDArray[np.int64]:
    """The line of each record of a text file, counted from 1; 0 for all records of other tables."""
    path = engine.path
    if path is None:
        return np.zeros(records, np.int64)
    kinds = [suffix.lower() for suffix in path.suffixes]
    if any(one in (".jsonl", ".ndjson") for one in kinds[-2:]):
        return np.arange(1, records + 1)
    if not any(one in CSV for one in kinds[-2:]):
        return np.zeros(records, np.int64)
    try:
        content = path.read_bytes()
    except OSError:  # it is gone; the digest says so where it matters
        return np.zeros(records, np.int64)
    content = gzip.decompress(content) if kinds[-1] == ".gz" else content
    content = (content.decode(engine.encoding).encode() if engine.encoding else content).rstrip(b"\r\n")
    if content.count(b"\n") == records:  # no blank line, and no line end in a cell
        return np.arange(2, records + 2)
    lines = list(_starts(path, content))
    return np.array(lines if len(lines) == records else [0] * records, np.int64)


def _starts(path: Path, content: bytes) -> Iterator[int]:
    """The lines on which the records after the first begin."""
    from tcdp_audit.core.engines.csv_reader import header_of  # noqa: PLC0415 - only for files with longer records

    header = header_of(content, path)
    reader = csv.reader(
        content.decode("utf-8-sig").splitlines(keepends=True), delimiter=header.layout.delimiter.decode()
    )
    start = 1
    for number, record in enumerate(reader):
        if number and record:
            yield start
        start = reader.line_num + 1
