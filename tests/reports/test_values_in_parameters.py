"""Values that a check's parameters name are the release's cells: no report shows them unless asked to."""

from __future__ import annotations

from pathlib import Path

import pytest

import tcdp_audit

POLICY = """\
version: 1
attributes:
  zip: {role: quasi_identifier}
  illness: {role: sensitive}
  pay: {role: sensitive, scale: numeric}
expect:
  - skewness: {attribute: illness, sensitive_values: [MARKERILLNESS]}
  - implied_epsilon: {attributes: [illness, pay]}
"""
RELEASE = "zip,illness,pay\na,MARKERILLNESS,1\na,cold,2\nb,MARKERILLNESS,1\nb,cold,2\n"


@pytest.fixture
def audit(tmp_path: Path) -> tcdp_audit.Audit:
    (tmp_path / "p.tcdp.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "r.csv").write_text(RELEASE, encoding="utf-8")
    return tcdp_audit.audit(tmp_path / "r.csv", tmp_path / "p.tcdp.yaml")


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_a_harmful_value_is_counted_and_not_named(audit: tcdp_audit.Audit, suffix: str):
    assert audit.expectations[0].parameters["sensitive_values"] == "1 value"
    assert "MARKERILLNESS" not in audit.render(suffix)


def test_names_of_attributes_stay_in_the_policy_as_shown(audit: tcdp_audit.Audit):
    assert "attributes: [illness, pay]" in audit.render(".html")
