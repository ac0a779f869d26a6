"""The best full-domain generalisation of Adult over seven hierarchies, compared with bare groupings of its records.

    python benchmarks/generalization.py DATA [--suppression 0 0.02] [--loss ncp discernibility average_class_size]

DATA is the folder that has adult/adult.csv and adult/hierarchies. Prints for each policy, limit and loss the nodes of
the lattice, how many of them were evaluated, the levels chosen, and the processor seconds of the remedy (reading the
file included) as a ratio to one numpy grouping of all records for each node of the lattice, and for each evaluated
node, which answers for k alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "repair"))
import adult

from tcdp_audit import load_policy
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies.generalization import GENERALIZATION
from tcdp_audit_plugins.remedies.generalization.levels import generalization_levels

BUDGET = 2**31
SAMPLED = 60  # nodes that the bare groupings are timed on


def opened(data: Path, expect: list[dict[str, Any]], plugins: Plugins) -> RemedyView:
    """A fresh view, so that nothing is read beforehand."""
    policy = load_policy(adult.policy(data, expect), plugins)
    return RemedyView(Release(open_engine(data / "adult" / "adult.csv", BUDGET), policy), (), 0, lambda _: ())


def bare(view: RemedyView) -> float:
    """Processor seconds of one grouping: the labels of a node, one key per record, and its distinct values."""
    levels_of_all = [generalization_levels(view, one, None) for one in view.quasi_identifiers]
    random = np.random.default_rng(1)
    start = time.process_time()
    for _ in range(SAMPLED):
        key = np.zeros(view.records, dtype=np.int64)
        for one in levels_of_all:
            level = one.levels[random.integers(len(one.levels))]
            key = key * len(level.labels) + level.codes[one.attribute.codes]
        np.unique(key, return_counts=True)
    return (time.process_time() - start) / SAMPLED


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--suppression", nargs="+", default=["0", "0.02"])
    parser.add_argument("--loss", nargs="+", default=["ncp"])
    arguments = parser.parse_args()
    plugins = Plugins.load(external=False)
    grouping = bare(opened(arguments.data, adult.POLICIES["k=5"], plugins))
    print(f"one bare grouping of all records: {1000 * grouping:.2f} ms")
    for name, expect in adult.POLICIES.items():
        for suppression in arguments.suppression:
            for loss in arguments.loss:
                run(opened(arguments.data, expect, plugins), name, {"suppression": suppression, "loss": loss}, grouping)


def run(view: RemedyView, name: str, parameters: dict[str, str], grouping: float) -> None:
    """Print one line."""
    asked = GENERALIZATION.parameters.model_validate(parameters)
    start = time.process_time()
    notes = GENERALIZATION.apply(view, asked).notes
    seconds = time.process_time() - start
    levels = " ".join(f"{level}/{height}" for level, height in notes["levels"].values())
    print(
        f"{name}; {parameters['loss']}, at most {float(parameters['suppression']):.0%} suppressed: {seconds:.2f} s; "
        f"{notes['evaluated']:,} of {notes['nodes']:,} nodes looked at ({notes['pruning']}); "
        f"{seconds / (grouping * notes['nodes']):.3f} of grouping for every node, "
        f"{seconds / (grouping * notes['evaluated']):.2f} of grouping for those; "
        f"levels {levels}, loss {notes['loss']:,.4f}, {notes['suppressed']:,} records suppressed",
        flush=True,
    )


if __name__ == "__main__":
    main()
