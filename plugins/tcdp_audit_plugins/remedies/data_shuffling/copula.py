"""Normal scores of ranks, and new scores with the same correlations that are as near to the old ones as is asked."""

from __future__ import annotations

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.remedies._shared.normal import correlations, normal_noise


def scores(values: Floats) -> Floats:
    """The normal score of each value's mean rank, 0 where there is none. Shape and order as given.

    Example:
        >>> scores(np.array([30.0, 10.0, np.nan, 20.0, 20.0])).round(3).tolist()
        [0.842, -0.842, 0.0, 0.0, 0.0]
    """
    from scipy.special import ndtri  # noqa: PLC0415 - takes a while to import

    present = np.isfinite(values)
    _, place, records = np.unique(values[present], return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(records) - (records - 1) / 2
    result = np.zeros(len(values))
    result[present] = ndtri(mean_rank / (present.sum() + 1))[place]
    return result


def new_scores(own: Floats, given: Floats, proximity: float, random: np.random.Generator) -> Floats:
    """Scores drawn anew from their distribution given other attributes.

    y = m + a (x - m) + sqrt(1 - a^2) e, where m = B s is what the given scores tell of x, and e has the covariance that
    is left of x given s. So y has the correlations of x with itself and with s, whatever a is; for a = 0 it tells no
    more of x than s does.

    Args:
        own: x, shape (records, columns).
        given: s, shape (records, others), perhaps none.
        proximity: a, at least 0 and less than 1.
        random: what draws e.

    Cost: O(records x columns^2).

    Source: Muralidhar, Sarathy, Management Science 52(5), 2006, for a = 0. They go by rank correlations r and take
    2 sin(pi r / 6), which is the same for normal variables; correlations of the scores are those of something, always.
    """
    columns = own.shape[1]
    everything = correlations(np.hstack([own, given]))
    among, across, others = (
        everything[:columns, :columns],
        everything[:columns, columns:],
        everything[columns:, columns:],
    )
    regression = across @ np.linalg.pinv(others, hermitian=True) if given.shape[1] else np.zeros((columns, 0))
    left = among - regression @ across.T
    told = _unit(given) @ regression.T
    noise = normal_noise((left + left.T) / 2, len(own), random)
    return np.asarray(told + proximity * (_unit(own) - told) + np.sqrt(1 - proximity**2) * noise)


def _unit(columns: Floats) -> Floats:
    """Columns with mean 0 and variance 1; one that does not vary is 0."""
    centred = columns - columns.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))
