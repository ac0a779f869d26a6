"""The certainty penalty of a label: the part of an attribute's values that it may stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_audit.generalised import Interval, OrderedLabels, number_or_interval
from tcdp_audit.policy import Scale
from tcdp_audit.remedy import RemedyError
from tcdp_audit.remedy_view import Attribute


@dataclass(frozen=True)
class Penalty:
    """What the labels of one attribute cost.

    Args:
        attribute: the attribute.
        tokens: the cells that stand for a suppressed value.
    """

    attribute: Attribute
    tokens: Collection[str]

    def of(self, label: str) -> float:
        """The normalised certainty penalty of a label, from 0 for a single value to 1 for all of them.

        A range of numbers or ranks costs its width over that of all values, and a node of a hierarchy its share of the
        leaves. A suppressed cell costs 1.

        Raises:
            RemedyError: the label has no place on the attribute's scale.

        Source: Xu et al. (2006), Utility-based anonymization using local recoding, section 3; Ghinita et al. (2007),
        section 3.
        """
        if label in self.tokens:
            return 1.0
        if self._read is not None:
            return self._width(self._read(label))
        return self._share(label)

    @cached_property
    def _read(self) -> Callable[[str], Interval | None] | None:
        """How a label is read as a range, on a scale that has ranges."""
        declared = self.attribute.declaration
        if declared.scale is Scale.NUMERIC:
            return number_or_interval
        return None if declared.order is None else OrderedLabels(declared.order).parse

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The least and the greatest number or rank that a value stands for; 0 where none has one."""
        ends = np.concatenate(self.attribute.bounds)
        finite = ends[np.isfinite(ends)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)

    def _width(self, covered: Interval | None) -> float:
        if covered is None:
            name, scale = self.attribute.name, self.attribute.scale.value
            raise RemedyError(
                f"the hierarchy of {name!r} has labels that are no range of its {scale} values, so the audit could not "
                f"read them; write them as `20-29` or `[20, 30)`, or declare {name!r} as `scale: nominal`"
            )
        least, greatest = self._ends
        low, high = np.clip([covered.low, covered.high], least, greatest).tolist()
        return (high - low) / (greatest - least) if greatest > least else 0.0

    @cached_property
    def _leaves(self) -> Counter[str]:
        """Leaves of the hierarchy below each label."""
        hierarchy = self.attribute.hierarchy
        return Counter(label for branch in hierarchy.branches for label in set(branch)) if hierarchy else Counter()

    def _share(self, label: str) -> float:
        hierarchy = self.attribute.hierarchy
        if hierarchy is None or hierarchy.lineage[label][0] == 0:
            return 0.0
        return self._leaves[label] / len(hierarchy.branches)
