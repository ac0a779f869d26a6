"""Protocols of checks, remedies and the registry, as far as the reader of a policy needs them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel


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
