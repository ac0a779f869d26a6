"""A property that the core relies on, and what does not conform: one sentence that names specification and property."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_audit.api import NAME


class ConformanceError(AssertionError):
    """A specification lacks a property that the core relies on."""


@dataclass(frozen=True)
class Subject:
    """The specification under test, as messages call it."""

    kind: str
    name: str

    def require(self, holds: object, property_: str, sentence: str) -> None:
        """Insist on a property.

        Raises:
            ConformanceError: it does not hold.
        """
        if not holds:
            raise self.lacks(property_, sentence)

    def lacks(self, property_: str, sentence: str) -> ConformanceError:
        """The error for a property that does not hold."""
        return ConformanceError(f"{self.kind} {self.name!r}: {property_}: {sentence}")

    def require_name(self, name: object) -> None:
        """Insist on a snake_case name."""
        fits = isinstance(name, str) and NAME.fullmatch(name)
        self.require(fits, "name", "it must be snake_case: lower-case words with single underscores between them")

    def require_texts(self, texts: Mapping[str, Any], of: str) -> None:
        """Insist that every text says something."""
        for name, text in texts.items():
            said = isinstance(text, str) and text.strip()
            self.require(said, of, f"`{name}` must be a text that is not empty")


@dataclass(frozen=True)
class Property:
    """One property of one specification. Calling it raises `ConformanceError` where it does not hold."""

    subject: Subject
    name: str
    examine: Callable[[], None]

    def __call__(self) -> None:
        """Hold the specification against it.

        Raises:
            ConformanceError: it does not hold, or something in the specification raised.
        """
        try:
            self.examine()
        except ConformanceError:
            raise
        except Exception as error:
            raise self.subject.lacks(self.name, f"{type(error).__name__} was raised: {error}") from error


class Suite(ABC):
    """The properties of one specification. What several of them need is computed once, when first asked for."""

    subject: Subject

    @abstractmethod
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """What holds the specification against each property, by the property's name."""

    def properties(self) -> list[Property]:
        """Every property, those of what the specification says of itself first."""
        return [Property(self.subject, name, examine) for name, examine in self.examinations().items()]
