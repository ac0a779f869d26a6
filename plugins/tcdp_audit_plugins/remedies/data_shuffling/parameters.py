"""The parameters of data shuffling, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.masked_attributes import is_orderable, masked_faults
from tcdp_audit_plugins.remedies._shared.scope import NO_ORDER, only_where_masked

Names = Annotated[list[Text], Field(min_length=1)]


class DataShufflingParameters(RemedyParameters):
    """Parameters of `data_shuffling`."""

    proximity: Annotated[
        Annotated[Exact, Field(ge=0, lt=1)] | None,
        Field(
            description="The correlation of what is left of a record's scores, given the attributes that stay, before "
            "and after; 0 is data shuffling as published. By default the largest that does."
        ),
    ] = None
    attributes: Annotated[
        Names | None,
        Field(description="The attributes to shuffle, together; by default the numeric and ordinal quasi-identifiers."),
    ] = None
    given: Annotated[
        Names | None,
        Field(
            description="The attributes that stay, with which relations are kept; by default every other numeric or "
            "ordinal quasi-identifier and sensitive attribute."
        ),
    ] = None


def faults(parameters: DataShufflingParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    yield from masked_faults(parameters.attributes, document, ordered=True)
    yield from (("given", sentence) for _, sentence in masked_faults(parameters.given, document, ordered=True))
    for name in sorted(set(parameters.attributes or ()) & set(parameters.given or ())):
        yield "given", f"{name!r} is shuffled, so that it cannot stay"


def why_not_applicable(view: RemedyView, parameters: DataShufflingParameters | None, outcome: Outcome) -> str:
    """Why shuffling cannot help a failing demand, or nothing."""
    given = parameters or DataShufflingParameters()
    return only_where_masked(
        view,
        outcome,
        given.attributes,
        is_orderable,
        unfit=NO_ORDER,
        chosen=given.proximity is None,
        alike=False,
    )


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """As near as will do, where a demand that compares with the original fails."""
    if any(not why_not_applicable(view, None, one) for one in outcomes):
        yield {}
