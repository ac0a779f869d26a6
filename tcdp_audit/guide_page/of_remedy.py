"""The page of a remedy: its method, its parameters, when to use it and what holds of its releases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tcdp_audit.guide_page.page import Code, Page, Prose, Section, Terms
from tcdp_audit.guide_page.parameters import parameters_of

if TYPE_CHECKING:
    from tcdp_audit.remedy.remedy import Remedy

RANDOM = "It draws from a source that no seed repeats, and runs once only."


def page_of_remedy(remedy: Remedy[Any]) -> Page:
    """Everything that a remedy's guide says."""
    guide = remedy.guide
    chance = (Prose(RANDOM),) if remedy.random else ()
    parameters = (parameters_of(remedy),) if remedy.parameters.model_fields else (Prose("None."),)
    sections = (
        Section("Method", (Prose(guide.method), *chance)),
        Section("Parameters", parameters),
        Section.of("When to use it", guide.choosing),
        Section.of("What is guaranteed", guide.guarantees),
        Section("What its notes say", (Terms(guide.notes),) if guide.notes else ()),
        Section("In a policy", (Code("yaml", ("remedy:", *(f"  {line}" for line in guide.example.splitlines()))),)),
        Section.of("Source", guide.source),
    )
    told = tuple(section for section in sections if section.blocks)
    return Page("Remedy", remedy.name, remedy.title, remedy.summary, told)
