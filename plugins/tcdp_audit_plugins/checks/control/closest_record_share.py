"""Closest record share: how many released records are closer to the original than to the hold-out."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum, sqrt
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin import (
    Check,
    Comparison,
    Exact,
    Floats,
    Guide,
    Outcome,
    PolicyDocument,
    Quarter,
    Severity,
    Status,
    TableCheck,
    TableFigure,
    TableView,
    allowance,
    known_columns,
    percent,
    plural,
    record_noun,
    somebody,
)
from tcdp_audit_plugins.checks._shared.beside_control import CONTROL, Attack, Rate, require_no_better
from tcdp_audit_plugins.checks.control.draws import none_drawn
from tcdp_audit_plugins.checks.control.parameters import (
    ControlParameters,
    measurable,
    needs_control,
    quasi_identifiers_of,
)
from tcdp_audit_plugins.checks.control.risk import require_as_many
from tcdp_audit_plugins.checks.control.sentences import ABOUT_CONTROL
from tcdp_audit_plugins.checks.control.tables import Places, known_attributes
from tcdp_audit_plugins.formulas import formula


class ClosestShareParameters(ControlParameters):
    """Parameters of `closest_record_share`."""

    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest share; 1/2 is what chance gives.")] = (
        None
    )
    severity: Annotated[
        Severity,
        Field(strict=False, description="Whether a failure fails the audit or only warns; distances prove nothing."),
    ] = Severity.WARNING


def closest_record_share(view: TableView, parameters: ClosestShareParameters) -> TableFigure:
    """The share of released records that are closer to an original record than to any of the hold-out, ties 1/2.

    Returns:
        The upper end of the share's interval.

    Raises:
        CheckError: there is no hold-out or it has fewer records than the original, or nothing can be compared.

    Cost: O(released records x (original and hold-out) x attributes) in blocks.

    Source: Platzer, Reutterer (2021), with ties that count one half.
    """
    places = Places.of_both(view, parameters.attributes)
    require_as_many(view)
    original, control = places.targets
    sizes = [int(one.records.sum()) for one in (original, control)]
    earned, tied = _credits(places, none_drawn(sizes[1], sizes[0]))
    times, records = places.released.records, int(places.released.records.sum())
    attack = Attack(fsum((earned * times).tolist()), records)
    rate = attack.rate(parameters.confidence)
    require_no_better(rate, Rate.even())
    low, high = rate.ends
    share = float(attack.share)
    details = {
        "share": share,
        "low": low,
        "high": high,
        "confidence": parameters.confidence,
        "deviations": (share - 1 / 2) / sqrt(1 / 4 / records),
        "tied": int(times[tied].sum()),
        "original_records": sizes[0],
        "holdout_records": sizes[1],
    }
    return TableFigure(max(high, share), records, details=details)


def _credits(places: Places, none: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Of each released point the probability that it is closer to the original than to a draw from the hold-out.

    Also whether original and hold-out are as close.

    Args:
        places: all tables.
        none: the probability that a draw as large as the original has none of so many records of the hold-out.
    """
    gower, control = places.gower, places.targets[1]
    nearest = gower.least(places.released, places.targets[0])

    def credit(some: NDArray[np.intp], distances: Floats) -> Floats:
        """Credit and ties of a block, shape (2, some)."""
        own, records = nearest[some, None], control.records.astype(np.float64)
        closer = (distances < own - gower.rounding) @ records
        as_close = (distances <= own + gower.rounding) @ records
        earned = (none[closer.astype(np.int64)] + none[as_close.astype(np.int64)]) / 2
        return np.stack([earned, (closer == 0) & (as_close > 0)])

    earned, tied = np.concatenate(gower.each_block(places.released, control, credit), axis=1)
    return earned, tied > 0


def _faults(parameters: ClosestShareParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    yield from needs_control(parameters, document)
    yield from measurable(known_attributes(parameters.attributes, quasi_identifiers_of(document)), document)


def _sentence(outcome: Outcome) -> str:
    details = outcome.details
    share, sure = percent(float(details["share"])), percent(float(details["confidence"]))
    limit = f", where {allowance(outcome)}" if outcome.status is Status.FAILED else ""
    nearer = f"{share} of the released {plural(record_noun(outcome))} are closer to the original than to the hold-out"
    high = percent(outcome.observed, outcome.threshold)
    return (
        f"By {known_columns(outcome)}, {nearer}, ties counting one half: at most {high} with {sure} confidence{limit}; "
        "chance gives 50%."
    )


def _person(outcome: Outcome) -> str:
    return (
        f"How close the release comes to {somebody(outcome)} in the data, rather than to one who is not, it tells on "
        "average only; a single person may be copied while the share is near one half."
    )


CHECKS: list[Check] = [
    TableCheck(
        name="closest_record_share",
        title="Closest record share",
        quarter=Quarter.IDENTITY_DEGREE,
        parameters=ClosestShareParameters,
        measure=closest_record_share,
        comparison=Comparison.AT_MOST,
        label="upper end of the share of released records that are closer to the original",
        requires=frozenset({CONTROL}),
        validate=_faults,
        sentence=_sentence,
        person=_person,
        guide=Guide(
            asks="Does the release hug the people it was made from, rather than others of their kind?",
            risk="A synthetic release may remember the people whom it was made from.",
            definition=(
                "The share of released records whose nearest original record is closer, by Gower's distance, than the "
                "nearest one of a hold-out of as many people who had no part in making the release. A tie counts one "
                "half, so that chance gives exactly one half."
            ),
            **formula(
                r"\frac{1}{n} \sum_i s_i \text{ (upper end) } \le \text{at\_most}",
                r"s_i = [d(r_i, T) < d(r_i, H)] + \frac{1}{2} [d(r_i, T) = d(r_i, H)]",
            ),
            reading=(
                "The observed value is `high`, the upper end of Wilson's interval of `share` at `confidence`; `low` is "
                "the lower end. `deviations` is the distance of the share from 1/2 in standard deviations of chance, "
                "`tied` the number of released records for which both tables are as close. A copy of the original does "
                "not reach 1 where people of the hold-out have the same values. `original_records` and "
                "`holdout_records` are the numbers of people; of a larger hold-out the mean over all draws of as many "
                "records counts."
            ),
            choosing=(
                "0.55 is our proposal; no norm names a figure. A failure only warns unless the policy says `severity: "
                "error`."
            ),
            limits=(
                "A good value is no proof of anything else: releases that pass such shares have been broken by "
                "membership attacks (Yao et al., The DCR Delusion, arXiv 2505.01524), so ask `membership_inference` "
                f"and `attribute_inference` too. {ABOUT_CONTROL} It must have at least as many records as the original."
            ),
            source=(
                "Platzer, Reutterer, Holdout-based empirical assessment of mixed-type synthetic data, Frontiers in Big "
                "Data 4, 2021, doi:10.3389/fdata.2021.679939"
            ),
            example="- closest_record_share: {at_most: 0.55, attributes: [age, sex]}",
        ),
    ),
]
