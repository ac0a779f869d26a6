"""The parameters of bucketization, and those that are worth trying on a release that fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from math import exp
from typing import Annotated, Any

from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.remedy import RemedyParameters, RemedyView
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit_plugins.remedies._shared.scope import only_on_classes
from tcdp_audit_plugins.remedies.bucketization.goal import BucketGoal

LARGEST_EPSILON = 20.0  # t above e^10 asks for more buckets than any class holds
PARTS = 10**6


class Released(StrEnum):
    """The cell in place of a confidential value."""

    LABELS = "labels"
    MEANS = "means"


class BucketizationParameters(RemedyParameters):
    """Parameters of `bucketization`."""

    attribute: Annotated[Text, Field(description="The confidential attribute.")]
    t: Annotated[
        Exact,
        Field(
            ge=1,
            description="The largest ratio of a bucket's share in a class and in the table, or the other way round.",
        ),
    ]
    k: Annotated[int, Field(ge=1, description="The least number of records in a class; at least as many as buckets.")]
    buckets: Annotated[
        int | None,
        Field(ge=2, description="How many buckets; by default the largest whole number up to t, plus one."),
    ] = None
    release: Annotated[
        Released,
        Field(strict=False, description="labels: what a bucket covers; means: the mean of its numbers."),
    ] = Released.LABELS


def faults(parameters: BucketizationParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Faults that only the policy as a whole shows: (parameter, sentence)."""
    name = parameters.attribute
    declared = document.attributes.get(name)
    if declared is None:
        yield "attribute", f"the policy declares no attribute {name!r}"
        return
    if declared.role is not Role.SENSITIVE:
        yield "attribute", f"{name!r} is not sensitive: its role is {declared.role.value}"
    if declared.scale is Scale.ORDINAL and declared.order is None:
        yield "attribute", f"buckets of {name!r} need its order; declare it, for example `order: [low, middle, high]`"
    if parameters.release is Released.MEANS and declared.scale is not Scale.NUMERIC:
        yield "release", f"means need numbers; {name!r} is {(declared.scale or Scale.NOMINAL).value}"
    if document.conventions.reference != "release":
        yield "", "buckets keep t against the release itself; bucketization needs `reference: release`"


def why_not_applicable(view: RemedyView, parameters: BucketizationParameters | None, outcome: Outcome) -> str:
    """Why buckets cannot help a failing demand, or nothing."""
    if other := only_on_classes(view, outcome):
        return other
    if parameters is not None:
        known = {*view.policy.with_role(Role.QUASI_IDENTIFIER), parameters.attribute}
        others = (view.columns_behind(outcome) or frozenset()) - known
        return f"makes classes for {parameters.attribute!r} only" if outcome.attribute and others else ""
    if _demanded_ratio(outcome) is None or outcome.attribute not in view.policy.with_role(Role.SENSITIVE):
        return "only for multiplicative closeness, or an implied epsilon, of one sensitive attribute"
    return ""


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Proposals for each sensitive attribute that is not close enough.

    The t that is demanded, with the policy's k or as many records as there are buckets; where that is more than the
    policy's k, also fewer buckets.
    """
    sensitive = view.policy.with_role(Role.SENSITIVE)
    for outcome in outcomes:
        t = _demanded_ratio(outcome)
        if t is None or outcome.attribute not in sensitive:
            continue
        demanded = view.demanded_k or 1
        buckets = BucketGoal(view.attribute(outcome.attribute), t, demanded).number
        yield {"attribute": outcome.attribute, "t": t, "k": max(demanded, buckets)}
        if 1 < demanded < buckets:
            yield {"attribute": outcome.attribute, "t": t, "k": demanded, "buckets": demanded}


def _demanded_ratio(outcome: Outcome) -> Fraction | None:
    """The ratio that an outcome fails to keep, rounded down to a millionth where it follows from an epsilon."""
    if outcome.status is not Status.FAILED or outcome.threshold is None:
        return None
    if outcome.check == "t_closeness" and outcome.parameters.get("distance") == "multiplicative":
        return outcome.threshold
    if outcome.check == "implied_epsilon":
        return Fraction(int(exp(min(float(outcome.threshold), LARGEST_EPSILON) / 2) * PARTS), PARTS)
    return None
