"""tcdp-audit: audits a table of people before it is published.

The public names are resolved when first used, so that `import tcdp_audit` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tcdp_audit.api import audit, measure
    from tcdp_audit.check import (
        AttributeParameters,
        ClassCheck,
        ClassEvidence,
        Finding,
        Guide,
        Parameters,
        Quarter,
        TableCheck,
        Threshold,
        VictimCheck,
    )
    from tcdp_audit.check.exact import Ratios, Transcendental
    from tcdp_audit.errors import CheckError, DataError, PluginError, PolicyError, TcdpAuditError, UsageError
    from tcdp_audit.hookspecs import hookimpl
    from tcdp_audit.outcome import Comparison, Outcome, Severity, Status
    from tcdp_audit.policy import Policy, load_policy
    from tcdp_audit.remedy.remedy import NewColumn, Remedy, RemedyError, RemedyGuide, RemedyParameters, Treatment
    from tcdp_audit.remedy.view import RemedyView
    from tcdp_audit.repair.fixing import Remediation, fix
    from tcdp_audit.reporter import Reporter
    from tcdp_audit.results.audit import Audit

__version__ = "0.1.0"

_HOME = {
    "api": ("audit", "measure"),
    "results.audit": ("Audit",),
    "check": (
        "AttributeParameters",
        "ClassCheck",
        "ClassEvidence",
        "Finding",
        "Guide",
        "Parameters",
        "Quarter",
        "TableCheck",
        "Threshold",
        "VictimCheck",
    ),
    "errors": ("CheckError", "DataError", "PluginError", "PolicyError", "TcdpAuditError", "UsageError"),
    "check.exact": ("Ratios", "Transcendental"),
    "repair.fixing": ("Remediation", "fix"),
    "hookspecs": ("hookimpl",),
    "outcome": ("Comparison", "Outcome", "Severity", "Status"),
    "policy": ("Policy", "load_policy"),
    "remedy.remedy": ("NewColumn", "Remedy", "RemedyError", "RemedyGuide", "RemedyParameters", "Treatment"),
    "remedy.view": ("RemedyView",),
    "reporter": ("Reporter",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AttributeParameters",
    "Audit",
    "CheckError",
    "ClassCheck",
    "ClassEvidence",
    "Comparison",
    "DataError",
    "Finding",
    "Guide",
    "NewColumn",
    "Outcome",
    "Parameters",
    "PluginError",
    "Policy",
    "PolicyError",
    "Quarter",
    "Ratios",
    "Remediation",
    "Remedy",
    "RemedyError",
    "RemedyGuide",
    "RemedyParameters",
    "RemedyView",
    "Reporter",
    "Severity",
    "Status",
    "TableCheck",
    "TcdpAuditError",
    "Threshold",
    "Transcendental",
    "Treatment",
    "UsageError",
    "VictimCheck",
    "audit",
    "fix",
    "hookimpl",
    "load_policy",
    "measure",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'tcdp_audit' has no attribute {name!r}")
    value = getattr(import_module(f"tcdp_audit.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
