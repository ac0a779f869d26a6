"""Roles that a file declares, in the forms that pandera, Great Expectations, dbt and data contracts write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.policy.model import Role
from tcdp_audit.drafting.declarations import Declaration, declaration_of, role_of
from tcdp_audit.drafting.declared import declarations_in

CONTRACT = """
apiVersion: v3.1.0
kind: DataContract
id: 53581432-6c55-4ba2-a65f-72344a91553a
version: 1.1.0
status: active
schema:
  - name: patients
    physicalName: patients_v1
    physicalType: table
    properties:
      - {name: patient_id, logicalType: string, primaryKey: true, classification: direct identifier}
      - {name: zip, logicalType: string, classification: quasi-identifier, tags: [geo]}
      - name: born
        logicalType: date
        classification: restricted
        customProperties:
          - {property: privacyRole, value: quasi_identifier}
      - {name: diagnosis, logicalType: string, classification: sensitive}
      - {name: ward, logicalType: string, classification: restricted}
      - {name: "2024-01-01", logicalType: integer}
  - name: wards
    properties:
      - {name: ward, classification: insensitive}
"""
OLDER_CONTRACT = """
kind: DataContract
apiVersion: v2.2.2
quantumName: my quantum
dataset:
  - table: patients
    columns:
      - {column: zip, logicalType: string, classification: quasi-identifier, clusterStatus: false}
      - {column: name, logicalType: string, classification: identifier, tags: null}
"""
SPECIFICATION = """
dataContractSpecification: 1.1.0
id: patients
models:
  patients:
    type: table
    fields:
      name: {type: varchar, pii: true, classification: restricted}
      zip: {type: varchar, pii: true, classification: quasi identifier}
"""
MANIFEST: dict[str, Any] = {
    "metadata": {"dbt_schema_version": "https://schemas.getdbt.com/dbt/manifest/v12.json", "dbt_version": "1.10.2"},
    "nodes": {
        "model.clinic.patients": {
            "resource_type": "model",
            "name": "patients",
            "alias": "patients",
            "unique_id": "model.clinic.patients",
            "columns": {
                "name": {"name": "name", "meta": {"pii": True}, "tags": [], "data_type": "text"},
                "zip": {
                    "name": "zip",
                    "meta": {},
                    "config": {"meta": {"tcdp": {"role": "quasi_identifier"}}, "tags": []},
                },
                "age": {"name": "age", "meta": {}, "tags": ["privacy:quasi_identifier"], "config": {"meta": {}}},
                "illness": {"name": "illness", "meta": {"classification": "special category"}, "tags": []},
                "note": {"name": "note", "meta": {"owner": "finance"}, "tags": ["daily"]},
            },
        },
        "test.clinic.unique": {"resource_type": "test", "name": "unique", "columns": {}},
        "model.clinic.stays": {"resource_type": "model", "name": "stays", "columns": {}},
    },
    "sources": {
        "source.clinic.raw.wards": {
            "resource_type": "source",
            "name": "wards",
            "unique_id": "source.clinic.raw.wards",
            "identifier": "wards_2024",
            "columns": {"ward": {"name": "ward", "meta": {"role": "insensitive"}}},
        }
    },
}
SUITE: dict[str, Any] = {
    "name": "patients",
    "id": "0b0ee3f7-5b4d-4a7e-8a7b-6c1b2ad0a5b3",
    "expectations": [
        {
            "type": "expect_column_values_to_not_be_null",
            "kwargs": {"column": "zip"},
            "meta": {"role": "quasi-identifier"},
        },
        {
            "type": "expect_column_values_to_be_unique",
            "kwargs": {"column": "zip"},
            "meta": {"classification": "internal"},
        },
        {"type": "expect_column_to_exist", "kwargs": {"column": "name"}, "meta": {"pii": True}},
        {
            "type": "expect_column_to_be_t_close",
            "kwargs": {
                "quasi_identifiers": ["age"],
                "column": "cost",
                "declarations": {"ward": {"role": "insensitive"}},
            },
            "meta": {},
        },
        {"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}, "meta": {"notes": "many"}},
    ],
    "meta": {"great_expectations_version": "1.24.1", "roles": {"ssn": "identifier", "born": {"role": "qi"}}},
}
SERIALIZED = """
schema_type: dataframe
api: pandas
columns:
  zip:
    dtype: string[pyarrow]
    metadata: {role: quasi_identifier}
  cost:
    dtype: int64
    isin: [1, 2]
checks:
- quasi_identifiers: [age]
  k: 2
  options: {check_name: k_anonymity, n_failure_cases: 20}
"""
MODULE = """
import pandera.pandas as pa
from tcdp_audit.integrations.pandera import expectation_check

class Patients(pa.DataFrameModel):
    name: str = pa.Field(metadata={"role": "identifier"})
    zip: str = pa.Field(metadata={"tcdp": {"role": "quasi-identifier"}})
    cost: int = pa.Field(metadata={"pii": True})

stays = pa.DataFrameSchema(
    {"ward": pa.Column(str), "illness": pa.Column(str)},
    checks=[expectation_check("distinct_l_diversity", quasi_identifiers=["ward"], attribute="illness", l=2)],
)
"""


def roles(columns: Mapping[str, Declaration]) -> dict[str, str | None]:
    return {name: None if one.role is None else one.role.value for name, one in columns.items()}


@pytest.fixture
def read(tmp_path: Path):
    def reading(name: str, content: Any, table: str = "patients", chosen: str = "") -> dict[str, str | None]:
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return roles(declarations_in(f"{path}{chosen}", table).columns)

    return reading


def test_open_data_contract(read):
    declared = {"patient_id": "identifier", "zip": "quasi_identifier", "born": "quasi_identifier"}

    assert read("c.yaml", CONTRACT) == {**declared, "diagnosis": "sensitive", "ward": None}
    assert read("c.yaml", CONTRACT, "patients_v1") == {**declared, "diagnosis": "sensitive", "ward": None}
    assert read("c.yaml", CONTRACT, "other", "#wards") == {"ward": "insensitive"}


def test_older_and_other_contracts(read):
    assert read("c.yml", OLDER_CONTRACT) == {"zip": "quasi_identifier", "name": "identifier"}
    assert read("c.yaml", SPECIFICATION, "whatever") == {"name": None, "zip": "quasi_identifier"}


def test_dbt_manifest(read):
    declared = {"name": None, "zip": "quasi_identifier", "age": "quasi_identifier", "illness": "sensitive"}

    assert read("manifest.json", MANIFEST) == declared
    assert read("manifest.json", MANIFEST, "WARDS_2024") == {"ward": "insensitive"}
    assert read("manifest.json", MANIFEST, "x", "#source.clinic.raw.wards") == {"ward": "insensitive"}


def test_a_table_that_is_not_there_is_asked_for(read):
    with pytest.raises(UsageError, match=r"no table is called 'x'; name one of 'patients', 'stays' and 'wards' as"):
        read("manifest.json", MANIFEST, "x")
    with pytest.raises(UsageError, match=r"it describes no table"):
        read("manifest.json", {"metadata": {}, "nodes": {}})
    with pytest.raises(UsageError, match=r"2 tables are called 'a'"):
        read("c.yaml", "{kind: DataContract, schema: [{name: a, properties: []}, {name: A, properties: []}]}", "a")


def test_great_expectations_suite(read):
    declared = {"zip": "quasi_identifier", "ssn": "identifier", "born": "quasi_identifier", "name": None}

    assert read("suite.json", SUITE) == {
        **declared,
        "age": "quasi_identifier",
        "cost": "sensitive",
        "ward": "insensitive",
    }


def test_pandera_as_it_writes_schemas(read):
    assert read("schema.yaml", SERIALIZED) == {"zip": "quasi_identifier", "age": "quasi_identifier"}


def test_pandera_in_a_module(read):
    model = {"name": "identifier", "zip": "quasi_identifier", "cost": None}

    assert read("schema.py", MODULE, chosen=":Patients") == model
    assert read("schema.py", MODULE, chosen=":stays") == {"ward": "quasi_identifier", "illness": "sensitive"}
    assert read("schema.py", MODULE.split("stays =", maxsplit=1)[0]) == model


def test_a_module_that_is_no_schema_is_reported(read):
    with pytest.raises(UsageError, match=r"the module has 2 schemas; name one as .*schema.py:NAME$"):
        read("schema.py", MODULE)
    with pytest.raises(UsageError, match=r"the module has no 'x'$"):
        read("schema.py", MODULE, chosen=":x")
    with pytest.raises(UsageError, match=r"it is no DataFrameSchema or DataFrameModel of pandera$"):
        read("schema.py", MODULE, chosen=":pa")
    with pytest.raises(UsageError, match=r"importing it raised ZeroDivisionError$"):
        read("schema.py", "1 / 0")
    with pytest.raises(UsageError, match=r"no module 'not_there_at_all' can be imported from here$"):
        declarations_in("not_there_at_all.schemas:Name", "x")
    with pytest.raises(UsageError, match=r"nowhere.py: no such file$"):
        declarations_in("nowhere.py:Name", "x")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.json", "{", "not JSON that can be read"),
        ("a.yaml", "a: [", "not YAML that can be read"),
        ("a.json", "[]", "the file is none that declares roles"),
        ("a.yaml", "a: b", "the file is none that declares roles"),
        ("a.yaml", "\x00", "not YAML that can be read"),
    ],
)
def test_other_files_are_refused_with_the_forms_that_are_known(read, name: str, content: str, sentence: str):
    with pytest.raises(UsageError, match=rf"{sentence}.*; known are a pandera schema"):
        read(name, content)


def test_files_that_cannot_be_read(tmp_path: Path):
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9")
    with pytest.raises(UsageError, match=r"not UTF-8 text"):
        declarations_in(str(tmp_path / "latin.yaml"), "x")
    with pytest.raises(UsageError, match=r"nowhere.yaml: no such file$"):
        declarations_in(str(tmp_path / "nowhere.yaml"), "x")
    with pytest.raises(UsageError, match=r"cannot be read: "):
        declarations_in(str(tmp_path), "x")


def test_a_role_is_said_in_several_words_and_no_other_word_is_repeated():
    assert role_of("Quasi-Identifier") is role_of("QI") is Role.QUASI_IDENTIFIER
    assert role_of("identifiers?") is role_of(3) is None
    assert declaration_of({"classification": "marker-of-somebody"}) is None
    assert declaration_of({"pii": False}) is None
    assert declaration_of(None, {"a": 1}) is None
    assert declaration_of({}, ["pii"]) == Declaration(
        None, "declared by the tag pii, which does not say in which way it identifies"
    )
