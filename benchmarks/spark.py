"""An audit on Spark and the three bare groupBy().count()s there; and one class of millions together with singletons.

    python benchmarks/spark.py [FOLDER] [--records 5000000] [--heap 1g] [--rounds 1] [--no-skew]

Each runs in a separate session on two processors (`local[2,4]`, 8 partitions of a shuffle), whose start is not
counted; heaps are the driver's, which is the executor here, and 1g is Spark's default. The bare queries run twice, and
the second time counts. Prints seconds, the ratio, and the largest peak of resident memory among the Python workers.
The busier the machine, the less the ratio means.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from equivalence_classes import expectations
from measured import in_a_process
from synthetic import QUASI_IDENTIFIERS, SENSITIVE, policy, write

ONE_CLASS, SINGLETONS, SIDE = 5_000_000, 10_000_000, 4_000


def session(heap: str) -> Any:
    """A session of two processors."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    builder = SparkSession.builder.master("local[2,4]").config("spark.driver.memory", heap)
    settings = {"sql.shuffle.partitions": "8", "ui.enabled": "false", "log.level": "ERROR"}
    for name, value in {**settings, "ui.showConsoleProgress": "false"}.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


class Workers:
    """The peak of resident memory of every Python worker, in MiB, sampled repeatedly."""

    def __init__(self) -> None:
        self.peaks: dict[str, float] = {}
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            for folder in Path("/proc").glob("[0-9]*"):
                self._look(folder)
            time.sleep(0.1)

    def _look(self, folder: Path) -> None:
        try:
            if b"pyspark.daemon" in (folder / "cmdline").read_bytes():
                lines = (folder / "status").read_text(encoding="ascii").splitlines()
                self.peaks[folder.name] = next(int(line.split()[1]) for line in lines if "VmHWM" in line) / 1024
        except (OSError, StopIteration):
            return  # it has ended


def timed(work: Callable[[], Any]) -> float:
    """Wall seconds of a piece of work."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare(path: str, heap: str) -> Any:
    """Seconds of the three queries, the second time."""
    frame = session(heap).read.parquet(path)

    def count(*further: str) -> None:
        frame.groupBy(*QUASI_IDENTIFIERS, *further).count().write.format("noop").mode("overwrite").save()

    def all_three() -> None:
        for further in ((), *((name,) for name in SENSITIVE)):
            count(*further)

    all_three()
    return timed(all_three)


def audited(path: str, heap: str) -> Any:
    """Seconds of the audit, the second time as well, and the largest peak of a Python worker."""
    frame = session(heap).read.parquet(path)
    return _audited(frame, policy(expectations()), repeats=2)


def skewed(heap: str) -> Any:
    """The same where one class has a third of all records and every other record is unique."""
    one = session(heap)
    large = one.range(ONE_CLASS).selectExpr("0 AS zip", "0 AS age", "id % 14 AS disease", "id % 6687 AS income")
    alone = one.range(SINGLETONS).selectExpr(
        f"1 + cast(id / {SIDE} AS int) AS zip", f"cast(id % {SIDE} AS int) AS age", "id % 14", "id % 6687"
    )
    attributes = {
        "zip": {"role": "quasi_identifier"},
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "disease": {"role": "sensitive"},
        "income": {"role": "sensitive", "scale": "numeric"},
    }
    expect = [{"k_anonymity": {}}, {"t_closeness": {"t": 0.5}}, {"distinct_l_diversity": {"l": 2}}]
    return _audited(large.union(alone), {"version": 1, "attributes": attributes, "expect": expect})


def _audited(frame: Any, demands: dict[str, Any], repeats: int = 1) -> Any:
    import tcdp_audit

    workers, seconds, result = Workers(), 0.0, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = tcdp_audit.audit(frame, demands)
        seconds = time.perf_counter() - start
    if result is None or any(one.status.value == "error" for one in result.expectations):
        sys.exit("the audit is incomplete")
    first = result.expectations[0].as_json()
    return [seconds, max(workers.peaks.values()), first["classes"]["total"], first["records"]["total"]]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--heap", default="1g")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--no-skew", action="store_true")
    arguments = parser.parse_args()
    path = Path(arguments.folder) / f"tcdp-audit-benchmark-{arguments.records}.parquet"
    write(path, arguments.records)
    for _ in range(arguments.rounds):
        queries = in_a_process(bare, str(path), arguments.heap).answer
        seconds, peak, classes, records = in_a_process(audited, str(path), arguments.heap).answer
        _print(f"{records:,} records in {classes:,} classes", seconds, peak, f"bare {queries:.1f} s, ")
        print(f"ratio {seconds / queries:.2f}", flush=True)
    if not arguments.no_skew:
        seconds, peak, classes, records = in_a_process(skewed, arguments.heap).answer
        _print(f"{records:,} records in {classes:,} classes, one of {ONE_CLASS:,}", seconds, peak, "")


def _print(what: str, seconds: float, peak: float, bare: str) -> None:
    print(f"{what}: {bare}audit {seconds:.1f} s, Python workers at most {peak:.0f} MiB each", flush=True)


if __name__ == "__main__":
    main()
