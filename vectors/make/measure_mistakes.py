"""Mistakes in a definition: each measures the right classes in a wrong way."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from math import floor

from vectors.reading import Vector, rows
from vectors.reference import distances
from vectors.reference.class_measures import CLASS_MEASURES, Figure, alpha, domain, gain
from vectors.reference.classes import Group, Judged, judge
from vectors.reference.values import DIGITS, Real, Value, ln, real, size

ZERO = Fraction(0)


@dataclass(frozen=True)
class MeasureMistake:
    """A mistake of one measure.

    Args:
        sentence: what the tool does.
        value: its figure; an exception means that the mistake has none here.
    """

    sentence: str
    value: Callable[[Vector], Value]


def _judged(vector: Vector) -> Judged:
    judged = judge(vector)
    if judged is None:
        raise ValueError(vector.id)
    return judged


def _values(vector: Vector, figure: Figure | None = None) -> list[Value]:
    judged, measure = _judged(vector), CLASS_MEASURES[vector.measure]
    if figure is None:
        return measure.figures(judged, vector)
    return [figure(group, judged, vector) for group in judged.groups if group.counts]


def _worst(figure: Figure) -> Callable[[Vector], Value]:
    return lambda vector: CLASS_MEASURES[vector.measure].worst(_values(vector, figure))


def _best(vector: Vector) -> Value:
    return (max if CLASS_MEASURES[vector.measure].comparison == ">=" else min)(_values(vector), key=size)


def _average(vector: Vector) -> Value:
    values = _values(vector)
    if any(one is None for one in values):
        raise ValueError(vector.id)
    if all(isinstance(one, Fraction) for one in values):
        return sum((one for one in values if isinstance(one, Fraction)), ZERO) / len(values)
    with localcontext(prec=DIGITS):
        return real(sum(map(size, values), Decimal(0)) / len(values))


def _first(vector: Vector) -> Value:
    return _values(vector)[0]


def _whole(judged: Judged) -> Group:
    counts: dict[Hashable, int] = {}
    for group in judged.groups:
        for value, n in group.counts.items():
            counts[value] = counts.get(value, 0) + n
    own = tuple(i for group in judged.groups for i in group.own)
    return Group((), own, judged.records, counts, sum(group.members for group in judged.groups), frozenset())


def _one_class(vector: Vector) -> Value:
    judged = _judged(vector)
    whole = _whole(judged)
    return CLASS_MEASURES[vector.measure].figure(
        whole, Judged([whole], judged.reference, judged.records, 1, lacks=False), vector
    )


def _leaves_out_alone(vector: Vector) -> Value:
    judged, measure = _judged(vector), CLASS_MEASURES[vector.measure]
    groups = [group for group in judged.groups if group.size > 1]
    reduced = Judged(groups, judged.reference, judged.records, judged.people, judged.lacks)
    return measure.worst(measure.figures(reduced, vector))


def _by_reference(reference: Callable[[Judged], dict[Hashable, Fraction]]) -> Callable[[Vector], Value]:
    def value(vector: Vector) -> Value:
        judged, measure = _judged(vector), CLASS_MEASURES[vector.measure]
        changed = Judged(judged.groups, reference(judged), judged.records, judged.people, judged.lacks)
        return measure.worst(measure.figures(changed, vector))

    return value


def _mean_of_classes(judged: Judged) -> dict[Hashable, Fraction]:
    groups = [group for group in judged.groups if group.counts]
    return {v: sum((g.shares.get(v, ZERO) for g in groups), ZERO) / len(groups) for v in judged.reference}


def _uniform(judged: Judged) -> dict[Hashable, Fraction]:
    return dict.fromkeys(judged.reference, Fraction(1, len(judged.reference)))


def _without_own(vector: Vector) -> Value:
    judged, measure = _judged(vector), CLASS_MEASURES[vector.measure]
    values: list[Value] = []
    for group in judged.groups:
        rest = _whole(Judged([g for g in judged.groups if g is not group], {}, 0, 0, lacks=False))
        values.append(measure.figure(group, Judged([], rest.shares, 0, 0, lacks=False), vector))
    return measure.worst(values)


def _ascending(group: Group, _: Judged, vector: Vector) -> Value:
    counts = sorted(group.counts.values())
    tail = sum(counts[int(vector.parameters["l"]) - 1 :])
    return Fraction(counts[0], tail) if tail else None


def _from_the_next(group: Group, _: Judged, vector: Vector) -> Value:
    counts = sorted(group.counts.values(), reverse=True)
    tail = sum(counts[int(vector.parameters["l"]) :])
    return Fraction(counts[0], tail) if tail else None


def _to_the_rest(group: Group, _: Judged, __: Vector) -> Value:
    counts = sorted(group.counts.values(), reverse=True)
    return Fraction(counts[0], sum(counts))


def _truncated(vector: Vector) -> Value:
    return Fraction(floor(size(CLASS_MEASURES[vector.measure].worst(_values(vector)))))


def _in_nats(vector: Vector) -> Value:
    with localcontext(prec=DIGITS):
        return real(size(CLASS_MEASURES[vector.measure].worst(_values(vector))).ln())


def _bits_and_e(vector: Vector) -> Value:
    with localcontext(prec=DIGITS):
        return real((size(CLASS_MEASURES[vector.measure].worst(_values(vector))).ln() / Decimal(2).ln()).exp())


def _distinct(group: Group, _: Judged, __: Vector) -> Value:
    return Fraction(len(group.counts))


def _inverse_largest(group: Group, judged: Judged, vector: Vector) -> Value:
    return 1 / alpha(group, judged, vector)


def _largest_difference(group: Group, judged: Judged, _: Vector) -> Value:
    p, q = group.shares, judged.reference
    return max(abs(p.get(v, ZERO) - q.get(v, ZERO)) for v in {*p, *q})


def _sum_of_differences(group: Group, judged: Judged, _: Vector) -> Value:
    return 2 * distances.equal(group.shares, judged.reference)


def _own_values_alone(group: Group, judged: Judged, _: Vector) -> Value:
    return sum((abs(p - judged.reference.get(v, ZERO)) for v, p in group.shares.items()), ZERO) / 2


def _equal(group: Group, judged: Judged, _: Vector) -> Value:
    return distances.equal(group.shares, judged.reference)


def _by_rank(group: Group, judged: Judged, vector: Vector) -> Value:
    return distances.ordered(group.shares, judged.reference, domain(judged, vector))


def _by_text(group: Group, judged: Judged, vector: Vector) -> Value:
    return distances.ordered(group.shares, judged.reference, sorted(domain(judged, vector), key=str))


def _by_frequency(group: Group, judged: Judged, vector: Vector) -> Value:
    order = sorted(domain(judged, vector), key=lambda v: (-judged.reference.get(v, ZERO), str(v)))
    return distances.ordered(group.shares, judged.reference, order)


def _observed(group: Group, judged: Judged, vector: Vector) -> Value:
    order = [v for v in domain(judged, vector) if judged.reference.get(v)]
    return distances.ordered(group.shares, judged.reference, order)


def _over_m(group: Group, judged: Judged, vector: Vector) -> Value:
    m = len(domain(judged, vector))
    return _ordered(group, judged, vector) * (m - 1) / m


def _ordered(group: Group, judged: Judged, vector: Vector) -> Fraction:
    return distances.ordered(group.shares, judged.reference, domain(judged, vector))


def _not_scaled(group: Group, judged: Judged, vector: Vector) -> Value:
    order = [str(v) for v in domain(judged, vector)]
    spread = Fraction(order[-1]) - Fraction(order[0])
    return distances.numeric(group.shares, judged.reference, order) * spread


def _over_largest(group: Group, judged: Judged, vector: Vector) -> Value:
    order = [str(v) for v in domain(judged, vector)]
    spread = Fraction(order[-1]) - Fraction(order[0])
    return distances.numeric(group.shares, judged.reference, order) * spread / abs(Fraction(order[-1]))


def _means(group: Group, judged: Judged, vector: Vector) -> Value:
    order = [str(v) for v in domain(judged, vector)]
    one, other = (
        sum((share * Fraction(str(v)) for v, share in of.items()), ZERO) for of in (group.shares, judged.reference)
    )
    return abs(one - other) / (Fraction(order[-1]) - Fraction(order[0]))


def _only_upper_level(group: Group, judged: Judged, vector: Vector) -> Value:
    tree = vector.declared["attributes"][vector.parameters["attribute"]]["hierarchy"]
    root = tree["*"]
    extra = [sum((group.shares.get(v, ZERO) - judged.reference.get(v, ZERO) for v in _flat(node)), ZERO)
             for node in root.values()]  # fmt: skip
    return sum((one for one in extra if one > 0), ZERO)


def _flat(node: object) -> list[str]:
    if isinstance(node, dict):
        return [leaf for child in node.values() for leaf in _flat(child)]
    return list(node) if isinstance(node, list) else []


def _only_more(group: Group, judged: Judged, _: Vector) -> Value:
    return max((p / judged.reference[v] for v, p in group.shares.items()), default=ZERO)


def _only_present(group: Group, judged: Judged, _: Vector) -> Value:
    p, q = group.shares, judged.reference
    return max(max(p[v] / q[v], q[v] / p[v]) for v in p)


def _as_log(change: Figure) -> Figure:
    def figure(group: Group, judged: Judged, vector: Vector) -> Value:
        ratio = change(group, judged, vector)
        return ln(ratio) if isinstance(ratio, Fraction) else ratio

    return figure


def _to_base_2(vector: Vector) -> Value:
    value = CLASS_MEASURES[vector.measure].worst(_values(vector))
    if value is None:
        raise ValueError(vector.id)
    with localcontext(prec=DIGITS):
        return real(size(value) / Decimal(2).ln())


def _ratio_itself(group: Group, judged: Judged, _: Vector) -> Value:
    return distances.multiplicative(group.shares, judged.reference)


def _absolute_gain(group: Group, judged: Judged, _: Vector) -> Value:
    return max(p - judged.reference[v] for v, p in group.shares.items())


def _either_way(group: Group, judged: Judged, _: Vector) -> Value:
    return max(abs(group.shares.get(v, ZERO) - q) / q for v, q in judged.reference.items())


def _over_own_share(group: Group, judged: Judged, _: Vector) -> Value:
    return max((p - judged.reference[v]) / p for v, p in group.shares.items())


def _bounded(vector: Vector) -> Value:
    """The smaller of the largest gain and the largest -ln q: finite where no beta would do."""
    judged = _judged(vector)
    largest = max((gain(group, judged, vector) for group in judged.groups), key=size)
    bound = max((ln(1 / q) for q in judged.reference.values() if q), key=size)
    return min(largest, bound, key=size)


def _all_values(group: Group, judged: Judged, _: Vector) -> Value:
    return max(p / judged.reference[v] for v, p in group.shares.items())


def _difference(group: Group, judged: Judged, vector: Vector) -> Value:
    harmful = vector.parameters.get("sensitive_values", list(judged.reference))
    return max((group.shares.get(v, ZERO) - judged.reference.get(v, ZERO) for v in harmful), default=ZERO)


def _others_than_the_target(group: Group, _: Judged, __: Vector) -> Value:
    return Fraction(max(0, group.members - max(group.counts.values()) - 1))


def _rarest(group: Group, _: Judged, __: Vector) -> Value:
    return Fraction(group.members - min(group.counts.values()))


def _classes(vector: Vector) -> Value:
    return Fraction(len(_judged(vector).groups))


def _weights(vector: Vector) -> Value:
    weight, table = vector.declared["weight"], rows(vector.path)
    return min(sum((Fraction(table[i][weight]) for i in group.own), ZERO) for group in _judged(vector).groups)


def _with_pairs(group: Group, _: Judged, __: Vector) -> Value:
    return Fraction(max(group.counts.values()), sum(group.counts.values()))


EVERY = {
    "takes_the_best_class": MeasureMistake("answers for the best class instead of the worst", _best),
    "averages_over_classes": MeasureMistake("averages over classes", _average),
    "looks_at_the_first_class": MeasureMistake("looks at the first class only", _first),
    "leaves_out_records_alone": MeasureMistake("leaves out classes of one record", _leaves_out_alone),
}
OF_VALUES = {"judges_the_table_as_one_class": MeasureMistake("measures the whole table as one class", _one_class)}
OF_REFERENCE = {
    "averages_the_reference": MeasureMistake(
        "compares with the mean of the classes' distributions, not with the table's", _by_reference(_mean_of_classes)
    ),
    "compares_with_the_others": MeasureMistake("compares a class with all other records", _without_own),
    "compares_with_uniform": MeasureMistake("compares with a uniform distribution", _by_reference(_uniform)),
}
_LINE = {
    "uses_the_equal_distance": MeasureMistake(
        "takes the equal distance: neighbours are as far as ends", _worst(_equal)
    ),
    "sorts_as_text": MeasureMistake("sorts values as texts", _worst(_by_text)),
    "sorts_by_frequency": MeasureMistake("sorts values by their frequency", _worst(_by_frequency)),
}
MISTAKES = {
    "k_anonymity": {
        "counts_classes": MeasureMistake("answers with the number of classes", _classes),
        "adds_up_weights": MeasureMistake("adds up sampling weights instead of counting records", _weights),
    },
    "alpha_k_anonymity": {
        **OF_VALUES,
        "divides_by_pairs": MeasureMistake("divides by pairs of person and value, not people", _worst(_with_pairs)),
    },
    "p_sensitive_k_anonymity": {**OF_VALUES, "misses_certain_values": MeasureMistake(
        "counts values although all people of the class have one of them", _worst(_distinct))},
    "distinct_l_diversity": {**OF_VALUES, "misses_certain_values": MeasureMistake(
        "counts values although all people of the class have one of them", _worst(_distinct))},
    "entropy_l_diversity": {
        **OF_VALUES,
        "truncates": MeasureMistake("truncates exp(H) to a whole number", _truncated),
        "reports_entropy": MeasureMistake("answers with the entropy instead of its exponential", _in_nats),
        "mixes_logarithms": MeasureMistake("takes logarithms to base 2 and exponentials to base e", _bits_and_e),
        "counts_distinct_values": MeasureMistake("counts distinct values", _worst(_distinct)),
        "looks_at_the_largest_share": MeasureMistake("answers with 1 over the largest share", _worst(_inverse_largest)),
    },
    "recursive_cl_diversity": {
        **OF_VALUES,
        "sorts_ascending": MeasureMistake("sorts counts from the smallest up", _worst(_ascending)),
        "begins_after_l": MeasureMistake("begins the tail with the count after the l-th", _worst(_from_the_next)),
        "divides_by_all": MeasureMistake("divides by all counts instead of the tail", _worst(_to_the_rest)),
    },
    "t_closeness_equal": {
        **OF_REFERENCE,
        "does_not_halve": MeasureMistake("does not halve the sum of differences", _worst(_sum_of_differences)),
        "takes_the_largest_difference": MeasureMistake("takes the largest difference", _worst(_largest_difference)),
        "forgets_absent_values": MeasureMistake("leaves out values that a class lacks", _worst(_own_values_alone)),
    },
    "t_closeness_ordered": {
        **OF_REFERENCE,
        **_LINE,
        "takes_observed_values": MeasureMistake("drops declared values that do not occur", _worst(_observed)),
        "divides_by_m": MeasureMistake("divides by m instead of m - 1", _worst(_over_m)),
    },
    "t_closeness_numeric": {
        **OF_REFERENCE,
        **_LINE,
        "goes_by_rank": MeasureMistake("takes ranks for numbers", _worst(_by_rank)),
        "does_not_scale": MeasureMistake("does not divide by the range", _worst(_not_scaled)),
        "divides_by_the_largest": MeasureMistake("divides by the largest number, not the range", _worst(_over_largest)),
        "compares_means": MeasureMistake("compares means", _worst(_means)),
    },
    "t_closeness_hierarchical": {
        **OF_REFERENCE,
        "uses_the_equal_distance": MeasureMistake("takes the equal distance, not that of the tree", _worst(_equal)),
        "looks_below_the_root": MeasureMistake("compares the children of the root alone", _worst(_only_upper_level)),
    },
    "t_closeness_multiplicative": {
        **OF_REFERENCE,
        "looks_one_way": MeasureMistake("looks at p/q and not at q/p", _worst(_only_more)),
        "forgets_absent_values": MeasureMistake("leaves out values that a class lacks", _worst(_only_present)),
        "takes_the_logarithm": MeasureMistake("takes the logarithm of the ratio", _worst(_as_log(_ratio_itself))),
    },
    "basic_beta_likeness": {
        **OF_REFERENCE,
        "takes_absolute_gains": MeasureMistake("takes p - q and does not divide by q", _worst(_absolute_gain)),
        "counts_losses": MeasureMistake("counts losses as well as gains", _worst(_either_way)),
        "divides_by_p": MeasureMistake("divides by p instead of q", _worst(_over_own_share)),
        "takes_the_ratio": MeasureMistake("answers with p/q, which is 1 more", _worst(_only_more)),
    },
    "enhanced_beta_likeness": {
        **OF_REFERENCE,
        "is_the_basic_one": MeasureMistake("forgets the bound -ln q", _worst(gain)),
        "is_finite_where_none_is": MeasureMistake("gives a finite beta where no beta would do", _bounded),
        "takes_absolute_gains": MeasureMistake("takes p - q and does not divide by q", _worst(_absolute_gain)),
    },
    "delta_disclosure": {
        **OF_REFERENCE,
        "forgets_absent_values": MeasureMistake(
            "leaves out values that a class lacks, and thereby rules out", _worst(_as_log(_only_present))
        ),
        "looks_one_way": MeasureMistake("looks at gains alone", _worst(_as_log(_only_more))),
        "takes_base_2": MeasureMistake("takes logarithms to base 2", _to_base_2),
        "answers_with_the_ratio": MeasureMistake("answers with the ratio, not its logarithm", _worst(_ratio_itself)),
    },
    "skewness": {
        **OF_REFERENCE,
        "looks_at_every_value": MeasureMistake("looks at harmless values as well", _worst(_all_values)),
        "takes_the_difference": MeasureMistake("takes the difference of shares, not their ratio", _worst(_difference)),
    },
    "background_knowledge": {
        **OF_VALUES,
        "counts_the_target": MeasureMistake("does not count the last other record", _worst(_others_than_the_target)),
        "takes_the_rarest_value": MeasureMistake("leaves the rarest value, not the most frequent", _worst(_rarest)),
    },
}  # fmt: skip


def mistakes_of(measure: str) -> dict[str, MeasureMistake]:
    """The mistakes of a measure on classes, its own first."""
    return {**MISTAKES.get(measure, {}), **EVERY}


def is_irrational(value: Value) -> bool:
    """Whether a figure has no fraction."""
    return isinstance(value, Real)


def nearest(value: Value, digits: int) -> Fraction:
    """A figure rounded to so many digits after the point."""
    with localcontext(prec=DIGITS):
        return Fraction(size(value).quantize(Decimal(1).scaleb(-digits)))
