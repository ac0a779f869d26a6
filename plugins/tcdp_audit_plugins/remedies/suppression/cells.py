"""Suppression of cells: as few quasi-identifier cells as a search finds, so that every class keeps the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, groupby
from math import comb

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.remedy import Demands, MergedDemands, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.remedies.suppression.enlargement import enlarge, refine
from tcdp_audit_plugins.remedies.suppression.local_suppression import LocalSuppression
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import Integers, Mask, QuasiIdentifierCells

MOST = 4096  # patterns that are tried: every subset of 12 attributes


def suppress_cells(view: RemedyView, demands: Demands, importance: Mapping[str, Fraction]) -> Treatment:
    """Group the records of failing classes, then let passing ones help the rest, then show again what can be shown.

    Args:
        view: the release.
        demands: what every class must keep.
        importance: of attributes, at least 0; 1 where it is not given.

    Raises:
        RemedyError: not even one class of all records keeps the demands, or none but that.
        DominatedError: another remedy, after which the release passes, loses less than what has to be hidden.

    Cost: two sorts of the pending records for each of at most 4,096 patterns, and a few of all records for each
    attribute.
    """
    cells = QuasiIdentifierCells.of(view)
    weights = [importance.get(one.name, Fraction(1)) for one in cells.attributes]
    weight = np.array(weights, dtype=np.float64)
    search = LocalSuppression.begun(cells, demands)
    view.require_least(_hidden_at_least(cells, search.demands))
    passing = search.settled
    if search.pending.any():
        levels = patterns(weights, [one.domain.size for one in cells.attributes])
        search = _cheapest(search, levels, weight, _turns(view))
        _require_something_shown(cells, search)
    return Treatment(columns=dict(cells.columns(search.suppressed)), notes=_notes(cells, search.suppressed, passing))


def _hidden_at_least(cells: QuasiIdentifierCells, demands: Demands) -> int:
    """Cells that have to be hidden: one in each complete record whose class is smaller than any that is allowed.

    Others can only join such a record where it hides a cell itself.
    """
    classes, count = cells.classes()
    least = MergedDemands(demands, classes, count).least_size
    complete = ~np.logical_or.reduce([one.domain.is_uninformative[one.codes] for one in cells.attributes])
    return int(np.count_nonzero(complete & (np.bincount(classes)[classes] < least)))


def _require_something_shown(cells: QuasiIdentifierCells, search: LocalSuppression) -> None:
    left = ~search.suppressed & (cells.codes != cells.hidden)
    if not left.any():
        raise RemedyError(
            "every quasi-identifier cell would be suppressed: the search finds no class but the whole table that keeps "
            "the policy, and such a release cannot be audited; generalise first, so that classes are larger"
        )


def _cheapest(
    begun: LocalSuppression, levels: Sequence[Sequence[Mask]], importance: Floats, turn: Integers
) -> LocalSuppression:
    """The cheapest way to a search with nothing pending and nothing hidden in vain."""
    ways: list[LocalSuppression] = []
    attributes = np.argsort(-importance, kind="stable").tolist()
    for most_first in (True, False):
        grouped = begun.copy()
        grouped.group(levels, most_first=most_first)
        for largest_first in (True, False) if grouped.pending.any() else (True,):
            ways.append(grouped.copy())
            enlarge(ways[-1], levels, importance, largest_first=largest_first)
            refine(ways[-1], attributes, turn)
    return min(ways, key=lambda way: float(importance @ way.cells.changed(way.suppressed).sum(axis=1)))


def _turns(view: RemedyView) -> Integers:
    """A random order of the records that does not depend on the order they stand in, but for equal ones."""
    columns = view.attributes(sorted(name for name in view.policy.attributes if name in view.release.columns))
    turn = np.empty(view.records, dtype=np.int64)
    turn[np.argsort(view.classes(columns)[0], kind="stable")] = view.generator().permutation(view.records)
    return turn


def _notes(cells: QuasiIdentifierCells, suppressed: Mask, passing: Mask) -> dict[str, object]:
    changed = cells.changed(suppressed)
    touched = changed.any(axis=0)
    counts = zip(cells.attributes, changed.sum(axis=1).tolist(), strict=True)
    return {
        "cells": {one.name: count for one, count in counts if count},
        "share": float(changed.mean()),
        "records": int(touched.sum()),
        "enlarged": int((touched & passing).sum()),
        "patterns": len(np.unique(changed[:, touched], axis=1).T),
    }


def patterns(importance: Sequence[Fraction], sizes: Sequence[int]) -> list[list[Mask]]:
    """The subsets of attributes in the order of their total importance, equal ones together.

    Of more than 12 attributes the subsets of few are taken, as long as there are at most 4,096, and then a chain: the
    least important attributes first, of equal ones that with the most values, until all are in it.

    Args:
        importance: of each attribute, at least 0.
        sizes: how many values each attribute has.

    Returns:
        Levels of equal importance, each with one or more masks of shape (attributes,). The last pattern has all.

    Example:
        >>> [[one.tolist() for one in level] for level in patterns([Fraction(1), Fraction(2)], [9, 9])]
        [[[True, False]], [[False, True]], [[True, True]]]
    """
    subsets = {*_small_subsets(len(importance)), *_chain(importance, sizes)}

    def total(subset: tuple[int, ...]) -> Fraction:
        return sum((importance[one] for one in subset), Fraction())

    ranked = sorted(subsets, key=lambda subset: (total(subset), len(subset), subset))
    return [[_mask(subset, len(importance)) for subset in level] for _, level in groupby(ranked, key=total)]


def _small_subsets(attributes: int) -> list[tuple[int, ...]]:
    subsets: list[tuple[int, ...]] = []
    for size in range(1, attributes + 1):
        if len(subsets) + comb(attributes, size) >= MOST:
            break
        subsets += combinations(range(attributes), size)
    return subsets


def _chain(importance: Sequence[Fraction], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    order = sorted(range(len(importance)), key=lambda one: (importance[one], -sizes[one]))
    return [tuple(sorted(order[:length])) for length in range(1, len(order) + 1)]


def _mask(subset: tuple[int, ...], attributes: int) -> Mask:
    mask = np.zeros(attributes, dtype=bool)
    mask[list(subset)] = True
    return mask
