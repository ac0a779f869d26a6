"""Distances from released records to the closest original ones, anyone who they stand for: for synthetic releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes
from tcdp_audit_plugins.checks.record_linkage.comparison import ComparisonParameters
from tcdp_audit_plugins.checks.record_linkage.nearest import Nearest, nearest
from tcdp_audit_plugins.checks.record_linkage.standardised import space

LOWER = Fraction(5, 100)
MEDIAN = Fraction(1, 2)


@dataclass(frozen=True)
class Tables:
    """Release, original, and the hold-out if one is given, coded together."""

    released: CodedTable
    original: CodedTable
    holdout: CodedTable | None
    scales: Mapping[str, Scale]

    @classmethod
    def of(cls, view: TableView, parameters: ComparisonParameters) -> Tables:
        """The compared attributes of every table that is there.

        Raises:
            CheckError: there is no original.
        """
        names = known_attributes(parameters.attributes, view.quasi_identifiers)
        further = ["holdout"] if "holdout" in view.companions else []
        released, original, *holdout = view.coded(names, "original", *further)
        scales = {name: view.policy.attributes[name].scale or Scale.NOMINAL for name in names}
        return cls(released, original, holdout[0] if holdout else None, scales)


@dataclass(frozen=True)
class Closest:
    """Distances from every released record to one table.

    Args:
        nearest: what is nearest to each distinct released record.
        records: how many released records each stands for.
        details: attributes that weigh nothing, and missing cells.
    """

    nearest: Nearest
    records: NDArray[np.int64]
    details: Mapping[str, Any]

    @property
    def distance(self) -> Floats:
        """D to the closest record, for each distinct released record."""
        return np.asarray(np.sqrt(self.nearest.squared))

    @property
    def ratio(self) -> Floats:
        """D to the closest over d to the second closest record; 1 where both are the same."""
        first, second = self.nearest.squared, self.nearest.second
        return np.sqrt(np.divide(first, second, out=np.ones(len(first)), where=second > first))


def closest(
    released: CodedTable,
    others: CodedTable,
    tables: Tables,
    parameters: ComparisonParameters,
    neighbours: int,
) -> Closest:
    """Distances in units of the original's standard deviations, so that equal records are at distance 0.

    Raises:
        CheckError: there are fewer records than neighbours, or nothing to compare by.

    Cost: that of `nearest`.
    """
    if others.records < neighbours:
        raise CheckError(f"{others.name} has fewer than two records, so there is no second nearest one")
    both = space(released, others, tables.scales, parameters.weighing, tables.original)
    details = {"without_variance": both.without_variance, "missing_cells": both.missing_cells}
    return Closest(nearest(both, neighbours=neighbours), both.released.records, details)


def percentile(values: Floats, records: NDArray[np.int64], share: Fraction) -> float:
    """The least value that at least this share of the records does not exceed; never between two of them.

    Example:
        >>> percentile(np.array([3.0, 1.0, 2.0]), np.array([1, 1, 2]), Fraction(1, 2))
        2.0
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(records[order])
    total = int(reached[-1])
    needed = -(-share.numerator * total // share.denominator)  # rounded up
    return float(values[order][np.searchsorted(reached, needed)])


def summary(closest_records: Closest, of: Callable[[Closest], Floats]) -> dict[str, Any]:
    """The 5th percentile and the median of a figure."""
    values = of(closest_records)
    return {
        "percentile_5": percentile(values, closest_records.records, LOWER),
        "median": percentile(values, closest_records.records, MEDIAN),
    }
