"""Write a detector, and use the words of a policy: roles, scales, documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.classes.strength import SetStrength as SetStrength, Strengths as Strengths
    from tcdp_audit.core.detection.column import (
        DetectorColumn as DetectorColumn,
        Evidence as Evidence,
        binomial_evidence as binomial_evidence,
        words_of as words_of,
    )
    from tcdp_audit.core.detection.detecting import (
        Detection as Detection,
        Detections as Detections,
        Undecided as Undecided,
        detect as detect,
        detect_in_column as detect_in_column,
    )
    from tcdp_audit.core.detection.detector import (
        ColumnDetector as ColumnDetector,
        Detector as Detector,
        ValueDetector as ValueDetector,
    )
    from tcdp_audit.core.policy.model import (
        AttributeDeclaration as AttributeDeclaration,
        Conventions as Conventions,
        PolicyDocument as PolicyDocument,
        Role as Role,
        Scale as Scale,
    )
    from tcdp_audit.core.policy.scalars import Exact as Exact, Text as Text
else:
    __getattr__, __dir__ = on_first_use(__name__)
