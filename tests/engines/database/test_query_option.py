"""`tcdp-audit check --query FILE.sql`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tcdp_audit.cli.run import run

ASKED = {
    "version": 1,
    "attributes": {"zip": {"role": "quasi_identifier"}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.tcdp.yaml").write_text(json.dumps(ASKED))
    Path("odd & name.sql").write_text("SELECT zip FROM people WHERE zip <> 'b'")
    with sqlite3.connect("r.db") as connection:
        connection.execute("CREATE TABLE people AS SELECT column1 AS zip FROM (VALUES ('a'), ('a'), ('b'))")
    connection.close()


def test_the_query_decides_what_is_audited(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", ["sqlite:///r.db?table=people"]) == 1
    assert run("check", ["sqlite:///r.db", "--query", "odd & name.sql", "--json"]) == 0
    printed = capsys.readouterr().out
    assert '"uri": "sqlite:///r.db?query_file=odd & name.sql"' in printed
    assert "SELECT" not in printed


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--query", "q.sql"], "--query asks for the address of a database as RELEASE"),
        (["r.csv", "--query", "q.sql"], "--query asks for the address of a database as RELEASE"),
        (["sqlite:///r.db?table=people", "--query", "q.sql"], "and not both"),
        (["sqlite:///r.db", "--query", "q.sql"], "q.sql: the query cannot be read: No such file or directory"),
    ],
)
def test_a_query_without_its_place(arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", arguments) == 2
    assert sentence in capsys.readouterr().err
