"""A release with what was written about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from written_samples import Pair, copied_pair


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """A release that is not fit, its policy, its result and its report."""
    return copied_pair(tmp_path)
