"""A workbench that runs, on a small table with its policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from workbench_client import Client, running, write_policy, write_table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a table, its hierarchies and its policy."""
    write_table(tmp_path)
    write_policy(tmp_path)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    """A client that has entered a workbench on the table."""
    with running(folder) as one:
        yield one
