"""Demands of a policy: other thresholds that one may have, and whether one demands at least what another does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice, takewhile
from math import ceil
from typing import Any

from pydantic import ValidationError

from tcdp_audit.core.base.outcome import Outcome, Severity
from tcdp_audit.core.policy.faults import from_validation
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.policy.source import PolicySource

Demand = tuple[str, Mapping[str, Any]]  # a check's name, and parameters of it
FACTORS = (1, 2, 5)
TEN = Fraction(10)


def between(low: Fraction, high: Fraction) -> list[Fraction]:
    """Both ends and the round numbers between them, ascending.

    Example:
        >>> [str(one) for one in between(Fraction(3), Fraction(50))]
        ['3', '5', '10', '20', '50']
        >>> [str(one) for one in between(Fraction("0.15"), Fraction("0.5"))]
        ['3/20', '1/5', '1/2']
    """
    rounds = _above(low) if low > 0 else _above(high / 100) if high > 0 else ()
    inner = [low, *takewhile(lambda one: one < high, rounds)]
    return inner if low == high else [*inner, high]


def around(own: Fraction, steps: int) -> list[Fraction]:
    """A positive number with so many round numbers below it and above it, ascending.

    Example:
        >>> [str(one) for one in around(Fraction(5), 2)]
        ['1', '2', '5', '10', '20']
    """
    above = list(islice(_above(own), steps))
    below = [1 / one for one in islice(_above(1 / own), steps)]  # 1, 2, 5 are 1, 1/2, 1/5 upside down
    return [*reversed(below), own, *above]


def covering(low: Fraction, high: Fraction) -> list[Fraction]:
    """The round numbers from the last that is at most `low` to the first that is at least `high`, ascending.

    Where `low` is not positive, 0 comes first, and a hundredth of `high` decides on the next.

    Example:
        >>> [str(one) for one in covering(Fraction(3), Fraction(42))]
        ['2', '5', '10', '20', '50']
        >>> [str(one) for one in covering(Fraction(0), Fraction("0.5"))]
        ['0', '1/200', '1/100', '1/50', '1/20', '1/10', '1/5', '1/2']
    """
    if high <= 0:
        return [Fraction(0)]
    start = low if low > 0 else high / 100
    steps = [*takewhile(lambda one: one <= start, _above(start / TEN))][-1:]
    for one in _above(start):
        if steps[-1] >= high:
            break
        steps.append(one)
    return steps if low > 0 else [Fraction(0), *steps]


def _above(start: Fraction) -> Iterator[Fraction]:
    """The round numbers above a positive one, without end."""
    power = Fraction(1)
    while power > start:
        power /= TEN
    while power * TEN <= start:
        power *= TEN
    while True:
        yield from (factor * power for factor in FACTORS if factor * power > start)
        power *= TEN


def with_threshold(expectation: Expectation, parameter: str, threshold: Fraction) -> Expectation:
    """The same expectation with another threshold.

    Raises:
        ValidationError: its parameter cannot have this value.
    """
    parameters = expectation.parameters
    given = {name: getattr(parameters, name) for name in parameters.model_fields_set}
    given[parameter] = int(threshold) if threshold.denominator == 1 else threshold  # a number of records is a whole one
    return replace(expectation, parameters=type(parameters).model_validate(given))


def threshold_fault(policy: Policy, expectation: Expectation, parameter: str, threshold: Fraction) -> str:
    """The reason why a demand cannot have a threshold; empty where it can."""
    try:
        other = with_threshold(expectation, parameter, threshold)
    except ValidationError as error:
        return from_validation(error, PolicySource(None, None), type(expectation.parameters))[0].message
    faults = list(other.check.faults(other.parameters, policy.document))
    return str(faults[0][1]) if faults else ""


def implications(one: Expectation, policy: Policy) -> list[Demand]:
    """The demands of an expectation, and those that follow from them by its check."""
    given, unit = one.parameters.model_dump(), one.parameters.unit
    implied = one.check.implies(one.parameters, policy.document)
    return [(one.check.name, given), *((name, {"unit": unit, **demanded}) for name, demanded in implied)]


def expectations_of(outcome: Outcome, policy: Policy) -> list[Expectation]:
    """The expectation that an outcome is the result of; all of its check and unit where its parameters do not say."""
    asked = [
        one
        for one in policy.expectations
        if one.check.name == outcome.check and (one.parameters.unit or "") == outcome.unit
    ]
    same = [one for one in asked if one.parameters.figures() == dict(outcome.parameters)]
    return same or asked


def required_class_size(one: Expectation, document: PolicyDocument) -> int | None:
    """The size that every equivalence class must have, as k-anonymity counts it, for an expectation to hold.

    None where it demands nothing, or no size follows from it.

    Example:
        A highest prosecutor's risk of at most 0.2, and `k_anonymity: {k: 5}`, require 5.
    """
    check, parameters = one.check, one.parameters
    demanded = check.demands(parameters)
    sizes = [check.required_class_size(parameters, document)] if demanded else []
    sizes += [ceil(demanded["k"])] if check.judges_each_class and "k" in demanded else []
    return max((size for size in sizes if size is not None), default=None)


def sufficient_class_size(one: Expectation, document: PolicyDocument) -> int | None:
    """The size of equivalence classes from which on an expectation holds; None where none is known."""
    check, parameters = one.check, one.parameters
    return check.sufficient_class_size(parameters, document) if check.demands(parameters) else None


def covers(demands: Sequence[Demand], strong: Expectation, weak: Expectation) -> bool:
    """Whether an expectation demands at least what another does.

    Args:
        demands: the implications of the first.
        strong: the first.
        weak: the other.
    """
    if strong.parameters.severity is Severity.WARNING and weak.parameters.severity is Severity.ERROR:
        return False
    return any(name == weak.check.name and _at_least_as_strict(given, weak) for name, given in demands)


def covers_by_size(strong: Expectation, weak: Expectation, document: PolicyDocument) -> bool:
    """Whether an expectation requires classes of a size that another one always holds at, of the same rows."""
    required, sufficient = required_class_size(strong, document), sufficient_class_size(weak, document)
    if required is None or sufficient is None or required < sufficient:
        return False
    if strong.parameters.severity is Severity.WARNING and weak.parameters.severity is Severity.ERROR:
        return False
    if document.tables is not None or document.household is not None:
        return False
    readings = {one.check.reading(one.parameters) for one in (strong, weak)}
    alike = strong.parameters.known_rows == weak.parameters.known_rows
    return alike and (document.unit is None or len(readings) == 1)


def _at_least_as_strict(given: Mapping[str, Any], weak: Expectation) -> bool:
    """Whether parameters demand at least as much as an expectation, of the same attributes."""
    limits = {one.parameter: one.comparison for one in weak.check.limits}
    if not alike_except_thresholds(given, weak):
        return False
    for name, value in weak.parameters.model_dump().items():
        if name in limits and value is not None:
            threshold = given.get(name)
            if threshold is None or not _stricter(threshold, value, limits[name]):
                return False
    return True


def alike_except_thresholds(given: Mapping[str, Any], weak: Expectation) -> bool:
    """Whether parameters are those of an expectation except thresholds, severity, reason; no attribute is all.

    Args:
        given: parameters of the same check.
        weak: the expectation.
    """
    fields = type(weak.parameters).model_fields
    if "attribute" in fields and given.get("attribute") not in (None, weak.parameters.attribute):
        return False
    limits, asked = {one.parameter for one in weak.check.limits}, weak.parameters.model_dump()
    others = asked.keys() - limits - {"attribute", "severity", "reason"}
    return all(given.get(name, fields[name].default) == asked[name] for name in others)


def _stricter(threshold: Any, other: Any, comparison: Any) -> bool:
    """Whether a threshold is at least as strict as another."""
    one, two = Fraction(threshold), Fraction(other)
    return one >= two if comparison.higher_is_safer else one <= two
