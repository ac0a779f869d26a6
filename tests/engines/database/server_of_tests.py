"""The PostgreSQL server of a process's tests, for every `conftest.py` that asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
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
