"""Parts of sentences about one outcome, the same in its own message, on the terminal and in every report."""

from __future__ import annotations

from tcdp_audit.outcome import Comparison, Outcome
from tcdp_audit.words import agree, count, decimal, figure

SIGNS = {Comparison.AT_LEAST: "≥", Comparison.AT_MOST: "≤", Comparison.BELOW: "<", Comparison.ABOVE: ">"}


def state_of(outcome: Outcome) -> str:
    """The status as a report shows it: a failure that only warns is a warning."""
    return "warning" if outcome.is_warning else outcome.status.value


def demanded(outcome: Outcome) -> str:
    """The threshold with its comparison, such as `≥ 5`, or `none`."""
    if outcome.threshold is None or outcome.comparison is None:
        return "none"
    return f"{SIGNS[outcome.comparison]} {decimal(outcome.threshold)}"


def observed(outcome: Outcome) -> str:
    """The observed figure of the worst class."""
    return figure(outcome.observed, outcome.threshold)


def failing(outcome: Outcome) -> tuple[int, int] | None:
    """How many classes and records fail, where the outcome says so."""
    if outcome.classes is None or outcome.records is None:
        return None
    if outcome.classes.failing is None or outcome.records.failing is None:
        return None
    return outcome.classes.failing, outcome.records.failing


def victims(outcome: Outcome) -> str:
    """The failing records and classes: `3,244 of 30,162 records are in 812 equivalence classes`."""
    classes, records = outcome.classes, outcome.records
    assert classes is not None and records is not None  # noqa: S101, PT018 - outcomes on classes have both
    number = records.failing or 0
    where = count(classes.failing or 0, "equivalence class")
    return f"{number:,} of {count(records.total, 'record')} {agree(number, 'is', 'are')} in {where}"


def over_all(outcome: Outcome) -> str:
    """`Over 1,234 equivalence classes`, for outcomes without a victim."""
    assert outcome.classes is not None  # noqa: S101 - outcomes on classes have them
    return f"Over {count(outcome.classes.total, 'equivalence class')}"
