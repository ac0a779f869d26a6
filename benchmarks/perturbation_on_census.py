"""What remedies that perturb cells cost on the Census file, as the tables of docs/perturbation-on-census.md.

    python benchmarks/perturbation_on_census.py DATA

DATA is the folder that has casc/census.csv. For each set of demands and each remedy: the weakest strength that `fix`
finds, the figures of the audit, the shares of people of whom an intruder who knows the method is certain, and whom
that intruder finds, and the loss: IL1s, the mean absolute change of correlations, the mean distance of the
distributions, and the total by which plans are compared.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from tcdp_audit import fix
from tcdp_audit.core.session.registry import Plugins

LINKAGE = {"distance_record_linkage": {"at_most": 0.1}}
INTERVALS = {"rank_interval_disclosure": {"p": 10, "at_most": 0.2}}
DEMANDS = {"linkage": [LINKAGE], "linkage and intervals": [LINKAGE, INTERVALS]}
REMEDIES: dict[str, dict[str, Any]] = {
    "rank_swapping": {"rank_swapping": {}},
    "rank_swapping, p_distribution": {"rank_swapping": {"variant": "p_distribution"}},
    "data_shuffling": {"data_shuffling": {}},
    "data_shuffling, proximity 0": {"data_shuffling": {"proximity": 0}},
    "rounding": {"rounding": {}},
    "microaggregation": {"microaggregation": {}},
    "correlated_noise": {"correlated_noise": {}},
}
STRENGTHS = ("percent", "proximity", "coarsest", "k")
COLUMNS = (
    *("demands", "remedy", "strength", "linked", "inside intervals", "certain, who knows", "right, who knows"),
    *("IL1s", "correlations", "distributions", "total", "CPU s"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    census = pyarrow.csv.read_csv(parser.parse_args().data / "casc" / "census.csv")
    plugins = Plugins.load(external=False)
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    for demands, expect in DEMANDS.items():
        for name, remedy in REMEDIES.items():
            start = time.process_time()
            done = fix(census, policy(census, expect, remedy), census, plugins=plugins)
            print(row(demands, name, done, time.process_time() - start), flush=True)


def policy(census: pa.Table, expect: list[dict[str, Any]], remedy: dict[str, Any]) -> dict[str, Any]:
    """Every attribute a numeric quasi-identifier, the original aligned row by row."""
    attributes = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in census.column_names}
    return {
        "version": 1,
        "rows_aligned": True,
        "seed": 20261123,
        "attributes": attributes,
        "expect": [*expect, *([INTERVALS_MEASURED] if len(expect) == 1 else [])],
        "remedy": [remedy],
    }


INTERVALS_MEASURED = {"rank_interval_disclosure": {"p": 10}}


def row(demands: str, name: str, done: Any, seconds: float) -> str:
    """One line of the table, or why there is none."""
    if not done.passed:
        reason = next((one.error for one in done.log.tried if one.error), done.log.reason)
        return f"| {demands} | {name} | {reason} |" + " |" * (len(COLUMNS) - 4) + f" {seconds:.1f} |"
    notes, loss = done.log.steps[0].notes, done.log.loss
    strength = next(f"{key} {notes[key]:g}" for key in STRENGTHS if key in notes)
    linked, inside = (one.observed for one in done.after.expectations)
    actual = (one["distribution_distance"] for one in loss["attributes"].values())
    distances = [one for one in actual if one is not None]
    certain, right = known(done.log.attacks[0])
    return (
        f"| {demands} | {name} | {strength} | {linked:.3f} | {inside:.3f} | {certain} | {right} "
        f"| {loss['il1s']['value']:.3f} | {loss['correlation_change']['value']:.3f} "
        f"| {sum(distances) / len(distances):.4f} "
        f"| {loss['total']:.3f} | {seconds:.1f} |"
    )


def known(attack: Any) -> tuple[str, str]:
    """The shares of the people of whom an intruder who knows the method is certain, and finds in the mean."""
    outcome = attack.outcome
    if outcome is None:
        return "not run", "not run"
    details, people = outcome.details, outcome.records.total
    certain = f"{int(details['certain']) / people:.3f}" if "certain" in details else ""
    return certain, f"{float(details['expected_correct']) / people:.3f}"


if __name__ == "__main__":
    main()
