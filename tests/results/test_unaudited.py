"""A policy that could not be audited always says so in every format of a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tcdp_audit import DataError
from tcdp_audit.core.results.findings import findings_of
from tcdp_audit.core.results.reporter import UNEXPLAINED, Unaudited
from tcdp_audit_reports import code_scanning, junit_report


@pytest.mark.parametrize("text", ["", "\n"])
def test_an_error_without_a_text_is_a_finding(text: str):
    result = Unaudited(Path("x.tcdp.yaml"), DataError(text))

    assert [one.message for one in findings_of([result])] == [UNEXPLAINED]
    assert 'errors="1"' in junit_report.render([result])
    assert len(json.loads(code_scanning.render_code_quality([result]))) == 1
    assert len(json.loads(code_scanning.render([result]))["runs"][0]["results"]) == 1
