"""What must hold of intervals on any table: tried on random ones, through files and policies."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import pytest
from figure_tables import audit_tables, table

Key = tuple[str, ...]
TOTAL = "T"
WIDE = {"feasibility_interval": {"sliding": 1_000_000}}  # no interval is so wide: each is reported
LONG = [8, pytest.param(60, marks=pytest.mark.long)]


@dataclass(frozen=True)
class Example:
    """A random table with all totals, and the cells that are hidden."""

    counts: Mapping[Key, int]
    hidden: frozenset[Key]

    @classmethod
    def of(cls, seed: int) -> Example:
        draw = random.Random(seed)  # noqa: S311 - no secret
        shape = draw.choice([(2,), (4,), (2, 2), (3, 2), (3, 3), (2, 2, 2)])
        leaves = {key: draw.choice([0, 0, 1, 2, 3, 9]) for key in product(*[[*"abcd"[:size]] for size in shape])}
        counts = {
            key: sum(n for leaf, n in leaves.items() if all(a in (TOTAL, b) for a, b in zip(key, leaf, strict=True)))
            for key in product(*[[*"abcd"[:size], TOTAL] for size in shape])
        }
        return cls(counts, frozenset(key for key in counts if draw.random() < 0.5))

    @property
    def dimensions(self) -> dict[str, Any]:
        return {f"d{place}": {"total": TOTAL} for place in range(len(next(iter(self.counts))))}

    def text(self, keys: Sequence[Key] | None = None) -> str:
        lines = [",".join([*self.dimensions, "patients"])]
        lines += [
            ",".join([*key, "x" if key in self.hidden else str(self.counts[key])]) for key in keys or [*self.counts]
        ]
        return "\n".join(lines) + "\n"

    def wide(self) -> str:
        """The same with the second dimension as columns."""
        columns = [*dict.fromkeys(key[1] for key in self.counts)]
        lines = [",".join(["d0", *columns])]
        for row in dict.fromkeys(key[0] for key in self.counts):
            own = ["x" if (row, one) in self.hidden else str(self.counts[row, one]) for one in columns]
            lines.append(",".join([row, *own]))
        return "\n".join(lines) + "\n"

    def with_hidden(self, hidden: frozenset[Key]) -> Example:
        return Example(self.counts, hidden)


Ends = dict[Key, tuple[float, float]]


def intervals(folder: Path, tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Ends]:
    """The interval of each hidden cell by its labels, for each `who` that tables are about."""
    (outcome,) = audit_tables(folder, tables, [WIDE], show_values=True).expectations
    assert outcome.status.value in ("failed", "passed")
    ends: dict[str, Ends] = {one["about"]["who"]: {} for one in tables.values()}
    for cell in outcome.failing_cells:
        figures = dict(cell.figures or {})
        low, high = (figures.get(end, figures.get("value")) for end in ("low", "high"))
        assert low is not None
        assert high is not None
        ends[tables[cell.table]["about"]["who"]][tuple(cell.labels.values())] = float(low), float(high)
    return ends


def declared(example: Example, text: str, who: str, **more: Any) -> dict[str, Any]:
    return table(text, example.dimensions, suppressed={"x": "unknown"}, about={"who": who}, **more)


def exact(folder: Path, examples: Mapping[str, Example]) -> dict[str, Ends]:
    """The intervals of examples that have nothing to do with one another."""
    return intervals(folder, {name: declared(one, one.text(), name) for name, one in examples.items()})


def batches(number: int) -> Iterator[dict[str, Example]]:
    """So many examples by name, 50 at a time."""
    for first in range(0, number, 50):
        yield {f"t{seed}": Example.of(seed) for seed in range(first, min(first + 50, number))}


@pytest.mark.parametrize("number", LONG)
def test_the_truth_is_in_every_interval(tmp_path: Path, number: int) -> None:
    for examples in batches(number):
        for name, ends in exact(tmp_path, examples).items():
            assert ends.keys() <= examples[name].hidden, name  # the others are unbounded
            assert all(low <= examples[name].counts[key] <= high for key, (low, high) in ends.items()), name


@pytest.mark.parametrize("number", LONG)
def test_publishing_more_never_widens(tmp_path: Path, number: int) -> None:
    for examples in batches(number):
        before = exact(tmp_path, examples)
        after = exact(
            tmp_path,
            {name: one.with_hidden(one.hidden - {min(one.hidden, default=())}) for name, one in examples.items()},
        )

        for name, ends in after.items():
            for key, (low, high) in ends.items():
                least, largest = before[name].get(key, (0, inf))
                assert least <= low, name
                assert high <= largest, name


@pytest.mark.parametrize("number", LONG)
def test_rows_and_layout_change_nothing(tmp_path: Path, number: int) -> None:
    for examples in batches(number):
        tables = {}
        for name, one in examples.items():
            keys = [*one.counts]
            random.Random(name).shuffle(keys)  # noqa: S311 - no secret
            tables[name] = declared(one, one.text(keys), name)
            if len(keys[0]) == 2:
                layout = {"rows": ["d0"], "columns": ["d1"]}
                tables[name] = declared(one, one.wide(), name, layout=layout)

        assert intervals(tmp_path, tables) == exact(tmp_path, examples)


@pytest.mark.parametrize("number", LONG)
def test_the_order_of_tables_changes_nothing(tmp_path: Path, number: int) -> None:
    for examples in batches(number):
        tables, others = {}, {}
        for name, one in examples.items():
            others[name] = one.with_hidden(Example.of(int(name[1:]) + 1000).hidden & one.counts.keys())
            tables[name] = declared(one, one.text(), name)
            tables[f"other_{name}"] = declared(others[name], others[name].text(), name)

        together = intervals(tmp_path, tables)

        assert intervals(tmp_path, dict(reversed(tables.items()))) == together
        for name, ends in together.items():
            assert ends.keys() <= examples[name].hidden | others[name].hidden, name
            for key in examples[name].hidden ^ others[name].hidden:
                assert ends[key] == (examples[name].counts[key],) * 2, name


def test_zeros_that_are_hidden_are_known_from_their_total(tmp_path: Path):
    example = Example({("a",): 0, ("b",): 0, (TOTAL,): 0}, frozenset([("a",), ("b",)]))

    assert exact(tmp_path, {"t": example})["t"] == {("a",): (0, 0), ("b",): (0, 0)}


def test_nothing_bounds_a_table_of_one_cell(tmp_path: Path):
    tables = {"t": table("row,patients\na,x\n", {"row": {}}, suppressed={"x": "unknown"})}
    expect = [{"feasibility_interval": {}}, {"derivable_small_count": {"k": 10}}]
    audit = audit_tables(tmp_path, tables, expect)

    assert [one.status.value for one in audit.expectations] == ["passed", "passed"]
    assert audit.expectations[0].details["narrowest"] is None


def test_eight_dimensions_are_refused_by_their_size(tmp_path: Path):
    names = [f"d{place}" for place in range(8)]
    lines = [",".join([*names, "patients"]), *(",".join([str(n)] * 8 + ["1"]) for n in range(40))]
    tables = {"t": table("\n".join(lines) + "\n", {name: {"total": TOTAL} for name in names})}

    with pytest.raises(Exception, match="cells"):
        audit_tables(tmp_path, tables, [WIDE])
