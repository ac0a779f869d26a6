"""The phrase for how many records an intruder links to the right person, shared by all linkage checks."""

from __future__ import annotations

from tcdp_audit.plugin._internal import allowance
from tcdp_audit.plugin.sentences import Outcome, Status, chance_of, intruder_who_knows, part_of, percent, record_noun


def linked(outcome: Outcome) -> str:
    """`1,059 of 1,080 records (98.1%), where at most 10% is allowed; guessing finds 0.1%`. Ties count 1/t."""
    records, details = outcome.records, outcome.details
    assert records is not None  # noqa: S101 - outcomes of these checks have them
    part = part_of(float(details["expected_correct"]), records.total, record_noun(outcome))
    limit = f", where {allowance(outcome)}" if outcome.status is Status.FAILED else ""
    guessing = percent(float(details["random_baseline"]))
    return f"{part} ({percent(outcome.observed, outcome.threshold)}){limit}; guessing finds {guessing}"


def finds(outcome: Outcome, how: str) -> str:
    """What linkage means for one person: how often they are found, and how often by guessing."""
    guessing = chance_of(float(outcome.details["random_baseline"]))
    right = f"finds the right record with {chance_of(outcome.observed or 0)}"
    return f"{intruder_who_knows(outcome)} and {how} {right}; guessing is right with {guessing}."
