"""What an interval check found, in a sentence with counts."""

from __future__ import annotations

from tcdp_audit import Outcome, Status
from tcdp_audit.words import count


def interval_sentence(outcome: Outcome) -> str:
    """The headline figure, the demand where it failed, and the records that have no partner."""
    figure = f"{outcome.observed or 0:.1%}"
    limit = f"; the policy allows {float(outcome.threshold or 0):.4g}" if outcome.status is Status.FAILED else ""
    return f"{_told(outcome, figure)}{limit}.{_unpaired(outcome)}"


def _told(outcome: Outcome, figure: str) -> str:
    assert outcome.records is not None  # noqa: S101 - told outcomes have them
    widest = outcome.details["at"][-1]
    among = count(outcome.records.total, "record")
    at = f"at p = {float(widest['p']):.12g}"
    attributes = count(len(widest["per_attribute"]), "attribute")
    aggregate = str(outcome.parameters["aggregate"])
    if aggregate == "joint":
        exposed = outcome.records.failing or 0
        verb = "lies" if exposed == 1 else "lie"
        return f"{exposed:,} of {among} ({figure}) {verb} inside the intervals in {_all(attributes)} at once, {at}"
    if aggregate == "worst":
        return f"In the worst of {attributes}, {figure} of the original values of {among} lie inside the interval, {at}"
    return f"On average over {attributes}, {figure} of the original values of {among} lie inside the interval, {at}"


def _all(attributes: str) -> str:
    return "the only attribute" if attributes == "1 attribute" else f"all {attributes}"


def _unpaired(outcome: Outcome) -> str:
    """Records that one table lacks, and attributes that were left out."""
    details = outcome.details
    found = [
        (details["originals_not_released"], "original", "not released"),
        (details["released_without_original"], "released record", "without an original"),
        (len(details["constant"]), "attribute", "left out as constant"),
        (len(details["without_values"]), "attribute", "left out for want of values"),
    ]
    told = [f"{count(number, noun)} {what}" for number, noun, what in found if number]
    return f" Not compared: {', '.join(told)}." if told else ""
