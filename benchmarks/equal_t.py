"""Three ways to the same t between groups and the table, as the table of docs/loss-of-remedies.md.

    python benchmarks/equal_t.py DATA

DATA is the folder that has adult/adult.csv. Buckets and Mondrian make the released table t-close in
the multiplicative distance; noise makes it so in distribution, over the randomness of the mechanism (`t_by_noise`).
Prints what each costs the quasi-identifiers (certainty penalty) and the confidential attribute: IL1s, the mean distance
of a released value from the true one in standard deviations over the root of 2; and the distance of the distributions.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from tcdp_audit import fix
from tcdp_audit.core.session.registry import Plugins

K, RECORDS = 20, 3_000
BOUNDS = (17, 90)
ROLES: dict[str, Any] = {
    "education": {"role": "quasi_identifier", "scale": "nominal"},
    "sex": {"role": "quasi_identifier", "scale": "nominal"},
    "marital-status": {"role": "quasi_identifier", "scale": "nominal"},
    "age": {"role": "sensitive", "scale": "numeric"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    path = parser.parse_args().data / "adult" / "adult.csv"
    table = csv.read_csv(path).slice(0, RECORDS).select([*ROLES])
    plugins = Plugins.load(external=False)
    print("| t | remedy | classes | penalty | IL1s of age | distance of distributions | s |")
    print("|---" * 7 + "|")
    for t in (2, 3, 5):
        for phrase, remedy in remedies(t).items():
            print(row(table, t, phrase, remedy, plugins), flush=True)


def remedies(t: int) -> dict[str, dict[str, Any]]:
    """Each remedy with its parameters."""
    noise = {"mechanism": "laplace", "bounds": [*BOUNDS]}
    by_noise = {"t": t, "k": K, "attributes": {"age": noise}}
    return {
        "bucketization": {"bucketization": {"attribute": "age", "t": t, "k": K}},
        "mondrian on whole years": {"mondrian": {}},
        "noise, each value": {"t_by_noise": by_noise},
        "noise, means of classes": {"t_by_noise": {**by_noise, "microaggregated": True}},
    }


def row(table: pa.Table, t: int, phrase: str, remedy: dict[str, Any], plugins: Plugins) -> str:
    """One line of the table, or why there is none."""
    closeness = {"t_closeness": {"distance": "multiplicative", "t": t}}
    expect = [{"k_anonymity": {"k": K}}, *([] if "t_by_noise" in remedy else [closeness])]
    start = time.perf_counter()
    done = fix(table, {"version": 1, "attributes": ROLES, "expect": expect, "remedy": [remedy]}, plugins=plugins)
    seconds = time.perf_counter() - start
    if not done.passed:
        return f"| {t} | {phrase} | not repaired: {done.log.reason} | | | | {seconds:.1f} |"
    loss, notes = done.log.loss, done.log.steps[0].notes
    age = loss["attributes"]["age"]
    figures = [age[name] for name in ("il1s", "distribution_distance")]
    shown = " | ".join("–" if one is None else f"{one:.3f}" for one in figures)
    classes = notes.get("classes", "–")
    return (
        f"| {t} | {phrase} | {classes} | {100 * loss['certainty_penalty']['after']:.1f} % | {shown} | {seconds:.1f} |"
    )


if __name__ == "__main__":
    main()
