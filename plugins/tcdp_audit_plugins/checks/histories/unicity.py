"""Unicity: the chance that a few events of a person, drawn at random, are those of no one else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences, count
from tcdp_audit_plugins.checks.histories.chances import DRAWS, Chance, estimated_chance, exact_chances
from tcdp_audit_plugins.checks.histories.combinations import Ordered
from tcdp_audit_plugins.checks.histories.reading import (
    EventParameters,
    ReadEvents,
    attribute_faults,
    block_for,
    event_details,
    generator_of,
    known_of_events,
    read_events,
    require_events,
    tolerance_faults,
)
from tcdp_audit_plugins.guides import built_in_guide

Points = Annotated[int, Field(ge=1)]


class UnicityParameters(EventParameters):
    """Parameters of `unicity`."""

    at_most: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest chance to be alone by so many events, as a mean over units."),
    ] = None
    points: Annotated[
        Points | Annotated[list[Points], Field(min_length=1)],
        Field(description="How many events of a unit are drawn; of several numbers, the largest chance decides."),
    ] = 4
    short_histories: Annotated[
        Literal["all", "leave_out"],
        Field(description="Of units with fewer events, all of them are drawn, or these units are left out."),
    ] = "all"
    max_combinations: Annotated[
        int,
        Field(ge=1, description="Combinations of events up to which all are looked at; beyond, 100 a unit are drawn."),
    ] = 10**8

    @property
    def numbers(self) -> list[int]:
        """The numbers of events that are drawn, ascending."""
        return sorted({*self.points}) if isinstance(self.points, list) else [self.points]


def unicity(view: TableView, parameters: UnicityParameters) -> TableFigure:
    """The mean over units of the chance that events drawn from it without replacement are those of no other unit.

    All choices of a unit's rows are counted. Where they are more than `max_combinations`, 100 choices of each unit are
    drawn, and the figure is the end of an interval around their mean.

    Returns:
        An exact fraction; of draws a float.

    Raises:
        CheckError: there is no event, nothing is known of one, or no unit has as many as are drawn and the others are
            left out.

    Cost: O(combinations of events that several units have); of draws that of looking each of them up.

    Source: de Montjoye et al., Unique in the Crowd, Scientific Reports 3, 1376, 2013.
    """
    rows = view.events(parameters.attributes, table=parameters.table)
    require_events(view, rows, at=parameters.tolerance is not None)
    read = read_events(rows, parameters.tolerance)
    chances = _chances(view, read, parameters)
    lacking = [one.points for one in chances if not one.units]
    if lacking:
        raise CheckError(
            f"no history has {count(lacking[0], 'event')}, and shorter ones are left out; lower `points`, or use "
            "`short_histories: all`"
        )
    worst = max(chances, key=lambda one: (one.upper, -one.points))
    estimated = any(one.margin for one in chances)
    details: dict[str, Any] = {
        **event_details(read),
        "chances": [_of_points(one) for one in chances],
        "worst_points": worst.points,
        "estimated": estimated,
        **({"seed": view.policy.document.seed} if estimated else {}),
    }
    return TableFigure(worst.upper, worst.units, details=details)


def _chances(view: TableView, read: ReadEvents, parameters: UnicityParameters) -> list[Chance]:
    """Exact up to the most combinations that are looked at, then from draws."""
    leave_out, numbers = parameters.short_histories == "leave_out", parameters.numbers
    longest = min(max(numbers), int(read.events.lengths.max(initial=0)))
    amounts = Ordered.of(read.events, longest).amounts(longest)
    exact = [one for one in numbers if sum(amounts[:one]) <= parameters.max_combinations]
    block, events = block_for(view, longest), read.events
    chances = exact_chances(events, exact, leave_out=leave_out, nearby=read.nearby, block=block) if exact else []
    others = [one for one in numbers if one not in exact]
    if others:
        drawn, nearby = read.untimed
        generator = generator_of(view)
        chances += [
            estimated_chance(drawn, one, generator, leave_out=leave_out, nearby=nearby, block=block) for one in others
        ]
    return chances


def _of_points(one: Chance) -> dict[str, Any]:
    """The figures of a number of points, by documented names."""
    figures: dict[str, Any] = {"points": one.points, "unicity": one.mean, "units": one.units}
    if one.margin:
        return {**figures, "margin": one.margin, "draws": DRAWS * one.units}
    return {**figures, "always_alone": one.alone}


def _faults(parameters: UnicityParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from attribute_faults(parameters, document)
    yield from tolerance_faults(parameters, max(parameters.numbers), "points", document)


def _values(outcome: Outcome) -> Mapping[str, Any]:
    """The figures of the number of points that decides."""
    chances, worst = outcome.details["chances"], outcome.details["worst_points"]
    (deciding,) = (one for one in chances if one["points"] == worst)
    return {"drawn": deciding["points"], "margin": deciding.get("margin", 0), "mean": float(deciding["unicity"])}


CHECKS: list[Check] = [
    TableCheck(
        name="unicity",
        title="Unicity",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=UnicityParameters,
        measure=unicity,
        label="mean chance to be alone by a few events drawn at random",
        needs_quasi_identifiers=False,
        reads_known=known_of_events,
        validate=_faults,
        needs={Need.UNIT, Need.PARTITION, Need.DISTINCT},
        history_reading=lambda parameters: "events" if max(parameters.numbers) > 1 else "rows",
        sentences=Sentences(
            passed="{alone}.",
            failed="{alone}, where {allowed}.",
            impact=(
                "An intruder who happens to know {known} of {drawn:event} of {person} finds no one else with the same "
                "with {observed:chance}, in the mean over everyone."
            ),
            no_impact="Of whichever {drawn:event} of {person} an intruder knows {known}, others have the same.",
            values=_values,
            parts={
                "alone": (
                    "By {known} of {drawn:event} drawn at random, {person} "
                    "[{short_histories=leave_out?}with as many ]is alone with a probability of "
                    "[{margin>0?}at most ]{observed:%}[{margin>0?} (estimated: {mean:%} of the draws)]"
                ),
            },
        ),
        guide=built_in_guide(__file__, "unicity.md"),
    )
]
