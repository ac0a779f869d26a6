"""The guide to a check for people, and its place on the map of disclosure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from tcdp_audit.core.base.guide_file import CHECK_SECTIONS, GuideFile


class DisclosureType(StrEnum):
    """Torra's map: which disclosure a check is about, and whether it answers yes or no or how much."""

    IDENTITY_MODEL = "identity, yes or no"
    IDENTITY_DEGREE = "identity, how much"
    ATTRIBUTE_MODEL = "attribute, yes or no"
    ATTRIBUTE_DEGREE = "attribute, how much"


@dataclass(frozen=True)
class Guide(GuideFile):
    """The text that a person reads about a check; the report, `explain` and the documentation page show it.

    Give the parts here, or write them in a Markdown file and name it: `Guide.from_file`.

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

    SECTIONS: ClassVar[Mapping[str, str]] = CHECK_SECTIONS

    definition: str
    formula: str
    reading: str
    choosing: str
    source: str
    example: str
    latex: str = field(default_factory=str)
    mathml: str = field(default_factory=str)
    limits: str = field(default_factory=str)
    question: str = field(default_factory=str)
    risk: str = field(default_factory=str)
