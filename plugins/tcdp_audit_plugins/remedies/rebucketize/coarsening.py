"""Fewer, wider buckets out of an attribute's values: neighbours joined, for every number of buckets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin.engine import Tree
from tcdp_audit.plugin.remedy import Attribute, RemedyError
from tcdp_audit_plugins.remedies._shared.masses import consecutive, pack
from tcdp_audit_plugins.remedies._shared.optimal_runs import least_runs
from tcdp_audit_plugins.remedies._shared.recoding import is_ranged

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST = 256  # different values that are kept; more are joined into so many of near-equal mass first


@dataclass(frozen=True)
class Coarsening:
    """Ways to join the values of an attribute.

    Args:
        values: how many values the attribute has now.
        numbers: how many buckets there can be instead, ascending, fewer than now.
        into: the bucket of each value of the domain under one of these numbers; -1 for one that no record has, and
            for a suppressed one.
    """

    values: int
    numbers: Sequence[int]
    into: Callable[[int], Integers]


def coarsening(attribute: Attribute) -> Coarsening:
    """The ways to join the values of an attribute.

    Neighbours on its scale at the least sum over records of the width that they are released with; else the nodes at
    a level of its hierarchy; else any values, to buckets of near-equal mass.

    Raises:
        RemedyError: its generalised values overlap.

    Cost: O(v^2 log v) for v values on a scale, of which at most 256 are kept apart.
    """
    domain = attribute.domain
    masses = np.where(domain.is_uninformative, 0, np.bincount(attribute.codes, minlength=domain.size + 1))[:-1]
    present = np.flatnonzero(masses)
    if len(present) < 2:
        return Coarsening(len(present), (), lambda _: np.full(len(masses), -1))
    if is_ranged(attribute):
        _require_order(attribute)
        return _on_a_scale(attribute, masses, present)
    if attribute.tree is not None:
        return _by_level(attribute.tree, len(masses), present)
    fewer = range(1, len(present))
    return Coarsening(
        len(present), fewer, lambda number: _among_all(pack(masses[present], number), present, len(masses))
    )


def _among_all(buckets: Integers, present: Integers, size: int) -> Integers:
    """The buckets of some values among all of a domain."""
    of_value = np.full(size, -1)
    of_value[present] = buckets
    return of_value


def _require_order(attribute: Attribute) -> None:
    domain = attribute.domain
    if domain.covers is None:
        return
    known = tuple(cover for code, cover in enumerate(domain.covers) if code not in domain.suppressed)
    if not replace(domain, covers=known).is_ordered:
        raise RemedyError(
            f"generalised values of {attribute.name!r} overlap, so that they have no neighbours; begin with values "
            "that do not"
        )


def _on_a_scale(attribute: Attribute, masses: Integers, present: Integers) -> Coarsening:
    joined = consecutive(masses[present], min(MOST, len(present)))
    starts = np.append(np.flatnonzero(np.diff(joined, prepend=-1)), len(present))
    ends = np.concatenate([[0], np.cumsum(masses[present])])[starts]
    low, high = (end[present] for end in _finite(attribute))
    low, high = low[starts[:-1]], high[starts[1:] - 1]
    if attribute.is_numeric:
        high[:-1] = low[1:]  # numbers are released up to where the next bucket begins
    most = len(starts) - 2
    runs = least_runs(most + 1, most, lambda a, b: (ends[b] - ends[a]) * (high[b - 1] - low[a]))
    fewer = range(1, most + 1)
    return Coarsening(len(present), fewer, lambda number: _among_all(runs.into(number)[joined], present, len(masses)))


def _finite(attribute: Attribute) -> list[Floats]:
    """The lower and upper ends of what the values cover; an infinite one is the last finite one."""
    ends = np.concatenate(attribute.bounds)
    known = ends[np.isfinite(ends)]
    return [end.clip(known.min(), known.max()) if len(known) else np.zeros_like(end) for end in attribute.bounds]


def _by_level(tree: Tree, size: int, present: Integers) -> Coarsening:
    nodes = [np.unique(ancestors[present], return_inverse=True)[1] for ancestors in tree.ancestors]
    lowest = {int(node.max()) + 1: node for node in reversed(nodes)}
    numbers = [number for number in sorted(lowest) if number < len(present)]
    return Coarsening(len(present), numbers, lambda number: _among_all(lowest[number], present, size))
