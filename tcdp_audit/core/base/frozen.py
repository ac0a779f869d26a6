"""Read-only mappings and lists, which checks, remedies and reports share.

They are subclasses of `dict` and `list`, and compare, serialise and print as those do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class ReadOnlyError(TypeError):
    """An attempt to change what an audit shares between its participants."""


def refuse(*_: object, **__: object) -> NoReturn:
    """Raise ReadOnlyError, in place of every method that would change something."""
    raise ReadOnlyError("it is read-only; change a copy of it")


class FrozenDict(dict[K, V]):
    """A mapping that refuses every change. `dict(it)`, `it | other` and `it.copy()` are ordinary ones."""

    __setitem__ = __delitem__ = __ior__ = refuse
    clear = pop = popitem = setdefault = update = refuse

    def __hash__(self) -> NoReturn:  # type: ignore[override]
        """Not hashable, as no mapping is."""
        raise TypeError("unhashable type: 'FrozenDict'")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied through its content: an empty one could not be filled."""
        return FrozenDict, (dict(self),)


class FrozenList(list[V]):
    """A list that refuses every change. `list(it)`, `it + other` and `it.copy()` are ordinary ones."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = refuse
    append = clear = extend = insert = pop = remove = reverse = sort = refuse

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied through its content: an empty one could not be filled."""
        return FrozenList, (list(self),)


def frozen(value: Any) -> Any:
    """A value whose mappings and lists are read-only at any depth. Everything else stays the same object.

    Cost: O(entries) where something is not frozen yet.
    """
    if isinstance(value, FrozenDict | FrozenList):
        return value
    if isinstance(value, Mapping):
        return FrozenDict({key: frozen(one) for key, one in value.items()})
    if isinstance(value, list):
        return FrozenList([frozen(one) for one in value])
    if type(value) is tuple:  # a named tuple has a constructor of its own
        return tuple(frozen(one) for one in value)
    return value


def freeze(record: object, *names: str) -> None:
    """Freeze some fields of a frozen dataclass while it is made."""
    for name in names:
        object.__setattr__(record, name, frozen(getattr(record, name)))
