"""The same answers where POSIX is not: in a process without what Windows lacks, on a console of few signs.

No Windows is at hand. What this cannot show is in docs/installing.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tcdp_audit.core.base.outcome import COLUMN_DEMANDS

WINDOWS = Path(__file__).with_name("windows")
PAPERS = Path(__file__).parents[2] / "examples" / "papers"
COMMAND = ("-c", "from tcdp_audit.cli import entry; entry()")
POLICY = """\
version: 1
release: release.csv
attributes:
  age: {role: quasi_identifier, scale: numeric}
  zip: {role: quasi_identifier, scale: nominal}
  disease: {role: sensitive, scale: nominal}
expect:
  - k_anonymity: {k: 3}
"""
RELEASE = "age,zip,disease\n" + "".join(f"{20 + number % 23},{number % 3},d{number % 4}\n" for number in range(120))
FRONTIER = ("frontier", "release.csv", "--policy", "policy.tcdp.yaml", "--vary", "k_anonymity=2..4")
CALLS = {
    "check": ("check", "li07_table3.csv", "--policy", "li07_table3.tcdp.yaml", "--report", "made.html"),
    "fix": ("fix", "release.csv", "--policy", "policy.tcdp.yaml", "--output", "made.csv", "--report", "made.json"),
    "parquet": ("fix", "release.csv", "--policy", "policy.tcdp.yaml", "--output", "made.parquet"),
    "arrow": ("fix", "release.csv", "--policy", "policy.tcdp.yaml", "--output", "made.arrow"),
    "frontier": (*FRONTIER, "--workers", "1", "--resume", "made.json"),
}
PYTEST = ("--basetemp=base", "-p", "no:cacheprovider", "-p", "xdist", "-p", "tcdp_audit.integrations.pytest_plugin")
DURATION = re.compile(r" in [\d.]+ s\b")
PYTHON = "import tcdp_audit; print(tcdp_audit.audit('release.csv', policy='policy.tcdp.yaml').status)"


pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="Windows is imitated on Linux")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("li07_table3.csv", "li07_table3.tcdp.yaml", "li07_disease_hierarchy.csv"):
        shutil.copy(PAPERS / name, tmp_path)
    (tmp_path / "release.csv").write_text(RELEASE, encoding="utf-8")
    (tmp_path / "policy.tcdp.yaml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "scratch").mkdir()
    return tmp_path


def run(folder: Path, *arguments: str, windows: bool, encoding: str = "utf-8") -> tuple[int, list[str]]:
    """The exit code and what is printed, but for durations; nothing may be left, and no traceback printed."""
    paths = [str(WINDOWS)] * windows + [os.environ.get("PYTHONPATH", "")]
    environment = {
        **os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TMPDIR": str(folder / "scratch"),
        "PYTHONIOENCODING": encoding,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }  # fmt: skip
    command = [sys.executable, *arguments]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=240)
    assert b"Traceback" not in ran.stderr, ran.stderr.decode()
    assert list((folder / "scratch").glob("*tcdp*")) == []
    return ran.returncode, [line for line in ran.stdout.decode(encoding).splitlines() if not DURATION.search(line)]


def made(folder: Path) -> dict[str, bytes]:
    """The tables that a command wrote, which it takes away, and the names of its other files."""
    files = {path.name: path.read_bytes() if path.suffix == ".csv" else b"" for path in folder.glob("*made*")}
    for name in files:
        (folder / name).unlink()
    return files


def test_the_process_lacks_what_it_should(folder: Path) -> None:
    lacks = (
        "import os, signal, sys\n"
        "print([hasattr(os, 'O_DIRECTORY'), hasattr(os, 'getuid'), hasattr(signal, 'SIGHUP')])\n"
        "with open('release.csv'):\n"
        "    try: os.unlink('release.csv')\n"
        "    except PermissionError: print(sys.modules['fcntl'])"
    )
    assert run(folder, "-c", lacks, windows=True) == (0, ["[False, False, False]", "None"])


@pytest.mark.parametrize("name", ["check", *(pytest.param(one, marks=pytest.mark.long) for one in list(CALLS)[1:])])
def test_commands_answer_the_same(name: str, folder: Path) -> None:
    here = run(folder, *COMMAND, *CALLS[name], windows=False)
    files = made(folder)
    there = run(folder, *COMMAND, *CALLS[name], windows=True)
    assert (there, made(folder)) == (here, files)
    assert here[0] == (1 if name == "check" else 0)
    assert files


@pytest.mark.long
def test_workers_are_started_and_ended(folder: Path) -> None:
    code, said = run(folder, *COMMAND, *FRONTIER, "--workers", "2", windows=True)
    assert (code, any("3 settings, 2 points on the front" in line for line in said)) == (0, True)


def test_python_audits(folder: Path) -> None:
    assert run(folder, "-c", PYTHON, windows=True) == (0, ["failed"])


@pytest.mark.long
@pytest.mark.parametrize("workers", ["0", "2"])
def test_pytest_judges_policies(workers: str, folder: Path) -> None:
    options = ("-m", "pytest", "-q", *PYTEST, "-n", workers, "policy.tcdp.yaml")
    here, there = (run(folder, *options, windows=windows) for windows in (False, True))
    assert here[0] == there[0] == 1
    assert sorted(line for line in there[1] if line.startswith("FAILED")) == sorted(
        line for line in here[1] if line.startswith("FAILED")
    )
    assert any(line.startswith("FAILED") for line in here[1])


@pytest.mark.parametrize("encoding", ["cp1252", "cp437", "ascii"])
def test_a_console_of_few_signs_gets_the_verdict(encoding: str, folder: Path) -> None:
    code, said = run(folder, *COMMAND, *CALLS["check"][:4], windows=True, encoding=encoding)
    text = "\n".join(said)
    assert code == 1
    assert "Not fit for release. All 3 demands fail." in text
    assert ("\\u2717" in text, "\u2717" in text) == (True, False)


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_json_is_the_same_on_any_console(encoding: str, folder: Path) -> None:
    call = (*COMMAND, *CALLS["check"][:4], "--json")
    here, there = run(folder, *call, windows=False), run(folder, *call, windows=True, encoding=encoding)
    outcomes = [json.loads("\n".join(said))["outcomes"] for _, said in (here, there)]
    assert (here[0], there[0], len(outcomes[0])) == (1, 1, len(COLUMN_DEMANDS) + 3)
    assert outcomes[0] == outcomes[1]
