"""The example of the Python interface runs, and says what the papers say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "python_api.py"


def test_the_example_prints_the_papers_figures(tmp_path: Path):
    ran = subprocess.run([sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "li07_table4.csv: passed",
        "  k-anonymity, all: 3 (passed)",
        "  Distinct l-diversity, disease: 3 (passed)",
        "  Distinct l-diversity, salary: 3 (passed)",
        "  Entropy l-diversity, disease: 3 (passed)",
        "  t-closeness, ordered distance, salary: 0.375 (passed)",
        "  t-closeness, equal distance, disease: 0.444444 (measured)",
        "  t-closeness, hierarchical distance, disease: 0.444444 (passed)",
        "table 5 is 1/6-close in salary: passed, observed 0.166667",
        "the audit's status is failed",
        (
            "k_anonymity: All 9 records are in 3 groups of fewer than 5 records with the same 'zip' and 'age'; "
            "the smallest has 3 records."
        ),
    ]
