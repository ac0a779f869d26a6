"""Membership inference: whether the distance to the nearest released record reveals who was in the data."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Check, Floats, percent_of
from tcdp_audit.plugin.check import (
    CheckError,
    Comparison,
    DisclosureType,
    Guide,
    Limit,
    TableCheck,
    TableFigure,
    TableView,
)
from tcdp_audit.plugin.detector import Exact, PolicyDocument
from tcdp_audit.plugin.sentences import Outcome, an_intruder, chance_of, decimal, figure, known_columns, percent
from tcdp_audit_plugins.checks._shared.control_comparison import CONTROL, Attack, Rate, require_no_better
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.control.risk import (
    ControlParameters,
    Ranking,
    measurable,
    needs_control,
)
from tcdp_audit_plugins.checks.control.sentences import ABOUT_CONTROL, CUT
from tcdp_audit_plugins.checks.control.tables import Gower, Places, Points
from tcdp_audit_plugins.formulas import formula

RARELY_WRONG = Fraction(1, 100)
RATE = "upper end of the share of members found while 1 in 100 others is taken for one"
CALIBRATED = (
    "van Breugel, Sun, Qian, van der Schaar, Membership inference attacks against synthetic data through overfitting "
    "detection (DOMIAS), AISTATS 2023"
)


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
    """How well the distance to the nearest released record distinguishes originals from the hold-out.

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
    return _ratio(near, _to_others(places.gower, seekers, control)) if calibrated else near


def _ratio(near: Floats, ordinary: Floats) -> Floats:
    """Nothing over nothing is 1: as near as to anyone."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(near == ordinary, 1.0, near / ordinary)


def _to_others(gower: Gower, seekers: Points, control: Points) -> Floats:
    """The distance to the nearest record of the hold-out; of one of its own records, to the nearest other one.

    Raises:
        CheckError: the hold-out has a single record, which has no other.
    """
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

    Raises:
        CheckError: the hold-out does better than chance allows.
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


def _faults(parameters: MembershipParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from needs_control(parameters, document)
    yield from measurable(known_attributes(parameters.attributes, quasi_identifiers_of(document)), document)


def _sentence(outcome: Outcome) -> str:
    details = outcome.details
    sure = percent(float(details["confidence"]))
    high = figure(outcome.observed, outcome.threshold)
    failed = outcome.threshold is not None and float(details["high"]) > outcome.threshold
    limit = f", where at most {decimal(outcome.threshold)} is allowed" if failed else ""
    what = (
        "how near the release comes to somebody, compared with others,"
        if outcome.parameters["calibrated"]
        else ("how near the release comes to somebody")
    )
    told = f"By {known_columns(outcome)}, {what} tells the people of the original from those of the hold-out"
    return (
        f"{told} with an area under the curve of {figure(float(details['area']))}, at most {high} with {sure} "
        f"confidence{limit}; a coin has 0.5.{_found(outcome)}"
    )


def _found(outcome: Outcome) -> str:
    """Whom an intruder finds who is rarely wrong, where the hold-out is large enough to tell."""
    share, most = outcome.details["true_positive_rate"], outcome.parameters.get("true_positive_rate")
    if share is None:
        few = " The hold-out is too small to tell how many are found with few mistakes, so none is taken to be safe."
        return few if most is not None else ""
    allowed, high = None if most is None else Fraction(most), float(outcome.details["true_positive_rate_high"])
    limit = f", where at most {percent_of(allowed)} is allowed" if allowed is not None and high > allowed else ""
    return (
        f" Wrong about 1 in 100 others, the intruder finds {percent(float(share))} of the people in the original, at "
        f"most {percent(high, allowed)}{limit}."
    )


def _person(outcome: Outcome) -> str:
    right = chance_of(float(outcome.details["area"]))
    pair = f"Shown {an_intruder(outcome)} of the original beside one who had no part in it"
    return f"{pair}, whoever takes the one nearer to the release is right with {right}; a coin is right with 1 in 2."


CHECKS: list[Check] = [
    TableCheck(
        name="membership_inference",
        title="Membership inference beside a control",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=MembershipParameters,
        measure=membership_inference,
        comparison=Comparison.AT_MOST,
        label="upper end of the area under the curve of telling members from others",
        further=(Limit("true_positive_rate", Comparison.AT_MOST, RATE),),
        requires=frozenset({CONTROL}),
        variant=lambda one: "calibrated" if one.calibrated else "",
        validate=_faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            question="Does the release tell whether a certain person was in the data that it was made from?",
            risk="That somebody was in the data may itself be a secret, and the release may tell it.",
            definition=(
                "The intruder takes a person for a member of the original data if a released record is near, by "
                "Gower's distance. The figure is the area under the curve of that decision: the probability that a "
                "random person of the original is nearer to the release than a random one of the hold-out, ties "
                "counting 1/2. With `calibrated: true` each distance is divided by that to the nearest other person "
                "of the hold-out, so that people in crowded places are not taken for members."
            ),
            **formula(
                r"A = \text{P}(s_T < s_H) + \frac{1}{2} \text{P}(s_T = s_H)",
                r"A \text{ (upper end) } \le \text{at\_most}",
                r"s(x) = d(x, R) \text{, calibrated } \frac{d(x, R)}{d(x, H)}",
            ),
            reading=(
                "1/2 is a coin, 1 tells everybody. The observed value is `high`, the upper end of the area's interval "
                "at `confidence`; `area` is the area itself and `low` the lower end. `true_positive_rate` is the share "
                "of members that the intruder finds who is wrong about 1 in 100 others, on lines between thresholds, "
                "and `true_positive_rate_high` its upper end, which a demand of that name is compared with: it needs a "
                "hold-out of 100, and is 1 below that. 0.01 is a coin; members who stand out may be found while the "
                "area is near 1/2. `original_records` and `holdout_records` are the numbers of people. Calibrated, 0/0 "
                "is 1."
            ),
            choosing=(
                "0.55 is our proposal; no norm names a figure. It is compared with the upper end of Wilson's interval "
                "for m n / (m + n) attempts, which no estimate of the area exceeds in variance: about 400 records in "
                "both tables are needed for it, even where nothing leaks."
            ),
            limits=(
                f"{ABOUT_CONTROL} Attacks that train models of their own find more than distances do (Yao et al., The "
                "DCR Delusion, arXiv 2505.01524). All pairs are compared: tables of 100,000 records each take minutes. "
                f"{CUT}"
            ),
            source=f"{CALIBRATED}; Wilson, JASA 22, 1927",
            example="- membership_inference: {at_most: 0.55, attributes: [age, sex]}",
        ),
    ),
]
