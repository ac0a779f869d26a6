"""A property that the core relies on, and the error of a specification that lacks it: expected, got, usual cause."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from tcdp_audit.api import NAME, type_faults
from tcdp_audit.plugin.sentences import Outcome

T = TypeVar("T")


class ConformanceError(AssertionError):
    """A specification lacks a property that the core relies on."""


@dataclass(frozen=True)
class Subject:
    """The specification under test, as messages call it.

    Args:
        kind: check, remedy, reporter, section, engine or detector.
        name: its name.
        place: the case and the parameters that it is tried on.
    """

    kind: str
    name: str
    place: str = ""

    def at(self, place: str) -> Subject:
        """The same specification on one case."""
        return replace(self, place=place)

    def lacks(self, property_: str, sentence: str, cause: str = "") -> ConformanceError:
        """The error for a property that does not hold, with its usual cause and the way out."""
        where = f" ({self.place})" if self.place else ""
        hint = f"; usual cause: {cause}" if cause else ""
        return ConformanceError(f"{self.kind} {self.name!r}: {property_}: {sentence}{where}{hint}")

    def require(self, holds: object, property_: str, sentence: str, cause: str = "") -> None:
        """Insist on a property.

        Raises:
            ConformanceError: it does not hold.
        """
        if not holds:
            raise self.lacks(property_, sentence, cause)

    def require_equal(self, got: Any, expected: Any, property_: str, sentence: str, cause: str = "") -> None:
        """Insist on a value; the message has the first difference between what was expected and what came."""
        difference = first_difference(got, expected)
        if difference is not None:
            raise self.lacks(property_, f"{sentence}: {difference}", cause)

    def require_name(self, name: object) -> None:
        """Insist on a snake_case name."""
        fits = isinstance(name, str) and NAME.fullmatch(name)
        self.require(fits, "name", "it must be snake_case: lower-case words with single underscores between them")

    def require_texts(self, texts: Mapping[str, Any], of: str) -> None:
        """Insist that every text says something."""
        for name, text in texts.items():
            says_something = isinstance(text, str) and text.strip()
            self.require(says_something, of, f"`{name}` must be a text that is not empty")


def first_difference(got: Any, expected: Any, at: str = "") -> str | None:
    """Describe where two values first differ, as `position 3: expected 2, got 1`; None where they are equal."""
    if isinstance(got, np.ndarray) and isinstance(expected, np.ndarray):
        got, expected = got.tolist(), expected.tolist()
    if isinstance(got, Mapping) and isinstance(expected, Mapping):
        names = [*expected, *(name for name in got if name not in expected)]
        inside = (first_difference(got.get(one), expected.get(one), f"{at} {one}".strip()) for one in names)
        return _first(inside) or first_difference(list(got), list(expected), f"{at} keys".strip())
    if isinstance(got, list) and isinstance(expected, list):
        if len(got) != len(expected):
            return f"{at}: expected {len(expected):,} values, got {len(got):,}".lstrip(": ")
        pairs = enumerate(zip(got, expected, strict=True))
        return _first(first_difference(one, other, f"{at} position {place}".strip()) for place, (one, other) in pairs)
    if type(got) is type(expected) and (got == expected or repr(got) == repr(expected)):  # NaN is not equal to itself
        return None
    return f"{at}: expected {expected!r}, got {got!r}".lstrip(": ")


def _first(differences: Iterator[str | None]) -> str | None:
    return next((one for one in differences if one is not None), None)


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
    """The properties of one specification. What several of them need is computed once, when first asked for.

    Args:
        specification: what a hook yields.
        given: values for parameters that the suite cannot guess.
    """

    kind: str

    def __init__(self, specification: Any, given: Mapping[str, Any]) -> None:
        self.specification, self.given = specification, given
        self.subject = Subject(self.kind, specification.name)

    @property
    @abstractmethod
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """Examinations by property, those of what the specification says of itself first."""

    def properties(self) -> list[Property]:
        """Every property; none can be examined where a field is not of its declared type."""
        faults = "; ".join(type_faults(self.specification))
        examinations = {"name": lambda: self.subject.require_name(self.specification.name), **self.examinations}

        def refuse() -> None:
            raise self.subject.lacks("specification", faults)

        return [Property(self.subject, name, refuse if faults else one) for name, one in examinations.items()]


class AuditedTrial(ABC):
    """A check audited on one case: what holds of its outcomes, whatever it measures."""

    @property
    @abstractmethod
    def at(self) -> Subject:
        """The check on its case."""

    @property
    @abstractmethod
    def measured(self) -> Outcome:
        """Outcome of an audit without a threshold."""

    @property
    @abstractmethod
    def outcomes(self) -> list[Outcome]:
        """The outcome without a threshold, then those of demands."""

    @abstractmethod
    def shows_a_cell(self, text: str) -> bool:
        """True if a text shows a cell of the case."""

    def has_a_message(self) -> None:
        """Insist that every outcome has a sentence."""
        for outcome in self.outcomes:
            self.at.require(outcome.message.strip(), "message", "every outcome needs a sentence, and one is empty")

    def shows_no_cell(self) -> None:
        """Insist that no outcome shows a cell."""
        for outcome in self.outcomes:
            for name, value in outcome.as_json().items():
                sentence = f"`{name}` of an outcome shows a cell"
                cause = "a label of the evidence or the view in `sentence`, `details` or an error; give its rank"
                self.at.require(not self.shows_a_cell(json_text(value)), "no cell in evidence", sentence, cause)

    def require_same(self, other: Outcome, property_: str, sentence: str, cause: str) -> None:
        """Insist that another audit gives the outcome of the first."""
        self.at.require_equal(plain(other), plain(self.measured), property_, sentence, cause)

    def require_decided(self, outcome: Outcome, *, holds: bool, demand: str) -> None:
        """Insist that the declared comparison alone decides a demand."""
        expected = "passed" if holds else "failed"
        decided = outcome.status == expected or (holds and bool(outcome.unfailable))
        sentence = f"where {demand} is demanded, expected {expected}, got {outcome.status}"
        cause = "a rounded figure, or a `compare`, `decide` or `verdict` that does not follow the declared comparison"
        self.at.require(decided, "at the threshold", sentence, cause)


def every(trials: Iterable[T], examine: Callable[[T], None]) -> None:
    """Hold each trial against a property."""
    for trial in trials:
        examine(trial)


def json_text(value: Any) -> str:
    """A value as a result file has it."""
    return json.dumps(value, ensure_ascii=False, default=str)


def plain(outcome: Outcome) -> Any:
    """An outcome as a result file has it, to be compared."""
    return json.loads(json_text(outcome.as_json()))
