"""Whole reports against files under version control; TCDP_AUDIT_GOLDEN=write writes them anew."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest
from figure_samples import figure_audit
from golden_checks import golden_plugins
from remedied_samples import NEAR, REPAIRED, SIZE_AFTER, remedied
from report_samples import HOSTILE, SALARY_POLICY, named_policy, named_table, salaries
from rich.console import Console
from run_samples import run_of_several

from tcdp_audit import audit
from tcdp_audit.cli.github import annotated, summary
from tcdp_audit.cli.terminal import print_audit
from tcdp_audit.core.results.audit import render_several
from tcdp_audit.core.results.findings import findings_of
from tcdp_audit.core.results.reporter import reporter_of
from tcdp_audit.core.results.strict_json import with_plain_result
from tcdp_audit.core.session.registry import Plugins

GOLDEN = Path(__file__).parent / "golden"
NAMES = [f"{which}{suffix}" for which in ("plain", "hostile") for suffix in (".html", ".md", ".txt")]
OF_RUNS = (".junit.xml", ".sarif", ".codequality.json", ".github", ".summary.md")
VERSIONS = (
    (re.compile(r'("(?:version|python|numpy|duckdb|pyarrow)":")[^"]*'), r"\1VERSION"),
    (re.compile(r"(<dt>(?:Python|numpy|duckdb|pyarrow)</dt><dd><bdi>)[^<]*"), r"\1VERSION"),
    (re.compile(r"tcdp-audit \d+\.\d+\.\d+\S*?(?=[<.,\s]|$)"), "tcdp-audit VERSION"),
    (re.compile(r"\b(Python|numpy|duckdb|pyarrow) \d\w*(?:\.\w+)*"), r"\1 VERSION"),
    (re.compile(r"No\. [0-9a-f]{8}"), "No. DIGEST"),
    (re.compile(r'("(?:version|semanticVersion)": "|name="tcdp-audit" value=")[^"]*'), r"\1VERSION"),
)


def normalised(text):
    text = with_plain_result(text, "the report")
    for pattern, replacement in VERSIONS:
        text = pattern.sub(replacement, text)
    return text


def on_terminal(result):
    console = Console(file=io.StringIO(), width=80, highlight=False)
    print_audit(console, result, ["report.html"])
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


EXPECT = [
    {"class_size": {"least": 4}},
    {"commonest_value": {"most": "0.3", "severity": "warning"}},
    {"commonest_value": {"most": "0.9"}},
    {"commonest_value": {}},
]


@pytest.fixture
def plain(fixed_time):  # noqa: ARG001 - the time of the audit
    return audit(salaries(), {**SALARY_POLICY, "expect": EXPECT}, plugins=golden_plugins())


@pytest.fixture
def hostile(fixed_time):  # noqa: ARG001 - the time of the audit
    policy = {**named_policy(HOSTILE), "expect": EXPECT}
    return audit(named_table(HOSTILE, lambda _, group: f"v{group}"), policy, plugins=golden_plugins())


@pytest.fixture
def repaired(plain):
    """The plain release as if remedies had made it, with outcomes and a log of its own."""
    return remedied(plain, REPAIRED, SIZE_AFTER, NEAR)


@pytest.fixture
def figures(fixed_time):  # noqa: ARG001 - the time of the audit
    """Two tables of figures without the records behind them."""
    return figure_audit()


def of_run(results, suffix):
    if suffix == ".github":
        return "".join(f"{line}\n" for line in annotated(findings_of(results)))
    if suffix == ".summary.md":
        return summary(results)
    plugins = Plugins.load(external=False)
    return render_several(reporter_of(Path(f"x{suffix}"), plugins.reporters.values()), results, plugins)


@pytest.mark.parametrize("suffix", OF_RUNS)
def test_runs_of_several_policies_are_reported_as_they_were(suffix, tmp_path, monkeypatch, fixed_time):  # noqa: ARG001
    monkeypatch.chdir(tmp_path)
    text = normalised(of_run(run_of_several(golden_plugins(), EXPECT), suffix))
    if os.environ.get("TCDP_AUDIT_GOLDEN") == "write":
        (GOLDEN / f"run{suffix}").write_text(text, encoding="utf-8")
    assert text == (GOLDEN / f"run{suffix}").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*NAMES, "repaired.html", "repaired.md", "figures.html", "figures.md", "figures.txt"])
def test_reports_are_as_they_were(name, request):
    which, suffix = Path(name).stem, Path(name).suffix
    result = request.getfixturevalue(which)
    text = normalised(on_terminal(result) if suffix == ".txt" else result.render(suffix))
    if os.environ.get("TCDP_AUDIT_GOLDEN") == "write":
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")
