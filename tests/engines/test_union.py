"""Domains of several tables over the values of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tcdp_audit import audit
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.reading import domain_of, union
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions

ORDINAL = {"scale": "ordinal", "order": ["a", "b", "c"]}
NUMERIC = {"scale": "numeric"}


def read(cells: list[Any], **declared: Any) -> Domain:
    values, counts = np.unique(np.array(cells, dtype=object if isinstance(cells[0], str) else None), return_counts=True)
    declaration = AttributeDeclaration.model_validate({"role": "sensitive", **declared})
    return domain_of("s", RawDomain(values, counts, 0), declaration, Conventions())[0]


@pytest.mark.parametrize(
    ("one", "two", "declared", "common"),
    [
        (["a", "c"], ["b", "c"], {"scale": "nominal"}, ["a", "b", "c"]),
        ([1, 5], [2.5], NUMERIC, [1, 2.5, 5]),
        (["b"], ["c", "a"], ORDINAL, ["a", "b", "c"]),
        (["[a, b]", "c"], ["b"], ORDINAL, ["a", "[a, b]", "b", "c"]),
        (["[1, 2]", "3"], ["3", "[4, 5]"], NUMERIC, ["[1, 2]", "3", "[4, 5]"]),
    ],
)
def test_equal_codes_are_equal_values(
    one: list[Any], two: list[Any], declared: dict[str, Any], common: list[Any]
) -> None:
    first, second = union([read(one, **declared), read(two, **declared)])
    assert first.values.tolist() == second.values.tolist() == common
    assert [first.values[code] for code in first.code_of_raw] == sorted(one)
    assert [second.values[code] for code in second.code_of_raw] == sorted(two)
    assert (int(first.counts.sum()), int(second.counts.sum())) == (len(one), len(two))


cells = st.one_of(
    st.lists(st.integers(-4, 4), min_size=1),
    st.lists(st.sampled_from([-2.5, -0.0, 0.0, 1.0, 1.5, 2.0**53]), min_size=1),
)
texts = st.lists(st.text("ab*é", max_size=2), min_size=1)


def raw_values(domain: Domain) -> list[Any]:
    values = [*domain.values.tolist(), None]
    return [values[code] for code in domain.code_of_raw.tolist()]


@given(st.lists(cells, min_size=2, max_size=4) | st.lists(texts, min_size=2, max_size=4), st.booleans())
def test_a_union_is_that_of_python_sets(tables: list[list[Any]], numeric: bool) -> None:
    declared = NUMERIC if numeric and not isinstance(tables[0][0], str) else {"scale": "nominal"}
    own = [read(cells, **declared) for cells in tables]
    known = sorted(set().union(*(one.values.tolist() for one in own)))
    for before, after in zip(own, union(own), strict=True):
        assert after.values.tolist() == known
        counts = dict(zip(before.values.tolist(), before.counts.tolist(), strict=True))
        assert after.counts.tolist() == [counts.get(value, 0) for value in known]
        assert raw_values(after) == raw_values(before)
        assert after.missing == before.missing


def test_numbers_beside_ranges_have_no_union() -> None:
    with pytest.raises(DataError, match="is generalised in one table and holds numbers in another"):
        union([read([1, 2], **NUMERIC), read(["[1, 2]"], **NUMERIC)])


def expect_closeness(declared: dict[str, Any], released: list[str], original: list[str]) -> Any:
    policy = {
        "version": 1,
        "attributes": {"zip": {"role": "quasi_identifier"}, "s": {"role": "sensitive", **declared}},
        "conventions": {"reference": "original"},
        "expect": [{"t_closeness": {"t": 0.3, "attribute": "s", "distance": "ordered"}}],
    }
    zips = ["x", "x", "y", "y"]
    tables = (pa.table({"zip": zips, "s": cells}) for cells in (released, original))
    return audit(next(tables), policy, original=next(tables)).expectations[0]


@pytest.mark.parametrize(
    ("declared", "cells", "generalised"),
    [
        (ORDINAL, ["a", "b", "c", "c"], ["[a, b]", "c", "[a, b]", "c"]),
        (NUMERIC, ["1", "2", "3", "3"], ["[1, 2]", "3", "[1, 2]", "3"]),
    ],
)
def test_a_reference_is_generalised_as_the_release_is(
    declared: dict[str, Any], cells: list[str], generalised: list[str]
) -> None:
    for released, original in [(cells, generalised), (generalised, cells)]:
        outcome = expect_closeness(declared, released, original)
        assert outcome.status.value == "error"
        assert "generalised in one of the release and its reference distribution" in outcome.message
    original = [generalised[0], *generalised[1:2] * 3]  # a quarter in the range; half of each class
    assert expect_closeness(declared, generalised, original).observed == 0.25
