"""Faults of the names and codes that a policy declares for tables next to the release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.api import Plugins, read_policy
from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.policy.model import CompanionTable, PolicyDocument

POLICY = """version: 1
attributes:
  age: {{role: quasi_identifier, scale: numeric}}
  sex: {{role: quasi_identifier, scale: nominal}}
{table}
expect:
  - k_anonymity: {{k: 2}}
"""


def faults_of(table: str, folder: Path) -> list[tuple[int, str]]:
    place = folder / "p.yaml"
    place.write_text(POLICY.format(table=table))
    with pytest.raises(PolicyError) as raised:
        read_policy(place, Plugins.load(external=False))
    return [(line, message) for line, _, message in raised.value.faults]


@pytest.mark.parametrize(
    ("table", "line", "message"),
    [
        pytest.param(
            "population:\n  columns:\n    aeg: years",
            7,
            "population.columns.aeg: 'aeg' is not declared under `attributes`; did you mean 'age'?",
            id="an unknown attribute with another name",
        ),
        pytest.param(
            "registry:\n  file: a.csv\n  codes:\n    town: {Ava: 1}",
            8,
            "registry.codes.town: 'town' is not declared under `attributes`",
            id="an unknown attribute with codes",
        ),
        pytest.param(
            "original:\n  columns:\n    age: years\n    sex: years",
            8,
            "original.columns.sex: column 'years' is 'age' already; a column is one attribute",
            id="a column twice",
        ),
        pytest.param(
            "original:\n  codes:\n    sex:\n      M: 1\n      F: 1",
            9,
            "original.codes.sex.F: a code is named twice; a code means one value",
            id="a code twice",
        ),
        pytest.param(
            "original:\n  codes:\n    sex:\n      M: [1, m, 1]",
            8,
            "original.codes.sex.M: a code is named twice; a code means one value",
            id="a code twice in a list",
        ),
        pytest.param(
            "original:\n  codes:\n    sex:\n      M: 1\n      M: 2",
            9,
            "'M' is set here a second time; it was set on line 8",
            id="two codes without a list",
        ),
        pytest.param(
            "holdout:\n  columns: {age: years}",
            5,
            "holdout: names no `file:`, which no call can name instead",
            id="no file where no call names one",
        ),
        pytest.param(
            "previous:\n  - a.csv\n  - {file: b.csv, columns: {agee: years}}",
            7,
            "previous[1].columns.agee: 'agee' is not declared under `attributes`; did you mean 'age'?",
            id="one of several earlier releases",
        ),
        pytest.param(
            "population: {fil: a.csv}",
            5,
            "population.fil: unknown name; did you mean 'file'?",
            id="an unknown key",
        ),
        pytest.param("population: [a.csv]", 5, "population: must be text", id="a list of populations"),
        pytest.param("population: {codes: {sex: {}}}", 5, "population.codes.sex: must not be empty", id="no code"),
        pytest.param(
            "scenarios:\n  insurer:\n    knows: [age]\n    registry: {file: a.csv, columns: {sx: gender}}",
            8,
            "scenarios.insurer.registry.columns.sx: 'sx' is not declared under `attributes`; did you mean 'sex'?",
            id="a table of a scenario",
        ),
    ],
)
def test_a_fault_has_its_line(table: str, line: int, message: str, tmp_path: Path) -> None:
    assert (line, message) in faults_of(table, tmp_path)


def test_codes_are_read_as_they_are_typed() -> None:
    one = CompanionTable.model_validate({"file": "a.csv", "codes": {"zip": {"0123": "07", 5: [1, "x"]}}})

    assert one.codes_of_values == {"zip": {"0123": ["07"], "5": ["1", "x"]}}


def test_a_place_alone_declares_no_schema() -> None:
    document: dict[str, Any] = {
        "version": 1,
        "attributes": {"age": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 2}}],
        "original": "a.csv",
        "population": {"columns": {"age": "years"}},
        "previous": ["b.csv", {"file": "c.csv"}],
    }
    read = PolicyDocument.model_validate(document)

    assert read.companions == {"original": "a.csv", "previous 1": "b.csv", "previous 2": "c.csv"}
    entries = {name: (place, isinstance(one, str)) for name, place, one in read.companion_entries()}
    assert entries == {
        "original": (("original",), True),
        "population": (("population",), False),
        "previous 1": (("previous", 0), True),
        "previous 2": (("previous", 1), False),
    }
