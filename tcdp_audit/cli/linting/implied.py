"""Demands that hold whenever another demand of the same policy holds, so that they say nothing more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from tcdp_audit.api import Expectation, Policy
from tcdp_audit.plugin.sentences import Severity

Demand = tuple[str, Mapping[str, Any]]  # a check's name, and parameters of it


def implied(policy: Policy) -> Iterator[tuple[Expectation, Expectation]]:
    """Every expectation with one that implies it; of two that imply each other, the later one.

    What a profile asks is not told as implied by the policy's own demands: it stays when those change.
    """
    stronger = [(one, list(_implications(one, policy))) for one in policy.expectations]
    for number, weak in enumerate(policy.expectations):
        for place, (strong, demands) in enumerate(stronger):
            if strong is weak or not weak.check.demands(weak.parameters) or weak.profile:
                continue
            is_mutual = place > number and not strong.profile and _covers(stronger[number][1], weak, strong)
            if _covers(demands, strong, weak) and not is_mutual:
                yield weak, strong
                break


def _implications(one: Expectation, policy: Policy) -> Iterator[Demand]:
    """What an expectation demands, and what follows from it by what its check says."""
    given = one.parameters.model_dump()
    yield one.check.name, given
    yield from one.check.implies(one.parameters, policy.document)


def _covers(demands: list[Demand], strong: Expectation, weak: Expectation) -> bool:
    if strong.parameters.severity is Severity.WARNING and weak.parameters.severity is Severity.ERROR:
        return False
    return any(name == weak.check.name and _at_least_as_strict(given, weak) for name, given in demands)


def _at_least_as_strict(given: Mapping[str, Any], weak: Expectation) -> bool:
    """Whether parameters demand all that an expectation demands, of whatever it demands it."""
    limits = {one.parameter: one.comparison for one in weak.check.limits}
    asked = weak.parameters.model_dump()
    for name, value in asked.items():
        if name in limits:
            threshold = given.get(name)
            if value is not None and (threshold is None or not _stricter(threshold, value, limits[name])):
                return False
        elif name == "attribute":
            if given.get("attribute") not in (None, value):
                return False
        elif name != "severity" and given.get(name, _default(weak, name)) != value:
            return False
    return True


def _stricter(threshold: Any, other: Any, comparison: Any) -> bool:
    """Whether a threshold lets nothing pass that another would not."""
    one, two = Fraction(threshold), Fraction(other)
    return one >= two if comparison.higher_is_safer else one <= two


def _default(weak: Expectation, name: str) -> Any:
    return type(weak.parameters).model_fields[name].default
