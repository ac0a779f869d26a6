"""The limits that a policy sets to what remedies may cost: `max_loss`, and `keep` of single columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tcdp_audit.core.base.words import percent, percent_of
from tcdp_audit.core.information_loss import InformationLoss
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.remedy.remedy import ROUNDING, RemedyError


class TooMuchLostError(RemedyError):
    """A release has lost more than the policy allows."""


@dataclass(frozen=True)
class LossLimits:
    """What a repaired release may have lost.

    Args:
        most: the mean loss of a cell over all attributes; None where the policy sets no limit.
        keep: for some attributes the share that must be left: 1 less the mean loss of their cells.
    """

    most: Fraction | None = None
    keep: Mapping[str, Fraction] = field(default_factory=dict)

    @classmethod
    def of(cls, document: PolicyDocument) -> LossLimits:
        """Those of a policy."""
        return cls(document.max_loss, document.keep or {})

    @property
    def are_set(self) -> bool:
        """Whether there is any."""
        return self.most is not None or bool(self.keep)

    def require(self, loss: InformationLoss) -> None:
        """Insist that a release keeps within them.

        Args:
            loss: what it has lost. Of a column that it does not have, nothing is left.

        Raises:
            TooMuchLostError: it does not; the sentence has every figure, limit and column.
        """
        if self.are_set and (sentences := list(self._excesses(loss))):
            raise TooMuchLostError("; ".join(sentences))

    def _excesses(self, loss: InformationLoss) -> Iterator[str]:
        if self.most is not None and _is_beyond(loss.total, self.most):
            share, most = percent(loss.total, self.most), percent_of(self.most)
            yield f"it loses {share} of the information on average over all cells, and max_loss allows {most}"
        for name, least in self.keep.items():
            lost = loss.cell_loss.get(name, 1.0)
            if _is_beyond(lost, 1 - least):
                yield f"it keeps {percent(1 - lost, least)} of {name!r}, and keep asks for {percent_of(least)}"


def _is_beyond(lost: float, most: Fraction) -> bool:
    """Whether a loss is not within a limit, by more than what rounding could do; NaN is within none."""
    return not lost <= float(most) + ROUNDING
