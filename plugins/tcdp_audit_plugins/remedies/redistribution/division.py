"""Division of parts: what can be taken out of each on each quasi-identifier, and the allowed one that saves most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tcdp_audit.plugin._internal import Floats, boundaries, checkpoint, positions_of
from tcdp_audit_plugins.remedies._shared.segments import rank_within, starts_of
from tcdp_audit_plugins.remedies.mondrian.axes import Axis, HierarchyAxis
from tcdp_audit_plugins.remedies.mondrian.rank_ranges import Indices, Integers, RankRanges
from tcdp_audit_plugins.remedies.redistribution.strata import CountJudge, Mask, Strata

CUTS = 24  # cuts of an ordered quasi-identifier that are tried, at even shares of a part's records
NODES = 256  # nodes of a hierarchy that are tried, those with most records
SPARSE = 4  # with at most so many places for each record, marking them is quicker than sorting
STEPS = 40  # limits on the mix of what is taken that are tried for each node
TRIES = 8  # divisions of a part that records are asked about, where counts were near to the judgement only
BATCH = 32  # divisions of each part whose counts are judged at once, and twice as many each time
CELLS = 2**22  # counts that are held at once
ROOM = 2**17  # numbers of records that are taken that are worked out at once: what a processor has near
TOGETHER = 128  # parts that are divided at once
RECORDS = 2**17  # records in them, unless one part has more
Judge = Callable[[Indices, Integers, int], Mask]  # records, the class of each, how many classes: which are allowed


@dataclass(frozen=True)
class Parts:
    """Some parts of a table, one after the other."""

    records: Indices  # positions in the table's order, ascending in each part, shape (records,)
    sizes: Integers  # the number of records of each part, at least 1, shape (parts,)

    @classmethod
    def of(cls, parts: Sequence[Indices]) -> Parts:
        """Join parts, each given by its records."""
        return cls(np.concatenate(parts), np.array([len(one) for one in parts], dtype=np.int64))

    @cached_property
    def starts(self) -> Integers:
        """The records before each part. Shape (parts,)."""
        return starts_of(self.sizes)

    @cached_property
    def of_record(self) -> Integers:
        """The part of each record. Shape (records,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def chosen(self, some: Indices) -> Parts:
        """Some of the parts, in their order."""
        return Parts(self.records[positions_of(self.starts[some], self.sizes[some])], self.sizes[some])


@dataclass(frozen=True)
class Runs:
    """A run are the records of one part at one place of an axis; runs are in the order of parts, then of places."""

    keys: Integers  # part times `radix` plus place, ascending, shape (runs,)
    radix: int  # the number of places
    sizes: Integers  # the number of records of each run, shape (runs,)
    of_record: Integers  # the run of each record, shape (records,)
    parts: Parts  # whose records these are

    @classmethod
    def of(cls, parts: Parts, place: Integers, radix: int) -> Runs:
        """Group the records of parts by their place, which is below `radix`.

        Cost: a count of the records by part and place, or a sort where few of many places occur.
        """
        keys, span = parts.of_record * radix + place, len(parts.sizes) * radix
        if span > SPARSE * len(keys):
            distinct, run, sizes = np.unique(keys, return_inverse=True, return_counts=True)
            return cls(distinct, radix, sizes, run, parts)
        counts = np.bincount(keys, minlength=span)
        distinct = np.flatnonzero(counts)
        number = np.zeros(span, dtype=np.int64)
        number[distinct] = np.arange(len(distinct))
        return cls(distinct, radix, counts[distinct], number[keys], parts)

    @cached_property
    def part(self) -> Integers:
        """The part of each run."""
        return self.keys // self.radix

    @cached_property
    def place(self) -> Integers:
        """The place of each run."""
        return self.keys - self.part * self.radix

    @cached_property
    def heads(self) -> Indices:
        """The first run of each part. Shape (parts,)."""
        return np.searchsorted(self.part, np.arange(len(self.parts.sizes)))

    @cached_property
    def tails(self) -> Indices:
        """The last run of each part. Shape (parts,)."""
        return np.append(self.heads[1:], len(self.keys)) - 1

    def ranges(self, first: Indices, last: Indices) -> RankRanges:
        """Ranges of places, given by the first and the last run of each."""
        return RankRanges(self.place[first], self.place[last], last - first + 1)


@dataclass(frozen=True)
class Nodes:
    """Ranges of places of an axis that some records of a part lie in, and others do not."""

    part: Integers  # the part of each, ascending, shape (nodes,)
    axis: Integers  # its axis, ascending in a part, likewise
    first: Integers  # the first place that is taken, likewise
    last: Integers  # the last one, likewise
    away: Integers  # the records taken first: 1 those of the least places, -1 of the greatest, 0 in their order
    counts: Integers  # the records of each, by stratum, shape (nodes, strata)
    saving: Floats  # how much of the weighted penalty each record saves that is taken out, shape (nodes,)
    rest: Floats  # how much each other record saves where all of these are taken out, likewise

    @classmethod
    def joined(cls, every: Sequence[Nodes]) -> Nodes:
        """The nodes of all axes as one, part by part."""
        whole = cls(*(np.concatenate([getattr(one, name.name) for one in every]) for name in fields(cls)))
        return whole.chosen(np.argsort(whole.part, kind="stable"))

    def chosen(self, some: Indices) -> Nodes:
        """Some of the nodes, in an order."""
        return Nodes(*(getattr(self, name.name)[some] for name in fields(self)))


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


@dataclass(frozen=True)
class Table:
    """Records in an order by content, in which those that are common are taken first."""

    axes: Sequence[Axis]  # their quasi-identifiers, in that order of the records
    weights: Floats  # how much each of them matters, 1 in all
    strata: Strata  # what the demands ask of them, likewise

    @cached_property
    def places(self) -> Sequence[Integers]:
        """The place of each record on each axis."""
        return [one.place.astype(np.int64) for one in self.axes]

    @cached_property
    def ranges(self) -> Sequence[Integers]:
        """The nodes of each axis."""
        return [ranges_of(one) for one in self.axes]

    def nodes(self, parts: Parts) -> Nodes:
        """The nodes that can be taken out of parts on any axis.

        Cost: for each axis a count of the records by place, and one of each stratum between any two ends.
        """
        return Nodes.joined([self._nodes(parts, axis) for axis in range(len(self.axes))])

    def _nodes(self, parts: Parts, number: int) -> Nodes:
        axis, ranges, weight = self.axes[number], self.ranges[number], self.weights[number]
        runs = Runs.of(parts, self.places[number][parts.records], axis.places + 1)  # no value has the last place
        first, last = _within(ranges, runs) if ranges.shape[1] else _cuts(runs)
        part = runs.part[first]
        head, tail = runs.heads[part], runs.tails[part]
        whole = axis.width(runs.ranges(runs.heads, runs.tails))[part]
        inside = axis.width(runs.ranges(first, last))
        start, end = np.where(first == head, np.minimum(last + 1, tail), head), np.where(last == tail, first - 1, tail)
        after = axis.width(runs.ranges(start, end))
        return Nodes(
            part=part,
            axis=np.full(len(part), number),
            first=runs.place[first],
            last=runs.place[last],
            away=np.zeros(len(part), dtype=np.int64) if ranges.shape[1] else np.where(first == head, 1, -1),
            counts=_counts_between(first, last + 1, runs, self.strata.of_record[parts.records], len(self.strata.size)),
            saving=(whole - inside) * weight,
            rest=(whole - after) * weight,
        )


def _cuts(runs: Runs) -> tuple[Indices, Indices]:
    """Both sides of some cuts between the places of each part, as first and last run."""
    shares = np.linspace(0.03, 0.97, CUTS) * runs.parts.sizes[:, None]
    even = np.ceil(shares).astype(np.int64) + runs.parts.starts[:, None]
    cut = np.unique(np.searchsorted(np.cumsum(runs.sizes), even))
    cut = cut[cut < runs.tails[runs.part[cut]]]
    part = runs.part[cut]
    order = np.argsort(np.concatenate([part, part]), kind="stable")
    return np.append(runs.heads[part], cut + 1)[order], np.append(cut, runs.tails[part])[order]


def _within(ranges: Integers, runs: Runs) -> tuple[Indices, Indices]:
    """The nodes that have records of a part, but not all, as first and last run; in each part the largest first."""
    parts = np.arange(len(runs.parts.sizes))[:, None]
    base = parts * runs.radix
    first = np.searchsorted(runs.keys, base + ranges[0])
    last = np.searchsorted(runs.keys, base + ranges[1], "right") - 1
    some = (first <= last) & (last - first < (runs.tails - runs.heads)[:, None])
    first, last = np.divmod(np.unique(first[some] * len(runs.keys) + last[some]), len(runs.keys))
    before = np.append(0, np.cumsum(runs.sizes))
    part = runs.part[first]
    order = np.lexsort((before[first] - before[last + 1], part))
    order = order[rank_within(part[order]) < NODES]
    return first[order], last[order]


def _counts_between(start: Indices, stop: Indices, runs: Runs, stratum: Integers, strata: int) -> Integers:
    """Records of each stratum from one run to before another. Shape (ends, strata)."""
    # Sums up to an end minus sums up to another give any range in one subtraction. Only the ends that are asked about
    # matter: runs between two of them are counted as one segment, so that the table of sums has a row for each end and
    # not for each run.
    is_end = np.zeros(len(runs.keys) + 1, dtype=bool)
    is_end[start] = is_end[stop] = True
    segment = np.cumsum(is_end)
    counts = np.bincount(segment[runs.of_record] * strata + stratum, minlength=(int(segment[-1]) + 1) * strata)
    upto = np.cumsum(counts.reshape(-1, strata), axis=0)
    return np.asarray(upto[segment[stop] - 1] - upto[segment[start] - 1])


@dataclass(frozen=True)
class _Options:
    """Divisions of parts, in each part those that save most first."""

    node: Indices  # the node of each, shape (options,)
    limit: Floats  # how many records of a stratum it takes at most, by the stratum's share in the table, likewise
    starts: Indices  # the first option of each part, and the end. Shape (parts + 1,)


class Division(NamedTuple):
    """The division of a part."""

    out: Mask | None  # which of its records are taken out; None where the part stays whole
    is_decided: bool = True  # whether it stays whole because nothing is allowed, not because records refused `TRIES`


def divide(table: Table, parts: Sequence[Indices], counts: CountJudge, judge: Judge) -> Iterator[Division]:
    """Divide each part in the allowed way that saves most penalty.

    `counts` decides which divisions are worth asking the records, and `judge` decides on the records themselves. Yield
    the division of each part in turn.

    Cost: for each axis a count or a sort of the records; the counts of up to `STEPS` divisions for each node are judged
    together, in batches, until one is allowed. Many parts cost little more calls than one.
    """
    sizes = np.array([len(one) for one in parts], dtype=np.int64)
    group = np.maximum(starts_of(sizes) // RECORDS, np.arange(len(parts)) // TOGETHER)
    ends = [*np.flatnonzero(np.diff(group, prepend=-1)), len(parts)]
    for start, end in pairwise(ends):
        yield from _Division(table, Parts.of(parts[start:end]), counts, judge).taken()


@dataclass(slots=True)
class KnownDivisions:
    """The divisions of parts under some demands on values, for any demand on the size of classes.

    A session keeps them, so that other sizes, such as those of a frontier, need not find them again.
    """

    # Divisions are asked in the order of what they save, and the first that is allowed is taken. A larger least size
    # only forbids more. So what was taken under a smaller one is taken again if both sides are large enough, and a part
    # of which nothing was allowed stays whole. Under a larger least size nothing is known of a smaller one.
    derived: dict[bytes, tuple[tuple[int, int, bytes], ...]] = field(default_factory=dict)  # size, taken, which

    def find(self, part: Indices, least: int) -> Division | None:
        """What is known of a part where classes of at least so many records are allowed."""
        for size, taken, packed in self.derived.get(_digest(part), ()):
            if size <= least and not taken:
                return Division(None)
            if size <= least <= taken <= len(part) - least:
                return Division(np.unpackbits(np.frombuffer(packed, np.uint8), count=len(part)).astype(bool))
        return None

    def keep(self, part: Indices, least: int, division: Division) -> None:
        """Keep what was found out with classes of at least so many records."""
        if division.is_decided:
            out = np.zeros(0, dtype=bool) if division.out is None else division.out
            entry = least, int(out.sum()), np.packbits(out).tobytes()
            digest = _digest(part)
            self.derived[digest] = (*self.derived.get(digest, ()), entry)


def _digest(part: Indices) -> bytes:
    return blake2b(part.tobytes(), digest_size=16).digest()


@dataclass(frozen=True)
class _Division:
    """The division of some parts at once, each by itself."""

    table: Table
    parts: Parts
    counts: CountJudge
    judge: Judge

    @property
    def _strata(self) -> Strata:
        return self.table.strata

    @cached_property
    def nodes(self) -> Nodes:
        return self.table.nodes(self.parts)

    @cached_property
    def totals(self) -> Integers:
        """The records of each part by stratum. Shape (parts, strata)."""
        strata = len(self._strata.size)
        keys = self.parts.of_record * strata + self._strata.of_record[self.parts.records]
        return np.bincount(keys, minlength=len(self.parts.sizes) * strata).reshape(-1, strata)

    @cached_property
    def options(self) -> _Options:
        """Every node with every limit that takes another number of records and saves something."""
        shares, least, size = self._strata.shares, self.counts.least, self.nodes.counts.sum(axis=1)
        large = np.flatnonzero(size >= least)
        nodes, size = self.nodes.chosen(large), size[large]
        records = self.parts.sizes[nodes.part][:, None]
        highest = (nodes.counts / shares).max(axis=1, initial=0)
        limits = highest[:, None] * np.linspace(1.0, 0.02, STEPS)
        # A division takes from a node at most `limit x share` records of each stratum, so that what is taken has the
        # mix of the table, as far as the node has it. `highest` is the limit that takes the whole node; the others go
        # down from it in even steps. All nodes and limits are worked out as one array, a slice of nodes at a time,
        # because the array of nodes, limits and strata would not fit near the processor. Of limits that take the same
        # number only the first stays, and the stable sort keeps equal savings in the order of nodes, so the answer
        # depends on the table only.
        limits[:, 0] *= 1.01  # rounding takes nothing from the whole node
        at_once = max(ROOM // len(shares) // STEPS, 1)
        slices = [slice(start, start + at_once) for start in range(0, max(len(size), 1), at_once)]
        taken = np.concatenate([_size_of_mix(nodes.counts[here], limits[here], shares) for here in slices])
        whole = taken == size[:, None]
        saved = taken * nodes.saving[:, None] + np.where(whole, (records - taken) * nodes.rest[:, None], 0.0)
        new = np.ones(taken.shape, dtype=bool)
        new[:, 1:] = taken[:, 1:] < taken[:, :-1]
        node, step = np.nonzero(new & (taken >= least) & (records - taken >= least) & (saved > 0))
        best = np.lexsort((-saved[node, step], nodes.part[node]))
        node, step = node[best], step[best]
        starts = np.searchsorted(nodes.part[node], np.arange(len(self.parts.sizes) + 1))
        return _Options(large[node], limits[node, step], starts)

    def taken(self) -> list[Division]:
        """Choose the records of each part that are taken out."""
        # Counts by stratum decide nearly always, and judging them needs no record: thousands of divisions are judged in
        # the time in which the records of one could be. Where strata join several values, counts are near to the
        # judgement only, so the records have the last word; after `TRIES` refusals a part stays whole, which is never
        # wrong.
        outs: list[Mask | None] = [None] * len(self.parts.sizes)
        refused, done = np.zeros(len(outs), dtype=np.int64), np.zeros(len(outs), dtype=bool)
        start, end, batch = self.options.starts[:-1].copy(), self.options.starts[1:], BATCH
        while len(open_ := np.flatnonzero(~done & (start < end))):
            checkpoint()
            length = np.minimum(end[open_] - start[open_], batch)
            options = positions_of(start[open_], length)
            start[open_] += length
            batch = min(2 * batch, max(CELLS // len(self._strata.size) // len(open_), 1))
            candidates = options[self._allowed(options)]
            while len(candidates):
                part = self._part_of(candidates)
                best = boundaries(part)
                for number, out in zip(part[best].tolist(), self._on_records(candidates[best]), strict=True):
                    outs[number] = out
                    refused[number] += out is None
                    done[number] = out is not None or refused[number] == TRIES
                candidates = np.delete(candidates, best)
                candidates = candidates[~done[self._part_of(candidates)]]
        return [Division(out, number < TRIES) for out, number in zip(outs, refused.tolist(), strict=True)]

    def _part_of(self, options: Indices) -> Integers:
        return self.nodes.part[self.options.node[options]]

    def _mix_of(self, options: Indices) -> Integers:
        """The records of each stratum that options take. Shape (options, strata)."""
        return _mix(self.nodes.counts[self.options.node[options]], self.options.limit[options], self._strata.shares)

    def _allowed(self, options: Indices) -> Mask:
        """Judge each of some divisions by counts alone."""
        taken = self._mix_of(options)
        allowed = self.counts.satisfied(taken)
        some = np.flatnonzero(allowed)
        allowed[some] = self.counts.satisfied(self.totals[self._part_of(options[some])] - taken[some])
        return allowed

    def _on_records(self, options: Indices) -> Iterator[Mask | None]:
        """The records that divisions of different parts take out; None where the records do not allow it."""
        chosen = self.parts.chosen(self._part_of(options))
        out = _taken(self.table, chosen, self.nodes, self.options.node[options], self._mix_of(options))
        order = np.argsort(chosen.records)
        allowed = self.judge(chosen.records[order], (2 * chosen.of_record + out)[order], 2 * len(options))
        ends = np.append(chosen.starts, len(out))
        for number, sides in enumerate((allowed[::2] & allowed[1::2]).tolist()):
            yield out[ends[number] : ends[number + 1]] if sides else None


def _size_of_mix(counts: Integers, limits: Floats, shares: Floats) -> Integers:
    """The records of `_mix` for each node and each of its limits. Shape (nodes, limits)."""
    mix = limits[..., None] * shares
    mix += 1e-9
    np.minimum(np.floor(mix, out=mix), counts[:, None], out=mix)
    return mix.sum(axis=2).astype(np.int64)  # whole numbers below 2^53, so that their sum is exact


def _mix(counts: Integers, limit: Floats, shares: Floats) -> Integers:
    """Records of each stratum: all, but at most its share in the table of some limit. Shape (..., strata)."""
    return np.minimum(counts, np.floor(limit[..., None] * shares + 1e-9).astype(np.int64))


def _taken(table: Table, parts: Parts, nodes: Nodes, node: Indices, taken: Integers) -> Mask:
    """Choose the records that are taken out of parts, one node of each: far from a cut first, then common ones.

    `taken` has the number for each stratum, shape (parts, strata).
    """
    axis, part = nodes.axis[node], parts.of_record
    place = np.empty(len(part), dtype=np.int64)
    for number in np.unique(axis):
        here = axis[part] == number
        place[here] = table.places[number][parts.records[here]]
    inside = np.flatnonzero((place >= nodes.first[node][part]) & (place <= nodes.last[node][part]))
    group = part[inside] * taken.shape[1] + table.strata.of_record[parts.records[inside]]
    out = np.zeros(len(part), dtype=bool)
    out[inside] = rank_within(group, nodes.away[node][part[inside]] * place[inside]) < taken.ravel()[group]
    return out
