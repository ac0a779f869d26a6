"""The kinds of check: frozen specifications around one pure function. Checks are found through plugins.

A `ClassCheck` maps equivalence classes to one figure each, and every class must keep the thresholds. A `AttackCheck`
says which classes an attack succeeds on, and the share of records in them must keep the threshold. A `TableCheck`
measures the release as a whole, and the tables next to it.

Each kind answers the same questions: why it cannot hold for a policy (`faults`), what it runs on (`targets`), which
parameters have a threshold (`limits`), what came of it (`verdict`), and which of its demands nothing can fail
(`unfailable`): those are measured and judge nothing. The first two measure each shard (`figures`); `by_kind` tells
them from the third, so that no one needs to know a check's type.
"""

from __future__ import annotations

from typing import Any

from tcdp_audit.core.check.class_check import ClassCheck
from tcdp_audit.core.check.evidence import ClassEvidence, ReferenceDistribution, Target
from tcdp_audit.core.check.guide import DisclosureType, Guide
from tcdp_audit.core.check.on_classes import CheckOnClasses, Figure
from tcdp_audit.core.check.parameters import AttributeParameters, Parameters, ShareParameters
from tcdp_audit.core.check.specification import Specification
from tcdp_audit.core.check.table_check import ALL_COUNTED, NO_PAIRING, TableCheck, TableFigure
from tcdp_audit.core.check.threshold import Limit, Threshold
from tcdp_audit.core.check.unfailable import SingletonClasses
from tcdp_audit.core.check.verdict import Verdict
from tcdp_audit.core.check.victim_check import AttackCheck

__all__ = [
    "ALL_COUNTED",
    "KINDS",
    "NO_PAIRING",
    "AttackCheck",
    "AttributeParameters",
    "Check",
    "CheckOnClasses",
    "ClassCheck",
    "ClassEvidence",
    "DisclosureType",
    "Figure",
    "Guide",
    "Limit",
    "Parameters",
    "ReferenceDistribution",
    "ShareParameters",
    "SingletonClasses",
    "Specification",
    "TableCheck",
    "TableFigure",
    "Target",
    "Threshold",
    "Verdict",
]

Check = ClassCheck[Any] | AttackCheck[Any] | TableCheck[Any]
"""A check of any kind."""

KINDS = (ClassCheck, AttackCheck, TableCheck)
