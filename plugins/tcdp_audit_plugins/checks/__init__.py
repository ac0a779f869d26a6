"""The built-in checks, one file a family."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin import Check, hookimpl
from tcdp_audit_plugins.checks import (
    alpha_k_anonymity,
    background_knowledge,
    beta_likeness,
    delta_disclosure,
    differential_privacy,
    homogeneity,
    individual_risk,
    interval_disclosure,
    k_anonymity,
    l_diversity,
    p_sensitive_k_anonymity,
    population,
    record_linkage,
    recursive_diversity,
    reidentification,
    similarity,
    skewness,
    suda,
    t_closeness,
    uniqueness,
)


@hookimpl
def tcdp_audit_checks() -> Iterator[Check]:
    """Every built-in check."""
    yield from k_anonymity.CHECKS
    yield from alpha_k_anonymity.CHECKS
    yield from p_sensitive_k_anonymity.CHECKS
    yield from l_diversity.CHECKS
    yield from recursive_diversity.CHECKS
    yield from t_closeness.CHECKS
    yield from delta_disclosure.CHECKS
    yield from beta_likeness.CHECKS
    yield from homogeneity.CHECKS
    yield from background_knowledge.CHECKS
    yield from skewness.CHECKS
    yield from similarity.CHECKS
    yield from differential_privacy.CHECKS
    yield from interval_disclosure.CHECKS
    yield from record_linkage.CHECKS
    yield from uniqueness.CHECKS
    yield from population.CHECKS
    yield from individual_risk.CHECKS
    yield from reidentification.CHECKS
    yield from suda.CHECKS
