"""The strictness of a policy's demands: which are laxer than usual, and which another demand implies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

from tcdp_audit.core.base.outcome import Comparison, Outcome, Severity, UsualThreshold
from tcdp_audit.core.base.phrases import LIMITS
from tcdp_audit.core.base.words import decimal
from tcdp_audit.core.check.demands import (
    alike_except_thresholds,
    covers,
    covers_by_size,
    expectations_of,
    implications,
    required_class_size,
    sufficient_class_size,
)
from tcdp_audit.core.policy.policy import Expectation, Policy, profiles

JUDGED_BY = {"against", "knows", "unit", "known_rows"}  # parameters on whom is judged, which no profile names
OF_PROFILES = "demanded by a published profile"


def with_strictness(outcomes: Sequence[Outcome], policy: Policy) -> tuple[Outcome, ...]:
    """The outcomes of a policy, each with a demand that implies it, or else with stricter thresholds that are usual.

    Cost: each pair of expectations is compared; no table is read.
    """
    stronger = {id(weak): _name_of_demand(strong, policy) for weak, strong in implied(policy)}
    return tuple(_with_strictness(one, policy, stronger) for one in outcomes)


def _with_strictness(outcome: Outcome, policy: Policy, stronger: Mapping[int, str]) -> Outcome:
    if outcome.is_structural or outcome.threshold is None or outcome.unfailable:
        return outcome
    asked = [one for one in expectations_of(outcome, policy) if _is_of(outcome, one)]
    if not asked:
        return outcome
    names = [stronger.get(id(one), "") for one in asked]
    if all(names):
        return replace(outcome, implied_by=names[0])
    return replace(outcome, laxer_than=laxer_than(asked[0]))


def _is_of(outcome: Outcome, expectation: Expectation) -> bool:
    """Whether an outcome may be the result of an expectation: by its place in the policy, and by its attribute."""
    named = getattr(expectation.parameters, "attribute", None)
    is_there = (expectation.line, expectation.column) == (outcome.line, outcome.column)
    return is_there and named in (None, outcome.attribute)


def laxer_than(expectation: Expectation) -> tuple[UsualThreshold, ...]:
    """The stricter thresholds that the guide of its check calls usual, and the strictest that any profile demands.

    Nothing where the expectation only measures. A threshold of the guide applies where the parameters that are named
    with it agree; one of a profile where all do but the thresholds, and whom the demand judges against which intruder.
    The laxest comes first.

    Source: `Guide.usual`; `tcdp_audit.core.policy.policy.profiles`.
    """
    check, parameters = expectation.check, expectation.parameters
    limit, own = check.headline, check.demanded(parameters)
    if own is None:
        return ()
    usual = [
        UsualThreshold(Fraction(one.parameters[limit.parameter]), one.says, one.source)
        for one in check.guide.usual
        if limit.parameter in one.parameters and _applies(one.parameters, parameters, limit.parameter)
    ]
    demanded = _stricter([*_of_profiles(expectation)], own, limit.comparison)
    return (*_stricter(usual, own, limit.comparison), *demanded[-1:])


def _of_profiles(expectation: Expectation) -> Iterator[UsualThreshold]:
    """The thresholds of profiles on the same check and with the same parameters, in the order of their names."""
    check = expectation.check
    for profile in profiles().values():
        for one in profile.demands:
            if one.check != check.name:
                continue
            asked = check.parameters.model_validate(dict(one.parameters))
            threshold = check.demanded(asked)
            counts = asked.severity is Severity.ERROR
            given = {**asked.model_dump(), **expectation.parameters.model_dump(include=JUDGED_BY)}
            if counts and threshold is not None and alike_except_thresholds(given, expectation):
                yield UsualThreshold(threshold, OF_PROFILES, profile.key, profile.key)


def _stricter(usual: Sequence[UsualThreshold], own: Fraction, comparison: Comparison) -> list[UsualThreshold]:
    """The usual thresholds that are stricter than another, the laxest first; of equal ones the first given is last."""
    sign = 1 if comparison.higher_is_safer else -1
    stricter = [one for one in reversed(usual) if sign * (one.threshold - own) > 0]
    return sorted(stricter, key=lambda one: sign * one.threshold)


def _applies(named: Mapping[str, Any], parameters: Any, threshold: str) -> bool:
    """Whether parameters have the values, one or a choice of several, that are named with a usual threshold."""
    for name, value in named.items():
        choices: Collection[str] = [value] if isinstance(value, str) else value
        if name != threshold and str(getattr(parameters, name, None)) not in choices:
            return False
    return True


def _name_of_demand(expectation: Expectation, policy: Policy) -> str:
    """A demand in a sentence: `k-anonymity of at least 5 in line 9`, with its column and its profile."""
    check, parameters = expectation.check, expectation.parameters
    own, attribute = check.demanded(parameters), getattr(parameters, "attribute", None)
    bound = "" if own is None else f" of {LIMITS[check.headline.comparison]} {decimal(own)}"
    on = "" if attribute is None else f" on {policy.naming.column(attribute)}"
    line = f" in line {expectation.line}" if expectation.line else ""
    profile = f" that the profile {expectation.profile} demands" if expectation.profile else ""
    return f"{check.titled(parameters)}{bound}{on}{profile or line}"


def implied(policy: Policy) -> Iterator[tuple[Expectation, Expectation]]:
    """Every expectation with one that implies it in each scenario; of two that imply each other, the later one.

    A profile's demands are not reported as implied by the policy's own: they stay when those change.
    """
    stronger: dict[int, list[Expectation | None]] = {}  # by the position of the weaker one, for each scenario
    for name, own in policy.parts.items():
        places = [place for place, one in enumerate(policy.expectations) if name in scenarios_of(one, policy)]
        by_identity = {id(one): place for place, one in zip(places, own.expectations, strict=True)}
        strong_of = {id(weak): strong for weak, strong in _implied(own)}
        for one, place in zip(own.expectations, places, strict=True):
            strong = strong_of.get(id(one))
            original = None if strong is None else policy.expectations[by_identity[id(strong)]]
            stronger.setdefault(place, []).append(original)
    for place, strong_ones in sorted(stronger.items()):
        if strong_ones[0] is not None and None not in strong_ones:
            yield policy.expectations[place], strong_ones[0]


def scenarios_of(expectation: Expectation, policy: Policy) -> Collection[str]:
    """The scenarios in which an expectation is judged; the empty name where it is judged in none."""
    return expectation.check.parts(expectation.parameters, policy.document) or ("",)


def _implied(policy: Policy) -> Iterator[tuple[Expectation, Expectation]]:
    """The same in one scenario."""
    stronger = [(one, implications(one, policy)) for one in policy.expectations]
    required = [required_class_size(one, policy.document) for one in policy.expectations]
    sufficient = [sufficient_class_size(one, policy.document) for one in policy.expectations]

    def follows(place: int, number: int) -> bool:
        (strong, demands), (weak, _) = stronger[place], stronger[number]
        suffices = (required[place] or 0) >= (sufficient[number] or inf)
        return covers(demands, strong, weak) or (suffices and covers_by_size(strong, weak, policy.document))

    for number, (weak, _) in enumerate(stronger):
        if not weak.check.demands(weak.parameters) or weak.profile:
            continue
        for place, (strong, _) in enumerate(stronger):
            if strong is weak:
                continue
            is_mutual = place > number and not strong.profile and follows(number, place)
            if follows(place, number) and not is_mutual:
                yield weak, strong
                break
