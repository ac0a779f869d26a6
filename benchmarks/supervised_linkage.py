"""Supervised record linkage of masked Census: what the search finds, what no distance exceeds, and how long both take.

    python benchmarks/supervised_linkage.py FOLDER [--noise 1.5]

FOLDER holds `casc/census.csv`. Records are drawn by a seed; the release has normal noise of so many standard deviations
in every attribute. Prints, for each family, the records, the attributes, the expected links by equal weights and by the
best distance, the certified bound, whether time ended the search, and CPU and wall seconds of the whole audit.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measured import in_a_process

SIZES = [("weighted_mean", 1000, 6), ("owa", 1000, 6), ("choquet", 250, 6), ("choquet", 500, 6), ("choquet", 1000, 6)]
SIZES += [("bilinear", 250, 6), ("bilinear", 500, 6), ("bilinear", 1000, 6), ("bilinear", 500, 12)]


def tables(path: str, records: int, attributes: int, noise: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Release and original with a common key."""
    census, random = pd.read_csv(path), np.random.default_rng(0)
    original = census.iloc[random.permutation(len(census))[:records], :attributes].reset_index(drop=True).astype(float)
    released = original + random.normal(size=original.shape) * original.std().to_numpy() * noise
    return released.assign(id=range(records)), original.assign(id=range(records))


def linked(path: str, family: str, records: int, attributes: int, noise: float) -> Any:
    """The audit, imports included."""
    import tcdp_audit

    released, original = tables(path, records, attributes, noise)
    roles: dict[str, Any] = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in original}
    document = {
        "version": 1,
        "key": "id",
        "attributes": roles | {"id": {"role": "insensitive"}},
        "expect": [{"supervised_record_linkage": {"family": family}}],
    }
    details = tcdp_audit.audit(released, document, original).expectations[0].details
    names = ("equal_weights", "worst_case", "certified_bound", "time_ended")
    return [
        float(details[names[0]] * records),
        float(details[names[1]] * records),
        *(details[one] for one in names[2:]),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--noise", type=float, default=1.5)
    arguments = parser.parse_args()
    path = str(arguments.folder / "casc" / "census.csv")
    columns = {"records": 8, "attr.": 6, "equal": 8, "best": 8, "bound": 7, "ended": 7, "CPU s": 8, "wall s": 8}
    print(f"{'family':<14}" + "".join(f"{name:>{width}}" for name, width in columns.items()))
    for family, records, attributes in SIZES:
        run = in_a_process(linked, path, family, records, attributes, arguments.noise)
        equal, best, bound, ended = run.answer
        print(
            f"{family:<14}{records:>8,}{attributes:>6}{equal:>8.1f}{best:>8.1f}{bound:>7,}{ended!s:>7}"
            f"{run.cpu:>8.2f}{run.seconds:>8.2f}"
        )


if __name__ == "__main__":
    main()
