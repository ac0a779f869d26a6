"""Mistakes in shares of records and in risks."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from vectors.make.measure_mistakes import MeasureMistake
from vectors.reading import Vector
from vectors.reference.classes import Group, Judged, judge
from vectors.reference.values import Value

ZERO = Fraction(0)


def _judged(vector: Vector) -> Judged:
    judged = judge(vector)
    if judged is None:
        raise ValueError(vector.id)
    return judged


def _share(test: Callable[[Group], bool], *, of_classes: bool = False) -> Callable[[Vector], Value]:
    def value(vector: Vector) -> Value:
        judged = _judged(vector)
        chosen = [group for group in judged.groups if test(group)]
        if of_classes:
            return Fraction(len(chosen), len(judged.groups))
        return Fraction(sum(len(group.own) for group in chosen), judged.records)

    return value


def _is_homogeneous(group: Group) -> bool:
    return group.certain or not group.counts


def _risk(vector: Vector) -> list[Fraction]:
    return [Fraction(1, group.size) for group in _judged(vector).groups]


def _mean_over_classes(vector: Vector) -> Value:
    risks = _risk(vector)
    if vector.parameters.get("measure", "highest") == "share_above":
        limit = Fraction(vector.parameters["threshold_risk"])
        return Fraction(sum(risk > limit for risk in risks), len(risks))
    return sum(risks, ZERO) / len(risks)


def _of_kind(kind: str, answer: Callable[[Vector], Value]) -> Callable[[Vector], Value]:
    def value(vector: Vector) -> Value:
        if vector.parameters.get("measure", "highest") != kind:
            raise ValueError(vector.id)
        return answer(vector)

    return value


def _lowest(vector: Vector) -> Value:
    return min(_risk(vector))


def _at_or_above(vector: Vector) -> Value:
    limit, judged = Fraction(vector.parameters["threshold_risk"]), _judged(vector)
    return Fraction(sum(len(g.own) for g in judged.groups if Fraction(1, g.size) >= limit), judged.records)


def _within_a_percent(vector: Vector) -> Value:
    limit, judged = Fraction(vector.parameters["threshold_risk"]), _judged(vector)
    above = [g for g in judged.groups if Fraction(1, g.size) > limit * Fraction(101, 100)]
    return Fraction(sum(len(g.own) for g in above), judged.records)


def _below(vector: Vector) -> Value:
    limit, judged = Fraction(vector.parameters["threshold_risk"]), _judged(vector)
    return Fraction(sum(len(g.own) for g in judged.groups if Fraction(1, g.size) < limit), judged.records)


def _size_of_the_mean(vector: Vector) -> Value:
    judged = _judged(vector)
    return Fraction(sum(group.size for group in judged.groups), 1) / judged.records


TABLE_MISTAKES = {
    "sample_uniqueness": {
        "counts_classes": MeasureMistake(
            "divides the classes of one record by the classes, not by the records",
            _share(lambda g: g.size == 1, of_classes=True),
        ),
        "counts_pairs_too": MeasureMistake("counts classes of two records as well", _share(lambda g: g.size <= 2)),
        "counts_rows_of_people": MeasureMistake(
            "divides rows by rows, where people are declared", _share(lambda g: g.size == 1)
        ),
        "answers_none": MeasureMistake("answers 0 where records are alone", lambda _: ZERO),
    },
    "homogeneity": {
        "counts_classes": MeasureMistake(
            "divides homogeneous classes by the classes, not by the records", _share(_is_homogeneous, of_classes=True)
        ),
        "forgets_records_alone": MeasureMistake(
            "forgets that a record alone in its class gives its value away",
            _share(lambda g: _is_homogeneous(g) and g.size > 1),
        ),
        "forgets_classes_without_values": MeasureMistake(
            "takes a class without any value for a diverse one", _share(lambda g: bool(g.counts) and g.certain)
        ),
        "counts_almost_homogeneous": MeasureMistake(
            "counts classes in which all but one have the same value",
            _share(lambda g: not g.counts or g.members - max(g.counts.values()) <= 1),
        ),
        "counts_single_values": MeasureMistake(
            "counts classes of one value alone, although all people may have one beside others",
            _share(lambda g: len(g.counts) <= 1),
        ),
    },
    "reidentification_risk": {
        "averages_over_classes": MeasureMistake("averages over classes instead of records", _mean_over_classes),
        "takes_the_lowest": MeasureMistake("answers with the lowest risk", _of_kind("highest", _lowest)),
        "counts_the_threshold": MeasureMistake(
            "counts records at the threshold, not only those above it", _of_kind("share_above", _at_or_above)
        ),
        "allows_a_percent": MeasureMistake(
            "lets risks through that exceed the threshold by less than 1 %", _of_kind("share_above", _within_a_percent)
        ),
        "counts_those_below": MeasureMistake("counts records below the threshold", _of_kind("share_above", _below)),
    },
}
