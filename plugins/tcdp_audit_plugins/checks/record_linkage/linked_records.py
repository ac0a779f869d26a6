"""The phrase for how many records an intruder links to the right person, shared by all linkage checks."""

from __future__ import annotations

from tcdp_audit.plugin import Outcome, Status, allowance, part_of, percent


def linked(outcome: Outcome) -> str:
    """`1,059 of 1,080 records (98.1%), where at most 10% is allowed; guessing finds 0.1%`. Ties count 1/t."""
    records, details = outcome.records, outcome.details
    assert records is not None  # noqa: S101 - outcomes of these checks have them
    part = part_of(float(details["expected_correct"]), records.total, "record")
    limit = f", where {allowance(outcome)}" if outcome.status is Status.FAILED else ""
    guessing = percent(float(details["random_baseline"]))
    return f"{part} ({percent(outcome.observed, outcome.threshold)}){limit}; guessing finds {guessing}"
