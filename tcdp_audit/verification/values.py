"""Differences between two JSON values: what was, what is, and keys that only one of them has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

Path = tuple[str, ...]


class Absent(Enum):
    """The value of a key that is not there."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT


@dataclass(frozen=True)
class Difference:
    """A place in two values at which they differ.

    Args:
        path: the keys that lead there.
        was: the value in the first, or `ABSENT`.
        now: the value in the second, or `ABSENT`.
    """

    path: Path
    was: Any
    now: Any

    @property
    def is_of_keys(self) -> bool:
        """Whether only one of the two has it at all."""
        return self.was is ABSENT or self.now is ABSENT


def differences(was: Any, now: Any, path: Path = ()) -> Iterator[Difference]:
    """Where two values differ, key by key; lists are compared as a whole. A truth value is no number."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for key in {**was, **now}:
            yield from differences(was.get(key, ABSENT), now.get(key, ABSENT), (*path, str(key)))
    elif not _same(was, now):
        yield Difference(path, was, now)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and bool(one == other)
