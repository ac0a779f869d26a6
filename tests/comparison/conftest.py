"""A release with what was written about it, as the tests of `written` have it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "written"))

from written_samples import Pair, copied_pair


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """A release that is not fit, its policy, its result and its report."""
    return copied_pair(tmp_path)
