"""The example of a notebook runs, and says what the paper says of its table before it was generalised."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "notebook.py"


@pytest.mark.long
def test_the_example_displays_the_papers_figures(tmp_path: Path):
    ran = subprocess.run([sys.executable, EXAMPLE], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "<Audit of li07_table3.csv (9 records, 4 columns): failed>",
        "✗ k_anonymity: failed, observed 1, demanded ≥ 3",
        "✗ distinct_l_diversity on 'disease': failed, observed 1, demanded ≥ 3",
        "✗ t_closeness on 'salary': failed, observed 0.500, demanded ≤ 0.375",
        "               check attribute status  observed",
        "         k_anonymity       NaN failed       1.0",
        "distinct_l_diversity   disease failed       1.0",
        "         t_closeness    salary failed       0.5",
        "zip <Outcome k_anonymity: measured, observed 3>",
        "age <Outcome k_anonymity: measured, observed 3>",
        "['zip', 'age'] <Outcome k_anonymity: measured, observed 3>",
    ]
