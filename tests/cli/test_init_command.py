"""`tcdp-audit init`: what it writes, what it says, what it refuses; from a table to a measurement in three commands."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

TABLE = "name,age,zip,shoe\n" + "".join(f"n{one % 7},{20 + one % 50},0{2139 + one % 9},42\n" for one in range(200))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a table, which is the current one."""
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
def test_each_command_names_the_next_until_figures_are_there(folder: Path, here):
    first = here("check", "people.csv")
    assert first.code == 2
    assert "`tcdp-audit init people.csv`" in first.err

    second = here("init", "people.csv")
    assert second.code == 0
    assert second.out.endswith("Then: tcdp-audit check people.csv\n")
    assert "Decide in people.tcdp.yaml the role of 1 column with `role: TODO`; check the rest." in second.out

    undecided = here(*shlex.split(second.out.splitlines()[-1].removeprefix("Then: tcdp-audit ")))
    assert undecided.code == 2
    assert "attributes.shoe.role: is still to be decided for column 'shoe': write 'identifier'" in undecided.err
    assert "people.tcdp.yaml:" in undecided.err

    policy = folder / "people.tcdp.yaml"
    text = (
        policy.read_text(encoding="utf-8").replace("TODO", "insensitive").replace("role: identifier", "role: sensitive")
    )
    policy.write_text(text, encoding="utf-8")
    third = here("check", "people.csv")
    assert third.code == 3
    assert "Measured, not judged" in third.out
    assert "tcdp-audit explain k_anonymity" in third.out
    assert here("check", "people.csv", "--allow-vacuous").code == 0


def test_what_is_there_is_replaced_with_force_only(folder: Path, here):
    assert here("init", "people.csv").code == 0
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    again = here("init", "people.csv")
    assert again.code == 2
    assert again.err == (
        "tcdp-audit: people.tcdp.yaml: is there already; name another with -o, or replace it with --force\n"
    )
    (folder / "people.tcdp.yaml").unlink()
    hierarchies = here("init", "people.csv")
    assert hierarchies.code == 2
    assert "people.hierarchies/age.csv: is there already" in hierarchies.err
    assert not (folder / "people.tcdp.yaml").exists()
    assert here("init", "people.csv", "--force", "--quiet") == (0, "", "")
    assert {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()} == before


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_the_table_itself_is_never_replaced(folder: Path, here, force: list[str]):
    assert here("init", "people.csv", "-o", "people.csv", *force).code == 2
    assert (folder / "people.csv").read_text(encoding="utf-8") == TABLE


@pytest.mark.long
def test_a_draft_elsewhere_is_named_to_the_next_command(folder: Path, here):
    (folder / "policies").mkdir()
    answer = here("init", "people.csv", "-o", "policies/a b.tcdp.yaml")

    assert answer.out.endswith("Then: tcdp-audit check people.csv --policy 'policies/a b.tcdp.yaml'\n")
    assert "release: ../people.csv" in (folder / "policies" / "a b.tcdp.yaml").read_text(encoding="utf-8")


def test_roles_that_a_file_declares_come_first(folder: Path, here):
    columns = {
        "shoe": {"name": "shoe", "meta": {"role": "insensitive"}},
        "gone": {"name": "gone", "meta": {"role": "qi"}},
    }
    node = {"resource_type": "model", "name": "people", "columns": columns}
    manifest = {"metadata": {}, "nodes": {"model.a.people": node}}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    assert here("init", "people.csv", "--roles-from", "manifest.json").code == 0
    text = (folder / "people.tcdp.yaml").read_text(encoding="utf-8")
    assert "shoe: {role: insensitive" in text
    assert "It names a column that the table lacks: 'gone'." in text


def test_a_direct_identifier_that_is_declared_something_else_is_asked_for(folder: Path, here):
    mails = "shoe\n" + "".join(f"a{one}@example.org\n" for one in range(100))
    (folder / "mails.csv").write_text(mails, encoding="utf-8")
    contract = "{kind: DataContract, schema: [{name: mails, properties: [{name: shoe, classification: insensitive}]}]}"
    (folder / "contract.yaml").write_text(contract, encoding="utf-8")

    assert here("init", "mails.csv", "--roles-from", "contract.yaml").code == 0
    text = (folder / "mails.tcdp.yaml").read_text(encoding="utf-8")
    assert "shoe: {role: TODO" in text
    assert "which is right?" in text


def test_what_cannot_be_read_leaves_nothing(folder: Path, here):
    (folder / "empty.csv").write_text("a,b\n", encoding="utf-8")
    for arguments, code in (
        (["nowhere.csv"], 2),
        (["empty.csv"], 3),
        (["people.csv", "--roles-from", "nowhere.yaml"], 2),
        (["people.csv", "-o", "nowhere/x.tcdp.yaml"], 2),
    ):
        assert here("init", *arguments).code == code
    assert sorted(path.name for path in folder.iterdir()) == ["empty.csv", "people.csv"]


@pytest.mark.long
@pytest.mark.parametrize("kind", [".parquet", ".jsonl", "folder"])
def test_other_tables_are_read(folder: Path, here, kind: str):
    from pyarrow import csv, parquet

    table = csv.read_csv(folder / "people.csv")
    path = folder / f"people{kind}"
    if kind == "folder":
        path = folder / "people"
        path.mkdir()
        for part in range(2):
            parquet.write_table(table, path / f"{part}.parquet")
    elif kind == ".parquet":
        parquet.write_table(table, path)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()), encoding="utf-8")

    assert here("init", str(path)).code == 0
    assert "age: {role: quasi_identifier, scale: numeric" in (folder / "people.tcdp.yaml").read_text(encoding="utf-8")


@pytest.mark.long
def test_an_address_is_written_without_its_password(folder: Path, here):
    import duckdb

    with duckdb.connect(str(folder / "p.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM 'people.csv'")
    answer = here("init", f"duckdb:///{folder}/p.duckdb?table=people")

    assert answer.code == 0, answer.err
    assert (folder / "people.tcdp.yaml").exists()


PATIENTS = "patient,sex\np,f\nq,f\nr,m\n"
VISITS = "patient,visit,ward\np,1,a\np,2,b\nq,3,a\nr,4,b\n"
DRUGS = "visit,patient,drug\n1,p,a\n2,p,b\n2,p,b\n"


@pytest.fixture
def clinic(folder: Path) -> Path:
    """The folder with three linked tables."""
    for name, text in {"patients": PATIENTS, "visits": VISITS, "drugs": DRUGS}.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def test_a_draft_of_three_files_is_audited_by_the_command_that_it_names(clinic: Path, here):
    answer = here("init", "visits.csv", "drugs.csv", "patients.csv")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines()[:4] == [
        "visits.csv, drugs.csv and patients.csv: 3 tables: visits 4 records, drugs 3 records and patients 3 records",
        "unit              patients.patient",
        "link              visits to patients, by patient",
        "link              drugs to visits, by visit",
    ]
    assert answer.out.endswith("Then: tcdp-audit check\n")
    text = (clinic / "tables.tcdp.yaml").read_text(encoding="utf-8")
    assert "    file: visits.csv\n    belongs_to: patients\n    by: patient\n    attributes:\n" in text
    audit = here("check", "--report", "result.json")
    assert audit.code == 3, audit.err
    assert "Measured, not judged" in audit.out
    outcomes = json.loads((clinic / "result.json").read_text(encoding="utf-8"))["outcomes"]
    assert {one["status"] for one in outcomes if one["check"] != "linked_rows"} == {"passed", "measured"}

    (clinic / "policies").mkdir()
    assert here("init", "visits.csv", "drugs.csv", "patients.csv", "-o", "policies/c.tcdp.yaml", "-q").code == 0
    assert here("check", "--policy", "policies/c.tcdp.yaml").code == 3
    assert "file: ../drugs.csv" in (clinic / "policies" / "c.tcdp.yaml").read_text(encoding="utf-8")


def test_a_table_without_a_link_is_left_to_a_person(clinic: Path, here):
    (clinic / "wards.csv").write_text("ward,beds\na,3\nb,4\n", encoding="utf-8")
    answer = here("init", "patients.csv", "visits.csv", "wards.csv")
    said = " ".join(answer.out.split())

    assert answer.code == 0
    assert (
        "link wards: TODO. No link of it was found. It has a row for each 'ward' of visits: leave out a table" in said
    )
    assert "Decide in tables.tcdp.yaml the links of wards: the file says how." in said
    refusal = here("check")
    assert refusal.code == 2
    assert "tables.tcdp.yaml:" in refusal.err
    text = (clinic / "tables.tcdp.yaml").read_text(encoding="utf-8")
    (clinic / "tables.tcdp.yaml").write_text(
        (text[: text.index("  wards:")] + text[text.index("conventions:") :]).replace("role: TODO", "role: insensitive")
    )
    assert here("check").code == 3


def test_what_can_be_no_draft_of_several_tables_gets_a_sentence(clinic: Path, here):
    (clinic / "sub").mkdir()
    (clinic / "sub" / "visits.csv").write_text(VISITS, encoding="utf-8")
    (clinic / "empty.csv").write_text("a,b\n", encoding="utf-8")
    (clinic / "ragged.csv").write_text("a,b\n1\n1,2,3\n", encoding="utf-8")
    for arguments, code, sentence in (
        (["visits.csv", "./visits.csv"], 2, "./visits.csv: the file is named twice; name each table once"),
        (
            ["visits.csv", "sub/visits.csv"],
            2,
            "sub/visits.csv: the table would be called 'visits', as that of visits.csv",
        ),
        (["visits.csv", "nowhere.csv"], 2, "nowhere.csv"),
        (["visits.csv", "empty.csv"], 3, "empty.csv: the table has no record"),
        (["visits.csv", "ragged.csv"], 3, "ragged.csv"),
        (["visits.csv", "patients.csv", "-o", "patients.csv", "--force"], 2, "this is the table 'patients'"),
        (["visits.csv", "patients.csv", "--roles-from", "schema.py"], 2, "is about one table"),
        ([], 2, ""),
    ):
        answer = here("init", *arguments)
        assert (answer.code, answer.out) == (code, ""), arguments
        assert sentence in answer.err
    assert not list(clinic.glob("*.tcdp.yaml"))
    assert (clinic / "patients.csv").read_text(encoding="utf-8") == PATIENTS


def test_each_table_takes_the_roles_that_a_file_declares_of_its_name(clinic: Path, here):
    ward = "{name: ward, classification: sensitive}"
    sex = "{name: sex, classification: quasi_identifier}"
    tables = f"{{name: visits, properties: [{ward}]}}, {{name: patients, properties: [{sex}]}}"
    (clinic / "contract.yaml").write_text(f"{{kind: DataContract, schema: [{tables}]}}", encoding="utf-8")

    assert here("init", "patients.csv", "visits.csv", "--roles-from", "contract.yaml").code == 0
    text = (clinic / "tables.tcdp.yaml").read_text(encoding="utf-8")
    assert "ward: {role: sensitive" in text
    assert "sex: {role: quasi_identifier" in text
    refusal = here("init", "visits.csv", "drugs.csv", "--roles-from", "contract.yaml", "-o", "x.tcdp.yaml")
    assert refusal.code == 2
    assert "no table is called 'drugs'" in refusal.err


def test_a_pseudonym_that_repeats_is_the_unit_and_its_histories_are_measured(clinic: Path, here):
    rows = "".join(f"x{one // 2},{'ab'[one % 3 % 2]}\n" for one in range(40))
    (clinic / "stays.csv").write_text(f"patient_id,ward\n{rows}", encoding="utf-8")
    answer = here("init", "stays.csv")

    assert "unit              patient_id\n" in answer.out
    assert "Check that 'patient_id' is the person to protect, and a pseudonym drawn for this release." in answer.out
    assert here("check", "stays.csv").code == 3


@pytest.mark.usefixtures("folder")
def test_scenarios_are_named_with_their_columns(here):
    said = here("init", "people.csv", "--scenarios")

    assert said.code == 0
    lines = " ".join(said.out.split())
    assert "scenario neighbour: a person next door knows age and zip" in lines
    assert "scenario journalist: a journalist with a register knows age and zip" in lines
    assert "scenario No colleague is proposed: a neighbour knows every quasi-identifier already." in lines
    assert "Accept, change or delete the scenarios in people.tcdp.yaml." in said.out


def test_the_draft_as_json_names_what_is_proposed(folder: Path, here):
    survey = "hh_id,wgt,age,q1,q2,q3\n" + "".join(
        f"h{one // 2},{1 + one / 9},{one % 60},a{one % 3},b,c\n" for one in range(60)
    )
    (folder / "survey.csv").write_text(survey, encoding="utf-8")
    draft = json.loads(here("init", "survey.csv", "--json").out)

    assert (draft["household"], draft["weight"], draft["unit"]) == ("hh_id", "wgt", None)
    assert draft["questions"] == [["q1", "q2", "q3"]]
    assert draft["files"][0] == "survey.tcdp.yaml"
    assert {one["name"]: one["role"] for one in draft["columns"]} == {
        "wgt": "insensitive",
        "age": "quasi_identifier",
        **dict.fromkeys(("q1", "q2", "q3"), "TODO"),
    }


@pytest.mark.usefixtures("folder")
def test_columns_that_a_person_names_are_taken_or_refused(here):
    draft = json.loads(here("init", "people.csv", "--json", "--unit", "zip", "--weight", "shoe").out)

    assert (draft["unit"], draft["weight"]) == ("zip", "shoe")
    assert here("init", "people.csv", "--force", "--unit", "zap").err == (
        "tcdp-audit: unit: the table has no column 'zap'; did you mean 'zip'?\n"
    )
    assert (
        "weight: 'name' has other values than numbers from 0"
        in here("init", "people.csv", "--force", "--weight", "name").err
    )


def test_questions_need_a_terminal(folder: Path, here):
    answer = here("init", "people.csv", "--ask")

    assert answer.code == 2
    assert answer.err.startswith("tcdp-audit: --ask: asks questions in a terminal, and this is none")
    assert not (folder / "people.tcdp.yaml").exists()
