"""Classes of the labels that the rows of a unit have in common, beside the same read off slowly in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st

from tcdp_audit import audit, failing_records
from tcdp_audit.core.encoding.generalised import number_or_interval
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.unit_readings import as_read
from tcdp_audit.core.session.registry import Plugins

ROOFS = ["straw", "tin", "tile", "*", "{straw, tin}", "{tile, tin}", "{slate, straw}"]
AGES = ["20", "34", "35", "[20, 35)", "[34, 50]", ">=0", ">34", "*"]
NODES = {"*": {"soft": {"straw": None, "reed": None}, "hard": {"tile": None, "tin": None}}}
QUASI = {"role": "quasi_identifier"}


def policy(k: int = 2, **attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": 1,
        "unit": "house",
        "conventions": {"known_rows": "one"},
        "attributes": {"house": {"role": "insensitive"}, **attributes},
        "expect": [{"k_anonymity": {"k": k}}],
    }


def k_of(table: pd.DataFrame, asked: dict[str, Any]) -> float | None:
    return next(one.observed for one in audit(table, asked).outcomes if one.check == "k_anonymity")


def test_a_suppressed_cell_is_read_off_another_row_of_its_unit() -> None:
    table = pd.DataFrame({"house": [1, 1, 2, 2, 3, 3], "roof": ["tin", "*", "straw", "*", "straw", "straw"]})
    assert k_of(table, policy(roof=QUASI)) == 1  # tin: house 1 alone; as written, "tin" and "*" would be 1 and 2
    table["roof"] = ["tin", "*", "tin", "*", "straw", "*"]
    table = pd.concat([table, pd.DataFrame({"house": [2, 2], "roof": ["tin", "*"]})])
    assert k_of(table, policy(roof=QUASI)) == 1  # the three stars are no class


def test_labels_of_a_unit_are_intersected() -> None:
    written = ["[20, 40)", "[30, 50)", "[20, 40)", "[30, 50)", "[20, 40)", "[20, 40)", "[30, 50)", "[30, 50)"]
    table = pd.DataFrame({"house": [1, 1, 2, 2, 3, 3, 4, 4], "age": written})
    assert k_of(table, policy(age={**QUASI, "scale": "numeric"})) == 1  # houses 3 and 4; 1 and 2 are [30, 40)
    assert k_of(table[:4], policy(age={**QUASI, "scale": "numeric"})) == 2


def test_a_node_is_read_as_the_value_below_it() -> None:
    table = pd.DataFrame({"house": [1, 1, 2, 2, 3, 3], "roof": ["tin", "hard", "hard", "hard", "tin", "tin"]})
    asked = policy(roof={**QUASI, "hierarchy": NODES})
    assert k_of(table, asked) == 1  # house 2; houses 1 and 3 are tin
    assert k_of(table[table["house"] != 2], asked) == 2


def test_an_attribute_that_differs_within_units_stays_as_it_is_written() -> None:
    table = pd.DataFrame({"house": [1, 1, 2, 2, 3, 3], "sex": ["f", "*", "f", "m", "m", "*"]})
    assert k_of(table, policy(sex=QUASI)) == 2


def test_one_faulty_unit_in_a_hundred_hides_nothing() -> None:
    houses = [house for house in range(300) for _ in range(2)]
    roofs = ["tin" if house % 2 else "straw" for house in houses]
    roofs[0], roofs[101] = "tile", "*"  # house 0 contradicts itself; house 50 is suppressed in one row
    table = pd.DataFrame({"house": houses, "roof": roofs})
    assert k_of(table, policy(roof=QUASI)) == 1  # tile
    assert np.flatnonzero(failing_records(table, policy(roof=QUASI)).masks[-1]).tolist() == [
        0
    ]  # not the suppressed one


def test_a_unit_that_is_dropped_joins_no_rows() -> None:
    table = pd.DataFrame({"house": [1, 1, 2, 2], "roof": ["tin", "*", "tin", "*"]})
    asked = policy(roof=QUASI)
    asked["attributes"]["house"] = {"role": "identifier"}
    engine = open_engine(table, 2**30)
    release = Release(engine, read_policy(asked, Plugins.load()))
    assert as_read(release) is release


@pytest.mark.parametrize(
    "columns",
    [
        {"house": [1, 2, 3], "roof": ["tin", "*", "tin"]},
        {"house": [1, 1, 2], "roof": ["tin", "tin", "straw"]},
        {"house": [1, 1, 2], "roof": ["tin", None, "straw"]},
    ],
)
def test_nothing_is_read_otherwise_without_several_rows_and_open_cells(columns: dict[str, Any]) -> None:
    engine = open_engine(pd.DataFrame(columns), 2**30)
    release = Release(engine, read_policy(policy(roof=QUASI), Plugins.load()))
    assert as_read(release) is release


def test_a_missing_value_is_read_where_it_matches_every_other() -> None:
    table = pd.DataFrame({"house": [1, 1, 2, 2, 3, 3], "roof": ["tin", None, "straw", "straw", "straw", "straw"]})
    wildcard = {**policy(roof=QUASI), "conventions": {"known_rows": "one", "missing_quasi_identifier": "wildcard"}}
    engine = open_engine(table, 2**30)
    read = as_read(Release(engine, read_policy(wildcard, Plugins.load())))
    assert read.domain("roof").missing == 0
    assert read.domain("roof").counts.tolist() == [4, 2]


def test_a_sensitive_value_is_read_off_another_row() -> None:
    table = pd.DataFrame(
        {"house": [1, 1, 2, 2, 3], "zip": ["a"] * 5, "debt": ["high", "*", "high", "*", "high"]},
    )
    asked = policy(zip=QUASI, debt={"role": "sensitive", "scale": "nominal"})
    asked["expect"] = [{"distinct_l_diversity": {"l": 2}}]
    assert audit(table[:4].assign(debt=["high", "high", "high", "*"]), asked).outcomes[-1].observed == 1


def read_slowly(name: str, cells: list[str]) -> list[Any]:
    """The values of a cell: numbers below 100, or texts."""
    if name == "age":
        return [set(range(100)) if cell == "*" else _numbers(cell) for cell in cells]
    every = {"straw", "tin", "tile", "slate"}
    return [every if cell == "*" else set(cell.strip("{}").split(", ")) for cell in cells]


def _numbers(cell: str) -> set[int]:
    interval = number_or_interval(cell)
    assert interval is not None
    return {number for number in range(100) if interval.contains(number)}


def slow_k(houses: list[int], columns: dict[str, list[str]]) -> int:
    """The fewest houses in a class of labels as they are read."""
    read = []
    for name, cells in columns.items():
        sets = read_slowly(name, cells)
        rows = defaultdict(list)
        for row, house in enumerate(houses):
            rows[house].append(row)
        common = {house: set.intersection(*(sets[row] for row in own)) for house, own in rows.items()}
        several = {house for house, own in rows.items() if len({cells[row] for row in own}) > 1}
        excluded = sum(not common[house] for house in several)
        agreeing = sum(
            max(Counter(cells[row] for row in own if len(sets[row]) == 1).values(), default=0) > 1
            for own in rows.values()
        )
        is_of_unit = excluded * 100 <= agreeing
        read.append(
            [
                frozenset(common[house]) if is_of_unit and common[house] and house in several else cells[row]
                for row, house in enumerate(houses)
            ]
        )
        own_label = {frozenset(values): cell for cell, values in zip(cells, sets, strict=True)}
        if is_of_unit:  # a label that is written otherwise for the same values is the same label where it was read
            read[-1] = [own_label.get(cell, cell) if isinstance(cell, frozenset) else cell for cell in read[-1]]
    classes = defaultdict(set)
    for house, *label in zip(houses, *read, strict=True):
        classes[tuple(label)].add(house)
    return min(map(len, classes.values()))


def compare_with_plain_python(rows: list[tuple[int, str, str]]) -> None:
    rows = [*rows, (99, "straw", "20")]  # a whole number, so that [20, 35) and >34 exclude each other
    houses, roofs, ages = (list(column) for column in zip(*rows, strict=True))
    table = pd.DataFrame({"house": houses, "roof": roofs, "age": ages})
    asked = policy(roof=QUASI, age={**QUASI, "scale": "numeric"})
    observed = k_of(table, asked)
    assume(observed is not None)  # every cell is suppressed
    assert observed == slow_k(houses, {"roof": roofs, "age": ages})


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from(ROOFS), st.sampled_from(AGES)), min_size=2, max_size=14),
)
def test_the_classes_are_those_of_plain_python(rows: list[tuple[int, str, str]]) -> None:
    compare_with_plain_python(rows)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from(ROOFS), st.sampled_from(AGES)), min_size=2, max_size=14),
)
def test_the_classes_of_many_tables_are_those_of_plain_python(rows: list[tuple[int, str, str]]) -> None:
    compare_with_plain_python(rows)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_files_are_read_alike(tmp_path: Path, kind: str) -> None:
    table = pd.DataFrame({"house": ["1", "1", "2", "2"], "roof": ["tin", "*", "straw", "tin"]})
    table = pd.concat([table.iloc[:2].assign(house=str(one)) for one in range(5)])
    table = pd.concat([table, table.assign(house=table["house"] + "b", roof="straw")])
    file = tmp_path / f"release.{kind}"
    if kind == "csv":
        table.to_csv(file, index=False)
    elif kind == "parquet":
        table.to_parquet(file)
    else:
        table.to_json(file, orient="records", lines=True)
    result = audit(file, policy(k=5, roof=QUASI)).outcomes[-1]
    assert (result.observed, result.classes.total if result.classes else None) == (5, 2)
