"""`tcdp-audit fix`: the output is written only if it passes, and what was done is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

AGES = ["20", "21", "33", "51", "52", "67"]
POLICY = """
version: 1
attributes:
  age: {{role: quasi_identifier, scale: numeric}}
  zip: {{role: quasi_identifier, hierarchy: {{any: {{north: [a, b], south: [c, d]}}}}}}
  disease: {{role: sensitive, scale: nominal}}
expect:
  - k_anonymity: {{k: {k}}}
{remedy}"""
MONDRIAN = "remedy:\n  - mondrian: {}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"{age},{'abcd'[i % 4]},{'flu' if i % 2 else 'gout'}" for i, age in enumerate(AGES)]
    Path("release.csv").write_text("\n".join(["age,zip,disease", *rows, ""]), encoding="utf-8")
    return tmp_path


def write_policy(k: int = 3, remedy: str = MONDRIAN) -> None:
    Path("release.tcdp.yaml").write_text(POLICY.format(k=k, remedy=remedy), encoding="utf-8")


@pytest.mark.usefixtures("folder")
def test_a_repaired_release_is_written_and_said(here: Any) -> None:
    write_policy()
    output = here("fix", "release.csv", "--output", "fixed.csv", "--report", "fixed.html", "--report", "fixed.json")
    assert output.code == 0
    assert output.err == ""
    assert "release.csv: 6 records, 3 columns" in output.out
    assert "1. Mondrian" in output.out
    assert "Records: 6 in, 6 out, shuffled, seed 0." in output.out
    assert "written: fixed.csv\nwritten: fixed.html\nwritten: fixed.json" in output.out
    verdict = "✓ Fit, but nothing is demanded of 'disease', and useless for: zip. The release meets its policy now."
    assert " ".join(output.out.split()).endswith(verdict)
    assert Path("fixed.csv").read_text(encoding="utf-8").startswith("age,zip,disease\n")
    assert max(map(len, output.out.splitlines())) <= 80
    result = json.loads(Path("fixed.json").read_text(encoding="utf-8"))
    assert result["status"] == "passed"
    assert result["release"]["uri"] == "fixed.csv"
    assert [one["remedy"] for one in result["change_log"]["steps"]] == ["mondrian"]
    assert here("check", "fixed.csv", "--quiet").code == 0


@pytest.mark.long
@pytest.mark.usefixtures("folder")
def test_without_a_remedy_section_the_lines_that_do_the_same_are_printed(here: Any) -> None:
    write_policy(remedy="")
    output = here("fix", "release.csv", "--output", "planned.csv")
    assert output.code == 0
    lines = output.out.split("Policy lines that do the same:\n")[1].split("written:")[0]
    assert lines.startswith("remedy:\n  - ")
    write_policy(remedy=lines)
    assert here("fix", "release.csv", "--output", "named.csv").code == 0
    assert Path("named.csv").read_bytes() == Path("planned.csv").read_bytes()


@pytest.mark.usefixtures("folder")
def test_what_cannot_be_repaired_is_not_written(here: Any) -> None:
    write_policy(k=7)
    output = here("fix", "release.csv", "--output", "fixed.csv")
    assert output.code == 1
    assert "nothing was written" in " ".join(output.out.split())
    assert not Path("fixed.csv").exists()
    retained = here("fix", "release.csv", "--output", "fixed.csv", "--keep-failing")
    assert retained.code == 1
    assert Path("fixed.csv").read_bytes() == Path("release.csv").read_bytes()


@pytest.mark.usefixtures("folder")
def test_a_passing_release_is_copied(here: Any) -> None:
    write_policy(k=2)
    Path("release.csv").write_text("age,zip,disease\n20,a,flu\n20,a,gout\n", encoding="utf-8")
    output = here("fix", "release.csv", "--output", "fixed.csv")
    assert output.code == 0
    assert "The release meets its policy already; it is unchanged." in " ".join(output.out.split())
    assert Path("fixed.csv").read_bytes() == Path("release.csv").read_bytes()


@pytest.mark.usefixtures("folder")
def test_what_is_dropped_is_said_first(here: Any) -> None:
    Path("release.tcdp.yaml").write_text(
        POLICY.format(k=2, remedy=MONDRIAN).replace("attributes:", "key: id\nattributes:\n  name: {role: identifier}"),
        encoding="utf-8",
    )
    rows = [f"zq{i},{i},20,a,{'flu' if i % 2 else 'gout'}" for i in range(4)]
    Path("release.csv").write_text("\n".join(["name,id,age,zip,disease", *rows, ""]), encoding="utf-8")
    output = here("fix", "release.csv", "--output", "fixed.csv")
    assert output.code == 0
    first = "Dropped from what is written: 'name' (identifier) and 'id' (key that links to \nthe original).\n"
    assert output.out.startswith(first)
    assert "\nRecords: 4 in, 4 out, shuffled, seed 0.\n" in output.out
    assert "The release meets its policy now; nothing but columns was dropped." in " ".join(output.out.split())
    assert Path("fixed.csv").read_text(encoding="utf-8").startswith("age,zip,disease\n20,a,")
    checked = here("check", "release.csv")
    assert "✗ Not fit for release." in checked.out


@pytest.mark.usefixtures("folder")
def test_json_and_quiet(here: Any) -> None:
    write_policy()
    output = here("fix", "release.csv", "--output", "fixed.csv", "--json")
    assert json.loads(output.out)["change_log"]["order"] == "shuffled"
    assert here("fix", "release.csv", "--output", "fixed.csv", "--quiet", "--keep-order").out == ""
    assert Path("fixed.csv").read_text(encoding="utf-8").splitlines()[1].endswith("gout")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["release.csv"], "Missing option '-o' / '--output'"),
        (["release.csv", "--output", "release.csv"], "release.csv: --output must be a file of its own"),
        (["release.csv", "--output", "fixed.xyz"], "fixed.xyz: unknown kind of file"),
        (["release.csv", "--output", "fixed.csv", "--report", "fixed.csv"], "no report format for '.csv'"),
        (["nowhere.csv", "--output", "fixed.csv"], "nowhere.csv: no such file"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_wrong_call_is_refused_before_the_work(here: Any, arguments: list[str], sentence: str) -> None:
    write_policy()
    output = here("fix", *arguments)
    assert output.code == 2
    assert sentence in output.err
    assert not Path("fixed.csv").exists()


@pytest.mark.usefixtures("folder")
def test_an_unknown_remedy_is_a_fault_of_the_policy(here: Any) -> None:
    write_policy(remedy="remedy:\n  - mondrain: {}\n")
    output = here("fix", "release.csv", "--output", "fixed.csv")
    assert output.code == 2
    assert "unknown remedy 'mondrain'; did you mean 'mondrian'?" in output.err


@pytest.mark.usefixtures("folder")
def test_the_input_may_be_what_the_policy_names(here: Any) -> None:
    Path("release.tcdp.yaml").write_text(
        POLICY.format(k=3, remedy=MONDRIAN) + "release: release.csv\n", encoding="utf-8"
    )
    output = here("fix", "--output", "release.csv")
    actual: Any = Path("release.csv").read_text(encoding="utf-8")
    assert output.code == 2
    assert actual.startswith("age,zip,disease\n20,a,gout\n")


@pytest.mark.usefixtures("folder")
def test_what_was_not_tried_is_said_in_a_line_for_each_reason(here: Any) -> None:
    write_policy(k=9, remedy="")
    output = here("fix", "release.csv", "--output", "repaired.csv")
    said = " ".join(output.out.split())
    assert output.code == 1
    assert "Not tried: - Bucketization: only for multiplicative closeness" in said
    assert "- Correlated noise, Data shuffling, PRAM, Rank swapping, Rounding: only for demands that compare" in said


@pytest.mark.usefixtures("folder")
def test_a_named_remedy_says_what_it_does_not_act_on(here: Any) -> None:
    write_policy(remedy="remedy:\n  - rank_swapping: {percent: 60, attributes: [age]}\n  - mondrian: {}\n")
    output = here("fix", "release.csv", "--output", "repaired.csv")
    said = " ".join(output.out.split())
    assert output.code == 0
    assert "It does not act on k_anonymity (changes values one by one, and makes no records alike)." in said
