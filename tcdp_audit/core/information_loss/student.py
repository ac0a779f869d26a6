"""Quantiles of Student's t-distribution, without the third of a second that it takes to import scipy."""

from __future__ import annotations

from math import atan, cos, exp, lgamma, log, pi, sqrt, tan
from statistics import NormalDist

import numpy as np

NODES = 32  # of the quadrature: errors are below those of floats
MANY = 10_000  # degrees of freedom above which the first terms of a series are as exact


def t_quantile(probability: float, freedom: int) -> float:
    """The quantile of a probability from a half up.

    With t = sqrt(n) tan(a) the probability between 0 and t is that of the angle a under a density proportional to
    cos(a)^(n - 1), which is integrated by Gauss and Legendre and solved by Newton's method. It is concave, so that
    steps from below do not overshoot.

    Args:
        probability: from 0.5 to less than 1.
        freedom: degrees of freedom n, at least 1.

    Source: for many degrees of freedom Abramowitz, Stegun, Handbook of Mathematical Functions, 1964, 26.7.5.

    Example:
        >>> round(t_quantile(0.975, 1), 6), round(t_quantile(0.975, 10), 6)
        (12.706205, 2.228139)
    """
    z = NormalDist().inv_cdf(probability)
    if freedom > MANY:
        return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    height = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    points, weights = np.polynomial.legendre.leggauss(NODES)
    angle = atan(z / sqrt(freedom))
    for _ in range(50):
        within = height * angle / 2 * float(weights @ np.cos(angle * (points + 1) / 2) ** (freedom - 1))
        step = (probability - 0.5 - within) / (height * exp((freedom - 1) * log(cos(angle))))
        angle += step
        if abs(step) < 1e-15 * angle:
            break
    return sqrt(freedom) * tan(angle)
