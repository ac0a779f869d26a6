"""The rungs of a quasi-identifier that single base classes can stand on: its levels, and above them the token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.remedies.generalization.levels import Ladder, Mask, Numbers


@dataclass(frozen=True)
class Rungs:
    """The label of every base class on every level of one quasi-identifier; the last rung is the suppressed token.

    Args:
        texts: the different labels of all rungs.
        labels: the label of each base class on each rung. Shape (rungs, base classes).
        penalty: what it costs, likewise.
        hidden: whether it tells nothing, likewise.
        chosen: the levels that may be chosen, ascending.
    """

    texts: Sequence[str]
    labels: Numbers
    penalty: Floats
    hidden: Mask
    chosen: Sequence[int]

    @classmethod
    def of(cls, ladder: Ladder, codes: Numbers, chosen: Sequence[int], token: str) -> Rungs:
        """Those of a quasi-identifier.

        Args:
            ladder: its levels.
            codes: the value of each base class.
            chosen: the levels that the search may choose.
            token: the cell that stands for a suppressed value.
        """
        number: dict[str, int] = {}
        labels, penalty, hidden = [], [], []
        for level in ladder.levels:
            of_label = np.array([number.setdefault(text, len(number)) for text in level.labels])
            code = level.codes[codes]
            labels.append(of_label[code])
            penalty.append(level.penalty[code])
            hidden.append(level.hidden[code])
        labels.append(np.full(len(codes), number.setdefault(token, len(number))))
        penalty.append(np.ones(len(codes)))
        hidden.append(np.ones(len(codes), dtype=bool))
        return cls(list(number), np.array(labels), np.array(penalty), np.array(hidden), chosen)

    @property
    def token(self) -> int:
        """The rung of the token."""
        return len(self.labels) - 1

    @cached_property
    def finer(self) -> Sequence[int]:
        """The levels that tell anything: not those with one label for all, unless it is the only one."""
        telling = [one for one in self.chosen if (self.labels[one] != self.labels[one][0]).any()]
        return telling if len(self.chosen) > 1 else self.chosen

    @cached_property
    def below(self) -> Numbers:
        """For each rung the highest of the finer levels below it; -1 where there is none. Shape (rungs,)."""
        return np.array(
            [max((one for one in self.finer if one < rung), default=-1) for rung in range(len(self.labels))]
        )
