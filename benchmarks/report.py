"""The HTML report of Adult with 20 expectations and with 500: how long it takes after the audit, and how large it is.

    TCDP_AUDIT_DATA=... python benchmarks/report.py

Each report is written by a separate process, which has imported its libraries before, as the command does while it
audits. Medians of five, of the time that passed and of the time that the processor worked.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from startup import SENSITIVE, adult_policy

from tcdp_audit import audit

RUNS = 5
ON_EACH = (  # on each of the two sensitive attributes
    "distinct_l_diversity: {l: 2}",
    "entropy_l_diversity: {l: 2}",
    "recursive_cl_diversity: {c: 3, l: 2}",
    "alpha_k_anonymity: {alpha: 0.5, k: 5}",
    "t_closeness: {t: 0.2}",
    "t_closeness: {t: 0.2, distance: ordered}",
    "delta_disclosure: {delta: 1.5}",
    "basic_beta_likeness: {beta: 2}",
    "enhanced_beta_likeness: {beta: 2}",
)
TWENTY = ("k_anonymity: {k: 5}", f"homogeneity: {{at_most: 0.1, attribute: {SENSITIVE[0]}}}", *ON_EACH)
FIVE_HUNDRED = tuple(f"t_closeness: {{t: {number / 1000}}}" for number in range(1, 251))


class Report(NamedTuple):
    """Milliseconds, and bytes."""

    wall: float
    cpu: float
    size: int


def report(policy: Path) -> Report:
    """Audit, and write the report."""
    result = audit(None, policy, column_risks=True)
    html = next(one for one in result.plugins.reporters.values() if one.suffix == ".html")
    html.prepare()
    path = policy.with_suffix(".html")
    start, cpu = time.perf_counter(), time.process_time()
    result.write(path)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    return Report(1000 * wall, 1000 * cpu, path.stat().st_size)


def main() -> None:
    """Print a line for each number of expectations."""
    adult = adult_policy(Path(os.environ["TCDP_AUDIT_DATA"]) / "adult/adult.csv").partition("expect:")[0]
    for number, demands in ((20, TWENTY), (500, FIVE_HUNDRED)):
        with tempfile.TemporaryDirectory() as folder:
            policy = Path(folder) / "adult.tcdp.yaml"
            policy.write_text(adult + "expect:\n" + "".join(f"  - {one}\n" for one in demands), encoding="utf-8")
            with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
                runs = [pool.submit(report, policy).result() for _ in range(RUNS)]
        wall, cpu, size = (statistics.median(each) for each in zip(*runs, strict=True))
        print(f"{number} expectations: {wall:.0f} ms, {cpu:.0f} of a processor; {size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
