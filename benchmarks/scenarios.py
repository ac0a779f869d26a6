"""Five scenarios in one policy next to the largest of them alone, which is the baseline; in CPU seconds and wall.

    python benchmarks/scenarios.py [FOLDER] [--records 20000000] [--rounds 3]

Two tables: one whose columns are skewed, as those of people are, so that the distinct rows of all columns are few
next to the records, and one of uniform columns, where they are many and each scenario reads the records anew. Runs
alternate. Each is a process of its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KNOWN = ("age", "sex", "region", "job", "schooling", "marital")
SCENARIOS: dict[str, dict[str, Any]] = {
    "everyone": {"knows": ["age", "sex", "region", "job", "schooling"]},
    "neighbour": {"knows": ["age", "sex", "region"]},
    "employer": {"knows": ["age", "sex", "job", "schooling"]},
    "register": {"knows": ["age", "region", "marital"]},
    "friend": {"knows": ["sex", "job", "marital"]},
}
ONE = """
import json, sys, time
import tcdp_audit
path, policy = sys.argv[1], json.loads(sys.argv[2])
cpu, wall = time.process_time(), time.perf_counter()
tcdp_audit.audit(path, policy)
print(time.process_time() - cpu, time.perf_counter() - wall)
"""


def write(path: Path, records: int, *, skewed: bool) -> None:
    """A table of people with a diagnosis."""
    draw = np.random.default_rng(0)
    columns: dict[str, Any] = {
        "age": draw.binomial(20, 0.3, records) if skewed else draw.integers(0, 90, records),
        "sex": draw.integers(0, 2, records),
        "region": (draw.pareto(2, records) * 3).astype(int) % 30 if skewed else draw.integers(0, 30, records),
        "job": (draw.pareto(1.5, records) * 2).astype(int) % 25 if skewed else draw.integers(0, 25, records),
        "schooling": draw.binomial(8, 0.4, records) if skewed else draw.integers(0, 9, records),
        "marital": draw.integers(0, 4, records),
        "diagnosis": draw.integers(0, 10, records),
    }
    pq.write_table(pa.table(columns), path)


def policy(names: list[str]) -> dict[str, Any]:
    """k-anonymity and l-diversity against some of the intruders."""
    attributes = {name: {"role": "quasi_identifier"} for name in KNOWN} | {"diagnosis": {"role": "sensitive"}}
    scenarios = {name: SCENARIOS[name] for name in names}
    expect = [{"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 2}}]
    return {"version": 1, "attributes": attributes, "scenarios": scenarios, "expect": expect}


def seconds(path: Path, names: list[str]) -> tuple[float, float]:
    """CPU seconds and wall seconds of an audit in a new process."""
    command = [sys.executable, "-c", ONE, str(path), json.dumps(policy(names))]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return float(said[0]), float(said[1])


def main() -> None:
    """Print a row for each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for skewed in (True, False):
            path = Path(asked.folder or temporary) / f"scenarios-{'skewed' if skewed else 'uniform'}.parquet"
            write(path, asked.records, skewed=skewed)
            rounds = [(seconds(path, ["everyone"]), seconds(path, [*SCENARIOS])) for _ in range(asked.rounds)]
            (largest, its_wall), (five, wall) = (
                tuple(median(one[place][figure] for one in rounds) for figure in (0, 1)) for place in (0, 1)
            )
            print(
                f"{path.stem}: five {five:.2f} s of CPU, {wall:.2f} s; "
                f"the largest alone {largest:.2f}, {its_wall:.2f}; "
                f"ratio {five / largest:.2f} by CPU, {wall / its_wall:.2f} by wall"
            )


if __name__ == "__main__":
    main()
