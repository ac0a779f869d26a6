"""The plugin conforms, and does what its documentation says."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import tcdp_audit_office as office

import tcdp_audit
from tcdp_audit.testing import Property, parametrize_with_properties

AGES = pa.table({"age": [30, 30, 70, 81, 92, 92], "disease": ["flu", "gout", "flu", "gout", "flu", "gout"]})
ROLES = {"age": {"role": "quasi_identifier", "scale": "numeric"}, "disease": {"role": "sensitive", "scale": "nominal"}}
PROVIDED = [*office.tcdp_audit_checks(), *office.tcdp_audit_remedies(), *office.tcdp_audit_report_sections()]


def policy(*expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": ROLES, "plugins": ["office"], "expect": [*expect], **more}


@parametrize_with_properties(PROVIDED)
def test_it_conforms(conforms: Property) -> None:
    conforms()


def test_the_checks_measure_what_they_say() -> None:
    demands = [{"best_guess": {"at_most": "1/2"}}, {"majority": {"at_most": 0.1}}, {"enough_records": {"at_least": 6}}]
    audit = tcdp_audit.audit(AGES, policy(*demands))
    assert [(one.check, one.observed, one.status.value) for one in audit.expectations] == [
        ("best_guess", 1, "failed"),
        ("majority", pytest.approx(1 / 3), "failed"),
        ("enough_records", 6, "passed"),
    ]
    report = audit.render(".md")
    assert "## Before publication" in report
    assert "| best_guess" in report.replace("&#95;", "_")


def test_top_coding_repairs_a_release() -> None:
    demand = {"k_anonymity": {"k": 2}}
    remedy = [{"top_coding": {"attribute": "age", "limit": 65}}]
    fixed = tcdp_audit.fix(AGES, policy(demand, remedy=remedy))
    assert fixed.passed
    assert sorted(fixed.released["age"].to_pylist()) == ["30", "30", ">=65", ">=65", ">=65", ">=65"]
