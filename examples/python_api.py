"""Auditing from Python: a release under a policy, one figure of a table, and a gate that raises.

Run it from anywhere: `python examples/python_api.py`.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.csv

import tcdp_audit

PAPERS = Path(__file__).parent / "papers"


def audit_a_file() -> None:
    """Audit the release that a policy names, and look at every outcome."""
    audit = tcdp_audit.audit(None, PAPERS / "li07_table4.tcdp.yaml")
    print(f"{audit.release.name}: {audit.status}")
    for outcome in audit.expectations:
        print(f"  {outcome.title}, {outcome.attribute or 'all'}: {outcome.observed:g} ({outcome.status.value})")


def measure_a_table() -> None:
    """Measure one figure of a table in memory; pandas and polars tables and DuckDB relations work as well."""
    table = pyarrow.csv.read_csv(PAPERS / "li07_table5.csv")
    outcome = tcdp_audit.measure(
        "t_closeness",
        table,
        quasi_identifiers=["zip", "age"],
        attribute="salary",
        scale="numeric",
        distance="ordered",
        t="1/6",
    )
    print(f"table 5 is 1/6-close in salary: {outcome.status.value}, observed {outcome.observed:.6f}")


def hold_a_release_back() -> None:
    """Stop a pipeline where a release does not keep its policy."""
    policy = {
        "version": 1,
        "attributes": {
            "zip": {"role": "quasi_identifier"},
            "age": {"role": "quasi_identifier"},
            "salary": {"role": "sensitive", "scale": "numeric"},
            "disease": {"role": "sensitive", "scale": "nominal"},
        },
        "expect": [{"k_anonymity": {"k": 5}}],
    }
    try:
        tcdp_audit.audit(PAPERS / "li07_table5.csv", policy).raise_for_failures()
    except tcdp_audit.TcdpAuditError as failure:
        print(failure)


if __name__ == "__main__":
    audit_a_file()
    measure_a_table()
    hold_a_release_back()
