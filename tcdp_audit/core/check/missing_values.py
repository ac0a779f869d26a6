"""Missing sensitive values in sentences: classes in which no record has a value are said to be that.

A class without a value fails by convention, as it has no distribution. Nothing can be learned there, so a sentence on
what an intruder learns is about the other classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tcdp_audit.core.base.outcome import (
    CLASSES_WITHOUT_VALUE,
    MISSING_AS_VALUE,
    WORST_WITH_VALUE,
    Outcome,
    Status,
    Tally,
    WorstClass,
)
from tcdp_audit.core.base.phrases import records_without_value

FURTHER = (
    "In {classes_without_value:more group}, of {records_without_value:{record}}, no one has a value of {attribute}"
    "[{status=measured?}|; {by_convention}]."
)
ONLY = (
    "In {classes_without_value:group}, of {records_without_value:{record}}, no one has a value of {attribute}; "
    "{by_convention}.[{other_classes>0?} Every other group keeps the demand.]"
)
BY_CONVENTION = "{classes_without_value:it counts|they count} as failing, as there is nothing to compare"
AS_VALUE = "A missing value counts as a value, and {missing_as_value:{record}} {missing_as_value:has|have} no other."
MISSING_PARTS = {
    "by_convention": BY_CONVENTION,
    "further_without_value": FURTHER,
    "only_without_value": ONLY,
    "counted_as_value": AS_VALUE,
}
"""The sentences on missing values, and their parts."""


def with_values(outcome: Outcome) -> Outcome:
    """The outcome of the classes in which a record has a value; the same where all have one, or none has.

    The numbers of failing records and classes, the figure of the worst class, its size and the distribution are then
    without the others. The share of an attack stays as it is.
    """
    classes, records = outcome.details.get(CLASSES_WITHOUT_VALUE), records_without_value(outcome)
    worst = outcome.details.get(WORST_WITH_VALUE)
    if not classes or worst is None:
        return outcome
    details = {**outcome.details, "distribution": _without(outcome, int(classes), records)}
    if "victims" in details:
        details["victims"] -= records
        details["victim_classes"] -= int(classes)
    return replace(
        outcome,
        observed=float(worst.get("figure", outcome.observed)),
        worst=(WorstClass(1, int(worst["members"]), float(worst.get("figure", 1))),),
        classes=_less(outcome.classes, int(classes)),
        records=_less(outcome.records, records),
        details=details,
    )


def sentence_on_missing(outcome: Outcome) -> str:
    """The name of the sentence that follows the message of an outcome; empty where nothing is missing."""
    if outcome.details.get(CLASSES_WITHOUT_VALUE):
        return "" if fails_only_without_values(outcome) else "further_without_value"
    return "counted_as_value" if outcome.details.get(MISSING_AS_VALUE) else ""


def fails_only_without_values(outcome: Outcome) -> bool:
    """Whether an outcome fails, and every class that fails has no value."""
    classes, without = outcome.classes, outcome.details.get(CLASSES_WITHOUT_VALUE)
    return bool(without) and outcome.status is Status.FAILED and classes is not None and classes.failing == without


def values_on_missing(outcome: Outcome) -> Mapping[str, Any]:
    """The values that these sentences name in addition to the details."""
    total = 0 if outcome.classes is None else outcome.classes.total
    without = int(outcome.details.get(CLASSES_WITHOUT_VALUE, 0))
    return {"status": outcome.status.value, "other_classes": total - without}


def _less(tally: Tally | None, without: int) -> Tally | None:
    if tally is None or tally.failing is None:
        return tally
    return Tally(tally.total, tally.failing - without)


def _without(outcome: Outcome, classes: int, records: int) -> list[list[float]]:
    """The distribution without classes that have the figure of one without a value, as many as there are."""
    assert outcome.comparison is not None  # noqa: S101 - outcomes on classes have it
    figure = outcome.comparison.worst_possible
    rows = [list(row) for row in outcome.details["distribution"]]
    for row in rows:
        if row[0] == figure:
            row[1:] = [row[1] - classes, row[2] - records]
    return [row for row in rows if row[1]]
