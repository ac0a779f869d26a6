"""Whole histories in PostgreSQL, and the bare query that they replace, run in turn.

    python benchmarks/histories_in_databases.py postgresql://USER@HOST/DATABASE --records 1000000 --rows 10 --turns 3

makes (or finds) a table of events there, and prints seconds and ratios, with the processor time of the server and of
the audit: `GROUP BY unit, array_agg(code ORDER BY code)` with `GROUP BY` around it, whose codes are in the table and
whose rows stay in the server; the statement that gives the sizes of classes; an audit of class sizes; and an audit of a
secret that differs from event to event. `work_mem` is the same for all of them. Run it where the server runs: its
processor time is read from /proc.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

ATTRIBUTES: dict[str, dict[str, str]] = {
    "month": {"role": "quasi_identifier"},
    "ward": {"role": "quasi_identifier"},
    "illness": {"role": "sensitive"},
}
SIZES: list[dict[str, Any]] = [{"k_anonymity": {"k": 5}}]
SECRETS: list[dict[str, Any]] = [*SIZES, {"distinct_l_diversity": {"l": 2}}, {"homogeneity": {}}]
EVENTS = """
    CREATE TABLE {} AS SELECT md5((random() * {})::int::text) AS patient, '2024-' || lpad(m::text, 2, '0') AS month,
    'ward ' || w AS ward, 'illness ' || (random() * 9)::int AS illness, (4 * m + w)::int AS code
    FROM (SELECT 1 + (random() * 11)::int AS m, (random() * 3)::int AS w FROM generate_series(1, {})) AS drawn
"""
BARE = """
    SELECT f, count(*) FROM (SELECT count(*) AS f FROM (SELECT patient, array_agg(code ORDER BY code) AS h FROM {}
    GROUP BY patient) AS units GROUP BY h) AS classes GROUP BY f
"""


def main() -> None:
    options = _options()
    table = f"tcdp_events_{options.records}_{options.rows}"
    memory = f"-c work_mem={options.work_mem}"
    with psycopg.connect(options.url, autocommit=True) as connection:
        _load(connection, table, options.records, options.rows)
        (place,) = connection.execute("SELECT current_setting('data_directory')").fetchone() or ("",)
    postmaster = int((Path(place) / "postmaster.pid").read_text().split()[0])
    separator = "&" if "?" in options.url else "?"
    address = f"{options.url}{separator}table={table}&options={quote(memory)}"
    ways: dict[str, Callable[[], Any]] = {
        "bare query": lambda: _bare(options.url, table, memory),
        "sizes of classes": lambda: _sizes(address),
        "audit of sizes": lambda: _audit(address, SIZES),
        "audit of a secret": lambda: _audit(address, SECRETS),
    }
    wall: dict[str, list[float]] = {name: [] for name in ways}
    used: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(options.turns):
        for name, work in ways.items():
            before, own, start = _processor(postmaster), time.process_time(), time.perf_counter()
            work()
            wall[name].append(time.perf_counter() - start)
            used[name].append(_processor(postmaster) - before + time.process_time() - own)
            print(f"turn {turn + 1}  {name:<18} {wall[name][-1]:6.2f} s  processor {used[name][-1]:6.2f} s", flush=True)
    for name in ways:
        ratios = [statistics.median(one[name]) / statistics.median(one["bare query"]) for one in (wall, used)]
        print(f"{name:<18} ratio {ratios[0]:.2f}, of processor time {ratios[1]:.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=10, help="of a patient")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--work-mem", default="256MB")
    return parser.parse_args()


def _load(connection: psycopg.Connection[Any], table: str, records: int, rows: int) -> None:
    if connection.execute("SELECT to_regclass(%s)", (table,)).fetchone() != (None,):
        return
    connection.execute("SELECT setseed(0.5)")
    connection.execute(sql.SQL(EVENTS).format(sql.Identifier(table), records // rows, records))
    connection.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(table)))


def _bare(url: str, table: str, memory: str) -> None:
    with psycopg.connect(url, options=memory) as connection:
        connection.execute(sql.SQL(BARE).format(sql.Identifier(table))).fetchall()


def _sizes(address: str) -> None:
    from tcdp_audit_plugins.engines.database.opening import opened

    with opened(address, 2**30) as engine:
        classes = engine.unit_classes("patient", ["month", "ward"], [""])
        if classes is not None:
            classes.sizes()


def _audit(address: str, expect: list[dict[str, Any]]) -> None:
    import tcdp_audit

    known = ATTRIBUTES if len(expect) > 1 else {name: ATTRIBUTES[name] for name in ("month", "ward")}
    tcdp_audit.audit(address, {"version": 1, "unit": "patient", "attributes": known, "expect": expect})


def _processor(postmaster: int) -> float:
    """The processor time of a server and of its processes, those that ended included, in seconds."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(path.parent.name) == postmaster:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == postmaster:
            ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
