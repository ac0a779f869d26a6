"""Record linkage by optimal assignment: an intruder who knows that every person is in the release at most once."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Sentences
from tcdp_audit_plugins.checks._shared.known_attributes import (
    LINKED,
    ComparisonParameters,
    comparable,
    finds,
    known_attributes,
)
from tcdp_audit_plugins.checks.record_linkage.distance_record_linkage import table_figures
from tcdp_audit_plugins.checks.record_linkage.standardised import Space, space
from tcdp_audit_plugins.guides import built_in_guide

REPETITIONS = 5
FAVOUR = (
    1e-9  # of the mean squared distance: what a right link is nearer or farther by, so that it decides among optima
)


class AssignmentParameters(ComparisonParameters):
    """Parameters of `assignment_record_linkage`."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of records that may be linked correctly.")
    ] = None
    limit: Annotated[
        int,
        Field(
            ge=2,
            le=20_000,
            description="The most records of a table; time grows with the cube, memory with the square.",
        ),
    ] = 2_000
    seed: Annotated[
        int,
        Field(ge=0, description="Draws the orders in which optimal assignments are sampled, where there are several."),
    ] = 0


def assignment_record_linkage(view: TableView, parameters: AssignmentParameters) -> TableFigure:
    """The expected share of records that an optimal one-to-one assignment links to the right person, at the most.

    The sum of d^2 over all links is least, d as in distance-based linkage. Every record of the smaller table is linked.
    Of several such assignments the one with the most right links counts.

    Returns:
        An exact fraction from 0 to 1 over the matched records.

    Raises:
        CheckError: a table is larger than the limit, or the tables cannot be paired or compared.

    Cost: O(limit^3) time and 8 limit^2 bytes.

    Source: Torra, Privacy models and disclosure risk, 2020; Jonker, Volgenant, Computing 38 (1987).
    """
    pairs = view.pairs(known_attributes(parameters.attributes, view.quasi_identifiers))
    largest = max(pairs.released.records, pairs.original.records)
    if largest > parameters.limit:
        raise CheckError(
            f"an optimal assignment of {largest:,} records is beyond the limit of {parameters.limit:,}; raise `limit`, "
            f"or use distance_record_linkage, which has none"
        )
    both = space(pairs.released, pairs.original, pairs.scales, parameters.weighing)
    released, original = both.released.point[pairs.matched], both.known.point[pairs.partner[pairs.matched]]
    optima = _Optima.of(both, released, original)
    lowest, highest = (optima.share(optima.flow(favour)) for favour in (-FAVOUR, FAVOUR))
    shares = [highest] if lowest == highest else optima.sampled(parameters.seed)
    return TableFigure(
        value=highest,
        records=len(released),
        details={
            "expected_correct": highest * len(released),
            "lowest": lowest,
            "highest": highest,
            "mean": sum(shares, Fraction(0)) / len(shares),
            "orders": len(shares),
            "random_baseline": Fraction(1, largest),
            **table_figures(both, pairs),
        },
    )


@dataclass(frozen=True)
class _Optima:
    """The assignments whose sum of d^2 is least."""

    both: Space  # the points and how many records are at each
    cost: Floats  # d^2 of each released and known point. float64, shape (released points, known points).
    # the share of a link between two points that is right, in the mean over identical records. Same shape.
    right: Floats
    released: NDArray[np.intp]  # the point of each matched released record
    original: NDArray[np.intp]  # the point of its original

    @classmethod
    def of(cls, both: Space, released: NDArray[np.intp], original: NDArray[np.intp]) -> _Optima:
        """The optimal assignments of two tables."""
        shape = len(both.released), len(both.known)
        grid = np.indices(shape).reshape(2, -1)
        pairs = np.bincount(released * shape[1] + original, minlength=grid.shape[1]).reshape(shape)
        right = np.asarray(pairs / (both.released.records[:, None] * both.known.records))
        return cls(both, both.squared_distances(*grid).reshape(shape), right, released, original)

    def share(self, flow: NDArray[np.int64]) -> Fraction:
        """The share of right links of an assignment."""
        return expected_correct(self.both, flow, self.released, self.original) / len(self.released)

    def sampled(self, seed: int) -> list[Fraction]:
        """Shares of optimal assignments in some drawn orders of the records."""
        rng = np.random.default_rng(seed)
        return [self.share(self.flow(0, rng)) for _ in range(REPETITIONS)]

    def flow(self, favour: float, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """The number of records of each released point that go to each known point in one optimal assignment.

        `favour` makes right links nearer, in parts of the mean squared distance. Where right links are favoured, no
        optimal assignment has more of them, since they would be worth more than what float64 loses on sums of
        distances; where they are disfavoured, none has fewer. Assignments whose sums are as near to the least as all
        favours together count as optimal. Records are put in a drawn order, if any, which starts from their order by
        content: rows in another order change nothing.

        Returns:
            int64, shape (released points, known points); rows and columns sum to at most the points' records.

        Cost: O(n^3), memory O(n^2).
        """
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - a slow import that only this needs

        sides = self.both.released, self.both.known
        rows, columns = (np.repeat(np.arange(len(side)), side.records) for side in sides)
        if rng is not None:
            rows, columns = rng.permutation(rows), rng.permutation(columns)
        cost = self.cost - favour * (float(self.cost.mean()) or 1.0) * self.right
        row, column = linear_sum_assignment(cost[np.ix_(rows, columns)])
        flow = np.zeros(cost.shape, dtype=np.int64)
        np.add.at(flow, (rows[row], columns[column]), 1)
        return flow


def expected_correct(
    both: Space, flow: NDArray[np.int64], released: NDArray[np.intp], original: NDArray[np.intp]
) -> Fraction:
    """Correct links in the mean over all assignments of identical records, which cannot be distinguished.

    Of r records on one point, f go to a point with s records; a true pair between them is linked with f / (r s).

    Cost: O(matched records).
    """
    flowing = flow[released, original]
    ways = both.released.records[released] * both.known.records[original]
    terms, times = np.unique(np.stack([flowing, ways]), axis=1, return_counts=True)
    return sum((Fraction(int(f) * int(n), int(w)) for (f, w), n in zip(terms.T, times, strict=True)), Fraction(0))


CHECKS = [
    TableCheck(
        name="assignment_record_linkage",
        title="Record linkage by optimal assignment",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=AssignmentParameters,
        measure=assignment_record_linkage,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        needs={Need.ORIGINAL},
        validate=comparable,
        sentences=Sentences(
            passed=(
                "The best one-to-one assignment by {known} finds the right person for {linked}.[{other_best?} "
                "Several assignments are as good: this one has the most right links, another has {lowest:%}.]"
            ),
            impact=finds("links all records at once"),
            parts={"linked": LINKED},
            values=lambda outcome: {"other_best": outcome.details["lowest"] != outcome.details["highest"]},
        ),
        guide=built_in_guide(__file__, "assignment_record_linkage.md"),
    )
]
