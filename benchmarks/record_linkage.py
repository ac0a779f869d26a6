"""Distance-based linkage and its bare lower bound: one blocked float32 product of the same n, n and d, no minimum.

    TCDP_AUDIT_DATA=... python benchmarks/record_linkage.py [--records 10000,100000] [--rounds 3] [--before PYTHON]

Numeric: 13 correlated attributes against themselves with noise of 0.3 standard deviations. Adult: nine attributes, each
cell drawn anew from its column with probability 0.1, and age moved by up to 5 years. "search" is one direction of the
check's search: nearest records, ties, exact recomparison. The bare product runs in two ways, before and after the
search, best of both: "plain" leaves the threads to BLAS, "split" gives every processor a single-threaded BLAS and some
rows, as the search does. "audit" is the whole check: reading, both directions, ranks.

Then CPU seconds of the whole audit, imports included, over those of one search by faiss' `IndexFlatL2` (one direction,
one neighbour, two threads), which run in turn; medians. `--before` names an interpreter with an earlier version, which
then runs in turn, too. faiss is no dependency: `pip install faiss-cpu`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from measured import in_a_process
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from tcdp_audit.core.base.resources import processors

ATTRIBUTES = 13
NOISE = 0.3
THREADS = 2
ROWS, COLUMNS = 1024, 4096  # the fastest of 256..2048 x 2048..8192 for the bare product


def numeric(records: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Originals and their masked counterparts, columns of mean 0 and sd 1."""
    rng = np.random.default_rng(0)
    mixing = 0.6 * rng.normal(size=(ATTRIBUTES, ATTRIBUTES)) + np.eye(ATTRIBUTES)
    original = _standardised(rng.normal(size=(records, ATTRIBUTES)) @ mixing)
    return original, _standardised(original + NOISE * rng.normal(size=original.shape))


def _standardised(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray((columns - columns.mean(axis=0)) / columns.std(axis=0, ddof=1))


def adult() -> tuple[Any, Any]:
    """Adult and a seeded masking of it, as pandas frames with a key."""
    import pandas as pd

    original = pd.read_csv(Path(os.environ["TCDP_AUDIT_DATA"]) / "adult/adult.csv")
    rng = np.random.default_rng(0)
    masked = original.copy()
    for name in original:
        drawn = rng.random(len(original)) < 0.1
        masked.loc[drawn, name] = rng.permutation(original[name])[drawn]
    masked["age"] = original["age"] + rng.integers(-5, 6, len(original))
    return original.assign(id=range(len(original))), masked.assign(id=range(len(original)))


def frames(records: int) -> tuple[Any, Any]:
    """The numeric tables as pandas frames with a key."""
    import pandas as pd

    names = [f"v{i}" for i in range(ATTRIBUTES)]
    return tuple(pd.DataFrame(one, columns=names).assign(id=range(records)) for one in numeric(records))  # type: ignore[return-value]


def bare(records: int, attributes: int, *, split: bool) -> float:
    """Wall seconds of the product alone."""
    rng = np.random.default_rng(1)
    left, right = (rng.normal(size=(records, attributes)).astype(np.float32) for _ in range(2))
    transposed = np.ascontiguousarray(right.T)

    def rows_from(row: int) -> None:
        rows = left[row : row + ROWS]
        out = np.empty((len(rows), COLUMNS), dtype=np.float32)
        for column in range(0, records, COLUMNS):
            block = transposed[:, column : column + COLUMNS]
            np.matmul(rows, block, out=out[:, : block.shape[1]])

    starts = range(0, records, ROWS)
    wall = time.perf_counter()
    if split:
        with threadpool_limits(1, "blas"), ThreadPoolExecutor(processors()) as pool:
            list(pool.map(rows_from, starts))
    else:
        for start in starts:
            rows_from(start)
    return time.perf_counter() - wall


def both_ways(records: int, attributes: int) -> list[float]:
    """Wall seconds of the plain and of the split product."""
    return [bare(records, attributes, split=split) for split in (False, True)]


def search(records: int | None) -> list[float]:
    """Wall seconds of one direction's search, and the linked share."""
    from tcdp_audit_plugins.checks.record_linkage.credit import credit

    both, released, original = _space(*(adult() if records is None else frames(records)))
    wall = time.perf_counter()
    share = credit(both, released, original).share
    return [time.perf_counter() - wall, float(share)]


def _space(original: Any, masked: Any) -> Any:
    import pyarrow as pa

    from tcdp_audit.core.engines.opening import open_engine
    from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions
    from tcdp_audit.core.release.coded import code_together
    from tcdp_audit_plugins.checks.record_linkage.standardised import space

    declared = policy(original)["attributes"].items()
    declarations = {name: AttributeDeclaration.model_validate(one) for name, one in declared}
    names = [name for name in declarations if name != "id"]
    tables = (pa.Table.from_pandas(frame) for frame in (masked, original))
    with open_engine(next(tables), 2**30) as one, open_engine(next(tables), 2**30) as two:
        released, known = code_together([one, two], names, declarations, Conventions())
    scales = {name: declarations[name].scale for name in names}
    both = space(released, known, scales, {})  # type: ignore[arg-type]
    return both, both.released.point, both.known.point


def policy(original: Any) -> dict[str, Any]:
    """Every column but the key is compared."""
    attributes: dict[str, Any] = {
        name: {"role": "quasi_identifier", "scale": "numeric" if original[name].dtype.kind in "if" else "nominal"}
        for name in original
        if name != "id"
    }
    attributes["id"] = {"role": "insensitive"}
    return {"version": 1, "key": "id", "attributes": attributes, "expect": [{"distance_record_linkage": {}}]}


def audited(records: int | None) -> list[float]:
    """Wall seconds of the whole audit, and the share."""
    import tcdp_audit

    original, masked = adult() if records is None else frames(records)
    wall = time.perf_counter()
    (outcome,) = tcdp_audit.audit(masked, policy(original), original).expectations
    return [time.perf_counter() - wall, outcome.observed or 0.0]


def cpu_of_audit(records: int) -> float:
    """CPU seconds of the whole audit of tables that are in memory, imports included."""
    original, masked = frames(records)
    start = time.process_time()
    import tcdp_audit

    tcdp_audit.audit(masked, policy(original), original)
    return time.process_time() - start


def cpu_of_faiss(records: int) -> float:
    """CPU seconds of one search; faiss compares in float32 and reports no ties."""
    import faiss

    faiss.omp_set_num_threads(THREADS)
    known, seekers = (np.ascontiguousarray(one, dtype=np.float32) for one in numeric(records))
    start = time.process_time()
    index = faiss.IndexFlatL2(known.shape[1])
    index.add(known)
    index.search(seekers, 1)
    return time.process_time() - start


def over_faiss(records: int, rounds: int, before: str | None) -> None:
    """One line: the audit of this version, and of an earlier one, over faiss."""
    contestants = {"faiss": (sys.executable, "faiss"), "now": (sys.executable, "audit")}
    if before:
        contestants["before"] = (before, "audit")
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, (python, what) in contestants.items():
            command = [python, __file__, "--one", what, str(records)]
            seconds[name].append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    medians = {name: median(some) for name, some in seconds.items()}
    figures = [f"{name} {one:.2f} s" for name, one in medians.items()]
    ratios = [f"{name} {one / medians['faiss']:.2f}" for name, one in medians.items() if name != "faiss"]
    print(f"{records:,} x {ATTRIBUTES}, CPU: {', '.join(figures)}; of faiss: {', '.join(ratios)}")


def row(name: str, records: int | None, attributes: int) -> None:
    """One line of the table."""
    size = records or 30_162
    before = in_a_process(both_ways, size, attributes)
    result = in_a_process(search, records)
    after = in_a_process(both_ways, size, attributes)
    whole = in_a_process(audited, records)
    plain, split = (min(pair) for pair in zip(before.answer, after.answer, strict=True))
    seconds, share = result.answer
    figures = [plain, split, seconds, seconds / plain, seconds / split, result.peak, whole.answer[0], whole.peak, share]
    print(f"{name:>18} " + " ".join(f"{one:>9.2f}" for one in figures))


def main() -> None:
    """Print the table, and the comparison with faiss."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="10000,30000,100000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--before", metavar="PYTHON", help="an interpreter that has an earlier version")
    parser.add_argument("--only-faiss", action="store_true", help="no table, only the comparison with faiss")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        what, records = arguments.one
        print((cpu_of_faiss if what == "faiss" else cpu_of_audit)(int(records)))
        return
    sizes = [int(size) for size in arguments.records.split(",")]
    if not arguments.only_faiss:
        table(sizes)
    if find_spec("faiss") is None:
        print("faiss is missing, so nothing is compared with it: pip install faiss-cpu")
        return
    for size in sizes:
        over_faiss(size, arguments.rounds, arguments.before)


def table(sizes: Sequence[int]) -> None:
    """The searches compared with the bare products."""
    columns = ("plain s", "split s", "search s", "of plain", "of split", "peak GiB", "audit s", "peak GiB", "share")
    print(f"{'':>18} " + " ".join(f"{name:>9}" for name in columns))
    row("Adult, 30,162 x 9", None, 9)
    for size in sizes:
        row(f"{size:,} x {ATTRIBUTES}", size, ATTRIBUTES)


if __name__ == "__main__":
    main()
