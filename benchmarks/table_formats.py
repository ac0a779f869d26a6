"""An audit of a Delta table and of an Iceberg table, beside one of the same records as plain Parquet.

    python benchmarks/table_formats.py [FOLDER] [--records 5000000] [--rounds 2] [--memory 2GB]

Each table was overwritten twice with other records, and then those of the oldest people were deleted. The tables stay
in FOLDER and are used again. Every audit runs in a process of its own, and its imports count. Prints wall and CPU
seconds, the peak of resident memory, and the ratio of CPU seconds to those of plain Parquet.
Needs the extras `delta` and `iceberg`.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from equivalence_classes import expectations
from measured import in_a_process
from synthetic import policy, write

FILES = 8  # of a version
OLDEST = 85  # records of older people are deleted


def versions(path: Path) -> list[pa.Table]:
    """The records of three versions: the last is what the file holds, and earlier ones have younger people."""
    last = pq.read_table(path)
    last = last.set_column(0, "age", last["age"].cast(pa.int32()))  # Iceberg has no 16 bits
    return [last.set_column(0, "age", pc.add(last["age"], pa.scalar(-shift, pa.int32()))) for shift in (10, 5, 0)]


def built(folder: Path, records: int) -> dict[str, str]:
    """The addresses of the tables, which are written where they are not there yet."""
    folder = folder / f"tcdp-audit-table-formats-{records}"
    places = {
        "plain Parquet": f"{folder}/plain",
        "Delta Lake": f"delta:{folder}/delta",
        "Iceberg": "iceberg:bench.people.release",
    }
    settings = {"TYPE": "sql", "URI": f"sqlite:///{folder}/catalogue.db", "WAREHOUSE": f"file://{folder}/iceberg"}
    os.environ.update({f"PYICEBERG_CATALOG__BENCH__{name}": value for name, value in settings.items()})
    if not (folder / "finished").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write(folder / "drawn.parquet", records)
        tables = versions(folder / "drawn.parquet")
        _write_plain(folder / "plain", tables[-1].filter(pc.less(pc.field("age"), OLDEST)))
        _write_delta(str(folder / "delta"), tables)
        _write_iceberg(tables)
        (folder / "finished").touch()
    return places


def _slices(table: pa.Table) -> list[pa.Table]:
    rows = -(-len(table) // FILES)
    return [table.slice(start, rows) for start in range(0, len(table), rows)]


def _write_plain(folder: Path, table: pa.Table) -> None:
    folder.mkdir()
    for number, part in enumerate(_slices(table)):
        pq.write_table(part, folder / f"part-{number}.parquet")


def _write_delta(place: str, tables: list[pa.Table]) -> None:
    from deltalake import DeltaTable, write_deltalake

    for table in tables:
        for number, part in enumerate(_slices(table)):
            write_deltalake(place, part, mode="append" if number else "overwrite")
    DeltaTable(place).delete(f"age >= {OLDEST}")


def _write_iceberg(tables: list[pa.Table]) -> None:
    from pyiceberg.catalog import load_catalog

    catalogue = load_catalog("bench")
    catalogue.create_namespace("people")
    release = catalogue.create_table("people.release", tables[0].schema)
    for table in tables:
        for number, part in enumerate(_slices(table)):
            (release.append if number else release.overwrite)(part)
    release.delete(f"age >= {OLDEST}")


def audited(place: str, memory: str | None) -> Any:
    """What an audit says: its records, figures and sentences."""
    import tcdp_audit
    from tcdp_audit.api import parse_memory

    budget = None if memory is None else parse_memory(memory)
    result = tcdp_audit.audit(place, policy(expectations()), memory=budget)
    if any(one.status.value == "error" for one in result.expectations):
        sys.exit(f"{place}: the audit is incomplete")
    return [result.release.records, [[str(one.observed), one.message] for one in result.expectations]]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=tempfile.gettempdir())
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--memory")
    arguments = parser.parse_args()
    places = built(Path(arguments.folder), arguments.records)
    for _ in range(arguments.rounds):
        plain = None
        for name, place in places.items():
            run = in_a_process(audited, place, arguments.memory)
            plain = plain or run
            same = "" if run.answer == plain.answer else "; ANOTHER RESULT"
            print(
                f"{name}: {run.answer[0]:,} records, {run.seconds:.1f} s, CPU {run.cpu:.1f} s, "
                f"peak {run.peak:.2f} GiB, ratio {run.cpu / plain.cpu:.2f}{same}",
                flush=True,
            )


if __name__ == "__main__":
    main()
