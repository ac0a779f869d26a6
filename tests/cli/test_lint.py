"""`tcdp-audit lint`: policies without data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

SOUND = """\
version: 1
release: nowhere.csv
attributes:
  zip: {role: quasi_identifier}
  disease: {role: sensitive, hierarchy: nowhere.csv}
expect:
  - k_anonymity: {k: 2}
  - t_closeness: {}
"""
VAIN = SOUND.replace("k: 2", "k: 1")
WRONG = SOUND.replace("k_anonymity", "k_anonimity").replace("role: sensitive", "role: sensible")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    for name, text in {"sound": SOUND, "vain": VAIN, "wrong": WRONG}.items():
        Path(f"{name}.tcdp.yaml").write_text(text)
    return tmp_path


def test_a_sound_policy_is_a_line_and_needs_no_data(here: Any):
    assert here("lint", "sound.tcdp.yaml") == (
        0,
        "sound.tcdp.yaml: sound: 2 expectations, 1 of which demands something\n",
        "",
    )


def test_a_wrong_policy_is_told_with_all_its_faults(here: Any):
    answer = here("lint", "wrong.tcdp.yaml", "sound.tcdp.yaml")

    assert answer.code == 2
    assert answer.out.startswith("sound.tcdp.yaml: sound")
    assert "wrong.tcdp.yaml:5:19: attributes.disease.role: must be one of" in answer.err
    assert "wrong.tcdp.yaml:7:5: expect[0]: unknown check 'k_anonimity'" in answer.err


def test_a_demand_that_no_release_could_fail_is_told_at_its_place(here: Any):
    answer = here("lint", "vain.tcdp.yaml")

    assert (answer.code, answer.err) == (1, "")
    assert answer.out == (
        "vain.tcdp.yaml:7:5: k-anonymity: The demand k: 1 is kept by every release, so this is measured, not judged.\n"
        "vain.tcdp.yaml:1:1: Nothing to judge: no demand of it that counts can fail, so every audit under it ends with "
        "exit code 3; demand something, or accept it with --measure-only\n"
    )
    assert here("lint", "--measure-only", "vain.tcdp.yaml") == (0, answer.out, "")


@pytest.mark.parametrize(
    ("expect", "code"),
    [
        ("- k_anonymity: {k: 5, severity: warning}", 1),
        ("- k_anonymity: {}", 1),
        ("- k_anonymity: {k: 5}\n  - distinct_l_diversity: {l: 1}", 1),
        ("- k_anonymity: {k: 5, severity: warning}\n  - distinct_l_diversity: {l: 2}", 0),
    ],
)
def test_what_makes_a_policy_vain(here: Any, expect: str, code: int):
    Path("a.tcdp.yaml").write_text(SOUND.split("expect:", maxsplit=1)[0] + f"expect:\n  {expect}\n")

    assert here("lint", "a.tcdp.yaml").code == code


def test_several_are_read_and_the_worst_counts(here: Any):
    answer = here("lint", ".")

    assert answer.code == 2
    assert [line.split(":")[0] for line in answer.out.splitlines()] == ["sound.tcdp.yaml", *["vain.tcdp.yaml"] * 2]
    assert here("lint", "sound.tcdp.yaml", "vain.tcdp.yaml").code == 1
    assert here("lint", "s*.yaml").code == 0


def test_without_a_name_it_reads_what_check_would_take(here: Any):
    Path("sub").mkdir()
    Path("sub/a.tcdp.yaml").write_text(SOUND)
    Path("pyproject.toml").write_text('[tool.tcdp-audit]\npolicies = ["sub"]\n')
    answer = here("lint")

    assert answer.code == 0
    assert answer.out.startswith("sub/a.tcdp.yaml: sound")
    assert answer.err == "tcdp-audit: policy: sub/a.tcdp.yaml, as pyproject.toml says\n"


def test_annotations(here: Any):
    answer = here("lint", "--format", "github", "vain.tcdp.yaml", "wrong.tcdp.yaml")
    commands = [line for line in answer.out.splitlines() if line.startswith("::error ")]

    assert answer.code == 2
    assert [line.split(",title")[0] for line in commands] == [
        "::error file=vain.tcdp.yaml,line=7",
        "::error file=vain.tcdp.yaml,line=1",
        "::error file=wrong.tcdp.yaml,line=5",
        "::error file=wrong.tcdp.yaml,line=7",
    ]


def test_a_plugin_that_is_missing_is_an_incomplete_answer(here: Any):
    Path("a.tcdp.yaml").write_text("plugins: [nobody]\n" + SOUND)

    assert here("lint", "a.tcdp.yaml").code == 3
