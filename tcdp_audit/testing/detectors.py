"""The properties of a detector of identifiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

import numpy as np

from tcdp_audit.plugin.detector import (
    ColumnDetector,
    DetectorColumn,
    Evidence,
    ValueDetector,
    binomial_evidence,
    detect_in_column,
    words_of,
)
from tcdp_audit.testing.conformance import Suite

DRAWS = 500  # random values
STRANGE = ("", " ", "\x00", "0", "é" * 200, "٣٤٥٦", "🦉", "-" * 40, "9" * 40, "A1 " * 20)
LETTERS = re.compile("[A-R]?")


class DetectorSuite(Suite):
    """A detector on its own examples, on random values and on columns of them."""

    kind = "detector"

    @property
    def examinations(self) -> Mapping[str, Callable[[], None]]:
        """By property."""
        always = {
            "specification": self._is_complete,
            "strange columns": self._judges_strange_columns,
        }
        if not isinstance(self.specification, ValueDetector) or self.specification.missing_library:
            return always
        return {**always, "examples": self._knows_its_examples, "base rate": self._has_its_base_rate}

    def _is_complete(self) -> None:
        one = self.specification
        self.subject.require_texts({"noun": one.noun, "source": one.source}, "specification")
        words = all(words_of(phrase) for phrase in one.words)
        self.subject.require(words, "specification", "every phrase of `words` must have a letter")
        named = one.words or not one.needs_name
        self.subject.require(named, "specification", "a detector that needs a name must have `words`")
        fits = LETTERS.fullmatch(one.safe_harbor)
        self.subject.require(fits, "specification", "`safe_harbor` must be a letter from A to R, or nothing")

    def _knows_its_examples(self) -> None:
        one = self._values
        self.subject.require(one.examples, "examples", "it must have some")
        self.subject.require(all(map(one.is_hit, one.examples)), "examples", "one of `examples` is no hit")
        hits = any(map(one.is_hit, one.counterexamples))
        self.subject.require(not hits, "examples", "one of `counterexamples` is a hit")

    def _has_its_base_rate(self) -> None:
        one = self._values
        self.subject.require(0 < one.base_rate < 1, "base rate", "it must lie between 0 and 1")
        hits = sum(map(one.is_hit, self._random))
        rate = binomial_evidence(hits, DRAWS, one.base_rate)
        self.subject.require(not rate.is_significant, "base rate", f"{hits} of {DRAWS:,} random values are hits")

    def _judges_strange_columns(self) -> None:
        for column in self._columns():
            first, second = (detect_in_column(column, [self.specification]) for _ in range(2))
            self.subject.require(first == second, "strange columns", "the same column was judged in two ways")
            if isinstance(self.specification, ColumnDetector):
                self._is_sound(self.specification.examine(column))

    def _is_sound(self, evidence: Evidence | None) -> None:
        sound = evidence is None or (
            0 <= evidence.hits <= evidence.values and evidence.values and 0 <= evidence.p_value <= 1
        )
        self.subject.require(sound, "strange columns", "its evidence must have hits among values, and a p value")

    def _columns(self) -> Iterator[DetectorColumn]:
        name = self.specification.words[0].lstrip("=") if self.specification.words else "column"
        for texts in (STRANGE, tuple(map(str, range(50))), tuple(map(str, range(0, 900, 7))), self._random[:50]):
            yield column_of_texts(name, tuple(sorted({*texts})))

    @property
    def _values(self) -> ValueDetector:
        assert isinstance(self.specification, ValueDetector)  # noqa: S101 - others are not asked
        return self.specification

    @cached_property
    def _random(self) -> tuple[str, ...]:
        if not isinstance(self.specification, ValueDetector):
            return STRANGE
        generator = np.random.default_rng(0)
        return tuple(self.specification.random_value(generator) for _ in range(DRAWS))


def column_of_texts(name: str, texts: tuple[str, ...]) -> DetectorColumn:
    """A column of which every record has another text."""
    whole = all(re.fullmatch("-?[0-9]{1,18}", text) for text in texts)
    numbers = np.array([*map(int, texts)], np.int64) if whole else None
    ordered = None if numbers is None else np.sort(numbers)
    return DetectorColumn(name, texts, len(texts), len(texts), lambda: ordered, lambda: numbers)
