"""MariaDB, as MySQL and as itself: its types, its collations, its snapshot, and what it says when it refuses."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
from answers import answer
from mariadb_server import MariaDB
from postgres_server import PASSWORD, USER

from tcdp_audit import DataError, UsageError, audit
from tcdp_audit.plugin.engine import DatabaseTable, Engine, grouped_engine
from tcdp_audit_plugins.engines import open_database

MEMORY = 2**28
ASKED: dict[str, Any] = {
    "version": 1,
    "attributes": {"a": {"role": "quasi_identifier"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


def domain(address: Any) -> dict[Any, int]:
    with open_database(address, "release", MEMORY) as engine:
        engine.group_by(["a"])
        result = engine.domain("a")
        return dict(zip(result.values.tolist(), result.counts.tolist(), strict=True))


TYPES: dict[str, dict[str, Any]] = {  # the values as SQL, and as they are read
    "double": {"0.1": 0.1, "0.10000000000000002": 0.10000000000000002, "1e22": 1e22, "-0.5": -0.5},
    "float": {"0.1234567": 0.1234567, "0.1234568": 0.1234568, "16777217": 16777216.0},
    "double(10,2)": {"1.5": 1.5, "1.25": 1.25},
    "decimal(30,2)": {
        "1.5": "1.50",
        "9007199254740993": "9007199254740993.00",
        "9007199254740992": "9007199254740992.00",
    },
    "bigint": {"9223372036854775807": 2**63 - 1, "-9223372036854775808": -(2**63)},
    "bigint unsigned": {"18446744073709551615": str(2**64 - 1), "18446744073709551614": str(2**64 - 2)},
    "tinyint": {"-128": -128, "127": 127},
    "smallint": {"-32768": -32768, "32767": 32767},
    "smallint unsigned": {"65535": 65535, "0": 0},
    "mediumint": {"-8388608": -8388608, "8388607": 8388607},
    "int": {"-2147483648": -(2**31), "2147483647": 2**31 - 1},
    "numeric(6,3)": {"1.5": "1.500", "-0.001": "-0.001"},
    "real": {"0.1": 0.1, "-1e-300": -1e-300},
    "int unsigned zerofill": {"42": 42, "4294967295": 2**32 - 1},
    "tinyint(1)": {"0": 0, "1": 1, "2": 2},
    "boolean": {"TRUE": 1, "FALSE": 0},
    "year": {"2020": 2020, "0": 0, "1901": 1901},
    "bit(3)": {"b'101'": 5, "b'001'": 1},
    "bit(64)": {"b'1'": "1", "18446744073709551615": str(2**64 - 1)},
    "date": {"'0000-00-00'": "0000-00-00", "'2020-00-00'": "2020-00-00", "'2020-01-31'": "2020-01-31"},
    "datetime": {"'0000-00-00'": "0000-00-00 00:00:00", "'9999-12-31 23:59:59'": "9999-12-31 23:59:59"},
    "datetime(6)": {
        "'2020-01-01 05:00:00.000001'": "2020-01-01 05:00:00.000001",
        "'2020-01-01 05:00:00'": "2020-01-01 05:00:00.000000",
    },
    "timestamp": {
        "'2020-01-01 05:00:00'": "2020-01-01 05:00:00",
        "'2020-07-01 05:00:00'": "2020-07-01 05:00:00",
    },
    "time(3)": {"'-838:59:59'": "-838:59:59.000", "'00:00:00.5'": "00:00:00.500"},
    "char(4)": {"'a'": "a", "'A'": "A", "'ä'": "ä", "'b  '": "b"},
    "varchar(9)": {one: one[1:-1] for one in ("'a'", "'A'", "'a '", "'a  '", "'á'", "'ß'", "'ss'", "''", "'a\\t'")}
    | {"'a\\t'": "a\t"},
    "varchar(9) character set latin1": {"'ä'": "ä", "'a'": "a", "'€'": "€"},
    "varchar(9) character set utf8mb3": {"'女'": "女", "'a'": "a", "'a '": "a "},
    "varchar(9) character set utf16": {"'女'": "女", "'😀'": "😀"},
    "varchar(9) collate utf8mb4_german2_ci": {"'ä'": "ä", "'ae'": "ae", "'AE'": "AE"},
    "text": {
        "'😀'": "😀",
        "'😁'": "😁",
        "repeat('x', 5000)": "x" * 5000,
        "concat(repeat('x', 5000), ' ')": "x" * 5000 + " ",
    },
    "tinytext": {"'a'": "a", "'A'": "A", "'a '": "a "},
    "mediumtext": {"'ß'": "ß", "'ss'": "ss"},
    "nvarchar(5)": {"'ä'": "ä", "'a'": "a"},
    "longtext": {"'a'": "a", "'a '": "a "},
    "enum('a','ö','1','01')": {"'a'": "a", "'ö'": "ö", "'1'": "1", "'01'": "01"},
    "set('a','b','c')": {"'a,b'": "a,b", "'a'": "a", "''": ""},
    "uuid": {"'00000000-0000-0000-0000-00000000000a'": "00000000-0000-0000-0000-00000000000a"},
    "inet4": {"'10.0.0.1'": "10.0.0.1", "'10.0.0.10'": "10.0.0.10"},
    "inet6": {"'::1'": "::1", "'::2'": "::2"},
    "json": {"'{\"a\": 1}'": '{"a": 1}', "'{\"a\":1}'": '{"a":1}'},
}


@pytest.mark.parametrize("dialect", ["mariadb", "mysql"])
@pytest.mark.parametrize("kind", TYPES)
def test_every_type_keeps_its_cells_apart(kind: str, dialect: str, mariadb: MariaDB) -> None:
    mariadb.run(f"CREATE OR REPLACE TABLE types (a {kind} NULL, b int)", "SET sql_mode = ''")
    values = TYPES[kind]
    for i, one in enumerate(values):
        mariadb.run(*[f"INSERT IGNORE INTO types VALUES ({one}, {i})"] * (i + 1))
    mariadb.run("INSERT INTO types VALUES (NULL, 1)")

    with open_database(mariadb.url("types", dialect), "release", MEMORY) as engine:
        engine.group_by(["a", "b"])
        result = engine.domain("a")
        counts = dict(zip(result.values.tolist(), result.counts.tolist(), strict=True))
        assert counts == {value: i + 1 for i, value in enumerate(values.values())}
        assert (result.nulls, engine.table().num_rows) == (1, engine.records)
    assert domain(mariadb.url("types", dialect)) == counts


def test_a_table_of_all_types_is_as_in_memory(mariadb: MariaDB) -> None:
    read = {"decimal(30,2)": Decimal, "bigint unsigned": int}
    names = [name for name, values in TYPES.items() if len(values) > 1]
    columns = ", ".join(f"c{i} {name}" for i, name in enumerate(names))
    mariadb.run(f"CREATE OR REPLACE TABLE types ({columns})")
    rows = [[list(TYPES[name].items())[(turn * (i + 1)) % 2] for i, name in enumerate(names)] for turn in range(7)]
    for row in rows:
        mariadb.run(f"INSERT IGNORE INTO types VALUES ({', '.join(one for one, _ in row)})")
    given = {f"c{i}": [read.get(name, lambda one: one)(row[i][1]) for row in rows] for i, name in enumerate(names)}
    kinds = {"decimal(30,2)": pa.decimal128(30, 2), "bigint unsigned": pa.uint64(), "float": pa.float32()}
    table = pa.table({f"c{i}": pa.array(given[f"c{i}"], kinds.get(name)) for i, name in enumerate(names)})
    numbers = [
        f"c{i}" for i, name in enumerate(names) if name in ("double", "float", "decimal(30,2)", "bigint unsigned")
    ]
    asked = {
        "version": 1,
        "attributes": {
            **{name: {"role": "quasi_identifier"} for name in table.column_names if name not in numbers},
            **{name: {"role": "sensitive", "scale": "numeric"} for name in numbers},
        },
        "expect": [{"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2}}, {"t_closeness": {"t": 0.4}}],
    }
    assert answer(mariadb.url("types"), asked) == answer(table, asked)


@pytest.mark.parametrize("kind", ["blob", "binary(3)", "varbinary(3)", "point"])
def test_binary_cells_are_refused(kind: str, mariadb: MariaDB) -> None:
    mariadb.run(f"CREATE OR REPLACE TABLE types (a {kind}, b int)", "INSERT INTO types (b) VALUES (1)")
    with pytest.raises(DataError, match=r"^types: column 'a' holds nested or binary data \(\w+\), not single cells$"):
        domain(mariadb.url("types"))


def test_moments_of_an_hour_that_comes_twice_stay_apart(mariadb: MariaDB) -> None:
    mariadb.run(
        "CREATE OR REPLACE TABLE times (a timestamp NULL)",
        "INSERT INTO times SELECT from_unixtime(1603585800) UNION ALL SELECT from_unixtime(1603589400)",
    )
    assert domain(mariadb.url("times")) == {"2020-10-25 00:30:00": 1, "2020-10-25 01:30:00": 1}
    engine = engine_of(mariadb)
    with engine.connect() as connection:
        connection.exec_driver_sql("SELECT 1")

    @sa.event.listens_for(engine, "checkout")
    def elsewhere(connection: Any, *_: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET time_zone = '+05:00'")

    assert domain(DatabaseTable(engine, "times")) == {"2020-10-25 00:30:00": 1, "2020-10-25 01:30:00": 1}
    engine.dispose()


def engine_of(mariadb: MariaDB) -> sa.Engine:
    return sa.create_engine(mariadb.url().replace("mariadb://", "mariadb+pymysql://"))


def test_a_connection_of_a_program_goes_back_as_it_came(mariadb: MariaDB) -> None:
    mariadb.run("CREATE OR REPLACE TABLE t (a int)", "INSERT INTO t VALUES (1)")
    engine = engine_of(mariadb)
    with engine.connect() as connection:
        connection.exec_driver_sql("SET time_zone = '+03:00'")
        connection.commit()
    assert domain(DatabaseTable(engine, "t")) == {1: 1}
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT @@time_zone").scalar() == "+03:00"
    engine.dispose()


@pytest.mark.parametrize(
    "mode", ["ANSI_QUOTES", "ONLY_FULL_GROUP_BY", "PAD_CHAR_TO_FULL_LENGTH", "NO_BACKSLASH_ESCAPES"]
)
def test_modes_of_the_server_change_nothing(mode: str, mariadb: MariaDB) -> None:
    mariadb.run(
        'CREATE OR REPLACE TABLE modes (a char(5), `odd ``%"name` text)',
        "INSERT INTO modes VALUES ('a', 'x'), ('b', 'y')",
    )
    before = f"sql_mode%3D%27{mode}%27"
    address = mariadb.url("modes", init_command=f"SET%20{before}")
    assert domain(address) == {"a": 1, "b": 1}
    with open_database(address, "release", MEMORY) as engine:
        engine.group_by(["a", 'odd `%"name'])
        assert engine.domain('odd `%"name').values.tolist() == ["x", "y"]


def test_the_verdict_is_that_of_the_snapshot(mariadb: MariaDB, monkeypatch: pytest.MonkeyPatch) -> None:
    mariadb.run(
        "CREATE OR REPLACE TABLE t (a text, b int)", "INSERT INTO t VALUES ('x', 1), ('x', 1), ('y', 2), ('y', 2)"
    )
    asked = {**ASKED, "attributes": {**ASKED["attributes"], "b": {"role": "insensitive", "scale": "numeric"}}}
    before = audit(mariadb.url("t"), asked).outcomes

    def meddling(*arguments: Any) -> Engine:
        mariadb.run("DELETE FROM t WHERE a = 'x'", "INSERT INTO t VALUES ('z', 3)")
        return grouped_engine(*arguments)

    monkeypatch.setattr("tcdp_audit_plugins.engines.database.engine.grouped_engine", meddling)
    during = audit(mariadb.url("t"), asked)
    assert (during.outcomes, during.release.records) == (before, 4)
    monkeypatch.undo()
    mariadb.run("INSERT INTO t VALUES ('alone', 9)")
    assert audit(mariadb.url("t"), asked).outcomes != before


@pytest.mark.parametrize("kind", ["MyISAM", "Aria", "MEMORY"])
@pytest.mark.parametrize("place", ["unstable", "seen", "select", "table"])
def test_a_table_without_transactions_has_no_snapshot(kind: str, place: str, mariadb: MariaDB) -> None:
    mariadb.run(
        f"CREATE OR REPLACE TABLE unstable (a varchar(9), b int) ENGINE={kind}",
        "CREATE OR REPLACE VIEW seen AS SELECT * FROM unstable",
        "INSERT INTO unstable VALUES ('x', 1), ('x', 1)",
    )
    engine = engine_of(mariadb)
    table = sa.Table("unstable", sa.MetaData(), sa.Column("a", sa.String(9)), sa.Column("b", sa.Integer))
    places = {"select": DatabaseTable(engine, sa.select(table)), "table": DatabaseTable(engine, table)}
    address = places.get(place) or mariadb.url(place)
    twice = {**ASKED, "attributes": {**ASKED["attributes"], "b": {"role": "insensitive", "scale": "numeric"}}}
    try:
        once = {**ASKED, "attributes": {**ASKED["attributes"], "b": {"role": "insensitive"}}}
        assert audit(address, once).passed
        with pytest.raises(
            DataError, match="this audit needs the table more than once, and the database has no snapshot"
        ):
            audit(address, twice)
    finally:
        engine.dispose()
        mariadb.run("DROP VIEW seen", "DROP TABLE unstable")


def test_a_statement_of_a_program(mariadb: MariaDB) -> None:
    mariadb.run(
        "CREATE OR REPLACE TABLE t (a double, b float)", "INSERT INTO t VALUES (0.1, 1), (0.10000000000000002, 1)"
    )
    engine = engine_of(mariadb)
    table = sa.Table("t", sa.MetaData(), autoload_with=engine)
    declared = sa.table("t", sa.column("a", sa.Float))
    for place in (sa.select(table), sa.select(declared), table, "t", "audits.t"):
        assert domain(DatabaseTable(engine, place)) == {0.1: 1, 0.10000000000000002: 1}
    engine.dispose()


def test_two_tables_whose_names_differ_by_case(mariadb: MariaDB) -> None:
    mariadb.run("CREATE OR REPLACE TABLE Both1 (a blob)", "CREATE OR REPLACE TABLE both1 (a text)")
    mariadb.run("INSERT INTO both1 VALUES ('x')")
    assert domain(mariadb.url("both1")) == {"x": 1}


REFUSALS: list[tuple[Callable[[str], str], str]] = [
    (lambda url: url.replace(PASSWORD, "wrong"), "the server refuses the user or the password"),
    (lambda url: url.replace("/audits", "/nowhere"), "the server has no such database"),
    (lambda url: url.replace("table=t", "table=none"), "no such table or view"),
    (lambda url: url.replace("/s&", "/none&"), "no server listens on this socket"),
    (lambda url: url.replace(f"{USER}:{PASSWORD}", "stranger:x"), "the database's user may not read it; grant SELECT"),
    (lambda url: url.replace(f"{USER}:{PASSWORD}", "partial:x"), "the database's user may not read it; grant SELECT"),
]


@pytest.mark.parametrize("number", range(len(REFUSALS)))
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the driver leaves a socket open that nothing answers
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_what_the_server_refuses(number: int, mariadb: MariaDB) -> None:
    change, sentence = REFUSALS[number]
    mariadb.run(
        "CREATE OR REPLACE TABLE t (a int, b int)",
        "CREATE OR REPLACE TABLE u (a int)",
        "CREATE OR REPLACE USER stranger@localhost IDENTIFIED BY 'x'",
        "CREATE OR REPLACE USER partial@localhost IDENTIFIED BY 'x'",
        "GRANT SELECT ON audits.u TO stranger@localhost",
        "GRANT SELECT (a) ON audits.t TO partial@localhost",
    )
    message = refusal(change(mariadb.url("t")))
    gc.collect()  # here and not in a later test, which would be blamed for the driver's socket
    assert sentence in message
    assert PASSWORD not in message


def refusal(address: str) -> str:
    """What is said; its traceback, and all that this holds, ends here."""
    with pytest.raises(UsageError) as caught:
        domain(address)
    return str(caught.value)


def test_a_statement_that_takes_too_long_is_stopped(mariadb: MariaDB) -> None:
    mariadb.run("CREATE OR REPLACE VIEW slow AS SELECT sleep(0.1) + seq AS a FROM seq_1_to_10000")
    with pytest.raises(DataError, match="the database took longer than a statement may"):
        domain(mariadb.url("slow", timeout="1"))  # all of it would take a quarter of an hour


def test_a_statement_that_an_administrator_ends(mariadb: MariaDB) -> None:
    mariadb.run("CREATE OR REPLACE VIEW slow AS SELECT sleep(0.1) + seq AS a FROM seq_1_to_10000")
    end = threading.Timer(2, lambda: mariadb.run(f"KILL QUERY USER '{USER}'@localhost"))
    end.start()
    try:
        with pytest.raises(
            DataError, match="slow: the server's administrator, or the server itself, ended the statement"
        ):
            domain(mariadb.url("slow"))
    finally:
        end.join()
