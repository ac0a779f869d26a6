"""Environments of other programs that need one of their own; `.ci/run` makes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GUESTS = "TCDP_AUDIT_GUESTS"  # the folder of the environments, each by its name


@pytest.fixture(scope="session")
def guest(skip_or_fail: Callable[[str], None]) -> Callable[[str], Path]:
    """The folder of the programs of an environment by its name."""

    def programs(name: str) -> Path:
        folder = Path(os.environ.get(GUESTS, "/nowhere")).absolute() / name / "bin"
        if not folder.is_dir():
            skip_or_fail(f"{GUESTS} names no folder with an environment of {name}")
        return folder

    return programs
