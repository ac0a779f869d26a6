"""PostgreSQL: its types, its snapshot, and what becomes of an audit when the server or the connection goes away."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa
from postgres_server import PASSWORD, USER, Server

from tcdp_audit import DataError, UsageError, audit
from tcdp_audit.cli.run import run as command
from tcdp_audit.plugin.engine import DatabaseTable, Engine, grouped_engine
from tcdp_audit_plugins.engines import open_database
from tcdp_audit_plugins.engines.database import postgresql
from tcdp_audit_plugins.engines.database.engine import DatabaseEngine
from tcdp_audit_plugins.engines.database.session import Session

MEMORY = 2**29


def run(server: Server, *statements: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[call-overload]


def opened(address: Any) -> Engine:
    return open_database(address, "release", MEMORY)


TYPES = {
    "smallint": ("1", "2", [1, 2]),
    "bigint": (str(2**62), str(2**62 + 1), [2**62, 2**62 + 1]),
    "real": ("0.1", "0.2", [0.1, 0.2]),
    "double precision": ("0.1", "0.10000000000000002", [0.1, 0.10000000000000002]),
    "numeric(10,2)": ("1.50", "2", ["1.50", "2.00"]),
    "numeric": ("1.50", "1.5", ["1.5", "1.50"]),
    "numeric(40)": ("1234567890123456789012345678901234567891", "1234567890123456789012345678901234567892", None),
    "text": ("Flu", "flu", ["Flu", "flu"]),
    "varchar(5)": ("a", "a ", ["a", "a "]),
    "char(4)": ("a", "b", ["a", "b"]),
    "boolean": ("true", "false", ["false", "true"]),
    "date": ("2020-01-01", "infinity", ["2020-01-01", "infinity"]),
    "timestamp": ("2020-01-01 05:00:00.5", "2020-01-01 05:00", ["2020-01-01 05:00:00", "2020-01-01 05:00:00.5"]),
    "timestamptz": ("2020-01-01 05:00+02", "2020-01-01 05:00+01", ["2020-01-01 03:00:00+00", "2020-01-01 04:00:00+00"]),
    "time": ("05:00", "06:00", ["05:00:00", "06:00:00"]),
    "interval": ("1 day", "24 hours", ["1 day", "24:00:00"]),
    "uuid": (f"{1:032x}", f"{2:032x}", [f"00000000-0000-0000-0000-{n:012d}" for n in (1, 2)]),
    "inet": ("10.0.0.1", "10.0.0.2", ["10.0.0.1/32", "10.0.0.2/32"]),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.usefixtures("transport")
def test_every_type_keeps_its_cells_apart(kind: str, server: Server) -> None:
    one, other, expected = TYPES[kind]
    run(server, "DROP TABLE IF EXISTS types", f"CREATE TABLE types (a {kind}, b int)")
    run(server, f"INSERT INTO types VALUES ('{one}', 1), ('{other}', 2), ('{other}', 2), (NULL, 2)")
    with opened(server.url("types")) as engine:
        engine.group_by(["a", "b"])
        domain = engine.domain("a")
        assert domain.values.tolist() == (expected or [one, other])
        assert (sorted(domain.counts.tolist()), domain.nulls, engine.records) == ([1, 2], 1, 4)
        assert engine.table().num_rows == 4


@pytest.mark.usefixtures("transport")
def test_a_collation_that_overlooks_case_does_not_make_two_texts_one(server: Server) -> None:
    run(
        server,
        "DROP TABLE IF EXISTS folded",
        "CREATE COLLATION IF NOT EXISTS folding (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        "CREATE TABLE folded (a text COLLATE folding)",
        "INSERT INTO folded VALUES ('Flu'), ('flu'), ('flu')",
    )
    with opened(server.url("folded")) as engine:
        assert engine.domain("a").counts.tolist() == [1, 2]


@pytest.mark.parametrize("kind", ["jsonb", "json", "int[]", "bytea", "int4range", "point_of_ours"])
def test_nested_and_binary_cells_are_refused(kind: str, server: Server) -> None:
    run(server, "DROP TABLE IF EXISTS nested", "DROP TYPE IF EXISTS point_of_ours")
    run(server, "CREATE TYPE point_of_ours AS (x int, y int)", f"CREATE TABLE nested (a {kind}, b int)")
    run(server, "INSERT INTO nested (b) VALUES (1)")
    with opened(server.url("nested")) as engine:
        engine.group_by(["a", "b"])
        with pytest.raises(
            DataError, match=r"^nested: column 'a' holds nested or binary data \(\w+\), not single cells$"
        ):
            engine.domain("a")
        assert engine.domain("b").counts.tolist() == [1]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every statement that asks for rows."""
    statements: list[str] = []
    for kind in (postgresql.Adbc, Session):
        stream = kind.stream

        def recorded(self: Any, statement: Any, schema: Any, stream: Any = stream) -> Iterator[Any]:
            statements.append(" ".join(str(statement).split()))
            return stream(self, statement, schema)

        monkeypatch.setattr(kind, "stream", recorded)
    return statements


ASKED: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "disease": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 2}}, {"t_closeness": {"t": "0.5"}}, {"sample_uniqueness": {}}],
}


@pytest.fixture
def people(server: Server) -> str:
    run(
        server,
        "DROP TABLE IF EXISTS people CASCADE",
        "CREATE TABLE people (zip text, age int, disease text)",
        "INSERT INTO people SELECT (i % 10)::text, i % 5, (i % 3)::text FROM generate_series(1, 1000) i",
    )
    return server.url("people")


def test_one_statement_asks_for_all(people: str, sent: list[str], transport: str) -> None:
    assert audit(people, ASKED).release.records == 1000
    assert len(sent) == 1, transport
    assert sent[0].endswith('GROUP BY zip COLLATE "C", age, CAST(disease AS TEXT) COLLATE "C"') or "GROUP BY" in sent[0]


def test_rows_travel_by_adbc_where_it_is_installed(
    people: str, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[str] = []
    monkeypatch.setattr(postgresql.Adbc, "stream", lambda *_: used.append("adbc") or iter(()))
    with opened(people + "&options=-c%20work_mem%3D8MB") as engine:
        engine.group_by(["zip"])
        records = engine.records
    assert (used, records) == ((["adbc"], 0) if transport == "adbc" else ([], 1000))


@pytest.mark.usefixtures("transport")
def test_the_verdict_is_that_of_the_snapshot(people: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    before = audit(people, ASKED).outcomes

    def meddling(*arguments: Any) -> Engine:
        run(server, "DELETE FROM people WHERE zip = '3'", "INSERT INTO people VALUES ('new', 99, 'new')")
        return grouped_engine(*arguments)

    monkeypatch.setattr("tcdp_audit_plugins.engines.database.engine.grouped_engine", meddling)
    during = audit(people, ASKED)
    assert during.outcomes == before
    assert during.release.records == 1000
    monkeypatch.undo()
    after = audit(people, ASKED)
    assert after.release.records == 901
    assert after.outcomes != before


@pytest.mark.usefixtures("transport")
def test_two_tables_of_one_database_are_seen_at_one_moment(people: str, server: Server) -> None:
    run(server, "DROP TABLE IF EXISTS original", "CREATE TABLE original AS SELECT * FROM people")
    with opened(people) as release:
        run(server, "DELETE FROM original", "DELETE FROM people")
        with opened(people.replace("=people", "=original")) as original:
            assert (original.records, release.records) == (1000, 1000)
    with opened(people.replace("=people", "=original")) as later:
        assert later.records == 0


def test_views_queries_and_tables_of_a_program(people: str, server: Server, tmp_path: Path) -> None:
    run(server, "CREATE VIEW some_people AS SELECT * FROM people WHERE zip <> '3'")
    (tmp_path / "q.sql").write_text("SELECT zip::text AS zip, age, disease FROM people WHERE zip <> '3' -- :x %s\n")
    engine = sa.create_engine(people.replace("postgresql://", "postgresql+psycopg://").replace("&table=people", ""))
    table = sa.Table("people", sa.MetaData(), autoload_with=engine)
    forms = [
        people.replace("=people", "=some_people"),
        people.replace("table=people", f"query_file={tmp_path}/q.sql"),
        DatabaseTable(engine, "public.some_people"),
        DatabaseTable(engine, sa.select(table).where(table.c.zip != "3")),
    ]
    expected = audit(forms[0], ASKED)
    assert expected.release.records == 900
    for form in forms[1:]:
        assert audit(form, ASKED).outcomes == expected.outcomes
    assert audit(DatabaseTable(engine, table), ASKED).release.records == 1000
    engine.dispose()


def test_two_columns_of_one_name_are_refused(server: Server, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT 1 AS a, 2 AS a")
    with pytest.raises(UsageError, match="the column name 'a' occurs more than once"):
        opened(server.url(query_file=f"{tmp_path}/q.sql"))


def test_nothing_is_written(people: str, server: Server, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone")
    with pytest.raises(UsageError):
        opened(people.replace("table=people", f"query_file={tmp_path}/q.sql"))
    run(server, "CREATE OR REPLACE FUNCTION gone() RETURNS int LANGUAGE sql AS 'DELETE FROM people RETURNING 1'")
    (tmp_path / "q.sql").write_text("SELECT gone() AS a")
    with pytest.raises(DataError), opened(people.replace("table=people", f"query_file={tmp_path}/q.sql")) as engine:
        engine.domain("a")
    assert audit(people, ASKED).release.records == 1000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ((PASSWORD, "wrong-s3cret"), "the server refuses the user or the password"),
        (("/postgres?", "/nowhere?"), "the server has no such database"),
        (("table=people", "table=nobody"), "no such table or view"),
        (("table=people", "table=nowhere.people"), "no such table or view"),
        (("host=/tmp", "host=/tmp/nowhere"), "no server listens on this socket"),
    ],
)
def test_an_address_that_leads_nowhere(change: tuple[str, str], sentence: str, people: str) -> None:
    with pytest.raises(UsageError) as caught:
        opened(people.replace(*change))
    assert sentence in str(caught.value)
    assert not re.search(f"{PASSWORD}|wrong-s3cret|{USER}", str(caught.value))
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)


def test_a_table_that_the_user_may_not_read(people: str, server: Server) -> None:
    run(server, "DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN PASSWORD 'x'")
    with pytest.raises(UsageError, match="the database's user may not read it; grant SELECT"):
        opened(people.replace(f"{USER}:{PASSWORD}", "stranger:x"))


@pytest.fixture
def own_server(skip_or_fail: Callable[[str], None], server: Server) -> Iterator[Server]:  # noqa: ARG001
    """A server that a test may kill, with a table that takes a while."""
    started = Server.start()
    run(
        started,
        "CREATE TABLE slow (zip int, age int, disease text, note int)",
        "INSERT INTO slow SELECT i, i % 9, md5(i::text), i FROM generate_series(1, 999999) i",
        "CREATE TABLE small AS SELECT * FROM slow LIMIT 1000",
    )
    try:
        yield started
    finally:
        started.stop()


def _end_connections(server: Server) -> None:
    others = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename IS NOT NULL"
    )
    run(server, others)


LATER = {**ASKED, "attributes": {**ASKED["attributes"], "note": {"role": "insensitive", "scale": "numeric"}}}


@pytest.mark.parametrize(
    ("end", "table", "statement", "asked"),
    [(_end_connections, "slow", 1, ASKED), (Server.kill, "slow", 1, ASKED), (_end_connections, "small", 2, LATER)],
    ids=["connection", "server", "connection, in a later statement"],
)
@pytest.mark.usefixtures("transport")
def test_what_is_killed_in_the_middle_leaves_no_report(
    end: Callable[[Server], None],
    table: str,
    statement: int,
    asked: dict[str, Any],
    own_server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "p.tcdp.yaml").write_text(json.dumps(asked))
    monkeypatch.chdir(tmp_path)
    batches, streams = DatabaseEngine._batches, count(1)

    def killed(self: DatabaseEngine, *arguments: Any) -> Iterator[pa.RecordBatch]:
        number = next(streams)
        if number == statement == 2:
            end(own_server)
        for position, batch in enumerate(batches(self, *arguments)):
            if number == statement and position == 1:
                end(own_server)
            yield batch

    monkeypatch.setattr(DatabaseEngine, "_batches", killed)
    assert command("check", [own_server.url(table), "--report", "r.json", "--report", "r.html"]) == 3
    printed = capsys.readouterr()
    broken = f"{table}: the connection to the database broke while the table was read; nothing was judged, start again"
    assert printed.err.strip() == f"tcdp-audit: {broken}"
    assert printed.out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"p.tcdp.yaml"}


@pytest.mark.usefixtures("transport")
def test_a_statement_that_takes_too_long_is_stopped(server: Server, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT i AS a, pg_sleep(0.01)::text AS b FROM generate_series(1, 100000) i")
    start = time.monotonic()
    with (
        opened(server.url(query_file=f"{tmp_path}/q.sql", timeout="0.5")) as engine,
        pytest.raises(DataError, match="the database took longer than a statement may"),
    ):
        engine.domain("a")
    assert time.monotonic() - start < 30
