"""Measures on equivalence classes: the figure of one class, and which of them is the table's."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod

from vectors.reading import Vector
from vectors.reference import distances
from vectors.reference.classes import Group, Judged, companion, missing
from vectors.reference.values import Value, keeps, ln, root, size

Figure = Callable[[Group, Judged, Vector], Value]


@dataclass(frozen=True)
class ClassMeasure:
    """A measure whose figure is that of the worst class.

    Args:
        figure: of a class that has a value; None is infinite.
        threshold: the parameter that it is compared with.
        comparison: how.
        of_values: whether it measures a sensitive attribute, so that a class without a value has the worst figure.
    """

    figure: Figure
    threshold: str
    comparison: str
    of_values: bool = True

    def figures(self, judged: Judged, vector: Vector) -> list[Value]:
        """The figure of every class."""
        worst = Fraction(0) if self.comparison == ">=" else None
        return [
            self.figure(group, judged, vector) if group.counts or not self.of_values else worst
            for group in judged.groups
        ]

    def worst(self, values: Sequence[Value]) -> Value:
        """The table's figure."""
        return (min if self.comparison == ">=" else max)(values, key=size)

    def passes(self, judged: Judged, vector: Vector, value: Value) -> bool:
        """Whether the table keeps the vector's threshold."""
        kept = keeps(value, self.comparison, Fraction(vector.parameters[self.threshold]))
        k = Fraction(vector.parameters.get("k", 1))
        return kept and not judged.lacks and all(group.size >= k for group in judged.groups)


def of_size(group: Group, _: Judged, __: Vector) -> Fraction:
    """How many records, or people, are in the class."""
    return Fraction(group.size)


def distinct(group: Group, _: Judged, __: Vector) -> Fraction:
    """Different values; one, where all members have the same beside others."""
    return Fraction(1 if group.certain else len(group.counts))


def entropy(group: Group, _: Judged, __: Vector) -> Value:
    """exp(H), the n-th root of the product of (n / c)^c."""
    if group.certain:
        return Fraction(1)
    n = sum(group.counts.values())
    return root(prod((Fraction(n, c) ** c for c in group.counts.values()), start=Fraction(1)), n)


def recursive(group: Group, _: Judged, vector: Vector) -> Value:
    """r_1 / (r_l + ... + r_m), the counts from the largest down."""
    counts = sorted(group.counts.values(), reverse=True)
    tail = sum(counts[int(vector.parameters["l"]) - 1 :])
    return None if group.certain or not tail else Fraction(counts[0], tail)


def alpha(group: Group, _: Judged, __: Vector) -> Fraction:
    """The largest share of members with one value."""
    return Fraction(max(group.counts.values()), group.members)


def background(group: Group, _: Judged, __: Vector) -> Fraction:
    """Members without the most frequent value."""
    return Fraction(group.members - max(group.counts.values()))


def factor(group: Group, judged: Judged, vector: Vector) -> Value:
    """The largest ratio of a share to the reference's, over the values that harm."""
    p, q = group.shares, judged.reference
    harmful = vector.parameters.get("sensitive_values", list(q))
    return max((p.get(v, Fraction(0)) / q[v] for v in harmful if q.get(v)), default=Fraction(0))


def gain(group: Group, judged: Judged, _: Vector) -> Value:
    """The largest relative gain of a share, at least 0."""
    p, q = group.shares, judged.reference
    if any(not q.get(v) for v in p):
        return None
    return max(Fraction(0), *(p[v] / q[v] - 1 for v in p))


def bounded_gain(group: Group, judged: Judged, vector: Vector) -> Value:
    """The same; infinite where a gain exceeds -ln q, which no beta allows."""
    largest, q = gain(group, judged, vector), judged.reference
    hopeless = largest is None or any(
        g > 0 and size(g) > -size(ln(q[v])) for v, g in ((v, share / q[v] - 1) for v, share in group.shares.items())
    )
    return None if hopeless else largest


def disclosure(group: Group, judged: Judged, vector: Vector) -> Value:
    """The largest |ln p/q|; values that the class lacks are infinite, or `ignored`."""
    p, q = group.shares, judged.reference
    if vector.parameters.get("absent_values") == "ignored":
        return max((ln(max(p[v] / q[v], q[v] / p[v])) for v in p), key=size)
    ratio = distances.multiplicative(p, q)
    return None if ratio is None else ln(ratio)


def domain(judged: Judged, vector: Vector) -> list[Hashable]:
    """The values of an ordered attribute in order: as declared, or as numbers that occur."""
    attribute = vector.parameters["attribute"]
    declared = vector.declared["attributes"][attribute]
    values = {*judged.reference, *(v for group in judged.groups for v in group.counts)}
    if vector.conventions.get("reference") == "original":
        lacking = missing(vector)
        values |= {row[attribute] for row in companion(vector, "original") if row[attribute] not in lacking}
    return list(declared["order"]) if "order" in declared else sorted(values, key=lambda v: Fraction(str(v)))


def equal(group: Group, judged: Judged, _: Vector) -> Fraction:
    """Equal, or variational, distance."""
    return distances.equal(group.shares, judged.reference)


def ordered(group: Group, judged: Judged, vector: Vector) -> Fraction:
    """By rank."""
    return distances.ordered(group.shares, judged.reference, domain(judged, vector))


def numeric(group: Group, judged: Judged, vector: Vector) -> Fraction:
    """By number."""
    return distances.numeric(group.shares, judged.reference, [str(v) for v in domain(judged, vector)])


def hierarchical(group: Group, judged: Judged, vector: Vector) -> Fraction:
    """Along a tree."""
    tree = vector.declared["attributes"][vector.parameters["attribute"]]["hierarchy"]
    return distances.hierarchical(group.shares, judged.reference, tree)


def multiplicative(group: Group, judged: Judged, _: Vector) -> Value:
    """The largest factor either way."""
    return distances.multiplicative(group.shares, judged.reference)


CLASS_MEASURES = {
    "k_anonymity": ClassMeasure(of_size, "k", ">=", of_values=False),
    "alpha_k_anonymity": ClassMeasure(alpha, "alpha", "<="),
    "p_sensitive_k_anonymity": ClassMeasure(distinct, "p", ">="),
    "distinct_l_diversity": ClassMeasure(distinct, "l", ">="),
    "entropy_l_diversity": ClassMeasure(entropy, "l", ">="),
    "recursive_cl_diversity": ClassMeasure(recursive, "c", "<"),
    "t_closeness_equal": ClassMeasure(equal, "t", "<="),
    "t_closeness_ordered": ClassMeasure(ordered, "t", "<="),
    "t_closeness_numeric": ClassMeasure(numeric, "t", "<="),
    "t_closeness_hierarchical": ClassMeasure(hierarchical, "t", "<="),
    "t_closeness_multiplicative": ClassMeasure(multiplicative, "t", "<="),
    "basic_beta_likeness": ClassMeasure(gain, "beta", "<="),
    "enhanced_beta_likeness": ClassMeasure(bounded_gain, "beta", "<="),
    "delta_disclosure": ClassMeasure(disclosure, "delta", "<"),
    "skewness": ClassMeasure(factor, "at_most", "<="),
    "background_knowledge": ClassMeasure(background, "at_least", ">="),
}
