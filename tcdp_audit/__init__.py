"""tcdp-audit: audits a table of people before it is published.

The public names are resolved when first used, so that `import tcdp_audit` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.lazy import on_first_use
from tcdp_audit.moved import say_where_modules_are

__version__ = "0.1.0"

say_where_modules_are()

if TYPE_CHECKING:
    from tcdp_audit.api import (
        audit as audit,
        failing_records as failing_records,
        load_policy as load_policy,
    )
    from tcdp_audit.check import (
        AttributeParameters as AttributeParameters,
        ClassCheck as ClassCheck,
        ClassEvidence as ClassEvidence,
        Finding as Finding,
        Guide as Guide,
        Parameters as Parameters,
        Quarter as Quarter,
        TableCheck as TableCheck,
        TableFigure as TableFigure,
        Threshold as Threshold,
        VictimCheck as VictimCheck,
    )
    from tcdp_audit.check.exact import (
        Ratios as Ratios,
        Transcendental as Transcendental,
    )
    from tcdp_audit.drafting import (
        PolicyDraft as PolicyDraft,
        draft_policy as draft_policy,
    )
    from tcdp_audit.errors import (
        CheckError as CheckError,
        DataError as DataError,
        PluginError as PluginError,
        PolicyError as PolicyError,
        ResultError as ResultError,
        TcdpAuditError as TcdpAuditError,
        UsageError as UsageError,
    )
    from tcdp_audit.hookspecs import (
        hookimpl as hookimpl,
    )
    from tcdp_audit.outcome import (
        Comparison as Comparison,
        Outcome as Outcome,
        Severity as Severity,
        Status as Status,
    )
    from tcdp_audit.pareto.exploring import (
        frontier as frontier,
    )
    from tcdp_audit.policy import (
        Policy as Policy,
    )
    from tcdp_audit.remedy.remedy import (
        NewColumn as NewColumn,
        Remedy as Remedy,
        RemedyError as RemedyError,
        RemedyGuide as RemedyGuide,
        RemedyParameters as RemedyParameters,
        Treatment as Treatment,
    )
    from tcdp_audit.remedy.view import (
        RemedyView as RemedyView,
    )
    from tcdp_audit.repair.fixing import (
        Remediation as Remediation,
        fix as fix,
    )
    from tcdp_audit.results.audit import (
        Audit as Audit,
    )
    from tcdp_audit.results.failing_records import (
        FailingRecords as FailingRecords,
    )
    from tcdp_audit.results.frontier import (
        Frontier as Frontier,
    )
    from tcdp_audit.results.reporter import (
        Reporter as Reporter,
    )
    from tcdp_audit.typed import (
        measure as measure,
    )
    from tcdp_audit.verification import (
        Verification as Verification,
        verify as verify,
    )
else:
    __getattr__, __dir__ = on_first_use(__name__)
