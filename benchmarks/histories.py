"""Whole histories of ten million events of a million people, and the query that counts them, in turn.

    python benchmarks/histories.py [FOLDER] [--people 1000000] [--rounds 3]

The audit asks for k-anonymity and distinct l-diversity of a secret, with `unit:` the person. Its second figure leaves
out what an audit of the single rows takes in the same session before: imports, the encoding of the columns, and the
checks on columns. The bare query reads the same columns of the same Parquet file and groups by person, in DuckDB: a
sorted list of each person's codes, and the size of the smallest group of equal lists. Each runs in a process of its
own, on two threads. Prints medians of CPU seconds and of wall seconds, and the ratio of the second figure.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measured import Measured, in_a_process

EVENTS = 10  # of each person on average
CODES, SECRETS = 40, 20
POLICY = {
    "version": 1,
    "unit": "person",
    "attributes": {
        "person": {"role": "insensitive"},
        "code": {"role": "quasi_identifier"},
        "finding": {"role": "sensitive"},
    },
    "expect": [{"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 2}}],
}


def write(path: Path, people: int) -> None:
    """Events in no order: whose, of which code, with what finding."""
    random = np.random.default_rng(0)
    events = people * EVENTS
    code = np.minimum(random.geometric(0.2, events), CODES).astype(np.int8)
    finding = random.integers(0, SECRETS, events, dtype=np.int8)
    person = random.integers(0, people, events, dtype=np.int32)
    pq.write_table(pa.table({"person": person, "code": code, "finding": finding}), path)


def audit(path: str) -> float:
    """Audits of single rows and then of whole histories in a session; the CPU seconds of the second."""
    import tcdp_audit

    rows = {name: one for name, one in POLICY.items() if name != "unit"}
    with tcdp_audit.open_session(path, rows) as session:
        session.audit()
        start = time.process_time()
        session.audit(POLICY)
        return time.process_time() - start


def bare(path: str) -> int:
    """The size of the smallest group of people with the same codes."""
    import duckdb

    connection = duckdb.connect(config={"threads": 2})
    by_person = f"SELECT list_sort(list(code)) AS codes, list(finding) FROM '{path}' GROUP BY person"
    smallest = connection.execute(f"SELECT min(n) FROM (SELECT count(*) AS n FROM ({by_person}) GROUP BY codes)")
    return int(smallest.fetchall()[0][0])


def main() -> None:
    """Print the line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(arguments.folder or temporary) / f"tcdp-audit-events-{arguments.people}.parquet"
        if not path.exists():
            write(path, arguments.people)
        runs = [(in_a_process(audit, str(path)), in_a_process(bare, str(path))) for _ in range(arguments.rounds)]
    ours, theirs = ([run[which] for run in runs] for which in (0, 1))
    histories, query = median(one.answer for one in ours), median(one.cpu for one in theirs)
    print(
        f"{arguments.people * EVENTS:,} events: audit {_figures(ours)}, of which {histories:.2f} CPU s for histories; "
        f"bare {_figures(theirs)}; ratio {histories / query:.2f}"
    )


def _figures(runs: list[Measured]) -> str:
    cpu, wall, peak = (
        median(one.cpu for one in runs),
        median(one.seconds for one in runs),
        max(one.peak for one in runs),
    )
    return f"{cpu:.2f} CPU s, {wall:.2f} s, {peak:.2f} GiB"


if __name__ == "__main__":
    main()
