"""The population of a release, a table or the share of one that is released; and how often people are attacked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tcdp_audit.plugin._internal import Counts, summarise
from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.engine import CheckError, PopulationClasses
from tcdp_audit.plugin.sentences import Comparison, count


def covering_population(view: TableView) -> PopulationClasses:
    """The population's classes next to the release's, where the release can be a part of it.

    Raises:
        CheckError: no population is given, or a class of the release has more records than the population has there.
            A class that the population lacks is no class without risk: the two are generalised differently.
    """
    classes = view.population
    lacking, short = classes.population == 0, classes.sample > classes.population
    if lacking.any():
        raise CheckError(
            f"the population lacks {count(int(lacking.sum()), 'class')} of the release, with "
            f"{count(int(classes.records[lacking].sum()), 'record')}; generalise it as the release is, or name the "
            "population that the release was drawn from"
        )
    if short.any():
        raise CheckError(
            f"in {count(int(short.sum()), 'class')} the release has more records than the population; name the "
            "population that the release was drawn from"
        )
    return classes


def fraction_of(view: TableView) -> float | None:
    """The sampling fraction: declared, else records over those of the population, else over the sum of weights.

    Raises:
        CheckError: the release would be larger than its population.
    """
    fraction = view.sampling_fraction
    if fraction is None:
        total = view.classes.total_weight
        fraction = None if total is None else view.records / total
    if fraction is not None and fraction > 1:
        raise CheckError(
            "the release has more records than its population; name the population that it was drawn from, "
            "or weights that add up to it"
        )
    return fraction


def mean_of_reciprocals(records: Counts, size: Counts) -> Fraction:
    """The mean over records of 1/size of their class, exact.

    Args:
        records: records of each class. Shape (classes,).
        size: what their risk is one over, at least 1. Same shape.

    Returns:
        The sum of records/size over all records; with sizes equal to records, classes/records.

    Cost: O(classes log classes), and exact additions for each distinct size.

    Example:
        >>> str(mean_of_reciprocals(np.array([1, 9]), np.array([1, 9])))
        '1/5'
    """
    distinct, position = np.unique(size, return_inverse=True)
    records_of_size = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(records_of_size, position, records)
    terms = [Fraction(one, of) for one, of in zip(records_of_size.tolist(), distinct.tolist(), strict=True)]
    return exact_sum(terms) / int(records.sum())


def exact_sum(terms: Iterable[Fraction]) -> Fraction:
    """The sum of fractions, of which there is at least one: added up in pairs, so that large denominators come late."""
    sums = [*terms]
    while len(sums) > 1:
        sums = [sum(sums[start : start + 2], Fraction(0)) for start in range(0, len(sums), 2)]
    return sums[0]


def distribution_of(figures: Counts, records: Counts) -> list[list[float]]:
    """[figure, classes, records] of whole figures of classes, in ascending order."""
    none = np.zeros(len(figures), dtype=bool)
    return summarise(figures.astype(np.float64), records, none, Comparison.AT_LEAST).distribution.rows


TRIED = (  # of a scenario with an attempt or a known fraction: what the figures before it are made of
    "[{attempt<1?} The attack is tried with {attempt:chance}; once it is, the risk is {success.highest:%} at worst and "
    "{success.average:%} on average.]"
    "[{known_fraction<1?} Averages and sums count that the intruder knows as much of {known_fraction:%} of all "
    "{unit:plural}.]"
)


def chances_tried(figures: Mapping[str, Any], document: PolicyDocument) -> dict[str, Any]:
    """Chances of success as chances that an attack is tried and succeeds.

    The highest chance is that of a person whom the intruder knows; averages and sums are over all people, of whom the
    intruder knows a share.

    Args:
        figures: chances by name; those with `highest` in their name are of a single person.
        document: the policy of one scenario.
    """
    attempt, known = document.attempt, document.known_fraction
    if attempt == known == 1:
        return dict(figures)
    return {name: one * (attempt if "highest" in name else attempt * known) for name, one in figures.items()}


def details_of_attempt(document: PolicyDocument, success: Mapping[str, Any]) -> dict[str, Any]:
    """The details of a scenario whose attack is not always tried, or not on everyone; none without."""
    attempt, known = document.attempt, document.known_fraction
    if attempt == known == 1:
        return {}
    return {"attempt": attempt, "known_fraction": known, "success": dict(success)}
