"""Direct identifiers: columns whose values are e-mail addresses, numbers of people, names, although no one says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from tcdp_audit.plugin.check import Check, DisclosureType, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Detector, Role, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Sentences, listing
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

    Columns that the policy declares as identifiers, and the key, are left out: the structure of the release has
    outcomes of its own on them.

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
    )
]
