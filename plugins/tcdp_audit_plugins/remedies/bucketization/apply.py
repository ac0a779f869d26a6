"""Bucketization from beginning to end: buckets, classes, records, labels, and the proof."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.remedy import RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies._shared.buckets import Buckets
from tcdp_audit_plugins.remedies._shared.recoding import is_ranged, recode
from tcdp_audit_plugins.remedies.bucketization.choice import choose
from tcdp_audit_plugins.remedies.bucketization.composition import Composition, compose
from tcdp_audit_plugins.remedies.bucketization.goal import BucketGoal
from tcdp_audit_plugins.remedies.bucketization.parameters import BucketizationParameters, Released
from tcdp_audit_plugins.remedies.bucketization.refusal import refusal

Integers = NDArray[np.int64]


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

    Args:
        classes: class number of each record, from 0 to count - 1.
        count: how many classes there are.
        buckets: the buckets of the records.

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
