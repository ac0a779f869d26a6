"""Remedies: what they declare, and the view of a release that they see.

remedy      parameters, plan, treatment: what every remedy declares
demands     what equivalence classes must keep
merged      the same, while classes are being merged
view        the release as a remedy sees it
unit_cells  the cells of a unit as one
reach       which failing demands a remedy may help
treatment   a treatment carried out on the table
"""

from __future__ import annotations

from tcdp_audit.core.remedy.remedy import NewColumn, Remedy, RemedyError, RemedyGuide, RemedyParameters, Treatment

__all__ = ["NewColumn", "Remedy", "RemedyError", "RemedyGuide", "RemedyParameters", "Treatment"]
