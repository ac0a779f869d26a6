"""Sections of a policy whose entries are one registered name each, with its parameters: `expect` and `remedy`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tcdp_audit.core.policy.model import PolicyDocument

T = TypeVar("T")  # what the names stand for: checks, or remedies


@dataclass(frozen=True)
class Section(Generic[T]):
    """One section, and what its names may be.

    Args:
        key: where it stands in the document.
        noun: what a name in it is the name of.
        hook: the hook of plugins that yields them.
        known: everything registered, by name; asked for only where the section has an entry.
        faults: of an entry's parameters under the policy: (parameter or "", sentence).
    """

    key: str
    noun: str
    hook: str
    known: Callable[[], Mapping[str, T]]
    faults: Callable[[T, Any, PolicyDocument], Iterable[tuple[str, str]]]


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One sound entry: what it names, its parameters, its line and column, and its place in the section."""

    registered: T
    parameters: Any
    line: int | None
    column: int | None
    index: int
