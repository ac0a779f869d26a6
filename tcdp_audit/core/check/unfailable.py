"""Demands that nothing can fail: what a release could be at its worst, whatever its quasi-identifiers say.

A demand that every grouping of a release's records keeps says nothing about the release. It is measured, not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic.fields import FieldInfo

from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.base.words import agree, noun_form
from tcdp_audit.core.check.evidence import ClassEvidence
from tcdp_audit.core.classes.histogram import Counts, Histogram

FEW = 8  # classes that settle nearly every question before all of them are asked


@dataclass(frozen=True)
class SingletonClasses:
    """A release with every record in an equivalence class of its own. Every other grouping is a union of these classes.

    Args:
        classes: one such class for each value of the sensitive attribute that the release has; a single class for a
            check without one.
        records: how many records are like each of them, int64, shape (classes,).
        valueless: how many records have no value of the attribute, so that they have no distribution either.
        of_entities: whether shares are of entities, that may have any number of records.
    """

    classes: ClassEvidence
    records: Counts
    valueless: int = 0
    of_entities: bool = False

    def rounds(self) -> Iterator[ClassEvidence]:
        """Some classes that are likely to have the worst figure, then all of them."""
        chosen = self._likely()
        if len(chosen) < len(self.records):
            yield self.only(chosen)
        yield self.classes

    def _likely(self) -> NDArray[np.intp]:
        """The classes of the rarest values and of those at both ends of the domain."""
        last = len(self.records) - 1
        rarest = np.argpartition(self.records, min(FEW, last))[:FEW]
        return np.array(sorted({0, last, *rarest.tolist()}), dtype=np.intp)

    def only(self, chosen: NDArray[np.intp]) -> ClassEvidence:
        """Some of the classes."""
        histogram = self.classes.histogram
        return replace(
            self.classes,
            size=self.classes.size[chosen],
            histogram=None if histogram is None else histogram.take(chosen),
        )

    def share(self, exposed: NDArray[np.bool_]) -> Fraction:
        """The share of records in some of the classes, or without a value; of entities the most that it could be."""
        if self.of_entities:
            return Fraction(int(exposed.any() or self.valueless > 0))
        return Fraction(int(self.records[exposed].sum()) + self.valueless, int(self.records.sum()) + self.valueless)


def classes_of_one(values: Counts) -> Histogram:
    """One class of one record for each of some values: a code each, ascending."""
    return Histogram(np.arange(len(values) + 1), values, np.ones(len(values), dtype=np.int64))


def worst_share(field: FieldInfo, comparison: Comparison) -> Fraction | None:
    """The worst figure next to a threshold that is declared to lie from 0 to 1, as a share does; otherwise None."""
    bounds = {name: getattr(one, name) for one in field.metadata for name in ("ge", "gt", "le") if hasattr(one, name)}
    if bounds not in ({"ge": 0, "le": 1}, {"gt": 0, "le": 1}):
        return None
    return Fraction(0 if comparison.higher_is_safer else 1)


def keeps(worst: Fraction | float | None, demanded: Fraction, comparison: Comparison) -> bool:
    """Whether a demand is kept at the worst figure that there can be; never where that is not known."""
    return worst is not None and bool(comparison.holds((worst > demanded) - (worst < demanded)))


def vacuous_sentence(names: Sequence[str], demands: Mapping[str, Fraction], *, judged: bool, whatever: str) -> str:
    """Why some demands say nothing.

    Args:
        names: the parameters with these demands, at least one.
        demands: all demands of the expectation.
        judged: whether another demand of it can fail.
        whatever: what makes no difference to them.
    """
    typed = " and ".join(f"{name}: {_typed(demands[name])}" for name in names)
    vacuous_sentence = f"The {noun_form('demand', len(names))} {typed} {agree(len(names), 'is', 'are')} kept {whatever}"
    return f"{vacuous_sentence}." if judged else f"{vacuous_sentence}, so this is measured, not judged."


def _typed(number: Fraction) -> str:
    """A number as a policy takes it."""
    if number.denominator == 1 and abs(number) < 10**15:
        return str(number.numerator)
    text = repr(float(number))
    return text if Fraction(text) == number else f"{number.numerator}/{number.denominator}"
