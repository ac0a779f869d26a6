"""Records that are learned from, and others on which it shows what was learned."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import PairedPoints

LEARNED = 1_500  # records at most that a distance is learned from, so that it takes seconds


def learned_from(points: PairedPoints, seed: int) -> PairedPoints:
    """All records where these are few, else some of them, drawn by a seed, among themselves."""
    if points.cells <= LEARNED**2:
        return points
    return points.among_themselves(_drawn(points, LEARNED, seed), strangers=False)


def split(points: PairedPoints, share: Fraction, seed: int) -> tuple[PairedPoints, PairedPoints] | None:
    """Records to learn from, among themselves, and all others beside whoever was not released; None if one is empty."""
    drawn = min(round(share * points.records), LEARNED)
    if not 0 < drawn < points.records:
        return None
    chosen = _drawn(points, drawn, seed)
    return points.among_themselves(chosen, strangers=False), points.among_themselves(~chosen, strangers=True)


def _drawn(points: PairedPoints, number: int, seed: int) -> NDArray[np.bool_]:
    """Some of the records; they stand in an order of their content, so that the order of rows plays no part."""
    chosen = np.zeros(points.records, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(points.records)[:number]] = True
    return chosen
