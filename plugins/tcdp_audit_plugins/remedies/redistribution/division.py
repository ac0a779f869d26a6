"""The division of one part: what is taken out of it, so that both sides keep the demands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np

from tcdp_audit.plugin._internal import Floats, rank_within
from tcdp_audit_plugins.remedies.mondrian.axes import Axis
from tcdp_audit_plugins.remedies.mondrian.place_runs import Indices, Integers
from tcdp_audit_plugins.remedies.redistribution.nodes import Nodes, nodes_of, ranges_of
from tcdp_audit_plugins.remedies.redistribution.strata import CountJudge, Mask, Strata

STEPS = 40  # limits on the mix of what is taken that are tried for each node
TRIES = 8  # divisions of a part that records are asked about, where counts were near to the judgement only
BATCH = 256  # divisions whose counts are judged at once, and twice as many each time
CELLS = 2**22  # counts that are held at once
ROOM = 2**17  # numbers of records that are taken that are worked out at once: what a processor has near
REMEMBERED = 2**24  # numbers of nodes and parts that are remembered

Judge = Callable[[Integers, Mask], bool]  # records of a part, and which are taken out: whether both sides are allowed


@dataclass
class _Memory:
    """The nodes of parts that were asked about, until they take too much room."""

    known: dict[bytes, tuple[Indices, Nodes]] = field(default_factory=dict)
    cells: int = 0

    def looked_up(self, part: bytes, nodes: Callable[[], tuple[Indices, Nodes]]) -> tuple[Indices, Nodes]:
        """Those of a part, made where they are not known."""
        if part not in self.known:
            if self.cells > REMEMBERED:
                self.known, self.cells = {}, 0
            self.known[part] = made = nodes()
            self.cells += made[1].counts.size + len(part) // 8
        return self.known[part]


@dataclass(frozen=True)
class Table:
    """Records in an order by content, in which those that are common are taken first.

    Args:
        axes: their quasi-identifiers, in that order of the records.
        weights: how much each of them matters, 1 in all.
        strata: what the demands ask of them, likewise.
    """

    axes: Sequence[Axis]
    weights: Floats
    strata: Strata
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
        """What can be taken out of a part on any axis, with weighted savings; and the axis of each.

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
    """Divisions of a part, those that save most first.

    Args:
        node: the node of each, a position in what `Table.nodes` gives. Shape (options,).
        limit: how many records of a stratum it takes at most, by the stratum's share in the table, likewise.
    """

    node: Indices
    limit: Floats


def divided(table: Table, part: Indices, counts: CountJudge, judge: Judge) -> tuple[Indices, Indices] | None:
    """Divide a part in the allowed way that saves most penalty.

    Args:
        table: the records.
        part: those of the part, ascending.
        counts: the demands on classes by their counts, which decide what is worth asking the records.
        judge: the demands on the records themselves, which decide.

    Returns:
        Both sides, each ascending; None where no division is allowed that saves anything.

    Cost: for each axis a sort of the part's records; the counts of up to `STEPS` divisions for each node are judged
    together, in batches, until one is allowed.
    """
    axis_of, nodes = table.nodes(part)
    for node, taken in islice(_allowed(nodes, table, part, counts), TRIES):
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
        here = slice(start, start + batch)
        taken = _mix(nodes.counts[options.node[here]], options.limit[here], table.strata.shares)
        kept = judge.kept(np.concatenate([taken, total - taken]))
        for one in np.flatnonzero(kept[: len(taken)] & kept[len(taken) :]):
            yield int(options.node[start + one]), taken[one]
        start, batch = start + batch, min(2 * batch, max(CELLS // len(total), 1))


def _options(nodes: Nodes, shares: Floats, records: int, least: int) -> _Options:
    """Every node with every limit that takes another number of records and saves something."""
    size = nodes.counts.sum(axis=1)
    highest = (nodes.counts / shares).max(axis=1, initial=0)
    limits = highest[:, None] * np.linspace(1.0, 0.02, STEPS)
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
    """Which records of a part are taken: of each stratum so many, far from a cut first, then common ones."""
    axis, first, last = node
    place, stratum = table.places[axis][part].astype(np.int64), table.strata.of_record[part]
    inside = np.flatnonzero((place >= first) & (place <= last))
    away = 0 if table.ranges[axis].shape[1] else 1 if first == place.min() else -1
    out = np.zeros(len(part), dtype=bool)
    out[inside] = rank_within(stratum[inside], away * place[inside]) < taken[stratum[inside]]
    return out
