"""The example of expectations in pandera runs, and says what the papers say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "pandera_checks.py"


@pytest.mark.long
def test_the_example_prints_the_papers_figures(tmp_path: Path):
    ran = subprocess.run([sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, check=True)
    lines = [line.strip() for line in ran.stdout.splitlines()]

    assert ran.stderr == ""
    assert lines[:3] == [
        "by hand: failed",
        "k-anonymity: 2 (passed), rows []",
        "Distinct l-diversity: 1 (failed), rows [0, 1]",
    ]
    in_one_city, everyone = ([["record", str(n), str(n - 1)] for n in range(1, last)] for last in (3, 6))
    assert [line.split()[-3:] for line in lines[4:-1]] == [*(in_one_city * 4), *everyone]
    assert not {"Barcelona", "Cancer"} & set(ran.stdout.replace(",", " ").split())
    assert lines[-1] == "from YAML: passed, the same schema: True"
