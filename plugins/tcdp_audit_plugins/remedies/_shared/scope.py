"""Demands that a remedy can help, on classes or compared with the original; and how many records it may drop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, inf
from typing import Generic, TypeVar

from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.remedy import (
    DominatedError,
    RemedyError,
    RemedyParameters,
    RemedyView,
    Treatment,
    failing_demands,
)
from tcdp_audit.plugin.sentences import Outcome, listing
from tcdp_audit_plugins.remedies._shared.search import reached, smallest, smallest_near

S = TypeVar("S")
ORIGINALS = frozenset({"original", "holdout"})  # tables of which a released record may be too near a copy
ALIGNED = "dropping records would break `rows_aligned: true`; declare a `key:` that aligns release and original"
CLASSES = "only for demands on equivalence classes"
PAIRS = "only for demands that compare the release with its original, unless a strength is given"


def failing_pairs(view: RemedyView, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Choose the failing demands that compare the release with its original among some outcomes."""
    beside = pair_checks(view)
    return [one for one in failing_demands(outcomes) if one.check in beside]


def pair_checks(view: RemedyView) -> frozenset[str]:
    """The names of the policy's checks that compare the release with its original."""
    return frozenset(one.check.name for one in view.policy.expectations if ORIGINALS & one.check.requires)


def weakest(
    view: RemedyView,
    treat: Callable[[S], Treatment],
    strengths: Sequence[S],
    screen: Callable[[S], Treatment] | None = None,
) -> S:
    """The weakest strength of a remedy after which nothing that compares release and original fails at it.

    Only those demands are evaluated at each strength. One at which the release loses more than after another remedy
    that suffices ends the search upwards: stronger ones lose more.

    Args:
        view: the release.
        treat: the remedy at a strength.
        strengths: from weak to strong, at least one.
        screen: the remedy at a strength, done in a cheaper way; where that first suffices the search begins.

    Returns:
        One at which the demands hold while they do not at the one before it, the weakest where what holds at one holds
        at all stronger ones.

    Raises:
        RemedyError: none of the failing demands compares the release with its original, or none of the strengths is
            enough, done in the cheaper way if there is one; the message says what comes nearest.

    Cost: O(log strengths) treatments, and audits of those demands.
    """
    require_help(view)
    top = len(strengths) - 1
    trials, place = _Trials(view, treat, strengths), None
    if screen is None:
        place = smallest(trials.suffice, 0, top)
    else:
        cheap = _Trials(view, screen, strengths)
        start = smallest(cheap.suffice, 0, top)
        place = None if start is None else smallest_near(trials.suffice, start, 0, top)
        trials = cheap if start is None else trials
    if place is None:
        raise RemedyError(trials.refusal())
    trials.require_not_dominated(place)
    return strengths[place]


@dataclass(frozen=True)
class _Trials(Generic[S]):
    """The strengths that were tried, and what failed after each."""

    view: RemedyView
    treat: Callable[[S], Treatment]  # the remedy at a strength
    strengths: Sequence[S]  # all of them
    failing: dict[int, list[Outcome]] = field(default_factory=dict)
    dominated: dict[int, DominatedError] = field(default_factory=dict)

    def suffice(self, place: int) -> bool:
        """Say whether no such demand fails at a strength, or nothing at it or beyond could be kept."""
        if place not in self.failing and place not in self.dominated:
            tried = len(self.failing) + len(self.dominated)
            self.view.progress("choosing a strength", min(tried, len(self.strengths)), len(self.strengths))
            try:
                outcomes = self.view.outcomes_of(pair_checks(self.view), self.treat(self.strengths[place]))
                self.failing[place] = failing_pairs(self.view, outcomes)
            except DominatedError as error:
                self.dominated[place] = error
        return place in self.dominated or not self.failing[place]

    def require_not_dominated(self, place: int) -> None:
        """Raise a DominatedError where the strength that was chosen loses more than another remedy."""
        if place in self.dominated:
            raise self.dominated[place]

    def refusal(self) -> str:
        """Say why no strength is enough, and how near the best comes: fewest failing, and least beyond."""
        place = min(self.failing, key=lambda one: (len(self.failing[one]), sum(map(_beyond, self.failing[one]))))
        left = "; ".join(filter(None, map(reached, self.failing[place])))
        which = f"strength {place + 1} of {len(self.strengths)}, from weak to strong, comes nearest"
        return f"no strength is enough; {which}{f': {left}' if left else ''}"


def require_help(view: RemedyView) -> None:
    """Raise a RemedyError where no failing demand compares the release with its original: strengths follow from it."""
    if failing_pairs(view, view.outcomes):
        return
    failing = sorted({one.check for one in failing_demands(view.outcomes)})
    fails = f"what fails ({listing(failing)}) is judged without the original" if failing else "nothing fails"
    raise RemedyError(
        f"it helps demands that compare the release with its original, such as distance_record_linkage, and {fails}, "
        "so that nothing says how strong it has to be; give its strength yourself"
    )


def _beyond(outcome: Outcome) -> float:
    """The distance of a figure from its threshold; infinite where there is none."""
    if outcome.observed is None or outcome.threshold is None:
        return inf
    return abs(outcome.observed - float(outcome.threshold))


def only_on_classes(view: RemedyView, outcome: Outcome) -> str:
    """Say why a remedy that groups records into classes cannot help a demand, or nothing."""
    return "" if view.failing_on_classes([outcome]) else CLASSES


def only_by_size(view: RemedyView, outcome: Outcome) -> str:
    """Say why a remedy that makes classes of any size cannot help a demand, or nothing."""
    other = only_on_classes(view, outcome)
    if not other or view.class_sizes([outcome]):
        return ""
    asked = (one for one in view.policy.expectations if one.check.name == outcome.check)
    least = max((one.check.class_size(one.parameters) or 0 for one in asked), default=0)
    if least <= view.records:
        return other
    return f"needs classes of at least {least:,} records, and the release has {view.records:,}"


def only_beside_original(view: RemedyView, outcome: Outcome) -> str:
    """Say why a remedy whose strength follows from comparisons with the original cannot help a demand, or nothing."""
    return "" if failing_pairs(view, [outcome]) else PAIRS


def only_where_changed(view: RemedyView, outcome: Outcome, names: Sequence[str]) -> str:
    """Say why other values of some attributes cannot help a demand, or nothing: it depends on other columns."""
    behind = view.columns_behind(outcome)
    if behind is None or behind & set(names):
        return ""
    return f"changes only {listing([repr(one) for one in sorted(names)])}"


def faults_of_dropping(parameters: RemedyParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:  # noqa: ARG001
    """Yield the faults of a remedy that drops records, whatever its parameters: (parameter, sentence)."""
    if document.rows_aligned:
        yield "", ALIGNED


def require_few(suppressed: int, total: int, at_most: Fraction, noun: str, instead: str) -> None:
    """Insist that no larger share is suppressed than a policy allows.

    Args:
        suppressed: how many are suppressed.
        total: of how many.
        at_most: the largest share of them.
        noun: what they are called, in the plural.
        instead: what may help in place of a larger share.

    Raises:
        RemedyError: more are suppressed; the message has the numbers, and the share that would do.
    """
    if suppressed <= at_most * total:
        return
    enough = ceil(Fraction(suppressed * 10_000, total)) / 10_000
    raise RemedyError(
        f"{suppressed:,} of {total:,} {noun} would have to be suppressed, and `at_most` allows "
        f"{int(at_most * total):,}; it would pass if up to {100 * enough:.4g}% might be removed "
        f"(`at_most: {enough:g}`), and {instead} may help"
    )
