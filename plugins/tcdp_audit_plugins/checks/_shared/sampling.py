"""The population of a release, a table or the share of one that is released; and how often people are attacked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from tcdp_audit.plugin._internal import Counts, Distribution
from tcdp_audit.plugin.check import TableView
from tcdp_audit.plugin.detector import PolicyDocument
from tcdp_audit.plugin.engine import CheckError, PopulationClasses
from tcdp_audit.plugin.sentences import count


def covering_population(view: TableView) -> PopulationClasses:
    """The population's classes next to the release's, where the release can be a part of it.

    Where the population lacks classes of a generalised release, its people are counted by the released cells that
    cover their values: those are who an intruder with the population finds.

    Raises:
        CheckError: no population is given, or a class of the release has more records than the population has there.
            A class that the population lacks is no class without risk: no cell of it says who it may be.

    Cost: that of `view.population`, and of `PointTree.pairs` where people are counted by cells.
    """
    classes = _by_values_or_cells(view)
    lacking, short = classes.population == 0, classes.sample > classes.population
    if lacking.any():
        raise CheckError(
            f"the population lacks {count(int(lacking.sum()), 'class')} of the release, with "
            f"{count(int(classes.records[lacking].sum()), 'record')}; generalise it as the release is, declare the "
            "hierarchies of its cells, or name the population that the release was drawn from"
        )
    if short.any():
        raise CheckError(
            f"in {count(int(short.sum()), 'class')} the release has more records than the population; name the "
            "population that the release was drawn from"
        )
    return classes


def _by_values_or_cells(view: TableView) -> PopulationClasses:
    """The classes of equal cells, or of covered values where not all cells of the release are in the population."""
    try:
        classes = view.population
    except CheckError as error:  # numbers in one table, ranges in the other
        covered = _covered_by_cells(view)
        if covered is None:
            raise error from None
        return covered
    return (_covered_by_cells(view) if (classes.population == 0).any() else None) or classes


def _covered_by_cells(view: TableView) -> PopulationClasses | None:
    """The people whose values each class's cells cover; None where no cell covers more than itself.

    A cell that is missing, and not suppressed, covers no value by itself unless the policy's convention says so.
    """
    from tcdp_audit_plugins.checks._shared.boxes import (  # noqa: PLC0415 - only for a generalised release
        Numbered,
        PointTree,
        among_members,
        geometry,
    )

    names = view.quasi_identifiers
    released, people, covers = view.generalised(names, "population")
    if not any(one.covers_several for one in covers.values()):
        return None
    if not view.wildcard and any(released.domains[name].missing for name in names):
        return None
    shape = geometry(released, people, covers)
    times = np.zeros(shape.known.size, dtype=np.int64)
    np.add.at(times, shape.known.number, people.rows.each)
    of_box, last = np.zeros(shape.released.size, dtype=np.int64), np.zeros(shape.released.size, dtype=np.intp)
    covered = np.zeros(shape.known.size, dtype=bool)
    for box, point in PointTree(shape.places, shape.boxes).pairs():
        fits = among_members(shape.released.record[box], shape.known.record[point], (released, people), covers)
        boxes, points = box[fits], point[fits]
        np.add.at(of_box, boxes, times[points])
        last[boxes], covered[points] = points, True
    classes = Numbered.of([released.codes[name].astype(np.int64) for name in names])
    sample = np.zeros(classes.size, dtype=np.int64)
    np.add.at(sample, classes.number, released.rows.each)
    matching, absent = of_box[shape.released.number[classes.record]], times[~covered]
    total = int(times.sum())
    if int(matching.sum()) + int(absent.sum()) == total:  # no one is in two classes
        return PopulationClasses(sample, matching, absent)
    alone = len(np.unique(last[of_box == 1])) + int((absent == 1).sum())
    return PopulationClasses.overlapping(sample, matching, absent, people=total, uniques=alone)


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
    return Distribution.of(figures.astype(np.float64), records).rows


TRIED = (  # of a scenario with an attempt or a known fraction: what the figures before it are made of
    "[{attempt<1?} The attack is tried with a chance of {attempt:%}; if it is, the highest risk is {success.highest:%} "
    "and the average {success.average:%}.]"
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
