"""`missing_quasi_identifier: wildcard` with every quasi-identifier incomplete, compared with the bare GROUP BYs.

    python benchmarks/wildcard.py [FOLDER] [--records 1250000] [--rounds 3]

k, distinct l, entropy l and t equal on two attributes of 14 and about 5,000 values, where a tenth of the cells of each
of seven quasi-identifiers is missing, with `--memory 1GiB`. The bare queries (class sizes, and value counts of each
attribute, without any wildcard) run in turn with the audit, in separate processes; prints the median CPU seconds
and wall seconds of both, imports included, their ratios, and the peak memory. `start` is an audit of a hundred of the
records, `floor` a minimal program: the last product, the order of its pairs, and figures of each pair by numpy,
everything before it given. Then 8,000 records whose 14 quasi-identifiers lack a third of their cells, where
nearly every record has a unique pattern.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from equivalence_classes import bare
from measured import Measured, in_a_process
from synthetic import QUASI_IDENTIFIERS, policy, write

GIB = 2**30
MANY = 14  # quasi-identifiers of the small release
EXPECT = [
    {"k_anonymity": {"k": 5}},
    {"distinct_l_diversity": {"l": 2}},
    {"entropy_l_diversity": {"l": 2}},
    {"t_closeness": {"t": 0.5, "distance": "equal"}},
]


def incomplete(folder: Path, records: int, share: float = 0.1) -> Path:
    """The synthetic release without a share of the cells of each quasi-identifier."""
    whole, path = (folder / f"tcdp-audit-{name}-{records}.parquet" for name in ("benchmark", "wildcard"))
    if not path.exists():
        write(whole, records)
        table, rng = pq.read_table(whole), np.random.default_rng(1)
        for name in QUASI_IDENTIFIERS:
            cells, missing = table[name].to_numpy(), rng.random(records) < share
            column = pa.array(cells, table[name].type, mask=missing)
            table = table.set_column(table.column_names.index(name), name, column)
        pq.write_table(table, path)
    return path


def scattered(folder: Path, records: int, values: int) -> Path:
    """A release of 14 quasi-identifiers of a few values each, a third of the cells missing."""
    path, rng = folder / f"tcdp-audit-scattered-{records}-{values}.parquet", np.random.default_rng(2)
    names = [f"q{i:02}" for i in range(MANY)]
    columns = {
        name: pa.array(rng.integers(values, size=records).astype(str), mask=rng.random(records) < 1 / 3)
        for name in names
    }
    pq.write_table(pa.table({**columns, "s": rng.integers(9, size=records).astype(str)}), path)
    return path


def audited(path: str, document: dict[str, Any], memory: int) -> Any:
    """The whole audit, imports included."""
    import tcdp_audit

    audit = tcdp_audit.audit(path, document, memory=memory)
    return [[one["check"], one["observed"], one["status"]] for one in (o.as_json() for o in audit.expectations)]


def floor(path: str, document: dict[str, Any], memory: int) -> Any:
    """CPU seconds of the last product, of the order of its pairs and of figures of each; and the number of pairs."""
    import os
    import time

    from tcdp_audit.core.classes.wildcard_rows import ManyValues, WildcardStep

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one thread, so that steps follow one another
    last: list[tuple[Any, Any]] = []
    product, rows_of_step = ManyValues.sums, WildcardStep.rows

    def multiply(values: ManyValues, link: Any) -> Any:
        last.append((link, values.matrix))
        return product(values, link)

    def step(one: WildcardStep, start: int, stop: int) -> Any:
        before = len(last)
        rows = rows_of_step(one, start, stop)
        del last[before:]
        return rows

    setattr(ManyValues, "sums", multiply)  # noqa: B010 - a type checker refuses the plain form
    setattr(WildcardStep, "rows", step)  # noqa: B010 - likewise
    audited(path, document, memory)
    shares = np.maximum(sum(matrix.sum(axis=0) for _, matrix in last), 1) / sum(matrix.sum() for _, matrix in last)
    start, pairs = time.process_time(), 0
    for link, matrix in last:
        rows = (link @ matrix).tocsc().tocsr()
        length = np.diff(rows.indptr)
        share = rows.data / np.repeat(np.add.reduceat(rows.data, rows.indptr[:-1]), length)
        np.add.reduceat(share * np.log(share), rows.indptr[:-1])
        np.add.reduceat(np.maximum(share - shares[rows.indices], 0), rows.indptr[:-1])
        pairs += int(length.sum())
    return time.process_time() - start, pairs


def shown(name: str, runs: Sequence[Measured], reference: Sequence[Measured]) -> str:
    """Medians of CPU and wall seconds, and their ratios to other runs."""
    (cpu, wall), (base_cpu, base_wall) = (
        [median(getattr(one, figure) for one in some) for figure in ("cpu", "seconds")] for some in (runs, reference)
    )
    peak = max(one.peak for one in runs)
    return f"{name:<12} {cpu:>8.2f} {wall:>8.2f} {cpu / base_cpu:>8.2f} {wall / base_wall:>8.2f} {peak:>9.2f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir(), type=Path)
    parser.add_argument("--records", default=1_250_000, type=int)
    parser.add_argument("--rounds", default=3, type=int)
    arguments = parser.parse_args()
    path = str(incomplete(arguments.folder, arguments.records))
    document = {**policy(EXPECT), "conventions": {"missing_quasi_identifier": "wildcard"}}
    queries, audits = [], []
    for _ in range(arguments.rounds):
        queries.append(in_a_process(bare, path))
        audits.append(in_a_process(audited, path, document, GIB))
    print(f"{arguments.records:,} records, 7 quasi-identifiers, a tenth of the cells missing, --memory 1GiB")
    print(f"{'':<12} {'CPU s':>8} {'wall s':>8} {'CPU':>8} {'wall':>8} {'peak GiB':>9}")
    print(shown("bare", queries, queries))
    print(shown("audit", audits, queries))
    few = str(incomplete(arguments.folder, 100))
    print(shown("start", [in_a_process(audited, few, document, GIB) for _ in range(arguments.rounds)], queries))
    seconds, pairs = in_a_process(floor, path, document, GIB).answer
    print(f"{'floor':<12} {seconds:>8.2f} CPU s after the start, for {pairs:,} pairs of a class and an income")
    for values in (2, 4, 20):
        small = str(scattered(arguments.folder, 8000, values))
        roles = {f"q{i:02}": {"role": "quasi_identifier"} for i in range(MANY)}
        document |= {"attributes": {**roles, "s": {"role": "sensitive"}}}
        run = in_a_process(audited, small, document, GIB)
        print(
            f"8,000 records, {MANY} quasi-identifiers of {values} values, a third missing: "
            f"{run.cpu:.2f} CPU s, {run.seconds:.2f} s, {run.peak:.2f} GiB"
        )


if __name__ == "__main__":
    main()
