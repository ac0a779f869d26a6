"""An attack on equivalence classes: which of them it succeeds on, and the share of records or entities in those."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.evidence import ClassEvidence
from tcdp_audit.core.check.on_classes import CheckOnClasses, Figure
from tcdp_audit.core.check.specification import P
from tcdp_audit.core.check.summary import ClassSummary
from tcdp_audit.core.check.threshold import Threshold
from tcdp_audit.core.check.unfailable import SingletonClasses
from tcdp_audit.core.check.verdict import Verdict

SHARE = "at_most"  # the parameter with the largest share of records exposed


@dataclass(frozen=True, kw_only=True)
class AttackCheck(CheckOnClasses[P]):
    """An attack that succeeds on some classes: the share of records in them must be at most the parameter `at_most`.

    Where the policy names a unit it is the share of entities that have a record in such a class, each counted once.

    Args:
        victims: which classes the attack succeeds on, bool, shape (classes,).
        label: what the share is a share of.
        worst: the largest share of a release's records that the attack could succeed on, however they were grouped. It
            shows which demands nothing can fail. By default the share with every record in a class of its own if the
            check is `monotone`, and otherwise 1.
    """

    victims: Callable[[ClassEvidence, P], NDArray[np.bool_]]
    label: str = "share of records exposed"
    worst: Callable[[SingletonClasses, P], Fraction] | None = None
    comparison: Comparison = Comparison.AT_MOST

    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """Which classes are victims, whatever the threshold is."""
        exposed = np.asarray(self.victims(evidence, parameters))
        if exposed.dtype != bool or exposed.shape != evidence.size.shape:
            raise CheckError("the check must say true or false for each class")
        return (Figure(exposed.astype(np.float64), exposed, Comparison.AT_MOST),)

    @property
    def measures(self) -> tuple[Threshold[P], ...]:
        """Whether the attack succeeds on a class, next to the largest share of records exposed."""
        return (Threshold(SHARE, self.comparison, self.victims, self.label),)

    def unfailable(self, finest: SingletonClasses, parameters: P) -> tuple[str, ...]:
        """`at_most` if no grouping of the records of a release exposes more of them."""
        demanded = self.demanded(parameters)
        if demanded is None or (demanded < 1 and self._largest_share(finest, parameters) > demanded):
            return ()
        return (SHARE,)

    def _largest_share(self, finest: SingletonClasses, parameters: P) -> Fraction:
        if self.worst is not None:
            return self.worst(finest, parameters)
        if not self.monotone(parameters):
            return Fraction(1)
        return finest.share(self.figures(finest.classes, parameters)[0].fails)

    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """The share of records, or entities, in classes that the attack succeeds on, compared exactly."""
        summary, demanded = summaries[0], self.demanded(parameters)
        share, details = Fraction(summary.failing_records, summary.records), {}
        if summary.entities is not None and summary.failing_entities is not None:
            share = Fraction(summary.failing_entities, summary.entities)
            details = {"units": summary.entities, "victim_units": summary.failing_entities}
        return Verdict(
            observed=float(share),
            threshold=demanded,
            comparison=self.comparison,
            failed=None if demanded is None else share > demanded,
            details={"victims": summary.failing_records, "victim_classes": summary.failing_classes, **details},
        )

    def of_each_class(self, parameters: P) -> P:
        """That no class be a victim."""
        return parameters.model_copy(update={SHARE: Fraction(0)})
