"""What a remedy cannot help, in short phrases: demands of another kind, and those that look at other columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.remedy import Attribute, RemedyView
from tcdp_audit.plugin.sentences import Outcome, listing
from tcdp_audit_plugins.remedies._shared.pair_demands import failing_pairs

CLASSES = "only for demands on equivalence classes"
PAIRS = "only for demands that compare the release with its original, unless a strength is given"
NO_CLASSES = "changes values one by one, and makes no records alike"
NO_NUMBERS = "no quasi-identifier has plain numbers"
NO_ORDER = "no quasi-identifier has an order"


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


def only_where_masked(
    view: RemedyView,
    outcome: Outcome,
    names: Sequence[str] | None,
    fits: Callable[[Attribute], bool],
    *,
    unfit: str,
    chosen: bool,
    alike: bool,
) -> str:
    """Why masked values cannot help a demand, or nothing.

    Args:
        view: the release.
        outcome: the demand.
        names: the attributes that are masked; None for the quasi-identifiers that fit.
        fits: whether an attribute can be masked.
        unfit: what to say where no quasi-identifier can.
        chosen: whether the remedy chooses its strength, for which it needs a demand beside the original.
        alike: whether masking makes records alike, as rounding does and swapping does not.
    """
    if chosen and (other := only_beside_original(view, outcome)):
        return other
    known = view.policy.with_role(Role.QUASI_IDENTIFIER)
    masked = [one.name for one in view.quasi_identifiers if fits(one)] if names is None else names
    if not masked:
        return unfit
    if other := only_where_changed(view, outcome, masked):
        return other
    behind = view.columns_behind(outcome) or frozenset()
    on_classes = bool(view.failing_on_classes([outcome]))
    return NO_CLASSES if on_classes and not alike and not behind & (set(masked) - set(known)) else ""
