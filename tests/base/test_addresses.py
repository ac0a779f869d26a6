"""Addresses beside paths: what is relative to a policy's folder, and what stands as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tcdp_audit import load_policy
from tcdp_audit.core.base.files import scheme_of

POLICY = "version: 1\nattributes: {zip: {role: quasi_identifier}}\nexpect: [{k_anonymity: {k: 2}}]\n"


@pytest.mark.parametrize(
    ("table", "scheme"),
    [
        ("postgresql+psycopg://office/people", "postgresql+psycopg"),
        ("S3://bucket/release", "s3"),
        ("spark:health.discharges", "spark"),
        ("C:/people.csv", ""),
        ("data/release.csv", ""),
        ("1a://x", ""),
        (Path("spark:x"), ""),
        (None, ""),
    ],
)
def test_the_scheme_of_an_address(table: Any, scheme: str) -> None:
    assert scheme_of(table) == scheme


def test_paths_are_relative_to_the_policy_and_addresses_are_not(tmp_path: Path) -> None:
    (tmp_path / "p.tcdp.yaml").write_text(POLICY)
    (tmp_path / "study:one.csv").write_text("zip\n1\n")
    policy = load_policy(tmp_path / "p.tcdp.yaml")
    for address in ("sqlite:///people.db?table=t", "spark:health.discharges", "s3://bucket/x.csv"):
        assert policy.resolve(address) == address
    for path in ("release.csv", "study:one.csv"):  # a file of that very name is meant itself
        assert policy.resolve(path) == str(tmp_path / path)
