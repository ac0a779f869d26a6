"""Counts and figures as the sentences of outcomes say them."""

from __future__ import annotations

from math import isinf
from typing import Any

from tcdp_audit import Outcome

NOUNS = {"class": "classes", "equivalence class": "equivalence classes"}


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 record`, `3,244 records`, `812 classes`."""
    return f"{number:,} {noun if number == 1 else NOUNS.get(noun, f'{noun}s')}"


def figure(value: Any) -> str:
    """A figure to six significant digits; infinity as a word."""
    return "infinite" if isinf(value) else f"{float(value):.6g}"


def victims(outcome: Outcome) -> str:
    """The failing records and classes: `3,244 of 30,162 records are in 812 equivalence classes`."""
    classes, records = outcome.classes, outcome.records
    assert classes is not None and records is not None  # noqa: S101, PT018 - told outcomes have both
    verb = "is" if records.failing == 1 else "are"
    failing = counted(classes.failing or 0, "equivalence class")
    return f"{records.failing or 0:,} of {counted(records.total, 'record')} {verb} in {failing}"


def over_all(outcome: Outcome) -> str:
    """`Over 1,234 equivalence classes`, for outcomes that found no victim."""
    assert outcome.classes is not None  # noqa: S101 - told outcomes have them
    return f"Over {counted(outcome.classes.total, 'equivalence class')}"
