"""Membership inference: whether the distance to the nearest released record reveals who was in the data."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Check, DisclosureType, Limit, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import Comparison, Outcome, Sentences
from tcdp_audit_plugins.checks._shared.control_comparison import Attack, Rate, require_no_better
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.control.risk import ControlParameters, Ranking, measurable
from tcdp_audit_plugins.checks.control.tables import Gower, Places, Points
from tcdp_audit_plugins.guides import built_in_guide

RARELY_WRONG = Fraction(1, 100)
RATE = "upper end of the share of members found while 1 in 100 others is taken for one"


class MembershipParameters(ControlParameters):
    """Parameters of `membership_inference`."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest area under the curve; 1/2 is a coin.")
    ] = None
    true_positive_rate: Annotated[
        Exact | None,
        Field(ge=0, le=1, description="The largest share of members found by who is wrong about 1 in 100 others."),
    ] = None
    calibrated: Annotated[
        bool,
        Field(
            description="Whether distances to the release are divided by those to the nearest other in the hold-out."
        ),
    ] = False


def membership_inference(view: TableView, parameters: MembershipParameters) -> TableFigure:
    """The strength of the distance to the nearest released record at distinguishing originals from the hold-out.

    Returns:
        The upper end of the interval of the area under the curve: the probability that a random original record is
        nearer to the release than a random one of the hold-out, ties counting 1/2.

    Raises:
        CheckError: there is no hold-out, or nothing can be compared.

    Cost: O(records x released records x attributes) in blocks for original and hold-out; as much for `calibrated`.

    Source: van Breugel et al. (2023) for the calibrated one.
    """
    places = Places.of_both(view, parameters.attributes)
    original, control = places.targets
    scores = [_scores(places, one, control, calibrated=parameters.calibrated) for one in places.targets]
    ranking = Ranking.of((scores[0], original.records), (scores[1], control.records))
    records, strangers = int(original.records.sum()), int(control.records.sum())
    low, high = _interval(ranking.area, records, strangers, parameters.confidence)
    enough = strangers >= 1 / RARELY_WRONG
    highest = _highest_rate(ranking, records, strangers, parameters.confidence) if enough else 1.0
    details = {
        "area": ranking.area,
        "low": low,
        "high": high,
        "confidence": parameters.confidence,
        "true_positive_rate": ranking.true_positives(RARELY_WRONG) if enough else None,
        "true_positive_rate_high": highest,
        "original_records": records,
        "holdout_records": strangers,
    }
    return TableFigure(high, view.records, details=details, further={"true_positive_rate": highest})


def _scores(places: Places, seekers: Points, control: Points, *, calibrated: bool) -> Floats:
    """The distance to the nearest released record; calibrated, over that to the nearest other one of the hold-out."""
    near = places.gower.least(seekers, places.released)
    if not calibrated:
        return near
    ordinary = _to_others(places.gower, seekers, control)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(near == ordinary, 1.0, near / ordinary)  # nothing over nothing: as near as to anyone


def _to_others(gower: Gower, seekers: Points, control: Points) -> Floats:
    """The distance to the nearest record of the hold-out; of one of its own records, to the nearest other one."""
    if seekers is not control:
        return gower.least(seekers, control)
    if int(control.records.sum()) < 2:
        raise CheckError("the hold-out has 1 record; a calibrated attack compares each with another one there")

    def least(some: NDArray[np.intp], distances: Floats) -> Floats:
        alone = control.records[some] == 1
        distances[np.flatnonzero(alone), some[alone]] = np.inf
        return np.asarray(distances.min(axis=1))

    return np.concatenate(gower.each_block(control, control, least))


def _interval(area: Fraction, records: int, strangers: int, confidence: Fraction) -> tuple[float, float]:
    """Wilson's interval of the area, for as many attempts as leave no estimate of it a larger variance.

    That variance is at most A (1 - A) (1/m + 1/n), since all that a record can earn lies between 0 and 1.
    """
    attempts = max(1, records * strangers // (records + strangers))
    attack = Attack(area * attempts, attempts)
    require_no_better(attack, Rate.even())
    low, high = attack.rate(confidence).ends
    return low, max(high, float(area))


def _highest_rate(ranking: Ranking, records: int, strangers: int, confidence: Fraction) -> float:
    """The upper end of the share of members found, where both the members and the others are a sample.

    The threshold at which 1 in 100 others of the hold-out are taken for members may take more of all others, or fewer:
    so members are counted at the upper end of that share.
    """
    wrong = Attack(RARELY_WRONG * strangers, strangers).rate(confidence).ends[1]
    share = ranking.true_positives(Fraction(wrong))
    return Attack(share * records, records).rate(confidence).ends[1]


def _values(outcome: Outcome) -> dict[str, bool]:
    """The figures, of the two, that exceed their threshold."""
    details, most = outcome.details, outcome.parameters.get("true_positive_rate")
    return {
        "over": outcome.threshold is not None and float(details["high"]) > outcome.threshold,
        "rate_over": most is not None and float(details["true_positive_rate_high"]) > Fraction(most),
    }


CHECKS: list[Check] = [
    TableCheck(
        name="membership_inference",
        title="Membership inference compared with a control",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=MembershipParameters,
        measure=membership_inference,
        comparison=Comparison.AT_MOST,
        label="upper end of the area under the curve of distinguishing members from others",
        further=(Limit("true_positive_rate", Comparison.AT_MOST, RATE),),
        variant=lambda one: "calibrated" if one.calibrated else "",
        validate=lambda parameters, document: measurable(
            known_attributes(parameters.attributes, quasi_identifiers_of(document)), document
        ),
        needs={Need.HOLDOUT_FOR_DEMANDS},
        sentences=Sentences(
            passed=(
                "By {known}, how near the release comes to a person[{calibrated?}, compared with others,] "
                "distinguishes the people of the original from those of the hold-out with an area under the curve "
                "of {area}, at most {observed} with {details.confidence:%} confidence[{over?}, where at most "
                "{threshold} is allowed]; a coin has 0.5.{found_rarely_wrong}"
            ),
            impact=(
                "Shown {person} of the original next to one who had no part in it, an intruder who takes the one "
                "nearer to the release is right with {area:chance}; a coin is right with 1 in 2."
            ),
            parts={
                "found_rarely_wrong": (
                    "[{details.true_positive_rate?} Wrong about 1 in 100 others, the intruder finds "
                    "{details.true_positive_rate:%} of the people in the original, at most "
                    "{true_positive_rate_high:% against parameters.true_positive_rate}[{rate_over?}, where at most "
                    "{parameters.true_positive_rate:%} is allowed].|[{parameters.true_positive_rate?} The hold-out "
                    "is too small to estimate how many are found with few mistakes, so none is taken to be safe.]]"
                )
            },
            values=_values,
        ),
        guide=built_in_guide(__file__, "membership_inference.md"),
    )
]
