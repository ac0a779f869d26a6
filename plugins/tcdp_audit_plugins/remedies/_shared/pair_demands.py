"""Demands that compare the release with its original, which perturbed cells can help, and how weak will do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from tcdp_audit.plugin import Outcome, RemedyError, RemedyView, Status, Treatment, blocking, figure, listing
from tcdp_audit_plugins.remedies._shared.search import smallest

S = TypeVar("S")
ORIGINALS = frozenset({"original", "holdout"})  # tables of which a released record may be too near a copy


def failing_pairs(view: RemedyView, outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those of some outcomes that stand against the release and compare it with its original."""
    beside = {one.check.name for one in view.policy.expectations if ORIGINALS & one.check.requires}
    return [one for one in blocking(outcomes) if one.check in beside]


def weakest(view: RemedyView, treat: Callable[[S], Treatment], strengths: Sequence[S]) -> S:
    """The weakest strength of a remedy after which nothing that compares release and original stands against it.

    Args:
        view: the release.
        treat: the remedy at a strength.
        strengths: from weak to strong, at least one.

    Returns:
        One at which the demands hold while they do not at the one before it, the weakest where what holds at one holds
        at all stronger ones.

    Raises:
        RemedyError: none of the failing demands compares the release with its original, or none of the strengths is
            enough; the message says what stands against the strongest.

    Cost: O(log strengths) treatments and audits.
    """
    require_help(view)
    standing: dict[int, list[Outcome]] = {}

    def holds(place: int) -> bool:
        view.progress("choosing a strength", len(standing), len(strengths))
        standing[place] = failing_pairs(view, view.audited(treat(strengths[place])))
        return not standing[place]

    place = smallest(holds, 0, len(strengths) - 1)
    if place is None:
        left = "; ".join(filter(None, map(_reached, standing[len(strengths) - 1])))
        reached = f": {left}" if left else ""
        raise RemedyError(f"even the strongest of {len(strengths)} strengths leaves a demand failing{reached}")
    return strengths[place]


def require_help(view: RemedyView) -> None:
    """Stop where nothing that fails compares the release with its original: there is nothing to choose a strength by.

    Raises:
        RemedyError: it says which demands fail.
    """
    if failing_pairs(view, view.outcomes):
        return
    failing = sorted({one.check for one in blocking(view.outcomes)})
    fails = f"what fails ({listing(failing)}) is judged without the original" if failing else "nothing fails"
    raise RemedyError(
        f"it helps demands that compare the release with its original, such as distance_record_linkage, and {fails}, "
        "so that nothing says how strong it has to be; give its strength yourself"
    )


def _reached(outcome: Outcome) -> str:
    if outcome.observed is None or outcome.threshold is None or outcome.comparison is None:
        return f"{outcome.check} could not be evaluated" if outcome.status is Status.ERROR else ""
    demanded = f"{outcome.comparison} {figure(float(outcome.threshold))}"
    return f"{outcome.check} {figure(outcome.observed, outcome.threshold)}, where {demanded} is demanded"
