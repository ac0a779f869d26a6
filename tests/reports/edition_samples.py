"""Audits whose reports are kept as golden files, and have budgets of words and pages: one of each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

import tcdp_audit
from tcdp_audit.core.results.audit import Audit

EXAMPLES = Path(__file__).parents[2] / "examples"
WARDS = pa.table(
    {
        "age": [band for band in ("18-39", "40-64", "65+") for _ in range(40)],
        "sex": ["f", "m"] * 60,
        "diagnosis": ["asthma", "asthma", "gout", "gout", "flu", "flu"] * 20,
    }
)
ROLES = {
    "age": {"role": "quasi_identifier", "label": "age band"},
    "sex": {"role": "quasi_identifier"},
    "diagnosis": {"role": "sensitive", "label": "main diagnosis"},
}
PASSING: Mapping[str, Any] = {
    "version": 1,
    "unit_name": "patient",
    "purpose": "teaching",
    "recipients": "the public",
    "attributes": ROLES,
    "expect": [{"k_anonymity": {"k": 20}}, {"distinct_l_diversity": {"l": 3}}, {"t_closeness": {"t": 0.1}}],
}
PROFILE: Mapping[str, Any] = {
    "version": 1,
    "profile": "ema_policy_0070@2017-09",
    "unit_name": "patient",
    "attributes": ROLES,
    "expect": [{"distinct_l_diversity": {"l": 3}}],
}


def passing() -> Audit:
    """A release that keeps every demand."""
    return tcdp_audit.audit(WARDS, PASSING, all_conventions=True, column_risks=True)


def under_a_profile() -> Audit:
    """A release under a profile whose questions no one has answered."""
    return tcdp_audit.audit(WARDS, PROFILE, column_risks=True)


def of_scenarios() -> Audit:
    """The example of four intruders."""
    policy = EXAMPLES / "scenarios/patients.tcdp.yaml"
    by = "E. Novak, data office of the hospital"
    return tcdp_audit.audit(None, policy, column_risks=True, all_conventions=True, run_by=by)


def of_linked_tables() -> Audit:
    """The example of patients, their visits and their drugs, with remedies tried."""
    policy, by = EXAMPLES / "linked/clinic.tcdp.yaml", "E. Novak, data office of the hospital"
    return tcdp_audit.audit(None, policy, column_risks=True, all_conventions=True, try_remedies=True, run_by=by)


def of_figures() -> Audit:
    """The example of three tables of figures."""
    return tcdp_audit.audit(None, EXAMPLES / "outputs/outputs.tcdp.yaml")


# words and printed pages
BUDGETS: Mapping[str, tuple[Callable[[], Audit], int, int]] = {
    "passing": (passing, 2500, 6),
    "profile": (under_a_profile, 2500, 6),
    "scenarios": (of_scenarios, 5000, 12),
    "linked": (of_linked_tables, 3650, 9),
    "outputs": (of_figures, 2460, 6),
}
