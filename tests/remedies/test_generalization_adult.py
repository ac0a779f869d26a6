"""Adult with seven hierarchies: the optimum against every node of the lattice, counted from the file itself."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tcdp_audit import fix
from tcdp_audit.core.session.registry import Plugins

NAMES = ("age", "education", "marital-status", "native-country", "race", "sex", "workclass")
PLUGINS = Plugins.load(external=False)


def _rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "adult.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _branches(folder: Path, name: str) -> list[list[str]]:
    with (folder / "hierarchies" / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=";"))


def _penalty(name: str, label: str, branches: list[list[str]], ages: list[int]) -> float:
    if label == "*":
        return 1.0
    if name == "age":
        low, high = (max(int(end), min(ages)) for end in label.split("-")) if "-" in label else (0, 0)
        return (min(high, max(ages)) - low) / (max(ages) - min(ages)) if high else 0.0
    below = sum(label in branch for branch in branches)
    return below / len(branches) if below > 1 else 0.0


def _levels(folder: Path, rows: list[dict[str, str]], name: str) -> list[tuple[np.ndarray, float]]:
    """For each level the code of each record's label, and the mean penalty."""
    branches, ages = _branches(folder, name), [int(row["age"]) for row in rows]
    upward = {branch[0]: branch for branch in branches}
    actual = []
    for level in range(len(branches[0])):
        labels = [upward[row[name]][level] for row in rows]
        counts = Counter(labels)
        cost = sum(_penalty(name, label, branches, ages) * n for label, n in counts.items()) / len(rows)
        actual.append((np.unique(labels, return_inverse=True)[1], cost))
    return actual


def test_k_5_is_optimal_over_the_complete_lattice(data: Path) -> None:
    folder = data / "adult"
    rows = _rows(folder)
    levels = [_levels(folder, rows, name) for name in NAMES]
    classes, sizes = _grouped([columns[0][0] for columns in levels])
    first = np.unique(classes, return_index=True)[1]  # a record of each combination of values stands for all of it
    retained = {}
    for node in product(*(range(len(columns)) for columns in levels)):
        codes = [columns[level][0][first] for columns, level in zip(levels, node, strict=True)]
        if np.bincount(_grouped(codes)[0], weights=sizes).min() >= 5:
            retained[node] = sum(columns[level][1] for columns, level in zip(levels, node, strict=True)) / len(NAMES)
    top = tuple(len(columns) - 1 for columns in levels)
    assert np.prod([len(columns) for columns in levels]) == 2160
    assert retained.pop(top) == 1  # nothing would be left to release
    best = min(retained, key=lambda node: retained[node])

    done = fix(folder / "adult.csv", _policy(folder, [{"k_anonymity": {"k": 5}}]), plugins=PLUGINS)
    notes = done.log.steps[0].notes
    assert done.passed
    assert notes["nodes"] == 2160
    assert notes["evaluated"] < 200
    assert tuple(level for level, _ in notes["levels"].values()) == best == (4, 3, 1, 2, 0, 0, 2)
    assert notes["loss"] == pytest.approx(retained[best], rel=1e-12)
    assert notes["loss"] == pytest.approx(0.644877, abs=1e-6)


@pytest.mark.long
def test_records_that_stay_as_one_group_keep_the_mix_that_closeness_is_measured_against(data: Path) -> None:
    """Dropping the 1,384 records would move the distribution: 1,179 others would then be at t = 0.2028."""
    expect = [{"k_anonymity": {"k": 5}}, {"t_closeness": {"t": 0.2, "distance": "hierarchical"}}]
    policy = _policy(data / "adult", expect, suppression=0.05)
    done = fix(data / "adult" / "adult.csv", policy, plugins=PLUGINS)
    notes = done.log.steps[0].notes
    assert done.passed
    assert (notes["suppressed"], notes["grouped"], done.log.suppressed) == (1384, True, 0)
    assert notes["loss"] == pytest.approx(0.630921, abs=1e-6)
    assert float(done.after.expectations[1].observed or 1) == pytest.approx(0.198489, abs=1e-6)


def _policy(folder: Path, expect: list[dict[str, Any]], **parameters: Any) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        name: {
            "role": "quasi_identifier",
            "scale": "numeric" if name == "age" else "nominal",
            "hierarchy": str(folder / "hierarchies" / f"{name}.csv"),
        }
        for name in NAMES
    }
    attributes["occupation"] = {"role": "sensitive", "hierarchy": str(folder / "hierarchies" / "occupation.csv")}
    attributes["salary-class"] = {"role": "insensitive"}
    return {"version": 1, "attributes": attributes, "expect": expect, "remedy": [{"generalization": parameters}]}


def _grouped(codes: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Class number of each row, and the sizes of the classes."""
    key = np.zeros(len(codes[0]), dtype=np.int64)
    for column in codes:
        key = key * (int(column.max()) + 1) + column
    _, classes, sizes = np.unique(key, return_inverse=True, return_counts=True)
    return classes, sizes
