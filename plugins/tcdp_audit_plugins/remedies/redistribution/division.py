"""Division of a part: what can be taken out of it on each quasi-identifier, and the allowed one that saves most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from tcdp_audit.plugin._internal import Floats, checkpoint
from tcdp_audit_plugins.remedies._shared.segments import rank_within
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, HierarchyAxis
from tcdp_audit_plugins.remedies.mondrian.rank_ranges import Indices, Integers, RankRanges
from tcdp_audit_plugins.remedies.redistribution.strata import CountJudge, Mask, Strata

CUTS = 24  # cuts of an ordered quasi-identifier that are tried, at even shares of a part's records
NODES = 256  # nodes of a hierarchy that are tried, those with most records
SPARSE = 4  # with at most so many places for each record, marking them is quicker than sorting
FEW = 256  # places up to which records are counted at each, and not only at the ends that are asked about
STEPS = 40  # limits on the mix of what is taken that are tried for each node
TRIES = 8  # divisions of a part that records are asked about, where counts were near to the judgement only
BATCH = 256  # divisions whose counts are judged at once, and twice as many each time
CELLS = 2**22  # counts that are held at once
ROOM = 2**17  # numbers of records that are taken that are worked out at once: what a processor has near
REMEMBERED = 2**24  # numbers of nodes and parts that are remembered
Judge = Callable[[Integers, Mask], bool]  # records of a part, and which are taken out: whether both sides are allowed


@dataclass(frozen=True)
class Nodes:
    """Ranges of places of one axis that some records of a part lie in, and others do not."""

    first: Integers  # the first place of each that is taken, shape (nodes,)
    last: Integers  # the last one, likewise
    counts: Integers  # the records of each, by stratum, shape (nodes, strata)
    saving: Floats  # how much of the attribute's penalty each record saves that is taken out, likewise
    rest: Floats  # how much each other record saves where all of these are taken out, likewise


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
    """The nodes of an axis in one part. `ranges` are those of `ranges_of`.

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
    # Sums up to an end minus sums up to another give any range in one subtraction. With few places the sums are made at
    # every place. With many, only the ends that are asked about matter: places between two of them are counted as one
    # segment, so that the table of sums has a row for each end and not for each place.
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
    return axis.width(RankRanges(places[first], places[last], (last - first + 1).astype(np.int64)))


@dataclass
class _Memory:
    """The nodes of parts that were asked about, until they take too much room."""

    known: dict[bytes, tuple[Indices, Nodes]] = field(default_factory=dict)
    cells: int = 0

    def looked_up(self, part: bytes, nodes: Callable[[], tuple[Indices, Nodes]]) -> tuple[Indices, Nodes]:
        if part not in self.known:
            if self.cells > REMEMBERED:
                self.known, self.cells = {}, 0
            self.known[part] = made = nodes()
            self.cells += made[1].counts.size + len(part) // 8
        return self.known[part]


@dataclass(frozen=True)
class Table:
    """Records in an order by content, in which those that are common are taken first."""

    axes: Sequence[Axis]  # their quasi-identifiers, in that order of the records
    weights: Floats  # how much each of them matters, 1 in all
    strata: Strata  # what the demands ask of them, likewise
    _memory: _Memory = field(default_factory=_Memory, repr=False, compare=False)

    @cached_property
    def places(self) -> Sequence[Integers]:
        """The place of each record on each axis."""
        return [one.place for one in self.axes]

    @cached_property
    def ranges(self) -> Sequence[Integers]:
        """The nodes of each axis."""
        return [ranges_of(one) for one in self.axes]

    def nodes(self, part: Indices) -> tuple[Indices, Nodes]:
        """The nodes that can be taken out of a part on any axis, with weighted savings; and the axis of each.

        A part that could not be divided is asked about again under the next share of the thresholds, and one schedule
        comes to parts of another, so they are remembered, as far as there is room.
        """
        return self._memory.looked_up(part.tobytes(), lambda: self._nodes(part))

    def _nodes(self, part: Indices) -> tuple[Indices, Nodes]:
        stratum, strata = self.strata.of_record[part], len(self.strata.size)
        every = zip(self.axes, self.ranges, self.places, strict=True)
        nodes = [nodes_of(axis, ranges, place[part], stratum, strata) for axis, ranges, place in every]
        return _joined(nodes, self.weights)


@dataclass(frozen=True)
class _Options:
    """Divisions of a part, those that save most first."""

    node: Indices  # the node of each, a position in what `Table.nodes` gives, shape (options,)
    limit: Floats  # how many records of a stratum it takes at most, by the stratum's share in the table, likewise


def divided(table: Table, part: Indices, counts: CountJudge, judge: Judge) -> tuple[Indices, Indices] | None:
    """Divide a part in the allowed way that saves most penalty.

    `counts` decides which divisions are worth asking the records, and `judge` decides on the records themselves. Return
    both sides, each ascending; None where no division is allowed that saves anything.

    Cost: for each axis a sort of the part's records; the counts of up to `STEPS` divisions for each node are judged
    together, in batches, until one is allowed.
    """
    axis_of, nodes = table.nodes(part)
    # Counts by stratum decide nearly always, and judging them needs no record: thousands of divisions are judged in the
    # time in which the records of one could be. Where strata join several values, counts are near to the judgement
    # only, so the records have the last word; after `TRIES` refusals the part stays whole, which is never wrong.
    for node, taken in islice(_allowed(nodes, table, part, counts), TRIES):
        checkpoint()
        axis = axis_of[node]
        out = _taken(table, part, (axis, int(nodes.first[node]), int(nodes.last[node])), taken)
        if judge(part, out):
            return part[out], part[~out]
    return None


def _joined(every: Sequence[Nodes], weights: Floats) -> tuple[Indices, Nodes]:
    """The nodes of all axes as one, with weighted savings; and the axis of each."""
    axis = np.repeat(np.arange(len(every)), [len(one.first) for one in every])
    weight = weights[axis]
    return axis, Nodes(
        np.concatenate([one.first for one in every]).astype(np.int64),
        np.concatenate([one.last for one in every]).astype(np.int64),
        np.concatenate([one.counts for one in every]),
        np.concatenate([one.saving for one in every]) * weight,
        np.concatenate([one.rest for one in every]) * weight,
    )


def _allowed(nodes: Nodes, table: Table, part: Indices, judge: CountJudge) -> Iterator[tuple[int, Integers]]:
    """The divisions that counts allow: the node, and the records of each stratum that are taken; best first."""
    total = np.bincount(table.strata.of_record[part], minlength=len(table.strata.size))
    options = _options(nodes, table.strata.shares, len(part), judge.least)
    start, batch = 0, BATCH
    while start < len(options.node):
        checkpoint()
        here = slice(start, start + batch)
        taken = _mix(nodes.counts[options.node[here]], options.limit[here], table.strata.shares)
        satisfied = judge.satisfied(np.concatenate([taken, total - taken]))
        for one in np.flatnonzero(satisfied[: len(taken)] & satisfied[len(taken) :]):
            yield int(options.node[start + one]), taken[one]
        start, batch = start + batch, min(2 * batch, max(CELLS // len(total), 1))


def _options(nodes: Nodes, shares: Floats, records: int, least: int) -> _Options:
    """Every node with every limit that takes another number of records and saves something."""
    size = nodes.counts.sum(axis=1)
    highest = (nodes.counts / shares).max(axis=1, initial=0)
    limits = highest[:, None] * np.linspace(1.0, 0.02, STEPS)
    # A division takes from a node at most `limit x share` records of each stratum, so that what is taken has the mix of
    # the table, as far as the node has it. `highest` is the limit that takes the whole node; the others go down from it
    # in even steps. All nodes and limits are worked out as one array, a slice of nodes at a time, because the array of
    # nodes, limits and strata would not fit near the processor. Of limits that take the same number only the first
    # stays, and the stable sort keeps equal savings in the order of nodes, so the answer depends on the table only.
    limits[:, 0] *= 1.01  # rounding takes nothing from the whole node
    at_once = max(ROOM // nodes.counts.shape[1] // STEPS, 1)
    slices = [slice(start, start + at_once) for start in range(0, max(len(size), 1), at_once)]
    taken = np.concatenate([_mix(nodes.counts[here, None], limits[here], shares).sum(axis=2) for here in slices])
    whole = taken == size[:, None]
    saved = taken * nodes.saving[:, None] + np.where(whole, (records - taken) * nodes.rest[:, None], 0.0)
    new = np.ones(taken.shape, dtype=bool)
    new[:, 1:] = taken[:, 1:] < taken[:, :-1]
    fits = new & (taken >= least) & (records - taken >= least) & (saved > 0)
    node, step = np.nonzero(fits)
    best = np.argsort(-saved[node, step], kind="stable")
    return _Options(node[best], limits[node, step][best])


def _mix(counts: Integers, limit: Floats, shares: Floats) -> Integers:
    """Records of each stratum: all, but at most its share in the table of some limit. Shape (..., strata)."""
    return np.minimum(counts, np.floor(limit[..., None] * shares + 1e-9).astype(np.int64))


def _taken(table: Table, part: Indices, node: tuple[int, int, int], taken: Integers) -> Mask:
    """Choose the records of a part that are taken: of each stratum so many, far from a cut first, then common ones."""
    axis, first, last = node
    place, stratum = table.places[axis][part].astype(np.int64), table.strata.of_record[part]
    inside = np.flatnonzero((place >= first) & (place <= last))
    away = 0 if table.ranges[axis].shape[1] else 1 if first == place.min() else -1
    out = np.zeros(len(part), dtype=bool)
    out[inside] = rank_within(stratum[inside], away * place[inside]) < taken[stratum[inside]]
    return out
