"""Estimates of how many sample uniques are unique in the population, from the sample alone: Zayatz, log-linear, DIS."""

from __future__ import annotations

from math import fsum

import numpy as np

from tcdp_audit.plugin._internal import Counts, Floats


def zayatz(size: Counts, population: float) -> float:
    """P(population unique | sample unique) by Bayes' rule over the sizes that classes may have.

    The sizes of the population's classes are taken to be distributed as those of the sample's are; a class of i
    records then leaves exactly one of them in a simple random sample of n out of N with the hypergeometric
    probability i C(N-i, n-1) / C(N, n). The figure is (u_1/u) P(1|1) / sum_i (u_i/u) P(1|i).

    Args:
        size: f, the records of each class of the sample, at least one of them 1. Shape (classes,).
        population: N, at least n; need not be whole.

    Returns:
        A probability above 0.

    Cost: O(classes + largest class).

    Source: Zayatz (1991), Estimation of the percent of unique population elements on a microdata file.

    Example:
        >>> zayatz(np.array([1, 1, 2]), 8.0)
        0.6363636363636364
    """
    sizes, classes = np.unique(size, return_counts=True)
    lone = np.exp(_log_chances_of_one(int(sizes[-1]), int(size.sum()), population)[sizes - 1])
    return float(classes[0] / fsum((classes * lone).tolist()))


def _log_chances_of_one(largest: int, records: int, population: float) -> Floats:
    """The logarithm of P(1|i) / P(1|1) for i from 1 to `largest`; from ratios, as binomials of large N lose digits."""
    drawn = np.arange(1, largest, dtype=np.float64)
    left = population - records + 1 - drawn  # none is left once the sample must hold a second record
    with np.errstate(divide="ignore"):
        steps = np.log(np.maximum(left, 0) / (population - drawn))
    return np.asarray(np.log(np.arange(1, largest + 1)) + np.concatenate([[0.0], np.cumsum(steps)]))


def log_linear_uniques(expected: Floats, fraction: float) -> float:
    """P(population unique | sample unique) if classes are Poisson and quasi-identifiers independent.

    With mu the size that a sample unique's class is expected to have in the sample, its class has Poisson((1-p) mu/p)
    further records outside: none of them with probability exp(-(1-p) mu/p). The figure is the mean over sample uniques.

    Args:
        expected: mu of each sample unique, above 0. Shape (sample uniques,), not empty.
        fraction: p, the sampling fraction, above 0 and at most 1.

    Returns:
        A probability.

    Cost: O(sample uniques).

    Source: Skinner, Shlomo (2008), Assessing identification risk in survey microdata using log-linear models, JASA
    103(483), with main effects only.

    Example:
        >>> round(log_linear_uniques(np.array([0.1, 0.1]), 0.5), 6)
        0.904837
    """
    outside = expected * ((1 - fraction) / fraction)
    return fsum(np.exp(-outside).tolist()) / len(expected)


def log_linear_match(expected: Floats, fraction: float) -> float:
    """Sample uniques over the population records that look like them, under the model of `log_linear_uniques`.

    Each sample unique stands for 1 + (1-p) mu/p records of the population.

    Returns:
        A probability above 0.

    Cost: O(sample uniques).

    Source: Skinner, Shlomo (2008); Skinner, Elliot (2002) for the ratio.

    Example:
        >>> log_linear_match(np.array([1.0, 3.0]), 0.5)
        0.3333333333333333
    """
    outside = expected * ((1 - fraction) / fraction)
    return len(expected) / fsum((1 + outside).tolist())


def data_intrusion_simulation(size: Counts, fraction: float) -> float:
    """DIS: the probability that a match to a sample unique is the right person, n_1 p / (n_1 p + 2 (1-p) n_2).

    It estimates theta = #SU / sum of F over sample uniques, not the share of population uniques, and needs no model:
    a pair in the sample becomes a unique with a double in the population whenever one of the two is left out.

    Args:
        size: f of each class, at least one of them 1. Shape (classes,).
        fraction: p, the sampling fraction, above 0 and at most 1.

    Returns:
        A probability above 0.

    Cost: O(classes).

    Source: Skinner, Elliot (2002), A measure of disclosure risk for microdata, JRSS B 64(4).

    Example:
        >>> data_intrusion_simulation(np.array([1, 1, 2]), 0.5)
        0.5
    """
    uniques, pairs = int((size == 1).sum()), int((size == 2).sum())
    return uniques * fraction / (uniques * fraction + 2 * (1 - fraction) * pairs)
