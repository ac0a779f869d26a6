"""The bytes that an audit of the synthetic release moves: measured, and as `bytes_model.py` predicts them.

    python benchmarks/bytes_moved.py combinations FOLDER --records 20000000
    python benchmarks/bytes_moved.py files FOLDER --records 20000000 [--gibibytes 4]
    python benchmarks/bytes_moved.py postgresql postgresql://USER@HOST:PORT/DATABASE --records 20000000 [--way adbc]
    python benchmarks/bytes_moved.py spark FOLDER --records 20000000 [--heap 2g]

FOLDER holds the releases that `equivalence_classes.py` writes, the database the tables that `databases.py` loads.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bytes_model import COLUMNS, FILE, PROGRAM, Model, sized
from combinations import counted
from counted_port import CountedPort
from databases import audit_in_database, load
from equivalence_classes import audited as audited_file, expectations
from measured import in_a_process
from spark import Workers, session
from sqlalchemy import make_url
from synthetic import QUASI_IDENTIFIERS, SENSITIVE, policy, write

GIB, MIB = 2**30, 2**20
COUNTERS = ("shuffleWriteBytes", "diskBytesSpilled")  # that Spark keeps of each stage
Rows = Mapping[str, tuple[float, float]]  # name -> predicted, or 0; measured


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["combinations", "files", "postgresql", "spark"])
    parser.add_argument("place", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--gibibytes", type=float, default=4)
    parser.add_argument("--way", choices=["adbc", "sqlalchemy"], default="adbc")
    parser.add_argument("--heap", default="2g")
    given = parser.parse_args()
    rows = {"combinations": combinations, "files": files, "postgresql": postgresql, "spark": spark}[given.what](given)
    print(f"{given.what}, {given.records:,} records")
    for name, (predicted, measured) in rows.items():
        ratio = f"  {measured / predicted:6.3f}" if predicted else ""
        print(f"  {name:<44} {_shown(name, predicted):>12} {_shown(name, measured):>12}{ratio}")


def _shown(name: str, number: float) -> str:
    is_size = name.startswith(("bytes", "peak"))
    return "-" if not number else sized(number) if is_size else f"{number:,.0f}"


def combinations(given: argparse.Namespace) -> Rows:
    """The distinct combinations in the Parquet file."""
    path = Path(given.place) / f"tcdp-audit-benchmark-{given.records}.parquet"
    write(path, given.records)
    model = Model(given.records)
    return {
        "equivalence classes": (model.classes, counted(path, QUASI_IDENTIFIERS)),
        **{
            f"pairs of a class and its {name}": (model.pairs(name), counted(path, (*QUASI_IDENTIFIERS, name)))
            for name in SENSITIVE
        },
        "distinct rows": (model.groups, counted(path, COLUMNS)),
    }


def files(given: argparse.Namespace) -> Rows:
    """An audit of the Parquet file by the embedded engine."""
    path = Path(given.place) / f"tcdp-audit-benchmark-{given.records}.parquet"
    write(path, given.records)
    model, memory = Model(given.records), int(given.gibibytes * GIB)
    run = in_a_process(_audit_of_file, str(path), memory)
    read, written = run.answer
    return {
        "bytes of the file": (FILE * model.records, path.stat().st_size),
        "bytes read": (model.read + model.spilled(memory), read),
        "bytes written": (model.spilled(memory), written),
        "peak of the process's memory": (0, run.peak * GIB),
        "CPU seconds": (0, run.cpu),
    }


def _audit_of_file(path: str, memory: int) -> list[int]:
    before = _passed()
    audited_file(path, memory)
    return [after - one for after, one in zip(_passed(), before, strict=True)]


def _passed() -> tuple[int, int]:
    """How many bytes this process has read and written by now."""
    lines = dict(line.split(": ") for line in Path("/proc/self/io").read_text(encoding="ascii").splitlines())
    return int(lines["rchar"]), int(lines["wchar"])


def postgresql(given: argparse.Namespace) -> Rows:
    """An audit in the database, whose bytes pass through a port that counts them."""
    table = f"tcdp_benchmark_{given.records}"
    load(given.place, table, given.records)
    url = make_url(given.place)
    port = CountedPort(url.host or "127.0.0.1", url.port or 5432)
    through = url.set(host="127.0.0.1", port=port.port).render_as_string(hide_password=False)
    model = Model(given.records)
    run = in_a_process(_audit_in_database, through, table, given.way)
    rows, size = run.answer
    return {
        "distinct rows": (model.groups, rows),
        f"bytes from the server by {given.way}": (getattr(model, given.way), port.received),
        "bytes of the Arrow batches": (0, size),
        "peak of the process's memory": (model.retained + PROGRAM, run.peak * GIB),
        "seconds": (0, run.seconds),
    }


def _audit_in_database(url: str, table: str, way: str) -> list[int]:
    from tcdp_audit_plugins.engines.database.engine import DatabaseEngine

    arrived, stream = [0, 0], DatabaseEngine._batches  # noqa: SLF001 - where every batch passes

    def counted(self: Any, *arguments: Any) -> Iterator[Any]:
        for batch in stream(self, *arguments):
            arrived[0] += batch.num_rows
            arrived[1] += batch.nbytes
            yield batch

    DatabaseEngine._batches = counted  # type: ignore[method-assign]  # noqa: SLF001
    audit_in_database(url, table, "-c work_mem=1GB", way)
    return arrived


def spark(given: argparse.Namespace) -> Rows:
    """An audit of the Parquet file on Spark, whose own counters are read."""
    path = Path(given.place) / f"tcdp-audit-benchmark-{given.records}.parquet"
    write(path, given.records)
    model = Model(given.records)
    run = in_a_process(_audit_on_spark, str(path), given.heap)
    actual = run.answer
    return {
        "bytes of the exchange": (model.exchanged, actual["exchange"]),
        "bytes of all other exchanges": (0, actual["shuffleWriteBytes"] - actual["exchange"]),
        "bytes spilled to disk": (0, actual["diskBytesSpilled"]),
        "partitions that answered": (model.partitions, actual["partitions"]),
        "bytes of their answers": (model.answers, actual["answers"]),
        "peak of a Python worker": (0, actual["worker"] * MIB),
        "peak of the Java process": (0, actual["java"] * MIB),
        "seconds": (0, actual["seconds"]),
    }


def _audit_on_spark(path: str, heap: str) -> dict[str, float]:
    import tcdp_audit
    from tcdp_audit_plugins.engines.spark.partitions import Partitions

    answers: list[int] = []
    results = Partitions._results  # noqa: SLF001 - where every answer passes

    def counted(self: Any, rows: Iterable[Any]) -> Iterator[bytes]:
        for result in results(self, rows):
            answers.append(len(result))
            yield result

    Partitions._results = counted  # type: ignore[method-assign]  # noqa: SLF001
    one, workers, start = session(heap), Workers(), time.perf_counter()
    audit = tcdp_audit.audit(one.read.parquet(path), policy(expectations()))
    seconds = time.perf_counter() - start
    if any(outcome.status.value == "error" for outcome in audit.expectations):
        sys.exit("the audit is incomplete")
    return {
        **_stages(one),
        "partitions": len(answers),
        "answers": sum(answers),
        "worker": max(workers.peaks.values()),
        "java": _peak_of_java(),
        "seconds": seconds,
    }


def _stages(session: Any) -> dict[str, float]:
    """Sums over all stages of a session, and what the largest exchange wrote."""
    context, gateway = session.sparkContext._jsc.sc(), session.sparkContext._gateway  # noqa: SLF001 - no other way
    context.listenerBus().waitUntilEmpty()
    quantiles, tasks = gateway.new_array(gateway.jvm.double, 0), gateway.jvm.java.util.ArrayList()
    stages = context.statusStore().stageList(None, False, False, quantiles, tasks)  # noqa: FBT003 - Java has no names
    each = [stages.apply(number) for number in range(stages.size())]
    sums = {name: sum(getattr(stage, name)() for stage in each) for name in COUNTERS}
    return {**sums, "exchange": max(stage.shuffleWriteBytes() for stage in each)}


def _peak_of_java() -> float:
    """The peak of the resident memory of the Java process that this one has started, in MiB."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"SparkSubmit" in (folder / "cmdline").read_bytes():
                lines = (folder / "status").read_text(encoding="ascii").splitlines()
                return next(int(line.split()[1]) for line in lines if "VmHWM" in line) / 1024
        except (OSError, StopIteration):
            continue
    return 0


if __name__ == "__main__":
    main()
