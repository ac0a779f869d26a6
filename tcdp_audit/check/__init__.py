"""What a check is, and what it sees.

specification, parameters, guide   what every check declares
evidence, table_view               what it sees: equivalence classes, or whole tables
exact, summary                     its figures, compared exactly, and summarised over classes
unfailable                         demands that nothing can fail
kinds                              the three kinds of check
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
    TableCheck,
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
    "Parameters",
    "Quarter",
    "TableCheck",
    "Threshold",
    "Verdict",
    "VictimCheck",
]
