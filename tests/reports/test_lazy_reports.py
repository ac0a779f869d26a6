"""Registering the reporters costs nothing; a reporter imports what it needs when it is called."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("jinja2", "rich", "markupsafe")


def imported(statement: str) -> list[str]:
    code = f"import sys; {statement}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("statement", ["import tcdp_audit_reports", "import tcdp_audit_reports.markdown_report"])
def test_importing_and_registering_loads_no_template_engine(statement):
    assert imported(f"{statement}; import tcdp_audit_reports as r; list(r.tcdp_audit_reporters())") == []


def test_the_html_reporter_needs_jinja_and_no_rich():
    assert imported("import tcdp_audit_reports.html_report") == ["jinja2", "markupsafe"]
