"""The sentence of an interval check, with counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tcdp_audit.plugin._internal import percent_of
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    agree,
    chance_of,
    column_of,
    columns_of,
    count,
    part_of,
    percent,
    person_of,
    record_noun,
    sentence_case,
)


def interval_sentence(outcome: Outcome) -> str:
    """The headline figure, the demand where it failed, and the records that have no partner."""
    share = percent(outcome.observed, outcome.threshold)
    limit = f"; the policy allows {percent_of(outcome.threshold)}" if outcome.status is Status.FAILED else ""
    return f"{_headline(outcome, share)}{limit}.{_left_out(outcome)}"


def interval_person(outcome: Outcome) -> str:
    """What a masked value tells of the true one."""
    widest = outcome.details["at"][-1]
    shares: dict[str, Any] = dict(widest["per_attribute"])
    worst = max(sorted(shares), key=lambda name: float(shares[name]))
    near = f"that the true value is near, within the interval at p = {_p(widest)}"
    sees = f"Whoever sees {person_of(outcome)}'s masked {column_of(outcome, worst)} and guesses {near}"
    return f"{sees}, is right with {chance_of(float(shares[worst]))}."


def _headline(outcome: Outcome, share: str) -> str:
    assert outcome.records is not None  # noqa: S101 - outcomes of these checks have them
    widest = outcome.details["at"][-1]
    noun, at = record_noun(outcome), f"at p = {_p(widest)}"
    shares: dict[str, Any] = dict(widest["per_attribute"])
    columns = columns_of(outcome, sorted(shares))
    among = f"of the original values of {count(outcome.records.total, noun)}"
    aggregate = str(outcome.parameters["aggregate"])
    if aggregate == "joint":
        exposed = outcome.records.failing or 0
        part = sentence_case(part_of(exposed, outcome.records.total, noun))
        at_once = agree(len(shares), f"of {columns}", f"of {columns} at once")
        return f"{part} ({share}) {agree(exposed or 1, 'lies', 'lie')} inside the intervals {at_once}, {at}"
    if aggregate == "worst":
        worst = column_of(outcome, max(sorted(shares), key=lambda name: float(shares[name])))
        one = agree(len(shares), worst, f"{worst}, the worst of {len(shares):,} columns")
        return f"In {one}, {share} {among} lie inside the interval, {at}"
    over = agree(len(shares), "In", "On average over")
    return f"{over} {columns}, {share} {among} lie inside the interval, {at}"


def _p(widest: Mapping[str, Any]) -> str:
    return f"{float(widest['p']):.12g}"


def _left_out(outcome: Outcome) -> str:
    """Records that one table lacks, and attributes that were left out."""
    details = outcome.details
    reasons = [
        (details["originals_not_released"], "original", "not released"),
        (details["released_without_original"], "released record", "without an original"),
        (len(details["constant"]), "column", "left out as constant"),
        (len(details["without_values"]), "column", "left out for want of values"),
    ]
    absent = [f"{count(number, noun)} {why}" for number, noun, why in reasons if number]
    return f" Not compared: {', '.join(absent)}." if absent else ""
