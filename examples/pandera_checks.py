"""Expectations in schemas of pandera: two by hand, those of a policy, and a schema that comes from YAML.

Run it from anywhere: `python examples/pandera_checks.py`.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tcdp_audit.integrations.pandera import expectation_check, schema_of, validate

PAPERS = Path(__file__).parent / "papers"


def hold_a_frame_back() -> None:
    """Put expectations next to other checks of a schema, and see which records fail."""
    release = pd.read_csv(PAPERS / "t20_release.csv", dtype=str)
    known = ["city", "age"]
    schema = pa.DataFrameSchema(
        {"age": pa.Column(str, pa.Check.str_matches(r"\d+"))},
        checks=[
            expectation_check("k_anonymity", quasi_identifiers=known, k=2),
            expectation_check("distinct_l_diversity", quasi_identifiers=known, attribute="illness", l=2),
        ],
    )
    validation = validate(release, schema)
    print(f"by hand: {validation.status}")
    for outcome, records in validation:
        failing = [] if records is None else records.nonzero()[0].tolist()
        print(f"  {outcome.title}: {outcome.observed:g} ({outcome.status.value}), rows {failing}")


def ask_pandera_itself() -> None:
    """Validate by pandera's own method: its failure cases name records and show no cell."""
    release = pd.read_csv(PAPERS / "t20_release.csv", dtype=str)
    try:
        schema_of(PAPERS / "t20_release.tcdp.yaml").validate(release, lazy=True)
    except pa.errors.SchemaErrors as failures:
        print(failures.failure_cases[["check", "failure_case", "index"]].to_string(index=False))


def keep_a_schema_as_yaml() -> None:
    """Write a policy as a schema, read it back, and validate."""
    schema = schema_of(PAPERS / "li07_table4.tcdp.yaml")
    again = pa.DataFrameSchema.from_yaml(schema.to_yaml())
    release = pd.read_csv(PAPERS / "li07_table4.csv", dtype={"zip": str})
    print(f"from YAML: {validate(release, again).status}, the same schema: {again == schema}")


if __name__ == "__main__":
    hold_a_frame_back()
    ask_pandera_itself()
    keep_a_schema_as_yaml()
