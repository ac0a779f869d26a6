"""What a remedy cannot help, in short phrases: demands of another kind, and those that look at other columns."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.plugin.remedy import RemedyView
from tcdp_audit.plugin.sentences import Outcome, listing
from tcdp_audit_plugins.remedies._shared.pair_demands import failing_pairs

CLASSES = "only for demands on equivalence classes"
PAIRS = "only for demands that compare the release with its original, unless a strength is given"


def only_on_classes(view: RemedyView, outcome: Outcome) -> str:
    """Why a remedy that groups records into classes cannot help a demand, or nothing."""
    return "" if view.failing_on_classes([outcome]) else CLASSES


def only_by_size(view: RemedyView, outcome: Outcome, *, sized: bool) -> str:
    """Why a remedy that makes classes of any size cannot help a demand, or nothing.

    Args:
        view: the release.
        outcome: the demand.
        sized: whether it has a `k`, or would propose one, for demands that larger classes keep.
    """
    other = only_on_classes(view, outcome)
    if not other or not view.class_sizes([outcome]):
        return other
    return "" if sized else f"{CLASSES}, unless `k` is given"


def only_beside_original(view: RemedyView, outcome: Outcome) -> str:
    """Why a remedy that chooses its strength by demands beside the original cannot help another one, or nothing."""
    return "" if failing_pairs(view, [outcome]) else PAIRS


def only_where_changed(view: RemedyView, outcome: Outcome, names: Sequence[str]) -> str:
    """Why other values of some attributes cannot help a demand, or nothing: it depends on other columns."""
    behind = view.columns_behind(outcome)
    if behind is None or behind & set(names):
        return ""
    return f"changes only {listing([repr(one) for one in sorted(names)])}"
