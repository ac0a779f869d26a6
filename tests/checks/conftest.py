"""A hold-out on disk, for the checks that compare a release with its original."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_tables import STRANGERS


@pytest.fixture
def holdout(tmp_path: Path) -> Path:
    """Records like those of the original, of which none was in it."""
    STRANGERS.to_csv(tmp_path / "holdout.csv", index=False)
    return tmp_path / "holdout.csv"
