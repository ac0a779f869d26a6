"""The epsilon of differential privacy that the declared noise of published figures gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, nextafter, prod
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin.aggregate import (
    AggregateCheck,
    CellFigure,
    CellsView,
    FailingCell,
    Figures,
    Nodes,
    PublishedTable,
)
from tcdp_audit.plugin.check import Check, DisclosureType, Parameters
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.guides import built_in_guide

Neighbours = Literal["add_remove", "replace"]
MOST_LEAVES = 500  # of a dimension whose gain from consistency is computed


class NoiseEpsilonParameters(Parameters):
    """Parameters of `noise_epsilon`."""

    at_most: Annotated[
        Exact | None, Field(gt=0, description="The largest epsilon of all figures about the same people.")
    ] = None
    neighbours: Annotated[
        Neighbours,
        Field(description="What one person changes: is added or removed, or is replaced by another one."),
    ] = "add_remove"


@dataclass(frozen=True)
class _Share:
    """The part of the epsilon of their people that the figures of one measure add."""

    people: str
    table: str
    measure: str
    epsilon: Fraction | float
    says: str


def noise_epsilon(view: CellsView, parameters: NoiseEpsilonParameters) -> CellFigure:
    """The epsilon of all figures about the same people, those of earlier releases among them.

    Laplace noise of scale b on every cell gives D/b, and geometric noise of ratio a gives D ln(1/a). D is the most by
    which one person changes all cells together: per_person times the cells that contain a leaf, times the largest
    contribution of a row to a sum. The epsilon of a figure without such noise is infinite.

    Returns:
        The largest epsilon of a group of people with the same `about: who`; exact for Laplace noise, and rounded up
        for geometric noise.

    Raises:
        CheckError: no figure has Laplace or geometric noise; or one that has does not say how many rows one person
            can have, or how large they are.

    Cost: O(cells), and O(leaves^3) of each dimension for the gain.

    Source: Dwork, McSherry, Nissim, Smith, Calibrating noise to sensitivity in private data analysis, TCC 2006.
    """
    releases = [view, *view.previous]
    shares = [one for release in releases for table in release.tables.values() for one in _of_table(table, parameters)]
    own = [one for one in shares if one.epsilon < inf]
    if not own:
        raise CheckError("no figure has Laplace or geometric noise; declare it as `noise:`, or leave this demand out")
    by_people = defaultdict[str, list[_Share]](list)
    for one in shares:
        by_people[one.people].append(one)
    totals = {people: _sum([one.epsilon for one in those]) for people, those in by_people.items()}
    worst = max(totals.values())
    demanded = parameters.at_most
    failing = [
        FailingCell(one.table, {}, one.measure, says=one.says)
        for people, total in totals.items()
        if demanded is not None and total > demanded
        for one in sorted(by_people[people], key=lambda each: each.epsilon, reverse=True)
    ]
    gains = [gain for table in view.tables.values() for gain in _gains(table)]
    details = {
        "without_noise": len(shares) - len(own),
        "groups": len(totals),
        "unpublished_cells": sum(_unpublished(table) for table in view.tables.values()),
        "consistency_gain": min(gains) if gains else None,
    }
    return CellFigure(worst, len(shares), failing, {name: one for name, one in details.items() if one is not None})


def _sum(epsilons: list[Fraction | float]) -> Fraction | float:
    """A sum that is exact where all terms are, and otherwise not below the true one."""
    if all(isinstance(one, Fraction) for one in epsilons):
        return sum(epsilons, Fraction(0))
    if inf in epsilons:
        return inf
    return sum((Fraction(one) for one in epsilons), Fraction(0))


def _of_table(table: PublishedTable, parameters: NoiseEpsilonParameters) -> Iterator[_Share]:
    """The epsilon of each measure of a table."""
    people = table.declaration.people
    for name, figures in table.figures.items():
        if not figures.shown.any():
            continue
        measure = figures.measure
        noise = _noise(table, figures)
        if noise is None:
            says = "it has no Laplace or geometric noise, so that no epsilon bounds what it reveals"
            yield _Share(people, table.name, name, inf, says)
            continue
        change = _sensitivity(table, name, measure, parameters.neighbours)
        if noise.scale is not None:
            epsilon: Fraction | float = change / Fraction(noise.scale)
        else:
            epsilon = _rounded_up(change, Fraction(noise.alpha))
        yield _Share(people, table.name, name, epsilon, "its noise is small for what one person can change")


def _rounded_up(change: Fraction, alpha: Fraction) -> Fraction:
    """Change ln(1/alpha) or a little more: it is irrational, and must not be below itself."""
    logarithm = log(alpha.denominator) - log(alpha.numerator)
    error = 4 * (abs(log(alpha.denominator)) + abs(log(alpha.numerator))) * 2.0**-52
    return change * Fraction(nextafter(logarithm + error, inf))


def _sensitivity(table: PublishedTable, name: str, measure: Any, neighbours: Neighbours) -> Fraction:
    """The most by which one person changes all cells of a measure together."""
    if measure.per_person is None:
        what = "people" if measure.counts == "people" else "rows"
        raise CheckError(
            f"{name!r} of table {table.name!r} has noise and no `per_person:`; say in how many of its {what} and "
            "categories one person is counted (1 where each is in one), since without it there is no epsilon"
        )
    levels = [_levels(table, axis) for axis in range(len(table.dimensions))]
    cells = prod(levels)
    moved = cells
    if neighbours == "replace":
        has_grand_total = all(
            one.total is not None and _published(table, axis)[one.total] for axis, one in enumerate(table.dimensions)
        )
        moved = max(cells, 2 * (cells - 1)) if has_grand_total else 2 * cells
    return measure.per_person * moved * _contribution(table, name, measure)


def _contribution(table: PublishedTable, name: str, measure: Any) -> Fraction:
    """The most that one row adds to a cell."""
    if measure.counts is not None:
        return Fraction(1)
    if measure.at_most is None:
        raise CheckError(
            f"{name!r} of table {table.name!r} has noise and no `at_most:`; say the largest value of a row, since "
            "without it one person can change a sum by any amount"
        )
    return max(abs(Fraction(measure.at_most)), abs(Fraction(measure.at_least or 0)))


def _published(table: PublishedTable, axis: int) -> NDArray[np.bool_]:
    """The nodes of a dimension that the table has a row for."""
    nodes = table.dimensions[axis]
    return np.isin(np.arange(len(nodes.labels)), sorted(nodes.occurring))


def _levels(table: PublishedTable, axis: int) -> int:
    """The most published categories of a dimension that one person is in, counted once for each leaf."""
    nodes, published = table.dimensions[axis], _published(table, axis)
    return int(_incidence(nodes)[published].sum(axis=0).max(initial=1))


def _incidence(nodes: Nodes) -> NDArray[np.int64]:
    """Whether each node contains each leaf. Shape (nodes, leaves)."""
    leaves = {int(code): place for place, code in enumerate(nodes.leaves)}
    contains = np.zeros((len(nodes.labels), len(leaves)), np.int64)
    for code, place in leaves.items():
        contains[code, place] = 1
    for _ in nodes.sums:  # a chain of nodes is no longer than there are nodes with children
        before = contains.copy()
        for node, children, _complete in nodes.sums:
            contains[node] |= contains[list(children)].any(axis=0)
        if nodes.total is not None:
            contains[nodes.total] = 1
        if (before == contains).all():
            break
    return contains


def _unpublished(table: PublishedTable) -> int:
    """The cells of published categories that have no figure, although the table has noise."""
    noisy = [one for one in table.figures.values() if _noise(table, one) is not None]
    published = np.ones(table.shape, np.bool_)
    for axis in range(len(table.shape)):
        shape = [-1 if one == axis else 1 for one in range(len(table.shape))]
        published &= _published(table, axis).reshape(shape)
    return sum(int((published.reshape(-1) & ~one.shown).sum()) for one in noisy)


def _noise(table: PublishedTable, figures: Figures) -> Any:
    """The Laplace or geometric noise of a measure; None where it has none. That of a table is of its counts."""
    noise = figures.measure.noise or (table.declaration.noise if figures.measure.counts is not None else None)
    return None if noise is None or noise.kind == "bounded" else noise


def _gains(table: PublishedTable) -> Iterator[float]:
    """The least variance of a leaf after all published figures are made to agree, over the variance of the noise.

    The generalised least-squares estimate has the covariance (A'A)^-1, where A says which leaves a cell adds up. The
    cells are a product of dimensions, and so are A and its inverse.
    """
    for figures in table.figures.values():
        if _noise(table, figures) is None or not _is_whole(table, figures):
            continue
        factors = [_least_variance(one, _published(table, axis)) for axis, one in enumerate(table.dimensions)]
        known = [one for one in factors if one is not None]
        if len(known) == len(factors):
            yield float(prod(known))


def _is_whole(table: PublishedTable, figures: Figures) -> bool:
    """Whether every cell of published categories is shown."""
    remaining = np.ix_(*(np.flatnonzero(_published(table, axis)) for axis in range(len(table.shape))))
    return bool(figures.shown.reshape(table.shape)[remaining].all()) if table.shape else bool(figures.shown.all())


def _least_variance(nodes: Nodes, published: NDArray[np.bool_]) -> float | None:
    """The smallest diagonal entry of (A'A)^-1 of one dimension; None where the leaves do not follow."""
    contains = _incidence(nodes)[published].astype(np.float64)
    if contains.shape[1] > MOST_LEAVES or np.linalg.matrix_rank(contains) < contains.shape[1]:
        return None
    return float(np.linalg.inv(contains.T @ contains).diagonal().min())


def _values(outcome: Any) -> Mapping[str, Any]:
    return {"replace": outcome.parameters.get("neighbours") == "replace"}


CHECKS: list[Check] = [
    AggregateCheck(
        name="noise_epsilon",
        title="Epsilon of published noise",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=NoiseEpsilonParameters,
        measure=noise_epsilon,
        threshold="at_most",
        comparison=Comparison.AT_MOST,
        label="epsilon of all figures about the same people",
        sentences=Sentences(
            passed=(
                "[{infinite?}{without_noise:column} of figures {without_noise:has|have} no Laplace or geometric noise, "
                "so that no epsilon bounds what the release reveals of a person|"
                "[{replace?}Replacing|Adding or removing] one person changes how likely the {cells:published column} "
                "of figures {cells:is|are} by a factor of at most e to the power of {observed}, if the noise is as "
                "declared].[{unpublished_cells>0?} {unpublished_cells:cell} {unpublished_cells:has|have} no figure: "
                "which ones may reveal something that epsilon leaves out.]"
            ),
            values=_values,
        ),
        guide=built_in_guide(__file__, "noise_epsilon.md"),
    ),
]
