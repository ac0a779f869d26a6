"""The guide to a check for people, and its place on the map of disclosure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DisclosureType(StrEnum):
    """Torra's map: which disclosure a check is about, and whether it answers yes or no or how much."""

    IDENTITY_MODEL = "identity, yes or no"
    IDENTITY_DEGREE = "identity, how much"
    ATTRIBUTE_MODEL = "attribute, yes or no"
    ATTRIBUTE_DEGREE = "attribute, how much"


@dataclass(frozen=True)
class Guide:
    """What a person needs to know about a check; the report, `explain` and the documentation page show it.

    Args:
        definition: what it measures, in one or two sentences.
        formula: the definition as a formula in plain text, for terminals, its lines separated by `;  `.
        reading: how to read the observed value.
        choosing: how to choose a threshold.
        source: paper and definition number.
        example: lines of a policy.
        latex: the formula as LaTeX, a line for each of its lines; the documentation has it so.
        mathml: the formula as MathML elements; the report has it so.
        limits: what the check does not say.
        question: what it asks, as a person would: one plain line.
        risk: what could still happen where nobody asks it: one plain line.
    """

    definition: str
    formula: str
    reading: str
    choosing: str
    source: str
    example: str
    latex: str = ""
    mathml: str = ""
    limits: str = ""
    question: str = ""
    risk: str = ""
