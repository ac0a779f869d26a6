"""A policy's suite is one item of pytest, with a line for each expectation that does not hold."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tcdp_audit.core.base.outcome import COLUMN_DEMANDS

pytest_plugins = ["pytester"]
POLICY = """\
version: 1
release: release.csv
suite: quality.json
attributes: {zip: {role: quasi_identifier}}
expect: [{k_anonymity: {k: 2}}]
"""


@pytest.mark.parametrize(("values", "word"), [(["1", "zqcellzq"], "passed"), (["2", "3"], "failed")])
def test_a_suite_is_one_item(
    pytester: pytest.Pytester, inner_pytest: Callable[..., pytest.RunResult], values: list[str], word: str
):
    in_set = {"type": "expect_column_values_to_be_in_set", "kwargs": {"column": "zip", "value_set": values}}
    rows = {"type": "expect_table_row_count_to_equal", "kwargs": {"value": 2 if word == "passed" else 9}}
    suite = {"name": "quality", "expectations": [in_set, rows]}
    (pytester.path / "quality.json").write_text(json.dumps(suite), encoding="utf-8")
    (pytester.path / "release.csv").write_text("zip\n1\n1\n", encoding="utf-8")
    (pytester.path / "release.tcdp.yaml").write_text(POLICY, encoding="utf-8")
    result = inner_pytest("-v")

    result.stdout.fnmatch_lines(
        [f"release.tcdp.yaml::suite {word.upper()}*", f"release.tcdp.yaml::verdict {word.upper()}*"]
    )
    result.assert_outcomes(
        passed=len(COLUMN_DEMANDS) + (3 if word == "passed" else 1), failed=0 if word == "passed" else 2
    )
    lines = [line for line in result.outlines if line.startswith("release.tcdp.yaml:3: ")]
    assert len(lines) == (word == "failed")
