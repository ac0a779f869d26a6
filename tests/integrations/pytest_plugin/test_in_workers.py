"""Workers of pytest-xdist share one audit a policy, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tcdp_audit.core.base.outcome import COLUMN_DEMANDS

COLUMNS = len(COLUMN_DEMANDS)  # each is an item

pytest_plugins = ["pytester"]
Put, Run = Callable[..., Path], Callable[..., pytest.RunResult]
LISTENING = """
import os
import tcdp_audit.api
from tcdp_audit.api import audit

def listening(release, policy, *given, **options):
    with open(os.environ["AUDITED"], "a") as file:
        file.write(policy.name + "\\n")
    return audit(release, policy, *given, **options)

tcdp_audit.api.audit = listening
"""


@pytest.mark.long
@pytest.mark.parametrize("distribution", ["load", "loadgroup", "loadfile", "each"])
def test_a_policy_is_audited_once_in_all_workers(
    pytester: pytest.Pytester, put: Put, monkeypatch: pytest.MonkeyPatch, distribution: str
):
    audited, temporary = pytester.path / "audited.txt", pytester.mkdir("temporary")
    monkeypatch.setenv("AUDITED", str(audited))
    monkeypatch.setenv("TMPDIR", str(temporary))
    pytester.makeconftest(LISTENING)
    put()
    put(name="second.tcdp.yaml")
    times = 2 * (2 if distribution == "each" else 1)
    result = pytester.runpytest_subprocess("-n", "2", "--dist", distribution, "-W", "error")

    result.assert_outcomes(passed=(COLUMNS + 2) * times, failed=3 * times, xfailed=times, skipped=times)
    assert sorted(audited.read_text().split()) == ["release.tcdp.yaml", "second.tcdp.yaml"]
    assert [one.name for one in temporary.iterdir() if one.name.startswith("tcdp")] == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("blocked", "ran"), [([], {"passed": COLUMNS + 2, "failed": 3}), (["-p", "no:tcdp_audit"], {})]
)
def test_the_plugin_is_installed_and_can_be_left_out(
    pytester: pytest.Pytester, put: Put, blocked: list[str], ran: dict[str, int]
):
    put()
    rest = {"xfailed": 1, "skipped": 1} if ran else {}
    pytester.runpytest_subprocess("-W", "error", *blocked).assert_outcomes(**ran, **rest)


def test_items_of_a_policy_are_a_group_of_one_worker(inner_pytest: Run, put: Put):
    put()
    result = inner_pytest("-p", "xdist", "--strict-markers", "-m", "xdist_group", "--collect-only", "-q")
    assert len([line for line in result.outlines if "::" in line]) == COLUMNS + 7
