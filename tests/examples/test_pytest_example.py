"""The example of policies as tests runs as it says: nothing fails, one warns, one is only measured."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tcdp_audit.core.base.outcome import COLUMN_DEMANDS

pytest_plugins = ["pytester"]
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_runs(pytester: pytest.Pytester, inner_pytest: Callable[..., pytest.RunResult]):
    shutil.copytree(EXAMPLES / "pytest", pytester.path / "pytest")
    shutil.copytree(EXAMPLES / "papers", pytester.path / "papers")

    inner_pytest("--strict-markers", "pytest").assert_outcomes(passed=len(COLUMN_DEMANDS) + 6, xfailed=2, skipped=1)
