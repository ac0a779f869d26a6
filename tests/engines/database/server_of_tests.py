"""The servers of a process's tests, for every `conftest.py` that asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from mariadb_server import MariaDB, programs
from postgres_server import Server, binaries


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


@pytest.fixture(scope="session")
def mariadb(skip_or_fail: Callable[[str], None]) -> Iterator[MariaDB]:
    """A MariaDB server for all tests of a process."""
    if programs() is None:
        skip_or_fail("MariaDB's server is not installed")
    started = MariaDB.start()
    try:
        yield started
    finally:
        started.stop()
