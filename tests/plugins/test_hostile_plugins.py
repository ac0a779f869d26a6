"""Plugins that raise what nobody should, close streams or leave: a sentence and exit code 3, or never imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.long  # every test starts some processes

POLICY = """\
version: 1
attributes: {zip: {role: quasi_identifier}}
expect:
- k_anonymity: {k: 2}
"""
FAILING = POLICY.replace("k: 2", "k: 3")
CHECK = """\

import os, sys
import numpy as np
from tcdp_audit.plugin.check import ClassCheck, Parameters, Threshold, hookimpl
from tcdp_audit.plugin.sentences import Comparison
from tcdp_audit.plugin.report import Reporter
from tcdp_audit.plugin.check import DisclosureType, Guide

class Shares(Parameters):
    at_most: float | None = None

GUIDE = Guide(definition="A.", formula="n", reading="A.", choosing="A.", source="A, 1", example="- hostile: {}")

def measure(evidence, _):
    MEASURE

def render(audit):
    RENDER

@hookimpl
def tcdp_audit_checks():
    HOOK
    yield ClassCheck(name="hostile", title="Hostile", disclosure_type=DisclosureType.IDENTITY_DEGREE, parameters=Shares,
        thresholds=(Threshold("at_most", Comparison.AT_MOST, measure),), guide=GUIDE)

@hookimpl
def tcdp_audit_reporters():
    yield Reporter(name="hostile", title="Hostile", suffix=".hostile", render=render)
IMPORT
"""
RAISED = ["BaseException('x')", "GeneratorExit", "SystemExit(0)", "type('Odd', (BaseException,), {})('x')"]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `tcdp-audit` in a new process with one hostile plugin installed."""

    def run(policy: str, *arguments: str, **places: str) -> subprocess.CompletedProcess[str]:
        text = CHECK
        for place in ("MEASURE", "RENDER", "HOOK", "IMPORT"):
            default = {"MEASURE": "return evidence.size", "RENDER": "return ''"}.get(place, "pass")
            text = text.replace(place, places.get(place.lower(), default))
        (tmp_path / "hostile_plugin.py").write_text(text)
        metadata = tmp_path / "hostile-1.dist-info"
        metadata.mkdir(exist_ok=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: hostile\nVersion: 1\n")
        (metadata / "entry_points.txt").write_text("[tcdp_audit]\nhostile = hostile_plugin\n")
        (tmp_path / "release.csv").write_text("zip\n1\n1\n")
        (tmp_path / "p.tcdp.yaml").write_text(policy)
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-m", "tcdp_audit", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


AUDIT = ("check", "release.csv")
HOSTILE = f"{POLICY}- hostile: {{}}\n"


@pytest.mark.parametrize("raised", RAISED)
def test_what_a_check_raises_is_an_error_beside_the_others(raised: str, run: Run):
    ran = run(HOSTILE, *AUDIT, measure=f"raise {raised}")
    assert (ran.returncode, ran.stderr) == (3, "")
    assert "✓ passed" in ran.stdout
    assert "in hostile_plugin.py, line" in " ".join(ran.stdout.split())
    assert "(plugin 'hostile')" in " ".join(ran.stdout.split())


@pytest.mark.parametrize("raised", RAISED)
@pytest.mark.parametrize("place", ["hook", "import"])
def test_what_a_plugin_raises_before_the_audit_stops_only_who_needs_it(raised: str, place: str, run: Run):
    needing = run(HOSTILE, *AUDIT, **{place: f"raise {raised}"})
    assert needing.returncode == 3
    assert "no check 'hostile' is known, and a plugin that may define it did not load (hostile: " in needing.stderr
    assert "Traceback" not in needing.stderr
    assert run(POLICY, *AUDIT, **{place: f"raise {raised}"}).returncode == 0
    listing = run(POLICY, "plugins", **{place: f"raise {raised}"})
    assert listing.returncode == 0
    assert "hostile (hostile 1), does not work" in listing.stdout


@pytest.mark.parametrize("raised", [*RAISED, "ValueError('cell')"])
def test_a_report_that_raises_takes_no_other_report_down(raised: str, run: Run, tmp_path: Path):
    reports = ("--report", "a.hostile", "--report", "b.json")
    ran = run(POLICY, *AUDIT, *reports, render=f"raise {raised}")
    assert ran.returncode == 3
    assert ran.stderr.startswith("tcdp-audit: a.hostile: the report format 'hostile' raised ")
    assert ran.stderr.endswith("(plugin 'hostile')\n")
    assert "Fit for release" in ran.stdout
    assert (tmp_path / "b.json").exists()
    assert not (tmp_path / "a.hostile").exists()


@pytest.mark.parametrize("figure", ["evidence.size + 1j", "np.array(['1'])", "np.zeros(1, 'M8[s]')"])
def test_figures_that_are_no_real_numbers_are_refused_without_a_warning(figure: str, run: Run):
    ran = run(HOSTILE, *AUDIT, measure=f"return {figure}")
    assert (ran.returncode, ran.stderr) == (3, "")
    assert "a figure must be a real number (plugin 'hostile')" in " ".join(ran.stdout.split())


@pytest.mark.parametrize(
    "act", ["sys.stdout.close()", "sys.stdout = None", "sys.stderr.close()", "sys.stderr = None", "os.closerange(2, 3)"]
)
def test_a_plugin_cannot_silence_the_verdict(act: str, run: Run):
    ran = run(f"{FAILING}- hostile: {{}}\n", *AUDIT, measure=f"{act}; return evidence.size")
    assert ran.returncode == 1
    assert "k-anonymity" in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr


@pytest.mark.parametrize("act", ["os.close(1)", "sys.__stdout__.close()"])
def test_a_plugin_that_closes_standard_output_for_good_ends_in_a_sentence(act: str, run: Run):
    ran = run(HOSTILE, *AUDIT, measure=f"{act}; return evidence.size")
    assert ran.returncode == 3
    assert ran.stderr.startswith("tcdp-audit: standard output cannot be written: ")
    assert len(ran.stderr.splitlines()) == 1


def test_an_interruption_is_taken_for_a_persons(run: Run):
    ran = run(HOSTILE, *AUDIT, measure="raise KeyboardInterrupt")
    assert (ran.returncode, ran.stdout) == (130, "")
    assert ran.stderr.strip() == "tcdp-audit: interrupted; nothing was written"


LEAVING = "os._exit(0)"


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        (f"{FAILING}plugins: []\n", ()),
        (f"{FAILING}plugins: []\n", ("--report", "a.json")),
        (FAILING, ("--no-external-plugins",)),
        (FAILING, ("-p", "no:hostile")),
    ],
)
def test_a_plugin_that_is_left_out_is_never_imported(policy: str, options: tuple[str, ...], run: Run):
    ran = run(policy, *AUDIT, *options, **{"import": LEAVING})
    assert ran.returncode == 1
    assert "k-anonymity" in ran.stdout


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        ("version: 1\n  broken", 2),
        (f"{POLICY}plugins: []\nunknown: 1\n", 2),
        (f"{POLICY}plugins: 7\n", 2),
        (f"{POLICY}plugins: []\n- nonsense: {{}}\n", 2),
    ],
)
def test_a_policy_that_is_wrong_imports_nothing_that_it_leaves_out(policy: str, code: int, run: Run):
    ran = run(policy, *AUDIT, **{"import": LEAVING})
    assert ran.returncode == code
    assert ran.stderr.startswith("tcdp-audit: ")


def test_fix_imports_no_plugin_that_the_policy_leaves_out(run: Run):
    policy = f"{FAILING}plugins: []\n"
    ran = run(policy, "fix", "release.csv", "--output", "o.csv", "--report", "o.json", **{"import": LEAVING})
    assert ran.returncode == 1
    assert "k-anonymity" in ran.stdout
