"""PostgreSQL: what has a built-in name and is none, tables found by a search path, and rows that a policy hides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from postgres_server import PASSWORD, USER, Server

from tcdp_audit import DataError, UsageError, audit
from tcdp_audit.plugin.engine import DatabaseTable
from tcdp_audit_plugins.engines import open_database

MEMORY = 2**28
ALONE: dict[str, Any] = {
    "version": 1,
    "attributes": {"a": {"role": "quasi_identifier"}},
    "expect": [{"k_anonymity": {"k": 3}}],
}


def run(server: Server, *statements: str) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS evil CASCADE")
        connection.execute("CREATE SCHEMA evil")
        for statement in statements:
            connection.execute(statement)  # type: ignore[call-overload]


def engine_of(address: str) -> sa.Engine:
    return sa.create_engine(address.replace("postgresql://", "postgresql+psycopg://"))


def domain(address: Any) -> dict[str, int]:
    with open_database(address, "release", MEMORY) as engine:
        engine.group_by(["a"])
        result = engine.domain("a")
        return dict(zip(map(str, result.values.tolist()), result.counts.tolist(), strict=True))


ALIKE = {
    "bool": ("1", "true", "TRUE"),
    "int8": ("1", "01", "001"),
    "int4": ("1", "01", "001"),
    "int2": ("1", "01", "001"),
    "float8": ("1", "1.0", "1e0"),
    "float4": ("1", "1.0", "1e0"),
    "date": ("2020-01-01", "2020-1-1", "20200101"),
    "uuid": ("a", "A", "{a}"),
    "timestamptz": ("2020-01-01 00:00Z", "2020-01-01", "20200101"),
    "json": ("1", "1.0", "1e0"),
    "bytea": ("a", "b", "c"),
    "text": ("a", "A", "a "),
}


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.usefixtures("transport")
def test_an_enumeration_with_the_name_of_a_built_in_type_keeps_its_texts(name: str, server: Server) -> None:
    labels = ALIKE[name]
    rows = ", ".join(f"('{label}')" for label in labels)
    listed = ", ".join(f"'{label}'" for label in labels)
    run(
        server,
        f'CREATE TYPE evil."{name}" AS ENUM ({listed})',
        f'CREATE TABLE evil.t (a evil."{name}")',
        f"INSERT INTO evil.t VALUES {rows}",
    )

    assert domain(server.url("evil.t")) == dict.fromkeys(labels, 1)
    (outcome,) = audit(server.url("evil.t"), ALONE).expectations
    assert (outcome.status, outcome.observed) == ("failed", 1)


@pytest.mark.usefixtures("transport")
def test_a_cast_of_users_to_text_merges_nothing(server: Server) -> None:
    run(
        server,
        "CREATE TYPE evil.grade AS ENUM ('x', 'y', 'z')",
        "CREATE FUNCTION evil.same(evil.grade) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'x'::pg_catalog.text$$",
        "CREATE CAST (evil.grade AS text) WITH FUNCTION evil.same(evil.grade)",
        "CREATE TABLE evil.t (a evil.grade)",
        "INSERT INTO evil.t VALUES ('x'), ('y'), ('z'), (NULL)",
    )

    assert domain(server.url("evil.t")) == {"x": 1, "y": 1, "z": 1}


SHADOWS = {
    "text": "CREATE DOMAIN evil.text AS char(1)",
    "collation": "CREATE COLLATION evil.\"C\" (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
    "count": "CREATE AGGREGATE evil.count(*) (sfunc = pg_catalog.int8inc, stype = int8, initcond = '7')",
    "numeric": "CREATE DOMAIN evil.numeric AS int",
}


@pytest.mark.parametrize("shadow", SHADOWS)
@pytest.mark.usefixtures("transport")
def test_a_search_path_shadows_no_name_of_the_servers(shadow: str, server: Server) -> None:
    run(
        server,
        "CREATE TABLE evil.t (a varchar(9), b numeric)",
        "INSERT INTO evil.t VALUES ('ab', 1.5), ('AB', 1.5), ('ac', 2.5)",
        SHADOWS[shadow],
    )

    address = server.url("evil.t", options="-c%20search_path%3Devil,pg_catalog")
    assert domain(address) == {"ab": 1, "AB": 1, "ac": 1}


@pytest.mark.parametrize(
    ("table", "path", "resolved"),
    [
        ("rel", "evil", "evil.rel"),
        ("rel", "evil,public", "evil.rel"),
        ("rel", "public,evil", "public.rel"),
        ("evil.rel", "public", "evil.rel"),
        ("Odd.Name", "evil", None),
        ('"Odd.Name"', "evil", 'evil."Odd.Name"'),
        ("parts", "evil", "evil.parts"),
        ("seen", "evil", "evil.seen"),
    ],
)
def test_provenance_names_the_table_that_was_read(table: str, path: str, resolved: str | None, server: Server) -> None:
    run(
        server,
        "DROP TABLE IF EXISTS public.rel",
        "CREATE TABLE public.rel AS SELECT 'x'::text AS a",
        "CREATE TABLE evil.rel AS SELECT 'y'::text AS a FROM generate_series(1, 3)",
        'CREATE TABLE evil."Odd.Name" AS SELECT * FROM evil.rel',
        "CREATE VIEW evil.seen AS SELECT * FROM evil.rel",
        "CREATE TABLE evil.parts (a text) PARTITION BY LIST (a)",
        "CREATE TABLE evil.part PARTITION OF evil.parts DEFAULT",
        "INSERT INTO evil.parts SELECT * FROM evil.rel",
    )
    address = server.url(table, options=f"-c%20search_path%3D{path}")
    if resolved is None:
        with pytest.raises(UsageError, match="no such table or view"):
            audit(address, ALONE)
        return

    release = audit(address, ALONE).release
    assert release.uri == f"postgresql:///postgres?table={resolved}"
    assert release.records == (1 if resolved == "public.rel" else 3)


def test_a_table_of_a_program_is_named_in_full(server: Server) -> None:
    run(server, "CREATE TABLE evil.rel AS SELECT 'y'::text AS a FROM generate_series(1, 3)")
    engine = engine_of(server.url(options="-c%20search_path%3Devil"))
    for table in ("rel", sa.Table("rel", sa.MetaData(), sa.Column("a", sa.String))):
        assert audit(DatabaseTable(engine, table), ALONE).release.uri == "postgresql:///postgres?table=evil.rel"
    mapped = engine.execution_options(schema_translate_map={None: "evil"})
    table = sa.Table("rel", sa.MetaData(), sa.Column("a", sa.String))
    assert audit(DatabaseTable(mapped, table), ALONE).release.records == 3
    engine.dispose()


@pytest.mark.usefixtures("transport")
def test_a_search_path_of_the_session_is_that_of_both_connections(server: Server, tmp_path: Path) -> None:
    run(
        server,
        "DROP TABLE IF EXISTS public.rel",
        "CREATE TABLE public.rel AS SELECT 'x'::text AS a",
        "CREATE TABLE evil.rel AS SELECT 'y'::text AS a FROM generate_series(1, 3)",
    )
    engine = engine_of(server.url())

    @sa.event.listens_for(engine, "connect")
    def look_there(connection: Any, _: Any) -> None:
        connection.execute("SET search_path = 'evil'")
        connection.commit()

    assert domain(DatabaseTable(engine, sa.select(sa.table("rel", sa.column("a"))))) == {"y": 3}
    engine.dispose()
    (tmp_path / "q.sql").write_text("SELECT a FROM rel")
    path = "-c%20search_path%3Devil"
    assert domain(server.url(query_file=f"{tmp_path}/q.sql", options=path)) == {"y": 3}


@pytest.mark.parametrize("path", ["", '""', "%22a%5C%20b%22,evil", "%22it's%22,evil"])
@pytest.mark.usefixtures("transport")
def test_odd_search_paths(path: str, server: Server) -> None:
    run(server, "CREATE TABLE evil.t AS SELECT 'y'::text AS a FROM generate_series(1, 3)")
    assert domain(server.url("evil.t", options=f"-c%20search_path%3D{path}")) == {"y": 3}


READER = "some_reader"


@pytest.fixture
def guarded(server: Server) -> str:
    """The address of a table of which a policy hides the record that is alone."""
    run(
        server,
        f"DO $$BEGIN CREATE ROLE {READER} LOGIN PASSWORD 'x'; EXCEPTION WHEN duplicate_object THEN NULL; END$$",
        "CREATE TABLE evil.secured (a text)",
        "INSERT INTO evil.secured VALUES ('x'), ('x'), ('x'), ('alone')",
        "ALTER TABLE evil.secured ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY lonely ON evil.secured USING (a <> 'alone')",
        "CREATE VIEW evil.invoking WITH (security_invoker = true) AS SELECT * FROM evil.secured",
        "CREATE VIEW evil.of_the_owner AS SELECT * FROM evil.secured",
        f"GRANT USAGE ON SCHEMA evil TO {READER}",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA evil TO {READER}",
    )
    return server.url("evil.secured").replace(f"{USER}:{PASSWORD}", f"{READER}:x")


HIDDEN = "row-level security hides records of 'secured' from this user, and nothing was judged; read it as a user with"


@pytest.mark.parametrize("path", ["table=evil.secured", "table=evil.invoking", "query_file="])
@pytest.mark.parametrize("options", ["", "&options=-c%20row_security%3Don"])
@pytest.mark.usefixtures("transport")
def test_rows_that_a_policy_hides_are_no_release(path: str, options: str, guarded: str, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT a FROM evil.secured")
    place = f"{path}{tmp_path}/q.sql" if path == "query_file=" else path
    with pytest.raises(UsageError, match=HIDDEN):
        audit(guarded.replace("table=evil.secured", place) + options, ALONE)


@pytest.mark.usefixtures("transport")
def test_who_may_see_all_rows_audits_all(guarded: str, server: Server) -> None:
    for address in (server.url("evil.secured"), guarded.replace("secured", "of_the_owner")):
        assert domain(address) == {"x": 3, "alone": 1}
    engine = engine_of(guarded.replace("&table=evil.secured", ""))
    with pytest.raises(UsageError, match=HIDDEN):
        audit(DatabaseTable(engine, sa.select(sa.table("secured", sa.column("a"), schema="evil"))), ALONE)
    engine.dispose()


def test_a_policy_that_is_made_while_the_table_is_read_hides_nothing(guarded: str, server: Server) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("ALTER TABLE evil.secured DISABLE ROW LEVEL SECURITY")
    with open_database(guarded, "release", MEMORY) as engine:
        assert engine.domain("a").counts.tolist() == [1, 3]


@pytest.mark.usefixtures("transport")
def test_a_statement_that_an_administrator_cancels(server: Server, tmp_path: Path) -> None:
    run(
        server,
        "CREATE FUNCTION evil.cancelled(int) RETURNS int LANGUAGE sql AS "
        "$$SELECT CASE WHEN $1 = 20000 AND pg_cancel_backend(pg_backend_pid()) "
        "AND pg_sleep(1) IS NULL THEN 0 ELSE $1 END$$",
    )
    (tmp_path / "q.sql").write_text("SELECT evil.cancelled(i)::text AS a FROM generate_series(1, 30000) i")
    with (
        open_database(server.url(query_file=f"{tmp_path}/q.sql"), "release", MEMORY) as engine,
        pytest.raises(DataError, match="the server's administrator, or the server itself, ended the statement"),
    ):
        engine.table()
