"""`tcdp-audit hierarchy`: the file that it writes, the preview, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import tcdp_audit

JOBS = ("2310", "5223", "9999")
TABLE = "age,zip,day,job,note\n" + "".join(
    f"{20 + row % 40},{2100 + row % 25:05d},2021-{row % 12 + 1:02d}-05,{JOBS[row % 3]},unlikely-{row}\n"
    for row in range(200)
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_bands_and_their_preview(folder: Path, here):
    answer = here("hierarchy", "people.csv", "age", "--bands", "5,10")

    assert answer == (
        0,
        (
            "age: 40 values in 200 records\n"
            "level  labels          groups  records in the smallest\n"
            "    0  values              40                        5\n"
            "    1  bands of 5           8                       25\n"
            "    2  bands of 10          4                       50\n"
            "    3  all                  1                      200\n"
            "20 → 20-24 → 20-29 → *\n"
            "30 → 30-34 → 30-39 → *\n"
            "40 → 40-44 → 40-49 → *\n"
            "written: age.hierarchy.csv\n"
            "In the policy, below `attributes`:\n"
            "  age: {role: quasi_identifier, scale: numeric, hierarchy: age.hierarchy.csv}\n"
        ),
        "",
    )
    assert (folder / "age.hierarchy.csv").read_text(encoding="utf-8").splitlines()[0] == "20;20-24;20-29;*"


@pytest.mark.parametrize(
    ("column", "arguments"),
    [
        ("age", ["--bands", "5,10,20"]),
        ("zip", ["--prefix", "4,3"]),
        ("day", ["--dates", "month,quarter,year"]),
        ("job", ["--from", "isco"]),
    ],
)
def test_the_line_of_the_preview_is_a_policy_that_a_repair_uses(folder: Path, here, column: str, arguments: list[str]):
    line = here("hierarchy", "people.csv", column, *arguments).out.splitlines()[-1]
    others = [one for one in ("age", "zip", "day", "job", "note") if one != column]
    lines = [line, *(f"  {one}: {{role: insensitive}}" for one in others)]
    policy = "\n".join(["version: 1", "attributes:", *lines, "expect: [{k_anonymity: {k: 30}}]"])
    (folder / "p.tcdp.yaml").write_text(
        f"{policy}\nremedy: [{{generalization: {{suppression: 0.4}}}}]\n", encoding="utf-8"
    )
    assert tcdp_audit.fix("people.csv", "p.tcdp.yaml").after.status == "passed"


def test_values_of_another_form_are_counted_and_not_shown(here):
    answer = here("hierarchy", "people.csv", "job", "--from", "isco")

    assert "1 value in 66 records of another form, under `other`. Check them in the file.\n" in answer.out
    assert "9999" not in answer.out


def test_missing_values_are_no_values(folder: Path, here):
    (folder / "gaps.csv").write_text("age\n20\nNA\n\n30\n", encoding="utf-8")
    (folder / "gaps.csv").write_text("age,x\n20,1\nNA,1\n,1\n30,1\n", encoding="utf-8")
    answer = here("hierarchy", "gaps.csv", "age", "--bands", "10")

    assert answer.out.startswith("age: 2 values in 2 records, 2 records without a value\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["people.csv", "age"], "choose one of --bands, --prefix, --dates and --from"),
        (["people.csv", "age", "--bands", "5", "--prefix", "1"], "choose one of --bands, --prefix, --dates and --from"),
        (["people.csv", "aeg", "--bands", "5"], "people.csv: has no column 'aeg'; did you mean 'age'?"),
        (["people.csv", "age", "--bands", "5,7"], "each a multiple of the one before"),
        (["people.csv", "note", "--bands", "5"], "200 of 200 values of the column are no numbers"),
        (["people.csv", "note", "--from", "icd"], "are no codes of ICD-10, such as E11.9"),
        (["people.csv", "age", "--from", "nace"], "'nace' is not one of 'icd', 'isco', 'nuts'"),
        (["people.csv", "age", "--bands", "5", "-o", "people.csv"], "people.csv: is there already"),
        (["people.csv", "age", "--bands", "5", "-o", "people.csv", "--force"], "this is the table"),
        (["people.csv", "age", "--bands", "5", "-o", "none/a.csv"], "the folder none does not exist"),
        (["none.csv", "age", "--bands", "5"], "none.csv: no such file"),
    ],
)
def test_a_wrong_call_is_refused_and_writes_nothing(folder: Path, here, arguments: list[str], sentence: str):
    refused = here("hierarchy", *arguments)

    assert refused.code == 2
    assert sentence in refused.err
    assert "unlikely" not in refused.err
    assert [one.name for one in folder.iterdir()] == ["people.csv"]
    assert (folder / "people.csv").read_text(encoding="utf-8") == TABLE


def test_what_is_there_is_replaced_with_force_only(folder: Path, here):
    (folder / "age.hierarchy.csv").write_text("mine", encoding="utf-8")
    assert here("hierarchy", "people.csv", "age", "--bands", "5").code == 2
    assert (folder / "age.hierarchy.csv").read_text(encoding="utf-8") == "mine"
    assert here("hierarchy", "people.csv", "age", "--bands", "5", "--force", "--quiet") == (0, "", "")
    assert (folder / "age.hierarchy.csv").read_text(encoding="utf-8").startswith("20;20-24;*\n")


def test_an_empty_column_is_code_3(folder: Path, here):
    (folder / "empty.csv").write_text("age,x\n,1\n,2\n", encoding="utf-8")
    refused = here("hierarchy", "empty.csv", "age", "--bands", "5")
    assert refused.code == 3
    assert "empty.csv: column 'age' has no value in any record" in refused.err


@pytest.mark.parametrize("column", ["a b", "../x", "*", "é", "-o"])
def test_odd_names_of_columns(folder: Path, here, column: str):
    (folder / "odd.csv").write_text(f'"{column}",x\n20,1\n31,2\n', encoding="utf-8")
    answer = (
        here("hierarchy", "--bands", "10", "odd.csv", "--", column)
        if column == "-o"
        else here("hierarchy", "odd.csv", column, "--bands", "10")
    )
    assert answer.code == 0
    assert len([*folder.glob("*.hierarchy.csv")]) == 1


def test_labels_that_are_long_or_no_text_of_a_line_fit_the_screen(folder: Path, here):
    (folder / "long.csv").write_text(f'code,x\n"{"a" * 500}",1\n"b\x1b[31mc\n d",2\n', encoding="utf-8")
    answer = here("hierarchy", "long.csv", "code", "--prefix", "100,1")

    assert answer.code == 0
    assert "\x1b" not in answer.out
    assert max(map(len, answer.out.splitlines())) < 120
