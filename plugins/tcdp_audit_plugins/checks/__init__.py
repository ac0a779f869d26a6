"""The built-in checks: one file, or one folder, a family. What several families share is in `_shared`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from tcdp_audit.plugin import Check, hookimpl

FAMILIES = (  # as lists of checks show them
    "k_anonymity",
    "alpha_k_anonymity",
    "p_sensitive_k_anonymity",
    "l_diversity",
    "recursive_diversity",
    "t_closeness",
    "delta_disclosure",
    "beta_likeness",
    "homogeneity",
    "background_knowledge",
    "skewness",
    "similarity",
    "differential_privacy",
    "interval_disclosure",
    "record_linkage",
    "uniqueness",
    "population",
    "individual_risk",
    "reidentification",
    "suda",
)


@hookimpl
def tcdp_audit_checks() -> Iterator[Check]:
    """Every built-in check."""
    for family in FAMILIES:
        yield from import_module(f"{__name__}.{family}").CHECKS
