"""Checks, remedies and the registry as far as the reader of a policy knows them, and the sections that name them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from tcdp_audit.core.policy.model import PolicyDocument


class Registered(Protocol):
    """A check or a remedy: named, with parameters of its own and a guide."""

    @property
    def name(self) -> str:
        """What a policy calls it."""
        ...

    @property
    def title(self) -> str:
        """What a person calls it."""
        ...

    @property
    def parameters(self) -> type[BaseModel]:
        """The model of its parameters."""
        ...

    @property
    def guide(self) -> Any:
        """What it is for, in words."""
        ...


class Broken(Protocol):
    """A plugin that does not work."""

    @property
    def name(self) -> str:
        """The name of its entry point."""
        ...

    @property
    def error(self) -> str:
        """Why it does not work."""
        ...


class Registry(Protocol):
    """Everything that a policy may name."""

    @property
    def checks(self) -> Mapping[str, Any]:
        """Every registered check by name."""
        ...

    @property
    def remedies(self) -> Mapping[str, Any]:
        """Every registered remedy by name."""
        ...

    @property
    def broken(self) -> Sequence[Broken]:
        """The plugins that do not work, any of which may define a name that is missing."""
        ...

    def only(self, allowed: Iterable[str]) -> Registry:
        """The same without the external plugins that a policy does not allow."""
        ...

    def require(self, name: str) -> None:
        """Insist on a plugin that a policy names."""
        ...

    def provider_of(self, hook: str, name: str) -> str:
        """The external plugin that yields a name for a hook; nothing for a built-in one."""
        ...


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
class SectionEntry(Generic[T]):
    """One sound entry: what it names, its parameters, its line and column, and its place in the section."""

    registered: T
    parameters: Any
    line: int | None
    column: int | None
    index: int
