"""The cost of audits and of drafts as records, columns and expectations grow, and how fast it grows.

    python benchmarks/growth.py [--rounds 3] [--scale 1] [--series NAME ...] [--write]

Prints the table of docs/scale.md, and writes it there with `--write`. Each figure is the median of some processes. A
process does the same work on sixty records first, so that imports are in no figure; then its CPU seconds, of all
threads, are counted, and how far its peak memory rises. The exponent of a step is the logarithm of the ratio of two
costs divided by that of the ratio of what grew: 1 is linear, 2 quadratic. The exit code is 1 if one is more than
`TOLERANCE` above its limit. `--scale 0.1` has a tenth of the records; its table is not written.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measured import in_a_process, peak_memory

TOLERANCE = 0.15  # two runs of the same on a busy machine differ by a fifth: log 1.2 / log 4 = 0.13
LITTLE = 0.01  # GiB: where memory rises by less, the growth of pages and not of tables would be compared
WARM = 60  # records of the table that a process works on first
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
TABLE = re.compile(r"(?<=<!-- growth -->\n).*(?=<!-- end of growth -->)", re.DOTALL)
HEADS = ("work", "records", "columns", "expectations", "CPU s", "exponent", "GiB", "exponent")


@dataclass(frozen=True)
class Case:
    """The size of one piece of work."""

    records: int
    columns: int  # quasi-identifiers of an audit, all columns but two of a draft
    expectations: int = 0


@dataclass(frozen=True)
class Series:
    """The same work at growing sizes, of which one grows."""

    work: str  # a name of `WORKS`
    grows: str  # the field of `Case` that grows
    cases: Sequence[Case]  # ascending
    limit: float  # the largest accepted exponent

    def scaled(self, scale: float) -> Series:
        """The series with so many times the records."""
        return replace(self, cases=[replace(one, records=round(one.records * scale)) for one in self.cases])


@dataclass(frozen=True)
class Cost:
    """CPU seconds, and GiB that the peak of the memory rises by; neither has what the start of a process costs."""

    cpu: float
    memory: float


def series(work: str, grows: str, values: Sequence[int], limit: float, **fixed: int) -> Series:
    """A series in which one size takes some values."""
    return Series(work, grows, [Case(**fixed, **{grows: value}) for value in values], limit)


LINEAR, QUADRATIC = 1.0, 2.0
SERIES = {
    "audit by records": series("audit", "records", (250_000, 1_000_000, 4_000_000), LINEAR, columns=5, expectations=5),
    "wide audit by records": series(
        "audit", "records", (250_000, 1_000_000, 4_000_000), LINEAR, columns=20, expectations=5
    ),
    "audit by columns": series("audit", "columns", (5, 10, 20, 40), QUADRATIC, records=1_000_000, expectations=5),
    "audit by expectations": series("audit", "expectations", (5, 20, 80), LINEAR, records=1_000_000, columns=5),
    "draft by records": series("draft", "records", (100_000, 400_000, 1_600_000), LINEAR, columns=30),
    "draft by columns": series("draft", "columns", (15, 30, 60, 120), QUADRATIC, records=100_000),
}


def write(path: Path, records: int, columns: int) -> None:
    """Write independent columns of 20, 19, ... 2 values in turn, and two sensitive ones of 20 and of 1,000 values."""
    rng = np.random.default_rng(0)
    table = {f"q{one}": pa.array(rng.integers(0, 20 - one % 19, records, dtype=np.int8)) for one in range(columns)}
    table["code"] = pa.array(rng.integers(0, 20, records, dtype=np.int8))
    table["amount"] = pa.array(rng.integers(0, 1000, records, dtype=np.int16))
    pq.write_table(pa.table(table), path)


def policy(columns: int, expectations: int) -> dict[str, Any]:
    """A policy of so many quasi-identifiers and expectations: five kinds in turn, each round with other thresholds."""
    attributes: dict[str, Any] = {f"q{one}": {"role": "quasi_identifier", "scale": "numeric"} for one in range(columns)}
    attributes |= {name: {"role": "sensitive", "scale": "numeric"} for name in ("code", "amount")}
    return {"version": 1, "attributes": attributes, "expect": list(_expect(expectations))}


def _expect(number: int) -> Iterator[dict[str, Any]]:
    for place in range(number):
        times, kind = divmod(place, 5)
        t = round(0.5 - times / 100, 2)
        yield (
            {"k_anonymity": {"k": 5 + times}},
            {"distinct_l_diversity": {"l": 2 + times}},
            {"entropy_l_diversity": {"l": 2 + times}},
            {"t_closeness": {"t": t, "distance": "equal"}},
            {"t_closeness": {"t": t, "distance": "ordered"}},
        )[kind]


def audit(path: Path, case: Case) -> None:
    """Audit a table."""
    import tcdp_audit

    tcdp_audit.audit(path, policy(case.columns, case.expectations))


def draft(path: Path, case: Case) -> None:  # noqa: ARG001 - its columns are those of the file
    """Draft a policy for a table."""
    from tcdp_audit.drafting import draft_policy

    draft_policy(path)


WORKS: Mapping[str, Callable[[Path, Case], None]] = {"audit": audit, "draft": draft}


def work_alone(work: str, warm: str, path: str, records: int, columns: int, expectations: int) -> list[float]:
    """Do a piece of work after the same on sixty records; its CPU seconds, and the GiB that the peak rises by."""
    case = Case(records, columns, expectations)
    WORKS[work](Path(warm), case)
    cpu, before = process_time(), peak_memory()
    WORKS[work](Path(path), case)
    return [process_time() - cpu, max(peak_memory() - before, 0.0)]  # the kernel counts pages in steps


class Tables:
    """The tables of a run, each written once to a folder."""

    def __init__(self, folder: str) -> None:
        self._file = cache(lambda records, columns: self._written(Path(folder), records, columns))

    @staticmethod
    def _written(folder: Path, records: int, columns: int) -> str:
        path = folder / f"{records}-{columns}.parquet"
        write(path, records, columns)
        return str(path)

    def cost(self, work: str, case: Case, rounds: int) -> Cost:
        """The median cost of some processes."""
        paths = [self._file(records, case.columns) for records in (WARM, case.records)]
        runs = [
            in_a_process(work_alone, work, *paths, case.records, case.columns, case.expectations).answer
            for _ in range(rounds)
        ]
        cpu, memory = map(median, zip(*runs, strict=True))
        return Cost(cpu, memory)


def exponent(sizes: tuple[float, float], costs: tuple[float, float], least: float = 0.0) -> float | None:
    """The exponent of the growth between two costs; None where one is not above `least`.

    Example:
        >>> exponent((10, 40), (3, 48)), exponent((10, 40), (0, 48))
        (2.0, None)
    """
    if min(costs) <= least:
        return None
    return math.log(costs[1] / costs[0]) / math.log(sizes[1] / sizes[0])


def exponents(one: Series, costs: Sequence[Cost]) -> list[tuple[float | None, float | None]]:
    """The exponents of CPU seconds and of memory of each step of a series, by the costs of its cases."""
    sizes = [getattr(case, one.grows) for case in one.cases]
    return [
        (
            exponent(step, (before.cpu, after.cpu)),
            exponent(step, (before.memory, after.memory), LITTLE),
        )
        for step, (before, after) in zip(pairwise(sizes), pairwise(costs), strict=True)
    ]


def too_fast(name: str, one: Series, costs: Sequence[Cost]) -> list[str]:
    """A sentence for each step of a series that grows faster than its limit and the tolerance allow."""
    sizes = [f"{getattr(case, one.grows):,}" for case in one.cases]
    return [
        f"{name}: {what} grow with exponent {value:.2f} from {step[0]} to {step[1]} {one.grows}; the limit is "
        f"{one.limit:g} + {TOLERANCE}"
        for step, of_step in zip(pairwise(sizes), exponents(one, costs), strict=True)
        for what, value in zip(("CPU seconds", "GiB"), of_step, strict=True)
        if value is not None and value > one.limit + TOLERANCE
    ]


def rows(one: Series, costs: Sequence[Cost]) -> Iterator[str]:
    """The rows of a series in the table."""
    for case, cost, (cpu, memory) in zip(one.cases, costs, [(None, None), *exponents(one, costs)], strict=True):
        sizes = (f"{case.records:,}", f"{case.columns}", f"{case.expectations or ''}")
        figures = (f"{cost.cpu:.2f}", _shown(cpu), f"{cost.memory:.2f}", _shown(memory))
        yield "| " + " | ".join((one.work, *sizes, *figures)) + " |"


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--series", nargs="+", choices=SERIES, default=list(SERIES))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and (arguments.scale != 1 or len(arguments.series) < len(SERIES)):
        parser.error("--write: the page has all series at their whole size")
    lines, faults = [f"| {' | '.join(HEADS)} |", "|---" + "|---:" * (len(HEADS) - 1) + "|"], list[str]()
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(folder)
        for name in arguments.series:
            chosen = SERIES[name].scaled(arguments.scale)
            costs = [tables.cost(chosen.work, case, arguments.rounds) for case in chosen.cases]
            lines += rows(chosen, costs)
            faults += too_fast(name, chosen, costs)
            print("\n".join(lines[-len(costs) :]), flush=True)
    if arguments.write:
        text = "\n".join(lines) + "\n"
        PAGE.write_text(TABLE.sub(lambda _: text, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
