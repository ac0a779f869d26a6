"""Values that are expensive to make, by what they were made of; those used longest ago go first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import chain
from threading import RLock
from types import MappingProxyType
from typing import Any, TypeVar, cast

import numpy as np

T = TypeVar("T")
OVERHEAD = 64  # bytes of an object, about
SCALARS = frozenset([type(None), bool, int, float])  # which hold nothing else
PROJECT = "tcdp_audit"  # what the names of this project's packages begin with


class Cache:
    """Values by key, as many as there is room for.

    A key holds the objects that the value was made of, or their `Identity`, so that an object that is made anew is
    another one. A value that has a method `close` is closed when it is forgotten. Threads may share a cache.

    Args:
        room: how many bytes the values may take; 0 keeps none.

    Example:
        >>> cache = Cache(1000)
        >>> cache.get("a", lambda: [1]) is cache.get("a", lambda: [2])
        True
    """

    def __init__(self, room: int = 0) -> None:
        self.room = room
        self._values: OrderedDict[Hashable, Any] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._borrowed: dict[Hashable, int] = {}
        self._lock = RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made where there is none. What `make` raises is raised, and nothing is kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return cast("T", self._values[key])
        made = make()
        if self.room:
            size = size_of(made)
            with self._lock:
                self._values[key], self._sizes[key] = made, size
                self._shrink()
        return made

    @contextmanager
    def borrow(self, key: Hashable, make: Callable[[], T]) -> Iterator[T]:
        """The value of a key, which is not forgotten before the end; a value that is not kept is closed there.

        A value may grow by what is derived from it, in a mapping `derived`.
        """
        with self._lock:
            self._borrowed[key] = self._borrowed.get(key, 0) + 1
        value, parts = None, 0
        try:
            value = self.get(key, make)
            parts = _parts(value)
            yield value
        finally:
            with self._lock:
                self._borrowed[key] -= 1
                if not self._borrowed[key]:
                    del self._borrowed[key]
                if self._values.get(key) is not value:
                    _close(value)
                elif _parts(value) != parts:
                    self._sizes[key] = size_of(value)
                    self._shrink()

    def borrow_of(self, objects: Iterable[object], key: Hashable, make: Callable[[], T]) -> AbstractContextManager[T]:
        """`borrow` a value that was made of some objects, the same ones, and of what the key says in addition."""
        return self.borrow((key, Identity(*objects)), make)

    @property
    def size(self) -> int:
        """The number of bytes that the values take, about."""
        return sum(self._sizes.values())

    @property
    def count(self) -> int:
        """The number of values that it has."""
        return len(self._values)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            while self._values:
                self._forget(next(iter(self._values)))

    def _shrink(self) -> None:
        used = self.size
        for key in [*self._values]:
            if used <= self.room:
                return
            if key not in self._borrowed:
                used -= self._sizes[key]
                self._forget(key)

    def _forget(self, key: Hashable) -> None:
        del self._sizes[key]
        _close(self._values.pop(key))


class Identity:
    """Objects as a key: equal to itself where each is the same object. It keeps them, so that none is made anew."""

    def __init__(self, *objects: object) -> None:
        self.objects = objects

    def __hash__(self) -> int:
        """By identity."""
        return hash(tuple(map(id, self.objects)))

    def __eq__(self, other: object) -> bool:
        """Whether each object is the same."""
        return (
            isinstance(other, Identity)
            and len(self.objects) == len(other.objects)
            and all(one is another for one, another in zip(self.objects, other.objects, strict=True))
        )


def _parts(value: object) -> int:
    """The number of things that were derived from a value and are kept with it."""
    return len(value.derived) if hasattr(type(value), "derived") else 0  # type: ignore[attr-defined]


def _close(value: object) -> None:
    close = getattr(type(value), "close", None)
    if callable(close):
        close(value)


def size_of(value: object, seen: set[int] | None = None) -> int:
    """About how many bytes an object takes, with the arrays that it refers to. O(objects).

    The type decides what is measured: texts, arrays, containers and dataclasses; objects of this project's classes, and
    of classes that derive from them, without the attributes that their class names in `borrowed`, which others hold;
    and what has `nbytes`, such as Arrow's arrays. Anything else counts as `OVERHEAD`: it may represent what is
    elsewhere, such as a connection or an object of another process, and answer any attribute.
    """
    if type(value) in SCALARS:
        return OVERHEAD
    seen = set() if seen is None else seen
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        held = value if value.base is None else value.base
        if id(held) in seen and held is not value:
            return 0
        seen.add(id(held))
        return OVERHEAD + int(getattr(held, "nbytes", value.nbytes)) * (4 if value.dtype == object else 1)
    if isinstance(value, str | bytes):
        return OVERHEAD + len(value)
    return OVERHEAD + _nbytes(value) + sum([size_of(one, seen) for one in _contents(value)])


def _contents(value: object) -> Iterable[object]:
    """The objects that one holds; none where its type is not known."""
    if isinstance(value, dict | MappingProxyType):
        return chain.from_iterable(value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return value
    kind: Any = type(value)
    if not (_is_ours(kind) or is_dataclass(kind)):
        return ()
    if hasattr(value, "__dict__"):
        borrowed = getattr(kind, "borrowed", ())
        return [one for name, one in vars(value).items() if name not in borrowed]
    return [getattr(value, one.name) for one in fields(kind)] if is_dataclass(kind) else ()


def _nbytes(value: object) -> int:
    """The bytes of an array of another library, such as Arrow's."""
    kind: Any = type(value)
    return int(value.nbytes) if hasattr(kind, "nbytes") and not _is_ours(kind) else 0  # type: ignore[attr-defined]


@lru_cache(maxsize=1024)  # a large value is thousands of objects of few types
def _is_ours(kind: type) -> bool:
    """Whether a class is of this project, or derives from one that is."""
    return any(base.__module__.startswith(PROJECT) for base in kind.__mro__)
