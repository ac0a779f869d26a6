"""A browser opens the report without a console message and without a request."""

from __future__ import annotations

import json
import subprocess

import pytest

from tcdp_audit.core.results.comparison import compare
from tcdp_audit.core.results.written import WrittenAudit
from tcdp_audit_reports.html_report import render_comparison

FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--v=0"),
)


@pytest.mark.long
@pytest.mark.parametrize("which", ["salary_audit", "hostile_audit", "repaired_audit"])
def test_no_console_message_and_no_request(which, request, chromium, tmp_path):
    opened(request.getfixturevalue(which).render(".html"), "Disclosure audit report", chromium, tmp_path)


@pytest.mark.long
def test_no_console_message_and_no_request_of_a_notebook(hostile_audit, chromium, tmp_path):
    page = f"<!doctype html><html lang=en><title>A notebook</title>{hostile_audit._repr_html_()}</html>"
    opened(page, "Not fit for release", chromium, tmp_path)


def opened(html, expected, chromium, tmp_path):
    report, log, profile = tmp_path / "report.html", tmp_path / "net.json", tmp_path / "profile"
    profile.mkdir()
    report.write_text(html, encoding="utf-8")
    places = (f"--user-data-dir={profile}", f"--log-net-log={log}", "--dump-dom", report.as_uri())
    run = subprocess.run([chromium, *FLAGS, *places], capture_output=True, text=True, timeout=120, check=False)
    assert expected in run.stdout
    assert [line for line in run.stderr.splitlines() if "CONSOLE" in line] == []
    assert requested(log.read_text(encoding="utf-8")) == []


def requested(log):
    """Addresses that a page asked for; what the browser wants for itself has no origin."""
    text = log if log.rstrip().endswith("}") else log.rstrip().rstrip(",") + "]}"
    events = json.loads(text)["events"]
    actual = [event["params"] for event in events if "initiator" in event.get("params", {})]
    return sorted({one["url"] for one in actual if one["initiator"] != "not an origin"})


@pytest.mark.long
def test_a_request_would_be_seen(chromium, tmp_path):
    page, log = tmp_path / "page.html", tmp_path / "net.json"
    page.write_text("<img src='http://127.0.0.1:9/planted.png'>", encoding="utf-8")
    places = (f"--user-data-dir={tmp_path / 'profile'}", f"--log-net-log={log}", "--dump-dom", page.as_uri())
    subprocess.run([chromium, *FLAGS, *places], capture_output=True, timeout=120, check=False)
    assert requested(log.read_text(encoding="utf-8")) == ["http://127.0.0.1:9/planted.png"]


@pytest.mark.long
def test_no_console_message_and_no_request_of_a_comparison(hostile_audit, salary_audit, chromium, tmp_path):
    written = [WrittenAudit(tmp_path / "x.json", one.as_json()) for one in (hostile_audit, salary_audit)]
    opened(render_comparison(compare(*written, {})), "Two disclosure audits compared", chromium, tmp_path)
