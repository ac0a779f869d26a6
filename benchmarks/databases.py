"""An audit in a database and the bare groupings that it replaces, run in turn.

    python benchmarks/databases.py postgresql://USER@HOST/DATABASE --records 5000000 --turns 3

makes (or finds) a table `tcdp_benchmark_RECORDS` there, and prints seconds and ratios: the bare `GROUP BY`s of class
sizes and of each sensitive attribute in the classes, whose rows stay in the server; the one of all columns; an audit by
ADBC; and one by plain SQLAlchemy streaming. `work_mem` is the same for all of them.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import synthetic
from measured import in_a_process
from psycopg import sql

EXPECT: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 5}},
    {"distinct_l_diversity": {"l": 2}},
    {"entropy_l_diversity": {}},
    {"t_closeness": {"attribute": "occupation", "distance": "equal"}},
    {"t_closeness": {"attribute": "income", "distance": "numeric"}},
]


def main() -> None:
    options = _options()
    table = f"tcdp_benchmark_{options.records}"
    load(options.url, table, options.records)
    memory = f"-c work_mem={options.work_mem}"
    ways: dict[str, Callable[[], Any]] = {
        "bare GROUP BYs": lambda: in_a_process(bare, options.url, table, memory),
        "bare GROUP BY of all": lambda: in_a_process(bare_of_all, options.url, table, memory),
        "audit by ADBC": lambda: in_a_process(audit_in_database, options.url, table, memory, "adbc"),
        "audit by SQLAlchemy": lambda: in_a_process(audit_in_database, options.url, table, memory, "sqlalchemy"),
    }
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(options.turns):
        for name, work in ways.items():
            measured = work()
            seconds[name].append(measured.seconds)
            print(f"turn {turn + 1}  {name:<22} {measured.seconds:7.1f} s  peak {measured.peak:.2f} GiB", flush=True)
    yardstick = statistics.median(seconds["bare GROUP BYs"])
    for name, times in seconds.items():
        ratios = ", ".join(f"{one / yardstick:.2f}" for one in times)
        median = statistics.median(times)
        print(f"{name:<22} median {median:7.1f} s  ratio {median / yardstick:.2f} ({ratios})")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--work-mem", default="1GB")
    return parser.parse_args()


def load(url: str, table: str, records: int) -> None:
    """Fill the table by COPY, if it is not there yet."""
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass(%s)", (table,)).fetchone() != (None,):
            return
        texts = ", ".join(f"{name} text" for name in (*synthetic.QUASI_IDENTIFIERS[1:], "occupation"))
        name = sql.Identifier(table)
        connection.execute(sql.SQL("CREATE TABLE {} (age int, " + texts + ", income int)").format(name))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "release.parquet"
            synthetic.write(path, records)
            with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(name)) as copy:
                for batch in pq.ParquetFile(path).iter_batches(200_000):
                    written = pa.BufferOutputStream()
                    pyarrow.csv.write_csv(batch, written, pyarrow.csv.WriteOptions(include_header=False))
                    copy.write(written.getvalue())
        connection.execute(sql.SQL("VACUUM ANALYZE {}").format(name))


def bare(url: str, table: str, memory: str) -> float:
    """Class sizes, and each sensitive attribute in the classes: the least to ask. No row leaves the server."""
    known = ", ".join(synthetic.QUASI_IDENTIFIERS)
    return _copied(url, table, memory, [known, *(f"{known}, {one}" for one in synthetic.SENSITIVE)])


def bare_of_all(url: str, table: str, memory: str) -> float:
    """The one grouping that an audit sends. No row leaves the server."""
    return _copied(url, table, memory, [", ".join((*synthetic.QUASI_IDENTIFIERS, *synthetic.SENSITIVE))])


def _copied(url: str, table: str, memory: str, groupings: list[str]) -> float:
    with psycopg.connect(url, options=memory) as connection:
        start = time.perf_counter()
        for columns in groupings:
            statement = f"SELECT sum(n) FROM (SELECT count(*) AS n FROM {table} GROUP BY {columns}) AS groups"
            connection.execute(statement)  # type: ignore[call-overload]
        return time.perf_counter() - start


def audit_in_database(url: str, table: str, memory: str, way: str) -> list[Any]:
    """Every figure of the audit."""
    import tcdp_audit

    if way != "adbc":
        sys.modules["adbc_driver_postgresql"] = None  # type: ignore[assignment]  # as if it were not installed
    address = f"{url}{'&' if '?' in url else '?'}table={table}&options={quote(memory)}"
    audit = tcdp_audit.audit(address, synthetic.policy(EXPECT))
    return [one.observed for one in audit.expectations]


if __name__ == "__main__":
    main()
