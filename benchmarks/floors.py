"""The minimal work of an audit, as programs that do nothing else: CPU seconds compared with the bare GROUP BYs.

    python benchmarks/floors.py [FOLDER] [--shapes parquet,csv,...] [--rounds 5] [--scale 1]

The shapes and the bare queries are those of `shapes.py`. `read`: pyarrow reads the columns that an audit needs and
gives each cell a code, on two threads; nothing is sorted, checked or named. `count`: that, and then numpy counts the
classes and, in each, the values of every sensitive attribute (with a unit the entities, too), and takes the smallest
class. Nothing of tcdp-audit takes part. No figure is computed from the counts: no diversity, no distance, no worst
classes, no report. `figures`: the compiled program of `compiled_floor.py`, which gives all figures and nothing else,
for the shapes that it can read. Programs run in turn, each in a separate process; medians are printed, as shares of the
bare queries.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import compiled_floor
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import shapes
from numpy.typing import NDArray

WORKS = ("bare", "read", "count", "figures")
COMPILED = ("parquet",)  # the shapes of which the compiled program gives the figures
CELLS = 4  # cells for each record up to which counting in cells beats sorting
SPAN = 2**62  # keys stay below this
INDEX_BYTES = 4  # of a cell on average, up to which a file's own dictionaries of text are worth reading

Codes = NDArray[Any]


def _columns(table: Any, shape: shapes.Shape, threads: ThreadPoolExecutor) -> Mapping[str, pa.ChunkedArray]:
    """The columns that an audit needs."""
    names = [*shape.quasi_identifiers, *shape.sensitive, *([] if shape.unit is None else [shape.unit])]
    if shape.frame:
        read = threads.map(lambda name: pa.chunked_array([pa.array(table[name])]), names)
        return dict(zip(names, read, strict=True))
    if shape.suffix == "csv":
        options = pa.csv.ConvertOptions(include_columns=names, auto_dict_encode=True)
        whole = pa.csv.read_csv(table, convert_options=options)
        return {name: whole.column(name) for name in names}
    return dict(zip(names, threads.map(lambda name: _parquet_column(table, name), names), strict=True))


def _parquet_column(path: str, name: str) -> pa.ChunkedArray:
    footer = pq.read_metadata(path)
    position = footer.schema.to_arrow_schema().get_field_index(name)
    groups = [footer.row_group(group).column(position) for group in range(footer.num_row_groups)]
    is_short = sum(group.total_uncompressed_size for group in groups) <= INDEX_BYTES * footer.num_rows
    dictionaries = [name] if is_short and groups[0].physical_type == "BYTE_ARRAY" else []
    return pq.ParquetFile(path, read_dictionary=dictionaries).read([name], use_threads=False).column(name)


def _coded(column: pa.ChunkedArray) -> tuple[Codes, int]:
    """A code for each cell, and the number of codes."""
    if pa.types.is_integer(column.type):
        numbers = np.concatenate([_numbers(chunk) for chunk in column.chunks])
        least, greatest = int(numbers.min()), int(numbers.max())
        if greatest - least < 2**16:
            return (numbers - least).astype(np.uint16), greatest - least + 1
    is_coded = pa.types.is_dictionary(column.type)
    chunks = (column.unify_dictionaries() if is_coded else column.dictionary_encode()).chunks
    values = len(chunks[-1].dictionary)
    return np.concatenate([_numbers(chunk.indices).astype(np.min_scalar_type(values)) for chunk in chunks]), values


def _numbers(array: pa.Array) -> Codes:
    """The numbers of an array without null; pyarrow's own `to_numpy` imports pandas."""
    kind = np.dtype(array.type.to_pandas_dtype())
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def _keys(columns: list[tuple[Codes, int]]) -> tuple[Codes, int]:
    """One number for each record, in mixed radix; where 62 bits are too few, in as many bits of a hash."""
    keys, span = np.zeros(len(columns[0][0]), dtype=np.int64), 1
    for codes, radix in columns:
        keys *= radix
        keys += codes
        span *= radix
    return (keys, span) if span <= SPAN else (keys & (SPAN - 1), SPAN)


def _numbered(keys: Codes, span: int) -> tuple[Codes, int, int]:
    """The class of each record, the number of classes, and the size of the smallest."""
    if span <= CELLS * len(keys):
        counts = np.bincount(keys, minlength=span)
        filled = np.flatnonzero(counts > 0)
        numbers = np.empty(span, dtype=np.uint32)
        numbers[filled] = np.arange(len(filled), dtype=np.uint32)
        return numbers.take(keys), len(filled), int(counts[filled].min())
    order = np.argsort(keys)
    ordered = keys.take(order)
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    numbers = np.empty(len(keys), dtype=np.uint32)
    numbers[order] = np.cumsum(begins) - 1
    starts = np.flatnonzero(begins)
    return numbers, len(starts), int(np.diff(starts, append=len(keys)).min())


def _pairs(classes: Codes, number: int, codes: Codes, values: int) -> int:
    """The number of pairs of a class and a value in it, computed with the size of each pair."""
    if number == len(classes):  # each is one record
        return number
    pairs = classes.astype(np.int64) * values + codes
    if number * values <= CELLS * len(classes):
        return int(np.count_nonzero(np.bincount(pairs, minlength=number * values)))
    pairs.sort()
    starts = np.flatnonzero(pairs[1:] != pairs[:-1])
    return len(np.diff(starts, prepend=-1, append=len(pairs) - 1))


def _program(table: Any, shape: shapes.Shape, *, counts: bool) -> Any:
    with ThreadPoolExecutor(shapes.THREADS) as threads:
        columns = _columns(table, shape, threads)
        coded = dict(zip(columns, threads.map(_coded, columns.values()), strict=True))
        if not counts:
            return [values for _, values in coded.values()]
        classes, number, smallest = _numbered(*_keys([coded[name] for name in shape.quasi_identifiers]))
        others = [coded[name] for name in coded if name not in shape.quasi_identifiers]
        return [number, smallest, *threads.map(lambda one: _pairs(classes, number, *one), others)]


def _one(work: str, name: str, path: str) -> None:
    """Do one piece of work in this process and print the CPU and wall time it took."""
    shape = shapes.SHAPES[name]
    table = shapes._table(path, shape)  # noqa: SLF001 - the same tables
    library = compiled_floor.library() if work == "figures" else None
    wall, cpu = time.perf_counter(), time.process_time()
    if work == "bare":
        shapes._bare(table, shape)  # noqa: SLF001 - the same queries
    elif library is not None:
        compiled_floor.figures(path, shape.quasi_identifiers, *shape.sensitive, library)
    else:
        _program(table, shape, counts=work == "count")
    print(json.dumps([time.process_time() - cpu, time.perf_counter() - wall]))


def _measured(work: str, name: str, path: Path) -> list[float]:
    return shapes.measured_by(sys.executable, __file__, work, name, path)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir(), type=Path)
    parser.add_argument("--shapes", default=",".join(name for name in shapes.SHAPES if name != "every check"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        _one(*arguments.one)
        return
    heads = ("bare CPU", 9), *((head, 7) for work in WORKS[1:] for head in (work, "ratio")), ("limit", 6)
    print(f"{'shape':<12} {'records':>11} " + " ".join(f"{head:>{width}}" for head, width in heads))
    for name in arguments.shapes.split(","):
        shape = shapes.SHAPES[name]
        records = int(shape.records * arguments.scale)
        path = shapes._path(arguments.folder, name, records)  # noqa: SLF001 - the same files
        if not path.exists():
            shape.write(path, records)
        works = WORKS if name in COMPILED else WORKS[:-1]
        rounds = [[_measured(work, name, path)[0] for work in works] for _ in range(arguments.rounds)]
        bare, *others = (median(one) for one in zip(*rounds, strict=True))
        measured = " ".join(f"{one:>7.2f} {one / bare:>7.2f}" for one in others)
        absent = " " * 16 * (len(WORKS) - len(works))
        print(f"{name:<12} {records:>11,} {bare:>9.2f} {measured}{absent} {shape.limit:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
