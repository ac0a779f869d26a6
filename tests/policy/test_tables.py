"""Policies of several tables: columns are attributes of one list, and faults keep their lines."""

from __future__ import annotations

from typing import Any

import pytest

from tcdp_audit import PolicyError, UsageError, load_policy
from tcdp_audit.api import Plugins, read_policy

TEXT = """\
version: 1
unit: patient
tables:
  patients:
    attributes:
      sex: {role: quasi_identifier}
      age: {role: quasi_identifier, scale: numeric}
  visits:
    belongs_to: patients
    attributes:
      age: {role: quasi_identifier, scale: numeric}
      illness: {role: sensitive}
expect:
  - k_anonymity: {k: 2}
  - distinct_l_diversity: {attribute: illness, l: 2}
"""


def read(text: str, tmp_path: Any) -> Any:
    path = tmp_path / "p.tcdp.yaml"
    path.write_text(text, encoding="utf-8")
    return load_policy(path)


def test_columns_are_named_with_their_tables(tmp_path: Any) -> None:
    policy = read(TEXT, tmp_path)
    assert list(policy.attributes) == ["patients.sex", "patients.age", "visits.age", "visits.illness"]
    assert policy.document.unit == "patients.patient"
    assert policy.document.unit_column == "patient"
    assert policy.expectations[1].parameters.attribute == "visits.illness"


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("    belongs_to: patients\n", "", 8, "belongs to"),
        ("belongs_to: patients", "belongs_to: patient", 9, "no table 'patient'"),
        ("belongs_to: patients", "belongs_to: visits", 9, "belongs to itself"),
        ("unit: patient\n", "", 2, "unit"),
        ("attribute: illness", "attribute: age", 15, "age"),
        ("illness: {role: sensitive}", "illness: {role: secret}", 12, "role"),
        ("version: 1\n", "version: 1\nrelease: a.csv\n", 2, "release"),
        ("      sex: {role: quasi_identifier}", "      patient: {role: quasi_identifier}", 6, "links"),
        ("version: 1\n", "version: 1\nconventions: {known_rows: one}\n", 2, "whole histories"),
    ],
)
def test_faults_have_their_lines(old: str, new: str, line: int, sentence: str, tmp_path: Any) -> None:
    assert old in TEXT
    with pytest.raises(PolicyError) as error:
        read(TEXT.replace(old, new), tmp_path)
    lines = [one for one in str(error.value).splitlines() if f"p.tcdp.yaml:{line}:" in one]
    assert any(sentence in one for one in lines), str(error.value)


def test_columns_are_declared_in_their_tables_alone() -> None:
    """A second list cannot give a column another role."""
    columns = {"patients": {"sex": {"role": "quasi_identifier"}}, "visits": {"illness": {"role": "sensitive"}}}
    tables = {"patients": {"attributes": columns["patients"]}}
    tables["visits"] = {"belongs_to": "patients", "attributes": columns["visits"]}
    content = {"version": 1, "unit": "patient", "tables": tables, "expect": [{"k_anonymity": {"k": 2}}]}
    listed = {"patients.sex": {"role": "quasi_identifier"}, "visits.illness": {"role": "insensitive"}}
    with pytest.raises(PolicyError, match="leave these out"):
        read_policy({**content, "attributes": listed}, Plugins.load())
    tables["visits"]["attributes"] = {7: {"role": "sensitive"}, "7": {"role": "insensitive"}}
    with pytest.raises(UsageError, match="declared twice"):
        read_policy(content, Plugins.load())


def test_a_profile_may_have_all_demands(tmp_path: Any) -> None:
    expected = TEXT.partition("expect:")[0].replace("version: 1", "version: 1\nprofile: hipaa_safe_harbor@164.514-b-2")
    assert read(expected, tmp_path).expectations
