"""Servers for the tests that ask for one, and the same records in every database."""

from __future__ import annotations

from pathlib import Path

import pytest
from loaded import Loaded
from server_of_tests import mariadb as mariadb, server as server  # noqa: PLC0414 - fixtures


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not ask for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a server belong to the longer tier."""
    for item in items:
        if {"server", "mariadb"} & set(getattr(item, "fixturenames", ())):
            item.add_marker("long")


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
