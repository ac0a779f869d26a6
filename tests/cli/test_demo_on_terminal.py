"""What the terminal says of the demonstration, against files under version control.

TCDP_AUDIT_GOLDEN=write writes them anew.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tcdp_audit.demo import POLICY, make_discharges

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("demo")
    for name, text in make_discharges().items():
        (made / name).write_text(text, encoding="utf-8", newline="\n")
    return made


@pytest.mark.parametrize(("name", "options"), [("demo.txt", []), ("demo-brief.txt", ["--brief"])])
def test_the_demonstration_is_reported_as_it_was(here: Any, folder: Path, name: str, options: list[str]) -> None:
    answer = here("check", "--policy", folder / POLICY, *options)
    assert (answer.code, answer.err) == (1, "")
    reported = re.sub(r" in \d+\.\d s\n$", " in SECONDS s\n", answer.out)
    if os.environ.get("TCDP_AUDIT_GOLDEN") == "write":
        (GOLDEN / name).write_text(reported, encoding="utf-8")
    assert reported == (GOLDEN / name).read_text(encoding="utf-8")
    assert max(map(len, reported.splitlines())) <= 80
    assert not re.search(r"equivalence class|`|\bfigure\b", reported)


def test_twice_brief_is_quiet(here: Any, folder: Path) -> None:
    assert here("check", "--policy", folder / POLICY, "-q") == (1, "", "")


def test_who_ran_it_and_the_command_are_part_of_the_result_only_where_said(
    here: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["tcdp-audit", "check", "postgresql://jo:secret@office/people?table=t"])
    silent = here("check", "--policy", folder / POLICY, "--json").out
    assert '"run": {"by": null, "command": "tcdp-audit check \'postgresql://office/people?…\'"}' in silent
    assert '"by": "Jo Doe"' in here("check", "--policy", folder / POLICY, "--json", "--run-by", "Jo Doe").out
    monkeypatch.setenv("TCDP_AUDIT_RUN_BY", "the nightly build")
    assert '"by": "the nightly build"' in here("check", "--policy", folder / POLICY, "--json").out
