"""`--digest`: the content hash of a table in a database, and PostgreSQL's snapshot."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa
from loaded import Loaded, into_mariadb, into_postgresql
from mariadb_server import MariaDB
from postgres_server import Server

from tcdp_audit import UsageError, audit, verify
from tcdp_audit.cli.run import run
from tcdp_audit.plugin.engine import DatabaseTable
from tcdp_audit_plugins.engines import open_database


def run_in(server: Server, *statements: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}},
    "expect": [{"k_anonymity": {"k": 1}}],
}
ROWS = [("02139", 1, "a"), ("02139", 1, "a"), (None, 2, "ä"), ("-", None, "😀"), ("", 3, "1:a"), ("'", -4, "NULL")]
TABLE = pa.table(dict(zip(("zip", "Age", 'o"d:d %'), map(list, zip(*ROWS, strict=True)), strict=True)))
Place = Callable[[pa.Table], str]


def hash_of(table: pa.Table, cell: Callable[[Any], str] = str) -> str:
    """The definition of docs/databases.md."""
    sums, rows = [0, 0], list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    for row in rows:
        texts = [None if one is None else cell(one) for one in row]
        text = "".join("-" if one is None else f"{len(one.encode())}:{one}" for one in texts)
        digits = hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
        sums = [(sum_ + int(half, 16)) % 2**64 for sum_, half in zip(sums, (digits[:16], digits[16:]), strict=True)]
    names = json.dumps(table.column_names, ensure_ascii=False)
    return hashlib.sha256(f"{names}\n{len(rows)}\n{sums[0]:016x}{sums[1]:016x}\n".encode()).hexdigest()


def of_sqlite(cell: Any) -> str:
    """The text of a cell in SQLite, whose columns hold texts, numbers and bytes beside each other."""
    if isinstance(cell, bytes):
        return f"x'{cell.hex()}'"
    return f"'{cell}'" if isinstance(cell, str) else repr(cell)


def content(address: Any) -> str:
    with open_database(address, "release", 2**28) as engine:
        return engine.content_hash()


@pytest.fixture
def in_duckdb(tmp_path: Path) -> Place:
    numbers = count()

    def put(table: pa.Table) -> str:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return Loaded(folder).duckdb(table)

    return put


@pytest.fixture
def in_sqlite(tmp_path: Path) -> Place:
    numbers = count()

    def put(table: pa.Table) -> str:
        folder = tmp_path / str(next(numbers))
        folder.mkdir()
        return Loaded(folder).sqlite(table)

    return put


@pytest.fixture
def in_postgresql(server: Server) -> Place:
    return lambda table: into_postgresql(server, table, "hashed")


@pytest.fixture
def in_mariadb(mariadb: MariaDB) -> Place:
    def put(table: pa.Table) -> str:
        return into_mariadb(mariadb, table.rename_columns(["zip", "Age", "last"][: table.num_columns]), "hashed")

    return put


SERVERS = [pytest.param(one, marks=pytest.mark.long) for one in ("in_postgresql", "in_mariadb")]


@pytest.fixture(params=["in_duckdb", "in_sqlite", *SERVERS])
def place(request: pytest.FixtureRequest) -> Place:
    put: Place = request.getfixturevalue(request.param)
    return put


@pytest.fixture(params=["in_duckdb", "in_sqlite", SERVERS[0]])
def odd_place(request: pytest.FixtureRequest) -> Place:
    """Databases with columns of any name."""
    put: Place = request.getfixturevalue(request.param)
    return put


def test_the_hash_is_the_documented_one(odd_place: Place, request: pytest.FixtureRequest) -> None:
    cell = of_sqlite if "in_sqlite" in request.node.name else str
    assert content(odd_place(TABLE)) == hash_of(TABLE, cell)
    assert content(odd_place(TABLE.slice(0, 0))) == hash_of(TABLE.slice(0, 0), cell)


@pytest.mark.usefixtures("transport")
def test_both_ways_from_postgresql_give_it(in_postgresql: Place) -> None:
    assert content(in_postgresql(TABLE)) == hash_of(TABLE)


def test_a_column_of_another_name_is_another_table(odd_place: Place) -> None:
    assert content(odd_place(TABLE)) != content(odd_place(TABLE.rename_columns(["ZIP", *TABLE.column_names[1:]])))


def test_mariadb_has_the_same(in_mariadb: Place) -> None:
    assert content(in_mariadb(TABLE)) == hash_of(TABLE.rename_columns(["zip", "Age", "last"]))


def test_the_order_of_rows_does_not_matter_and_nothing_else_is_overlooked(place: Place) -> None:
    whole = content(place(TABLE))
    assert content(place(TABLE.take([5, 0, 2, 1, 4, 3]))) == whole
    others = [
        TABLE.slice(1),  # one of two equal rows is gone
        pa.concat_tables([TABLE, TABLE.slice(0, 2)]),
        TABLE.set_column(0, "zip", pa.array([*TABLE["zip"].to_pylist()[:2], "", "-", "", "'"])),  # null is not ''
        TABLE.set_column(0, "zip", pa.array([*TABLE["zip"].to_pylist()[:2], None, None, "", "'"])),  # nor '-'
        TABLE.set_column(0, "zip", pa.array([*TABLE["zip"].to_pylist()[:2], "-", None, "", "'"])),  # cells swapped
    ]
    assert len({whole, *(content(place(one)) for one in others)}) == len(others) + 1


def test_a_null_is_no_text_that_looks_like_one(place: Place) -> None:
    one = pa.table({"zip": pa.array(["1:a", None]), "Age": pa.array([1, 2])})
    other = pa.table({"zip": pa.array(["1:a", "-"]), "Age": pa.array([1, 2])})
    assert content(place(one)) != content(place(other))


def test_binary_and_nested_columns_count(tmp_path: Path) -> None:
    def of(*values: str) -> str:
        path = tmp_path / "n.duckdb"
        path.unlink(missing_ok=True)
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE t (a BLOB, b INTEGER[], c DOUBLE, d DATE)")
            connection.execute(f"INSERT INTO t VALUES ({', '.join(values)})")
        return content(f"duckdb:///{path}?table=t")

    first = of("'\\x01'", "[1, 2]", "0.1", "'2020-01-31'")
    changed = [
        of("'\\x02'", "[1, 2]", "0.1", "'2020-01-31'"),
        of("'\\x01'", "[1, 3]", "0.1", "'2020-01-31'"),
        of("'\\x01'", "[1, 2]", "0.10000000000000002", "'2020-01-31'"),
        of("'\\x01'", "[1, 2]", "0.1", "'2020-02-01'"),
    ]
    assert len({first, *changed}) == 5


def test_kinds_of_cells_of_sqlite_are_distinct(tmp_path: Path) -> None:
    hashes = set()
    cells: list[Any] = ["1", 1, 1.0, b"1", None, "x'31'"]
    for number, cell in enumerate(cells):
        path = tmp_path / f"{number}.db"
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE t (a)")
            connection.execute("INSERT INTO t VALUES (?)", [cell])
        connection.close()
        table = pa.table({"a": pa.array([cell])})
        hashes.add(content(f"sqlite:///{path}?table=t"))
        assert content(f"sqlite:///{path}?table=t") == hash_of(table, of_sqlite)
    assert len(hashes) == len(cells)


def test_a_table_of_many_columns(odd_place: Place, request: pytest.FixtureRequest) -> None:
    cell = of_sqlite if "in_sqlite" in request.node.name else str
    table = pa.table({f"c{number}": pa.array([number, None, 7]) for number in range(260)})
    assert content(odd_place(table)) == hash_of(table, cell)


def test_every_type_of_postgresql_counts(server: Server) -> None:
    def of(kind: str, value: str) -> str:
        run_in(
            server,
            "DROP TABLE IF EXISTS typed",
            f"CREATE TABLE typed (a {kind})",
            f"INSERT INTO typed VALUES ({value})",
        )
        return content(server.url("typed"))

    pairs = {
        "bytea": ("'\\x01'", "'\\x02'"),
        "jsonb": ("'{\"a\": 1}'", "'{\"a\": 2}'"),
        "int[]": ("'{1,2}'", "'{1,3}'"),
        "float8": ("0.1", "0.10000000000000002"),
        "numeric": ("1.5", "1.50"),
        "timestamptz": ("'2020-01-01 00:00+00'", "'2020-01-01 00:00+01'"),
        "char(3)": ("'a'", "'b'"),
        "bool": ("true", "false"),
    }
    for kind, (one, other) in pairs.items():
        assert of(kind, one) != of(kind, other), kind
        assert of(kind, one) == of(kind, one), kind


def test_the_hash_is_in_provenance_and_verify_confirms_by_it(place: Place, tmp_path: Path) -> None:
    address = place(TABLE)
    result = audit(address, POLICY, digest=True)
    entry = json.loads(result.render(".json"))["release"]
    assert (entry["sha256"], entry["state"]["content"]) == (None, content(address))
    assert f"content hash {entry['state']['content']}" in result.release.size
    path = tmp_path / "r.json"
    path.write_text(result.render(".json"))
    (tmp_path / "p.tcdp.yaml").write_text(json.dumps(POLICY))

    confirmed = verify(path, address, tmp_path / "p.tcdp.yaml")
    assert confirmed.is_confirmed
    assert ("release", f"the same rows, content hash {entry['state']['content'][:12]}…") in [
        (point.subject, point.sentence) for point in confirmed.points
    ]
    changed = TABLE.set_column(2, TABLE.column_names[2], pa.array([*TABLE[2].to_pylist()[:-1], "other"]))
    other = verify(path, place(changed), tmp_path / "p.tcdp.yaml")  # no figure sees this column
    assert not other.is_confirmed
    (sentence,) = [point.sentence for point in other.points if "content hash" in point.sentence]
    assert sentence.startswith("other rows: content hash was ")


def test_the_command_takes_it(in_sqlite: Place, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.tcdp.yaml").write_text(json.dumps(POLICY))
    address = in_sqlite(TABLE)
    assert run("check", [address, "--policy", str(tmp_path / "p.tcdp.yaml"), "--json", "--digest"]) == 1
    assert json.loads(capsys.readouterr().out)["release"]["state"] == {"content": content(address)}
    assert run("check", [address, "--policy", str(tmp_path / "p.tcdp.yaml"), "--json"]) == 1
    assert "state" not in json.loads(capsys.readouterr().out)["release"]


def test_a_file_has_its_digest_with_and_without(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("zip\n1\n1\n")
    plain, asked = (audit(tmp_path / "r.csv", POLICY, digest=digest).release for digest in (False, True))
    assert plain == asked
    assert plain.state is None


def test_a_database_without_one_is_refused_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = Loaded(tmp_path).sqlite(TABLE)
    monkeypatch.setattr("tcdp_audit_plugins.engines.database.engine.HASHED", ("postgresql",))
    with pytest.raises(UsageError, match=r"^release: no content hash can be computed where the table is; leave "):
        audit(address, POLICY, digest=True)
    assert audit(address, POLICY).release.state is None


def test_postgresqls_snapshot_is_in_provenance(server: Server) -> None:
    address = into_postgresql(server, TABLE, "hashed")
    first = audit(address, POLICY).release.state
    run_in(server, "CREATE TABLE IF NOT EXISTS another (a int)", "INSERT INTO another VALUES (1)")
    second = audit(address, POLICY).release.state
    assert first is not None
    assert second is not None
    assert re.fullmatch(r"\d+:\d+:[\d,]*", first.snapshot)
    assert first.snapshot != second.snapshot
    assert (first.content, first.sentence) == ("", "")


def test_a_table_of_a_program_has_both(server: Server) -> None:
    into_postgresql(server, TABLE, "hashed")
    engine = sa.create_engine(server.url().replace("postgresql://", "postgresql+psycopg://"))
    try:
        state = audit(DatabaseTable(engine, "hashed"), POLICY, digest=True).release.state
    finally:
        engine.dispose()
    assert state is not None
    assert (bool(state.snapshot), state.content) == (True, hash_of(TABLE))
