"""`check`, `verify` and the refusals of the command line for a release of several tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tcdp_audit.cli.run import run
from tcdp_audit.core.results.written_verdict import contradictions

POLICY = """\
version: 1
unit: patient
tables:
  patients:
    file: patients.csv
    attributes: {sex: {role: quasi_identifier}}
  visits:
    file: visits.csv
    belongs_to: patients
    attributes: {month: {role: quasi_identifier}}
expect:
  - k_anonymity: {k: 2}
"""


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("clinic.tcdp.yaml").write_text(POLICY, encoding="utf-8")
    Path("patients.csv").write_text("patient,sex\np,f\nq,f\n", encoding="utf-8")
    Path("visits.csv").write_text("patient,month\np,1\nq,1\n", encoding="utf-8")
    Path("others.csv").write_text("patient,month\np,1\nq,2\n", encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("clinic")
def test_the_files_of_the_policy_are_judged_together(capsys: Any) -> None:
    assert run("check", ["--policy", "clinic.tcdp.yaml", "--report", "result.json"]) == 0
    out = capsys.readouterr().out
    assert "patients.csv, visits.csv: 2 tables\n" in out
    assert "visits    patients    patient        2               0" in out
    assert "Two tables: no patient is alone with their visits, and at \nleast 2 are alike." in out
    tables = json.loads(Path("result.json").read_text(encoding="utf-8"))["release"]["tables"]
    assert [tables[name]["records"] for name in ("patients", "visits")] == [2, 2]
    assert run("verify", ["result.json", "-q"]) == 0
    Path("visits.csv").write_text("patient,month\np,1\nq,2\n", encoding="utf-8")
    assert run("verify", ["result.json", "-q"]) == 1


@pytest.mark.usefixtures("clinic")
@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--table", "visits=others.csv"], 1, ""),
        (["--table", "visit=others.csv"], 2, "visits"),
        (["--table", "visits"], 2, "write the table's name"),
        (["--table", "visits=nowhere.csv"], 2, "no such file"),
        (["--table", "visits=others.csv", "--table", "visits=visits.csv"], 2, "visits"),
        (["--report", "visits.csv.json", "--table", "visits=visits.csv.json"], 2, ""),
    ],
)
def test_another_file_may_take_the_place_of_one(options: list[str], code: int, sentence: str, capsys: Any) -> None:
    assert run("check", ["--policy", "clinic.tcdp.yaml", *options]) == code
    assert sentence in capsys.readouterr().err


@pytest.mark.usefixtures("clinic")
def test_several_tables_are_written_to_a_folder(capsys: Any) -> None:
    assert run("fix", ["--policy", "clinic.tcdp.yaml", "-o", "out.csv"]) == 2
    assert "written to a folder" in capsys.readouterr().err
    assert not Path("out.csv").exists()


LARGER = POLICY.replace("{k: 2}", "{k: 3}")


@pytest.fixture
def failing_clinic(clinic: Path) -> Path:
    """Four patients are alike, and one is alone by what her two visits show."""
    people = [("p", "1"), ("q", "1"), ("r", "1"), ("s", "1"), ("t", "1"), ("t", "2")]
    Path("clinic.tcdp.yaml").write_text(LARGER, encoding="utf-8")
    Path("patients.csv").write_text("patient,sex\n" + "".join(f"{one},f\n" for one in "pqrst"), encoding="utf-8")
    Path("visits.csv").write_text("patient,month\n" + "".join(f"{a},{b}\n" for a, b in people), encoding="utf-8")
    return clinic


@pytest.mark.usefixtures("failing_clinic")
def test_what_fix_writes_is_verified_and_attested() -> None:
    assert run("check", ["--policy", "clinic.tcdp.yaml", "--try-remedies", "-q"]) == 1
    assert run("fix", ["--policy", "clinic.tcdp.yaml", "-o", "repaired", "--report", "result.json"]) == 0
    assert sorted(one.name for one in Path("repaired").iterdir()) == ["patients.csv", "visits.csv"]
    assert run("check", ["repaired", "--policy", "clinic.tcdp.yaml", "-q"]) == 0
    assert run("verify", ["result.json", "repaired", "-q"]) == 3  # what the remedies did needs their input
    assert run("verify", ["result.json", "repaired", "--source-release", ".", "-q"]) == 0
    _write_keys()
    assert run("attest", ["result.json", "repaired", "--key", "key.pem", "-o", "release.json", "-q"]) == 0
    files = [part for name in ("patients", "visits") for part in ("--table", f"{name}=repaired/{name}.csv")]
    assert run("verify", ["release.json", *files, "--key", "public.pem", "-q"]) == 0
    with Path("repaired/visits.csv").open("a", encoding="utf-8") as file:
        file.write("p,9\n")
    assert run("verify", ["result.json", "repaired", "-q"]) == 1
    assert run("verify", ["release.json", *files, "--key", "public.pem", "-q"]) == 1


def _write_keys() -> None:
    key = Ed25519PrivateKey.generate()
    Path("key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    Path("public.pem").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))


@pytest.mark.usefixtures("clinic")
def test_a_folder_has_one_file_of_each_name(capsys: Any) -> None:
    """Two tables that the policy has in two folders would otherwise be the same file."""
    assert run("check", [".", "--policy", "clinic.tcdp.yaml", "--report", "result.json"]) == 0
    assert run("check", [".", "--policy", "clinic.tcdp.yaml", "--report", "visits.csv"]) == 2
    text = POLICY.replace("patients.csv", "a/t.csv").replace("visits.csv", "b/t.csv")
    Path("clinic.tcdp.yaml").write_text(text, encoding="utf-8")
    Path("t.csv").write_text("patient,sex,month\np,f,1\nq,f,1\n", encoding="utf-8")
    assert run("check", [".", "--policy", "clinic.tcdp.yaml"]) == 2
    assert "have the same name" in capsys.readouterr().err


ON_POPULATION = POLICY.replace("k_anonymity: {k: 2}", "k_map: {k: 2}")


@pytest.mark.usefixtures("clinic")
def test_other_tables_are_named_by_table_and_verified(capsys: Any) -> None:
    Path("clinic.tcdp.yaml").write_text(ON_POPULATION, encoding="utf-8")
    Path("all").mkdir()
    Path("all/patients.csv").write_text("patient,sex\na,f\nb,f\nc,f\n", encoding="utf-8")
    Path("all/visits.csv").write_text("patient,month\na,1\nb,1\nc,2\n", encoding="utf-8")
    files = [part for name in ("patients", "visits") for part in ("--population", f"{name}=all/{name}.csv")]
    for given in (files, ["--population", "all"]):
        assert run("check", ["--policy", "clinic.tcdp.yaml", *given, "--report", "result.json"]) == 0
        assert run("verify", ["result.json", *given, "-q"]) == 0
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    assert result["companions"]["population"]["tables"]["visits"]["records"] == 3
    assert not list(contradictions(result))
    assert run("verify", ["result.json", "-q"]) == 3  # the policy names no population
    assert run("check", ["--policy", "clinic.tcdp.yaml", *given, "--report", "all/visits.csv"]) == 2
    Path("all/visits.csv").write_text("patient,month\na,1\nb,2\nc,2\n", encoding="utf-8")
    assert run("verify", ["result.json", "--population", "all", "-q"]) == 1
    capsys.readouterr()


@pytest.mark.usefixtures("clinic")
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--population", "others.csv"], "population: the policy has several tables (patients, visits)"),
        (["--population", "visits=others.csv"], "no table 'patients' of the population"),
        (["--population", "visit=others.csv"], "did you mean 'visits'?"),
        (["--population", "visits=others.csv", "--population", "others.csv"], "write the table's name"),
        (["--population", "visits=a.csv", "--population", "visits=b.csv"], "is given twice"),
        (["--original", "others.csv"], "original: the policy has several tables (patients, visits)"),
    ],
)
def test_another_table_is_several_as_well(options: list[str], sentence: str, capsys: Any) -> None:
    Path("clinic.tcdp.yaml").write_text(ON_POPULATION, encoding="utf-8")
    assert run("check", ["--policy", "clinic.tcdp.yaml", *options]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.usefixtures("clinic")
def test_what_no_demand_judges_is_in_the_verdict_and_can_be_signed() -> None:
    text = POLICY.replace("k_anonymity: {k: 2}", "identifying_attribute_count: {at_most: 2}")
    Path("clinic.tcdp.yaml").write_text(text, encoding="utf-8")
    assert run("check", ["--policy", "clinic.tcdp.yaml", "--table", "visits=others.csv", "--report", "r.json"]) == 0
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert "patients.patient joins the rows, and 2 of 2 patients are alone" in result["verdict"]["title"]
    assert not list(contradictions(result))
