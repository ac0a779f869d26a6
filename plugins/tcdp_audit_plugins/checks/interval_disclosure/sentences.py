"""The sentence of an interval check, with counts."""

from __future__ import annotations

from tcdp_audit.plugin import Outcome, Status, agree, count, part_of, percent, percent_of, sentence_case


def interval_sentence(outcome: Outcome) -> str:
    """The headline figure, the demand where it failed, and the records that have no partner."""
    share = percent(outcome.observed, outcome.threshold)
    limit = f"; the policy allows {percent_of(outcome.threshold)}" if outcome.status is Status.FAILED else ""
    return f"{_headline(outcome, share)}{limit}.{_left_out(outcome)}"


def _headline(outcome: Outcome, share: str) -> str:
    assert outcome.records is not None  # noqa: S101 - told outcomes have them
    widest = outcome.details["at"][-1]
    among = count(outcome.records.total, "record")
    at = f"at p = {float(widest['p']):.12g}"
    attributes = count(len(widest["per_attribute"]), "attribute")
    worst = agree(len(widest["per_attribute"]), "the only attribute", f"the worst of {attributes}")
    aggregate = str(outcome.parameters["aggregate"])
    if aggregate == "joint":
        exposed = outcome.records.failing or 0
        part = sentence_case(part_of(exposed, outcome.records.total, "record"))
        lie = agree(exposed or 1, "lies", "lie")
        return f"{part} ({share}) {lie} inside the intervals in {_all(attributes)} at once, {at}"
    if aggregate == "worst":
        return f"In {worst}, {share} of the original values of {among} lie inside the interval, {at}"
    return f"On average over {attributes}, {share} of the original values of {among} lie inside the interval, {at}"


def _all(attributes: str) -> str:
    return "the only attribute" if attributes == "1 attribute" else f"all {attributes}"


def _left_out(outcome: Outcome) -> str:
    """Records that one table lacks, and attributes that were left out."""
    details = outcome.details
    reasons = [
        (details["originals_not_released"], "original", "not released"),
        (details["released_without_original"], "released record", "without an original"),
        (len(details["constant"]), "attribute", "left out as constant"),
        (len(details["without_values"]), "attribute", "left out for want of values"),
    ]
    absent = [f"{count(number, noun)} {why}" for number, noun, why in reasons if number]
    return f" Not compared: {', '.join(absent)}." if absent else ""
