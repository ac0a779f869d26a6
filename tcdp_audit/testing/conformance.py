"""What does not conform, said in one sentence that names the specification and the property."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tcdp_audit.registry import NAME


class ConformanceError(AssertionError):
    """A specification lacks a property that the core relies on."""


@dataclass(frozen=True)
class Subject:
    """The specification under test, as messages call it."""

    kind: str
    name: str

    def require(self, held: object, property_: str, sentence: str) -> None:
        """Insist on a property.

        Raises:
            ConformanceError: it does not hold.
        """
        if not held:
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
