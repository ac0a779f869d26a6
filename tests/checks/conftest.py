"""A hold-out on disk, for the checks that compare a release with its original; labels of every detail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from detail_labels import outcome_with_labels
from synthetic_tables import STRANGERS

from tcdp_audit.core.auditor.tasks import Task


@pytest.fixture
def holdout(tmp_path: Path) -> Path:
    """Records like those of the original, of which none was in it."""
    STRANGERS.to_csv(tmp_path / "holdout.csv", index=False)
    return tmp_path / "holdout.csv"


@pytest.fixture(scope="session", autouse=True)
def every_detail_has_a_label() -> Iterator[None]:
    """Any test that makes an outcome of a built-in check fails where a detail of it has no label."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Task, "outcome", outcome_with_labels)
        yield
