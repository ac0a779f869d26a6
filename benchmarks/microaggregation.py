"""MDAV and a bare sweep of n / k times the squared distances of all n records to one of them, in numpy.

    python benchmarks/microaggregation.py [--records 10000,30000] [--k 10] [--refined]

13 correlated numeric attributes. "plain" is `((records - point) ** 2).sum(axis=1)`; "product" is the fastest sweep
known here, precomputed squared lengths less twice a product of vector and matrix, columns contiguous. MDAV itself takes
three sweeps for two clusters, over the remaining records: three quarters of the bare work, and then finds the farthest
and the nearest in each. Seconds are of the process, BLAS on one thread, the best of several runs. "loss" is 100
SSE/SST.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from measured import in_a_process
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

ATTRIBUTES = 13
RUNS = 3

Table = NDArray[np.float64]


def correlated(records: int) -> Table:
    """Standardised columns."""
    rng = np.random.default_rng(0)
    mixing = 0.6 * rng.normal(size=(ATTRIBUTES, ATTRIBUTES)) + np.eye(ATTRIBUTES)
    table = rng.normal(size=(records, ATTRIBUTES)) @ mixing
    return np.asarray((table - table.mean(axis=0)) / table.std(axis=0))


def best(work: Callable[[], object]) -> float:
    """Least process seconds of several runs."""
    seconds = []
    with threadpool_limits(1, "blas"):
        for _ in range(RUNS):
            start = time.process_time()
            work()
            seconds.append(time.process_time() - start)
    return min(seconds)


def plain(records: int, k: int) -> float:
    """The sweep as it is usually written."""
    table = correlated(records)

    def sweep() -> None:
        for point in table[: records // k]:
            ((table - point) ** 2).sum(axis=1)

    return best(sweep)


def product(records: int, k: int) -> float:
    """The sweep by products."""
    table = correlated(records)
    columns, lengths = np.ascontiguousarray(table.T), np.einsum("ij,ij->i", table, table)

    def sweep() -> None:
        for point in table[: records // k]:
            distances = point @ columns
            distances *= -2
            distances += lengths
            distances += point @ point

    return best(sweep)


def clustered(records: int, k: int, method: str) -> list[float]:
    """Process seconds of a method, and its loss."""
    from tcdp_audit_plugins.remedies.microaggregation.mdav import mdav
    from tcdp_audit_plugins.remedies.microaggregation.points import Points, loss_percent
    from tcdp_audit_plugins.remedies.microaggregation.refined import refined_clusters

    points = Points(correlated(records))
    cluster = mdav if method == "mdav" else refined_clusters
    return [best(lambda: cluster(points, k)), loss_percent(points, cluster(points, k))]


def row(records: int, k: int, method: str) -> None:
    """One line of the table."""
    sweeps = [in_a_process(one, records, k).answer for one in (plain, product)]
    result = in_a_process(clustered, records, k, method)
    seconds, loss = result.answer
    figures = [*sweeps, seconds, seconds / sweeps[0], seconds / sweeps[1], result.peak, loss]
    print(f"{method:>8} {records:>10,} " + " ".join(f"{one:>10.3f}" for one in figures))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", default="10000,30000")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--refined", action="store_true", help="the better heuristic, too")
    given = parser.parse_args()
    columns = ("plain s", "product s", "method s", "of plain", "of product", "peak GiB", "loss %")
    print(f"{'':>8} {'records':>10} " + " ".join(f"{name:>10}" for name in columns))
    for method in ("mdav", "refined") if given.refined else ("mdav",):
        for records in given.records.split(","):
            row(int(records), given.k, method)


if __name__ == "__main__":
    main()
