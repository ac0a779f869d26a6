"""No password, statement or cell in any output, report or exception, whatever a driver says."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from postgres_server import PASSWORD, USER, Server

from tcdp_audit import TcdpAuditError, audit
from tcdp_audit.cli.run import run
from tcdp_audit_plugins.engines import open_database
from tcdp_audit_plugins.engines.database.faults import opening, reading

MARK = "zq-planted-cell"
SECRETS = (MARK, PASSWORD, USER, "planted_function", "SELECT")
ASKED = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}, "disease": {"role": "sensitive"}},
    "expect": [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}],
}


def reachable(error: BaseException) -> Iterator[str]:
    """The text of everything that hangs on an error."""
    pending: list[Any] = [error]
    seen: set[int] = set()
    while pending:
        one = pending.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, BaseException):
            yield f"{one!s} {one!r}"
            pending += [one.__cause__, one.__context__, one.args, vars(one), getattr(one, "__notes__", None)]
        elif isinstance(one, Mapping):
            pending += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple | set):
            pending += one
        elif isinstance(one, str):
            yield one


def clean(error: BaseException) -> None:
    assert isinstance(error, TcdpAuditError)
    actual = [secret for text in reachable(error) for secret in SECRETS if secret in text.replace("grant SELECT", "")]
    assert actual == []


class DriverError(Exception):
    """A driver that tells everything."""

    sqlstate = None

    def __init__(self, **attributes: Any) -> None:
        super().__init__(f"[SQL: SELECT {MARK}] password={PASSWORD}")
        vars(self).update(attributes)


@pytest.mark.parametrize("guard", [opening, reading])
@pytest.mark.parametrize(
    "error",
    [
        DriverError(),
        DriverError(sqlstate="57014"),
        DriverError(sqlstate="42P01"),
        DriverError(sqlstate="99999"),
        DriverError(pgcode="08006"),
        sa.exc.OperationalError(f"SELECT {MARK}", {"a": MARK}, DriverError()),
        OSError(5, MARK, PASSWORD),
        UnicodeDecodeError("utf-8", MARK.encode(), 0, 1, MARK),
        KeyError(MARK),
        ModuleNotFoundError(MARK, name="somedriver"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_a_driver_says_is_replaced(error: Exception, guard: Any) -> None:
    with pytest.raises(TcdpAuditError) as caught, guard("people"):
        raise error
    clean(caught.value)
    assert str(caught.value).startswith("people: ")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.tcdp.yaml").write_text(json.dumps(ASKED))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Everything that was printed and written."""
    printed = capsys.readouterr()
    reports = [path.read_text(encoding="utf-8") for path in folder.iterdir() if path.name.startswith("report.")]
    return "".join([printed.out, printed.err, *reports])


REPORTS = [part for suffix in ("json", "html", "md") for part in ("--report", f"report.{suffix}")]


def test_sqlite(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with sqlite3.connect("r.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT ? AS zip, ? AS disease", (MARK, MARK))
    connection.close()
    assert run("check", ["sqlite:///r.db?table=t", *REPORTS]) == 1
    text = shown(folder, capsys)
    assert "sqlite:///r.db?table=t" in text
    assert MARK not in text


@pytest.mark.usefixtures("transport")
def test_postgresql(folder: Path, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS planted CASCADE")
        connection.execute("CREATE TABLE planted (zip text, disease text)")
        connection.execute("INSERT INTO planted VALUES (%s, %s)", (MARK, MARK))
        connection.execute(
            "CREATE OR REPLACE FUNCTION planted_function(a text) RETURNS int LANGUAGE plpgsql AS "
            "'BEGIN RAISE EXCEPTION ''a cell: %'', a; END'"
        )
        connection.execute("CREATE VIEW raising AS SELECT zip, planted_function(disease) AS disease FROM planted")
        connection.execute("CREATE VIEW casting AS SELECT zip, disease::int AS disease FROM planted")
    assert run("check", [server.url("planted"), *REPORTS]) == 1
    for view in ("raising", "casting"):
        assert run("check", [server.url(view), *REPORTS]) == 3
        with pytest.raises(TcdpAuditError) as caught:
            audit(server.url(view), ASKED)
        clean(caught.value)
    text = shown(folder, capsys)
    assert "raising: the server cannot compute the table" in text
    assert "casting: the server cannot compute the table" in text
    for secret in (MARK, PASSWORD, USER, "planted_function", "a cell"):
        assert secret not in text


def test_without_sqlalchemy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tcdp_audit_plugins.engines.find_spec", lambda _: None)
    with pytest.raises(
        TcdpAuditError, match=r'^postgresql://…: needs SQLAlchemy; pip install "tcdp-audit\[postgresql\]"$'
    ) as caught:
        open_database("postgresql://me:pw@h/db?table=t", "release", 2**28)
    clean(caught.value)


@pytest.mark.parametrize(
    ("scheme", "package"),
    [
        ("snowflake", "snowflake-sqlalchemy"),
        ("bigquery", "sqlalchemy-bigquery"),
        ("databricks", "databricks-sqlalchemy"),
    ],
)
def test_without_a_dialect_its_package_is_named(scheme: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise sa.exc.NoSuchModuleError(f"Can't load plugin: sqlalchemy.dialects:{name}")

    monkeypatch.setattr(sa.engine.url.registry, "load", missing)
    with pytest.raises(TcdpAuditError, match=rf"needs SQLAlchemy's dialect {scheme}; pip install {package}$") as caught:
        open_database(f"{scheme}://{USER}:{PASSWORD}@h/db?table=t", "release", 2**28)
    clean(caught.value)


@pytest.mark.parametrize("scheme", ["mysql", "mariadb"])
def test_without_the_driver_of_mysql_it_is_named(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(TcdpAuditError, match=r'needs the driver pymysql; pip install "tcdp-audit\[mysql\]"$') as caught:
        open_database(f"{scheme}://{USER}:{PASSWORD}@h/db?table=t", "release", 2**28)
    clean(caught.value)


def test_without_a_driver_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        TcdpAuditError,
        match=r'postgresql://h/db\?table=t: needs the driver psycopg; pip install "tcdp-audit\[postgresql\]"$',
    ) as caught:
        open_database(f"postgresql+psycopg://{USER}:{PASSWORD}@h/db?table=t", "release", 2**28)
    clean(caught.value)
