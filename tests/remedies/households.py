"""A household survey, and what somebody who joins the rows of a household reads in a repaired one, in plain Python."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.core.encoding.generalised import Interval, number_or_interval

OF_HOUSEHOLD = {"urbrur": 2, "roof": 5, "walls": 4, "water": 6, "electcon": 3}
UNIT = "household"
VALUES = {name: [f"{name}{value}" for value in range(count)] for name, count in OF_HOUSEHOLD.items()}


def survey(households: int, seed: int = 1) -> pa.Table:
    """One to six members each; five attributes of the household, age and sex of the person."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 7, households)
    columns: dict[str, Any] = {UNIT: np.repeat(np.arange(households), sizes)}
    for name, count in OF_HOUSEHOLD.items():
        chances = 0.5 ** np.arange(count)
        values = draw.choice(VALUES[name], households, p=chances / chances.sum())
        columns[name] = np.repeat(values, sizes)
    columns["sex"] = draw.choice(["f", "m"], sizes.sum())
    columns["age"] = draw.integers(0, 90, sizes.sum())
    columns["rooms"] = np.repeat(draw.integers(1, 9, households), sizes)
    order = draw.permutation(sizes.sum())
    return pa.table({name: np.asarray(column)[order] for name, column in columns.items()})


def survey_policy(
    *remedies: Any,
    known: tuple[str, ...] = ("urbrur", "roof", "walls", "water", "electcon", "sex"),
    k: int = 3,
    **more: Any,
) -> dict[str, Any]:
    """k households in each class."""
    attributes: dict[str, Any] = {
        name: {"role": "quasi_identifier" if name in known else "insensitive"}
        for name in (*OF_HOUSEHOLD, "sex", "age", "rooms", UNIT)
    }
    for name in ("age", "rooms"):
        attributes[name]["scale"] = "numeric"
    named = {"remedy": list(remedies)} if remedies else {}
    return {
        "version": 1,
        "unit": UNIT,
        "conventions": {"known_rows": "one"},  # the column of the unit stays, so cells of a household are read together
        "attributes": attributes,
        "expect": [{"k_anonymity": {"k": k}}],
        **named,
        **more,
    }


def values_of(name: str, cell: Any, trees: Mapping[str, Mapping[str, list[str]]]) -> frozenset[Any]:
    """What a cell stands for."""
    if name in ("age", "rooms"):
        if str(cell) == "*":
            return frozenset(range(100))
        interval = number_or_interval(str(cell))
        assert isinstance(interval, Interval)
        return frozenset(number for number in range(100) if interval.contains(number))
    if cell == "*":
        return frozenset(VALUES.get(name, ["f", "m"]))
    if cell in trees.get(name, {}):
        return frozenset(trees[name][cell])
    return frozenset(cell[1:-1].split(", ")) if cell.startswith("{") else frozenset([cell])


def read_off(
    table: pa.Table, names: tuple[str, ...], trees: Mapping[str, Mapping[str, list[str]]] | None = None
) -> tuple[int, int]:
    """Suppressed cells that other members give back, and generalised ones that become exact with those of others."""
    restored = exact = 0
    for name in names:
        cells = defaultdict(list)
        for unit, cell in zip(table[UNIT].to_pylist(), table[name].to_pylist(), strict=True):
            cells[unit].append(cell)
        for own in cells.values():
            common = frozenset.intersection(*(values_of(name, cell, trees or {}) for cell in own))
            for cell in own:
                restored += str(cell) == "*" and len(common) == 1
                exact += str(cell) != "*" and len(values_of(name, cell, trees or {})) > 1 and len(common) == 1
    return restored, exact
