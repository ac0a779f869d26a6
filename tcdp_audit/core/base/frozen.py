"""Objects that do not change once they are made: mappings and lists, which checks and reports share, and dataclasses.

The mappings and lists are subclasses of `dict` and `list`, and compare, serialise and print as those do.

`dataclass` is that of the standard library, and made in a third of the time. The standard library compiles each method
of each class, six for a frozen one, and hundreds of classes were a fifth of the time that an audit of a small table
takes. Here a frozen class shares its methods with all others, and only `__init__` is compiled.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

__all__ = ["FrozenDict", "FrozenList", "ReadOnlyError", "dataclass", "freeze", "frozen", "refuse"]

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


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        frozen: bool = False,
        kw_only: bool = False,
        repr: bool = True,  # noqa: A002 - as in the standard library
        eq: bool = True,
        **others: bool,
    ) -> Any:
        """A dataclass by its annotations.

        Args:
            cls: the class; one that is not frozen is left to the standard library.
            frozen: no field can be assigned once the object is made.
            kw_only: all fields are given by name.
            repr: whether it gets a `__repr__` that shows its fields.
            eq: whether objects with equal fields are equal, and if it is frozen have the same hash.
            others: further parameters of the standard library, which then makes the class.

        Example:
            >>> @dataclass(frozen=True)
            ... class Point:
            ...     x: int
            ...     y: int = 0
            >>> Point(1), Point(1) == Point(1, 0), len({Point(2), Point(2, 0)})
            (Point(x=1, y=0), True, 1)
        """

        def made(cls: type) -> type:
            if others or not frozen:
                return dataclasses.dataclass(frozen=frozen, kw_only=kw_only, repr=repr, eq=eq, **others)(cls)
            return _frozen(cls, kw_only=kw_only, repr=repr, eq=eq)

        return made if cls is None else made(cls)


def _frozen(cls: Any, *, kw_only: bool, repr: bool, eq: bool) -> type:  # noqa: A002 - as in the standard library
    cls.__doc__ = cls.__doc__ or cls.__name__  # or the standard library looks up the arguments of the class
    derives = any(map(dataclasses.is_dataclass, cls.__mro__[1:]))  # then the standard library compares the two
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, frozen=derives)(cls)
    cls.__dataclass_params__.frozen = True  # so that frozen classes can derive from it
    every = fields(cls)
    methods: dict[str, Callable[..., Any]] = {"__init__": _constructor(cls, every)}
    if repr:
        methods["__repr__"] = _repr([one.name for one in every if one.repr])
    if eq:
        methods |= _comparison([one.name for one in every if one.compare])
    for name, method in methods.items():
        if cls.__dict__.get(name) is None:  # what a class defines itself stays
            method.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    cls.__setattr__, cls.__delattr__ = _refuse_assignment, _refuse_deletion
    return cls


class _Factory:
    """The default of a parameter whose field is made by a function."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _constructor(cls: type, every: Sequence[Field[Any]]) -> Callable[..., None]:
    """The constructor of a frozen class, which sets fields by `object`'s method."""
    positional = [_parameter(one) for one in every if one.init and not one.kw_only]
    named = [_parameter(one) for one in every if one.init and one.kw_only]
    parameters = ", ".join(["self", *positional, *(["*", *named] if named else [])])
    lines = [line for one in every if (line := _assignment(one))]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n  ".join(lines or ["pass"])
    given = {
        f"_default_{one.name}": one.default if one.default is not MISSING else one.default_factory for one in every
    }
    given |= {"_set": object.__setattr__, "_FACTORY": _FACTORY}
    text = f"def make({', '.join(given)}):\n def __init__({parameters}):\n  {body}\n return __init__"
    namespace: dict[str, Any] = {}
    exec(text, sys.modules[cls.__module__].__dict__, namespace)  # noqa: S102 - names of fields, as the standard library
    constructor: Callable[..., None] = namespace["make"](**given)
    constructor.__annotations__ = {one.name: one.type for one in every if one.init} | {"return": None}
    return constructor


def _parameter(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"{field.name}=_default_{field.name}"
    return field.name if field.default_factory is MISSING else f"{field.name}=_FACTORY"


def _assignment(field: Field[Any]) -> str:
    name, is_made = field.name, field.default_factory is not MISSING
    if field.init:
        value = f"_default_{name}() if {name} is _FACTORY else {name}" if is_made else name
    elif is_made:
        value = f"_default_{name}()"
    else:
        return ""  # the class has its default, or something else sets it
    return f"_set(self, {name!r}, {value})"


def _repr(names: Sequence[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807 - it becomes a method
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return __repr__


def _comparison(names: Sequence[str]) -> Mapping[str, Callable[..., Any]]:
    """`__eq__` and `__hash__` by the values of some fields."""
    values = _values(names)

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _values(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)  # in C, and a tuple
    return lambda record: tuple(getattr(record, name) for name in names)


def _refuse_assignment(self: Any, name: str, value: object) -> None:
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_deletion(self: Any, name: str) -> None:
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_fixed(record: Any, name: str) -> bool:
    """True for a field, and for every attribute of an object whose class is a dataclass itself."""
    return "__dataclass_fields__" in type(record).__dict__ or name in type(record).__dataclass_fields__
