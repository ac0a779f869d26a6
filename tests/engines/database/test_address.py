"""Addresses: what is ours, what the driver's, and what may be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tcdp_audit import UsageError
from tcdp_audit.plugin.engine import DatabaseTable
from tcdp_audit_plugins.engines import is_database
from tcdp_audit_plugins.engines.database.address import TableName, parse, table_name


def test_an_address_names_a_table_and_keeps_the_drivers_options() -> None:
    address = parse("postgresql://ann:pw@db.example:5433/health?table=public.people&timeout=600&sslmode=require")

    assert address.place == TableName("people", "public")
    assert address.timeout == 600
    assert dict(address.url.query) == {"sslmode": "require"}
    assert address.url.render_as_string(hide_password=False).startswith(
        "postgresql+psycopg://ann:pw@db.example:5433/health?"
    )
    assert address.name == "public.people"


def test_what_is_shown_of_an_address_has_no_user_password_or_option() -> None:
    address = parse("postgresql+psycopg://ann:pw@db.example/health?table=people&password=pw2&options=-c%20x%3D1")

    assert address.uri == "postgresql://db.example/health?table=people"


def test_a_query_is_a_file() -> None:
    assert parse("sqlite:///r.db?query_file=some%20where%2Fq.sql").place == Path("some where/q.sql")


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_the_driver_of_postgresql_is_the_one_that_the_extra_brings(scheme: str) -> None:
    assert parse(f"{scheme}://h/db?table=t").url.drivername == "postgresql+psycopg"
    assert parse(f"{scheme}://h/db?table=t").uri == "postgresql://h/db?table=t"


def test_another_driver_may_be_named() -> None:
    assert parse("postgresql+pg8000://h/db?table=t").url.drivername == "postgresql+pg8000"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("people", TableName("people")),
        ("public.people", TableName("people", "public")),
        ("project.set.people", TableName("people", "project.set")),
        ('"odd.name"', TableName("odd.name")),
        ('public."a ""b"""', TableName('a "b"', "public")),
        ("", None),
        (".people", None),
        ("public.", None),
        ("a..b", None),
        ('"open', None),
        ('"a"b', None),
    ],
)
def test_names_of_tables(text: str, name: TableName | None) -> None:
    assert table_name(text) == name


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("postgresql://u:pw@h/db", "postgresql://h/db: give `?table=SCHEMA.TABLE`, or `?query_file=FILE.sql`, and not"),
        ("sqlite:///r.db?table=t&query_file=q.sql", "and not both"),
        ("sqlite:///r.db?table=t&table=u", "give `table=` once, and with a value"),
        ("sqlite:///r.db?table=a..b", "`table=` is no name of a table"),
        ("postgresql://u:pw@h:port/db?table=t", "postgresql://…: cannot be read as the address of a database"),
        ("postgresql://u:pw@h/db?table=t&timeout=soon", "`timeout=` is a number of seconds"),
        ("postgresql://u:pw@h/db?table=t&timeout=0", "`timeout=` is a number of seconds"),
    ],
)
def test_an_address_that_is_none(address: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(address)
    assert sentence in str(caught.value)
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    "accepted", ["postgresql://h/db", "POSTGRESQL+psycopg2://h/db", "duckdb:///f", "snowflake://a"]
)
def test_addresses_of_databases(accepted: str) -> None:
    assert is_database(accepted)


@pytest.mark.parametrize("other", ["r.csv", "s3://bucket/r.parquet", "C:\\r.csv", Path("postgresql://h"), None, 5])
def test_other_releases(other: object) -> None:
    assert not is_database(other)


def test_a_table_of_a_connected_program() -> None:
    assert is_database(DatabaseTable(None, "people"))
