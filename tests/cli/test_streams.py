"""Standard streams that are closed, full or broken: the verdict's exit code, or a sentence and 3; never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long  # every test is some processes

POLICY = """\
version: 1
release: r.csv
attributes: {zip: {role: quasi_identifier}}
expect:
- k_anonymity: {k: K}
"""
COMMANDS = {
    "check": "check --policy p.tcdp.yaml",
    "check --json": "check --policy p.tcdp.yaml --json",
    "fix": "fix --policy p.tcdp.yaml --output o.csv",
    "demo": "demo",
    "explain": "explain",
    "explain one": "explain t_closeness",
    "plugins": "plugins",
    "schema": "schema",
    "first page": "--help",
    "version": "--version",
    "help": "check --help",
}
ENTRIES = {
    "module": f"{sys.executable} -m tcdp_audit",
    "script": f"{sys.executable} -c 'from tcdp_audit.cli import entry; entry()'",
}


def shell(folder: Path, line: str, k: int = 2, **environment: str) -> tuple[int, str, str]:
    (folder / "r.csv").write_text("zip\n1\n1\n")
    (folder / "p.tcdp.yaml").write_text(POLICY.replace("K", str(k)))
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "error", **environment},
        capture_output=True,
        check=False,
        timeout=120,
    )
    out, err = (text.decode("utf-8", "replace") for text in (ran.stdout, ran.stderr))
    assert "Traceback" not in out + err
    assert "Exception ignored" not in err
    return ran.returncode, out, err


LOST = "tcdp-audit: standard output cannot be written: "


@pytest.mark.parametrize("redirected", [">&-", "> /dev/full"])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_cannot_be_printed_is_reported_on_standard_error(command: str, redirected: str, tmp_path: Path):
    code, out, err = shell(tmp_path, f"{ENTRIES['module']} {command} {redirected}")
    assert (code, out) == (3, "")
    assert err.startswith(LOST)
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_reader_that_has_seen_enough_changes_no_verdict(command: str, tmp_path: Path):
    code, _, err = shell(tmp_path, f"{ENTRIES['module']} {command} | exec 0<&-")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(("entry", "k", "verdict"), [("module", 2, 0), ("script", 3, 1)])
def test_the_verdict_remains_where_nothing_was_to_be_printed(entry: str, k: int, verdict: int, tmp_path: Path):
    check = f"{ENTRIES[entry]} check --policy p.tcdp.yaml"
    assert shell(tmp_path, f"{check} --quiet >&-", k) == (verdict, "", "")
    assert shell(tmp_path, f"{check} --quiet > /dev/full", k) == (verdict, "", "")
    assert shell(tmp_path, f"{check} --quiet >&- 2>&- <&-", k) == (verdict, "", "")
    assert shell(tmp_path, f"{check} 2>&- > /dev/null", k) == (verdict, "", "")
    assert shell(tmp_path, f"{check} <&- > /dev/null", k) == (verdict, "", "")
    assert shell(tmp_path, f"{check} | head -1 > /dev/null", k) == (verdict, "", "")
    assert shell(tmp_path, f"{check} >&- 2>&-", k) == (3, "", "")
    assert shell(tmp_path, f"{check} > /dev/full 2> /dev/full", k) == (3, "", "")


def test_a_wrong_call_stays_one_where_no_one_hears_it(tmp_path: Path):
    assert shell(tmp_path, f"{ENTRIES['module']} check --nonsense >&- 2>&-")[0] == 2
    assert shell(tmp_path, f"{ENTRIES['module']} nonsense 2> /dev/full")[0] == 2


def test_a_report_does_not_take_the_place_of_a_closed_stream(tmp_path: Path):
    line = f"{ENTRIES['module']} check --policy p.tcdp.yaml --quiet --report a.json >&- 2>&-"
    assert shell(tmp_path, line)[0] == 0
    assert (tmp_path / "a.json").read_text().startswith("{")


@pytest.mark.parametrize("encoding", ["ascii", "utf-16"])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_any_encoding_will_do(command: str, encoding: str, tmp_path: Path):
    code, out, err = shell(tmp_path, f"{ENTRIES['module']} {command}", PYTHONIOENCODING=encoding)
    assert (code, err) == (0, "")
    assert out


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_any_locale_will_do(locale: str, tmp_path: Path):
    plain = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    line = f"cp r.csv zürich.csv; {ENTRIES['module']} check zürich.csv --policy p.tcdp.yaml"
    code, out, err = shell(tmp_path, line, **plain)
    assert (code, err) == (0, "")
    assert "Fit for release" in out


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "parquet", "feather"])
def test_names_of_files_need_not_be_utf8(suffix: str, tmp_path: Path):
    fix = f"{ENTRIES['module']} fix r.csv --policy p.tcdp.yaml --output $'n\\xff.{suffix}' --quiet"
    assert shell(tmp_path, fix) == (0, "", "")
    reports = "--report $'a\\xff.html' --report $'a\\xff.md' --report $'a\\xff.json'"
    check = f"cp p.tcdp.yaml $'p\\xff'; {ENTRIES['module']} check $'n\\xff.{suffix}' --policy $'p\\xff' {reports}"
    code, out, err = shell(tmp_path, check)
    assert (code, err) == (0, "")
    assert out.startswith(f"n\\udcff.{suffix}: 2 records")
    assert sorted(path.suffix for path in tmp_path.glob("a*")) == [".html", ".json", ".md"]


@pytest.mark.parametrize("amount", ["99999999TiB", "9" * 400, "2048TiB", "0", "0GiB", "-1GiB", "nan", "inf", "1e3", ""])
def test_memory_beyond_reason_is_a_wrong_call(amount: str, tmp_path: Path):
    code, out, err = shell(tmp_path, f"{ENTRIES['module']} check --policy p.tcdp.yaml --memory '{amount}'")
    assert (code, out) == (2, "")
    assert "memory" in err


HOSTILE = "\x1b[31mred\r\x08\x7f\x85\x9b2J\u202e\u2066\u061c\u2028\u2029\ufeff"


def acts(text: str) -> list[str]:
    """The characters of a text that would act on a terminal."""
    bidi = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\ufeff"
    return [c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160 or c in bidi]


def named(folder: Path, where: str) -> list[str]:
    """The arguments of a call in which a hostile name stands somewhere."""
    text = POLICY.replace("K", "2")
    quoted = "".join(f"\\u{ord(c):04x}" for c in HOSTILE)
    release = f"{HOSTILE}.csv" if where == "release" else "r.csv"
    (folder / release).write_text(f"{HOSTILE if where == 'column' else 'zip'}\n1\n1\n".replace("\r", ""), newline="")
    policy = {
        "attribute": text.replace("zip", f'"{quoted}"'),
        "echo": text.replace("role", "roll # " + HOSTILE.translate({ord(c): None for c in "\x1b\r\x08\x7f\x9b"})),
        "check": text.replace("k_anonymity", f'"{quoted}"'),
        "hierarchy": text.replace("role: quasi", f'hierarchy: "{quoted}", role: quasi'),
        "named_release": text.replace("r.csv", f'"{quoted}.csv"'),
        "plugin": text + f'plugins: ["{quoted}"]\n',
    }.get(where, text)
    name = f"{HOSTILE}.tcdp.yaml" if where == "policy" else "p.tcdp.yaml"
    (folder / name).write_text(policy, newline="")
    release = f"{HOSTILE}.csv" if where == "missing" else release
    return {
        "command": [HOSTILE],
        "option": ["check", f"--{HOSTILE}"],
        "choice": ["check", "--fail-on", HOSTILE],
        "left_out": ["check", "-p", HOSTILE],
        "memory": ["check", "--memory", HOSTILE],
        "report": ["check", release, "--policy", name, "--report", f"{HOSTILE}.json"],
        "unknown_report": ["check", release, "--policy", name, "--report", HOSTILE],
        "explain": ["explain", HOSTILE],
        "demo": ["demo", HOSTILE],
        "named_release": ["check", "--policy", name],
        "output": ["fix", release, "--policy", name, "--output", f"{HOSTILE}.csv"],
    }.get(where, ["check", release, "--policy", name])


NAMED_ON_THE_COMMAND_LINE = ["command", "option", "choice", "report", "explain", "demo", "output", "memory", "missing"]
NAMED_ON_THE_COMMAND_LINE += ["left_out", "unknown_report", "release", "policy"]
NAMED_IN_FILES = ["column", "attribute", "echo", "check", "hierarchy", "plugin", "named_release"]


@pytest.mark.parametrize("where", [*NAMED_ON_THE_COMMAND_LINE, *NAMED_IN_FILES])
def test_no_name_acts_on_the_terminal(where: str, tmp_path: Path):
    arguments = named(tmp_path, where)
    ran = subprocess.run(
        [sys.executable, "-m", "tcdp_audit", *arguments], cwd=tmp_path, capture_output=True, check=False, timeout=120
    )
    printed = (ran.stdout + ran.stderr).decode()
    assert printed
    assert "Traceback" not in printed
    assert "internal error" not in printed
    assert acts(printed) == []


def test_a_line_feed_in_a_name_forges_no_line(tmp_path: Path):
    forged = "a\n✓ Fit for release. The one demand in the policy is met.\n.csv"
    ran = subprocess.run(
        [sys.executable, "-m", "tcdp_audit", "check", forged, "--policy", "p.tcdp.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
