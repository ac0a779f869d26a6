"""Epsilon-identifiability: people to whom a released record is nearer than any other person is."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, Text
from tcdp_audit.plugin.engine import CheckError, CodedTable
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import ComparisonParameters, comparable
from tcdp_audit_plugins.checks.record_linkage.closest_record import Tables
from tcdp_audit_plugins.checks.record_linkage.nearest import nearest
from tcdp_audit_plugins.checks.record_linkage.standardised import Space, space
from tcdp_audit_plugins.guides import built_in_guide


class EpsilonParameters(Parameters):
    """Parameters of `epsilon_identifiability`."""

    epsilon: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of people who may be identifiable.")
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that are compared; without it, all quasi-identifiers."),
    ] = None
    weights: Annotated[
        Literal["inverse_entropy", "equal"],
        Field(description="What differences are multiplied by: 1 over the entropy of the attribute, or 1."),
    ] = "inverse_entropy"

    @property
    def compared(self) -> ComparisonParameters:
        """The attributes that are compared."""
        return ComparisonParameters(attributes=self.attributes)


def epsilon_identifiability(view: TableView, parameters: EpsilonParameters) -> TableFigure:
    """The share of original records to which a released record is strictly nearer than any other original record.

    min_j d_w(x_i, s_j) < min_{j != i} d_w(x_i, x_j), d_w the weighted Euclidean distance in the original's standard
    deviations. Equal distances are not nearer.

    Returns:
        An exact fraction from 0 to 1.

    Raises:
        CheckError: there is no original, it has one record, or there is nothing to compare by.

    Cost: two searches for nearest neighbours, see `nearest`, and a third for the hold-out.

    Source: Yoon, Drumright, van der Schaar (2020), definition of epsilon-identifiability.
    """
    tables = Tables.of(view, parameters.compared)
    if tables.original.records < 2:
        raise CheckError(f"{tables.original.name} has fewer than two records, so there is no other one that is nearest")
    weights = {name: _weight(tables.original, name, parameters) for name in sorted(tables.scales)}
    nearness = _to(tables.released, tables, weights)
    details: dict[str, Any] = {**nearness.figures(), "weights": {name: float(one) for name, one in weights.items()}}
    if tables.holdout is not None:
        if not tables.holdout.records:
            raise CheckError(f"{tables.holdout.name} has no record, so no distances to it can be computed")
        control = _to(tables.holdout, tables, weights)
        details["holdout"] = {"share": control.share, "records": tables.holdout.records}
    return TableFigure(nearness.share, nearness.originals, nearness.identifiable, details=details)


def _weight(original: CodedTable, name: str, parameters: EpsilonParameters) -> Fraction:
    """What differences in an attribute are multiplied by; 0 where the original has one value of it."""
    counts = np.bincount(original.codes[name], minlength=original.domains[name].size + 1)[:-1]
    share = counts[counts > 0] / max(counts.sum(), 1)
    if len(share) < 2:
        return Fraction(0)
    return (
        Fraction(1 / float(-(share * np.log(share)).sum())) if parameters.weights == "inverse_entropy" else Fraction(1)
    )


@dataclass(frozen=True)
class Nearness:
    """The nearest others of every distinct original record."""

    to_other: Floats  # distance to the nearest other original record. float64, shape (points,).
    to_table: Floats  # distance to the nearest record of some table
    records: NDArray[np.int64]  # original records on each point
    rounding: float  # distances that differ by less are equal
    space: Space  # what they are distances in

    @property
    def originals(self) -> int:
        """The number of original records."""
        return int(self.records.sum())

    @property
    def identifiable(self) -> int:
        """Original records to which one of the table is nearer than any other."""
        return self._count(self.to_table + self.rounding < self.to_other)

    @property
    def share(self) -> Fraction:
        """The same over all original records."""
        return Fraction(self.identifiable, self.originals)

    def figures(self) -> dict[str, Any]:
        """All of it by name, for details."""
        return {
            "identifiable": self.identifiable,
            "tied": self._count(np.abs(self.to_table - self.to_other) <= self.rounding),
            "originals_with_a_twin": self._count(self.to_other <= self.rounding),
            "copies": self._count(self.to_table <= self.rounding),
            "without_variance": self.space.without_variance,
            "missing_cells": self.space.missing_cells,
        }

    def _count(self, points: NDArray[np.bool_]) -> int:
        return int(self.records[points].sum())


def _to(table: CodedTable, tables: Tables, weights: dict[str, Fraction]) -> Nearness:
    """The distance of a table to each original record, and that of the nearest other original."""
    squares = {name: one**2 for name, one in weights.items()}
    others, both = (
        space(tables.original, other, tables.scales, squares, tables.original) for other in (tables.original, table)
    )
    points = np.arange(len(others.known))
    closest = nearest(others, points, neighbours=2)
    is_nearest = others.squared_distances(points, points) <= others.nearly(closest.squared)  # except with missing cells
    return Nearness(
        np.sqrt(np.where(is_nearest, closest.second, closest.squared)),
        np.sqrt(nearest(both).squared),
        others.known.records,
        max(others.rounding, both.rounding),
        both,
    )


CHECKS = [
    TableCheck(
        name="epsilon_identifiability",
        title="ε-identifiability",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=EpsilonParameters,
        measure=epsilon_identifiability,
        threshold="epsilon",
        comparison=Comparison.AT_MOST,
        label="share of identifiable people",
        needs={Need.HOLDOUT},
        validate=lambda parameters, document: comparable(parameters.compared, document),
        sentences=Sentences(
            passed=(
                "A released record is nearer than any other original one to {failing/records:original {record}} "
                "({observed:%})[, where {allowed}], compared in {known}.[{holdout?} To a record of the hold-out it "
                "is {holdout.share:%}.]"
            ),
            impact=(
                "{intruder} finds with {observed:chance} a released record that is nearer to {person} than anyone "
                "else is."
            ),
        ),
        guide=built_in_guide(__file__, "epsilon_identifiability.md"),
    )
]
