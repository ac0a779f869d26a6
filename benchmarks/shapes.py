"""Tables of several shapes: one audit and the bare GROUP BYs of the same table, in CPU seconds and in wall time.

    python benchmarks/shapes.py [FOLDER] [--shapes parquet,csv,...] [--rounds 5] [--scale 1] [--before PYTHON]

The bare queries are those that any audit needs, in DuckDB: the class sizes, and the value counts of each sensitive
attribute; of records, also where an entity counts. The audit has k-anonymity, distinct and entropy l-diversity and
t-closeness by the equal distance (and by those that the shape names), imports included. Both run in turn, each in a
separate process, on two threads; medians are printed. `--before` names an interpreter with an earlier version, which
then runs in turn, too. `--scale 0.1` has a tenth of the records.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import synthetic
from every_class_check import every_class_check

THREADS = 2
LEAVES, BRANCHES = 1000, 10


@dataclass(frozen=True)
class Shape:
    """A kind of table, and its audit."""

    write: Callable[[Path, int], None]  # writes a file of so many records
    records: int = 5_000_000  # their number, at scale 1
    quasi_identifiers: Sequence[str] = synthetic.QUASI_IDENTIFIERS  # the columns to group by
    sensitive: Mapping[str, Any] = field(default_factory=dict)  # the declarations of the sensitive attributes
    distances: Sequence[str] = ("equal",)  # of t-closeness, for all sensitive attributes
    suffix: str = "parquet"  # the kind of file
    unit: str | None = None  # the column of the entity that counts, if not the record
    frame: bool = False  # whether a pandas frame of objects is audited, made from the file beforehand
    expect: Sequence[Any] = ()  # the demands, where they differ from the common ones
    limit: float = 1  # the largest accepted ratio of CPU seconds

    @property
    def policy(self) -> dict[str, Any]:
        """The policy of its audit."""
        attributes: dict[str, Any] = {name: {"role": "quasi_identifier"} for name in self.quasi_identifiers}
        attributes |= {name: {"role": "sensitive", **one} for name, one in self.sensitive.items()}
        named = {} if self.unit is None else {"unit": self.unit}
        if self.unit is not None:
            attributes[self.unit] = {"role": "insensitive"}
        return {"version": 1, **named, "attributes": attributes, "expect": [*self.expect] or self._expect}

    @property
    def _expect(self) -> list[Any]:
        each = [{"t_closeness": {"t": 0.5, "distance": distance}} for distance in self.distances]
        return [{"k_anonymity": {"k": 5}}, {"distinct_l_diversity": {"l": 2}}, {"entropy_l_diversity": {"l": 2}}, *each]


def _as_csv(path: Path, records: int) -> None:
    parquet = path.with_suffix(".parquet")
    synthetic.write(parquet, records)
    pa.csv.write_csv(pq.read_table(parquet), path, pa.csv.WriteOptions(quoting_style="none"))
    parquet.unlink()


def _numbered(prefix: str, codes: Any, values: int) -> pa.Array:
    names = pa.array([f"{prefix}{one}" for one in range(values)])
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names).cast(pa.string())


def _wide(path: Path, records: int) -> None:
    rng = np.random.default_rng(1)
    columns = {f"q{i}": pa.array(rng.integers(0, 1000, records, dtype=np.int16)) for i in range(20)}
    pq.write_table(pa.table(columns | {"s": _numbered("s", rng.integers(0, 20, records), 20)}), path)


def _texts(path: Path, records: int) -> None:
    rng = np.random.default_rng(2)
    place = _numbered("place ", rng.integers(0, records // 5, records), records // 5)
    sex = _numbered("s", rng.integers(0, 2, records), 2)
    disease = _numbered("d", rng.integers(0, 20, records), 20)
    pq.write_table(pa.table({"place": place, "sex": sex, "disease": disease}), path)


def _people(people: int) -> dict[str, Any]:
    """The quasi-identifiers of so many people, as the synthetic release has them."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = Path(folder) / "people.parquet"
        synthetic.write(drawn, people)
        table = pq.read_table(drawn)
    return {name: table.column(name) for name in synthetic.QUASI_IDENTIFIERS}


def _floats(path: Path, records: int) -> None:
    rng = np.random.default_rng(3)
    wage = np.sort(rng.lognormal(7, 1, records // 5).round(6))[rng.integers(0, records // 5, records)]
    pq.write_table(pa.table(_people(records) | {"wage": pa.array(wage)}), path)


def _units(path: Path, records: int) -> None:
    rng = np.random.default_rng(4)
    people = records // 10
    who = rng.permutation(np.repeat(np.arange(people), 10))
    of_people = {name: column.take(pa.array(who)) for name, column in _people(people).items()}
    columns = of_people | {"person": _numbered("person-", who, people)}
    pq.write_table(pa.table(columns | {"disease": _numbered("d", rng.integers(0, 50, len(who)), 50)}), path)


def _leaves(path: Path, records: int) -> None:
    rng = np.random.default_rng(5)
    code = _numbered("", rng.integers(0, LEAVES, records), LEAVES)
    pq.write_table(pa.table(_people(records) | {"code": code}), path)


def _tree(first: int, leaves: int) -> Any:
    """A hierarchy of numbered leaves, each node with ten children."""
    if leaves == BRANCHES:
        return [str(first + one) for one in range(BRANCHES)]
    each = leaves // BRANCHES
    starts = range(first, first + leaves, each)
    return {f"{start}-{start + each - 1}": _tree(start, each) for start in starts}


BASE: dict[str, Any] = {"occupation": synthetic.policy([])["attributes"]["occupation"], "income": {"scale": "numeric"}}
SHAPES = {
    "parquet": Shape(synthetic.write, 20_000_000, sensitive=BASE, distances=("equal", "ordered"), limit=0.35),
    "csv": Shape(_as_csv, sensitive=BASE, suffix="csv", limit=0.6),
    "wide": Shape(_wide, quasi_identifiers=[f"q{i}" for i in range(20)], sensitive={"s": {}}, limit=1.0),
    "texts": Shape(_texts, quasi_identifiers=("place", "sex"), sensitive={"disease": {}}, limit=1.4),
    "floats": Shape(
        _floats, sensitive={"wage": {"scale": "numeric"}}, distances=("equal", "ordered", "numeric"), limit=1.3
    ),
    "units": Shape(_units, sensitive={"disease": {}}, unit="person", limit=1.3),
    "hierarchy": Shape(
        _leaves,
        sensitive={"code": {"hierarchy": {"*": _tree(0, LEAVES)}}},
        distances=("equal", "hierarchical"),
        limit=0.8,
    ),
    "every check": Shape(
        synthetic.write,
        20_000_000,
        sensitive=BASE,
        expect=every_class_check("income", 1000, "occupation", synthetic.SENSITIVE),
        limit=0.6,
    ),
    "frame": Shape(synthetic.write, sensitive=BASE, frame=True, limit=0.8),
}


def _path(folder: Path, name: str, records: int) -> Path:
    written = {"every check": "parquet", "frame": "parquet"}.get(name, name)
    if SHAPES[name].write is synthetic.write:
        return folder / f"tcdp-audit-benchmark-{records}.parquet"
    return folder / f"tcdp-audit-shape-{written}-{records}.{SHAPES[name].suffix}"


def _table(path: str, shape: Shape) -> Any:
    """The audited table: the file, or a frame whose texts are Python objects."""
    if not shape.frame:
        return path
    import pandas as pd

    texts = pd.read_parquet(path)
    return texts.astype({name: object for name, kind in texts.dtypes.items() if kind == "str"})


def _bare(table: Any, shape: Shape) -> Any:
    import duckdb

    connection = duckdb.connect(config={"threads": THREADS})
    if shape.frame:
        connection.register("frame", table)
    source = "frame" if shape.frame else f"'{table}'"
    for further in ((), *((name,) for name in shape.sensitive)):
        columns = ", ".join((*shape.quasi_identifiers, *further))
        grouped = f"SELECT {columns}, count(*) AS n FROM {source} GROUP BY {columns}"
        connection.execute(f"SELECT count(*), min(n) FROM ({grouped})").fetchall()
    return None


def _audit(table: Any, shape: Shape) -> Any:
    import tcdp_audit

    audit = tcdp_audit.audit(table, shape.policy)
    figures = [one.as_json() for one in audit.expectations]
    return [[one["status"], one["observed"], one["classes"], one["records"]] for one in figures]


def _one(work: str, name: str, path: str) -> None:
    """Do one piece of work in this process and print its time and answer."""
    shape = SHAPES[name]
    table = _table(path, shape)
    wall, cpu = time.perf_counter(), time.process_time()
    answer = {"bare": _bare, "audit": _audit}[work](table, shape)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps([cpu, wall, peak, answer]))


def measured_by(python: str, script: str, work: str, name: str, path: Path) -> list[Any]:
    """The answer of a script of this folder, run in a separate process for one piece of work."""
    done = subprocess.run([python, script, "--one", work, name, str(path)], capture_output=True, text=True, check=True)
    answer: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir(), type=Path)
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter that has an earlier version")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        _one(*arguments.one)
        return
    heads = ("bare CPU", 9), ("audit", 7), ("ratio", 6), ("limit", 6), ("wall", 6), ("GiB", 5)
    print(f"{'shape':<12} {'records':>11} " + " ".join(f"{head:>{width}}" for head, width in heads) + "  before")
    for name in arguments.shapes.split(","):
        shape = SHAPES[name]
        records = int(shape.records * arguments.scale)
        path = _path(arguments.folder, name, records)
        if not path.exists():
            shape.write(path, records)
        runs: dict[str, list[list[Any]]] = {"bare": [], "audit": [], "before": []}
        for _ in range(arguments.rounds):
            runs["bare"].append(measured_by(sys.executable, __file__, "bare", name, path))
            runs["audit"].append(measured_by(sys.executable, __file__, "audit", name, path))
            if arguments.before:
                runs["before"].append(measured_by(arguments.before, __file__, "audit", name, path))
        cpu, wall = ({who: median(run[at] for run in some) for who, some in runs.items() if some} for at in (0, 1))
        peak = max(run[2] for run in runs["audit"])
        before = ""
        if runs["before"]:
            same = "same" if runs["before"][-1][3] == runs["audit"][-1][3] else "OTHER"
            before = f"{cpu['before'] / cpu['bare']:.2f} of bare, {same} figures"
        ratio = cpu["audit"] / cpu["bare"]
        print(
            f"{name:<12} {records:>11,} {cpu['bare']:>9.2f} {cpu['audit']:>7.2f} {ratio:>6.2f} {shape.limit:>6.2f} "
            f"{wall['audit'] / wall['bare']:>6.2f} {peak:>5.2f}  {before}",
            flush=True,
        )


if __name__ == "__main__":
    main()
