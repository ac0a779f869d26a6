"""What a check is, and what it sees.

specification, limit, parameters, guide   what every check declares
class_check, victim_check                 the kinds that are measured on equivalence classes (on_classes)
table_check                               the kind that is measured on whole tables
evidence, table_view                      what a check sees: equivalence classes, or whole tables
exact, summary, verdict                   its figures, compared exactly, and summarised over classes
unfailable                                demands that nothing can fail
kinds                                     all of these names
"""

from __future__ import annotations

from tcdp_audit.check.evidence import ClassEvidence
from tcdp_audit.check.guide import Guide, Quarter
from tcdp_audit.check.kinds import (
    ALL_COUNTED,
    KINDS,
    NO_PAIRING,
    Check,
    ClassCheck,
    Figure,
    Finding,
    Limit,
    TableCheck,
    TableFigure,
    Threshold,
    Verdict,
    VictimCheck,
)
from tcdp_audit.check.parameters import AttributeParameters, Parameters

__all__ = [
    "ALL_COUNTED",
    "KINDS",
    "NO_PAIRING",
    "AttributeParameters",
    "Check",
    "ClassCheck",
    "ClassEvidence",
    "Figure",
    "Finding",
    "Guide",
    "Limit",
    "Parameters",
    "Quarter",
    "TableCheck",
    "TableFigure",
    "Threshold",
    "Verdict",
    "VictimCheck",
]
