"""Pairs that outgrow the memory are the same sample in a database as in memory, and so are the outcomes."""

from __future__ import annotations

import pytest
from loaded import Loaded, into_mariadb, into_postgresql
from mariadb_server import MariaDB
from postgres_server import Server
from sampled_tables import TRANSLATED, judged, tables, translated

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


@pytest.mark.usefixtures("transport")
@pytest.mark.parametrize("coded", [False, True])
def test_an_original_in_postgresql_with_names_and_codes_of_its_own(server: Server, coded: bool) -> None:
    release, original = tables(numbered=False)
    theirs = into_postgresql(server, translated(original, coded=coded), "translated_original")
    schema = TRANSLATED if coded else {"columns": TRANSLATED["columns"]}

    assert judged(release, theirs, schema) == judged(release, original)


@pytest.mark.parametrize("coded", [False, True])
def test_an_original_in_sqlite_with_names_and_codes_of_its_own(loaded: Loaded, coded: bool) -> None:
    release, original = tables(numbered=True)
    theirs = loaded.sqlite(translated(original, coded=coded), "translated_original")
    schema = TRANSLATED if coded else {"columns": TRANSLATED["columns"]}

    assert judged(release, theirs, schema) == judged(release, original)
