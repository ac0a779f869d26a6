"""The parameters of rank swapping, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.masked_attributes import is_orderable, masked_faults
from tcdp_audit_plugins.remedies._shared.scope import NO_ORDER, only_where_masked


class Variant(StrEnum):
    """A way to draw who swaps with whom."""

    PLAIN = "plain"
    P_DISTRIBUTION = "p_distribution"


class RankSwappingParameters(RemedyParameters):
    """Parameters of `rank_swapping`."""

    percent: Annotated[
        Exact | None,
        Field(
            gt=0,
            le=100,
            description="plain: how many ranks two values that are swapped may be apart, in percent of the records "
            "with a value; p_distribution: twice the mean of that distance. By default the least that does.",
        ),
    ] = None
    variant: Annotated[
        Variant,
        Field(
            strict=False,
            description="plain: partners at most `percent` apart; p_distribution: partners at distances from a normal "
            "distribution, which has no bound.",
        ),
    ] = Variant.PLAIN
    attributes: Annotated[
        list[Text] | None,
        Field(
            min_length=1,
            description="The attributes to swap, each by itself; by default the numeric and ordinal quasi-identifiers.",
        ),
    ] = None


def faults(parameters: RankSwappingParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    return masked_faults(parameters.attributes, document, ordered=True)


def why_not_applicable(view: RemedyView, parameters: RankSwappingParameters | None, outcome: Outcome) -> str:
    """Why swapping cannot help a failing demand, or nothing."""
    given = parameters or RankSwappingParameters()
    return only_where_masked(
        view,
        outcome,
        given.attributes,
        is_orderable,
        unfit=NO_ORDER,
        chosen=given.percent is None,
        alike=False,
    )


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Both variants, each as weak as will do, where a demand that compares with the original fails."""
    if any(not why_not_applicable(view, None, one) for one in outcomes):
        yield from ({"variant": variant.value} for variant in Variant)
