"""How long a session takes to end a computation that is cancelled at a random moment.

    python benchmarks/cancelling.py --records 30000 --times 20

Prints, for audits, repairs by each of several remedies and frontiers, the longest and the median time from
`Session.cancel` to `Cancelled` in seconds, and how many computations had ended before.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from random import Random
from threading import Thread
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit import Cancelled, Session, frontier, open_session

EXPECT = [{"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 0.4, "attribute": "income"}}]
REMEDIES: dict[str, dict[str, Any]] = {
    "mondrian": {},
    "microaggregation": {"k": 5},
    "redistribution": {},
    "suppression": {"of": "cells"},
    "bucketization": {"attribute": "income", "t": 2, "k": 5},
    "data_shuffling": {"proximity": 0},
    "pram": {"retention": 0.8, "invariant": True},
    "rank_swapping": {"percent": 10},
    "correlated_noise": {"percent": 20},
    "noise": {"attribute": "income", "mechanism": "laplace", "epsilon": 1, "bounds": [0, 300000]},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=30_000)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--only", nargs="*")
    given = parser.parse_args()
    print("| computation | longest | median | had ended |\n|---|---|---|---|")
    for name, (policy, compute) in computations().items():
        if not given.only or name in given.only:
            with open_session(people(given.records), policy) as session:
                print(row(name, *waits(session, compute, given.times)), flush=True)


def computations() -> dict[str, tuple[dict[str, Any], Callable[[Session], object]]]:
    """What is cancelled: a policy, and the question under it."""
    asked: dict[str, tuple[dict[str, Any], Callable[[Session], object]]] = {
        "audit": (policy(), lambda session: session.audit(column_risks=True)),
        "frontier": (policy("mondrian"), frontier),
        "choice of remedies": (policy(), Session.fix),
    }
    return asked | {name: (policy(name), Session.fix) for name in REMEDIES}


def waits(session: Session, compute: Callable[[Session], object], times: int) -> tuple[list[float], int]:
    """The times from the request to its answer, and how many computations had ended before the request."""
    random, longest, seconds, ended = Random(5), 2.0, [], 0  # noqa: S311 - moments
    for _ in range(times):
        answers: list[float] = []

        def run(answers: list[float] = answers) -> None:
            try:
                compute(session)
            except Cancelled:
                answers.append(time.perf_counter())

        thread = Thread(target=run)
        thread.start()
        thread.join(random.uniform(0.01, longest))
        if not thread.is_alive():
            longest = max(longest / 2, 0.02)
        asked = time.perf_counter()
        session.cancel()
        thread.join()
        if answers:
            seconds.append(answers[0] - asked)
            longest = min(longest * 1.3, 60)
        else:
            ended += 1
    return seconds, ended


def row(name: str, seconds: list[float], ended: int) -> str:
    """One line of the table."""
    figures = (f"{max(seconds):.2f}", f"{statistics.median(seconds):.2f}") if seconds else ("–", "–")
    return f"| {name} | {' | '.join(figures)} | {ended} |"


def people(records: int) -> pa.Table:
    """Invented people."""
    random = np.random.default_rng(0)
    columns = {
        "age": np.clip(random.normal(45, 18, records), 0, 95).astype(int),
        "zip": [f"{one:05d}" for one in random.integers(10_000, 10_000 + max(50, records // 150), records)],
        "sex": random.choice(["f", "m"], records),
        "job": random.choice([f"job{one}" for one in range(30)], records),
        "income": random.lognormal(10, 0.6, records).round(-1).astype(int),
    }
    return pa.table(columns)


def policy(remedy: str | None = None) -> dict[str, Any]:
    """Demands that the release fails, and a remedy for them or none."""
    attributes = {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        **{name: {"role": "quasi_identifier"} for name in ("zip", "sex", "job")},
        "income": {"role": "sensitive", "scale": "numeric"},
    }
    remedies = {} if remedy is None else {"remedy": [{remedy: REMEDIES[remedy]}]}
    return {"version": 1, "attributes": attributes, "expect": EXPECT, **remedies}


if __name__ == "__main__":
    main()
