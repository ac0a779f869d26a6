"""Audits to report on: a small deterministic one, one with hostile names, and whatever outcomes a test makes up."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from remedied_samples import NEAR, REPAIRED, SIZE_AFTER, remedied
from report_samples import HOSTILE, SALARY_POLICY, named_policy, named_table, salaries

from tcdp_audit import audit
from tcdp_audit.core.results.audit import Audit

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))  # what counts the words of a report


@pytest.fixture
def fixed_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Midnight at the start of 2026, UTC."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")


@pytest.fixture
def salary_audit(fixed_time: None) -> Audit:  # noqa: ARG001 - the time of the audit
    """An audit that fails, warns, passes and measures."""
    return audit(salaries(), SALARY_POLICY)


@pytest.fixture
def hostile_audit(fixed_time: None) -> Audit:  # noqa: ARG001 - the time of the audit
    """An audit of columns whose names would do harm where they are not escaped."""
    return audit(named_table(HOSTILE, lambda _, group: f"v{group}"), named_policy(HOSTILE))


@pytest.fixture
def repaired_audit(salary_audit: Audit) -> Audit:
    """An audit of a release that one of three remedies repaired."""
    return remedied(salary_audit, REPAIRED, SIZE_AFTER, NEAR)


@pytest.fixture
def with_outcomes(salary_audit: Audit) -> Callable[..., Audit]:
    """The same audit with outcomes of one's own in place of the expectations'."""
    return lambda *outcomes: replace(salary_audit, outcomes=(*salary_audit.structure, *outcomes), exposed=None)


@pytest.fixture
def chromium(skip_or_fail: Callable[[str], None]) -> str:
    """A browser to load reports in."""
    actual = shutil.which("chromium") or shutil.which("chromium-browser")
    if actual is None:
        skip_or_fail("chromium is not on PATH")
    return str(actual)
