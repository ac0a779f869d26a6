"""Coarser times: dates are released as their week, month, quarter, half year or year."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.detector import PolicyDocument, Text
from tcdp_audit.plugin.remedy import (
    Attribute,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyParameters,
    RemedyView,
    Treatment,
)
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.histories import (
    NO_TIME,
    Trials,
    is_number,
    require_dates,
    require_whole,
    time_column,
    trials,
)
from tcdp_audit_plugins.remedies._shared.masking import MASKED, changed, recoded
from tcdp_audit_plugins.remedies._shared.scope import only_where_changed

NUMBERS = "the times are numbers, and only dates have weeks, months and years"


class Coarseness(StrEnum):
    """The periods that dates become, the finest first."""

    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    HALF_YEAR = "half_year"
    YEAR = "year"


class CoarsenTimeParameters(RemedyParameters):
    """Parameters of `coarsen_time`."""

    to: Annotated[
        Coarseness | None,
        Field(strict=False, description="The period that is released. By default the finest that suffices."),
    ] = None
    table: Annotated[
        Text | None,
        Field(description="Of several linked tables the one whose times become coarser. By default the only such one."),
    ] = None


def faults(parameters: CoarsenTimeParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:  # noqa: ARG001
    """Yield the faults that only the policy as a whole shows: (parameter, sentence)."""
    if document.time is not None and document.attributes[document.time].role not in MASKED:
        yield "", f"the time {document.time!r} is neither a quasi-identifier nor a sensitive attribute of the policy"


def tables(parameters: CoarsenTimeParameters | None, document: PolicyDocument) -> list[str]:
    """The linked tables whose times may become coarser."""
    named = None if parameters is None else parameters.table
    timed = [
        name
        for name, one in (document.tables or {}).items()
        if one.time in one.attributes and one.attributes[one.time].role in MASKED
    ]
    return [name for name in timed if named in (None, name)]


def why_not_applicable(view: RemedyView, parameters: CoarsenTimeParameters | None, outcome: Outcome) -> str:  # noqa: ARG001
    """Say why coarser dates cannot help a failing demand, or nothing."""
    name = view.policy.document.time
    if name is None:
        return NO_TIME
    if not view.failing_on_classes([outcome]) and not view.judges_histories(outcome):
        return "only for demands on classes and on histories"
    if view.release.obstacle(name):
        return view.release.obstacle(name)
    if is_number(view.attribute(name)):
        return NUMBERS
    return only_where_changed(view, outcome, [name])


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Propose the finest period that suffices, or the coarsest where none does."""
    helped = tuple(one for one in outcomes if not why_not_applicable(view, None, one))
    if helped:
        time = time_column(view)
        require_dates(time)
        possible = _possible(time)
        if possible:
            yield {"to": str(_finest(Trials(view, helped), time, possible) or possible[-1])}


def coarsen_dates(view: RemedyView, parameters: CoarsenTimeParameters) -> Treatment:
    """Release periods in place of dates.

    Raises:
        RemedyError: there are no dates, a coarser cell reaches over the border of a period, or, where none is given, no
            period suffices.

    Cost: O(values); the same and an audit for each of five periods where none is given.
    """
    time = time_column(view)
    require_dates(time)
    if parameters.to is not None:
        return _coarsened(time, parameters.to)
    possible = _possible(time)
    attempts = trials(view, lambda outcome: not why_not_applicable(view, None, outcome))
    finest = _finest(attempts, time, possible)
    if finest is None:
        reached = attempts.refusal(_coarsened(time, possible[-1])) if possible else "the dates are coarse already"
        raise RemedyError(f"no period is coarse enough; {reached}")
    return _coarsened(time, finest)


def _possible(time: Attribute) -> list[Coarseness]:
    """The periods that change a date, and over whose borders none reaches; the finest first."""
    possible = []
    for to in Coarseness:
        labels, reaching = _labels(time, to)
        if not reaching and labels != list(time.domain.labels):
            possible.append(to)
    return possible


def _finest(attempts: Trials, time: Attribute, possible: list[Coarseness]) -> Coarseness | None:
    """The finest period that suffices; None where none does."""
    return next((to for to in possible if attempts.suffice(_coarsened(time, to))), None)


def _coarsened(time: Attribute, to: Coarseness) -> Treatment:
    labels, reaching = _labels(time, to)
    advice = "coarsen to a period that contains it, or start from days"
    require_whole(time, reaching, f"a {to.replace('_', ' ')}", advice)
    before, after = (len(set(some)) for some in (time.domain.labels, labels))
    notes = {"to": str(to), "records": changed(time, labels), "values_before": before, "values_after": after}
    return Treatment({time.name: recoded(time, labels)}, notes=notes)


def _labels(time: Attribute, to: Coarseness) -> tuple[list[str], list[int]]:
    """The new cell of each value; and the values that reach over a border. A coarser value stays."""
    labels, reaching = list(time.domain.labels), []
    for code, period in enumerate(time.periods):
        if period is None:
            continue
        label = period.label(to)
        if label is not None:
            labels[code] = label
        elif not period.is_made_of(to):
            reaching.append(code)
    return labels, reaching


COARSEN_TIME = Remedy(
    name="coarsen_time",
    title="Coarser times",
    summary="Releases the week, month, quarter, half year or year in place of a date.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("coarsen_time.md")),
    parameters=CoarsenTimeParameters,
    apply=coarsen_dates,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
    acts_on_histories=True,
    tables=tables,
)
