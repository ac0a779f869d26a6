"""Guides as pages: what the documentation says of a check or a remedy, and `explain` prints in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tcdp_audit.guide_page.of_check import page_of_check
from tcdp_audit.guide_page.of_remedy import page_of_remedy
from tcdp_audit.guide_page.page import Code, Page, Parameter, Parameters, Prose, Section, Terms
from tcdp_audit.remedy.remedy import Remedy

if TYPE_CHECKING:
    from tcdp_audit.check.kinds import Check

__all__ = ["Code", "Page", "Parameter", "Parameters", "Prose", "Section", "Terms", "page_of"]


def page_of(registered: Check | Remedy[Any]) -> Page:
    """The page of a check or a remedy."""
    return page_of_remedy(registered) if isinstance(registered, Remedy) else page_of_check(registered)
