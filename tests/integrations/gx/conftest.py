"""Tests inside Great Expectations: all of them long, each in a process that has no context left from another."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tcdp_audit.core.quality import installed

HERE = Path(__file__).parent
sys.path += [str(HERE), str(HERE.parent), str(HERE.parents[1] / "engines" / "database")]

from server_of_tests import mariadb as mariadb, server as server  # noqa: E402, PLC0414 - fixtures

OF_OTHERS = (
    "ignore::pytest.PytestUnraisableExceptionWarning",  # Great Expectations closes no connection
    "ignore:Class unnest:sqlalchemy.exc.SAWarning",  # BigQuery's dialect, which it looks for
    *(f"ignore:::{module}" for module in ("great_expectations", "pydantic", "altair")),
)
NEEDED = installed("great_expectations")
collect_ignore_glob = [] if NEEDED else ["test_gx_*.py"]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Great Expectations keeps its last context with its connections, which would end while another test runs."""
    yield
    if "great_expectations" in sys.modules:
        from great_expectations.data_context import set_context

        set_context(None)
        gc.collect()


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not ask for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All of them are long; Great Expectations warns of itself, of pandas, and of pydantic."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("long")
            for ignored in OF_OTHERS:
                item.add_marker(pytest.mark.filterwarnings(ignored))
