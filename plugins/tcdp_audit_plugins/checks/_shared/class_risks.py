"""The risk of classes whose number in the population is estimated (Benedetti and Franconi)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import fsum

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Counts, Floats, boundaries
from tcdp_audit_plugins.checks._shared.sampling import mean_of_reciprocals

SERIES_BELOW = 0.1  # 1 - p below which the risk of a pair is summed as a series
SERIES_TERMS = 20


def benedetti_franconi(sample: Counts, population: Floats) -> Floats:
    """The posterior mean of 1/F given f records in the sample, F being negative binomial with p = f/F-hat.

    f = 1: p/(1-p) ln(1/p). f = 2: p/(1-p) - (p/(1-p))^2 ln(1/p). f > 2: p / (f - (1-p)). F-hat <= f: 1/f.

    Args:
        sample: f, the records of each class, at least 1. Shape (classes,).
        population: F-hat, the estimated number of records in the population, above 0. Same shape.

    Returns:
        Risks above 0 and at most 1, float64, shape (classes,); accurate also as p nears 1.

    Cost: O(classes).

    Source: Benedetti, Franconi (1998), Statistical and technological solutions for controlled data dissemination;
    Polettini (2003), section 3, for the approximation with f > 2.

    Example:
        >>> benedetti_franconi(np.array([1, 2, 5]), np.array([2.0, 4.0, 5.0])).round(6).tolist()
        [0.693147, 0.306853, 0.2]
    """
    p = np.minimum(sample / population, 1.0)
    q = 1 - p
    risk = p / (sample - q)
    for special, risk_of in ((1, lambda q: (1 - q) * -np.log1p(-q) / q), (2, _risk_of_two)):
        chosen = (sample == special) & (q > 0)
        risk[chosen] = risk_of(q[chosen])
    return np.asarray(np.where(p >= 1, 1 / sample, risk))


def _risk_of_two(q: Floats) -> Floats:
    """The sum of p q^(j-1) / (j (j+1)) over j; in closed form where that does not cancel."""
    odds = (1 - q) / q
    closed = odds + odds**2 * np.log1p(-q)
    series = np.zeros(len(q))
    for j in range(SERIES_TERMS, 0, -1):
        series = series * q + 1 / (j * (j + 1))
    return np.asarray(np.where(q < SERIES_BELOW, (1 - q) * series, closed))


def household_risks(risk: Floats, unit: Counts) -> Floats:
    """1 - product of (1 - r_i) over the records of each unit.

    Args:
        risk: r_i of each record. Shape (records,).
        unit: the code of its unit. Shape (records,).

    Returns:
        One risk for each unit, in ascending order of code; the order of records makes no difference.

    Cost: O(records log records).

    Source: Franconi, Polettini (2004), Individual risk estimation in mu-Argus, section 4.

    Example:
        >>> household_risks(np.array([0.5, 0.25, 0.5]), np.array([0, 1, 0])).round(6).tolist()
        [0.75, 0.25]
    """
    order = np.lexsort((risk, unit))
    with np.errstate(divide="ignore"):
        missed = np.log1p(-risk[order])
    return np.asarray(-np.expm1(np.add.reduceat(missed, boundaries(unit[order]))))


@dataclass(frozen=True)
class ClassRisks:
    """Classes of records, people or households with their risks; those of F <= f are exact fractions 1/f.

    Args:
        records: how many records, or people, of the release are in each class. Shape (classes,).
        sample: f, how many records, people or households each may be taken for. Same shape.
        population: F-hat, how many of these the population has, as estimated. Same shape.
    """

    records: Counts
    sample: Counts
    population: Floats

    @cached_property
    def of_classes(self) -> Floats:
        """The risk of each class. Shape (classes,)."""
        return benedetti_franconi(self.sample, self.population)

    @cached_property
    def certain(self) -> NDArray[np.bool_]:
        """The classes that are in the release as a whole, as a mask. Shape (classes,)."""
        return self.population <= self.sample

    @property
    def highest(self) -> Fraction | float:
        """The highest risk of a class."""
        inexact = float(self.of_classes[~self.certain].max(initial=0))
        if not self.certain.any():
            return inexact
        exact = Fraction(1, int(self.sample[self.certain].min()))
        return exact if exact >= Fraction(inexact) else inexact

    @property
    def expected(self) -> Fraction | float:
        """Sum over records; those that are certain add 1/f, exactly."""
        records, sample = self.records[self.certain], self.sample[self.certain]
        whole = mean_of_reciprocals(records, sample) * int(records.sum()) if len(records) else Fraction(0)
        rest = (self.records * self.of_classes)[~self.certain]
        return fsum([float(whole), *rest.tolist()]) if len(rest) else whole
