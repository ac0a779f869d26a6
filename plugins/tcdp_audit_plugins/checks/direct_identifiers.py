"""Identifiers that detectors recognise though no one declares them, of any kind and by HIPAA's Safe Harbor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.check import Check, DisclosureType, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Detector, Role, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences, listing, sentence_case
from tcdp_audit_plugins.checks._shared.detected_columns import (
    NO_DETECTOR,
    STILL_OPEN,
    DetectionParameters,
    columns_in,
    faults,
    figure_of_columns,
)
from tcdp_audit_plugins.guides import built_in_guide


class DirectIdentifiersParameters(DetectionParameters):
    """Parameters of `direct_identifiers`."""

    at_most: Annotated[int | None, Field(ge=0, description="The most columns that may identify directly: 0.")] = None
    detectors: Annotated[
        list[Text] | None,
        Field(min_length=1, description="What to look for, by the names of detectors; by default everything."),
    ] = None


def direct_identifiers(view: TableView, parameters: DirectIdentifiersParameters) -> TableFigure:
    """The number of released columns that detectors know as direct identifiers, and the policy does not.

    Columns that the policy declares as identifiers, and the key, are left out: schema checks judge them.

    Returns:
        A number of columns.

    Raises:
        CheckError: a detector is unknown; or it lacks its library, or a column cannot be read, and a demand hangs on
            that.

    Cost: the distinct values of each column; at most 10,000 of them for each detector.
    """
    detectors = _chosen(view.detectors, parameters.detectors)
    return figure_of_columns(view, parameters, detectors, lambda detections: detections.of_role(Role.IDENTIFIER))


def _chosen(detectors: Mapping[str, Detector], names: Sequence[str] | None) -> list[Detector]:
    if not detectors:
        raise CheckError(NO_DETECTOR)
    for name in names or ():
        if name not in detectors:
            raise CheckError(f"there is no detector {name!r}; there are {listing(sorted(detectors))}")
    every = detectors.values() if names is None else [detectors[name] for name in names]
    chosen = [one for one in every if one.role is Role.IDENTIFIER]
    if not chosen:
        raise CheckError("none of the named detectors is of a direct identifier, so nothing can be found")
    return chosen


PLACES, DATES = "B", "C"


ADVICE = {
    PLACES: "coarsen places to a state, or to three digits of a ZIP code where more than 20,000 people live",
    DATES: "keep the year of a date and nothing more",
}


LAW = "This does not determine legality."


class SafeHarborParameters(DetectionParameters):
    """Parameters of `safe_harbor`."""

    at_most: Annotated[int | None, Field(ge=0, description="The most columns that hold such identifiers: 0.")] = None


def safe_harbor(view: TableView, parameters: SafeHarborParameters) -> TableFigure:
    """The number of released columns that hold identifiers that Safe Harbor lists, as far as detectors know them.

    Columns that the policy declares as identifiers, and the key, are left out: schema checks judge them.

    Returns:
        A number of columns.

    Raises:
        CheckError: no detector takes part; or one lacks its library, or a column cannot be read, and a demand hangs on
            that.

    Cost: the distinct values of each column; at most 10,000 of them for each detector.

    Source: 45 CFR 164.514(b)(2)(i).
    """
    detectors = [one for one in view.detectors.values() if one.safe_harbor]
    if not detectors:
        raise CheckError(NO_DETECTOR)
    figure = figure_of_columns(view, parameters, detectors, lambda detections: detections.best)
    of_detector = {one.name: one.safe_harbor for one in detectors}
    letters = {column: of_detector[name] for column, name in figure.details["detectors"].items()}
    return replace(figure, details={**figure.details, "letters": letters})  # letters of the regulation


def _values(outcome: Outcome) -> dict[str, Any]:
    """What columns hold, and what to do about the kinds of it."""
    letters = outcome.details["letters"].values()
    advice = ["drop what names or numbers people"] if set(letters) - ADVICE.keys() else []
    advice += [remedy for letter, remedy in ADVICE.items() if letter in letters]
    columns = columns_in(outcome, "is listed", "are listed")
    return {**columns, "advice": sentence_case(listing(advice)) if advice else ""}


CHECKS: list[Check] = [
    TableCheck(
        name="direct_identifiers",
        title="Direct identifiers",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=DirectIdentifiersParameters,
        needs_quasi_identifiers=False,
        measure=direct_identifiers,
        label="number of columns that identify directly",
        worst=lambda figure, _: Fraction(figure.details["looked_at"]),
        validate=faults,
        sentences=Sentences(
            passed=(
                "[{columns?}{held}|No column names a person directly, as far as values and names of columns say "
                "({looked_at:column} and {looked_for:kind} of identifiers)]{open}."
            ),
            failed=(
                "{held}: {number:drop it, or declare it an identifier|drop them, or declare them identifiers}{open}."
            ),
            impact=(
                "[{columns?}An intruder who knows {first:column} of {person}, or can look it up, has their "
                "record|No column that was recognised names {person}]."
            ),
            values=lambda outcome: columns_in(outcome, "names people", "name people"),
            parts={"open": STILL_OPEN},
        ),
        guide=built_in_guide(__file__, "direct_identifiers.md"),
    ),
    TableCheck(
        name="safe_harbor",
        title="Safe Harbor identifiers",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=SafeHarborParameters,
        needs_quasi_identifiers=False,
        measure=safe_harbor,
        label="number of columns that hold identifiers of the list",
        worst=lambda figure, _: Fraction(figure.details["looked_at"]),
        validate=faults,
        sentences=Sentences(
            passed=(
                "[{columns?}{held}: Safe Harbor has these removed of every person|No column says who a person is by "
                "an identifier of Safe Harbor's list, as far as values and names say ({looked_at:column} and "
                "{looked_for:kind} of identifiers)]{open}. {law}"
            ),
            failed="{held}: Safe Harbor has these removed of every person{open}. {advice}. {law}",
            impact=(
                "[{columns?}An intruder who knows {first:column} of {person} may have their record|No column that "
                "was recognised says who {person} is by an identifier of the list]."
            ),
            values=_values,
            parts={"open": STILL_OPEN, "law": LAW},
        ),
        guide=built_in_guide(__file__, "safe_harbor.md"),
    ),
]
