"""Information loss in plain Python, from its definitions: record by record, sharing no code with the auditor.

A cell is None (missing), "*" (suppressed), a number, a `Range`, a text, or a frozenset of texts (a set label).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from math import log2, prod, sqrt
from statistics import mean, stdev
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit import load_policy
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import Codes
from tcdp_audit.core.engines.base import Batch, Column, Engine, recode
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.information_loss.loss import InformationLoss, information_loss
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.session.registry import Plugins

Cell = Any
TREE = {"*": {"warm": ["red", "orange", "yellow"], "cold": ["blue", "green"]}}  # five leaves
LEAVES = {name: {name} for names in TREE["*"].values() for name in names}
BELOW = LEAVES | {name: set(names) for name, names in TREE["*"].items()} | {"*": set(LEAVES)}


def loss_of(
    before: dict[str, list[Any]],
    after: dict[str, list[Any]],
    records_retained: Sequence[int] | None = None,
    expect: Sequence[dict[str, Any]] = ({"sample_uniqueness": {}},),
    policy: Mapping[str, Any] = MappingProxyType({}),
    **attributes: dict[str, Any],
) -> InformationLoss:
    """What the auditor finds; attributes are quasi-identifiers where nothing else is declared.

    `policy` has further keys of it.
    """
    declared = {name: {"role": "quasi_identifier", **attributes.get(name, {})} for name in {**before, **attributes}}
    loaded = load_policy({"version": 1, "attributes": declared, "expect": list(expect), **policy}, plugins())
    positions = (
        np.arange(len(next(iter(after.values()))))
        if records_retained is None
        else np.array(records_retained, dtype=np.intp)
    )
    with open_engine(_table(before), 2**28) as one, open_engine(_table(after), 2**28) as two:
        return information_loss(Release(one, loaded), Release(two, loaded), positions)


def loss_of_lists(
    before: dict[str, list[Cell]],
    after: dict[str, list[Cell]],
    records_retained: Sequence[int] | None = None,
    policy: Mapping[str, Any] = MappingProxyType({}),
    **attributes: dict[str, Any],
) -> InformationLoss:
    """The same without a database."""
    declared = {name: {"role": "quasi_identifier", **attributes.get(name, {})} for name in {**before, **attributes}}
    document = {"version": 1, "attributes": declared, "expect": [{"sample_uniqueness": {}}], **policy}
    loaded = load_policy(document, plugins())
    positions = (
        np.arange(len(next(iter(after.values()))))
        if records_retained is None
        else np.array(records_retained, dtype=np.intp)
    )
    one, two = ({name: written(cells) for name, cells in side.items()} for side in (before, after))
    return information_loss(Release(ListEngine(one), loaded), Release(ListEngine(two), loaded), positions)


class ListEngine(Engine):
    """Columns of text or None, without the time that it takes to open a database."""

    def __init__(self, cells: dict[str, list[str | None]]) -> None:
        self.name = self.uri = "lists"
        self.cells = cells

    @property
    def columns(self) -> Sequence[Column]:
        return [Column(name, "VARCHAR") for name in self.cells]

    @property
    def records(self) -> int:
        return len(next(iter(self.cells.values())))

    def domain(self, attribute: str) -> RawDomain:
        counts = Counter(cell for cell in self.cells[attribute] if cell is not None)
        values = sorted(counts)
        texts = np.array([*values, None], dtype=object)[:-1]
        return RawDomain(
            texts, np.array([counts[one] for one in values], dtype=np.int64), self.cells[attribute].count(None)
        )

    def batches(self, domains: Sequence[Domain]) -> Iterator[Batch]:
        yield {domain.attribute: self._codes(domain) for domain in domains}

    def _codes(self, domain: Domain) -> Codes:
        place = {value: code for code, value in enumerate(self.domain(domain.attribute).values.tolist())}
        raw = [place.get(cell, len(place)) for cell in self.cells[domain.attribute]]
        return recode(np.array(raw, dtype=np.int64), domain)

    def locate(self, attribute: str, values: Any) -> int:
        raise NotImplementedError

    def table(self) -> pa.Table:
        raise NotImplementedError

    def sha256(self) -> str | None:
        return None


plugins = cache(Plugins.load)


def _table(columns: dict[str, list[Any]]) -> pa.Table:
    return pa.table({name: pa.array(cells, None if cells else pa.string()) for name, cells in columns.items()})


@dataclass(frozen=True)
class Range:
    """A closed range of numbers."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"


def written(cells: Sequence[Cell]) -> list[str | None]:
    """Cells as a release has them."""
    return [_written(cell) for cell in cells]


def _written(cell: Cell) -> str | None:
    if isinstance(cell, frozenset):
        return "{" + ", ".join(sorted(cell)) + "}"
    return cell if cell is None else f"{cell:g}" if isinstance(cell, int | float) else str(cell)


def reveals(cell: Cell) -> bool:
    return cell is not None and cell != "*"


def ends(cell: Cell) -> tuple[float, float]:
    return (cell.low, cell.high) if isinstance(cell, Range) else (cell, cell)


def middle(cell: Cell) -> float:
    return sum(ends(cell)) / 2


@dataclass(frozen=True)
class Reference:
    """One attribute before and after.

    Args:
        before: its cells before.
        after: its cells after.
        kept: where each record after stood before.
        kind: "numeric", "nominal" or "hierarchical".
    """

    before: Sequence[Cell]
    after: Sequence[Cell]
    records_retained: Sequence[int]
    kind: str

    @property
    def limits(self) -> tuple[float, float]:
        actual = [end for cell in self.before if reveals(cell) for end in ends(cell)]
        return (min(actual), max(actual)) if actual else (0.0, 0.0)

    def part(self, length: float) -> float:
        low, high = self.limits
        return min(length / (high - low), 1.0) if high > low else float(length > 0)

    def within(self, cell: Cell) -> Cell:
        """The part of a range within the limits."""
        low, high = self.limits
        return Range(*(min(max(end, low), high) for end in ends(cell))) if isinstance(cell, Range) else cell

    def cut(self, cells: Sequence[Cell]) -> list[Cell]:
        return [self.within(cell) for cell in cells]

    def penalty(self, cell: Cell) -> float:
        if not reveals(cell):
            return 1.0
        if self.kind == "numeric":
            low, high = ends(self.within(cell))
            return self.part(high - low)
        if self.kind == "hierarchical":
            return len(BELOW[cell]) / 5 if len(BELOW[cell]) > 1 else 0.0
        plain = {one for one in self.before if reveals(one) and not isinstance(one, frozenset)}
        return len(cell) / len(plain) if isinstance(cell, frozenset) else 0.0

    def certainty_penalty(self) -> float:
        gone = len(self.before) - len(self.records_retained)
        return (sum(self.penalty(cell) for cell in self.after) + gone) / len(self.before)

    def lost(self, old: Cell, new: Cell) -> float:
        if old == new or not (reveals(old) or reveals(new)):
            return 0.0
        if not (reveals(old) and reveals(new)):
            return 1.0
        if self.kind == "numeric":
            (a, b), (c, d) = ends(self.within(old)), ends(self.within(new))
            return self.part(max(0, (d - c) - (b - a)) + max(0, c - a, b - d))
        if self.kind == "hierarchical":
            common = min((len(node) for node in BELOW.values() if BELOW[old] | BELOW[new] <= node), default=5)
            lca = common / 5 if common > 1 else 0.0
            return lca - self.penalty(old) if BELOW[old] <= BELOW[new] else lca
        return self.penalty(new) - self.penalty(old) if self.covered(old) <= self.covered(new) else 1.0

    def cell_loss(self) -> float:
        gone = len(self.before) - len(self.records_retained)
        return (sum(self.lost(self.before[i], new) for i, new in self.pairs()) + gone) / len(self.before)

    def pairs(self) -> list[tuple[int, Cell]]:
        return list(zip(self.records_retained, self.after, strict=True))

    def changed(self) -> int:
        return sum(self.before[position] != cell for position, cell in self.pairs())

    def spread(self, cell: Cell) -> dict[Any, float]:
        """The points that a cell after stands at, with its share of each."""
        known = [one for one in self.before if reveals(one)]
        if self.kind == "numeric":
            low, high = ends(self.within(cell))
            under = {middle(one) for one in known if low <= middle(one) <= high}
            itself: Any = (low + high) / 2
        else:
            under = {one for one in known if not isinstance(one, frozenset) and self.covered(one) <= self.covered(cell)}
            itself = cell
        is_single = not isinstance(cell, Range) and (self.kind == "numeric" or len(self.covered(cell)) == 1)
        if cell in known or is_single or not under:
            return {itself: 1.0}
        return {one: 1 / len(under) for one in under}

    def covered(self, cell: Cell) -> AbstractSet[str]:
        """The values that a nominal cell covers."""
        if self.kind == "hierarchical":
            return BELOW[cell]
        return cell if isinstance(cell, frozenset) else {cell}

    def distance(self) -> float | None:
        old, new = [one for one in self.before if reveals(one)], [one for one in self.after if reveals(one)]
        if not old or not new:
            return None
        surplus: Counter[Any] = Counter()
        for cell in old:
            surplus[middle(cell) if self.kind == "numeric" else cell] += 1 / len(old)
        for cell in new:
            for point, share in self.spread(cell).items():
                surplus[point] -= share / len(new)
        if self.kind != "numeric":
            return sum(map(abs, surplus.values())) / 2
        points = sorted(surplus)
        work = sum(
            abs(sum(surplus[one] for one in points[: place + 1])) * (points[place + 1] - points[place])
            for place in range(len(points) - 1)
        )
        return self.part(work)

    def il1s(self) -> float | None:
        numbers = [middle(one) for one in self.before if reveals(one)]
        moved = [
            abs(middle(self.before[position]) - middle(self.within(cell)))
            for position, cell in self.pairs()
            if reveals(cell) and reveals(self.before[position])
        ]
        if len(set(numbers)) < 2 or not moved:
            return None
        return mean(moved) / (sqrt(2) * stdev(numbers))


def group_of(one: Reference, point: Any) -> Any:
    """The value before that a point counts for, of attributes with at most 20 of them; None for none."""
    known = {middle(cell) if one.kind == "numeric" else cell for cell in one.before if reveals(cell)}
    if one.kind == "numeric":
        return max((value for value in known if value <= point), default=min(known))
    return point if point in known else None


def counted(one: Reference, cell: Cell, *, is_after: bool) -> dict[Any, float]:
    """What a cell counts for: the values before, each with its share."""
    if not reveals(cell):
        return {}
    if not is_after:
        return {middle(cell) if one.kind == "numeric" else cell: 1.0}
    shares: Counter[Any] = Counter()
    for point, share in one.spread(cell).items():
        shares[group_of(one, point)] += share
    return {point: share for point, share in shares.items() if point is not None}


def counting_errors(columns: Sequence[Reference]) -> tuple[list[float], list[float]]:
    """Relative errors of all counts of one value, and of two; of attributes with at most 20 values."""
    columns = [one for one in columns if any(reveals(cell) for cell in one.before)]
    least = max(len(columns[0].before) / 1000, 1) if columns else 1

    def tables(groups: tuple[Reference, ...], *, is_after: bool) -> Counter[Any]:
        actual: Counter[Any] = Counter()
        for place in range(len(groups[0].after if is_after else groups[0].before)):
            cells = [(one, (one.after if is_after else one.before)[place]) for one in groups]
            each = [counted(one, cell, is_after=is_after) for one, cell in cells]
            for key in product(*each):
                actual[key] += prod(shares[point] for shares, point in zip(each, key, strict=True))
        return actual

    def errors(groups: tuple[Reference, ...]) -> list[float]:
        before, after = tables(groups, is_after=False), tables(groups, is_after=True)
        values = [{point for cell in one.before for point in counted(one, cell, is_after=False)} for one in groups]
        return [abs(before[key] - after[key]) / max(before[key], least) for key in product(*values)]

    return [one for column in columns for one in errors((column,))], [
        one for pair in combinations(columns, 2) for one in errors(pair)
    ]


def entropy(values: Sequence[Any]) -> float:
    return -sum(count / len(values) * log2(count / len(values)) for count in Counter(values).values())


def information(one: Sequence[Cell], two: Sequence[Cell], records: int) -> float:
    """Mutual information in the records that have both values, in bits for each of so many records."""
    pairs = [(x, y) for x, y in zip(one, two, strict=True) if reveals(x) and reveals(y)]
    if not pairs:
        return 0.0
    bits = entropy([x for x, _ in pairs]) + entropy([y for _, y in pairs]) - entropy(pairs)
    return bits * len(pairs) / records


def information_retained(one: Reference) -> float | None:
    """What is still told of what an attribute told."""
    places = dict(one.pairs())
    after = [places.get(position) for position in range(len(one.before))]
    before = information(one.before, one.before, len(one.before))
    return information(one.before, after, len(one.before)) / before if before else None


def mean_error(one: Reference) -> float | None:
    numbers = [middle(cell) for cell in one.before if reveals(cell)]
    after = [middle(one.within(cell)) for cell in one.after if reveals(cell)]
    return abs(mean(after) - mean(numbers)) / stdev(numbers) if after and len(set(numbers)) > 1 else None


def correlation(one: Sequence[Cell], two: Sequence[Cell]) -> float | None:
    """Pearson's correlation over the pairs that both tell something."""
    pairs = [(middle(x), middle(y)) for x, y in zip(one, two, strict=True) if reveals(x) and reveals(y)]
    if len({x for x, _ in pairs}) < 2 or len({y for _, y in pairs}) < 2:
        return None
    x_mean, y_mean = mean(x for x, _ in pairs), mean(y for _, y in pairs)
    top = sum((x - x_mean) * (y - y_mean) for x, y in pairs)
    return top / sqrt(sum((x - x_mean) ** 2 for x, _ in pairs) * sum((y - y_mean) ** 2 for _, y in pairs))


def correlation_change(before: Sequence[Sequence[Cell]], after: Sequence[Sequence[Cell]]) -> float | None:
    changes = []
    for one, two in combinations(range(len(before)), 2):
        old = correlation(before[one], before[two])
        if old is not None:
            changes.append(abs(old - (correlation(after[one], after[two]) or 0)))
    return mean(changes) if changes else None


def discernibility(before: Sequence[tuple[Any, ...]], after: Sequence[tuple[Any, ...]]) -> int:
    return sum(after.count(record) for record in after) + len(before) * (len(before) - len(after))
