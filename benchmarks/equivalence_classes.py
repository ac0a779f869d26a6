"""k, distinct l, entropy l, t equal and t ordered on two attributes, beside the three bare GROUP BYs.

    python benchmarks/equivalence_classes.py [FOLDER] [--records 1000000,5000000,20000000]

Prints for each size the wall time of the audit (imports included) as a ratio to the bare queries run just before
on the same threads, and the peak memory; then the cost exponent, and the largest size again with `--memory 1GiB`.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from typing import Any

from measured import in_a_process
from synthetic import QUASI_IDENTIFIERS, SENSITIVE, policy, write

THREADS = 2
GIB = 2**30


def bare(path: str) -> Any:
    """The three queries without which nobody can answer: class sizes, and value counts of each sensitive attribute."""
    import duckdb

    connection = duckdb.connect(config={"threads": THREADS})
    found = []
    for further in ((), *((name,) for name in SENSITIVE)):
        columns = ", ".join((*QUASI_IDENTIFIERS, *further))
        grouped = f"SELECT {columns}, count(*) AS n FROM '{path}' GROUP BY {columns}"
        found.append(connection.execute(f"SELECT count(*), min(n) FROM ({grouped})").fetchall()[0])
    return found


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


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", default="1000000,5000000,20000000")
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.records.split(",")]
    seconds, answer, path = {}, None, Path()
    print(f"{'records':>12} {'bare s':>8} {'audit s':>8} {'ratio':>6} {'peak GiB':>9}")
    for size in sizes:
        path = Path(arguments.folder) / f"tcdp-audit-benchmark-{size}.parquet"
        write(path, size)
        queries = in_a_process(bare, str(path))
        run = in_a_process(audited, str(path), None)
        seconds[size], answer = run.seconds, run.answer
        ratio = run.seconds / queries.seconds
        print(f"{size:>12,} {queries.seconds:>8.2f} {run.seconds:>8.2f} {ratio:>6.2f} {run.peak:>9.2f}")
    first, last = sizes[0], sizes[-1]
    if first != last:
        exponent = math.log(seconds[last] / seconds[first]) / math.log(last / first)
        print(f"cost exponent between {first:,} and {last:,} records: {exponent:.2f}")
    small = in_a_process(audited, str(path), GIB)
    same = "the same answer" if small.answer == answer else "ANOTHER ANSWER"
    print(f"{last:,} records with --memory 1GiB: {small.seconds:.2f} s, peak {small.peak:.2f} GiB, {same}")


if __name__ == "__main__":
    main()
