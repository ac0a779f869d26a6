"""Audit a table of people before it is published.

The public names are resolved when first used, so that `import tcdp_audit` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tcdp_audit.core.base.lazy import on_first_use

__version__ = "0.1.0"

if TYPE_CHECKING:
    from tcdp_audit.core.base.cancellation import Cancelled as Cancelled
    from tcdp_audit.core.base.errors import (
        CheckError as CheckError,
        DataError as DataError,
        PluginError as PluginError,
        PolicyError as PolicyError,
        ResultError as ResultError,
        TcdpAuditError as TcdpAuditError,
        UsageError as UsageError,
    )
    from tcdp_audit.core.base.outcome import Outcome as Outcome, Severity as Severity, Status as Status
    from tcdp_audit.core.policy.policy import Policy as Policy
    from tcdp_audit.core.remedy.remedy import RemedyError as RemedyError
    from tcdp_audit.core.repair.audits import (
        audit as audit,
        failing_records as failing_records,
        load_policy as load_policy,
    )
    from tcdp_audit.core.repair.fixing import Remediation as Remediation, fix as fix
    from tcdp_audit.core.repair.session import Session as Session, open_session as open_session
    from tcdp_audit.core.repair.typed import measure as measure
    from tcdp_audit.core.results.audit import Audit as Audit
    from tcdp_audit.core.results.frame import FailingRecords as FailingRecords
    from tcdp_audit.core.results.frontier import Frontier as Frontier
    from tcdp_audit.drafting import PolicyDraft as PolicyDraft, draft_policy as draft_policy
    from tcdp_audit.frontiers.exploring import frontier as frontier
    from tcdp_audit.verification import Verification as Verification, verify as verify
else:
    __getattr__, __dir__ = on_first_use(__name__)
