"""Audits of real data that a lay reader is to understand: Adult by groups, Census by linkage with its original."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

import tcdp_audit
from tcdp_audit.core.results.audit import Audit

ADULT = """\
version: 1
unit_name: person
attributes:
  sex: {role: quasi_identifier}
  age: {role: quasi_identifier, scale: numeric}
  race: {role: quasi_identifier}
  marital-status: {role: quasi_identifier, label: marital status}
  education: {role: quasi_identifier}
  native-country: {role: quasi_identifier, label: country of birth}
  workclass: {role: insensitive}
  occupation: {role: sensitive}
  salary-class: {role: sensitive, label: income class}
expect:
  - k_anonymity: {k: 5}
  - distinct_l_diversity: {l: 2, attribute: occupation}
  - homogeneity: {at_most: 0.05, attribute: salary-class}
  - t_closeness: {t: 0.5, attribute: occupation, severity: warning}
  - reidentification_risk: {measure: average, at_most: 0.3}
"""
KNOWN = ("AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX")
SECRET = ("TAXINC", "POTHVAL", "INTVAL", "PEARNVAL", "FICA", "WSALVAL", "ERNVAL")
CENSUS: dict[str, Any] = {
    "version": 1,
    "rows_aligned": True,
    "unit_name": "person",
    "attributes": {
        **{name: {"role": "quasi_identifier", "scale": "numeric"} for name in KNOWN},
        **{name: {"role": "sensitive", "scale": "numeric"} for name in SECRET},
    },
    "expect": [
        {"distance_record_linkage": {"at_most": 0.05}},
        {"sd_interval_disclosure": {"attributes": ["POTHVAL"], "p": 10, "at_most": 0.2}},
        {"rank_interval_disclosure": {"attributes": ["INTVAL"], "p": 10, "at_most": 0.5}},
    ],
}


def adult(data: Path) -> Audit:
    """Adult under demands on groups, as `check --report` audits it."""
    return _audited(data / "adult/adult.csv", yaml.safe_load(ADULT))


def census(data: Path) -> Audit:
    """Census, microaggregated in threes, beside its original."""
    masked = data / "casc/census_masked/mdav_k3.csv"
    return _audited(masked, CENSUS, original=data / "casc/census.csv")


def _audited(release: Path, policy: dict[str, Any], **tables: Path) -> Audit:
    return tcdp_audit.audit(release, policy, all_conventions=True, column_risks=True, **tables)
