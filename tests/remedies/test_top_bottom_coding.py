"""Top and bottom coding: what extremes become, and what cannot be coded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from masked import masked

from tcdp_audit.remedy.remedy import RemedyError

AGES = [3, 17, 18, 29, 30, 64, 65, 99, None]


@pytest.mark.parametrize(
    ("parameters", "cells"),
    [
        ({"top": 65}, [3, 17, 18, 29, 30, 64, ">=65", ">=65", None]),
        ({"bottom": 17}, ["<=17", "<=17", 18, 29, 30, 64, 65, 99, None]),
        ({"bottom": 17, "top": 65}, ["<=17", "<=17", 18, 29, 30, 64, ">=65", ">=65", None]),
        ({"bottom": 17, "top": 65, "released_as": "bound"}, [17, 17, 18, 29, 30, 64, 65, 65, None]),
        ({"share": "1/4"}, ["<=17", "<=17", 18, 29, 30, 64, ">=65", ">=65", None]),
        ({"share": "1/2"}, ["<=29"] * 4 + [">=30"] * 4 + [None]),
    ],
)
def test_extremes_become_so_much_or_more(parameters: dict[str, Any], cells: list[Any]) -> None:
    declared = {"age": "numeric"}
    exact: dict[str, Any] = {name: Fraction(value) if name == "share" else value for name, value in parameters.items()}
    done = masked(pa.table({"age": AGES}), declared, "top_bottom_coding", attribute="age", **exact)
    assert [None if one is None else str(one) for one in done.column("age")] == [
        None if one is None else str(one) for one in cells
    ]
    again = masked(done.table, declared, "top_bottom_coding", attribute="age", **exact)
    assert again.table.equals(done.table)


def test_a_coded_column_of_numbers_keeps_its_type_and_counts_what_it_codes() -> None:
    table = pa.table({"age": pa.array([1, 5, 9, 9, None], pa.int16())})
    done = masked(table, {"age": "numeric"}, "top_bottom_coding", attribute="age", top=8, released_as="bound")
    assert done.table.schema == table.schema
    assert done.column("age") == [1, 5, 8, 8, None]
    assert done.notes == {"top": 2, "bottom": 0, "records": 2}


@pytest.mark.parametrize(
    ("ages", "parameters", "sentence"),
    [
        ([1, 1, 2, 2], {"share": Fraction(1, 10)}, "each have more records than the share"),
        (["[0, 10]", "[20, 30]"], {"top": 25}, "reaches over a threshold"),
        (["[0, 10]", "[20, 30]"], {"bottom": 5}, "reaches over a threshold"),
        ([1, 2], {}, "compare the release with its original"),
    ],
)
def test_extremes_that_cannot_be_coded(ages: list[Any], parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RemedyError, match=sentence):
        masked(pa.table({"age": ages}), {"age": "numeric"}, "top_bottom_coding", attribute="age", **parameters)
