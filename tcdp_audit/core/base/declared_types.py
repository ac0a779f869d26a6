"""Values of another type than declared in what a plugin gives, as sentences that name types and show no value.

A dataclass declares what its fields hold; nothing here repeats that.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import fields, is_dataclass
from functools import lru_cache
from numbers import Integral, Real
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from tcdp_audit.core.base.words import with_article

WIDER: Mapping[Any, Any] = {int: Integral, float: Real}  # numbers of numpy, and whole numbers where any number will do
WORDS: Mapping[str, str] = {
    "str": "text",
    "NoneType": "None",
    "int": "a whole number",
    "float": "a number",
    "type": "a class",
    "Callable": "a function",
    "Mapping": "a mapping",
    "Sequence": "a sequence",
    "Set": "a set",
    "ndarray": "a numpy array",
}
HOLDERS = (Mapping, Sequence, AbstractSet)  # what they hold is examined as well


def require_type(value: Any, kind: type, gave: str, error: type[Exception]) -> None:
    """Insist on the type of what a plugin gave, and on the types of its fields.

    Args:
        value: what it gave.
        kind: a dataclass.
        gave: the beginning of the sentence, such as `the remedy gave`.
        error: what is raised with the sentence.
    """
    if not isinstance(value, kind):
        raise error(f"{gave} {type_of(value)} and not {_described(kind)}")
    for fault in type_faults(value):
        raise error(f"{gave} {_described(kind)} whose {fault}")


def items_of(answer: Any, kind: type, gave: str, error: type[Exception]) -> list[Any]:
    """The items of what a plugin's function returned or yielded, each of one type.

    Raises:
        Exception: it is of the type of `error`, and the answer or an item is of another type.
    """
    several = isinstance(answer, Iterable) and not isinstance(answer, str | Mapping)
    items = list(answer) if several else []
    wrong = answer if not several else next((one for one in items if not isinstance(one, kind)), items)
    if wrong is not items:
        raise error(f"{gave} {type_of(wrong)}; it must yield {_described(kind)} for each, or return () for none")
    return items


def type_faults(record: Any) -> Iterator[str]:
    """Say which fields of a dataclass hold something else than is declared.

    Example:
        >>> from tcdp_audit.core.base.outcome import Tally
        >>> list(type_faults(Tally(3, "many")))
        ['`failing` must be a whole number or None, and is a str']
    """
    kind: Any = type(record)
    hints = _hints(kind)
    for name in (one.name for one in fields(record) if one.init):
        value, hint = getattr(record, name), hints[name]
        if not _fits(value, hint):
            yield f"`{name}` must be {_described(hint)}, and is {type_of(value)}{_types_in(value)}"
        elif isinstance(value, tuple):
            inner = (fault for one in value if is_dataclass(one) for fault in type_faults(one))
            yield from (f"{fault} (in `{name}`)" for fault in inner)


@lru_cache(maxsize=64)
def _hints(kind: Hashable) -> Mapping[str, Any]:
    """The declared types of a class; what only a type checker imports may be anything."""
    unknown: dict[str, Any] = {}
    while True:
        try:
            return get_type_hints(kind, localns=unknown)
        except NameError as error:
            unknown[str(error.name)] = _Unknown


class _UnknownType(type):
    """Any value is an instance of its classes, and so of what is looked up in them."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)  # `inspect` looks for what a class wraps
        return cls

    def __instancecheck__(cls, instance: object) -> bool:
        return True


class _Unknown(metaclass=_UnknownType):
    """A type that is not imported, with whatever parameters."""

    def __class_getitem__(cls, _: object) -> type:
        return cls


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint) or hint, get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in inner)
    kind = WIDER.get(origin, origin)
    if kind is Any or not isinstance(kind, type):
        return True
    if kind is type and inner:
        return isinstance(value, type) and issubclass(value, _bound_of(inner[0]))
    return isinstance(value, kind) and (not inner or not issubclass(kind, HOLDERS) or _items_fit(value, kind, inner))


def _items_fit(value: Any, kind: type, inner: tuple[Any, ...]) -> bool:
    if issubclass(kind, tuple) and Ellipsis not in inner:
        return len(value) == len(inner) and all(map(_fits, value, inner))
    if isinstance(value, Mapping):
        return all(_fits(one, inner[1]) for one in value.values())
    return not isinstance(value, str) and all(_fits(one, inner[0]) for one in value)


def _bound_of(kind: Any) -> type:
    bound = getattr(kind, "__bound__", None)
    return bound if isinstance(bound, type) else object


def _described(hint: Any) -> str:
    """A declared type in words: `a tuple of Threshold`, `a function`."""
    origin, inner = get_origin(hint) or hint, [one for one in get_args(hint) if one not in (Ellipsis, Any)]
    if origin in (Union, UnionType):
        return " or ".join(map(_described, inner))
    if origin is type and inner:
        return f"a class derived from {_bound_of(inner[0]).__name__}"
    word = WORDS.get(origin.__name__) or with_article(origin.__name__)
    if not isinstance(origin, type) or not issubclass(origin, HOLDERS):
        return word
    held = inner[1:] if issubclass(origin, Mapping) else inner
    return " of ".join([word, *filter(None, [" and ".join(_described(one).removeprefix("a ") for one in held)])])


def type_of(value: Any) -> str:
    """The type of a value with its article: `a list`; `None` for nothing."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return "None" if value is None else with_article(type(value).__name__)


def _types_in(value: Any) -> str:
    """The types that a collection holds, which may be what is wrong with it."""
    if isinstance(value, str) or not isinstance(value, HOLDERS):
        return ""
    names = sorted({type(one).__name__ for one in (value.values() if isinstance(value, Mapping) else value)})
    return f" of {', '.join(names)}" if names else ""
