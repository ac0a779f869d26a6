"""One label for every class: the narrowest that covers its records, on every scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tcdp_audit.core.encoding.domain import RawDomain
from tcdp_audit.core.encoding.generalised import members, number_or_interval
from tcdp_audit.core.encoding.hierarchy import load_hierarchy
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions
from tcdp_audit.core.remedy.view import Attribute
from tcdp_audit_plugins.remedies._shared.recoding import recode

GRADES = ["low", "medium", "high", "severe"]
PLACES = {"anywhere": {"north": ["oslo", "turku"], "south": {"rome": None, "bari": None}}}
NUMERIC: Mapping[str, Any] = {"scale": "numeric"}
ORDINAL: Mapping[str, Any] = {"scale": "ordinal", "order": GRADES}
IN_PLACES: Mapping[str, Any] = {"scale": "nominal", "hierarchy": PLACES}
NOMINAL: Mapping[str, Any] = {"scale": "nominal"}


def _attribute(cells: Sequence[Any], declaration: Mapping[str, Any]) -> Attribute:
    declared = AttributeDeclaration.model_validate({"role": "quasi_identifier", **declaration})
    present = [cell for cell in cells if cell is not None]
    dtype = object if any(isinstance(cell, str) for cell in present) else None
    values, counts = np.unique(np.array(present, dtype=dtype), return_counts=True)
    domain, misfit = domain_of("a", RawDomain(values, counts, cells.count(None)), declared, Conventions())
    assert misfit is None
    code = dict(zip(values.tolist(), domain.code_of_raw.tolist(), strict=True))
    codes = np.array([code.get(cell, domain.size) for cell in cells])
    hierarchy = None if declared.hierarchy is None else load_hierarchy(declared.hierarchy, None)
    return Attribute("a", declared, domain, codes, hierarchy)


def _recoded(cells: Sequence[Any], classes: Sequence[int], declaration: Mapping[str, Any]) -> list[Any]:
    numbers = np.array(classes, dtype=np.int64)
    column = recode(_attribute(cells, declaration), numbers, int(numbers.max()) + 1, "*")
    return [column.cells[code] for code in column.codes.tolist()]


@pytest.mark.parametrize(
    ("declaration", "cells", "expected"),
    [
        (NUMERIC, [17, 23, 39, 39], ["[17, 23]", "[17, 23]", "39", "39"]),
        (NUMERIC, [0.5, -3.0, 2.0, 2.0], ["[-3, 0.5]", "[-3, 0.5]", "2", "2"]),
        (NUMERIC, [2**60, 2**60 + 1, 5, 5], [f"[{2**60}, {2**60 + 1}]"] * 2 + ["5", "5"]),
        (NUMERIC, ["[20, 35)", "[35, 50)", "[50, 65]", "[50, 65]"], ["[20, 50)"] * 2 + ["[50, 65]"] * 2),
        (NUMERIC, ["[20, 35)", "35", "20-34", "20-34"], ["[20, 35]"] * 2 + ["20-34"] * 2),
        (NUMERIC, ["<20", "[20, 25)", ">=65", "70"], ["[-inf, 25)"] * 2 + [">=65"] * 2),
        (NUMERIC, ["(20, 25]", "(25, 30]", "(30, 35]", "30"], ["(20, 30]"] * 2 + ["[30, 35]"] * 2),
        (ORDINAL, ["high", "low", "severe", "severe"], ["[low, high]"] * 2 + ["severe"] * 2),
        (ORDINAL, ["[low, medium]", "high", "severe", "high"], ["[low, high]"] * 2 + ["[high, severe]"] * 2),
        (IN_PLACES, ["oslo", "turku", "rome", "rome"], ["north"] * 2 + ["rome"] * 2),
        (IN_PLACES, ["oslo", "bari", "north", "turku"], ["anywhere"] * 2 + ["north"] * 2),
        (IN_PLACES, ["oslo", "atlantis", "atlantis", "atlantis"], ["*"] * 2 + ["atlantis"] * 2),
        (NOMINAL, ["b", "a", "c", "c"], ["{a, b}"] * 2 + ["c"] * 2),
        (NOMINAL, ["{a, b}", "c", "d", "a"], ["{a, b, c}"] * 2 + ["{a, d}"] * 2),
        (
            {**NUMERIC, "hierarchy": {"*": {"20-29": ["23", "24"], "30-39": ["39"]}}},
            [23, 24, 39, 39],
            ["[23, 24]"] * 2 + ["39"] * 2,
        ),
    ],
)
def test_a_class_gets_the_narrowest_label(
    declaration: Mapping[str, Any], cells: Sequence[Any], expected: Sequence[str]
) -> None:
    assert _recoded(cells, [0, 0, 1, 1], declaration) == expected


@pytest.mark.parametrize(
    ("declaration", "cells"),
    [(NUMERIC, [4, 9, None, 7]), (ORDINAL, ["low", "high", None, "low"]), (NOMINAL, ["a", "b", "*", "c"])],
)
def test_a_missing_or_suppressed_value_suppresses_its_class(
    declaration: Mapping[str, Any], cells: Sequence[Any]
) -> None:
    first, _, third, fourth = _recoded(cells, [0, 0, 1, 1], declaration)
    assert first != "*"
    assert third == fourth == "*"


def test_all_the_values_there_are_become_the_token() -> None:
    assert _recoded(["a", "b", "c", "a"], [0, 0, 0, 1], NOMINAL) == ["*", "*", "*", "a"]


def test_the_order_of_a_class_is_no_matter_and_a_number_without_records_is_allowed() -> None:
    assert _recoded([39, 17, 41, 23], [4, 0, 4, 0], NUMERIC) == ["[39, 41]", "[17, 23]", "[39, 41]", "[17, 23]"]


def test_single_values_stay_numbers() -> None:
    assert _recoded([17, 17, 2**60 + 1, 39], [0, 0, 1, 2], NUMERIC) == [17, 17, 2**60 + 1, 39]


@given(st.lists(st.tuples(st.integers(-9, 9) | st.none(), st.integers(0, 4)), min_size=2, max_size=30))
def test_an_interval_is_tight(records: list[tuple[int | None, int]]) -> None:
    cells, classes = [cell for cell, _ in records] + [0], [number for _, number in records] + [5]
    for label, number in zip(_recoded(cells, classes, NUMERIC), classes, strict=True):
        held = [cell for cell, other in zip(cells, classes, strict=True) if other == number]
        if None in held:
            assert label == "*"
        else:
            cover = number_or_interval(str(label))
            assert cover is not None
            assert (cover.low, cover.high) == (min(held), max(held))  # type: ignore[type-var]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 4)), min_size=2, max_size=30))
def test_a_set_holds_just_the_values_of_its_class(records: list[tuple[str, int]]) -> None:
    cells, classes = [cell for cell, _ in records], [number for _, number in records]
    for label, number in zip(_recoded(cells, classes, NOMINAL), classes, strict=True):
        held = sorted({cell for cell, other in records if other == number})
        everything = len(held) == len(set(cells)) > 1
        assert (label if everything else members(label, "abcdef") or [label]) == ("*" if everything else held)


@given(st.lists(st.tuples(st.sampled_from(["oslo", "turku", "rome", "bari", "north"]), st.integers(0, 4)), min_size=1))
def test_a_node_is_the_lowest_common_ancestor(records: list[tuple[str, int]]) -> None:
    above = {
        "oslo": "north",
        "turku": "north",
        "rome": "south",
        "bari": "south",
        "north": "anywhere",
        "south": "anywhere",
    }

    def path(label: str) -> list[str]:
        return [label, *path(above[label])] if label in above else [label]

    cells, classes = [cell for cell, _ in records], [number for _, number in records]
    for label, number in zip(_recoded(cells, classes, IN_PLACES), classes, strict=True):
        held = [path(cell) for cell, other in records if other == number]
        assert label == next(node for node in held[0] if all(node in other for other in held))
