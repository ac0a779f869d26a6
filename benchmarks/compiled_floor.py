"""The figures of an audit by a program that does nothing else: pyarrow reads, and `floor.c` counts and measures.

k-anonymity, and of two sensitive attributes distinct and entropy l-diversity and t-closeness by the equal and the
ordered distance, in floats. Nothing is checked, named, described or drawn, and no figure at a threshold is decided
exactly. The table is a Parquet file with quasi-identifiers of up to 256 values whose combinations fit into 32 bits, a
sensitive text and a sensitive integer of up to 65,536 values.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

SOURCE = Path(__file__).with_name("floor.c")
BATCH = 2**16  # records that are read at a time: their columns stay in the cache
PARTS = 512  # as in the source
THREADS = 2
FIGURES = ("pairs", "distinct", "entropy", "t equal", "t ordered")

Codes = NDArray[Any]


def library() -> ctypes.CDLL:
    """The compiled source, which is compiled again where it is newer."""
    built = Path(tempfile.gettempdir()) / f"tcdp-audit-floor-{SOURCE.stat().st_mtime_ns}.so"
    if not built.exists():
        flags = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, "-o", str(built), str(SOURCE), "-lm"], check=True)
    return ctypes.CDLL(str(built))


class _Reader:
    """Columns as codes, read by several threads: a byte for each cell, four for the last column."""

    def __init__(self, path: str, names: Sequence[str]) -> None:
        self.path, self.names, footer = path, names, pq.read_metadata(path)
        schema = footer.schema.to_arrow_schema()
        self.groups = footer.num_row_groups
        self.codes: dict[str, dict[str, int]] = {}  # of the columns of text, each value as it is met
        self.least: dict[str, int] = {}
        self.span: dict[str, int] = {}
        self.lock = Lock()
        for name in names:
            chunks = [footer.row_group(one).column(schema.get_field_index(name)) for one in range(self.groups)]
            if chunks[0].physical_type == "BYTE_ARRAY":
                self.codes[name] = {}
            else:
                self.least[name] = min(one.statistics.min for one in chunks)
                self.span[name] = max(one.statistics.max for one in chunks) - self.least[name] + 1

    def read(self, groups: Sequence[int]) -> list[Codes]:
        """The codes of some row groups, column by column."""
        file = pq.ParquetFile(self.path, read_dictionary=list(self.codes))
        batches = file.iter_batches(BATCH, groups, [*self.names], use_threads=False)
        coded = [
            [self._coded(name, column) for name, column in zip(self.names, one.columns, strict=True)] for one in batches
        ]
        return [np.concatenate(parts) for parts in zip(*coded, strict=True)]

    def _coded(self, name: str, column: Any) -> Codes:
        if name not in self.codes:
            numbers = _numbers(column)
            return (numbers - numbers.dtype.type(self.least[name])).astype(
                np.uint32 if name == self.names[-1] else np.uint8
            )
        with self.lock:
            known = self.codes[name]
            table = [known.setdefault(text, len(known)) for text in column.dictionary.to_pylist()]
        return np.array(table, np.uint8).take(_numbers(column.indices))


def _numbers(array: Any) -> Codes:
    kind = np.dtype(array.type.to_pandas_dtype())
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def figures(
    path: str, quasi_identifiers: Sequence[str], text: str, number: str, compiled: ctypes.CDLL
) -> dict[str, Any]:
    """The number of classes, the smallest, and for each sensitive attribute its `FIGURES`."""
    reader = _Reader(path, [*quasi_identifiers, text, number])
    with ThreadPoolExecutor(THREADS) as threads:
        read = list(threads.map(reader.read, [range(one, reader.groups, THREADS) for one in range(THREADS)]))
        radices = np.array([reader.span.get(one) or len(reader.codes[one]) for one in quasi_identifiers], np.uint32)
        packed = list(threads.map(partial(_packed, compiled, radices), read))
        texts = np.argsort(np.argsort(list(reader.codes[text]))).astype(np.uint8)  # the codes of texts in their order
        narrow = [texts.take(columns[-2]) for columns in read]
        present = sum(threads.map(partial(np.bincount, minlength=reader.span[number]), [one[-1] for one in read]))
        rank = (np.cumsum(present > 0) - 1).astype(np.uint32)
        occurrences = [sum(np.bincount(one, minlength=len(texts)) for one in narrow), present[present > 0]]
        held = np.array([one for _, one in packed])
        starts = (np.cumsum(held.T.ravel()) - held.T.ravel()).reshape(PARTS, THREADS).T.copy()
        records = int(held.sum())
        offsets = np.append(starts[0], records)
        keys, values = np.empty(records, np.uint32), [np.empty(records, np.uint16) for _ in range(2)]
        into = _pointers(values)
        work = zip(packed, narrow, read, starts, strict=True)
        list(threads.map(lambda one: _deal(compiled, one, rank, keys, into), work))
        measure = partial(_counted, compiled, offsets, keys, into, occurrences)
        parts = np.linspace(0, PARTS, 8 * THREADS + 1).astype(int)
        classes, measured = zip(*threads.map(measure, parts[:-1], parts[1:]), strict=True)
    merge = (np.sum, np.min, np.min, np.max, np.max)
    by_figure = np.array(measured).reshape(-1, 2, len(FIGURES))
    merged = [[float(how(by_figure[:, at, one])) for one, how in enumerate(merge)] for at in range(2)]
    answer = {name: dict(zip(FIGURES, one, strict=True)) for name, one in zip((text, number), merged, strict=True)}
    return {"classes": sum(one[0] for one in classes), "smallest": min(one[1] for one in classes), **answer}


def _packed(compiled: ctypes.CDLL, radices: Codes, columns: Sequence[Codes]) -> tuple[Codes, Codes]:
    keys, held = np.empty(len(columns[0]), np.uint32), np.zeros(PARTS, np.int64)
    codes = _pointers(columns[: len(radices)])
    compiled.pack(ctypes.c_int64(len(keys)), len(radices), codes, _at(radices), _at(keys), _at(held))
    return keys, held


def _deal(compiled: ctypes.CDLL, one: Any, rank: Codes, keys: Codes, values: Any) -> None:
    (own, _), narrow, columns, starts = one
    records = ctypes.c_int64(len(own))
    compiled.deal(records, _at(own), _at(narrow), _at(columns[-1]), _at(rank), _at(starts), _at(keys), values)


def _counted(
    compiled: ctypes.CDLL, offsets: Codes, keys: Codes, values: Any, occurrences: list[Codes], first: int, last: int
) -> tuple[list[float], list[float]]:
    domains = np.array([len(one) for one in occurrences], np.int64)
    below = [np.append(0, np.cumsum(one)) / one.sum() for one in occurrences]
    area = [np.append(0, np.cumsum(one[1:])) for one in below]
    classes, measured = np.array([0, np.inf]), np.tile([0, np.inf, np.inf, 0, 0], 2)
    given = (_at(offsets), _at(keys), values, _at(domains), _pointers(below), _pointers(area))
    compiled.count(int(first), int(last), *given, _at(classes), _at(measured))
    return classes.tolist(), measured.tolist()


def _at(array: Codes) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _pointers(arrays: Sequence[Codes]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(one.ctypes.data for one in arrays))
