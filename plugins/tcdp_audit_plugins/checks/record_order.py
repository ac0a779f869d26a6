"""Record order: whether the place of a record says something about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import erfc, sqrt
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Codes, Floats, numbered
from tcdp_audit.plugin.check import Check, DisclosureType, Parameters, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Outcome, Sentences, count, unit_noun
from tcdp_audit_plugins.guides import built_in_guide

FEW = 20  # records below which an order says nothing
SIGNIFICANT = 1e-6  # of all tests together: each has its part of it
NO_ORDER = (
    "{name}: its records have no order where they are, so nothing is known about that of the file that is published; "
    "audit that file"
)


class RecordOrderParameters(Parameters):
    """Parameters of `record_order`."""

    at_most: Annotated[
        int | None, Field(ge=0, description="The most columns that the order of the records may reveal: 0.")
    ] = None


@dataclass(frozen=True)
class Order:
    """The relation of the order of the records to a column."""

    correlation: float  # Spearman's rank correlation of values with places
    agreeing: float  # the share of neighbours with the same value
    expected: float  # what that share is on average over all orders
    p_value: float  # the smaller one of the two tests, two-sided


def record_order(view: TableView, _: RecordOrderParameters) -> TableFigure:
    """The number of columns that the order of the records reveals, the order of the original among them.

    Of each column: whether its values ascend or descend with the places (rank correlation), and whether equal values
    are next to each other more or less often than in a random order (runs). Both have exact moments over all orders.
    Of the unit and of the household the runs alone, also where their columns are not released: neighbouring records of
    a person, or of a household, are joined by their places.

    Returns:
        A number of columns.

    Raises:
        CheckError: the table has no order, or fewer than 20 records.

    Cost: O(records log values) for each column, one column at a time.

    Source: Wald, Wolfowitz, Annals of Mathematical Statistics 11(2), 1940; Mood, ibid. 11(4), 1940; Spearman 1904.
    """
    if not view.engine.ordered:
        raise CheckError(NO_ORDER.format(name=view.engine.name))
    if view.records < FEW:
        raise CheckError(f"the release has {count(view.records, 'record')}; an order says something from {FEW} on")
    orders = {name: order_of_column(view.coded([name])[0].codes[name]) for name in _columns(view)}
    document = view.policy.document
    paired = "original" in view.companions and (document.rows_aligned or document.key is not None)
    places, details = _places_in_original(view) if paired else (None, {})
    links = _links(view)
    undeclared = {name: one for name, one in links.items() if name not in orders}
    looked_at = len(orders) + (places is not None) + len(undeclared)
    limit = SIGNIFICANT / max(2 * looked_at, 1)
    revealed = [name for name, one in orders.items() if one.p_value < limit]
    as_original = places is not None and places < limit
    joining = [name for name, one in undeclared.items() if one.p_value < limit]
    if links:
        joined_by = next((name for name in links if name in (*revealed, *joining)), next(iter(links)))
        joins = joined_by in (*revealed, *joining)
        details |= {**links[joined_by].as_details(), "joined_by": joined_by, "joins": joins}
    details |= {
        "columns": revealed,
        "as_original": as_original,
        "looked_at": looked_at,
        "correlations": {name: orders[name].correlation for name in revealed},
        "agreeing_neighbours": {name: orders[name].agreeing for name in revealed},
        "expected_neighbours": {name: orders[name].expected for name in revealed},
        "p_values": {name: orders[name].p_value for name in revealed},
    }
    return TableFigure(Fraction(len(revealed) + as_original + len(joining)), view.records, details=details)


def _columns(view: TableView) -> list[str]:
    """The declared columns of the release, except identifiers and the key, which are not published."""
    attributes, key = view.policy.attributes, view.policy.document.key
    released = [one.name for one in view.engine.columns]
    return [
        name for name in released if name in attributes and attributes[name].role is not Role.IDENTIFIER and name != key
    ]


@dataclass(frozen=True)
class Neighbours:
    """Records next to another one of their unit.

    Args:
        observed: the number of pairs of neighbouring records of one unit.
        pairs: the number of all pairs of neighbours, one less than the records.
        expected: how many pairs are of one unit in the mean over all orders, Σ n_i (n_i - 1) / N.
        p_value: of the number of runs, two-sided.
    """

    observed: int
    pairs: int
    expected: Fraction
    p_value: float

    def as_details(self) -> dict[str, Any]:
        """The details of an outcome."""
        return {
            "unit_neighbours": self.observed,
            "neighbours": self.pairs,
            "unit_neighbours_by_chance": self.expected,
        }


def neighbours_of(units: Codes) -> Neighbours | None:
    """The number of records next to one of their unit; None where each unit has one record. O(records).

    Args:
        units: the code of each record's unit, those without one together. Shape (records,).

    Example:
        >>> one = neighbours_of(np.array([0, 0, 0, 1, 1, 2]))
        >>> one.observed, one.pairs, str(one.expected)
        (3, 5, '4/3')
    """
    sizes = np.unique(units, return_counts=True)[1]
    if len(sizes) == len(units):
        return None
    agreeing = int((units[1:] == units[:-1]).sum())
    expected = Fraction(int((sizes * (sizes - 1)).sum()), len(units))
    runs = len(units) - agreeing
    return Neighbours(agreeing, len(units) - 1, expected, _p_value_of_runs(runs, sizes.astype(np.float64)))


def _links(view: TableView) -> dict[str, Neighbours]:
    """The neighbours by unit and by household, of those columns that the audited table has and that join records."""
    document, released = view.policy.document, {one.name for one in view.engine.columns}
    named = [one for one in (document.unit, document.household) if one is not None and one in released]
    neighbours = {name: neighbours_of(view.coded([name])[0].codes[name]) for name in named}
    return {name: one for name, one in neighbours.items() if one is not None}


def order_of_column(codes: Codes) -> Order:
    """The relation of the order of records to one column, a missing value being a value after all others.

    The number of runs R of n records, of which n_v have the value v, has over all orders the mean
    (n (n + 1) - Σ n_v²) / n and the variance (Σ n_v² (Σ n_v² + n (n + 1)) - 2 n Σ n_v³ - n³) / (n² (n - 1)).
    Spearman's correlation has the mean 0 and the variance 1 / (n - 1).

    Example:
        >>> one = order_of_column(np.repeat([0, 1], 50))
        >>> round(one.correlation, 3), round(one.agreeing, 3), round(one.expected, 3), one.p_value < 1e-15
        (0.866, 0.99, 0.495, True)
    """
    values, number = numbered(codes, int(codes.max()) + 1)
    records = len(codes)
    if len(values) < 2:
        return Order(0.0, 1.0, 1.0, 1.0)
    sizes = np.bincount(number).astype(np.float64)
    correlation = _correlation(_middle_ranks(sizes)[number])
    n, runs = float(records), 1 + int((number[1:] != number[:-1]).sum())
    by_rank = _two_sided(correlation * sqrt(n - 1))
    expected = (n - _runs_in_the_mean(sizes)) / (n - 1)
    return Order(correlation, (records - runs) / (records - 1), expected, min(_p_value_of_runs(runs, sizes), by_rank))


def _runs_in_the_mean(sizes: Floats) -> float:
    """The mean number of runs over all orders of records, `sizes` being the number of records with each value."""
    n = float(sizes.sum())
    return (n * (n + 1) - float((sizes**2).sum())) / n


def _p_value_of_runs(runs: int, sizes: Floats) -> float:
    """The probability that a random order has a number of runs as far from the mean."""
    n, squares, cubes = float(sizes.sum()), float((sizes**2).sum()), float((sizes**3).sum())
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - n**3) / (n**2 * (n - 1))
    return _two_sided((runs - _runs_in_the_mean(sizes)) / sqrt(variance)) if variance > 1e-9 else 1.0


def _middle_ranks(sizes: Floats) -> Floats:
    """The mean rank of records with each value."""
    return np.cumsum(sizes) - (sizes - 1) / 2


def _correlation(ranks: Floats) -> float:
    """The correlation of ranks with places."""
    places = np.arange(len(ranks)) - (len(ranks) - 1) / 2
    centred = ranks - ranks.mean()
    return float(centred @ places / sqrt(float(centred @ centred) * float(places @ places)))


def _two_sided(z: float) -> float:
    return erfc(abs(z) / sqrt(2))


def _places_in_original(view: TableView) -> tuple[float, dict[str, Any]]:
    """The p value of places against those in the original, and the share of records that kept their place."""
    places = np.arange(view.records) if view.policy.document.rows_aligned else _by_key(view)
    if len(places) < FEW:
        raise CheckError(
            f"the key finds {count(len(places), 'record')} in the original; {FEW} say something of an order"
        )
    in_place = int((places == np.arange(len(places))).sum())
    correlation = _correlation(np.argsort(np.argsort(places)).astype(np.float64))
    p_value = _two_sided(correlation * sqrt(len(places) - 1))
    return p_value, {"at_original_place": Fraction(in_place, len(places)), "original_correlation": correlation}


def _by_key(view: TableView) -> Codes:
    """The place in the original of each released record that it has."""
    key = view.policy.document.key
    assert key is not None  # noqa: S101 - a policy with an original pairs it by rows or by a key
    released, original = view.coded([key], "original")
    place = np.full(released.domains[key].size + 1, -1, np.int64)
    place[original.codes[key]] = np.arange(original.records)
    positions = place[released.codes[key]]
    return positions[positions >= 0]


def _faults(_: RecordOrderParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    paired = document.key is not None or document.rows_aligned or document.tables is not None
    if document.original is not None and not paired:
        yield "", "which released record came from which original is not declared; add `key:`, or `rows_aligned: true`"


def _values(outcome: Outcome) -> dict[str, str]:
    """The link of neighbours: the policy's unit, or the household."""
    joined_by = outcome.details.get("joined_by")
    return {"noun": unit_noun(outcome) if joined_by == outcome.conventions.get("unit") else "household"}


CHECKS: list[Check] = [
    TableCheck(
        name="record_order",
        title="Order of the records",
        disclosure_type=DisclosureType.IDENTITY_MODEL,
        parameters=RecordOrderParameters,
        measure=record_order,
        label="number of columns that the order of the records reveals",
        worst=lambda figure, _: Fraction(figure.details["looked_at"]),
        validate=_faults,
        sentences=Sentences(
            passed=(
                "[{observed>0?}{order}|The records are in no order that their values or the original would explain "
                "({looked_at:column})][{unit_neighbours?}; {joined_neighbours}]."
            ),
            failed="{order}[{unit_neighbours?}; {joined_neighbours}]; shuffle them before release.",
            impact=("An intruder who knows where in the file {person} must be finds the record or its neighbours."),
            no_impact="The place of a record says nothing about {person}.",
            parts={
                "order": (
                    "[{columns?}The order of the records reveals {columns}[{as_original?}, and their places in the "
                    "original]|[{as_original?}The records are in the order of the original|The order of the records "
                    "joins those of {person}]]"
                ),
                "joined_neighbours": (
                    "{unit_neighbours} of {neighbours:pair} of neighbours {unit_neighbours:is|are} of one {noun}, "
                    "where chance gives {unit_neighbours_by_chance}"
                ),
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "record_order.md"),
    )
]
