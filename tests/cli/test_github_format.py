"""`--format github`: what the runner obeys, what it must not, and what later steps are given."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import DataError, audit
from tcdp_audit.cli.github import CUT, MOST_ANNOTATIONS, MOST_BYTES, annotated, status_of, summary
from tcdp_audit.core.results.findings import Level, Place, ToolFinding, findings_of
from tcdp_audit.core.results.reporter import Unaudited

COMMAND = re.compile(r"^::(\w+) ([^:]*)::(.*)$")
EVIL = "::add-mask::x ##[error]y"


@pytest.fixture
def runner(tmp_path: Path, papers: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of a step, with the files that GitHub names."""
    for path in papers.glob("li07_*"):
        shutil.copy(path, tmp_path)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in ("SUMMARY", "OUTPUT"):
        monkeypatch.setenv("GITHUB_STEP_SUMMARY" if name == "SUMMARY" else "GITHUB_OUTPUT", str(tmp_path / name))
    return tmp_path


def obeyed(out: str) -> list[str]:
    """The lines that a runner takes for commands: those outside of what is stopped."""
    token, commands = "", []
    for line in out.splitlines():
        if token:
            token = "" if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.lstrip().startswith("::") or "##[" in line:
            commands.append(line)
    assert not token
    return commands


def outputs(path: Path) -> dict[str, str]:
    text = path.read_text(encoding="utf-8")
    several = dict(re.findall(r"^(\w+)<<(?P<end>\w+)\n(?:.*\n)*?(?P=end)$", text, re.MULTILINE))
    return {**dict(re.findall(r"^([\w-]+)=(.*)$", text, re.MULTILINE)), **several}


def test_failures_are_annotated_at_their_lines(runner: Path, here: Any):
    answer = here("check", "--policy", "li07_table3.tcdp.yaml", "--format", "github")
    commands = [COMMAND.match(line) for line in obeyed(answer.out)]
    lines = (runner / "li07_table3.tcdp.yaml").read_text().splitlines()

    assert answer.code == 1
    assert [one[1] for one in commands if one] == ["error"] * 3
    for one in commands:
        assert one
        properties = dict(pair.split("=", 1) for pair in one[2].split(","))
        assert properties["file"] == "li07_table3.tcdp.yaml"
        named = lines[int(properties["line"]) - 1][int(properties["col"]) - 1 :]
        assert named.startswith(("k_anonymity", "distinct_l_diversity", "t_closeness"))


def test_later_steps_are_reported(runner: Path, here: Any):
    reports = ["--report", "x.sarif", "--report", "{policy}.html"]
    here("check", "--policy", "li07_table3.tcdp.yaml", "--format", "github", *reports)
    text = (runner / "OUTPUT").read_text()

    assert outputs(runner / "OUTPUT")["status"] == "failed"
    assert outputs(runner / "OUTPUT")["exit-code"] == "1"
    assert outputs(runner / "OUTPUT")["failing"] == "3"
    assert f"{runner / 'li07_table3.html'}\n{runner / 'x.sarif'}\n" in text


@pytest.mark.parametrize(
    ("k", "answer"), [(4, ("failed", "1", "1")), (3, ("passed", "0", "0")), (1, ("measured", "3", "0"))]
)
def test_a_warning_that_fails_the_step_is_no_pass_for_later_steps(runner: Path, here: Any, k: int, answer: tuple[str]):
    declared = (runner / "li07_table4.tcdp.yaml").read_text().split("expect:")[0]
    (runner / "w.tcdp.yaml").write_text(f"{declared}expect: [k_anonymity: {{k: {k}, severity: warning}}]\n")
    code = here("check", "--policy", "w.tcdp.yaml", "--format", "github", "--fail-on", "warning").code
    output = outputs(runner / "OUTPUT")

    assert (output["status"], output["exit-code"], output["failing"]) == answer
    assert str(code) == answer[1]


def test_later_steps_are_reported_of_a_report_of_the_run_that_could_not_be_made(
    runner: Path, here: Any, monkeypatch: pytest.MonkeyPatch
):
    def broken(_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr("tcdp_audit_reports.code_scanning.render", broken)
    answer = here("check", "--policy", "li07_table4.tcdp.yaml", "--format", "github", "--report", "x.sarif")

    assert answer.code == 3
    assert outputs(runner / "OUTPUT")["exit-code"] == "3"


def test_the_summary_is_the_report_in_markdown(runner: Path, here: Any):
    (runner / "SUMMARY").write_text("An earlier line.\n")
    here("check", "--policy", "li07_table4.tcdp.yaml", "--format", "github", "--report", "x.md", "--quiet")
    text = (runner / "SUMMARY").read_text(encoding="utf-8")

    assert text == "An earlier line.\n" + (runner / "x.md").read_text(encoding="utf-8").rstrip() + "\n\n"


@pytest.mark.usefixtures("runner")
def test_outside_of_a_workflow_nothing_else_is_written(here: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.delenv(name)
    before = set(tmp_path.iterdir())

    assert here("check", "--policy", "li07_table4.tcdp.yaml", "--format", "github").code == 0
    assert set(tmp_path.iterdir()) == before


@pytest.mark.usefixtures("runner")
def test_a_file_that_cannot_be_written_is_reported(here: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GITHUB_OUTPUT", "nowhere/output")
    answer = here("check", "--policy", "li07_table4.tcdp.yaml", "--format", "github")

    assert answer.code == 2
    assert answer.err == "tcdp-audit: GITHUB_OUTPUT=nowhere/output: cannot be written: No such file or directory\n"


def test_no_name_in_a_release_is_obeyed(runner: Path, here: Any):
    names = [EVIL, f"{EVIL}\n{EVIL}", f"{EVIL} sensitive"]
    lines = [",".join(f'"{name}"' for name in names), *(["a,b,c"] * 3), "d,e,f"]
    (runner / "evil.csv").write_text("\n".join([*lines, ""]))
    roles = zip(names, ["quasi_identifier", "quasi_identifier", "sensitive"], strict=True)
    declared = ", ".join(f'"{name}": {{role: {role}}}'.replace("\n", "\\n") for name, role in roles)
    (runner / "evil.tcdp.yaml").write_text(
        f"version: 1\nattributes: {{{declared}}}\nexpect: [k_anonymity: {{k: 3}}, distinct_l_diversity: {{l: 3}}]\n"
    )
    answer = here("check", "evil.csv", "--policy", "evil.tcdp.yaml", "--format", "github")

    assert answer.code == 1
    assert any("::add-mask::" in line for line in answer.out.splitlines())  # in the log, where it is stopped
    assert [line.split(" ")[0] for line in obeyed(answer.out)] == ["::error", "::error"]
    assert not any(line.lstrip().startswith("::") for line in (runner / "OUTPUT").read_text().splitlines())


def finding(level: Level, number: int, title: str = "title", message: str = "message") -> ToolFinding:
    return ToolFinding("rule", level, title, message, Place("a.tcdp.yaml", number + 1, 2), str(number))


def test_no_more_are_annotated_than_github_shows():
    findings = [finding(level, number) for level in Level for number in range(MOST_ANNOTATIONS + 3)]
    lines = list(annotated(findings))

    for command in ("error", "warning", "notice"):
        reported = [line for line in lines if line.startswith(f"::{command} ")]
        assert len(reported) == MOST_ANNOTATIONS
        assert reported[-1].endswith("::4 findings more: see the log and the step's summary")
    assert len(list(annotated(findings[:MOST_ANNOTATIONS]))) == MOST_ANNOTATIONS


def test_warnings_that_fail_the_step_are_errors(with_warning: Any):
    (line,) = annotated(findings_of([with_warning]))
    (error,) = annotated(findings_of([with_warning]), fail_on_warning=True)

    assert line.startswith("::warning ")
    assert error == line.replace("::warning ", "::error ")


@pytest.fixture
def with_warning():
    policy = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 3, "severity": "warning"}}],
    }
    return audit(pa.table({"zip": ["a", "a", "b", "b"]}), policy)


def test_commands_are_escaped_as_the_runner_reads_them():
    (line,) = annotated([finding(Level.ERROR, 1, "100%, a:b", "50%\r\nand ::error::more")])

    assert line == ("::error file=a.tcdp.yaml,line=2,title=100%25%2C a%3Ab,col=2::50%25\\r%0Aand ::error::more")


def test_a_summary_is_cut_at_a_line_and_says_so(with_warning: Any):
    whole = summary([with_warning])
    cut = summary([with_warning] * 20, 5000)

    assert CUT not in whole
    longest = max(len(line.encode()) for line in whole.splitlines())
    assert 5000 - longest <= len(cut.encode()) <= 5000 < len((summary([with_warning]) * 20).encode())
    assert cut.endswith(CUT)
    assert cut.removesuffix(CUT).splitlines()[-1] in whole.splitlines()
    assert summary([with_warning], len(whole.encode())) == whole
    assert summary([with_warning], 10) == ""


def test_a_step_that_has_a_summary_already_gets_what_room_is_left(runner: Path, here: Any):
    (runner / "SUMMARY").write_text("x" * (MOST_BYTES - 900))
    here("check", "--policy", "li07_table4.tcdp.yaml", "--format", "github", "--quiet")
    text = (runner / "SUMMARY").read_text(encoding="utf-8")

    assert len(text.encode()) <= MOST_BYTES
    assert text.endswith(CUT)


def test_the_gravest_status_is_that_of_the_run(with_warning: Any):
    broken = Unaudited(Path("x.tcdp.yaml"), DataError("release.csv: it is empty"))

    assert status_of([with_warning]) == "passed"
    assert status_of([with_warning], fail_on_warning=True) == "failed"
    assert status_of([with_warning, broken], fail_on_warning=True) == "error"
    assert status_of([with_warning, broken, with_warning]) == "error"
    assert "# Audit incomplete: x.tcdp.yaml\n\n- release.csv&#58; it is empty" in summary([with_warning, broken])
