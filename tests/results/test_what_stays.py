"""Nothing that `fix` or a report writes takes the place of a file that the policy or the call names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit import UsageError, audit, fix
from tcdp_audit.cli.run import run
from tcdp_audit.core.results import protected_files

POLICY = """\
version: 1
release: release.csv
original: original.csv
population: population.csv
holdout: holdout.csv
schema: schema.yaml
attributes:
  age: {role: quasi_identifier, scale: numeric}
  zip: {role: quasi_identifier, hierarchy: zip.csv}
expect: [{k_anonymity: {k: 2}}]
remedy: [{mondrian: {}}]
"""
SCHEMA = "schema_type: dataframe\ncolumns:\n  zip: {dtype: str, nullable: true, required: true, unique: false}\n"
TABLES = ("release.csv", "original.csv", "population.csv", "holdout.csv")
READ = {
    "release.csv": "the release",
    "original.csv": "the policy's original",
    "population.csv": "the policy's population",
    "holdout.csv": "the policy's holdout",
    "zip.csv": "the hierarchy of 'zip'",
    "schema.yaml": "the schema",
    "release.tcdp.yaml": "the policy",
    "given.csv": "the population",
}
WAYS: dict[str, Callable[[Path, Path], None]] = {
    "by name": lambda _, __: None,
    "by a symbolic link": lambda path, link: link.symlink_to(path.name),
    "by a hard link": os.link,
    "by a link to a link": lambda path, link: (
        Path("middle").symlink_to(path.name),
        link.symlink_to("middle"),
    ),  # type: ignore[func-returns-value]
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in (*TABLES, "given.csv"):
        Path(name).write_text("age,zip\n1,a\n1,a\n2,b\n", encoding="utf-8")
    Path("zip.csv").write_text("a;*\nb;*\n", encoding="utf-8")
    Path("schema.yaml").write_text(SCHEMA, encoding="utf-8")
    Path("release.tcdp.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.exists()}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [name for name in READ if name.endswith(".csv")])
def test_fix_writes_over_nothing_that_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, way: str
) -> None:
    output = name if way == "by name" else "link.csv"
    WAYS[way](Path(name), Path(output))
    before = contents(folder)
    code = run("fix", ["--output", output, "--population", "given.csv"])
    assert (code, contents(folder)) == (2, before)
    assert capsys.readouterr().err.startswith(f"tcdp-audit: {output}: --output must be a file of its own; this is the ")


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("command", [["check"], ["fix", "--output", "fixed.csv"]])
def test_a_report_is_written_over_nothing_that_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], command: list[str], name: str
) -> None:
    os.link(name, "report.json")
    before = contents(folder)
    code = run(command[0], [*command[1:], "--report", "report.json", "--population", "given.csv"])
    assert (code, contents(folder)) == (2, before)
    message = f"tcdp-audit: report.json: --report must be a file of its own; this is {READ[name]}\n"
    assert capsys.readouterr().err.replace("the policy's release", "the release") == message


@pytest.mark.parametrize("reports", [["a.json", "./a.json"], ["a.json", "b.json"], ["new.json", "link.json"]])
def test_two_reports_are_two_files(folder: Path, capsys: pytest.CaptureFixture[str], reports: list[str]) -> None:
    Path("a.json").touch()
    os.link("a.json", "b.json")
    Path("link.json").symlink_to("new.json")
    before = contents(folder)
    code = run("check", ["--report", reports[0], "--report", reports[1]])
    assert code == 2
    assert capsys.readouterr().err.endswith("--report and --report name the same file\n")
    assert contents(folder) == before


@pytest.mark.usefixtures("folder")
def test_a_report_is_not_written_over_the_output(capsys: pytest.CaptureFixture[str]) -> None:
    Path("fixed.csv").touch()
    os.link("fixed.csv", "report.md")
    assert run("fix", ["--output", "fixed.csv", "--report", "report.md"]) == 2
    assert capsys.readouterr().err == "tcdp-audit: report.md: --output and --report name the same file\n"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("ignores_case", [False, True])
def test_names_that_differ_in_case_are_one_file_where_the_file_system_says_so(
    monkeypatch: pytest.MonkeyPatch, ignores_case: bool
) -> None:
    monkeypatch.setattr(protected_files, "_ignores_case", lambda _: ignores_case)
    assert protected_files.is_same_file(Path("new.csv"), Path("New.CSV")) is ignores_case
    assert not protected_files.is_same_file(Path("new.csv"), Path("newer.csv"))


def test_this_file_system_can_be_asked(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    assert protected_files._ignores_case(tmp_path) is (tmp_path / "A").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.usefixtures("folder")
def test_programs_are_refused_as_well() -> None:
    table: Any = "release.csv"
    with pytest.raises(UsageError, match=r"holdout.csv: the output must be a file of its own; this is the policy's h"):
        fix(table, "release.tcdp.yaml", output="holdout.csv")
    done = fix(table, "release.tcdp.yaml", output="fixed.csv")
    for name in ("release.csv", "zip.csv", "fixed.csv", "original.csv", "release.tcdp.yaml"):
        Path("link.json").unlink(missing_ok=True)
        os.link(name, "link.json")
        with pytest.raises(UsageError, match="the report must be a file of its own"):
            done.write("link.json")
    with pytest.raises(UsageError, match=r"this is the release$"):
        audit("given.csv", "release.tcdp.yaml").write("given.csv")


@pytest.mark.usefixtures("folder")
def test_what_the_policy_names_but_is_not_there_is_not_made_by_the_way() -> None:
    Path("population.csv").unlink()
    with pytest.raises(UsageError, match="this is the policy's population"):
        fix("release.csv", "release.tcdp.yaml", output="./population.csv")


@pytest.mark.usefixtures("folder")
def test_a_link_as_output_stays_a_link_and_its_target_is_replaced() -> None:
    Path("below").mkdir()
    Path("below/target.csv").write_text("before", encoding="utf-8")
    Path("below/target.csv").chmod(0o640)
    Path("fixed.csv").symlink_to("below/target.csv")
    done = fix("release.csv", "release.tcdp.yaml", output="fixed.csv")
    assert (done.passed, str(done.written), done.after.release.uri) == (True, "fixed.csv", "fixed.csv")
    assert Path("fixed.csv").readlink() == Path("below/target.csv")
    assert Path("below/target.csv").read_text(encoding="utf-8").startswith("age,zip\n")
    assert Path("below/target.csv").stat().st_mode & 0o777 == 0o640  # what stood there was not for everybody either


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (Path.mkdir, "is a folder; name a file"),
        (os.mkfifo, "is a device or a pipe; name a file"),
        (lambda path: path.symlink_to(path.name), "is a link that leads to itself; name a file"),
        (lambda path: path.symlink_to("nowhere/o.csv"), "the folder .*nowhere does not exist"),
        (lambda path: path.symlink_to("/dev/null"), "is a device or a pipe; name a file"),
    ],
)
def test_an_output_that_is_no_file_is_refused(make: Callable[[Path], None], sentence: str) -> None:
    make(Path("fixed.csv"))
    with pytest.raises(UsageError, match=f"fixed.csv: {sentence}"):
        fix("release.csv", "release.tcdp.yaml", output="fixed.csv")
