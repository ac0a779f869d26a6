"""Write a check: its kinds, parameters, evidence and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.guide_file import DisclosureType as DisclosureType, Guide as Guide
    from tcdp_audit.core.check.class_check import AttackCheck as AttackCheck, ClassCheck as ClassCheck
    from tcdp_audit.core.check.evidence import (
        ClassEvidence as ClassEvidence,
        ReferenceDistribution as ReferenceDistribution,
    )
    from tcdp_audit.core.check.kinds import Check as Check, LazyCheck as LazyCheck
    from tcdp_audit.core.check.needs import Need as Need
    from tcdp_audit.core.check.summary import ClassSummary as ClassSummary
    from tcdp_audit.core.check.table_check import TableCheck as TableCheck, TableFigure as TableFigure
    from tcdp_audit.core.check.table_view import TableView as TableView
    from tcdp_audit.core.check.threshold import (
        ApproximateFigure as ApproximateFigure,
        AttributeParameters as AttributeParameters,
        Limit as Limit,
        Measured as Measured,
        Parameters as Parameters,
        Ratios as Ratios,
        ShareParameters as ShareParameters,
        Signs as Signs,
        Threshold as Threshold,
    )
    from tcdp_audit.core.classes.histogram import Histogram as Histogram
    from tcdp_audit.core.release.pairs import Pairs as Pairs
    from tcdp_audit.core.session.hookspecs import hookimpl as hookimpl
else:
    __getattr__, __dir__ = on_first_use(__name__)
