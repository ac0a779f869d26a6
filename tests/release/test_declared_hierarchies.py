"""Hierarchies of a policy: every one that is unsound is told, at its line."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.core.base.errors import PolicyError

TABLE = pa.table({"age": [30, 40], "zip": ["a", "b"], "town": ["x", "y"]})
POLICY = """\
version: 1
attributes:
  age: {role: quasi_identifier, hierarchy: age.csv}
  zip: {role: quasi_identifier, hierarchy: nowhere.csv}
  town: {role: quasi_identifier, hierarchy: {"*": [x, y]}}
expect:
  - k_anonymity: {k: 2}
"""


def test_all_that_are_unsound_are_reported_at_their_lines(tmp_path: Path) -> None:
    policy = tmp_path / "p.tcdp.yaml"
    policy.write_text(POLICY)
    (tmp_path / "age.csv").write_text("age,group,all\n30,young,*\n40,young,*\n")
    with pytest.raises(PolicyError) as caught:
        audit(TABLE, policy)
    header, missing = caught.value.faults
    assert header == (
        3,
        44,
        (
            "attributes.age.hierarchy: age.csv: line 1: under another root; a hierarchy has one root; if that line is "
            "a header, remove it"
        ),
    )
    assert missing[:2] == (4, 44)
    assert missing[2].startswith("attributes.zip.hierarchy: nowhere.csv: the hierarchy cannot be read: No such file")


def test_of_a_policy_without_a_file_they_are_reported_by_attribute() -> None:
    attributes = {
        "age": {"role": "quasi_identifier", "hierarchy": {"*": [30, 30]}},
        "zip": {"role": "quasi_identifier", "hierarchy": {"*": "a"}},
        "town": {"role": "insensitive"},
    }
    with pytest.raises(PolicyError, match=r"^attributes\.age\.hierarchy: the inline hierarchy: a leaf that is on"):
        audit(TABLE, {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": 2}}]})
