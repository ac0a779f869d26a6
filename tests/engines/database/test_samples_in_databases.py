"""Pairs that outgrow the memory are the same sample in a database as in memory, and so are the outcomes."""

from __future__ import annotations

import pytest
from loaded import Loaded, into_mariadb, into_postgresql
from mariadb_server import MariaDB
from postgres_server import Server
from sampled_tables import judged, tables

pytestmark = pytest.mark.long
NAMES = ("release", "original")


@pytest.mark.parametrize("numbered", [False, True])
def test_sqlite(numbered: bool, loaded: Loaded) -> None:
    both = tables(numbered=numbered)
    places = [loaded.sqlite(table, name) for table, name in zip(both, NAMES, strict=True)]

    assert judged(*places) == judged(*both)


@pytest.mark.parametrize("numbered", [False, True])
def test_a_duckdb_file_beside_a_table_in_memory(numbered: bool, loaded: Loaded) -> None:
    release, original = tables(numbered=numbered)

    assert judged(loaded.duckdb(release), original) == judged(release, original)


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("numbered", [False, True])
def test_postgresql(server: Server, numbered: bool) -> None:
    both = tables(numbered=numbered)
    places = [into_postgresql(server, table, f"sampled_{name}") for table, name in zip(both, NAMES, strict=True)]

    assert judged(*places) == judged(*both)


@pytest.mark.parametrize("numbered", [False, True])
def test_mariadb(mariadb: MariaDB, numbered: bool) -> None:
    both = tables(numbered=numbered)
    places = [into_mariadb(mariadb, table, f"sampled_{name}") for table, name in zip(both, NAMES, strict=True)]

    assert judged(*places) == judged(*both)
