"""The evidence of a check on equivalence classes: figures of classes, never records and never cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from tcdp_audit.core.base.arrays import freeze_arrays
from tcdp_audit.core.classes.histogram import Counts, Histogram, cached_on_histogram
from tcdp_audit.core.encoding.hierarchy import Tree


@dataclass(frozen=True)
class ReferenceDistribution:
    """The reference distribution of a sensitive attribute: integer weights, so that fractions stay exact.

    What every shard would compute anew from it is computed once: see `cached_on_reference`.
    """

    weights: Counts
    _cached: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Lock the weights."""
        freeze_arrays(self, "weights")

    @cached_property
    def total(self) -> int:
        """Sum of the weights."""
        return int(self.weights.sum())

    @property
    def size(self) -> int:
        """Number of values in the domain."""
        return len(self.weights)

    def weights_of(self, histogram: Histogram) -> Counts:
        """The weight of the value of every pair of class and value, gathered once for all checks. Shape (pairs,)."""
        return _beside(histogram, self)


cached_on_reference = cached_on_histogram  # the same for a function of a marginal: it answers once for all shards


@cached_on_histogram
def _beside(histogram: Histogram, marginal: ReferenceDistribution) -> Counts:
    return marginal.weights.take(histogram.values)


@dataclass(frozen=True)
class Target:
    """What a check runs on: no attribute, one, or several read together; and what else the intruder knows.

    Args:
        attributes: the sensitive attributes, none for a check on classes alone.
        known: sensitive attributes that are grouped by as if they were quasi-identifiers.
    """

    attributes: tuple[str, ...] = ()
    known: tuple[str, ...] = ()

    @property
    def name(self) -> str | None:
        """The attribute as an outcome names it; a combination as `a × b`."""
        return " × ".join(self.attributes) or None


@dataclass(frozen=True)
class ClassEvidence:
    """What a class check sees of one shard: figures of classes, never records and never cells. All of it is read-only.

    Args:
        size: what k counts in each class. int64, shape (classes,).
        histogram: the sensitive attribute in each class; no class of it is empty. None for a check without one.
        marginal: the reference distribution of that attribute.
        values: the attribute's domain as numbers in ascending order, where its scale is numeric. Shape (domain,).
        labels: the attribute's domain as text, for parameters that name values. Never put one into an answer.
        tree: the attribute's hierarchy laid over its domain, where it has one.
        records: N, the records (with a unit, the entities) of the whole release and not of the shard; 0 if untold.
    """

    size: Counts
    histogram: Histogram | None = None
    marginal: ReferenceDistribution | None = None
    values: NDArray[Any] | None = None
    labels: Sequence[str] = ()
    tree: Tree | None = None
    records: int = 0

    def __post_init__(self) -> None:
        """Lock its arrays: other checks are given the same ones."""
        freeze_arrays(self, "size", "values")

    @property
    def sensitive(self) -> tuple[Histogram, ReferenceDistribution]:
        """Histogram and marginal, for checks that declare `on_attribute`."""
        if self.histogram is None or self.marginal is None:
            raise TypeError("this check measures a sensitive attribute; set `on_attribute=True` in its specification")
        return self.histogram, self.marginal
