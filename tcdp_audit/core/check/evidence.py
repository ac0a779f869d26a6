"""The evidence of a check on equivalence classes: figures of classes, never records and never cells.

A demand that no class of the evidence could fail decides nothing, and is reported so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic.fields import FieldInfo

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.base.words import agree, noun_form
from tcdp_audit.core.classes.histogram import Counts, Histogram, cached_on_histogram
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.keys import freeze_arrays
from tcdp_audit.core.policy.policy import Policy

if TYPE_CHECKING:
    from tcdp_audit.core.encoding.hierarchy import Tree


@dataclass(frozen=True)
class ReferenceDistribution:
    """The reference distribution of a sensitive attribute: integer weights, so that fractions stay exact.

    Args:
        weights: how much each value of the domain weighs, in the order of the domain. int64, shape (domain,).
        units: the number of units with a value, where the weight of a value is the number of units that have it and
            one may have several; None where the weights add up to the whole.

    What every shard would compute anew from it is computed once: see `cached_on_reference`.
    """

    weights: Counts
    units: int | None = None
    _cached: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Lock the weights."""
        freeze_arrays(self, "weights")

    @cached_property
    def total(self) -> int:
        """Sum of the weights, or the number of units: the whole of which weights are shares."""
        return int(self.weights.sum()) if self.units is None else self.units

    @property
    def size(self) -> int:
        """Number of values in the domain."""
        return len(self.weights)

    def weights_of(self, histogram: Histogram) -> Counts:
        """The weight of the value of every pair of class and value, gathered once for all checks. Shape (pairs,)."""
        return _weights_of(histogram, self)


cached_on_reference = cached_on_histogram  # the same for a function of a marginal: it answers once for all shards


@cached_on_histogram
def _weights_of(histogram: Histogram, marginal: ReferenceDistribution) -> Counts:
    return marginal.weights.take(histogram.values)


@dataclass(frozen=True)
class CombinedAttribute:
    """One of several attributes that are read together.

    Args:
        name: the column's name.
        labels: its domain as text. Never put one into an answer.
        values: its domain as numbers, where its scale is numeric.
        codes: its code in each of their combinations, int64, shape (combinations,).
    """

    name: str
    labels: Sequence[str]
    values: NDArray[Any] | None
    codes: NDArray[np.int64]

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "values", "codes")


def _as_it_is(location: str) -> str:
    return location


@dataclass(frozen=True)
class ClassEvidence:
    """The evidence that a class check sees of one shard: figures of classes, never records and never cells.

    A demand that no class of the evidence could fail decides nothing, and is reported so. All of it is read-only.

    Args:
        size: what k counts in each class. int64, shape (classes,).
        histogram: the sensitive attribute in each class; no class of it is empty. None for a check without one.
        marginal: the reference distribution of that attribute.
        values: the attribute's domain as numbers in ascending order, where its scale is numeric. Shape (domain,).
        labels: the attribute's domain as text, for parameters that name values. Never put one into an answer.
        tree: the attribute's hierarchy laid over its domain, where it has one.
        records: N, the records (with a unit, the entities) of the whole release and not of the shard; 0 if unknown.
        parts: the attributes that are read together, if several are; empty for a single one.
        resolve: gives the path of a file that parameters name relative to the policy.
    """

    size: Counts
    histogram: Histogram | None = None
    marginal: ReferenceDistribution | None = None
    values: NDArray[Any] | None = None
    labels: Sequence[str] = ()
    tree: Tree | None = None
    records: int = 0
    parts: Sequence[CombinedAttribute] = ()
    resolve: Callable[[str], str] = _as_it_is

    def __post_init__(self) -> None:
        """Lock its arrays: other checks are given the same ones."""
        freeze_arrays(self, "size", "values")

    @property
    def sensitive(self) -> tuple[Histogram, ReferenceDistribution]:
        """Histogram and marginal, for checks that declare `on_attribute`."""
        if self.histogram is None or self.marginal is None:
            raise TypeError("this check measures a sensitive attribute; set `on_attribute=True` in its specification")
        return self.histogram, self.marginal


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
        histogram = None if self.classes.histogram is None else self.classes.histogram.take(chosen)
        return replace(self.classes, size=self.classes.size[chosen], histogram=histogram)

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


def sound_figure(value: Any) -> Any:
    """A check's figure as it is.

    Raises:
        CheckError: it cannot be compared.
    """
    if not isinstance(value, Real):
        raise CheckError(f"the check gave a {type(value).__name__}; a figure must be a real number")
    if value != value:  # noqa: PLR0124 - NaN
        raise CheckError("the check gave NaN; a figure must be a number or infinite")
    return value


def vacuous_sentence(names: Sequence[str], demands: Mapping[str, Fraction], *, judged: bool, whatever: str) -> str:
    """The reason why some demands say nothing.

    Args:
        names: the parameters with these demands, at least one.
        demands: all demands of the expectation.
        judged: whether another demand of it can fail.
        whatever: what makes no difference to them.
    """
    typed = " and ".join(f"{name}: {_typed(demands[name])}" for name in names)
    sentence = f"The {noun_form('demand', len(names))} {typed} {agree(len(names), 'is', 'are')} kept {whatever}"
    return f"{sentence}." if judged else f"{sentence}, so this is measured, not judged."


def _typed(number: Fraction) -> str:
    """A number as a policy takes it."""
    if number.denominator == 1 and abs(number) < 10**15:
        return str(number.numerator)
    text = repr(float(number))
    return text if Fraction(text) == number else f"{number.numerator}/{number.denominator}"


WEIGHT_LIMIT = 2**40  # a declared distribution has integer weights below this, so that products stay exact and fast


def marginal_of_release(domain: Domain, policy: Policy, counts: Counts) -> ReferenceDistribution:
    """The distribution over the records of the table under audit, or over its classes.

    Args:
        domain: the attribute.
        policy: its conventions decide whether a missing value counts as a value.
        counts: the count of each code, the missing one last. Shape (size + 1,).
    """
    return ReferenceDistribution(_without_empty_missing(counts, domain, policy))


def counts_in_classes(domain: Domain, histogram: Histogram) -> Counts:
    """The count of each code in the mixture of some classes, where an entity counts once per class and value.

    Args:
        domain: the attribute.
        histogram: the attribute in disjoint classes, missing codes included.
    """
    counts = np.zeros(domain.size + 1, dtype=np.int64)
    np.add.at(counts, histogram.values, histogram.counts)
    return counts


def marginal_of_original(domain: Domain, counts: Counts, policy: Policy) -> ReferenceDistribution:
    """The distribution in the original, over the same domain; `counts` has the missing ones last."""
    if not counts[: domain.size].sum():
        raise CheckError("the original has no value of this attribute")
    return ReferenceDistribution(_without_empty_missing(counts, domain, policy))


def marginal_as_declared(domain: Domain, policy: Policy) -> ReferenceDistribution:
    """The declared distribution as integer weights; `uniform` is over the domain.

    Raises:
        CheckError: several attributes are read together, or missing values count as a value.
    """
    from tcdp_audit.core.classes.joint import JointDomain  # noqa: PLC0415 - only for this reference

    if isinstance(domain, JointDomain):
        raise CheckError("a declared distribution is of one attribute; several are read together here")
    if policy.conventions.missing_sensitive == "own_category" and domain.missing:
        raise CheckError("a declared distribution has no place for missing values; set `missing_sensitive: excluded`")
    declared = policy.attributes[domain.attribute].distribution
    if declared is None or declared == "uniform":
        return ReferenceDistribution(np.ones(domain.size, dtype=np.int64))
    assert isinstance(declared, Mapping)  # noqa: S101 - the policy model allows nothing else
    return ReferenceDistribution(_weights(domain, declared))


def _weights(domain: Domain, declared: Mapping[str, Fraction]) -> Counts:
    scale = lcm(*(weight.denominator for weight in declared.values()))
    whole = {label: int(weight * scale) for label, weight in declared.items()}
    if sum(whole.values()) > WEIGHT_LIMIT:
        raise CheckError("the declared distribution has too many digits to be computed with exactly; round it")
    return np.array([whole.get(label, 0) for label in domain.labels], dtype=np.int64)


def _without_empty_missing(counts: Counts, domain: Domain, policy: Policy) -> Counts:
    """Drop the missing category if it is empty, as it would lengthen an ordered domain."""
    counts_missing = policy.conventions.missing_sensitive == "own_category"
    return counts if counts_missing and (domain.missing or counts[-1]) else counts[:-1]
