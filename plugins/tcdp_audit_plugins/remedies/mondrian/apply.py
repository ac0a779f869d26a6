"""The remedy itself: from a view to classes that keep the policy, and one label for each of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_audit.plugin import Attribute, MergedDemands, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies._shared.recoding import is_ranged, recode
from tcdp_audit_plugins.remedies._shared.refusal import refused_as_one_class
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, HierarchyAxis, OrderedAxis
from tcdp_audit_plugins.remedies.mondrian.cuts import STRATEGIES
from tcdp_audit_plugins.remedies.mondrian.parameters import MondrianParameters
from tcdp_audit_plugins.remedies.mondrian.partition import Space, partition_table
from tcdp_audit_plugins.remedies.mondrian.parts import Mask
from tcdp_audit_plugins.remedies.mondrian.place_runs import Indices, Integers


def cut(view: RemedyView, parameters: MondrianParameters) -> Treatment:
    """Cut the table into classes that keep every demand, and give each one label in every quasi-identifier.

    Raises:
        RemedyError: nothing is demanded of a class, or the classes to start with do not keep the demands already.

    Cost: that of `partition_table` for each strategy.
    """
    task = _Task(view, parameters)
    task.require_attainable()
    partitionings = {
        name: partition_table(task.space, task.roots, one, view.progress) for name, one in STRATEGIES.items()
    }
    penalties = {name: task.space.penalty(one.classes) for name, one in partitionings.items()}
    strategy = min(penalties, key=penalties.__getitem__)
    best = partitionings[strategy]
    return Treatment(
        {one.name: recode(one, best.classes, best.count, view.suppressed_token) for one in task.attributes},
        notes={"classes": best.count, "levels": best.levels, "strategy": strategy, "penalties": penalties},
    )


def axis_of(attribute: Attribute) -> Axis:
    """The dimension of an attribute: its hierarchy where it is nominal and has one, else the order of its values."""
    ranged = is_ranged(attribute)
    if ranged or attribute.hierarchy is None:
        return OrderedAxis(attribute, is_set=not ranged)
    return HierarchyAxis(attribute, attribute.hierarchy)


@dataclass(frozen=True)
class _Task:
    """A release to cut under some parameters."""

    view: RemedyView
    parameters: MondrianParameters

    @cached_property
    def attributes(self) -> list[Attribute]:
        """The quasi-identifiers to generalise."""
        chosen = self.parameters.attributes
        return [one for one in self.view.quasi_identifiers if chosen is None or one.name in chosen]

    @cached_property
    def space(self) -> Space:
        """Their dimensions, and what every class must keep."""
        weights = self.parameters.weights or {}
        return Space(
            axes=[axis_of(one) for one in self.attributes],
            weights=[float(weights.get(one.name, 1)) for one in self.attributes],
            keep=self._keep,
            least=max(self._demands.least_size, self._k),
        )

    @property
    def _k(self) -> int:
        return self.parameters.k or 1

    def _keep(self, classes: Integers, count: int, records: Indices | None = None) -> Mask:
        large = np.bincount(classes, minlength=count) >= self._k
        return np.asarray(large & self.view.demands.kept_by(classes, count, records))

    @cached_property
    def roots(self) -> Integers:
        """The classes to start with: those of the quasi-identifiers that stay as they are. Shape (records,)."""
        generalised = {one.name for one in self.attributes}
        others = [one for one in self.view.quasi_identifiers if one.name not in generalised]
        return self.view.classes(others)[0]

    @cached_property
    def _demands(self) -> MergedDemands:
        return MergedDemands(self.view.demands, self.roots, int(self.roots.max()) + 1)

    def require_attainable(self) -> None:
        """The classes to start with must be allowed.

        Raises:
            RemedyError: they are not, or anything is; says which demands fail.
        """
        if not self.view.demands and self.parameters.k is None:
            raise RemedyError("the policy demands nothing of a class, so that any would do; give `k`")
        if failing := int((~self._keep(self.roots, self._demands.count)).sum()):
            raise RemedyError(self._refusal(failing))

    def _refusal(self, failing: int) -> str:
        count = self._demands.count
        demands = self._demands.failed(np.arange(count), count)
        if (np.bincount(self.roots) < self._k).any():
            demands.append(f"k = {self._k:,}")
        if count == 1:
            return f"no partition of the table keeps the policy: {refused_as_one_class(demands)}"
        return (
            f"{failing:,} of the {count:,} classes of the quasi-identifiers that are not among `attributes` do not "
            f"keep {' and '.join(demands)}; add some of them to `attributes`, or leave it out"
        )
