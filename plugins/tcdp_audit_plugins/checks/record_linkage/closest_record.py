"""Distances from released records to the closest original ones, whichever people these are: for synthetic releases."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, Scale
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import ComparisonParameters, comparable, known_attributes
from tcdp_audit_plugins.checks.record_linkage.nearest import Nearest, nearest
from tcdp_audit_plugins.checks.record_linkage.standardised import space
from tcdp_audit_plugins.guides import built_in_guide

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
    """Distances from every released record to one table."""

    nearest: Nearest  # what is nearest to each distinct released record
    records: NDArray[np.int64]  # how many released records each represents
    details: Mapping[str, Any]  # attributes that weigh nothing, and missing cells

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
    released: CodedTable, others: CodedTable, tables: Tables, parameters: ComparisonParameters, neighbours: int
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


class ClosestParameters(ComparisonParameters):
    """Parameters of `distance_to_closest_record`."""

    at_least: Annotated[
        Exact | None, Field(ge=0, description="The least 5th percentile, in the original's standard deviations.")
    ] = None


class RatioParameters(ComparisonParameters):
    """Parameters of `nearest_neighbour_distance_ratio`."""

    at_least: Annotated[Exact | None, Field(ge=0, le=1, description="The least 5th percentile of the ratio.")] = None


def distance_to_closest_record(view: TableView, parameters: ClosestParameters) -> TableFigure:
    """The 5th percentile over released records of min_o d(released, o), in the original's standard deviations.

    Returns:
        A float of at least 0.

    Raises:
        CheckError: there is no original, or nothing to compare by.

    Cost: a search for nearest neighbours for the original, and one for the hold-out; see `nearest`.

    Source: Platzer, Reutterer (2021).
    """
    return _percentiles(view, parameters, lambda one: one.distance, 1)


def nearest_neighbour_distance_ratio(view: TableView, parameters: RatioParameters) -> TableFigure:
    """The 5th percentile over released records of d(released, closest original) / d(released, second closest).

    Returns:
        A float from 0 to 1; two originals at one distance, even 0, give 1.

    Raises:
        CheckError: there is no original, it has one record, or there is nothing to compare by.

    Cost: as `distance_to_closest_record`.

    Source: Platzer, Reutterer (2021).
    """
    return _percentiles(view, parameters, lambda one: one.ratio, 2)


def _percentiles(
    view: TableView, parameters: ComparisonParameters, of: Callable[[Closest], Floats], neighbours: int
) -> TableFigure:
    tables = Tables.of(view, parameters)
    to_original = closest(tables.released, tables.original, tables, parameters, neighbours)
    figures = summary(to_original, of)
    details = {**figures, **to_original.details}
    if tables.holdout is not None:
        to_holdout = closest(tables.released, tables.holdout, tables, parameters, neighbours)
        details["holdout"] = {**summary(to_holdout, of), "records": tables.holdout.records}
    return TableFigure(figures["percentile_5"], tables.released.records, details=details)


def _sentences(figure: str) -> Sentences:
    """The sentences on a figure, named as a noun."""
    return Sentences(
        passed=(
            "Over {records:released {record}}, compared in {known}, the 5th percentile of the {figure} is "
            "{observed}[, where {bound}]; the median is {median}.[{holdout?} To the hold-out it is "
            "{holdout.percentile_5}.]"
        ),
        parts={"figure": figure},
    )


CHECKS: list[Check] = [
    TableCheck(
        name="distance_to_closest_record",
        title="Distance to closest record",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=ClosestParameters,
        measure=distance_to_closest_record,
        threshold="at_least",
        comparison=Comparison.AT_LEAST,
        worst=lambda _, __: 0.0,  # every record is a copy
        label="5th percentile of the distance",
        needs={Need.HOLDOUT},
        validate=comparable,
        sentences=_sentences("distance to the closest original record"),
        guide=built_in_guide(__file__, "distance_to_closest_record.md"),
    ),
    TableCheck(
        name="nearest_neighbour_distance_ratio",
        title="Nearest-neighbour distance ratio",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=RatioParameters,
        measure=nearest_neighbour_distance_ratio,
        threshold="at_least",
        comparison=Comparison.AT_LEAST,
        label="5th percentile of the ratio",
        needs={Need.HOLDOUT},
        validate=comparable,
        sentences=_sentences("nearest-neighbour distance ratio"),
        guide=built_in_guide(__file__, "nearest_neighbour_distance_ratio.md"),
    ),
]
