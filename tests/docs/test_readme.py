"""The README gives the two commands, lists what there is, and its tests are tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from documents import ROOT, blocks, code, prose, read, section

from tcdp_audit import audit
from tcdp_audit.cli import COMMANDS, HELP
from tcdp_audit.core.base.errors import ExpectationsFailedError

README = read("README.md")


@pytest.mark.parametrize("command", ["pip install . && tcdp-audit demo", 'pip install -e ".[test]" && pytest'])
def test_each_of_the_two_commands_has_a_line_of_its_own(command: str):
    assert README.splitlines().count(command) == 1


def test_every_command_that_it_names_exists():
    typed = [one.text for one in blocks(README, "sh", "console")] + code(prose(README))
    named = set(re.findall(r"tcdp-audit ([a-z]+)", "\n".join(typed)))

    assert named >= {"check", "demo", "explain"}
    assert named <= set(COMMANDS)


def test_the_exit_codes_are_those_of_the_help_page():
    listed = re.findall(r"^\| (\d) \|", section(README, "## Exit codes"), re.MULTILINE)

    assert listed == re.findall(r"^  (\d)  ", HELP, re.MULTILINE)


def test_its_tests_can_fail(folder: Path):
    tests: dict[str, Any] = {}
    (folder / "coarse.tcdp.yaml").write_text(blocks(README, "yaml")[0].text, encoding="utf-8")
    exec(blocks(README, "python")[0].text, tests)  # noqa: S102 - our own page

    tests["test_the_release_may_be_published"]()
    tests["test_groups_reveal_little_about_costs"]()
    tests["discharges"].loc[0, "age"] = "18-39, blue eyes"
    with pytest.raises(ExpectationsFailedError, match=r"k_anonymity|wrong_scale"):
        tests["test_the_release_may_be_published"]()


def test_the_screenshot_is_small():
    picture = ROOT / "docs" / "images" / "report.png"

    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size < 300_000


def test_what_is_said_not_to_be_there_is_not_there():
    text = section(README, "## Limitations")

    for name in ("remedies", "pytest", "Great Expectations", "pandera", "Planned"):
        assert name not in text


@pytest.mark.parametrize("suffix", [".json", ".html", ".md"])
def test_same_inputs_give_the_same_bytes(suffix: str, folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    policy = folder / "tcdp-audit-demo" / "discharges.tcdp.yaml"

    one, other = (audit(None, policy, shards=shards).render(suffix) for shards in (1, 7))

    assert one == other
    assert "2026" in one
