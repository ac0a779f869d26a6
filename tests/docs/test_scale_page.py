"""The page on scale has the figures that the formulas give."""

from __future__ import annotations

import subprocess
import sys

import pytest
from documents import ROOT, read


@pytest.mark.long
def test_the_predictions_are_what_the_program_prints():
    command = [sys.executable, ROOT / "benchmarks" / "bytes_model.py"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert printed.count("\n") > 10
    assert printed in read("docs/scale.md")
