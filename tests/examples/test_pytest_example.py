"""The example of policies as tests runs as it says: nothing fails, one warns, one is only measured."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tcdp_audit.testing import assert_releasable

pytest_plugins = ["pytester"]
EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_example_runs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    policy = shutil.copytree(EXAMPLES / "pytest", pytester.path / "pytest") / "table4.tcdp.yaml"
    shutil.copytree(EXAMPLES / "papers", pytester.path / "papers")
    assert_releasable(None, policy)  # imports what pytester would forget
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    result = pytester.runpytest_inprocess("-p", "tcdp_audit.pytest_plugin", "--strict-markers", "pytest")

    result.assert_outcomes(passed=14, xfailed=1, skipped=1)
