"""What remedies cost on Adult under six policies, as the table of docs/loss-of-remedies.md.

    python benchmarks/loss_of_remedies.py DATA [--schedules]

DATA is the folder that has adult/adult.csv and adult/hierarchies. Prints, for each policy and remedy, the measures of
the seed paper's figure 4 (discernibility, average class size) and ours, and how long `fix` took. With
`--schedules`, prints the certainty penalty of each schedule of redistribution instead.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "repair"))
import adult

from tcdp_audit import fix
from tcdp_audit.core.session.registry import Plugins

REMEDIES: dict[str, dict[str, Any]] = {
    "mondrian": {"mondrian": {}},
    "redistribution": {"redistribution": {}},
    "generalization": {"generalization": {}},
    "generalization, 2 % suppressed": {"generalization": {"suppression": 0.02}},
    "generalization, 5 % suppressed, local recoding": {"generalization": {"suppression": 0.05, "local_recoding": True}},
}
COLUMNS = (
    *("policy", "remedy", "k", "class size / k", "discernibility, millions", "penalty", "pMSE ratio"),
    *("suppressed", "s"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--schedules", action="store_true")
    given = parser.parse_args()
    data, plugins = given.data, Plugins.load(external=False)
    if given.schedules:
        print_schedules(data, plugins)
        return
    print(f"| {' | '.join(COLUMNS)} |")
    print("|---" * len(COLUMNS) + "|")
    for name, expect in adult.POLICIES.items():
        for phrase, remedy in REMEDIES.items():
            start = time.perf_counter()
            done = fix(data / "adult" / "adult.csv", adult.policy(data, expect, remedy), plugins=plugins)
            print(row(name, phrase, done, time.perf_counter() - start), flush=True)


def print_schedules(data: Path, plugins: Plugins) -> None:
    """Print the penalty of each schedule under each policy, and which one was used."""
    for name, expect in adult.POLICIES.items():
        start = time.process_time()
        done = fix(
            data / "adult" / "adult.csv", adult.policy(data, expect, REMEDIES["redistribution"]), plugins=plugins
        )
        notes = done.log.steps[0].notes
        penalties = " | ".join(f"{schedule} {100 * one:.2f} %" for schedule, one in notes["penalties"].items())
        print(f"| {name} | {notes['schedule']} | {penalties} | {time.process_time() - start:.1f} CPU s |", flush=True)


def row(name: str, reported: str, done: Any, seconds: float) -> str:
    """One line of the table, or why there is none."""
    loss = done.log.loss
    if not done.passed:
        return f"| {name} | {reported} | not repaired: {done.log.reason} |"
    k = done.after.expectations[0].observed
    propensity = loss["propensity"].get("ratio")
    return (
        f"| {name} | {reported} | {k:,.0f} | {loss['average_class_size']['after']:.2f} "
        f"| {loss['discernibility']['after'] / 1e6:.2f} | {100 * loss['certainty_penalty']['after']:.2f} % "
        f"| {'–' if propensity is None else f'{propensity:,.1f}'} | {suppressed(done)} | {seconds:.1f} |"
    )


def suppressed(done: Any) -> str:
    """Records that were dropped, or that stay and show no quasi-identifier."""
    notes = done.log.steps[0].notes
    hidden = (notes.get("local_recoding") or notes).get("suppressed", 0) - done.log.suppressed
    return f"{hidden:,} hidden" if hidden else f"{done.log.suppressed:,}"


if __name__ == "__main__":
    main()
