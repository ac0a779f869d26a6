"""The page with other people's figures has ours as they are today."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from documents import ROOT, read


@pytest.mark.long
def test_the_tables_are_current(data: Path):
    script = runpy.run_path(str(ROOT / "benchmarks" / "validation.py"))
    [tables] = script["TABLES"].findall(read("docs/validation.md"))

    assert tables == script["page"](data)
