"""SQLite: the types of cells, what is refused, and that nothing is written."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tcdp_audit import DataError, UsageError, audit
from tcdp_audit_plugins.engines import open_database
from tcdp_audit_plugins.engines.database.session import Session

MEMORY = 2**28
Make = Callable[..., str]


@pytest.fixture
def table(tmp_path: Path) -> Make:
    """The address of a table with one column of given cells."""

    def make(cells: Sequence[Any], declared: str = "", more: str = "") -> str:
        with sqlite3.connect(tmp_path / "r.db") as connection:
            connection.execute(f"CREATE TABLE t (a {declared}{more})")
            connection.executemany("INSERT INTO t (a) VALUES (?)", [(cell,) for cell in cells])
        connection.close()
        return f"sqlite:///{tmp_path}/r.db?table=t"

    return make


def values(address: str, column: str = "a") -> tuple[list[Any], list[int], int]:
    with open_database(address, "release", MEMORY) as engine:
        engine.group_by([column])
        domain = engine.domain(column)
        return domain.values.tolist(), domain.counts.tolist(), domain.nulls


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["b", "a", "b", None], (["a", "b"], [1, 2], 1)),
        ([2**62, 2**62 + 1, None], ([2**62, 2**62 + 1], [1, 1], 1)),
        ([0.1, 0.1 + 2**-56, 0.1], ([0.1, 0.1 + 2**-56], [2, 1], 0)),
        ([1.5, 2, 2.0], ([1.5, 2.0], [1, 2], 0)),
        ([None, None], ([], [], 2)),
        (["", " ", "  "], (["", " ", "  "], [1, 1, 1], 0)),
        (["é", "e\u0301"], (["e\u0301", "é"], [1, 1], 0)),
    ],
    ids=["text", "large integers", "close floats", "whole floats", "nothing", "blanks", "two normal forms"],
)
def test_cells_that_differ_stay_apart(cells: list[Any], expected: Any, table: Make) -> None:
    assert values(table(cells)) == expected


def test_a_column_that_overlooks_case_is_read_as_it_is_written(table: Make) -> None:
    assert values(table(["Flu", "flu", "FLU", "flu"], "TEXT COLLATE NOCASE")) == (["FLU", "Flu", "flu"], [1, 1, 2], 0)


def test_a_column_that_overlooks_blanks_is_read_as_it_is_written(table: Make) -> None:
    assert values(table(["a", "a "], "TEXT COLLATE RTRIM")) == (["a", "a "], [1, 1], 0)


def test_numbers_that_a_decimal_column_holds_are_floats(table: Make) -> None:
    assert values(table(["1.50", "2.00", "2"], "DECIMAL(10,2)")) == ([1.5, 2.0], [1, 2], 0)


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([1, "1"], "holds text and numbers"),
        ([1.5, "x"], "holds text and numbers"),
        ([2**53 + 1, 0.5], "holds floats, and integers beyond 2^53"),
        ([-(2**53) - 1, 0.5], "holds floats, and integers beyond 2^53"),
        ([b"x", "x"], "holds nested or binary data (BLOB), not single cells"),
    ],
)
def test_cells_that_could_be_taken_for_one_another_are_refused(cells: list[Any], fault: str, table: Make) -> None:
    with pytest.raises(DataError, match="column 'a' ") as caught:
        values(table(cells))
    assert fault in str(caught.value)


def test_a_column_that_is_refused_leaves_the_others(table: Make) -> None:
    address = table([1, "1"], "", ", b DEFAULT 7")
    assert values(address, "b") == ([7], [2], 0)


def test_text_that_is_not_utf8_is_a_sentence(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "r.db") as connection:
        connection.execute("CREATE TABLE t AS SELECT CAST(x'6dff' AS TEXT) AS a")
    connection.close()
    with pytest.raises(DataError, match=r"^t: a cell holds text that is not UTF-8"):
        values(f"sqlite:///{tmp_path}/r.db?table=t")


def test_a_missing_file_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"r\.db: no such file"):
        open_database(f"sqlite:///{tmp_path}/r.db?table=t", "release", MEMORY)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "r.db").write_text("zip,age\n" * 1000)
    with pytest.raises(UsageError, match="the file is no database of this kind"):
        open_database(f"sqlite:///{tmp_path}/r.db?table=t", "release", MEMORY)


def test_a_missing_table(table: Make) -> None:
    with pytest.raises(UsageError, match=r"table=u: the database has no such table or view"):
        open_database(table(["x"]).replace("table=t", "table=u"), "release", MEMORY)


def test_a_view_and_a_query_are_read_alike(table: Make, tmp_path: Path) -> None:
    address = table(["x", "y", "x"])
    with sqlite3.connect(tmp_path / "r.db") as connection:
        connection.execute("CREATE VIEW v AS SELECT a FROM t WHERE a <> 'y'")
    connection.close()
    (tmp_path / "q.sql").write_text("SELECT a, '12:30' AS \"b:c\" FROM t WHERE a <> 'y' -- not y\n")

    assert values(address.replace("table=t", "table=v")) == (["x"], [2], 0)
    query = address.replace("table=t", f"query_file={tmp_path}/q.sql")
    assert values(query) == (["x"], [2], 0)
    assert values(query, "b:c") == (["12:30"], [2], 0)


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("SELEC a FROM t", "the query is not one SELECT statement"),
        ("SELECT a FROM t; DELETE FROM t", "the query is not one SELECT statement"),
        ("DELETE FROM t", "the query is not one SELECT statement"),
        ("SELECT b FROM t", "the query is not one SELECT statement"),
        ("SELECT 1) AS x; DELETE FROM t; --", "the query is not one SELECT statement"),
        (" ;\n", "holds no query"),
    ],
)
def test_a_query_that_cannot_be_audited(query: str, fault: str, table: Make, tmp_path: Path) -> None:
    address = table(["x"])
    (tmp_path / "q.sql").write_text(query)
    with pytest.raises(UsageError) as caught:
        open_database(address.replace("table=t", f"query_file={tmp_path}/q.sql"), "release", MEMORY)
    assert fault in str(caught.value)
    assert "SELE" not in str(caught.value).replace("one SELECT statement", "").replace("SELECT statement in", "")
    assert values(address) == (["x"], [1], 0)


def test_names_of_columns_are_quoted(tmp_path: Path) -> None:
    odd = ['a"; DROP TABLE t; --', "100%", ":x", "select", "records", "c0", "ä b"]
    with sqlite3.connect(tmp_path / "r.db") as connection:
        names = ", ".join('"' + name.replace('"', '""') + '"' for name in odd)
        connection.execute(f"CREATE TABLE t ({names})")
        connection.execute(f"INSERT INTO t VALUES ({', '.join('?' * len(odd))})", odd)
    connection.close()
    asked = {
        "version": 1,
        "attributes": {name: {"role": "quasi_identifier"} for name in odd},
        "expect": [{"k_anonymity": {"k": 1}}],
    }
    (outcome,) = audit(f"sqlite:///{tmp_path}/r.db?table=t", asked, show_values=True).expectations
    assert outcome.observed == 1
    assert outcome.worst[0].cells == {name: name for name in odd}


def test_a_statement_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "r.db").touch()
    (tmp_path / "q.sql").write_text(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT i % 7 AS a FROM n"
    )
    with pytest.raises(DataError, match="the database took longer than a statement may"):
        values(f"sqlite:///{tmp_path}/r.db?query_file={tmp_path}/q.sql&timeout=0.3")


def test_writers_do_not_change_what_an_open_audit_sees(table: Make, tmp_path: Path) -> None:
    address = table(["x", "y"])
    writer = sqlite3.connect(tmp_path / "r.db", isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    with open_database(address, "release", MEMORY) as engine:
        writer.execute("INSERT INTO t VALUES ('z')")
        assert engine.records == 2
        assert engine.domain("a").values.tolist() == ["x", "y"]
    writer.close()
    assert values(address)[0] == ["x", "y", "z"]


def test_progress_moves_while_the_database_works(table: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[tuple[str, int, int]] = []
    moved = Event()

    def progress(*step: Any) -> None:
        reported.append(step)
        if step[0] == "the database works" and len(reported) >= 3:
            moved.set()

    stream = Session.stream

    def slow(self: Session, statement: Any, schema: Any) -> Iterator[Any]:
        assert moved.wait(60)  # as a server that groups: nothing arrives meanwhile
        yield from stream(self, statement, schema)

    monkeypatch.setattr(Session, "stream", slow)
    monkeypatch.setattr("tcdp_audit_plugins.engines.database.engine.EACH", 0.01)
    with open_database(table(["x", "y"]), "release", 2**28) as engine:
        engine.progress = progress
        assert engine.domain("a").values.tolist() == ["x", "y"]
    steps = [step for step, _, _ in reported]
    assert steps[:3] == ["the database works"] * 3
    assert steps[-1] == "rows from the database"


def test_a_report_that_cancels_ends_the_wait(table: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Event()

    def progress(*_: Any) -> None:
        asked.set()
        raise KeyboardInterrupt

    stream = Session.stream

    def slow(self: Session, statement: Any, schema: Any) -> Iterator[Any]:
        assert asked.wait(60)
        yield from stream(self, statement, schema)

    monkeypatch.setattr(Session, "stream", slow)
    monkeypatch.setattr("tcdp_audit_plugins.engines.database.engine.EACH", 0.01)
    with open_database(table(["x", "y"]), "release", 2**28) as engine:
        engine.progress = progress
        with pytest.raises(KeyboardInterrupt):
            engine.domain("a")


def test_progress_says_how_many_rows_have_arrived(table: Make) -> None:
    reported: list[tuple[str, int, int]] = []
    asked = {
        "version": 1,
        "attributes": {"a": {"role": "quasi_identifier"}},
        "expect": [{"k_anonymity": {"k": 1}}],
    }
    address = table([str(number) for number in range(20_000)])
    audit(address, asked, progress=lambda *step: reported.append(step))
    arrived = [step for step in reported if step[0] == "rows from the database"]
    assert arrived == [("rows from the database", rows, 0) for rows in (8192, 16384, 20_000)]
    assert reported.index(arrived[-1]) < [step for step, _, _ in reported].index("reading")
