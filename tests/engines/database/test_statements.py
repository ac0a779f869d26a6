"""The statements as text, in several databases' SQL: names quoted, one grouping for all columns."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import mssql, mysql, oracle, postgresql, sqlite

from tcdp_audit_plugins.engines.database.address import TableName
from tcdp_audit_plugins.engines.database.mysql import cell_of as mysql_cell
from tcdp_audit_plugins.engines.database.source import cell_of
from tcdp_audit_plugins.engines.database.statements import (
    Cell,
    as_text,
    grouped,
    no_rows,
    records,
    relation_of_query,
    relation_of_table,
    total,
)

ODD = 'a"; DROP TABLE people; --'
PEOPLE = sa.Table(
    "people",
    sa.MetaData(),
    sa.Column("zip", sa.String(5)),
    sa.Column("Age", sa.Integer),
    sa.Column("cost", sa.Numeric(10, 2)),
    sa.Column("group", sa.Boolean),
    schema="public",
)


def one_line(statement: Any, dialect: Any) -> str:
    return " ".join(str(statement.compile(dialect=dialect)).split())


def people(dialect: Any) -> str:
    cells = [cell_of(column, dialect) for column in PEOPLE.columns]
    name = TableName("people", "public")
    return one_line(grouped(relation_of_table(name, is_folded=dialect.requires_name_normalize), cells), dialect)


def cell(name: str) -> Cell:
    return Cell(name, "", None, sa.column(name), sa.column(name))


@pytest.fixture
def dialect(skip_or_fail: Callable[[str], None]) -> Callable[[str, str], Any]:
    """A dialect that another package brings."""

    def made(module: str, name: str) -> Any:
        try:
            return getattr(import_module(module), name)()
        except ModuleNotFoundError:
            skip_or_fail(f"{module} is not installed")

    return made


def test_sqlite() -> None:
    assert people(sqlite.dialect()) == (  # type: ignore[no-untyped-call]
        'SELECT "zip" COLLATE "BINARY" AS c0, "Age" AS c1, CAST("cost" AS VARCHAR(1000)) COLLATE "BINARY" AS c2, '
        '"group" AS c3, count(*) AS records FROM "public"."people" '
        'GROUP BY "zip" COLLATE "BINARY", "Age", CAST("cost" AS VARCHAR(1000)) COLLATE "BINARY", "group"'
    )


def test_mysql_compares_texts_as_bytes_of_utf8() -> None:
    cells = [mysql_cell("zip", "varchar(5)"), mysql_cell("Age", "int(11)"), mysql_cell("cost", "decimal(10,2)")]
    assert one_line(grouped(relation_of_table(TableName("people", "public")), cells), mysql.dialect()) == (  # type: ignore[no-untyped-call]
        "SELECT CAST(CAST(`zip` AS CHAR CHARACTER SET utf8mb4) AS BINARY) AS c0, `Age` AS c1, "
        "CAST(`cost` AS CHAR(100)) AS c2, count(*) AS records FROM `public`.`people` "
        "GROUP BY CAST(CAST(`zip` AS CHAR CHARACTER SET utf8mb4) AS BINARY), `Age`, CAST(`cost` AS CHAR(100))"
    )


def test_sql_server() -> None:
    binary = "COLLATE Latin1_General_100_BIN2"
    assert people(mssql.dialect()) == (  # type: ignore[no-untyped-call]
        f"SELECT [zip] {binary} AS c0, [Age] AS c1, CAST([cost] AS VARCHAR(1000)) {binary} AS c2, [group] AS c3, "
        "count(*) AS records FROM [public].[people] "
        f"GROUP BY [zip] {binary}, [Age], CAST([cost] AS VARCHAR(1000)) {binary}, [group]"
    )


def test_oracle() -> None:
    assert people(oracle.dialect()) == (  # type: ignore[no-untyped-call]
        'SELECT zip AS c0, "Age" AS c1, CAST(cost AS VARCHAR2(1000 CHAR)) AS c2, "group" AS c3, count(*) AS records '
        'FROM "public".people GROUP BY zip, "Age", CAST(cost AS VARCHAR2(1000 CHAR)), "group"'
    )


@pytest.mark.long
def test_snowflake(dialect: Callable[[str, str], Any]) -> None:
    assert people(dialect("snowflake.sqlalchemy.snowdialect", "SnowflakeDialect")) == (
        'SELECT zip AS c0, "Age" AS c1, CAST(cost AS VARCHAR(1000)) AS c2, "group" AS c3, count(*) AS records '
        'FROM public.people GROUP BY zip, "Age", CAST(cost AS VARCHAR(1000)), "group"'
    )


@pytest.mark.long
def test_trino(dialect: Callable[[str, str], Any]) -> None:
    assert people(dialect("trino.sqlalchemy.dialect", "TrinoDialect")) == (
        'SELECT "zip" AS c0, "Age" AS c1, CAST("cost" AS VARCHAR(1000)) AS c2, "group" AS c3, count(*) AS records '
        'FROM "public"."people" GROUP BY "zip", "Age", CAST("cost" AS VARCHAR(1000)), "group"'
    )


@pytest.mark.long
def test_bigquery(dialect: Callable[[str, str], Any]) -> None:
    assert people(dialect("sqlalchemy_bigquery", "BigQueryDialect")) == (
        "SELECT `zip` AS `c0`, `Age` AS `c1`, CAST(`cost` AS STRING) AS `c2`, `group` AS `c3`, count(*) AS `records` "
        "FROM `public`.`people` GROUP BY `zip`, `Age`, CAST(`cost` AS STRING), `group`"
    )


@pytest.mark.long
def test_databricks(dialect: Callable[[str, str], Any]) -> None:
    assert people(dialect("databricks.sqlalchemy", "DatabricksDialect")) == (
        "SELECT `zip` AS c0, `Age` AS c1, CAST(`cost` AS STRING) AS c2, `group` AS c3, count(*) AS records "
        "FROM `public`.`people` GROUP BY `zip`, `Age`, CAST(`cost` AS STRING), `group`"
    )


def test_names_are_quoted_and_never_part_of_the_statement() -> None:
    text = as_text(
        grouped(relation_of_table(TableName(ODD, "s.t")), [cell(ODD), cell("100%"), cell("a:b"), cell("c0")])
    )
    quoted = '"a""; DROP TABLE people; --"'
    assert " ".join(text.split()) == (
        f'SELECT {quoted} AS c0, "100%" AS c1, "a:b" AS c2, c0 AS c3, count(*) AS records '
        f'FROM "s.t".{quoted} GROUP BY {quoted}, "100%", "a:b", c0'
    )


def test_a_placeholder_sign_in_a_name_is_doubled_where_the_driver_takes_it_for_one() -> None:
    statement = records(relation_of_table(TableName("people")), [cell("100%")])
    assert one_line(statement, postgresql.psycopg.dialect()) == 'SELECT "100%%" AS c0 FROM "people"'  # type: ignore[no-untyped-call]


QUERIES = [
    "SELECT a::text, '12:30' AS t, ':x' AS u, 'a\\:b' AS v, '%' AS w FROM t",
    "SELECT 1 AS a -- with a comment; and :names",
    "WITH x AS (SELECT 1 AS a) SELECT a FROM x;",
]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_sent_as_it_is_written(query: str) -> None:
    inner = query.rstrip(";")
    expected = f'SELECT count(*) AS records \nFROM ({inner}\n) AS "release"'
    assert as_text(total(relation_of_query(query))) == expected


def test_a_look_at_the_columns_asks_for_no_row() -> None:
    assert as_text(no_rows(relation_of_table(TableName("people")))) == 'SELECT * \nFROM "people" \n LIMIT 0'


@pytest.mark.parametrize("name", ["release", "Release", "order", "qualify", "a.b"])
@pytest.mark.parametrize("kind", [postgresql, sqlite, mysql, mssql])
def test_a_table_is_quoted_whatever_its_name(kind: Any, name: str) -> None:
    dialect = kind.dialect()
    left, right = dialect.identifier_preparer.initial_quote, dialect.identifier_preparer.final_quote
    assert one_line(total(relation_of_table(TableName(name, name.replace(".", "_")))), dialect).endswith(
        f"FROM {left}{name.replace('.', '_')}{right}.{left}{name}{right}"
    )


def test_a_schema_of_several_parts_is_quoted_part_by_part() -> None:
    statement = total(relation_of_table(TableName("people", "sales.dbo")))
    assert one_line(statement, mssql.dialect()).endswith("FROM sales.dbo.[people]")  # type: ignore[no-untyped-call]
