"""Questions to a session after one thing has changed: a threshold, a role, a level; in CPU seconds, next to `audit`.

    python benchmarks/sessions.py [FOLDER] [--records 8000,1000000,5000000] [--rounds 5] [--few]
    python benchmarks/sessions.py soak [--minutes 5]

The table has four quasi-identifiers of 34,560 combinations, one of them with a hierarchy, and two sensitive
attributes. The policy asks for k-anonymity, distinct l-diversity and t-closeness; with `--few` not for t-closeness of
the cost, which has thousands of values and takes a third of the time. Each question is asked once before
it is timed with another value, so that what is timed is the change alone. Medians of CPU seconds of the whole process
are printed.

`soak` asks one session random questions, with levels and cancellations, and prints the resident memory of the process,
the bytes of the cache and the number of its values as time goes on: none of them may go on to grow.
"""

from __future__ import annotations

import argparse
import copy
import gc
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tcdp_audit

SIZES = {"age": 90, "sex": 2, "region": 16, "month": 12}
AGES = {
    "*": {f"{decade}-{decade + 9}": [str(age) for age in range(decade, decade + 10)] for decade in range(0, 90, 10)}
}
ATTRIBUTES: dict[str, dict[str, Any]] = {
    **{name: {"role": "quasi_identifier"} for name in SIZES},
    "age": {"role": "quasi_identifier", "hierarchy": AGES},
    "diagnosis": {"role": "sensitive"},
    "cost": {"role": "sensitive", "scale": "numeric"},
}
EXPECT: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 5}},
    {"distinct_l_diversity": {"l": 2, "attribute": "diagnosis"}},
    {"t_closeness": {"t": 0.3, "attribute": "diagnosis"}},
    {"t_closeness": {"t": 0.2, "attribute": "cost", "distance": "ordered"}},
]
POLICY: dict[str, Any] = {"version": 1, "attributes": ATTRIBUTES, "expect": EXPECT}


def write(path: Path, records: int) -> None:
    """A table of people: a skewed diagnosis, costs of 8,000 values at most."""
    random = np.random.default_rng(1)
    columns: dict[str, Any] = {name: random.integers(0, size, records).astype(str) for name, size in SIZES.items()}
    columns["diagnosis"] = np.char.add("d", np.minimum(random.geometric(0.1, records), 40).astype(str))
    columns["cost"] = random.integers(1, min(records, 8000), records)
    pq.write_table(pa.table(columns), path)


def threshold(number: int) -> dict[str, Any]:
    """The policy with another k."""
    policy = copy.deepcopy(POLICY)
    policy["expect"][0]["k_anonymity"]["k"] = 5 + number
    return policy


def role(number: int) -> dict[str, Any]:
    """The policy without one of the quasi-identifiers."""
    policy = copy.deepcopy(POLICY)
    policy["attributes"][list(SIZES)[1 + number % (len(SIZES) - 1)]] = {"role": "insensitive"}
    return policy


def cpu(call: Callable[[], Any]) -> float:
    """CPU seconds of a call, in all threads."""
    start = time.process_time()
    call()
    return time.process_time() - start


def rows(path: Path, rounds: int) -> Iterator[tuple[str, float]]:
    """What is asked, and its CPU seconds."""
    yield "audit", median(cpu(lambda: tcdp_audit.audit(path, POLICY)) for _ in range(min(rounds, 3)))
    with tcdp_audit.open_session(path, POLICY) as session:
        yield "first question", cpu(session.audit)
        yield "same again", median(cpu(session.audit) for _ in range(rounds))
        yield "another threshold", median(cpu(lambda n=n: session.audit(threshold(n))) for n in range(1, rounds + 1))
        yield "another role", median(cpu(lambda n=n: session.audit(role(n))) for n in range(len(SIZES) - 1))
        yield "role as before", median(cpu(lambda n=n: session.audit(role(n))) for n in range(len(SIZES) - 1))
        yield "another level", median(cpu(session.levels({"age": level}).audit) for level in (1, 2))
        yield "level as before", median(cpu(session.levels({"age": level}).audit) for level in (1, 2))


def resident() -> float:
    """The resident memory of the process in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def soak(minutes: float) -> None:
    """Ask random questions for some time, and print what the process holds every tenth of it."""
    sys.path.append(str(Path(__file__).parents[1] / "tests" / "session"))
    import session_questions as asked

    draw, questions, start, step = asked.drawn(1), 0, time.monotonic(), 1
    with tcdp_audit.open_session(asked.table(draw, 2000), asked.policy(draw)) as session:
        cache = session._tables.cache  # noqa: SLF001 - what it holds is what is measured
        cache.room = 2**25
        while step <= 10:
            view, policy = session.levels(asked.levels(draw)), asked.policy(draw)
            asked.cancel(view, policy, draw.randrange(6)) if draw.random() < 0.2 else view.audit(policy)
            questions += 1
            if time.monotonic() - start >= step * 6 * minutes:
                gc.collect()
                held = f"cache {cache.size / 2**20:5.1f} MiB in {cache.count:4} values"
                print(f"{step * 6 * minutes:5.0f} s {questions:6} questions {resident():7.1f} MiB {held}", flush=True)
                step += 1


def main() -> None:
    """Print a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--records", default="8000,1000000,5000000")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--few", action="store_true")
    parser.add_argument("--minutes", type=float, default=5)
    given = parser.parse_args()
    if str(given.folder) == "soak":
        soak(given.minutes)
        return
    if given.few:
        EXPECT.pop()
    with tempfile.TemporaryDirectory() as temporary:
        for records in map(int, given.records.split(",")):
            path = (given.folder or Path(temporary)) / f"people-{records}.parquet"
            if not path.exists():
                write(path, records)
            tcdp_audit.audit(path, POLICY)  # imports
            print(f"{records:,} records", flush=True)
            for name, seconds in rows(path, given.rounds):
                print(f"  {name:20} {1000 * seconds:8.0f} ms", flush=True)


if __name__ == "__main__":
    main()
