"""Any database that SQLAlchemy knows, by the same code: here SQLite under another name, as one that is not known."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tcdp_audit import DataError, UsageError, audit
from tcdp_audit.plugin.engine import DatabaseTable
from tcdp_audit_plugins.engines import open_database

MEMORY = 2**28
TABLE = sa.Table(
    "people",
    sa.MetaData(),
    sa.Column("zip", sa.String(5)),
    sa.Column("age", sa.Integer),
    sa.Column("ratio", sa.Float),
    sa.Column("cost", sa.Numeric(10, 2)),
    sa.Column("day", sa.Date),
    sa.Column("well", sa.Boolean),
    sa.Column("more", sa.LargeBinary),
)
ASKED: dict[str, Any] = {
    "version": 1,
    "attributes": {
        "zip": {"role": "quasi_identifier"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "cost": {"role": "sensitive", "scale": "numeric"},
        **{name: {"role": "insensitive"} for name in ("ratio", "day", "well", "more")},
    },
    "expect": [{"k_anonymity": {"k": 2}}, {"distinct_l_diversity": {"l": 2}}],
}


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[sa.Engine]:
    engine = sa.create_engine(f"sqlite:///{tmp_path}/r.db")
    TABLE.metadata.create_all(engine)
    import datetime as dt

    rows = [
        {"zip": "021", "age": 30, "ratio": 0.1, "cost": 1.5, "day": dt.date(2020, 1, 1), "well": True, "more": b"x"},
        {"zip": "021", "age": 30, "ratio": 0.2, "cost": 2, "day": dt.date(2020, 1, 2), "well": False, "more": b"y"},
        {"zip": "2"},
    ]
    with engine.begin() as connection:
        for row in rows:
            connection.execute(sa.insert(TABLE), row)
    engine.dialect.name = "unheard_of"
    yield engine
    engine.dispose()


def test_the_types_of_the_catalogue_decide(engine: sa.Engine) -> None:
    expected = {
        "zip": (["021", "2"], [2, 1]),
        "age": ([30], [2]),
        "ratio": ([0.1, 0.2], [1, 1]),
        "cost": (["1.5", "2"], [1, 1]),
        "day": (["2020-01-01", "2020-01-02"], [1, 1]),
        "well": (["false", "true"], [1, 1]),
    }
    with open_database(DatabaseTable(engine, "people"), "release", MEMORY) as opened:
        opened.group_by([*expected, "more"])
        assert opened.records == 3
        domains = {name: opened.domain(name) for name in expected}
        assert {name: (one.values.tolist(), one.counts.tolist()) for name, one in domains.items()} == expected
        with pytest.raises(DataError, match=r"^people: column 'more' holds nested or binary data"):
            opened.domain("more")


def test_an_audit(engine: sa.Engine) -> None:
    result = audit(DatabaseTable(engine, TABLE), ASKED)
    assert [one.observed for one in result.expectations] == [1, 0]  # a missing value is none
    assert result.release.uri.endswith("?table=people")


def test_a_query_has_no_types_there(engine: sa.Engine) -> None:
    from tcdp_audit_plugins.engines.database.faults import Refused
    from tcdp_audit_plugins.engines.database.session import Session
    from tcdp_audit_plugins.engines.database.source import SharedSession, source_of

    shared = SharedSession("test", lambda: Session(engine))
    with pytest.raises(Refused, match="make a view of it"):
        source_of(shared, "SELECT 1 AS a")
    shared.close()


@pytest.mark.parametrize("table", ["nobody", "a..b", 5, None])
def test_a_table_that_is_none(table: Any, engine: sa.Engine) -> None:
    with pytest.raises(UsageError):
        open_database(DatabaseTable(engine, table), "release", MEMORY)


def test_without_a_snapshot_one_statement_must_do(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.dialect, "get_isolation_level_values", lambda _: ["AUTOCOMMIT"])
    assert audit(DatabaseTable(engine, "people"), ASKED).release.records == 3
    twice = {**ASKED, "attributes": {**ASKED["attributes"], "ratio": {"role": "insensitive", "scale": "numeric"}}}
    with pytest.raises(DataError, match="this audit needs the table more than once, and the database has no snapshot"):
        audit(DatabaseTable(engine, "people"), twice)


def test_columns_that_no_demand_needs_are_looked_at_in_some_records(engine: sa.Engine) -> None:
    """Identifiers under a harmless name are told of, and no statement counts the column."""
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE mails (zip VARCHAR(5), contact VARCHAR(30), day DATE)"))
        for number in range(40):
            row = {"contact": f"p{number}@example.org"}
            connection.execute(sa.text("INSERT INTO mails VALUES ('1', :contact, NULL)"), row)
    roles = {"zip": {"role": "quasi_identifier"}, "contact": {"role": "insensitive"}, "day": {"role": "insensitive"}}
    mails = sa.Table("mails", sa.MetaData(), sa.Column("zip", sa.String(5)), sa.Column("contact", sa.String(30)),
                     sa.Column("day", sa.Date))  # fmt: skip
    result = audit(DatabaseTable(engine, mails), {**ASKED, "attributes": roles, "expect": [{"k_anonymity": {"k": 2}}]})
    (reported,) = [one for one in result.structure if one.check == "undeclared_identifiers"]
    assert (reported.status.value, dict(reported.details["kinds"])) == ("failed", {"contact": "e-mail addresses"})
    with open_database(DatabaseTable(engine, mails), "release", MEMORY) as opened:
        with opened.glimpse(["contact"], 7) as some:
            assert (some.records, [one.name for one in some.columns]) == (7, ["contact"])
        assert opened.records == 40
