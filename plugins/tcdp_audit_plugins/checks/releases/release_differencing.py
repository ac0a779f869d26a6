"""Release differencing: classes whose counts differ between two releases by only a few records."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts
from tcdp_audit.plugin.check import Check, DisclosureType, Need, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks._shared.sampling import distribution_of
from tcdp_audit_plugins.checks.releases.boxes import overlapping
from tcdp_audit_plugins.checks.releases.classes import Positions, ReleaseClasses, classes_of_releases
from tcdp_audit_plugins.guides import built_in_guide


class DifferencingParameters(Parameters):
    """Parameters of `release_differencing`."""

    k: Annotated[
        int | None, Field(ge=1, description="The least number of records that a difference must be about.")
    ] = None


@dataclass(frozen=True)
class Differences:
    """The finest groups of records that two releases both distinguish."""

    now: Counts  # how many records of this release each has
    before: Counts  # how many of the earlier one

    @property
    def sizes(self) -> Counts:
        """The number of records that each group has more or fewer than before, where it is not as many."""
        apart = np.abs(self.now - self.before)
        return apart[apart > 0]


def differences(now: Counts, before: Counts, pairs: tuple[Positions, Positions]) -> Differences:
    """Classes of two releases that overlap, directly or through others, counted together.

    Cost: O(classes + pairs).

    Example:
        >>> same = np.arange(3)
        >>> differences(np.array([5, 8, 0]), np.array([5, 7, 3]), (same, same)).sizes.tolist()
        [1, 3]
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 - only where tables are measured
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    classes = len(now) + len(before)
    edges = (np.ones(len(pairs[0]), dtype=np.int8), (pairs[0], len(now) + pairs[1]))
    groups, group = connected_components(coo_array(edges, shape=(classes, classes)).tocsr(), directed=False)
    own, theirs = group[: len(now)], group[len(now) :]
    return Differences(
        np.bincount(own, now, groups).astype(np.int64), np.bincount(theirs, before, groups).astype(np.int64)
    )


def release_differencing(view: TableView, parameters: DifferencingParameters) -> TableFigure:
    """The smallest difference, other than none, between the counts of a class in this release and in an earlier one.

    Where one release is coarser, its class is compared with all classes below it; where classes overlap without one
    being below the other, with all that they reach.

    Returns:
        A number of records; infinite where no class differs.

    Raises:
        CheckError: there is no earlier release, or it has nothing in common that could be compared.

    Cost: O(records), and O(overlapping classes) where one is coarser.
    """
    this, *earlier = classes_of_releases(view, counted=True)
    compared = [compared_classes(view, this, one, ("this release", one.table.name)) for one in earlier]
    sizes = np.concatenate([one.sizes for one in compared])
    few = None if parameters.k is None else sizes < parameters.k
    isolated = None if few is None else int(sizes[few].sum())
    groups = sum(len(one.now) for one in compared)
    details: dict[str, Any] = {
        "differing": len(sizes),
        "only_now": sum(int((one.before == 0).sum()) for one in compared),
        "only_before": sum(int((one.now == 0).sum()) for one in compared),
        "gained": sum(int((one.now > one.before).sum()) for one in compared),
        "lost": sum(int((one.now < one.before).sum()) for one in compared),
        "class_pairs": groups,
    }
    return TableFigure(
        value=int(sizes.min()) if len(sizes) else inf,
        records=sum(int(np.maximum(one.now, one.before).sum()) for one in compared),
        failing=isolated,
        classes=(groups, None if few is None else int(few.sum())),
        details=details,
        distribution=distribution_of(sizes, sizes),
    )


def compared_classes(
    view: TableView, one: ReleaseClasses, other: ReleaseClasses, names: tuple[str, str]
) -> Differences:
    """The groups that two releases, which errors call `names`, both distinguish; a suppressed cell is a category.

    Raises:
        CheckError: no class of one overlaps with one of the other, or all of them do, one with the next.
    """
    pairs, (this, earlier) = overlapping(view, one, other, suppressed_is_anything=False), names
    if not len(pairs[0]):
        raise CheckError(
            f"no class of {this} overlaps with one of {earlier}, so no count can be compared; check "
            "that both write their quasi-identifiers alike, or declare hierarchies"
        )
    compared = differences(one.records, other.records, pairs)
    if len(compared.now) == 1 and min(len(one.records), len(other.records)) > 1:
        raise CheckError(
            f"the classes of {this} and of {earlier} overlap from one end to the other, so that only "
            "the totals can be compared; generalise both along one hierarchy"
        )
    return compared


def _values(outcome: Outcome) -> dict[str, Any]:
    """Whether nothing changed, and how many groups one release lacks: many may mean two ways of writing a column."""
    details = outcome.details
    return {
        "unchanged": outcome.observed is None or isinf(outcome.observed),
        "number_apart": int(details["only_now"]) + int(details["only_before"]),
    }


CHECKS: list[Check] = [
    TableCheck(
        name="release_differencing",
        history_reading=lambda _: "linked",
        title="Release differencing",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=DifferencingParameters,
        measure=release_differencing,
        threshold="k",
        comparison=Comparison.AT_LEAST,
        label="smallest difference between the counts of a class in two releases",
        needs={Need.PREVIOUS, Need.ROWS},
        sentences=Sentences(
            passed=(
                "[{unchanged?}No group with the same {known} has {changed}|{differing/classes:group} with the same "
                "{known} {differing:has|have} {changed}, by {observed:{record}} or more].{apart}"
            ),
            failed=(
                "{failing_classes/classes:group} with the same {known} {failing_classes:has|have} {changed}, by "
                "fewer than {threshold:{record}}, which isolates {failing:{record}}; the smallest difference is "
                "{observed:{record}}.{apart}"
            ),
            impact=(
                "An intruder who compares the counts of two releases learns [{unchanged?}of no one who joined or "
                "left: they are the same|from the smallest difference that {person} is [{observed=1?}the only one|one "
                "of {observed}] who came to a group or left it]."
            ),
            parts={
                "changed": "more or fewer {record:plural} than in an earlier release",
                "apart": ("[ {number_apart} of these groups {number_apart:is|are} in one of the releases only.]"),
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "release_differencing.md"),
    )
]
