"""The page of a check: its definition, its parameters, how to read it and how to choose its threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.check.kinds import AttributeParameters, ClassCheck
from tcdp_audit.guide_page.page import Code, Page, Prose, Section
from tcdp_audit.guide_page.parameters import parameters_of

if TYPE_CHECKING:
    from tcdp_audit.check.kinds import Check


def page_of_check(check: Check) -> Page:
    """Everything that a check's guide says."""
    guide, kept_if = check.guide, demands(check)
    parameters = parameters_of(check, last=AttributeParameters.model_fields, measured=kept_if)
    sections = (
        Section("Definition", (Prose(guide.definition), Code("text", tuple(guide.formula.split(";  "))))),
        Section("Parameters", (parameters, Prose(" ".join(kept_if.values())))),
        Section.of("How to read it", guide.reading),
        Section.of("How to choose a threshold", guide.choosing),
        Section.of("Limits", guide.limits),
        Section("In a policy", (Code("yaml", ("expect:", *(f"  {line}" for line in guide.example.splitlines()))),)),
        Section.of("Source", guide.source),
    )
    told = tuple(section for section in sections if section.blocks)
    return Page("Check", check.name, check.title, f"Disclosure: {check.quarter.value}.", told)


def demands(check: Check) -> dict[str, str]:
    """For each parameter that is a threshold, a sentence on what keeps it."""
    if isinstance(check, ClassCheck):
        return {
            one.parameter: f"A class keeps {one.parameter} if its figure ({one.label or one.parameter}) is "
            f"{one.comparison.value} {one.parameter}."
            for one in check.thresholds
        }
    return {"at_most": f"A release keeps at_most if the {check.label} is {check.comparison.value} at_most."}
