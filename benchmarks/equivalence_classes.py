"""k, distinct l, entropy l, t equal and t ordered on two attributes, compared with the three bare GROUP BYs.

    python benchmarks/equivalence_classes.py [FOLDER] [--records 1000000,5000000,20000000] [--rounds 5] [--gibibytes 4]

Runs the audit (imports included) and the bare queries in turn on the same threads, and prints for each size the
medians of wall and of CPU seconds, their ratios, and the peak memory; then the exponent of the cost, and the largest
size again with `--memory 1GiB`. A busy second core slows the bare queries more: rely on the CPU seconds.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from measured import Measured, in_a_process
from synthetic import QUASI_IDENTIFIERS, SENSITIVE, policy, write

THREADS = 2
GIB = 2**30


def bare(path: str) -> Any:
    """The three queries that any audit needs: class sizes, and value counts of each sensitive attribute."""
    import duckdb

    connection = duckdb.connect(config={"threads": THREADS})
    actual = []
    for further in ((), *((name,) for name in SENSITIVE)):
        columns = ", ".join((*QUASI_IDENTIFIERS, *further))
        grouped = f"SELECT {columns}, count(*) AS n FROM '{path}' GROUP BY {columns}"
        actual.append(connection.execute(f"SELECT count(*), min(n) FROM ({grouped})").fetchall()[0])
    return actual


def expectations() -> list[dict[str, Any]]:
    """The five figures, on both attributes."""
    each = [
        {"distinct_l_diversity": {"l": 2}},
        {"entropy_l_diversity": {"l": 2}},
        {"t_closeness": {"t": 0.5, "distance": "equal"}},
        {"t_closeness": {"t": 0.5, "distance": "ordered"}},
    ]
    return [{"k_anonymity": {"k": 5}}, *each]


def audited(path: str, memory: int | None) -> Any:
    """The whole audit, imports included."""
    import tcdp_audit

    audit = tcdp_audit.audit(path, policy(expectations()), memory=memory)
    return [[one["observed"], one["classes"], one["worst"]] for one in (o.as_json() for o in audit.expectations)]


@dataclass(frozen=True)
class Medians:
    """Medians of wall and CPU seconds over some rounds, the largest peak, and the answer."""

    seconds: float
    cpu: float
    peak: float
    answer: Any

    @classmethod
    def of(cls, runs: Sequence[Measured]) -> Medians:
        """Of several runs of the same work."""
        wall, cpu = ([getattr(run, name) for run in runs] for name in ("seconds", "cpu"))
        return cls(median(wall), median(cpu), max(run.peak for run in runs), runs[-1].answer)


def alternating(path: str, rounds: int, memory: int | None) -> tuple[Medians, Medians]:
    """The bare queries and the audit in turn, so that a machine that slows down slows both."""
    queries, audits = [], []
    for _ in range(rounds):
        queries.append(in_a_process(bare, path))
        audits.append(in_a_process(audited, path, memory))
    return Medians.of(queries), Medians.of(audits)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", default="1000000,5000000,20000000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gibibytes", type=float, help="budget of the audit; by default 3/4 of free memory")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.records.split(",")]
    memory = None if arguments.gibibytes is None else int(arguments.gibibytes * GIB)
    cpu, answer, path = {}, None, Path()
    print(f"{'':>12} {'wall seconds':^23}  {'CPU seconds':^23}")
    print(
        f"{'records':>12} {'bare':>8} {'audit':>8} {'ratio':>5} {'bare':>9} {'audit':>8} {'ratio':>5} {'peak GiB':>9}"
    )
    for size in sizes:
        path = Path(arguments.folder) / f"tcdp-audit-benchmark-{size}.parquet"
        write(path, size)
        queries, run = alternating(str(path), arguments.rounds, memory)
        cpu[size], answer = run.cpu, run.answer
        wall = f"{queries.seconds:>8.2f} {run.seconds:>8.2f} {run.seconds / queries.seconds:>5.2f}"
        busy = f"{queries.cpu:>9.2f} {run.cpu:>8.2f} {run.cpu / queries.cpu:>5.2f}"
        print(f"{size:>12,} {wall} {busy} {run.peak:>9.2f}", flush=True)
    first, last = sizes[0], sizes[-1]
    if first != last:
        exponent = math.log(cpu[last] / cpu[first]) / math.log(last / first)
        print(f"exponent of CPU seconds between {first:,} and {last:,} records: {exponent:.2f}")
    small = in_a_process(audited, str(path), GIB)
    same = "the same answer" if small.answer == answer else "ANOTHER ANSWER"
    print(f"{last:,} records with --memory 1GiB: {small.cpu:.2f} CPU s, peak {small.peak:.2f} GiB, {same}")


if __name__ == "__main__":
    main()
