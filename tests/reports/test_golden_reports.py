"""Whole reports against files under version control; TCDP_AUDIT_GOLDEN=write writes them anew."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest
from rich.console import Console

from tcdp_audit.cli.terminal import tell

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = (
    (re.compile(r'("(?:version|python|numpy|duckdb|pyarrow)":")[^"]*'), r"\1VERSION"),
    (re.compile(r"(<dt>(?:Python|numpy|duckdb|pyarrow)</dt><dd><bdi>)[^<]*"), r"\1VERSION"),
    (re.compile(r"tcdp-audit \d+\.\d+\.\d+\S*?(?=[<.,\s]|$)"), "tcdp-audit VERSION"),
    (re.compile(r"No\. [0-9a-f]{8}"), "No. DIGEST"),
)


def normalised(text):
    for pattern, replacement in VERSIONS:
        text = pattern.sub(replacement, text)
    return text


def on_terminal(result):
    console = Console(file=io.StringIO(), width=80, highlight=False)
    tell(console, result, ["report.html"])
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"


@pytest.mark.parametrize(
    "name", ["salary.html", "salary.md", "salary.txt", "hostile.html", "hostile.md", "hostile.txt"]
)
def test_reports_are_as_they_were(name, request):
    audit = request.getfixturevalue(f"{name.partition('.')[0]}_audit")
    suffix = Path(name).suffix
    text = normalised(on_terminal(audit) if suffix == ".txt" else audit.render(suffix))
    if os.environ.get("TCDP_AUDIT_GOLDEN") == "write":
        (GOLDEN / name).write_text(text, encoding="utf-8")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")
