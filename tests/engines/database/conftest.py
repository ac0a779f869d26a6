"""A PostgreSQL server for the tests that ask for one, and the same records in every database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loaded import Loaded
from postgres_server import Server, binaries


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not ask for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a server belong to the longer tier."""
    for item in items:
        if "server" in getattr(item, "fixturenames", ()):
            item.add_marker("long")


@pytest.fixture(scope="session")
def server(skip_or_fail: Callable[[str], None]) -> Iterator[Server]:
    """A server for all tests of a process; see `server_to_kill`."""
    if binaries() is None:
        skip_or_fail("PostgreSQL's server is not installed")
    started = Server.start()
    try:
        yield started
    finally:
        started.stop()


@pytest.fixture
def loaded(tmp_path: Path) -> Loaded:
    """Puts a table into databases."""
    return Loaded(tmp_path)


@pytest.fixture(params=["adbc", "sqlalchemy"])
def transport(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways on which PostgreSQL's rows travel."""
    if request.param == "sqlalchemy":
        monkeypatch.setitem(__import__("sys").modules, "adbc_driver_postgresql", None)
    return str(request.param)
