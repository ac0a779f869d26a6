"""Other documented definitions of a measure: an answer by one of them is a difference of convention, not a mistake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any

from vectors.make.measure_mistakes import MISTAKES
from vectors.reading import Vector
from vectors.reference.answers import answer, threshold_of, value_of
from vectors.reference.values import Value, keeps, size, written


def readings(vector: Vector) -> Mapping[str, Any]:
    """The answers under other definitions, where they differ."""
    if vector.answer == "undefined":
        return {}
    return {name: found for name, found in _readings(vector) if found != _plain(vector.answer, vector.verdict)}


def _readings(vector: Vector) -> Iterator[tuple[str, Any]]:
    if vector.measure == "delta_disclosure":
        ignored = replace(vector, parameters={**vector.parameters, "absent_values": "ignored"})
        yield "absent values are ignored", _plain(*answer(ignored))
    elif vector.measure == "entropy_l_diversity":
        yield "the whole number below", _judged(vector, Fraction(floor(size(value_of(vector)))))
    elif vector.measure == "recursive_cl_diversity" and vector.answer != "infinite":
        yield "the least whole c", {"answer": str(floor(size(value_of(vector))) + 1)}
    elif vector.measure == "t_closeness_ordered":
        observed = MISTAKES[vector.measure]["takes_observed_values"].value
        if vector.answer != "infinite":
            yield "the values that occur are the domain", _judged(vector, observed(vector))
    elif vector.measure == "dominance" and vector.answer == vector.parameters["k"]:
        yield "a share of exactly k percent is unsafe", _plain(vector.answer, "fail")


def _plain(figure: Any, verdict: str) -> dict[str, Any]:
    return {"answer": figure, "verdict": verdict} if verdict else {"answer": figure}


def _judged(vector: Vector, value: Value) -> dict[str, Any]:
    name, comparison = threshold_of(vector.measure)
    if name not in vector.parameters:
        return _plain(written(value), "")
    kept = keeps(value, comparison, Fraction(vector.parameters[name]))
    return _plain(written(value), "pass" if kept else "fail")
