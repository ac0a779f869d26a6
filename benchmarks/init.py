"""Drafting a policy for a million records of 30 columns: seconds and peak memory, compared with reading it in pandas.

python benchmarks/init.py [RECORDS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from measured import in_a_process
from pyarrow import csv, parquet

RECORDS = 1_000_000


def table_of(records: int) -> pa.Table:
    """Thirty columns: identifiers, dates, places, codes of few and of many values, amounts, answers."""
    rng = np.random.default_rng(0)
    numbers = np.arange(records)
    rng.shuffle(numbers)
    days = np.datetime64("1930-01-01") + rng.integers(0, 28_000, records)
    columns: dict[str, Any] = {
        "patient_id": np.char.add("P", numbers.astype(str)),
        "email": np.char.add(np.char.add("p", rng.integers(0, 10**7, records).astype(str)), "@example.org"),
        "phone": np.char.add("+4930", rng.integers(10**6, 10**7, records).astype(str)),
        "surname": np.char.add("name", rng.integers(0, 20_000, records).astype(str)),
        "date_of_birth": days.astype(str),
        "admitted": (np.datetime64("2020-01-01") + rng.integers(0, 1500, records)).astype(str),
        "zip": np.char.zfill(rng.integers(0, 99_999, records).astype(str), 5),
        "age": rng.integers(0, 100, records),
        "sex": rng.choice(["f", "m"], records),
        "race": rng.choice(["a", "b", "c", "d", "e"], records),
        "occupation": np.char.add("o", rng.integers(0, 400, records).astype(str)),
        "diagnosis": np.char.add("E", rng.integers(10, 99, records).astype(str)),
        "income": np.exp(rng.normal(10, 1, records)).astype(int),
        "cost": np.round(np.exp(rng.normal(7, 1, records)), 2),
    }
    columns |= {f"lab_{one}": np.round(rng.normal(100, 15, records), 3) for one in range(4)}
    columns |= {f"q{one}": rng.integers(1, 8, records) for one in range(12)}
    return pa.table({name: pa.array(cells) for name, cells in columns.items()})


def draft(path: str) -> int:
    """Draft a policy; the number of columns that are left to a person."""
    from tcdp_audit.drafting import draft_policy

    return len(draft_policy(path).undecided)


def read(path: str) -> int:
    """Read the file with pandas."""
    import pandas as pd

    return len(pd.read_csv(path) if path.endswith(".csv") else pd.read_parquet(path))


def main() -> None:
    """Print a line for each form of file."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS
    with tempfile.TemporaryDirectory() as folder:
        table = table_of(records)
        paths = [Path(folder) / name for name in ("table.parquet", "table.csv")]
        parquet.write_table(table, paths[0])
        csv.write_csv(table, paths[1])
        del table
        for path in paths:
            ours, bare = in_a_process(draft, str(path)), in_a_process(read, str(path))
            print(
                f"{path.suffix:<9} {records:,} x 30: {ours.seconds:.1f} s, {ours.cpu:.1f} CPU s, {ours.peak:.2f} GiB; "
                f"pandas reads it in {bare.seconds:.1f} s: ratio {ours.seconds / bare.seconds:.1f}"
            )


if __name__ == "__main__":
    main()
