"""A session over a table of a database answers as separate audits do; a level is a mapping of what the query gave."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from loaded import Loaded, into_mariadb, into_postgresql
from mariadb_server import MariaDB
from postgres_server import Server

import tcdp_audit

sys.path.append(str(Path(__file__).parents[2] / "session"))

import session_questions as asked
from session_questions import same_moment as same_moment  # noqa: PLC0414 - a fixture

SEQUENCES = 24


@pytest.mark.parametrize("room", [None, 40_000])
def test_postgresql(server: Server, transport: str, room: int | None, tmp_path: Path) -> None:
    def stored(table: pa.Table, folder: Path) -> str:
        return into_postgresql(server, table, f"{transport}_{folder.name}")

    for seed in range(2):
        asked.ask(stored, tmp_path, seed, room)


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_many_sequences_of_questions_in_postgresql(server: Server, transport: str, part: int, tmp_path: Path) -> None:
    def stored(table: pa.Table, folder: Path) -> str:
        return into_postgresql(server, table, f"{transport}_{part}_{folder.name}")

    for seed in range(part, SEQUENCES, 4):
        asked.ask(stored, tmp_path, 1000 + seed, 20_000 if seed % 3 == 0 else None)


def test_mariadb(mariadb: MariaDB, tmp_path: Path) -> None:
    for seed in range(2):
        asked.ask(lambda table, folder: into_mariadb(mariadb, table, folder.name), tmp_path, seed)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_files_of_databases(kind: str, tmp_path: Path) -> None:
    def stored(table: pa.Table, folder: Path) -> Any:
        for old in folder.glob("r.*"):
            old.unlink()
        return getattr(Loaded(folder), kind)(table)

    for seed in range(2):
        asked.ask(stored, tmp_path, seed)


POLICY = {
    "version": 1,
    "attributes": {"age": {"role": "quasi_identifier", "hierarchy": asked.AGES}},
    "expect": [{"k_anonymity": {"k": 2}}],
}


def test_a_session_reads_one_moment_and_other_audits_their_own(server: Server, transport: str) -> None:
    name = f"{transport}_moment"
    release = into_postgresql(server, pa.table({"age": ["3", "3"]}), name)
    policy = {**POLICY, "population": release, "expect": [{"k_map": {"k": 2}}, {"k_anonymity": {"k": 2}}]}
    with tcdp_audit.open_session(release, POLICY) as session, ThreadPoolExecutor(1) as thread:
        assert session.audit().passed
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute(f"INSERT INTO {name} VALUES ('7')")
        assert tcdp_audit.audit(release, POLICY).release.records == 3
        later = thread.submit(session.audit, policy).result()
        assert [later.release.records, later.companions["population"].records] == [2, 2]
        session.require_unchanged()  # a table of a database has nothing to be compared with


@pytest.mark.parametrize("level", [0, 2])
def test_a_query_is_cancelled_between_its_rows(level: int, server: Server, transport: str) -> None:
    table = pa.table({"age": ["3", "64"] * 10_000, "person": [f"p{number}" for number in range(20_000)]})
    policy = {**POLICY, "attributes": {**POLICY["attributes"], "person": {"role": "quasi_identifier"}}}
    release = into_postgresql(server, table, f"{transport}_cancelled")
    reported: list[str] = []

    def progress(step: str, *_: int) -> None:
        reported.append(step)
        view.cancel()

    with tcdp_audit.open_session(release, policy) as session:
        view = session.levels({"age": level})
        with pytest.raises(tcdp_audit.Cancelled):
            view.audit(progress=progress)
        assert set(reported) == {"rows from the database"}
        audit = view.audit()
        assert (audit.passed, audit.release.records) == (False, 20_000)
