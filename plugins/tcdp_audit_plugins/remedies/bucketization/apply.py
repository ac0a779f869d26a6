"""Bucketization: its parameters, the remedy from beginning to end, and the proof that t is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from math import exp
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.remedy import RemedyError, RemedyParameters, RemedyView, Treatment
from tcdp_audit.plugin.sentences import Outcome, Status
from tcdp_audit_plugins.remedies._shared.buckets import Buckets
from tcdp_audit_plugins.remedies._shared.recoding import is_ranged, recode
from tcdp_audit_plugins.remedies._shared.scope import only_on_classes
from tcdp_audit_plugins.remedies.bucketization.choice import Composition, choose, compose
from tcdp_audit_plugins.remedies.bucketization.goal import BucketGoal, refusal

LARGEST_EPSILON = 20.0  # t above e^10 asks for more buckets than any class holds
PARTS = 10**6
Integers = NDArray[np.int64]


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
        int | None, Field(ge=2, description="How many buckets; by default the largest whole number up to t, plus one.")
    ] = None
    release: Annotated[
        Released, Field(strict=False, description="labels: what a bucket covers; means: the mean of its numbers.")
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
    """Say why buckets cannot help a failing demand, or nothing."""
    if other := only_on_classes(view, outcome):
        return other
    if parameters is not None:
        known = {*view.policy.with_role(Role.QUASI_IDENTIFIER), parameters.attribute}
        others = (view.columns_behind(outcome) or frozenset()) - known
        return f"makes classes for {parameters.attribute!r} only" if outcome.attribute and others else ""
    if _demanded_ratio(outcome) is None or outcome.attribute not in view.policy.with_role(Role.SENSITIVE):
        return "only for multiplicative closeness, or an implied epsilon, of one sensitive attribute"
    return ""


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
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


def apply(view: RemedyView, parameters: BucketizationParameters) -> Treatment:
    """Release a confidential attribute in buckets, in classes that are t-close and of k records or more.

    Raises:
        RemedyError: t and k cannot be attained; the message names the inequality that fails and the nearest values.

    Cost: O(log classes) sorts of the records, at most 100 further ones; see `choose`.

    Source: Domingo-Ferrer, Soria-Comas (2015), section 6.
    """
    goal = _goal(view, parameters)
    if goal.values < 2 or goal.number > goal.values or not goal.classes_per_bucket:
        raise refusal(goal)
    buckets = goal.buckets
    composition = _with_valueless(compose(goal.design, goal.classes_per_bucket), buckets)
    quasi_identifiers = view.quasi_identifiers
    classes = choose(quasi_identifiers, buckets.of_record, composition, view.generator())
    count = len(composition.counts)
    distance = largest_ratio(classes, count, buckets)
    if distance is None or distance > goal.t:
        raise RemedyError("the classes that were made are not t-close; this is an error of the program")
    released = buckets.means() if parameters.release is Released.MEANS else buckets.labels()
    recoded = {one.name: recode(one, classes, count, view.suppressed_token) for one in quasi_identifiers}
    notes = _notes(classes, buckets, goal.classes_per_bucket, distance)
    return Treatment(columns={**recoded, parameters.attribute: released}, notes=notes)


def _goal(view: RemedyView, parameters: BucketizationParameters) -> BucketGoal:
    """The goal that the parameters ask for, under the policy's conventions."""
    attribute, convention = view.attribute(parameters.attribute), view.policy.conventions.missing_sensitive
    if is_ranged(attribute) and not attribute.is_ordered:
        raise RemedyError(
            f"generalised values of {attribute.name!r} overlap, so that they cannot be cut into buckets; let this "
            "remedy have its turn before others"
        )
    if convention == "fail" and attribute.domain.missing:
        raise RemedyError(
            f"{attribute.domain.missing:,} records have no value in {attribute.name!r}, which the policy does not "
            "accept; bucketization supplies none: drop them first, or choose another `missing_sensitive` convention"
        )
    return BucketGoal(attribute, parameters.t, parameters.k, parameters.buckets, convention == "own_category")


def _with_valueless(composition: Composition, buckets: Buckets) -> Composition:
    """The composition with the records that have no value and do not count, spread evenly."""
    if int(buckets.of_record.max()) < composition.counts.shape[1]:
        return composition
    classes = len(composition.counts)
    valueless = np.count_nonzero(buckets.of_record == buckets.values)
    spread = np.diff(np.arange(classes + 1) * valueless // classes)
    return Composition(np.column_stack([composition.counts, spread]), composition.emphasised)


def largest_ratio(classes: Integers, count: int, buckets: Buckets) -> Fraction | None:
    """The multiplicative distance of classes over buckets, exact; None where a class lacks a bucket.

    Source: Domingo-Ferrer, Soria-Comas (2015), definition 4.
    """
    masses = buckets.masses.tolist()
    width = int(buckets.of_record.max()) + 1
    counts = np.bincount(classes * width + buckets.of_record, minlength=count * width).reshape(count, width)
    counts = counts[:, : len(masses)]
    if not counts.all():
        return None
    size = np.broadcast_to(counts.sum(axis=1)[:, None], counts.shape)
    bucket = np.broadcast_to(np.arange(len(masses)), counts.shape)
    different = np.unique(np.stack([size.ravel(), bucket.ravel(), counts.ravel()]), axis=1)
    shares = (Fraction(n * sum(masses), size * masses[one]) for size, one, n in different.T.tolist())
    return max(max(share, 1 / share) for share in shares)


def _notes(classes: Integers, buckets: Buckets, classes_per_bucket: int, distance: Fraction) -> dict[str, Any]:
    sizes = np.bincount(classes)
    return {
        "buckets": buckets.values,
        "smallest_bucket": int(buckets.masses.min()),
        "largest_bucket": int(buckets.masses.max()),
        "classes": len(sizes),
        "emphasised": classes_per_bucket,
        "smallest_class": int(sizes.min()),
        "largest_class": int(sizes.max()),
        "distance": float(distance),
    }
