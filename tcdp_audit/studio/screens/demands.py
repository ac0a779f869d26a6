"""The third screen: what must hold, who fails at each threshold, and what others ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tcdp_audit.api import Expectation, Policy, Specification, laxness_sentence, profiles
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.verdict import verdict_sentence
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import Outcome, Severity, Status, agree, count, decimal, sentence_case
from tcdp_audit.studio.choices import LIMITS
from tcdp_audit.studio.screens.risk import words_of_levels
from tcdp_audit.studio.workbench import Workbench

UNSET = "none"  # where there is no threshold
STEP_SEPARATOR = " "  # between the thresholds of a slider
FAILING = (Status.FAILED, Status.ERROR)


def own_expectations(policy: Policy) -> Sequence[Expectation]:
    """The demands that the policy itself writes, in its order; those of profiles come after them."""
    return [one for one in policy.expectations if not one.profile]


def audit_figures(bench: Workbench) -> Audit | None:
    """The audit at the detail that is tried out; None where a newer choice came meanwhile."""
    answer: Audit | None = bench.ask("audit", lambda: bench.view.audit(bench.policy))
    return answer


def demands_screen(bench: Workbench) -> dict[str, Any]:
    """Each demand with its threshold, and the demands that could be added."""
    policy = bench.policy
    own = own_expectations(policy)
    further = [one for one in policy.expectations if one.profile]
    return {
        "standfirst": _standfirst(policy),
        "is_demanding": any(one.check.demands(one.parameters) for one in policy.expectations),
        "detail": words_of_levels(bench, bench.choices.levels),
        "demands": [_demand(place, one) for place, one in enumerate(own)],
        "of_profiles": [_demand(-1, one) for one in further],
        "profiles": [(key, one.title) for key, one in profiles().items() if _is_usable(bench, one.demands)],
        "taken": [one.key for one in policy.profiles],
        "candidates": candidates(bench),
    }


def _standfirst(policy: Policy) -> str:
    """The numbers of demands and of entries that only measure, in sentences."""
    demands = sum(1 for one in policy.expectations if one.check.demands(one.parameters))
    measured = len(policy.expectations) - demands
    words = f"{count(measured, 'figure')} {agree(measured, 'is', 'are')} measured without a threshold."
    rest = f" {words}" if measured else ""
    if not demands:
        return f"Nothing is demanded yet: set a threshold below, or take the demands of a profile.{rest}"
    return f"{count(demands, 'demand')}. A release that fails one is not written; a warning holds nothing back.{rest}"


def _is_usable(bench: Workbench, demands: Sequence[Any]) -> bool:
    return all(one.check in bench.plugins.checks for one in demands)


def _demand(place: int, one: Expectation) -> dict[str, Any]:
    limit, own = one.check.headline, one.check.demanded(one.parameters)
    attribute = getattr(one.parameters, "attribute", None)
    title = one.check.titled(one.parameters)
    words = "only measured" if own is None else f"{LIMITS[limit.comparison]} {decimal(own)}"
    return {
        "place": place,
        "title": title if attribute is None else f"{title} of {attribute}",
        "words": words,
        "question": one.check.guide.question,
        "limit": LIMITS[limit.comparison],
        "threshold": "" if own is None else plain(own),
        "is_warning": one.parameters.severity is Severity.WARNING,
        "reason": one.parameters.reason or "",
        "profile": one.profile,
        "figure": limit.figure or "figure",
        "name": name_of(one),
        "subject": _subject(one.check),
    }


def _subject(check: Specification[Any]) -> str:
    """The beginning of a sentence on those who fail."""
    return "People who would fail" if check.on_classes else "What would fail"


def name_of(one: Expectation) -> str:
    """A demand as the session calls it: its check, with its attribute where it names one."""
    attribute = getattr(one.parameters, "attribute", None)
    return f"{one.check.name}:{attribute}" if attribute else str(one.check.name)


def demand_figures(bench: Workbench) -> dict[str, Any] | None:
    """The people who fail each demand now; None where a newer choice came meanwhile."""
    audit = audit_figures(bench)
    if audit is None:
        return None
    outcomes = iter(audit.expectations)
    results = []
    for one in bench.policy.expectations:
        own = [next(outcomes) for _ in one.check.targets(one.parameters, bench.policy.document)]
        results.append({"name": name_of(one), "profile": one.profile, **_result(own)})
    exposed = audit.exposed
    people = None if exposed is None else exposed.people
    return {
        "results": [one for one in results if not one["profile"]],
        "of_profiles": [one for one in results if one["profile"]],
        "exposed": None if people is None else f"{people:,}",
        "of": None if exposed is None else f"{exposed.people_of:,}",
        "verdict": verdict_sentence(audit),
        "further": [sentence_case(one.message) for one in audit.structure if one.is_warning or one.status in FAILING],
        "say": verdict_sentence(audit),
    }


def _result(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The result of one demand: of several targets the worst, and each in a sentence."""
    order = ("error", "failed", "warning", "passed", "measured", "skipped")
    states = ["warning" if one.is_warning else one.status.value for one in outcomes]
    state = min(states, key=order.index, default="measured")
    failing = [one.records.failing for one in outcomes if one.records is not None and one.records.failing is not None]
    return {
        "state": state,
        "failing": f"{max(failing):,}" if failing else "",
        "sentences": [one.note for one in outcomes if one.note],
        "lax": sorted({one for one in map(_laxness, outcomes) if one}),
        "profiles": sorted({one for outcome in outcomes for one in _stricter_profile(outcome)}),
    }


def _laxness(outcome: Outcome) -> str:
    """A sentence where a threshold is laxer than the guide of its check calls usual; see `_stricter_profile`."""
    usual = [one for one in outcome.laxer_than if not one.profile]
    return laxness_sentence(usual, outcome.threshold, outcome.comparison)


def _stricter_profile(outcome: Outcome) -> Iterator[str]:
    """A sentence on the strictest profile that asks for more; some profile nearly always does, so it is no warning."""
    for one in outcome.laxer_than:
        if one.profile and outcome.comparison is not None:
            title = profiles()[one.profile].title
            yield f"{title} asks for {LIMITS[outcome.comparison]} {decimal(one.threshold)}."


def scale_of(bench: Workbench, place: int) -> dict[str, Any] | None:
    """The thresholds that a demand could have, with who fails at each; None where a newer question came meanwhile.

    Raises:
        UsageError: there is no such demand.
    """
    own = own_expectations(bench.policy)
    if place >= len(own):
        raise UsageError("there is no such demand; load the page again")
    name = name_of(own[place])
    answer: dict[str, Any] | None = bench.ask(f"scale {place}", lambda: _scale(bench, place, name))
    return answer


def _scale(bench: Workbench, place: int, name: str) -> dict[str, Any]:
    answer = bench.view.thresholds(name, policy=bench.policy)
    counts = answer.counts if answer.comparison.higher_is_safer else answer.counts[::-1]
    limit = LIMITS[answer.comparison]
    steps = [] if answer.own is not None else [_Step(UNSET, UNSET, "", "only measured, nothing is demanded")]
    for one in counts:
        words = decimal(one.threshold)
        failing = "–" if one.failing is None else f"{one.failing:,}"
        fails = (
            "how many fail is not known" if one.failing is None else f"{failing} {agree(one.failing, 'fails', 'fail')}"
        )
        steps.append(_Step(plain(one.threshold), words, failing, f"{limit} {words}: {fails}"))
    own = UNSET if answer.own is None else plain(answer.own)
    return {
        "place": place,
        "demand": answer.title if answer.attribute is None else f"{answer.title} of {answer.attribute}",
        "subject": _subject(bench.plugins.checks[answer.check]),
        "ticks": steps,
        "values": STEP_SEPARATOR.join(one.value for one in steps),
        "own": next(number for number, one in enumerate(steps) if one.value == own),
        "spoken": [one.spoken for one in steps],
    }


@dataclass(frozen=True)
class _Step:
    """A threshold of a slider.

    Args:
        value: as a field of a form has it; `UNSET` for none.
        words: as people write it.
        failing: how many would fail.
        spoken: both in words, for who cannot see the slider.
    """

    value: str
    words: str
    failing: str
    spoken: str


def candidates(bench: Workbench) -> list[dict[str, Any]]:
    """The demands with a threshold that could be added: each check, once for each secret column where it needs one."""
    document = bench.policy.document
    secrets = [name for name, one in bench.policy.attributes.items() if one.role is Role.SENSITIVE]
    return sorted(_candidates(bench, secrets, document), key=lambda one: str(one["title"]).lstrip("("))


def _candidates(bench: Workbench, secrets: Sequence[str], document: Any) -> Iterator[dict[str, Any]]:
    for name, check in bench.plugins.checks.items():
        if not (check.on_classes and check.judges_each_class and check.limits):
            continue
        for attribute in secrets if check.on_attribute else [None]:
            given = {} if attribute is None else {"attribute": attribute}
            try:
                parameters = check.parameters.model_validate(given)
            except ValueError:
                continue  # it has parameters that must be chosen; the policy's file is the place for it
            if any(True for _ in check.faults(parameters, document)):
                continue
            title = check.titled(parameters)
            yield {
                "check": name,
                "attribute": attribute,
                "title": f"{title}{'' if attribute is None else f' of {attribute}'}, "
                f"{LIMITS[check.headline.comparison]}",
                "question": check.guide.question,
            }


# decisions


def slide_demand(bench: Workbench, place: int, threshold: str) -> None:
    """Move the threshold of a demand along its slider; where it is `UNSET`, the demand only measures.

    Moves of one slider with nothing between them are one decision, which leads from before the first to the last.

    Raises:
        UsageError: there is no such demand.
        PolicyError: it cannot have this threshold; nothing is changed.
    """
    with bench.deciding() as editor:
        own = own_expectations(bench.policy)
        if place >= len(own):
            raise UsageError("there is no such demand; load the page again")
        one = own[place]
        if editor.decisions and bench.slid == (place, editor.decisions[-1]):
            editor.undo()
        value = None if threshold == UNSET else yaml_number(threshold)
        decided = editor.change_expectation(
            place, {one.check.headline.parameter: value, "reason": one.parameters.reason}
        )
        bench.slid = None if decided is None else (place, decided)


def change_demand(bench: Workbench, place: int, threshold: str, *, reason: str, is_warning: bool | None) -> None:
    """Change the threshold, the reason or the weight of a demand.

    Raises:
        UsageError: there is no such demand.
        PolicyError: it cannot have this threshold; nothing is changed.
    """
    with bench.deciding() as editor:
        own = own_expectations(bench.policy)
        if place >= len(own):
            raise UsageError("there is no such demand; load the page again")
        one = own[place]
        changes: dict[str, Any] = {one.check.headline.parameter: yaml_number(threshold)}
        if is_warning is not None:
            is_default = not is_warning and one.parameters.severity is not Severity.WARNING
            changes["severity"] = None if is_default else ("warning" if is_warning else "error")
        former = one.parameters.reason
        changes["reason"] = reason or (former if one.check.demanded(one.parameters) == Fraction(threshold) else None)
        editor.change_expectation(place, changes, reason=reason)


def plain(threshold: Fraction) -> str:
    """A threshold as a field of a form has it: in plain digits."""
    return str(threshold.numerator) if threshold.denominator == 1 else f"{float(threshold):.7f}".rstrip("0")


def yaml_number(text: str) -> int | float:
    """A threshold as a policy writes it."""
    return int(text) if text.isdigit() else float(text)


def add_demand(bench: Workbench, name: str, attribute: str | None, threshold: str, reason: str) -> None:
    """Add a demand, one of `candidates`.

    Raises:
        PolicyError: it cannot have this threshold; nothing is changed.
    """
    check = bench.plugins.checks[name]
    given: dict[str, Any] = {} if attribute is None else {"attribute": attribute}
    with bench.deciding() as editor:
        bench.shape += 1
        editor.add_expectation(name, {**given, check.headline.parameter: yaml_number(threshold)}, reason=reason)


def remove_demand(bench: Workbench, place: int, reason: str) -> None:
    """Remove a demand that the policy itself writes."""
    with bench.deciding() as editor:
        bench.shape += 1
        editor.remove_expectation(place, reason=reason)


def take_profile(bench: Workbench, key: str, reason: str) -> None:
    """Take the demands of a published profile, in addition to the policy's own; without a key, of none.

    Raises:
        PolicyError: the policy cannot have them, such as where no column is known; nothing is changed.
    """
    with bench.deciding() as editor:
        bench.shape += 1
        if key:
            editor.set("profile", key, reason=reason)
        elif "profile" in editor.data:
            editor.remove("profile", reason=reason)
