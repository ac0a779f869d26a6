"""A table as shards of codes, so that no equivalence class is ever split and each shard fits into memory.

Records go to shards by the quasi-identifiers that all groupings share. Shards stay in memory while they are small
compared with the budget, and are written to temporary files as raw codes otherwise. Either way the answer is the same,
because everything computed from shards merges exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import field
from functools import cached_property, partial, reduce
from math import prod
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import ThreadPool, checkpoint, result_of
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.scratch import Scratch, writing_temporarily
from tcdp_audit.core.classes.grouping import Shard
from tcdp_audit.core.encoding.counted import PACKED, CountedCodes, MappedShards, Measure, Packing
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import BLOCK, Codes, boundaries, fold, order_of, run_lengths
from tcdp_audit.core.engines.base import Engine

SHARD_RECORDS = 2**19  # small enough to be counted in a cache, large enough to forget the cost of a call
SHARD_BLOCKS = 2**10  # blocks of cells for each shard, at least, so that shards become about equally large
MOST_SHARDS = 2**15
FEW_ROWS = 2**16  # that are possible in a table whose equal records are counted while they are read
WORK_BYTES = 400  # what grouping and measuring take for a record, at the most
REUSED = 2**25 - 2**13  # bytes: the largest block, with what goes around it, that glibc learns from
MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: Fibonacci hashing
R = TypeVar("R")
Progress = Callable[[str, int, int], None]
"""A function that is called with the name of a step, how much of it is done, and the total."""


def silent(step: str, done: int, total: int) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Plan:
    """The number of shards, and whether they are spilled to disk."""

    shards: int
    spill: bool


def largest_shard(memory: int, workers: int) -> int:
    """The number of records that each worker may group and measure at a time."""
    return min(SHARD_RECORDS, max(memory // (2 * workers * WORK_BYTES), 2**14))


def plan(records: int, domains: Sequence[Domain], memory: int, workers: int) -> Plan:
    """Choose shards so that those being worked on, and the codes that wait, stay within the budget."""
    largest = largest_shard(memory, workers)
    stored = records * sum(domain.dtype.itemsize for domain in domains)
    return Plan(shards=min(max(1, -(-records // largest)), MOST_SHARDS), spill=stored > memory // 4)


@dataclass
class LocalShards(MappedShards):
    """The shards of a table in memory or on disk, to be read any number of times; threads work on them side by side."""

    domains: Sequence[Domain]  # the encoded attributes
    count: int  # how many shards there are
    folder: Path | None = None  # where they are, if they are on disk
    packing: Packing | None = None  # the attributes that are packed into one column, if any are
    divisible = True
    _parts: list[list[CountedCodes]] = field(default_factory=list)
    _scratch: Scratch | None = None

    def __post_init__(self) -> None:
        """Begin with empty shards."""
        self._parts = [[] for _ in range(self.count)]
        self.in_memory = self.folder is None

    def close(self) -> None:
        """Remove its files."""
        if self._scratch is not None:
            self._scratch.cleanup()

    def map(self, prepare: Callable[[Shard], Measure[R]], parts: int = 1) -> Iterator[R]:
        """The results of every shard that has records, part by part."""
        _reuse_freed_memory()
        if self.count * parts == 1:  # no thread has anything to wait for
            yield from next(self._work(prepare, parts))()
            return
        with ThreadPool() as pool:
            for future in [pool.submit(work) for work in self._work(prepare, parts)]:
                yield from result_of(future)

    def _work(self, prepare: Callable[[Shard], Measure[R]], parts: int) -> Iterator[Callable[[], Sequence[R]]]:
        """A piece of work that threads take in turn: a part of a shard."""
        for number in range(self.count):
            shared = _SharedMeasure(partial(self.read, number), prepare, parts)
            yield from (partial(shared.measured, part) for part in range(parts))

    def append(self, shard: int, rows: CountedCodes) -> None:
        """Add rows to a shard."""
        if self.folder is None:
            self._parts[shard].append(rows)
            return
        columns = [rows.codes[name] for name in self._types]
        for position, column in enumerate(columns if rows.times is None else [*columns, rows.times]):
            with writing_temporarily(), self._file(shard, position).open("ab") as file:
                column.tofile(file)

    def read(self, shard: int) -> Shard:
        """One shard as whole columns."""
        if self.folder is not None:
            return self._spilled(shard)
        parts = self._parts[shard]
        if len(parts) > 1:
            parts[:] = [CountedCodes.joined(parts)]
        return parts[0] if parts else CountedCodes({})

    def _spilled(self, shard: int) -> Shard:
        if not self._file(shard, 0).exists():
            return CountedCodes({})
        types = enumerate(self._types.items())
        codes = {name: np.fromfile(self._file(shard, position), dtype=dtype) for position, (name, dtype) in types}
        times = self._file(shard, len(self._types))
        return CountedCodes(codes, np.fromfile(times, dtype=np.int64) if times.exists() else None, self.packing)

    @cached_property
    def _types(self) -> dict[str, np.dtype[Any]]:
        """The columns that are kept, and their types."""
        packed = {} if self.packing is None else self.packing.radices
        types = {domain.attribute: domain.dtype for domain in self.domains if domain.attribute not in packed}
        return types if self.packing is None else {PACKED: self.packing.dtype, **types}

    def __iter__(self) -> Iterator[Shard]:
        """Every shard that has records."""
        for number in range(self.count):
            shard = self.read(number)
            if shard.rows:
                yield shard

    def _file(self, shard: int, position: int) -> Path:
        """The file of a column's codes; after the last column that of how many records the rows represent."""
        assert self.folder is not None  # noqa: S101 - only asked for spilled shards
        return self.folder / f"{shard}-{position}"


def _reuse_freed_memory() -> None:
    """Let the arrays of a shard have the memory of those before, where glibc would ask the system for it each time.

    It returns what is free at the end of its memory beyond twice the largest block that was freed so far, up to 32 MiB.
    So such a block is freed here, which nothing was written to. Other allocators are not changed.
    """
    np.empty(REUSED, dtype=np.uint8)


class _SharedMeasure(Generic[R]):
    """A shard that is read and made ready when its first part is asked for, and forgotten after its last."""

    def __init__(self, read: Callable[[], Shard], prepare: Callable[[Shard], Measure[R]], parts: int) -> None:
        self.read, self.prepare, self.parts = read, prepare, parts
        self.lock, self.done = Lock(), 0

    def measured(self, part: int) -> Sequence[R]:
        """The result of a part; nothing where the shard has no records."""
        try:
            with self.lock:  # one thread makes the shard ready, the others wait
                measure = self._measure
            return () if measure is None else (measure((part, self.parts)),)
        finally:
            with self.lock:
                self.done += 1
                if self.done == self.parts:
                    self.__dict__.pop("_measure", None)

    @cached_property
    def _measure(self) -> Measure[R] | None:
        shard = self.read()
        return self.prepare(shard) if shard.rows else None


def partition(
    engine: Engine, domains: Sequence[Domain], by: Sequence[Domain], chosen: Plan, progress: Progress = silent
) -> MappedShards:
    """Read a table once and assign its records to shards; an engine that has shards of its own keeps them.

    Args:
        engine: where the table lives.
        domains: the attributes to encode.
        by: the attributes that decide on the shard: all groupings must contain them. None of them: one shard.
        chosen: how many shards, and where.
        progress: called with (step, records done, records in all).

    Cost: one scan of the table and O(records x attributes).
    """
    own = engine.shards(domains, by, chosen.shards if by else 1)
    # A class is in one shard whole. Where a large table has few different rows, they are counted while they are read,
    # or a class of a hundred million equal records would outgrow any memory.
    few = chosen.spill and prod(one.size + 1 for one in domains) <= FEW_ROWS
    return assign_to_shards(engine, domains, by, chosen, progress, merged=few) if own is None else own


def assign_to_shards(
    engine: Engine,
    domains: Sequence[Domain],
    by: Sequence[Domain],
    chosen: Plan,
    progress: Progress = silent,
    *,
    merged: bool = False,
) -> LocalShards:
    """The same, assigned to shards here whatever the engine has, so that tables over common domains are assigned alike.

    `merged` says whether equal rows that are read together become one, so that no shard holds all of many.
    """
    # Each shard holds whole equivalence classes, so shards can be measured one after the other, or side by side,
    # within any budget, and their summaries merge exactly. It costs one scan, one hash and one stable sort by the
    # shard's number a batch, and where the codes outgrow the memory one write and one read of them.
    scratch = Scratch() if chosen.spill else None
    count, packing = chosen.shards if by else 1, Packing.of(by)
    shards = LocalShards(domains, count, scratch.path if scratch else None, packing)
    shards._scratch = scratch  # noqa: SLF001 - made here, removed with it
    done = 0
    try:
        with ThreadPool(1) as dealer:  # some rows are assigned while the next are read
            waiting: list[Future[None]] = []
            for rows in engine.counted(domains):
                checkpoint()
                for before in waiting:
                    result_of(before)
                waiting = [dealer.submit(_assign, rows, domains, by, shards, merged=merged)]
                done += rows.records
                progress("reading", done, engine.records)
            for last in waiting:
                result_of(last)
    except BaseException:
        shards.close()
        raise
    return shards


def merged_rows(rows: CountedCodes, domains: Sequence[Domain]) -> CountedCodes:
    """Rows with equal ones made one, in the order of their codes. O(rows log rows)."""
    keys = fold([rows[one.attribute] for one in domains], [one.size + 1 for one in domains])
    order = order_of(keys.values, keys.span)
    starts = boundaries(keys.values[order])
    distinct = rows.take(order[starts])
    return CountedCodes(distinct.codes, run_lengths(starts, len(order), rows.each[order]))


def _assign(
    rows: CountedCodes, domains: Sequence[Domain], by: Sequence[Domain], shards: LocalShards, *, merged: bool
) -> None:
    if merged:
        rows = merged_rows(rows, domains)
    packed_rows = rows if shards.packing is None else rows.packed(shards.packing)
    if shards.count == 1:
        shards.append(0, packed_rows)
        return
    home = _home(packed_rows, by, shards.count)
    order = np.argsort(home, kind="stable")
    ends = np.searchsorted(home.take(order), np.arange(shards.count, dtype=home.dtype), side="right")
    by_shard = packed_rows.take(order)
    start = 0
    for shard, end in enumerate(ends.tolist()):
        if end > start:
            shards.append(shard, by_shard.take(slice(start, end)))
        start = end


def _home(rows: CountedCodes, by: Sequence[Domain], shards: int) -> NDArray[np.unsignedinteger[Any]]:
    """The shard of each row, a function of the codes alone, in the type that is put into order soonest."""
    home: Codes = (
        _scattered([rows[domain.attribute] for domain in by], shards)
        if rows.packing is None
        else _in_blocks(rows.codes[PACKED], rows.packing.span, shards)
    )
    return home.astype(np.uint8 if shards <= 2**8 else np.uint16)


def _in_blocks(packed: Codes, span: int, shards: int) -> NDArray[np.uint32]:
    """By blocks of packed codes, so that the codes of a shard lie side by side and it needs few cells to count them."""
    # The shard has to be a function of the codes alone, so that equal codes never part; how even shards are is a
    # matter of speed. The lowest bits are cut off first: codes side by side then share a shard, which has a dense
    # range of keys that are counted without sorting. The rest is multiplied by an odd constant that spreads every bit
    # over the upper half (Fibonacci hashing), and the upper half is scaled to the number of shards by a
    # multiplication and a shift, which costs less than a remainder.
    bits = min(BLOCK, max(span // (SHARD_BLOCKS * shards), 1).bit_length() - 1)
    key = (packed >> bits).astype(np.uint32)
    key *= np.uint32(MIX >> np.uint64(32))
    key >>= np.uint32(16)
    key *= np.uint32(shards)
    return key >> np.uint32(16)


def _scattered(columns: Sequence[Codes], shards: int) -> NDArray[np.uint64]:
    """By columns that are too many to be packed."""
    key = np.zeros(len(columns[0]), dtype=np.uint64)
    for codes in columns:
        key += codes.astype(np.uint64, copy=False)
        key *= MIX
    key >>= np.uint64(32)
    key *= np.uint64(shards)
    return key >> np.uint64(32)


def without_value(shard: CountedCodes, attributes: Sequence[Domain]) -> NDArray[np.bool_]:
    """Whether each row lacks a value of one of the attributes. Shape (rows,)."""
    rows = np.zeros(shard.rows, dtype=bool)
    for domain in attributes:
        rows |= shard[domain.attribute] == domain.size
    return rows


def suppressed_in_all(shard: CountedCodes, domains: Sequence[Domain]) -> NDArray[np.bool_]:
    """The rows with a suppressed cell in all of some attributes, at least one, as a mask. Shape (rows,)."""
    return reduce(np.logical_and, (np.isin(shard[one.attribute], list(one.suppressed)) for one in domains))


def without_exempt(shard: CountedCodes, exempt: Sequence[Domain]) -> CountedCodes:
    """A shard without the records that are suppressed in every one of some attributes; the shard itself for none."""
    return shard.take(~suppressed_in_all(shard, exempt)) if exempt else shard
