"""The synthetic release of a million records that benchmarks use, with every check on classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import synthetic
from every_class_check import every_class_check

RECORDS = 1_000_000


def file(folder: Path) -> Path:
    """The release, written into a folder if it is not there."""
    path = folder / "million.parquet"
    synthetic.write(path, RECORDS)
    return path


def policy() -> dict[str, Any]:
    """What is asked of it."""
    return synthetic.policy(every_class_check("income", 1000, "occupation", synthetic.SENSITIVE))
