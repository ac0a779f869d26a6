"""Household surveys: what a remedy hides for one member, the others do not give back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tcdp_audit import audit, fix
from tcdp_audit.core.remedy.remedy import NewColumn, Treatment
from tcdp_audit.core.remedy.unit_cells import with_unit_cells
from tests.remedies.households import OF_HOUSEHOLD, UNIT, VALUES, read_off, survey, survey_policy
from tests.remedies.mondrian_tables import view_of

MIXED = ("urbrur", "roof", "water", "rooms", "sex", "age")


def hierarchies() -> dict[str, Any]:
    """Two nodes above the values of each attribute of households, and intervals of age."""
    trees: dict[str, Any] = {"sex": {"*": {"f": None, "m": None}}}
    for name, values in VALUES.items():
        half = len(values) // 2 + 1
        nodes = {f"{name} low": dict.fromkeys(values[:half]), f"{name} high": dict.fromkeys(values[half:])}
        trees[name] = {"*": nodes if len(values) > 2 else dict.fromkeys(values)}
    trees["age"] = {"*": {f"{low}-{low + 29}": {str(age): None for age in range(low, low + 30)} for low in (0, 30, 60)}}
    return trees


def nodes() -> dict[str, dict[str, list[str]]]:
    return {
        name: {node: list(values) for node, values in tree["*"].items() if values}
        for name, tree in hierarchies().items()
        if name in VALUES
    }


def repaired(known: tuple[str, ...], *remedies: Any, households: int = 150, **more: Any) -> pa.Table:
    """A survey after remedies, which must pass."""
    asked = survey_policy(*remedies, known=known, **more)
    if any("generalization" in one for one in remedies):
        for name, tree in hierarchies().items():
            asked["attributes"][name]["hierarchy"] = tree
    result = fix(survey(households), asked)
    assert result.passed, result.log.reason
    assert audit(result.released, asked).passed
    return result.released


@pytest.mark.long
@pytest.mark.parametrize("known", [(*OF_HOUSEHOLD, "sex"), MIXED])
@pytest.mark.parametrize(
    "remedies",
    [
        [{"suppression": {"of": "cells"}}],
        [{"mondrian": {}}],
        [{"generalization": {"suppression": 0.3}}],
        [{"generalization": {"suppression": 0.3, "local_recoding": True}}],
        [{"redistribution": {}}],
        [],
    ],
)
def test_other_members_give_nothing_back(known: tuple[str, ...], remedies: list[Any]) -> None:
    if known == MIXED and "generalization" in str(remedies):
        known = tuple(name for name in known if name != "rooms")  # which has no hierarchy
    table = repaired(known, *remedies)
    own = tuple(name for name in known if name not in ("sex", "age"))
    assert read_off(table, own, nodes()) == (0, 0)


def test_a_suppressed_roof_is_suppressed_for_the_whole_household() -> None:
    asked = ("urbrur", "roof", "sex")
    table = repaired(asked, {"suppression": {"of": "cells"}}, households=60)
    assert read_off(table, ("urbrur", "roof")) == (0, 0)
    assert "*" in table["roof"].to_pylist()


def test_a_remedy_that_is_applied_again_is_one_line_of_the_policy() -> None:
    asked = survey_policy({"suppression": {"of": "cells"}}, known=(*OF_HOUSEHOLD, "sex"))
    result = fix(survey(80), asked)
    assert result.passed
    assert len(result.log.steps) > 1
    assert result.log.lines == "remedy:\n  - suppression: {of: cells}\n"


def test_a_household_that_is_dropped_before_release_keeps_its_cells_apart() -> None:
    asked = survey_policy({"suppression": {"of": "cells"}}, known=("roof", "walls", "water", "sex"))
    asked["attributes"][UNIT] = {"role": "identifier"}
    result = fix(survey(60), asked)
    assert result.passed
    assert len(result.log.steps) == 1


def treated(columns: dict[str, list[Any]], asked: dict[str, Any], **changed: list[str]) -> dict[str, list[Any]]:
    """The cells of changed columns after the core has made those of a unit one."""
    document = {
        "version": 1,
        "unit": UNIT,
        "attributes": {UNIT: {"role": "insensitive"}, **asked},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    with view_of(columns, document) as view:
        new = {}
        for name, cells in changed.items():
            distinct = sorted(set(cells))
            new[name] = NewColumn.of_texts(distinct, np.array([distinct.index(cell) for cell in cells]))
        answer = with_unit_cells(view, Treatment(new))
        return {name: [str(one.cells[code]) for code in one.codes] for name, one in answer.columns.items()}


ROOF = {"roof": {"role": "quasi_identifier"}}
AGE = {"age": {"role": "quasi_identifier", "scale": "numeric"}}
TWO = [1, 1, 2, 2]


def test_sets_and_ranges_are_joined() -> None:
    roofs = treated({UNIT: TWO, "roof": [*"aabb"]}, ROOF, roof=["{a, b}", "{a, c}", "b", "b"])
    assert roofs["roof"] == ["{a, b, c}", "{a, b, c}", "b", "b"]
    ages = treated({UNIT: TWO, "age": ["20", "20", "30", "30"]}, AGE, age=["[20, 25)", "[10, 20]", "30", "[30, 31]"])
    assert ages["age"] == ["[10, 24]", "[10, 24]", "[30, 31]", "[30, 31]"]


def test_one_suppressed_cell_suppresses_those_of_the_unit() -> None:
    roofs = treated({UNIT: TWO, "roof": [*"aabb"]}, ROOF, roof=["a", "*", "b", "b"])
    assert roofs["roof"] == ["*", "*", "b", "b"]


def test_values_that_were_changed_are_those_of_the_first_row() -> None:
    roofs = treated({UNIT: [2, 1, 1, 2], "roof": [*"baab"]}, ROOF, roof=["c", "b", "c", "a"])
    assert roofs["roof"] == ["c", "b", "b", "c"]


def test_an_attribute_of_persons_stays_as_it_is() -> None:
    sexes = treated({UNIT: TWO, "roof": [*"abab"]}, ROOF, roof=["*", "b", "a", "*"])
    assert sexes["roof"] == ["*", "b", "a", "*"]


def test_noise_is_the_same_for_all_members() -> None:
    document = {
        "version": 1,
        "unit": UNIT,
        "attributes": {UNIT: {"role": "insensitive"}, **AGE},
        "expect": [{"k_anonymity": {"k": 2}}],
    }
    with view_of({UNIT: TWO, "age": [20, 20, 30, 30]}, document) as view:
        noise = NewColumn(np.array([19.5, 22.0, 30.0]), np.array([1, 0, 2, 2]))
        answer = with_unit_cells(view, Treatment({"age": noise})).columns["age"]
    assert answer.cells[answer.codes].tolist() == [22.0, 22.0, 30.0, 30.0]


@pytest.mark.long
def test_eusilc_gives_nothing_back() -> None:
    folder = os.environ.get("TCDP_AUDIT_DATA")
    if folder is None:
        pytest.skip("TCDP_AUDIT_DATA is not set")
    table = pd.read_csv(Path(folder) / "histories" / "eusilc.csv", dtype=str).head(4000)
    names = ["db040", "hsize", "rb090", "pb220a", "age"]
    attributes: dict[str, Any] = {name: {"role": "insensitive"} for name in table.columns}
    attributes |= {name: {"role": "quasi_identifier"} for name in names}
    attributes["age"]["scale"] = "numeric"
    claim = {"unit": "db030", "conventions": {"known_rows": "one"}}
    asked = {"version": 1, **claim, "attributes": attributes, "expect": [{"k_anonymity": {"k": 3}}]}
    for remedy in ({"suppression": {"of": "cells"}}, {"mondrian": {}}):
        result = fix(table, {**asked, "remedy": [remedy]})
        assert result.passed
        frame = result.released.to_pandas().rename(columns={"db030": UNIT})
        for name in ("db040", "hsize"):
            assert len(frame[[UNIT, name]].drop_duplicates()) == frame[UNIT].nunique()
