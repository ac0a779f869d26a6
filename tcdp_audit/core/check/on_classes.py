"""Checks that are measured on equivalence classes, shard by shard."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.arrays import Floats
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.evidence import ClassEvidence
from tcdp_audit.core.check.specification import P, Specification, T
from tcdp_audit.core.check.summary import ClassSummary
from tcdp_audit.core.check.threshold import Limit, Threshold
from tcdp_audit.core.check.unfailable import SingletonClasses
from tcdp_audit.core.check.verdict import Verdict

if TYPE_CHECKING:
    from tcdp_audit.core.check.table_check import TableCheck


@dataclass(frozen=True)
class Figure:
    """What a check measured in the classes of a shard: a value for each, and which of them fail."""

    values: Floats
    fails: NDArray[np.bool_]
    comparison: Comparison


@dataclass(frozen=True, kw_only=True)
class CheckOnClasses(Specification[P]):
    """What checks on equivalence classes have in common: figures in a shard, and a verdict over all shards."""

    on_classes: ClassVar[bool] = True

    def by_kind(
        self,
        of_classes: Callable[[CheckOnClasses[Any]], T],
        of_table: Callable[[TableCheck[Any]], T],  # noqa: ARG002 - the other kind's
    ) -> T:
        """What the first function makes of this check."""
        return of_classes(self)

    @property
    @abstractmethod
    def measures(self) -> tuple[Threshold[P], ...]:
        """What is measured in each class; for an attack whether it succeeds there, as true or false."""

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The parameters with a threshold."""
        return tuple(one.limit for one in self.measures)

    @abstractmethod
    def figures(self, evidence: ClassEvidence, parameters: P) -> tuple[Figure, ...]:
        """The figure of each threshold in every class, and the classes that do not keep it."""

    @abstractmethod
    def unfailable(self, finest: SingletonClasses, parameters: P) -> tuple[str, ...]:
        """The parameters whose demand no grouping of the records of a release fails."""

    @abstractmethod
    def verdict(self, summaries: Sequence[ClassSummary], parameters: P) -> Verdict:
        """What came of it, from the merged summary of each figure."""

    def said_to_be_worst(self, finest: SingletonClasses, parameters: P) -> ClassEvidence | None:  # noqa: ARG002
        """Classes that records of a release could form, among them one with the worst figure; None if unsaid."""
        return None

    @abstractmethod
    def of_each_class(self, parameters: P) -> P:
        """The parameters that demand of every class by itself what these demand of a release at the strictest."""
