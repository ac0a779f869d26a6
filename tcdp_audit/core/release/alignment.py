"""A table with a schema of its own, read in terms of a release whose cells may be generalised.

27 in the file of an intruder is in the cell `[20, 40)` of the release, and a postal code in the node above it. Each
value is replaced by the only cell that covers it, so that classes of both tables can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError, DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.words import count
from tcdp_audit.core.encoding.domain import Domain, Strings, texts_of
from tcdp_audit.core.encoding.generalised import Ranges, members
from tcdp_audit.core.encoding.hierarchy import Hierarchy
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.mapped import AlignedEngine
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.generalized_matches import generalized_match
from tcdp_audit.core.release.release import declared_hierarchies


def aligned(release: Engine, table: Engine, policy: Policy) -> Engine:
    """A table whose values are replaced by the cells of a release that cover them: 27 by `[20, 40)`.

    A value that no cell covers stays as it is.

    Raises (when a column is read):
        CheckError: some values overlap with cells of the release without being in exactly one of them.
    """
    declared, conventions = policy.attributes, policy.conventions
    hierarchies, released = declared_hierarchies(policy), {one.name for one in release.columns}

    def cells(name: str, values: NDArray[Any]) -> Strings | None:
        if name not in released or name not in declared:
            return None
        raw = table.domain(name)
        try:
            own, theirs = (domain_of(name, one, declared[name], conventions)[0] for one in (release.domain(name), raw))
        except DataError:  # which the comparison of the column reports
            return None
        over = cells_over(own, theirs, hierarchies.get(name), ordered=declared[name].is_ordered)
        if over is None:
            return None
        _require_clear(over, theirs, table)
        codes = theirs.code_of_raw if raw.is_text else theirs.code_of_raw[~np.isnan(raw.values)]
        texts = texts_of(values).tolist()
        labels = [
            text if code == theirs.size else over.labels[code] for text, code in zip(texts, codes.tolist(), strict=True)
        ]
        return np.array([*labels, ""], dtype=object)[:-1]

    return AlignedEngine(table, cells)


def _require_clear(over: CellsOver, values: Domain, table: Engine) -> None:
    """Raise `CheckError` if some values are not in exactly one cell that they overlap with."""
    records = int(values.counts[over.unclear].sum())
    if records:
        place = "" if table.translation is None else f"{table.translation.where(values.attribute)}: "
        raise CheckError(
            f"{place}column {values.attribute!r} of {table.name}: the values of {count(records, 'record')} overlap "
            "with cells of the release and are not in exactly one of them, so that they cannot be compared; give exact "
            "values there, or generalise the release to cells that do not overlap"
        )


def strange_records(release: Engine, table: Engine, policy: Policy) -> tuple[dict[str, int], dict[str, int]]:
    """The records of a table whose value the release does not have, by nominal attribute with codes.

    A missing or suppressed value is none, and a node of the hierarchy is one that the release may have.

    Returns:
        Those whose value no code names, and those with a code of a value that the release does not have.
    """
    unnamed, absent = dict[str, int](), dict[str, int]()
    if table.translation is None:
        return unnamed, absent
    released, read = {one.name for one in release.columns}, aligned(release, table, policy)
    declared, conventions, hierarchies = policy.attributes, policy.conventions, declared_hierarchies(policy)
    for name, codes in table.translation.codes.items():
        if name not in declared or declared[name].is_ordered:  # a value that is not of an order is an error
            continue
        ours = set(hierarchies[name].lineage if name in hierarchies else ())
        if name in released:
            ours |= {*domain_of(name, release.domain(name), declared[name], conventions)[0].labels}
        theirs = domain_of(name, read.domain(name), declared[name], conventions)[0]
        for code in _telling(theirs).tolist():
            label, records = theirs.labels[code], int(theirs.counts[code])
            if records and label not in ours:
                counted = absent if label in codes else unnamed
                counted[name] = counted.get(name, 0) + records
    return unnamed, absent


@dataclass(frozen=True)
class CellsOver:
    """The cells of a release that cover the values of another table.

    Args:
        labels: for each value of the other table the label of the only cell that covers it, or its own.
        unclear: for each value whether it overlaps with a cell of the release and is not in exactly one. Shape
            (values,).
    """

    labels: Sequence[str]
    unclear: NDArray[np.bool_]


def cells_over(released: Domain, other: Domain, hierarchy: Hierarchy | None, *, ordered: bool) -> CellsOver | None:
    """The cells of a possibly generalised release that cover the values of another table.

    Args:
        released: the attribute's values in the release.
        other: its values in the other table.
        hierarchy: its hierarchy, if one is declared.
        ordered: whether its values are numbers, or ranks of a declared order.

    Returns:
        The cells; None where neither table has a cell that covers more than one value.

    Raises:
        CheckError: numbers cannot be compared exactly.

    Cost: O(cells of either table that cover several values x values of the other one).
    """
    own, theirs = (
        [code for code in _telling(one).tolist() if _is_wide(one, code, hierarchy, ordered=ordered)]
        for one in (released, other)
    )
    if not own and not theirs:
        return None
    values, code_of = _telling(other), {label: code for code, label in enumerate(released.labels)}
    cell = np.array([code_of.get(other.labels[code], -1) for code in values.tolist()], dtype=np.int64)
    covering = (cell >= 0).astype(np.int64)
    match = generalized_match(released, other, hierarchy, ordered=ordered)
    for code in own:
        covers = match.matches(np.full(len(values), code), values) & (cell != code)
        covering += covers
        cell[covers & (covering == 1)] = code
    labels, unclear = list(other.labels), np.zeros(other.size, dtype=np.bool_)
    for value, code in zip(values.tolist(), cell.tolist(), strict=True):
        labels[value] = labels[value] if code < 0 else released.labels[code]
    unclear[values] = covering > 1
    alone = frozenset(values[covering == 0].tolist()).intersection(theirs)
    unclear[[code for code in alone if _overlaps(other, code, released, hierarchy, ordered=ordered)]] = True
    return CellsOver(labels, unclear)


def _telling(domain: Domain) -> NDArray[np.intp]:
    """The codes of values that say something."""
    return np.flatnonzero(~domain.is_uninformative[:-1])


def _is_wide(domain: Domain, code: int, hierarchy: Hierarchy | None, *, ordered: bool) -> bool:
    """Whether a cell may cover several values."""
    if ordered:
        return domain.covers is not None and domain.covers[code].low != domain.covers[code].high
    label = domain.labels[code]
    above = hierarchy is not None and label in hierarchy.lineage and hierarchy.lineage[label][0] > 0
    return above or members(label, (), unknown=True) is not None


def _overlaps(one: Domain, code: int, other: Domain, hierarchy: Hierarchy | None, *, ordered: bool) -> bool:
    """Whether a cell that covers several values has one in common with a cell of another table."""
    telling = _telling(other)
    if not ordered:
        parts = set(members(one.labels[code], (), unknown=True) or ())
        sets = (members(other.labels[place], (), unknown=True) or () for place in telling.tolist())
        below = generalized_match(one, other, hierarchy, ordered=False).matches(np.full(len(telling), code), telling)
        return bool(below.any()) or any(not parts.isdisjoint(one) for one in sets)
    assert one.covers is not None  # noqa: S101 - a cell of one that has none covers one value
    own = one.covers[code]
    theirs = _ranges(other, telling)
    low, high = np.maximum(theirs.low, own.low), np.minimum(theirs.high, own.high)
    touches = (low == high) & _contains(theirs, low) & np.array([own.contains(end) for end in low.tolist()], bool)
    return bool(((low < high) | touches).any())


def _contains(ranges: Ranges, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each range contains the number at the same position."""
    above = (numbers > ranges.low) | (~ranges.low_open & (numbers == ranges.low))
    below = (numbers < ranges.high) | (~ranges.high_open & (numbers == ranges.high))
    return np.asarray(above & below, dtype=np.bool_)


def _ranges(domain: Domain, codes: NDArray[np.intp]) -> Ranges:
    """Some values as ranges; values of a declared order as their ranks."""
    if domain.covers is not None:
        return Ranges.of([domain.covers[code] for code in codes.tolist()])
    return Ranges.of_numbers(codes if domain.values.dtype == object else domain.values[codes])
