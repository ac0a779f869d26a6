"""Ranks in place of numbers: what moves values about among the records is noise on their ranks, or on normal scores."""

from __future__ import annotations

from dataclasses import replace
from itertools import compress
from typing import Literal

import numpy as np

from tcdp_audit.plugin._internal import Counts, Floats
from tcdp_audit.plugin.check import CheckError, CodedTable, Pairs
from tcdp_audit.plugin.engine import Domain

Scores = Literal["values", "ranks", "normal"]


def scored(pairs: Pairs, scores: Scores) -> Pairs:
    """Both tables with the scores of their values, each by the ranks in its own column; suppressed cells have none.

    Raises:
        CheckError: generalised values overlap, so that they have no ranks.

    Cost: O(records) for each attribute.
    """
    if scores == "values":
        return pairs
    return replace(pairs, released=_scored(pairs.released, scores), original=_scored(pairs.original, scores))


def _scored(table: CodedTable, scores: Scores) -> CodedTable:
    codes, domains = dict(table.codes), dict(table.domains)
    for name, domain in table.domains.items():
        codes[name] = np.where(domain.tells_nothing[codes[name]], domain.size, codes[name])
        counts = np.bincount(codes[name], minlength=domain.size + 1)[:-1]
        _require_order(domain, counts)
        values = mean_ranks(counts) if scores == "ranks" else normal_scores(counts)
        domains[name] = replace(domain, values=values, counts=counts, suppressed=frozenset(), covers=None, rounded={})
    return replace(table, codes=codes, domains=domains)


def _require_order(domain: Domain, counts: Counts) -> None:
    occurring = None if domain.covers is None else tuple(compress(domain.covers, counts > 0))
    if not replace(domain, covers=occurring).is_ordered:
        raise CheckError(
            f"generalised values of {domain.attribute!r} overlap, so that they have no ranks; leave it out"
        )


def mean_ranks(counts: Counts) -> Floats:
    """The mean rank of the records with each value, from 1.

    Example:
        >>> mean_ranks(np.array([1, 2, 1])).tolist()
        [1.0, 2.5, 4.0]
    """
    return np.asarray(np.cumsum(counts) - (counts - 1) / 2)


def normal_scores(counts: Counts) -> Floats:
    """The quantile of the normal distribution at the mean rank by one more than the records.

    Example:
        >>> normal_scores(np.array([1, 2, 1])).round(3).tolist()
        [-0.842, 0.0, 0.842]
    """
    from scipy.special import ndtri  # noqa: PLC0415 - takes a while to import

    return np.asarray(ndtri(mean_ranks(counts) / (counts.sum() + 1)))
