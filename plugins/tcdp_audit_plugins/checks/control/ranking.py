"""How well a score distinguishes two groups: the ROC curve, with ties."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats

NEAR = 1e-12  # scores that differ by less, relative above 1, are equal


@dataclass(frozen=True)
class Ranking:
    """Members and others by their score, the lowest first, equal scores together.

    Args:
        members: members with each distinct score. Shape (scores,).
        others: others with each.
    """

    members: NDArray[np.int64]
    others: NDArray[np.int64]

    @classmethod
    def of(cls, members: tuple[Floats, NDArray[np.int64]], others: tuple[Floats, NDArray[np.int64]]) -> Ranking:
        """Scores, possibly infinite, and how many have each.

        Example:
            >>> once = np.ones(2, dtype=np.int64)
            >>> Ranking.of((np.array([0.0, 1.0]), once), (np.array([1.0, np.inf]), once)).area
            Fraction(7, 8)
        """
        scores = np.concatenate([members[0], others[0]])
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        with np.errstate(invalid="ignore"):  # infinite ones are equal
            steps = np.diff(ordered) > NEAR * np.maximum(1, np.minimum(np.abs(ordered[1:]), np.finfo(np.float64).max))
        group = np.empty(len(scores), np.intp)
        group[order] = np.append(0, np.cumsum(steps))
        groups = int(group.max()) + 1
        own, their = np.split(group, [len(members[0])])
        return cls(
            *(np.bincount(one, each, groups).astype(np.int64) for one, each in ((own, members[1]), (their, others[1])))
        )

    @property
    def area(self) -> Fraction:
        """The probability that a member has a lower score than another, ties counting 1/2: the area under the curve."""
        higher = int(self.others.sum()) - np.cumsum(self.others)
        halves = sum((self.members * (2 * higher + self.others)).tolist())
        return Fraction(halves, 2 * int(self.members.sum()) * int(self.others.sum()))

    def true_positives(self, false_positives: Fraction) -> Fraction:
        """The share of members that a threshold finds which finds so many of the others, on lines between thresholds.

        Example:
            >>> Ranking(np.array([1, 1]), np.array([0, 2])).true_positives(Fraction(1, 4))
            Fraction(5, 8)
        """
        detected, wrong = (np.append(0, np.cumsum(one)) for one in (self.members, self.others))
        allowed = false_positives * int(wrong[-1])
        last = int(np.searchsorted(wrong, int(allowed), side="right")) - 1  # the best of those that find no more
        share = Fraction(int(detected[last]), int(detected[-1]))
        if last + 1 == len(wrong):
            return share
        part = (allowed - int(wrong[last])) / int(wrong[last + 1] - wrong[last])
        return share + part * Fraction(int(detected[last + 1] - detected[last]), int(detected[-1]))
