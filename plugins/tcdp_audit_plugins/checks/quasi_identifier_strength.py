"""Strength of quasi-identifiers: how well small sets of columns distinguish records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from tcdp_audit.plugin._internal import strengths
from tcdp_audit.plugin.check import Check, DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, SetStrength, Strengths, Text
from tcdp_audit.plugin.sentences import Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import require_few_sets
from tcdp_audit_plugins.guides import built_in_guide

KEYS = 10  # minimal keys at most that an outcome names


class QuasiIdentifierStrengthParameters(Parameters):
    """Parameters of `quasi_identifier_strength`."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest figure of any set of at most `max_order` attributes.")
    ] = None
    measure: Annotated[
        Literal["unique", "distinction", "separation"],
        Field(
            description="The figure: the share of records alone, different combinations for each record, or the share "
            "of pairs of records that are distinguished."
        ),
    ] = "unique"
    attributes: Annotated[
        list[Text] | None, Field(min_length=1, description="The attributes; by default all quasi-identifiers.")
    ] = None
    max_order: Annotated[int, Field(ge=1, description="How many attributes a set has at the most.")] = 3


def quasi_identifier_strength(view: TableView, parameters: QuasiIdentifierStrengthParameters) -> TableFigure:
    """The largest distinction, separation or unique share of any set of attributes up to an order.

    None of the three shrinks where an attribute is added, so the largest figure is that of a set of the largest order.

    Returns:
        An exact fraction from 0 to 1.

    Cost: numbering the distinct rows once for each set of at most `max_order` attributes.

    Source: Motwani, Xu, Efficient algorithms for masking and finding quasi-identifiers, VLDB 2007.
    """
    names = sorted(parameters.attributes or view.quasi_identifiers)
    (table,) = view.counted(names)
    codes = {name: table.codes[name] for name in names}
    measured = strengths(codes, table.times, order=parameters.max_order, exact=True)

    def figure(one: SetStrength) -> Any:
        return getattr(one, parameters.measure)

    strongest = max(measured.sets, key=lambda one: (figure(one), -len(one.attributes)))
    return TableFigure(figure(strongest), view.records, details=_details(measured, strongest))


def _details(measured: Strengths, strongest: SetStrength) -> dict[str, Any]:
    alone = {one.attributes[0]: one for one in measured.sets if len(one.attributes) == 1}
    details: dict[str, Any] = {
        "strongest": list(strongest.attributes),
        "distinction": strongest.distinction,
        "separation": strongest.separation,
        "unique": strongest.unique,
        "sets": len(measured.sets),
        "unique_of_all": measured.whole.unique,
        "minimal_keys": [list(one) for one in measured.minimal_keys[:KEYS]],
        "number_of_minimal_keys": len(measured.minimal_keys),
        "distinctions": {name: one.distinction for name, one in alone.items()},
        "separations": {name: one.separation for name, one in alone.items()},
        "leave_one_out": {one.attribute: one.leave_one_out for one in measured.contributions},
        "shapley": {one.attribute: one.shapley for one in measured.contributions},
    }
    if measured.sample is not None:
        details["shapley_errors"] = {one.attribute: one.error for one in measured.contributions}
    return details


def _faults(parameters: QuasiIdentifierStrengthParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    known = [name for name, one in document.attributes.items() if one.role.value == "quasi_identifier"]
    names = known if parameters.attributes is None else parameters.attributes
    yield from require_few_sets(len(names), parameters.max_order, "max_order")


CHECKS: list[Check] = [
    TableCheck(
        name="quasi_identifier_strength",
        title="Strength of quasi-identifiers",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=QuasiIdentifierStrengthParameters,
        measure=quasi_identifier_strength,
        label="figure of the strongest set of columns",
        class_size=lambda _: 2,
        variant=lambda one: one.measure,
        validate=_faults,
        needs={Need.ROWS, Need.PARTITION, Need.DECLARED, Need.DISTINCT},
        sentences=Sentences(
            passed="{strength}[{details.sets>1?}, the most of any set][; {allowed}].",
            impact=(
                "[{details.unique>0?}An intruder who knows {strongest} of a person finds a single record with a "
                "chance of {details.unique:%}|No one is alone by {strongest}]."
            ),
            parts={
                "strength": {
                    "by": "measure",
                    "unique": "Knowing {strongest} makes {observed:%} of the {record:plural} unique",
                    "distinction": (
                        "In {strongest} there are {observed:%} as many combinations as there are {record:plural}"
                    ),
                    "separation": ("Knowing {strongest} distinguishes {observed:%} of all pairs of {record:plural}"),
                }
            },
        ),
        guide=built_in_guide(__file__, "quasi_identifier_strength.md"),
    )
]
