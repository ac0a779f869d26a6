"""Records that are learned from, and others on which it shows what was learned."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import PairedPoints

LEARNED = 1_500  # records at most that a distance is learned from, so that it takes seconds


def learned_from(points: PairedPoints, seed: int) -> PairedPoints:
    """All records where these are few, else some of them, drawn by a seed, among themselves."""
    if points.cells <= LEARNED**2:
        return points
    chosen = np.zeros(points.records, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(points.records)[:LEARNED]] = True
    return points.among_themselves(chosen, strangers=False)


def split(points: PairedPoints, share: Fraction, seed: int) -> tuple[PairedPoints, PairedPoints] | None:
    """Records to learn from, among themselves, and the others beside whoever was not released; None if one is empty."""
    drawn = round(share * points.records)
    if not 0 < drawn < points.records:
        return None
    chosen = np.zeros(points.records, dtype=np.bool_)
    chosen[np.random.default_rng(seed).permutation(points.records)[:drawn]] = True
    return points.among_themselves(chosen, strangers=False), points.among_themselves(~chosen, strangers=True)
