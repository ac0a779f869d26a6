"""The engine has every property that the conformance suite asks of engines, on each kind of database."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from loaded import Loaded, into_mariadb, into_postgresql
from mariadb_server import MariaDB
from postgres_server import Server

from tcdp_audit.testing import check_conforms
from tcdp_audit_plugins.engines import DATABASE


@pytest.mark.long
@pytest.mark.parametrize("database", ["sqlite", "duckdb"])
def test_files_of_databases(database: str, tmp_path: Path) -> None:
    numbers = iter(range(100))
    check_conforms(DATABASE, {"place": lambda table: getattr(Loaded(tmp_path), database)(table, f"t{next(numbers)}")})


@pytest.mark.usefixtures("transport")
def test_postgresql(server: Server) -> None:
    numbers = iter(range(100))

    def place(table: pa.Table) -> str:
        return into_postgresql(server, table, f"conforming{next(numbers)}")

    check_conforms(DATABASE, {"place": place})


def test_mariadb(mariadb: MariaDB) -> None:
    numbers = iter(range(100))

    def place(table: pa.Table) -> str:
        return into_mariadb(mariadb, table, f"conforming{next(numbers)}")

    check_conforms(DATABASE, {"place": place})
