"""Links, clerical pairs and non-links: the two thresholds that follow from the two error rates that are tolerated."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit_plugins.checks.record_linkage.fellegi_sunter import Linkage, Whole

Chosen = NDArray[np.bool_]


@dataclass(frozen=True)
class Decision:
    """Which patterns are links and which are non-links; the others are left to a clerk. bool, shape (2^p,)."""

    link: Chosen
    non_link: Chosen


def decide(model: Linkage, false_links: float, missed_links: float) -> Decision:
    """The optimal rule: patterns by falling weight are links while the probability of a false one is tolerated.

    From the top, patterns are links while P(link | unmatched) = sum of u(pattern) is at most `false_links`; from the
    bottom, non-links while P(non-link | matched) = sum of m(pattern) is at most `missed_links`. Patterns of equal
    weight stay together. Those that both rates allow are links where the posterior is at least 1/2.

    Cost: O(2^p p).

    Source: Fellegi, Sunter (1969), the fundamental theorem, without its randomised decisions.
    """
    unmatched = np.bincount(model.ranks, weights=model.among_unmatched())
    matched = np.bincount(model.ranks, weights=model.among_matches())
    link = (np.cumsum(unmatched[::-1])[::-1] <= false_links)[model.ranks]
    non_link = (np.cumsum(matched) <= missed_links)[model.ranks]
    likely, both = model.posteriors >= 0.5, link & non_link
    return Decision(link & ~(both & ~likely), non_link & ~(both & likely))


def link_figures(chosen: Chosen, pairs: Whole, matches: Whole, matched: int) -> dict[str, Any]:
    """What linking the pairs with some patterns would find.

    Args:
        chosen: the patterns, bool, shape (2^p,).
        pairs: pairs with each pattern.
        matches: true matches with each pattern.
        matched: true matches there are.

    Returns:
        `links`, `correct` (links that are matches), `precision` = correct / links (None without a link) and `recall` =
        correct / matched.
    """
    links, correct = int(pairs[chosen].sum()), int(matches[chosen].sum())
    precision = Fraction(correct, links) if links else None
    return {"links": links, "correct": correct, "precision": precision, "recall": Fraction(correct, matched)}
