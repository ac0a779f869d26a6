"""The thresholds of a demand: how many people fail at each, and which published profiles ask for more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Any

from tcdp_audit.core.auditor.evaluation import Evaluation
from tcdp_audit.core.base.errors import CheckError, UsageError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.outcome import Comparison, Outcome, Severity, Status, number
from tcdp_audit.core.base.words import listing, visible
from tcdp_audit.core.check.demands import (
    alike_except_thresholds,
    covering,
    covers,
    implications,
    threshold_fault,
    with_threshold,
)
from tcdp_audit.core.policy.faults import nearest
from tcdp_audit.core.policy.policy import Expectation, Policy, Profile, ProfileDemand, profiles
from tcdp_audit.core.session.people import Asking, evaluated
from tcdp_audit.core.session.registry import Plugins

BEYOND = 10  # times the figure and as small a part of it are tried where the release as a whole has only one


@dataclass(frozen=True, kw_only=True)
class ThresholdCount:
    """One threshold of a demand.

    Args:
        threshold: the threshold.
        failing: how many people an audit under the demand exposes at it: entities where the policy names a unit and
            the check is on classes, else records. None where the check does not say whom, or cannot decide.
    """

    threshold: Fraction
    failing: int | None


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """The thresholds that a demand could have on a release.

    Args:
        check: the check's name.
        attribute: the sensitive column that the expectation names, if it names one.
        title: what people call the check.
        parameter: the one that holds the threshold.
        comparison: how the figure must compare with it.
        own: the policy's threshold; None where it only measures.
        least: the least figure of a class; where the check does not judge classes, the figure of the release.
        most: the greatest, likewise. A class without any value has the worst figure that there is. The end that no
            class fails is given to three significant digits where it is no whole number.
        counts: the policy's threshold and round ones, from one below the range to one above it, ascending. Where there
            is one figure of the release, from a tenth of it to ten times it.
    """

    check: str
    attribute: str | None
    title: str
    parameter: str
    comparison: Comparison
    own: Fraction | None
    least: float
    most: float
    counts: tuple[ThresholdCount, ...]

    def as_row(self) -> dict[str, Any]:
        """The answer as a row of a table."""
        return {
            "check": self.check,
            "attribute": self.attribute,
            "parameter": self.parameter,
            "comparison": self.comparison.value,
            "own": number(self.own),
            "least": number(self.least),
            "most": number(self.most),
            "failing": [[number(one.threshold), one.failing] for one in self.counts],
        }


@dataclass(frozen=True, kw_only=True)
class StricterDemand:
    """A demand of a published profile that asks for more than a policy does.

    Args:
        profile: what a policy calls the profile.
        title: what people call the profile.
        check: the name of the demand's check.
        parameters: of the demand.
        comparison: how the headline figure must compare with its threshold.
        threshold: the headline threshold.
        own: the strictest threshold that the policy has in the same place; None where it has none.
        severity: whether a failure fails the audit or only warns.
        says: what the document of the profile says.
    """

    profile: str
    title: str
    check: str
    parameters: Mapping[str, Any]
    comparison: Comparison
    threshold: Fraction | None
    own: Fraction | None
    severity: Severity
    says: str

    def as_row(self) -> dict[str, Any]:
        """The demand as a row of a table."""
        thresholds = {"threshold": number(self.threshold), "own": number(self.own)}
        more = {"comparison": self.comparison.value, "severity": self.severity.value}
        return {**vars(self), **more, "parameters": dict(self.parameters), **thresholds}


def thresholds(ask: Asking, policy: Policy, name: str) -> Thresholds:
    """The range of a demand's figure, and how many people fail at round thresholds in it.

    Each count is that of an audit at this threshold: exact, for fractions too.

    Args:
        ask: opens the tables under a policy.
        policy: which demands or measures it.
        name: a check, or a check and its attribute with a colon between them, such as `t_closeness:diagnosis`.

    Raises:
        UsageError: the policy does not ask for this check, or more than once.
        CheckError: it cannot be evaluated.

    Cost: that of the check for each threshold.
    """
    expectation = _named(policy, name)
    check, limit = expectation.check, expectation.check.headline
    failing = expectation.parameters.model_copy(update={"severity": Severity.ERROR})
    alone = replace(expectation, parameters=failing)
    outcomes = _outcomes(policy, alone, _evaluated(ask, policy, alone))
    errors = [one for one in outcomes if one.status is Status.ERROR and one.observed is None]
    if errors:
        raise CheckError(errors[0].message)
    figures = [figure for one in outcomes for figure in _figures(expectation, one)]
    own = check.demanded(expectation.parameters)
    steps = _steps(figures, each_class=check.judges_each_class)
    possible = {one for one in steps if not threshold_fault(policy, alone, limit.parameter, one)}
    levels = sorted(possible if own is None else {*possible, own})
    counts = (_count(ask, policy, with_threshold(alone, limit.parameter, one)) for one in levels)
    return Thresholds(
        check=check.name,
        attribute=getattr(expectation.parameters, "attribute", None),
        title=check.titled(expectation.parameters),
        parameter=limit.parameter,
        comparison=limit.comparison,
        own=own,
        least=min(figures),
        most=max(figures),
        counts=tuple(ThresholdCount(threshold=one, failing=n) for one, n in zip(levels, counts, strict=True)),
    )


def _named(policy: Policy, name: Any) -> Expectation:
    """The expectation that a name selects.

    Raises:
        UsageError: there is none, or there are several.
    """
    if not isinstance(name, str):
        raise UsageError("check: must be the name of a check that the policy asks for")
    check, _, attribute = name.partition(":")
    of_check = [one for one in policy.expectations if one.check.name == check]
    chosen = [one for one in of_check if not attribute or getattr(one.parameters, "attribute", None) == attribute]
    if not chosen:
        known = list(dict.fromkeys(one.check.name for one in policy.expectations))
        raise UsageError(
            f"check: the policy does not ask for {visible(repr(name))}{nearest(name, known)}; it asks for "
            f"{listing(known)}"
        )
    if len(chosen) > 1:
        raise UsageError(
            f"check: the policy asks for {visible(repr(name))} {len(chosen)} times; name the attribute of one, such as "
            f"{check}:{getattr(chosen[0].parameters, 'attribute', None) or 'ATTRIBUTE'}"
        )
    return chosen[0]


def _evaluated(ask: Asking, policy: Policy, expectation: Expectation) -> Evaluation:
    """The evaluation of one expectation alone."""
    return evaluated(ask(replace(policy, expectations=(expectation,))))


def _outcomes(policy: Policy, expectation: Expectation, results: Evaluation) -> Sequence[Outcome]:
    """The outcomes of the expectation, after those of the columns."""
    return results.outcomes[-len(expectation.check.targets(expectation.parameters, policy.document)) :]


def _figures(expectation: Expectation, outcome: Outcome) -> Iterator[float]:
    """The ends of the range of classes; the only figure of a check that does not judge each class."""
    if outcome.observed is None:
        return
    yield outcome.observed
    if expectation.check.judges_each_class:
        safest = max if expectation.check.headline.comparison.higher_is_safer else min
        yield safest([outcome.observed, *(figure for figure, *_ in outcome.details["distribution"])])


def _steps(figures: Sequence[float], *, each_class: bool) -> Sequence[Fraction]:
    """Round numbers over the range of figures, those that are infinite left out."""
    finite = [Fraction(one) for one in figures if isfinite(one)]
    if not finite:
        return ()
    low, high = min(finite), max(finite)
    return covering(low, high) if each_class else covering(low / BEYOND, high * BEYOND)


def _count(ask: Asking, policy: Policy, expectation: Expectation) -> int | None:
    """The number of people that one demand exposes; see `ThresholdCount`."""
    results = _evaluated(ask, policy, expectation)
    outcomes = _outcomes(policy, expectation, results)
    if any(one.status is Status.ERROR for one in outcomes):
        return None
    failed = [one for one in outcomes if one.status is Status.FAILED]
    if not failed:
        return 0
    if expectation.check.on_classes:
        return results.exposed.people
    return failed[0].records.failing if len(failed) == 1 and failed[0].records is not None else None


def stricter_profiles(policy: Policy, plugins: Plugins) -> tuple[StricterDemand, ...]:
    """The demands of published profiles that ask for more than a policy does, by profile. No table is read.

    A demand is met by one of the policy that is at least as strict, or that implies it.

    Args:
        policy: what the release must satisfy.
        plugins: where the checks of the profiles are looked up; a demand whose check is not there is left out.
    """
    own = [(implications(one, policy), one) for one in policy.expectations]
    return tuple(
        _stricter(profile, demand, asked, policy)
        for profile in profiles().values()
        for demand in profile.demands
        if demand.check in plugins.checks
        for asked in [_expectation(demand, plugins)]
        if asked.check.demands(asked.parameters) and not any(covers(all_of, one, asked) for all_of, one in own)
    )


def _expectation(demand: ProfileDemand, plugins: Plugins) -> Expectation:
    check = plugins.checks[demand.check]
    return Expectation(check, check.parameters.model_validate(dict(demand.parameters)), says=demand.says)


def _stricter(profile: Profile, demand: ProfileDemand, asked: Expectation, policy: Policy) -> StricterDemand:
    check, comparison = asked.check, asked.check.headline.comparison
    alike = [
        check.demanded(one.parameters)
        for one in policy.expectations
        if one.check.name == check.name
        and one.parameters.severity is Severity.ERROR
        and alike_except_thresholds(one.parameters.model_dump(), asked)
    ]
    known = [one for one in alike if one is not None]
    return StricterDemand(
        profile=profile.key,
        title=profile.title,
        check=check.name,
        parameters=FrozenDict(demand.parameters),
        comparison=comparison,
        threshold=check.demanded(asked.parameters),
        own=(max if comparison.higher_is_safer else min)(known, default=None),
        severity=asked.parameters.severity,
        says=demand.says,
    )
