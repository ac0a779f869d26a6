"""Distance to the closest original record, and its ratio to the second closest: do synthetic records hug real ones?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks.record_linkage.closeness import Closest, Tables, closest, summary
from tcdp_audit_plugins.checks.record_linkage.comparison import ComparisonParameters, comparable
from tcdp_audit_plugins.guides import built_in_guide


class ClosestParameters(ComparisonParameters):
    """Parameters of `distance_to_closest_record`."""

    at_least: Annotated[
        Exact | None,
        Field(ge=0, description="The least 5th percentile, in the original's standard deviations."),
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
        parts={
            "figure": figure,
        },
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
