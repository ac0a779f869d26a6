"""One 64-bit key per record out of several columns of codes; never a tuple or a string per row.

Integers are counted and numbered by cells where few are possible compared with the number of integers: each value has
one. Otherwise they are sorted to be counted, which numpy does by vector instructions, and put into a stable order to be
numbered, by a radix sort that takes 16 bits a pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import dataclass

Codes = NDArray[Any]  # unsigned or signed integers from 0 to radix - 1
KeyArray = NDArray[np.int64]
SPAN_LIMIT = 2**62
Counts = NDArray[np.int64]
Positions = NDArray[np.intp]
COUNTED = 4  # cells for each integer up to which cells of 32 or 64 bits beat a sort, or leaving blocks of them out
MARKED = 8  # the same where a cell is only marked
BLOCK = 8  # bits of the cells side by side that are left out together where none of them occurs
DIGIT = 16  # bits that a pass looks at: numpy puts integers of 16 bits into order by their bytes


@dataclass(frozen=True)
class _Step:
    """One column folded in: what the key and the code were before, where either had to be compacted.

    Once all keys differ, a column changes none of them: its codes are then looked up (`codes`) in the row that has the
    key (`row_of_key`).
    """

    radix: int
    keys_before: KeyArray | None = None
    codes_before: KeyArray | None = None
    codes: Codes | None = None
    row_of_key: NDArray[np.intp] | None = None


@dataclass(frozen=True)
class Keys:
    """Keys in mixed radix, ordered as the code columns are; `decode` gives the codes back.

    `values` has one key per record, each from 0 to `span` - 1.
    """

    values: KeyArray
    span: int
    steps: tuple[_Step, ...]

    def decode(self, keys: KeyArray) -> list[KeyArray]:
        """The code columns behind some keys, in the order they were folded. O(keys x columns)."""
        columns = []
        left: NDArray[Any] = keys.astype(narrow(self.span + 1), copy=False)  # numpy divides 32 bits far faster than 64
        for step in reversed(self.steps):
            if step.codes is not None and step.row_of_key is not None:
                columns.append(step.codes[step.row_of_key[left]].astype(np.int64))
            else:
                left, codes = divided(left, step.radix)
                columns.append(codes if step.codes_before is None else step.codes_before[codes])
            if step.keys_before is not None:
                left = step.keys_before[left]
        return columns[::-1]


def fold(columns: Sequence[Codes], radices: Sequence[int]) -> Keys:
    """Fold columns of codes into one key each record.

    Where the product of the radices would leave 62 bits, the key so far is replaced by its rank among the
    keys that occur, and so is the next column if need be. Order is kept either way.

    Args:
        columns: at least one array of codes, all of one length n.
        radices: for each column a number above its largest code.

    Returns:
        Keys whose order is the lexicographic order of the columns.

    Cost: O(n x columns), and a radix sort of n for each compaction. None follows once all keys differ.
    """
    # Columns are digits of a number in mixed radix: key * radix + code keeps rows apart, and in the order of the
    # columns, as long as no product overflows. Where the next product would leave 62 bits, the key is replaced by its
    # rank among the keys that occur. There are at most n of them, so one rank and one compacted column always fit
    # (2^31 rows squared are 2^62). Ranks keep the order, so the result is the same as with integers of any size; it
    # costs one radix sort of n. Once all keys differ, no further column can part or reorder rows, and columns are
    # only looked up.
    key: KeyArray = np.zeros(len(columns[0]), dtype=np.int64)
    span = 1
    steps: list[_Step] = []
    for position, (column, radix) in enumerate(zip(columns, radices, strict=True)):
        checkpoint()
        codes, keys_before, codes_before = column, None, None
        if span * radix > SPAN_LIMIT:
            keys_before, key = _compacted(key, span)
            span = max(len(keys_before), 1)
            if span == len(key):
                return Keys(key, span, (*steps, *_looked_up(key, keys_before, columns[position:])))
        if span * radix > SPAN_LIMIT:
            codes_before, codes = _compacted(column, radix)
            radix = max(len(codes_before), 1)  # noqa: PLW2901 - the column is renumbered, and so is its radix
        key *= radix
        key += codes
        span *= radix
        steps.append(_Step(radix, keys_before, codes_before))
    return Keys(key, span, tuple(steps))


def _compacted(keys: Codes, span: int) -> tuple[KeyArray, KeyArray]:
    """The different keys, ascending, and the rank of each key."""
    distinct, ranks = numbered(keys, span)
    return distinct.astype(np.int64, copy=False), ranks.astype(np.int64)


def _looked_up(ranks: KeyArray, keys_before: KeyArray | None, columns: Sequence[Codes]) -> Iterator[_Step]:
    """The steps of columns that come when all keys differ, whose ranks are the keys from then on."""
    row_of_key = np.empty(len(ranks), dtype=np.intp)
    row_of_key[ranks] = np.arange(len(ranks))
    for column in columns:
        yield _Step(1, keys_before, codes=column, row_of_key=row_of_key)
        keys_before = None


def divided(numbers: NDArray[Any], radix: int) -> tuple[NDArray[Any], KeyArray]:
    """The quotients, in the type of the numbers, and the remainders. numpy divides faster than it takes remainders."""
    quotients = numbers // radix
    remainders = quotients * radix
    np.subtract(numbers, remainders, out=remainders)
    return quotients, remainders.astype(np.int64, copy=False)


def narrow(span: int) -> type[np.unsignedinteger[Any] | np.int64]:
    """The narrowest integer type for numbers below a span that is at most 2^63."""
    return next((one for one in (np.uint8, np.uint16, np.uint32) if span - 1 <= np.iinfo(one).max), np.int64)


def tally(keys: NDArray[Any], span: int, times: Counts | None = None) -> tuple[NDArray[Any], Counts]:
    """The different keys below `span`, ascending, and how often each occurs, or the sum of its `times`, from 1 on.

    Cost: O(keys) where the span is small compared with their number, otherwise O(keys log keys).
    """
    checkpoint()
    if span <= COUNTED * len(keys):
        counts = occurrences(keys, span, times)
        distinct = np.flatnonzero(counts != 0)  # numpy finds what is true several times faster than what is not 0
        return distinct, counts[distinct]
    if times is not None:
        distinct, number = numbered(keys, span)
        return distinct, occurrences(number, len(distinct), times)
    ordered = np.sort(keys)
    starts = boundaries(ordered)
    return ordered.take(starts), run_lengths(starts, len(ordered))


def numbered(keys: NDArray[Any], span: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different keys, ascending, and for each key its number among them, in the narrowest type. Cost as `tally`."""
    checkpoint()
    if span >> BLOCK <= len(keys):
        cells = keys.astype(np.intp, copy=False)  # what numpy looks cells up by, and otherwise makes of them each time
        if span <= COUNTED * len(keys):
            return _numbered_by_marks(cells, span)
        blocks, block = _numbered_by_marks(cells >> BLOCK, (span >> BLOCK) + 1)
        if len(blocks) << BLOCK <= MARKED * len(keys):
            within = (1 << BLOCK) - 1
            cells = (block.astype(np.intp) << BLOCK) | (cells & within)
            distinct, numbers = _numbered_by_marks(cells, len(blocks) << BLOCK)
            return (blocks[distinct >> BLOCK] << BLOCK) | (distinct & within), numbers
    order = order_of(keys, span)
    ordered = keys.take(order)
    starts = boundaries(ordered)
    numbers = np.empty(len(keys), dtype=narrow(len(starts)))
    numbers[order] = np.repeat(np.arange(len(starts), dtype=numbers.dtype), run_lengths(starts, len(keys)))
    return ordered[starts], numbers


def distinct_of(keys: NDArray[Any], span: int) -> NDArray[Any]:
    """The different keys, ascending: less work than to number each of them. Cost as `tally`."""
    if span > MARKED * len(keys):
        ordered = np.sort(keys)
        return ordered[boundaries(ordered)]
    marks = np.zeros(span, dtype=bool)
    marks[keys] = True
    return np.flatnonzero(marks)


def _numbered_by_marks(cells: Positions, span: int) -> tuple[Positions, NDArray[Any]]:
    marks = np.zeros(span, dtype=bool)
    marks[cells] = True
    distinct = np.flatnonzero(marks)
    numbers = np.empty(span, dtype=narrow(len(distinct)))
    numbers[distinct] = np.arange(len(distinct), dtype=numbers.dtype)
    return distinct, numbers.take(cells)


def occurrences(keys: NDArray[Any], span: int, times: Counts | None = None) -> Counts:
    """Count each number below a span, or add up its `times`. Shape (span,)."""
    checkpoint()
    if times is None:
        return np.bincount(keys, minlength=span)
    counts = np.zeros(span, dtype=times.dtype)  # Python integers stay what they are
    np.add.at(counts, keys, times)
    return counts


def order_of(keys: NDArray[Any], span: int) -> Positions:
    """The positions of keys in ascending order; the sort is stable. O(keys) for each 16 bits of the span."""
    # A radix sort from the lowest digit: a stable sort by each digit in turn leaves the rows in the order of the
    # whole key, since ties of a higher digit keep the order that the lower ones gave them. numpy sorts 16 bits by
    # counting, so a pass takes two scans and no comparison. Passes beyond the highest bit of the span are left out:
    # most spans are below 2^32 and need two.
    order = np.argsort(_digit(keys, 0), kind="stable")
    for shift in range(DIGIT, (span - 1).bit_length(), DIGIT):
        checkpoint()
        order = order.take(np.argsort(_digit(keys.take(order), shift), kind="stable"))
    return order


def _digit(keys: NDArray[Any], shift: int) -> NDArray[np.uint16]:
    return (keys >> shift if shift else keys).astype(np.uint16)


def boundaries(sorted_keys: NDArray[Any]) -> Positions:
    """The positions where a new key begins in sorted keys."""
    checkpoint()
    if not len(sorted_keys):
        return np.zeros(0, dtype=np.intp)
    first = np.empty(len(sorted_keys), dtype=bool)
    first[0] = True
    np.not_equal(sorted_keys[1:], sorted_keys[:-1], out=first[1:])
    return np.flatnonzero(first)


def run_lengths(starts: Positions, total: int, times: Counts | None = None) -> Counts:
    """The length of each run, given where the runs start and where the last one ends; or the sum of `times` in each."""
    if times is None:
        return np.diff(starts, append=total).astype(np.int64, copy=False)
    return np.add.reduceat(times, starts) if len(starts) else times[:0]


Floats = NDArray[np.float64]
Integers = NDArray[Any]  # int64, or Python integers (dtype object) where 64 bits are too few


def frozen_array(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view, not a copy, of an array that is locked as well, with whatever it is a view of.

    In numpy, a holder of the owner of some memory can unlock it again. So the view is of a read-only buffer: neither
    `setflags(write=True)` nor writing to `.base` is possible.

    Cost: some microseconds, whatever the size.
    """
    if isinstance(array.base, memoryview) and not array.flags.writeable:
        return array
    shared: Any = array
    owner = shared
    while isinstance(owner, np.ndarray):
        owner.setflags(write=False)
        owner = owner.base
    try:
        return np.asarray(memoryview(shared).toreadonly())
    except ValueError:  # dates have no buffer
        return array.view()


def freeze_arrays(record: object, *names: str) -> None:
    """Freeze some fields of a frozen dataclass, arrays or None, while it is made."""
    for name in names:
        array = getattr(record, name)
        if isinstance(array, np.ndarray):
            object.__setattr__(record, name, frozen_array(array))


def frozen_arrays(value: Any) -> Any:
    """A value with the arrays that it is, or has as a tuple or a frozen dataclass, frozen."""
    if isinstance(value, np.ndarray):
        return frozen_array(value)
    if type(value) is tuple:
        return tuple(frozen_arrays(one) for one in value)
    if is_dataclass(value):
        freeze_arrays(value, *(one.name for one in fields(value)))
    return value


def starts_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The position at which each of some segments begins that follow one another.

    Example:
        >>> starts_of(np.array([2, 0, 3])).tolist()
        [0, 2, 2]
    """
    return np.cumsum(lengths) - lengths


def positions_of(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The positions in some segments, one segment after the other; int64, shape (sum of lengths,).

    Segments may overlap. Cost: O(segments + positions).

    Example:
        >>> positions_of(np.array([5, 0]), np.array([2, 3])).tolist()
        [5, 6, 0, 1, 2]
    """
    return np.arange(int(lengths.sum())) + np.repeat(starts - starts_of(lengths), lengths)
