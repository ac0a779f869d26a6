"""What can be taken out of a part: the records under a node of one quasi-identifier, or on one side of a cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, HierarchyAxis
from tcdp_audit_plugins.remedies.mondrian.place_runs import Indices, Integers, PlaceRanges

CUTS = 24  # cuts of an ordered quasi-identifier that are tried, at even shares of a part's records
NODES = 256  # nodes of a hierarchy that are tried, those with most records
SPARSE = 4  # with at most so many places for each record, marking them is quicker than sorting
FEW = 256  # places up to which records are counted at each, and not only at the ends that are asked about


@dataclass(frozen=True)
class Nodes:
    """Ranges of places of one axis that some records of a part lie in, and others do not.

    Args:
        first: the first place of each that is taken. Shape (nodes,).
        last: the last one, likewise.
        counts: the records of each, by stratum. Shape (nodes, strata).
        saving: how much of the attribute's penalty each record saves that is taken out, likewise.
        rest: how much each other record saves where all of these are taken out, likewise.
    """

    first: Integers
    last: Integers
    counts: Integers
    saving: Floats
    rest: Floats


def ranges_of(axis: Axis) -> Integers:
    """First and last place of each node of a hierarchy, leaves among them; none for an axis that is cut.

    Returns:
        Shape (2, nodes).
    """
    if not isinstance(axis, HierarchyAxis) or not axis.places:
        return np.zeros((2, 0), dtype=np.int64)
    known = np.arange(axis.places)
    ranges = [np.stack([known, known])]
    for nodes in axis.ancestors[:, : axis.places]:
        starts = np.flatnonzero(np.append(True, nodes[1:] != nodes[:-1]))
        ranges.append(np.stack([starts, np.append(starts[1:], axis.places) - 1]))
    return np.unique(np.concatenate(ranges, axis=1), axis=1)


def nodes_of(axis: Axis, ranges: Integers, place: Integers, stratum: Integers, strata: int) -> Nodes:
    """The nodes of an axis in one part.

    Args:
        axis: the quasi-identifier.
        ranges: see `ranges_of`.
        place: the place of each record of the part. Shape (records,).
        stratum: the stratum of each, likewise.
        strata: how many strata there are.

    Cost: a count of the part's records by place, or a sort where few of many places occur, and a count of each stratum
    between any two ends.
    """
    taken, run, size = _runs(place, axis.places + 1)  # no value has a place after all others
    first, last = _cuts(size) if not ranges.shape[1] else _within(ranges, taken, size)
    upto = _counts_upto(np.concatenate([first, last + 1]), run, stratum, strata, len(taken))
    counts = upto[len(first) :] - upto[: len(first)]
    ends = len(taken) - 1
    whole, inside, after = np.split(
        _width(
            axis,
            taken,
            np.concatenate([[0], first, np.where(first == 0, np.minimum(last + 1, ends), 0)]),
            np.concatenate([[ends], last, np.where(last == ends, first - 1, ends)]),
        ),
        [1, 1 + len(first)],
    )
    return Nodes(taken[first], taken[last], counts, whole - inside, whole - after)


def _runs(place: Integers, places: int) -> tuple[Integers, Integers, Integers]:
    """The places that occur, ascending, which of them each record has, and how many records each has."""
    if places > SPARSE * len(place):
        return np.unique(place, return_inverse=True, return_counts=True)
    counts = np.bincount(place, minlength=places)
    taken = np.flatnonzero(counts)
    number = np.zeros(places, dtype=np.int64)
    number[taken] = np.arange(len(taken))
    return taken, number[place], counts[taken]


def _cuts(size: Integers) -> Indices:
    """Both sides of some cuts between the places of a part, as first and last of its places."""
    upto = np.cumsum(size)
    even = np.linspace(0.03, 0.97, CUTS) * upto[-1]
    cut = np.unique(np.searchsorted(upto, even))
    cut = cut[cut < len(size) - 1]
    return np.stack([np.append(0 * cut, cut + 1), np.append(cut, 0 * cut + len(size) - 1)])


def _within(ranges: Integers, taken: Integers, size: Integers) -> Indices:
    """The nodes that have records of a part, but not all, as first and last of its places."""
    first, last = np.searchsorted(taken, ranges[0]), np.searchsorted(taken, ranges[1], "right") - 1
    some = (first <= last) & (last - first < len(taken) - 1)
    ends = np.stack(np.divmod(np.unique(first[some] * len(taken) + last[some]), len(taken)))
    upto = np.append(0, np.cumsum(size))
    most = np.argsort(upto[ends[0]] - upto[ends[1] + 1], kind="stable")[:NODES]
    return ends[:, most]


def _counts_upto(ends: Integers, run: Integers, stratum: Integers, strata: int, runs: int) -> Integers:
    """Records of each stratum before each of some runs. Shape (ends, strata)."""
    if runs <= FEW:
        counts = np.bincount((run + 1) * strata + stratum, minlength=(runs + 1) * strata)
        return np.cumsum(counts.reshape(-1, strata), axis=0)[ends]
    distinct, which = np.unique(ends, return_inverse=True)
    segment = np.searchsorted(distinct, np.arange(runs), "right")
    counts = np.bincount(segment[run] * strata + stratum, minlength=(len(distinct) + 1) * strata)
    return np.cumsum(counts.reshape(-1, strata)[: len(distinct)], axis=0)[which]


def _width(axis: Axis, taken: Integers, first: Integers, last: Integers) -> Floats:
    """Certainty penalty of ranges, given by first and last of a part's places."""
    places = taken.astype(np.int64)
    return axis.width(PlaceRanges(places[first], places[last], (last - first + 1).astype(np.int64)))
