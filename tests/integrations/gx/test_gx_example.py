"""The example of Great Expectations runs, and says what the papers say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "great_expectations_suite.py"


def test_the_example_prints_the_papers_figures(tmp_path: Path):
    ran = subprocess.run([sys.executable, EXAMPLE, tmp_path], capture_output=True, text=True, check=True)

    lines = ran.stdout.splitlines()
    assert [line for line in lines if line.startswith("expect_")] == [
        "expect_table_to_be_k_anonymous: 3 (kept)",
        "expect_table_to_be_k_anonymous: 3 (not kept)",
        "expect_column_to_be_distinct_l_diverse: 3 (kept)",
        "expect_column_to_be_t_close: 0.375 (kept)",
    ]
    assert lines[-4:-1] == [
        "pages of Data Docs: 1",
        "li07_table4.tcdp.yaml as a suite: 8 expectations",
        "and back: 7 demands",
    ]
    assert lines[-1].startswith("refused: the suite 'from_policy' was made with 8 expectations, and 1 are known here")
