"""Write a check: its kinds, parameters, evidence and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

if TYPE_CHECKING:
    from tcdp_audit.core.base.errors import (
        CheckError as CheckError,
    )
    from tcdp_audit.core.base.outcome import (
        Comparison as Comparison,
    )
    from tcdp_audit.core.check import (
        AttributeParameters as AttributeParameters,
        ClassEvidence as ClassEvidence,
        DisclosureType as DisclosureType,
        Guide as Guide,
        Parameters as Parameters,
    )
    from tcdp_audit.core.check.announced import (
        LazyCheck as LazyCheck,
    )
    from tcdp_audit.core.check.evidence import (
        ReferenceDistribution as ReferenceDistribution,
    )
    from tcdp_audit.core.check.exact import (
        Measured as Measured,
        Ratios as Ratios,
    )
    from tcdp_audit.core.check.kinds import (
        AttackCheck as AttackCheck,
        Check as Check,
        ClassCheck as ClassCheck,
        Limit as Limit,
        ShareParameters as ShareParameters,
        TableCheck as TableCheck,
        TableFigure as TableFigure,
        Threshold as Threshold,
    )
    from tcdp_audit.core.check.needs import (
        Need as Need,
    )
    from tcdp_audit.core.check.table_view import (
        TableView as TableView,
    )
    from tcdp_audit.core.classes.histogram import (
        Histogram as Histogram,
    )
    from tcdp_audit.core.release.coded import (
        CodedTable as CodedTable,
    )
    from tcdp_audit.core.release.pairs import (
        Pairs as Pairs,
    )
    from tcdp_audit.core.session.hookspecs import (
        hookimpl as hookimpl,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
