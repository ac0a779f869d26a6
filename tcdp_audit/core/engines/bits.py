"""Positions of bytes of some kind in a text, as one bit for each byte, 64 to a number.

Sixty-four bytes are looked at in one step, so that counting the structure of a text costs less than reading it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint64]  # the bit of the first byte is the lowest of the first number
_WORD = 64
_ONE, _TOP = np.uint64(1), np.uint64(63)


def bits(mask: NDArray[np.bool_]) -> Bits:
    """A mask as bits. The number after the last byte's is 0 or holds its bits, so there is always a next bit."""
    packed = np.zeros((len(mask) // _WORD + 1) * 8, np.uint8)
    packed[: (len(mask) + 7) // 8] = np.packbits(mask, bitorder="little")
    return packed.view("<u8")


def odd(mask: Bits) -> Bits:
    """Where the number of bits up to and with this one is odd."""
    within = mask.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        within ^= within << np.uint64(shift)
    numbers = np.bitwise_xor.accumulate(within >> _TOP)  # the parity of all numbers so far
    numbers = np.concatenate((np.zeros(1, np.uint64), numbers[:-1]))
    return within ^ (np.uint64(0) - numbers)


def before(mask: Bits, *, first: bool = False) -> Bits:
    """The bit of the byte before each.

    Args:
        mask: the bits.
        first: what stands before the first byte.
    """
    carried = np.concatenate((np.array([first], np.uint64), mask[:-1] >> _TOP))
    return (mask << _ONE) | carried


def after(mask: Bits) -> Bits:
    """The bit of the byte after each; nothing stands after the last number."""
    carried = np.concatenate((mask[1:] << _TOP, np.zeros(1, np.uint64)))
    return (mask >> _ONE) | carried


def last(length: int, numbers: int) -> Bits:
    """A mask of the last of so many bytes."""
    mask = np.zeros(numbers, np.uint64)
    if length:
        mask[(length - 1) // _WORD] = _ONE << np.uint64((length - 1) % _WORD)
    return mask


def first_of(mask: Bits) -> int | None:
    """The first byte that has the bit."""
    if not mask.any():
        return None
    word = int((mask != 0).argmax())
    number = int(mask[word])
    return word * _WORD + (number & -number).bit_length() - 1


def last_of(mask: Bits) -> int:
    """The last byte that has the bit, -1 where none has."""
    if not mask.any():
        return -1
    word = len(mask) - 1 - int((mask[::-1] != 0).argmax())
    return word * _WORD + int(mask[word]).bit_length() - 1


def count(mask: Bits, end: int) -> int:
    """How many of the bytes before `end` have the bit."""
    word, rest = divmod(end, _WORD)
    return int(np.bitwise_count(mask[:word]).sum(dtype=np.int64)) + (int(mask[word]) & ((1 << rest) - 1)).bit_count()


def positions(mask: Bits, end: int) -> NDArray[np.int64]:
    """The bytes before `end` that have the bit."""
    return np.flatnonzero(np.unpackbits(mask.view(np.uint8), count=end, bitorder="little"))
