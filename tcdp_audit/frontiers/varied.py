"""The demands whose thresholds are varied, and the policy at one setting of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

from tcdp_audit.api import (
    Expectation,
    Policy,
    around,
    as_fraction,
    between,
    nearest,
    threshold_fault,
    with_threshold,
)
from tcdp_audit.core.results.change_log import flow
from tcdp_audit.core.results.setting_trial import Setting, VariedDemand
from tcdp_audit.plugin.engine import UsageError
from tcdp_audit.plugin.sentences import Severity, decimal, listing

STEPS = 2  # to either side of a policy's own threshold
RANGE = ".."
HYPHENATED = re.compile(r"[0-9.]+-[0-9.]+")


@dataclass(frozen=True)
class Variation:
    """Demands of a policy that are varied together, each with its expectations."""

    policy: Policy  # whose demands they are
    demands: tuple[VariedDemand, ...]  # the demands
    positions: tuple[tuple[int, ...], ...]  # for each demand the places of its expectations in the policy

    @classmethod
    def asked(cls, policy: Policy, asked: Mapping[str, Any]) -> Variation:
        """The demands that a call names, with the thresholds that it gives.

        Args:
            policy: what is repaired under.
            asked: for names of checks, or of a check and its attribute with a colon between them, a range as a text
                (`3..50`), a list as a text (`3,5,10`), or the numbers.

        Raises:
            UsageError: a name is none of the policy's demands, or a threshold is none that it could have.
        """
        if not asked:
            raise UsageError("vary: names no demand; leave it out to vary every demand of the policy by itself")
        chosen = {name: _positions(policy, name) for name in asked}
        demands = tuple(_demand(policy, name, chosen[name], asked[name]) for name in asked)
        places = [place for one in chosen.values() for place in one]
        if len(set(places)) < len(places):
            raise UsageError("two of the demands to vary are the same; name each once")
        return cls(policy, demands, tuple(map(tuple, chosen.values())))

    @classmethod
    def around(cls, policy: Policy) -> Variation:
        """Every demand that counts, with round thresholds around the policy's own.

        Raises:
            UsageError: the policy has none.
        """
        chosen = {_name(policy, one): [place] for place, one in enumerate(policy.expectations) if _counts(one)}
        if not chosen:
            raise UsageError(
                f"{policy.name}: no demand of it counts and has a threshold, so there is nothing to vary; add one to "
                "`expect`, such as `- k_anonymity: {k: 5}`"
            )
        demands = tuple(_demand(policy, name, places, None) for name, places in chosen.items())
        return cls(policy, demands, tuple(map(tuple, chosen.values())))

    @property
    def own(self) -> Setting:
        """The policy's own thresholds."""
        return tuple(one.own for one in self.demands)

    def under(self, setting: Setting, *, planned: bool) -> Policy:
        """The policy with a threshold for each demand; if planned, without its remedies, so that `fix` chooses some."""
        expectations = list(self.policy.expectations)
        for demand, places, level in zip(self.demands, self.positions, setting, strict=True):
            for place in places:
                expectations[place] = with_threshold(expectations[place], demand.parameter, level)
        remedies = () if planned else self.policy.remedies
        return replace(self.policy, expectations=tuple(expectations), remedies=remedies)

    def lines(self, setting: Setting) -> Iterator[str]:
        """The varied demands at a setting, as entries of a policy's `expect`."""
        expectations = self.under(setting, planned=True).expectations
        for places in self.positions:
            for place in places:
                yield _line(expectations[place])

    def figures(self, outcomes: Sequence[Any]) -> tuple[tuple[float | None, ...], ...]:
        """For each demand the observed figures, from the outcomes of the policy's expectations in their order."""
        starts = [0]
        for one in self.policy.expectations:
            starts.append(starts[-1] + len(one.check.targets(one.parameters, self.policy.document)))
        return tuple(
            tuple(one.observed for place in places for one in outcomes[starts[place] : starts[place + 1]])
            for places in self.positions
        )


def _positions(policy: Policy, name: str) -> list[int]:
    """The places of the demands that a name selects."""
    check, _, attribute = name.partition(":")
    of_check = [place for place, one in enumerate(policy.expectations) if one.check.name == check]
    places = [place for place in of_check if not attribute or _attribute(policy.expectations[place]) == attribute]
    counted = [place for place in places if _counts(policy.expectations[place])]
    if not counted:
        known = list(dict.fromkeys(_name(policy, one) for one in policy.expectations if _counts(one)))
        said = f"; those that can be varied are {listing(known)}" if known else ""
        asked = (
            _uncounted([policy.expectations[place] for place in places]) if places else "the policy does not demand it"
        )
        raise UsageError(f"--vary {name}: {asked}{nearest(name, known) or said}")
    own = {policy.expectations[place].check.demanded(policy.expectations[place].parameters) for place in counted}
    if len(own) > 1:
        raise UsageError(
            f"--vary {name}: the policy demands it {len(counted)} times, with different thresholds; name the attribute "
            f"of one, such as {check}:{_attribute(policy.expectations[counted[0]]) or 'ATTRIBUTE'}"
        )
    return counted


def _uncounted(expectations: Sequence[Expectation]) -> str:
    """The reason why demands of a check are not varied."""
    if all(one.parameters.unit is not None for one in expectations):
        return "it names a unit, for which remedies repair nothing; vary it in a policy of that unit"
    return "it demands nothing, or only warns"


def _attribute(expectation: Expectation) -> str:
    return getattr(expectation.parameters, "attribute", None) or ""


def _name(policy: Policy, expectation: Expectation) -> str:
    """The check's name, with its attribute where the policy has another demand of this check."""
    check, attribute = expectation.check.name, _attribute(expectation)
    others = [one for one in policy.expectations if one.check.name == check and _counts(one)]
    return f"{check}:{attribute}" if attribute and len(others) > 1 else str(check)


def _counts(expectation: Expectation) -> bool:
    """Whether it has a threshold for its headline figure, a failure of it fails the audit, and remedies repair it."""
    parameters = expectation.parameters
    if parameters.unit is not None:  # see `fix`
        return False
    return parameters.severity is Severity.ERROR and expectation.check.demanded(parameters) is not None


def _demand(policy: Policy, name: str, places: Sequence[int], asked: Any) -> VariedDemand:
    expectation = policy.expectations[places[0]]
    limit, own = expectation.check.headline, expectation.check.demanded(expectation.parameters)
    given, is_list = _levels(name, own, asked)
    for level in given if is_list else ():
        if fault := threshold_fault(policy, expectation, limit.parameter, level):
            raise UsageError(f"--vary {name}: {decimal(level)} is no threshold of it: {fault}")
    possible = sorted({one for one in given if not threshold_fault(policy, expectation, limit.parameter, one)})
    if not possible:
        raise UsageError(f"--vary {name}: no threshold of it is in this range; list some, as {name}={decimal(own)}")
    levels = possible if limit.comparison.higher_is_safer else possible[::-1]
    title = expectation.check.titled(expectation.parameters)
    return VariedDemand(name, title, limit.parameter, limit.comparison, own, tuple(levels))


def _levels(name: str, own: Fraction, asked: Any) -> tuple[list[Fraction], bool]:
    """The thresholds to try, and whether each of them was listed."""
    if asked is None:
        return (around(own, STEPS) if own > 0 else [own]), False
    if isinstance(asked, str) and RANGE in asked:
        low, high = (_number(name, text) for text in asked.split(RANGE, 1))
        if low > high:
            raise UsageError(f"--vary {name}: {asked}: the range ends before it begins")
        return between(low, high), False
    listed = asked.split(",") if isinstance(asked, str) else asked
    if not isinstance(listed, Iterable) or isinstance(listed, Mapping):
        raise UsageError(f"--vary {name}: must be a range such as 3..50, or a list of numbers")
    levels = [_number(name, one) for one in listed]
    if not levels:
        raise UsageError(f"--vary {name}: lists no threshold; write a range such as 3..50, or numbers")
    return levels, True


def _number(name: str, given: Any) -> Fraction:
    try:
        return as_fraction(given.item() if hasattr(given, "item") else given)
    except ValueError as error:
        if isinstance(given, str) and HYPHENATED.fullmatch(given):
            raise UsageError(f"--vary {name}: {given!r}: write 2..10 for a range, 2,5,10 for a list") from None
        said = f"{given!r} " if isinstance(given, str) else ""
        raise UsageError(f"--vary {name}: {said}{error}") from None


def _line(expectation: Expectation) -> str:
    """An entry of `expect`."""
    parameters = expectation.parameters
    given = {name: getattr(parameters, name) for name in sorted(parameters.model_fields_set)}
    return f"{expectation.check.name}: {flow({name: one for name, one in given.items() if one is not None})}"


MOST = 1000  # settings


def grid(demands: Sequence[VariedDemand]) -> tuple[Setting, ...]:
    """Every combination of the levels, and the policy's own thresholds first.

    A coarse picture of the whole comes before its details: the ends of all levels, then the middles of the intervals
    between them. Among equally fine settings the laxer ones come first.

    Raises:
        UsageError: there are too many.
    """
    own = tuple(one.own for one in demands)
    if (number := prod(len(one.levels) for one in demands)) > MOST:
        raise UsageError(f"--vary: {number:,} combinations of thresholds; list fewer, {MOST:,} at most")
    ranked = []
    for places in product(*(range(len(one.levels)) for one in demands)):
        fineness = max(depth(place, len(one.levels)) for place, one in zip(places, demands, strict=True))
        setting = tuple(one.levels[place] for place, one in zip(places, demands, strict=True))
        ranked.append((fineness, sum(places), places, setting))
    return own, *(setting for *_, setting in sorted(ranked) if setting != own)


def one_at_a_time_grid(demands: Sequence[VariedDemand]) -> tuple[Setting, ...]:
    """The policy's own thresholds, then each demand by itself at its other levels, the laxer ones first."""
    own = tuple(one.own for one in demands)
    others = [
        (*own[:place], level, *own[place + 1 :])
        for place, one in enumerate(demands)
        for level in one.levels
        if level != one.own
    ]
    return own, *others


def depth(place: int, number: int) -> int:
    """The number of halvings of a run of places until a place is met: 0 for its ends, 1 for its middle.

    Example:
        >>> [depth(place, 5) for place in range(5)]
        [0, 2, 1, 2, 0]
    """
    low, high, halved = 0, number - 1, 0
    while place not in (low, high):
        halved += 1
        middle = (low + high) // 2
        if place == middle:
            break
        low, high = (middle, high) if place > middle else (low, middle)
    return halved
