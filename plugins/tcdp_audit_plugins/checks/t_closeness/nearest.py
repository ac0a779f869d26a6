"""The distance of each class from the nearest of the groups that it was compared with, exactly where that can be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.check import (
    ApproximateFigure,
    ClassEvidence,
    Histogram,
    Ratios,
    ReferenceDistribution,
)
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks.t_closeness.t_closeness import KINDS, ClosenessParameters, closeness

if TYPE_CHECKING:
    from tcdp_audit.plugin.check import TableView
    from tcdp_audit.plugin.engine import CodedTable, Tree


@dataclass(frozen=True)
class Subject:
    """What is measured in every class: see `ClassEvidence`."""

    parameters: ClosenessParameters
    size: int
    values: NDArray[Any] | None
    tree: Tree | None
    missing_is_a_value: bool

    @classmethod
    def of(cls, view: TableView, table: CodedTable, attribute: str, parameters: ClosenessParameters) -> Subject:
        """An attribute of a table.

        Raises:
            CheckError: its values cannot be measured by the distance.
        """
        domain, kind = table.domains[attribute], KINDS[parameters.distance]
        convention = view.policy.conventions.missing_sensitive
        missing_is_a_value = convention == "own_category" and domain.missing > 0
        if missing_is_a_value and (kind.scales is not None or kind.hierarchy):
            raise CheckError(
                f"missing values of {attribute!r} have no place in its order; set `missing_sensitive: excluded`"
            )
        if kind.scales is not None and not domain.is_ordered:
            raise CheckError(f"generalised values of {attribute!r} overlap, so that they have no order")
        hierarchy = view.hierarchies.get(attribute) if kind.hierarchy else None
        if hierarchy is not None and hierarchy.unknown(domain.labels):
            raise CheckError(f"the hierarchy of {attribute!r} does not know all its values")
        tree = None if hierarchy is None else hierarchy.over(domain.labels)
        numbers = None if domain.values.dtype == object else domain.values
        return cls(parameters, domain.size + missing_is_a_value, numbers, tree, missing_is_a_value)

    def measured(self, classes: Histogram, group: ReferenceDistribution) -> Ratios | ApproximateFigure | NDArray[Any]:
        """The distance of some classes from a group."""
        evidence = ClassEvidence(classes.total, classes, group, values=self.values, tree=self.tree)
        return closeness(evidence, self.parameters)


class Nearest:
    """The least distance of each class so far, as an exact fraction, and whether it is within t."""

    def __init__(self, subject: Subject, classes: int) -> None:
        self._subject, self._t = subject, subject.parameters.t
        self._numerator = np.ones(classes, dtype=object)
        self._denominator = np.zeros(classes, dtype=object)  # infinite, and so it stays for a class without a value
        self._within = np.zeros(classes, dtype=np.bool_)
        self.groups = 0

    def compare_themselves(self, classes: NDArray[np.intp]) -> None:
        """A class that is large enough is a group itself, and as far from it as a distance of nothing is."""
        least = (KINDS[self._subject.parameters.distance].range or (0,))[0]
        self._numerator[classes], self._denominator[classes] = least, 1
        self._within[classes] = self._t is not None and least <= self._t

    def compare(self, classes: NDArray[np.intp], histogram: Histogram, group: ReferenceDistribution) -> None:
        """Take the distance from a group where it is less."""
        measured = self._subject.measured(histogram, group)
        numerator, denominator = _fractions(measured)
        nearer = numerator * self._denominator[classes] < self._numerator[classes] * denominator
        self._numerator[classes] = np.where(nearer, numerator, self._numerator[classes])
        self._denominator[classes] = np.where(nearer, denominator, self._denominator[classes])
        if self._t is not None and not isinstance(measured, np.ndarray):
            self._within[classes] |= measured.compare(self._t) <= 0
        self.groups += 1

    @property
    def values(self) -> NDArray[np.float64]:
        """The least distances. Shape (classes,)."""
        return Ratios(self._numerator, self._denominator).values

    @property
    def fails(self) -> NDArray[np.bool_]:
        """The classes that are not within t of any group. Shape (classes,)."""
        return ~self._within if self._t is not None else np.zeros(len(self._within), dtype=np.bool_)

    def worst(self) -> Fraction | float:
        """The largest of the least distances, on the side of t on which it lies."""
        values = self.values
        if np.isinf(values).any():
            return inf
        close = np.flatnonzero(values >= values.max() * (1 - 1e-9))
        worst = max(map(Fraction, self._numerator[close], self._denominator[close]))
        t, holds = self._t, not self.fails.any()
        if t is None or (worst <= t) == holds:
            return worst
        return t if holds else Fraction(nextafter(float(t), inf))


def _fractions(measured: Ratios | ApproximateFigure | NDArray[Any]) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """Distances as numerators and denominators in Python integers; 1 / 0 where they are infinite."""
    if isinstance(measured, Ratios):
        numerator, denominator = measured.numerator.astype(object), measured.denominator.astype(object)
        return np.where(denominator == 0, 1, numerator), denominator
    floats = measured.values if isinstance(measured, ApproximateFigure) else measured
    ratios = [(1, 0) if value == inf else value.as_integer_ratio() for value in floats.tolist()]
    table = np.array([*ratios, (None, None)], dtype=object)[:-1]
    return table[:, 0], table[:, 1]
