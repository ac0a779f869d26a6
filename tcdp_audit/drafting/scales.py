"""The scale of a column, by what its name speaks of and what all of its values are."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.vocabulary import Topic
from tcdp_audit.plugin.detector import Scale

ORDERS = (  # of words that have one, lowest first
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("none", "mild", "moderate", "severe", "critical"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("small", "medium", "large"),
    ("sehr niedrig", "niedrig", "mittel", "hoch", "sehr hoch"),
    ("leicht", "mittel", "schwer"),
    ("faible", "moyen", "fort"),
    ("bajo", "medio", "alto"),
    ("primary", "secondary", "tertiary"),
    (
        *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college"),
        *("Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate"),
    ),
)


def scale_of(column: ColumnFacts, topic: Topic | None) -> tuple[Scale | None, str]:
    """How a column's values relate, and why in a few words; None where nothing says it."""
    if _counts_years(column, topic) or (topic is not None and topic.scale is Scale.NUMERIC and _is_numeric(column)):
        return Scale.NUMERIC, "all values are numbers"
    if (
        column.is_measurement
        and _is_numeric(column)
        and (topic is None or topic.key in ("health", "money", "judgement"))
    ):
        return Scale.NUMERIC, "its numbers lie close together, as measurements do and codes do not"
    if order_of(column):
        return Scale.ORDINAL, "all values are words of a known order"
    if topic is not None:
        return Scale.NOMINAL, ""
    return None, ""


def order_of(column: ColumnFacts) -> Sequence[str]:
    """The whole known order that all values belong to, written as they are; nothing where there is none.

    It has words that the column lacks: it is the order's, not the column's.
    """
    if not 2 <= column.distinct <= max(map(len, ORDERS)) or column.raw is None or not column.raw.is_text:
        return ()
    for written in (str, str.capitalize, str.upper, str.title):
        for order in ORDERS:
            words = [written(one) for one in order]
            if set(column.sample) <= set(words):
                return words
    return ()


def _counts_years(column: ColumnFacts, topic: Topic | None) -> bool:
    """Whether a column of dates has years, which are numbers."""
    return topic is not None and topic.key == "date" and _is_numeric(column) and max(map(len, column.sample[:100])) == 4


def _is_numeric(column: ColumnFacts) -> bool:
    return column.is_numeric and not column.has_leading_zeros
