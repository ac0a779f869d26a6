"""Supervised record linkage: what an intruder finds who has learned the best distance from the true pairs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import DisclosureType, Need, Pairs, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, Scale
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences, percent, percent_of
from tcdp_audit_plugins.checks._shared.known_attributes import (
    LINKED,
    ComparedAttributes,
    comparable_attributes,
    finds,
    known_attributes,
)
from tcdp_audit_plugins.checks.record_linkage.distance_record_linkage import table_figures
from tcdp_audit_plugins.checks.record_linkage.standardised import space
from tcdp_audit_plugins.checks.record_linkage.supervised.families import (
    FAMILIES,
    BilinearForm,
    Family,
    FamilyName,
    OrderedWeights,
)
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import PairedPoints, learned_from
from tcdp_audit_plugins.checks.record_linkage.supervised.search import Best, Search, most_possible
from tcdp_audit_plugins.guides import built_in_guide

Judged = Literal["worst_case", "held_out"]


class SupervisedLinkageParameters(ComparedAttributes):
    """Parameters of `supervised_record_linkage`."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of records that may be linked correctly.")
    ] = None
    judged: Annotated[
        Judged,
        Field(
            description="Which share is demanded: of records that were learned from, or of those that were held out."
        ),
    ] = "worst_case"
    family: Annotated[FamilyName, Field(description="Which distances the intruder may learn.")] = "weighted_mean"
    solver: Annotated[
        Literal["surrogate", "milp"],
        Field(description="A search that is fast, or one that proves its result where there are few records."),
    ] = "surrogate"
    time_limit: Annotated[
        int,
        Field(
            ge=1,
            le=10**6,
            description="Seconds after which the search ends, half of them for the distance of all records and half "
            "for that of those who are not held out.",
        ),
    ] = 10
    train_share: Annotated[
        Exact, Field(gt=0, lt=1, description="The share of records that are learned from, the others being held out.")
    ] = Fraction(1, 2)
    seed: Annotated[int, Field(ge=0, description="Draws the records that are learned from.")] = 0


def supervised_record_linkage(view: TableView, parameters: SupervisedLinkageParameters) -> TableFigure:
    """The expected share of records that the best distance of a family links, of those that are found.

    The distance is learned from the true pairs, for as many correct links as possible. A true match among t tied
    nearest earns 1/t.

    Returns:
        An exact fraction from 0 to 1.

    Raises:
        CheckError: release and original cannot be paired or compared, no one can be held out and the demand is on
            those, the records are too many for the family, or time ended before the demand could be judged.

    Cost: those of `learned` and `optimum` twice, on 1,500 x 1,500 pairs and in `time_limit` at most; and two searches
    for nearest records.

    Source: Abril, Navarro-Arribas, Torra, Information Fusion 13 (2012).
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 - only where there is a product

    pairs = view.pairs(known_attributes(parameters.attributes, view.quasi_identifiers))
    both = space(pairs.released, pairs.original, pairs.scales, {})
    seekers, matches = both.released.point[pairs.matched], both.known.point[pairs.partner[pairs.matched]]
    points = PairedPoints.of(both, seekers, matches)
    search = Search(
        FAMILIES[parameters.family](points.attributes), parameters.solver, parameters.time_limit, view.memory
    )
    with threadpool_limits(1, "blas"):
        sample = learned_from(points, parameters.seed)
        best, held_out = search.best(sample), search.held_out(points, parameters.train_share, parameters.seed)
        equal = search.correct(points, search.equal)
        whole = sample is points
        worst = best.learned.links.expected if whole else search.correct(points, best.learned.coefficients)
    coefficients = search.equal if equal > worst else best.learned.coefficients
    shares = {
        "worst_case": max(equal, worst) / points.records,
        "equal_weights": equal / points.records,
        "random_baseline": Fraction(1, int(both.known.records.sum())),
        **held_out,
    }
    value, records, baseline = _judged(parameters.judged, shares, points.records)
    if parameters.at_most is not None and value <= parameters.at_most:
        _require_certain(parameters, value, best, _most(best, points, whole=whole), held_out)
    return TableFigure(
        value=value,
        records=records,
        details={
            **shares,
            "expected_correct": value * records,
            "random_baseline": baseline,
            "learned_from": sample.records,
            "most_possible": float(points.most_possible().sum()),
            **best.figures(),
            **_described(search.family, search.family.normalised(coefficients), _names(pairs, both.without_variance)),
            **table_figures(both, pairs),
        },
    )


def _judged(judged: str, shares: dict[str, Any], records: int) -> tuple[Fraction, int, Fraction]:
    """The share that is demanded, of how many records, and what guessing finds of them."""
    if judged == "worst_case":
        return shares["worst_case"], records, shares["random_baseline"]
    if "held_out_learned" not in shares:
        raise CheckError("a single record is matched, so none can be held out; demand the worst case")
    return shares["held_out_learned"], shares["held_out_records"], shares["held_out_baseline"]


def _most(best: Best, points: PairedPoints, *, whole: bool) -> float:
    """The largest share that any distance links; what is proven of a sample says nothing of all records."""
    most = float(most_possible(points))
    return min(most, best.most / points.records) if whole else most


def _require_certain(
    parameters: SupervisedLinkageParameters, value: Fraction, best: Best, most_of_all: float, held_out: dict[str, Any]
) -> None:
    """Insist that a demand is not kept for want of time: the search ended, or no distance can break it."""
    of_all = parameters.judged == "worst_case"
    ended = best.time_ended if of_all else held_out["held_out_time_ended"]
    most = most_of_all if of_all else held_out["held_out_most_possible"]
    allowed = parameters.at_most
    if ended and allowed is not None and allowed < most:
        linked_share, limit = percent(float(value), allowed), percent(float(most), allowed)
        raise CheckError(
            f"the search ended after the {parameters.time_limit:,} seconds of `time_limit`: the best distance so far "
            f"links {linked_share}, no distance links more than {limit}, and whether any links more than "
            f"{percent_of(allowed)} stays open; raise `time_limit`, or name fewer `attributes`"
        )


def _names(pairs: Pairs, without_variance: Sequence[str]) -> list[str]:
    """The compared attributes as points have them: numbers and ranks, then nominal ones."""
    used = [name for name in sorted(pairs.scales) if name not in without_variance]
    return sorted(used, key=lambda name: pairs.scales[name] is Scale.NOMINAL)


def _described(family: Family, coefficients: Floats, names: Sequence[str]) -> dict[str, Any]:
    """The distance in words of the field: `weights` by attributes, or by ranks, the largest difference first."""
    rounded = [float(f"{one:.6g}") for one in coefficients]
    if isinstance(family, OrderedWeights):
        return {"weights": rounded}
    weights = {" & ".join(names[k] for k in one): value for one, value in zip(family.names, rounded, strict=True)}
    if not isinstance(family, BilinearForm):
        return {"weights": weights}
    least = np.linalg.eigvalsh(family.matrix(coefficients))[0]
    return {"weights": weights, "positive_semidefinite": bool(least >= -1e-9)}


def _values(outcome: Outcome) -> dict[str, bool]:
    """Whether time ended the search."""
    held_out = outcome.parameters["judged"] == "held_out"
    return {"ended_early": bool(outcome.details["held_out_time_ended" if held_out else "time_ended"])}


CHECKS = [
    TableCheck(
        name="supervised_record_linkage",
        title="Supervised record linkage",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=SupervisedLinkageParameters,
        measure=supervised_record_linkage,
        comparison=Comparison.AT_MOST,
        label="share of records linked correctly",
        needs={Need.ORIGINAL},
        validate=comparable_attributes,
        sentences=Sentences(
            passed=(
                "An intruder who knows {known} and has learned [{judged=held_out?}a distance from other people|the "
                "best distance] finds the right person for {linked}, and equal weights find "
                "[{judged=held_out?}{held_out_equal:%}|{equal_weights:%}].[{ended_early?} Time ended the search, so "
                "that this is the best distance so far.]"
            ),
            impact=finds("has learned the best distance"),
            parts={"linked": LINKED},
            values=_values,
        ),
        guide=built_in_guide(__file__, "supervised_record_linkage.md"),
    )
]
