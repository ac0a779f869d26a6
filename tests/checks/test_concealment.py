"""Concealment and (k, k)-anonymity: published examples, brute force over all assignments, and every kind of cell."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings, strategies as st

import tcdp_audit
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.plugin.report import Rows
from tcdp_audit_plugins.checks._shared import boxes
from tcdp_audit_plugins.checks._shared.boxes import Boxes, PointTree
from tcdp_audit_plugins.sections.attacks import stories

AGES = {"age": {"role": "quasi_identifier", "scale": "numeric"}}
CHECKS: list[dict[str, Any]] = [
    {"k_concealment": {}},
    {"kk_anonymity": {}},
    {"kk_anonymity": {"kind": "one_to_k"}},
    {"kk_anonymity": {"kind": "k_to_one"}},
    {"k_anonymity": {}},
]


def audited(
    released: dict[str, Any],
    original: dict[str, Any],
    attributes: dict[str, Any] = AGES,
    expect: list[dict[str, Any]] = CHECKS,
    memory: int | None = None,
) -> list[Outcome]:
    pairing = {"key": "id"} if "id" in released else {"rows_aligned": True}
    declared = {**attributes, **({"id": {"role": "insensitive"}} if "id" in released else {})}
    document = {"version": 1, **pairing, "attributes": declared, "expect": expect}
    return list(tcdp_audit.audit(pd.DataFrame(released), document, pd.DataFrame(original), memory=memory).expectations)


def figures(*given: Any) -> tuple[Any, ...]:
    return tuple(one.observed for one in audited(*given))


# ages, released ranges: k-concealment, (k, k), (1, k), (k, 1), k, candidates that no assignment has
PUBLISHED = [
    ([20, 21, 22, 23], ["[20, 21]", "[20, 21]", "[22, 23]", "[22, 23]"], (2, 2, 2, 2, 2), 0),
    ([20, 21, 22, 23], ["[20, 21]", "[20, 22]", "[21, 23]", "[22, 23]"], (2, 2, 2, 2, 1), 0),
    ([20, 21, 30, 40, 41], ["[20, 30]", "[20, 21]", "[30, 40]", "[40, 41]", "[40, 41]"], (1, 2, 2, 2, 1), 2),
    ([20, 21, 22, 23], ["[20, 21]", "[20, 21]", "[20, 23]", "[22, 23]"], (2, 2, 2, 2, 1), 2),
]


@pytest.mark.parametrize(("ages", "ranges", "expected", "removed"), PUBLISHED)
def test_published_examples(ages, ranges, expected, removed):
    outcomes = audited({"age": ranges}, {"age": ages})
    assert tuple(one.observed for one in outcomes) == expected
    assert outcomes[0].details["candidates_removed"] == removed


def by_brute_force(consistent: list[list[bool]]) -> tuple[int, int, int, int]:
    """k-concealment over every assignment of all people, (k, k), (1, k) and (k, 1)."""
    people = range(len(consistent))
    one_to_k = min(map(sum, consistent))
    k_to_one = min(map(sum, zip(*consistent, strict=True)))
    possible: list[set[int]] = [set() for _ in people]
    for order in permutations(people):
        if all(consistent[i][j] for i, j in zip(people, order, strict=True)):
            for i, j in zip(people, order, strict=True):
                possible[i].add(j)
    return min(map(len, possible)), min(one_to_k, k_to_one), one_to_k, k_to_one


@st.composite
def ranges_of_people(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, int]]]:
    ages = draw(st.lists(st.integers(0, 9), min_size=1, max_size=7))
    return ages, [(age - draw(st.integers(0, 3)), age + draw(st.integers(0, 3))) for age in ages]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(ranges_of_people())
def test_ranges_of_up_to_seven_people(people):
    ages, ranges = people
    expected = by_brute_force([[low <= age <= high for low, high in ranges] for age in ages])
    labels = [f"[{low}, {high}]" if low < high else str(low) for low, high in ranges]
    result = figures({"age": labels}, {"age": ages})
    assert result[:4] == expected
    assert result[0] <= result[2]


TREE = {"*": {"warm": {"red": ["rose", "wine"], "sun": ["gold"]}, "cold": {"sea": ["navy", "teal"], "moss": ["fern"]}}}
LEAVES = {
    "rose": ["rose", "red", "warm", "*", "{navy, rose}", "{rose, sun}", "{red, teal}"],
    "wine": ["wine", "red", "warm", "*", "{red, teal}"],
    "gold": ["gold", "sun", "warm", "*", "{rose, sun}"],
    "navy": ["navy", "sea", "cold", "*", "{navy, rose}"],
    "teal": ["teal", "sea", "cold", "*", "{red, teal}"],
    "fern": ["fern", "moss", "cold", "*"],
}
SIZES = ["small", "middling", "large"]
SPANS = {
    "small": ["small", "[small, middling]", "[small, large]", "*"],
    "middling": ["middling", "[small, middling]", "[middling, large]", "[small, large]", "*"],
    "large": ["large", "[middling, large]", "[small, large]", "*"],
}
NUMBERS = {"1.5": ["1.5", "[1, 2)", "<2", "[0, 3]", "*"], "2": ["2", "2.0", "[2, 3]", ">1.5", "[0, 3]", "2+", "*"]}
KINDS: dict[str, tuple[dict[str, Any], dict[str, list[str]]]] = {
    "colour": ({"role": "quasi_identifier", "scale": "nominal", "hierarchy": TREE}, LEAVES),
    "size": ({"role": "quasi_identifier", "scale": "ordinal", "order": SIZES}, SPANS),
    "height": ({"role": "quasi_identifier", "scale": "numeric"}, NUMBERS),
}


@st.composite
def generalised_tables(draw: st.DrawFn) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Up to six people, each of whose values is released as one of the cells that stand for it, or is withheld."""
    people = draw(st.integers(1, 6))
    original: dict[str, list[Any]] = {}
    released: dict[str, list[Any]] = {}
    for name, (_, cells) in KINDS.items():
        values = [draw(st.sampled_from([*cells, None])) for _ in range(people)]
        original[name] = values
        released[name] = [
            draw(st.sampled_from(["*", None] if value is None else [*cells[value], None])) for value in values
        ]
    return original, released


def compared(original: dict[str, list[Any]], released: dict[str, list[Any]]) -> None:
    """Hold all figures against brute force over the matrix of who may be which record."""
    people = range(len(original["size"]))

    def matches(name: str, i: int, j: int) -> bool:
        value, cell = original[name][i], released[name][j]
        return cell in ("*", None) or (value is not None and cell in KINDS[name][1][value])

    consistent = [[all(matches(name, i, j) for name in KINDS) for j in people] for i in people]
    attributes = {name: declared for name, (declared, _) in KINDS.items()}
    tables = [{name: pd.array(cells, dtype="string") for name, cells in one.items()} for one in (released, original)]
    result = figures(*tables, attributes)
    assert result[:4] == by_brute_force(consistent)
    assert result[4] <= result[0] <= result[2]


@pytest.mark.long
@settings(max_examples=50, deadline=None)
@given(generalised_tables())
def test_every_kind_of_cell(tables):
    assume(any(cell not in {None, "*"} for column in tables[1].values() for cell in column))  # else nothing is released
    compared(*tables)


def test_cells_of_every_kind():
    compared(
        {
            "colour": ["rose", "wine", "gold", "navy", "teal", None],
            "size": ["small", "middling", "large", "small", None, "middling"],
            "height": ["1.5", "2", "2", "1.5", "2", None],
        },
        {
            "colour": ["{rose, sun}", "{red, teal}", "warm", "{navy, rose}", "{red, teal}", None],
            "size": ["[small, middling]", "[small, large]", "[middling, large]", "small", "*", "*"],
            "height": ["[0, 3]", ">1.5", "*", "<2", "[2, 3]", None],
        },
    )


def test_an_original_that_holds_ranges_itself():
    """A range stands for the ranges within it; one at whose end it is open does not stand for it."""
    ages = ["[20, 30)", "[20, 30]", "25", "*"]
    cells = ["[20, 30]", "[20, 30]", "[20, 30)", "*"]
    # the first: both ranges, the open one and *; the second: both ranges and *; the third: all; the last: * alone
    consistent = [
        [True, True, True, True],
        [True, True, False, True],
        [True, True, True, True],
        [False, False, False, True],
    ]
    assert figures({"age": cells}, {"age": ages})[:4] == by_brute_force(consistent)


def test_people_in_one_table_only():
    """Whoever was withheld might have been released, and a record without an original might be anybody's."""
    released = {"id": [1, 2, 9], "age": ["[20, 21]", "[20, 22]", "[21, 22]"]}
    original = {"id": [1, 2, 3], "age": [20, 21, 22]}
    outcomes = audited(released, original)
    assert [one.observed for one in outcomes[:4]] == [2, 2, 2, 2]
    reported = {name: outcomes[0].details[name] for name in ("matched", "released_without_original")}
    assert (reported, outcomes[0].details["originals_not_released"]) == (
        {"matched": 2, "released_without_original": 1},
        1,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_is_no_matter(seed):
    released, original = (
        pd.DataFrame({"id": range(5), "age": column}).sample(frac=1, random_state=seed + place).to_dict("list")
        for place, column in enumerate((PUBLISHED[2][1], PUBLISHED[2][0]))
    )
    assert figures(released, original) == (1, 2, 2, 2, 1)


def test_a_release_that_is_no_generalisation():
    (outcome,) = audited(
        {"age": ["[20, 21]", "[20, 21]", "22"], "town": ["a", "b", "b"]},
        {"age": [20, 22, 22], "town": ["a", "b", "b"]},
        {**AGES, "town": {"role": "quasi_identifier"}},
        [{"k_concealment": {"k": 2}}],
    )
    assert outcome.status is Status.ERROR
    assert "in 1 record of 3 the released cell of 'age' does not cover the person's own" in outcome.message
    (outcome,) = audited(
        {"age": ["1", "2"], "town": ["a", "c"]},
        {"age": [1, 2], "town": ["a", "b"]},
        {**AGES, "town": {"role": "quasi_identifier"}},
        [{"kk_anonymity": {"attributes": ["age"]}}],
    )
    assert (outcome.observed, outcome.known) == (1, ("age",))


def test_too_many_consistent_pairs_for_the_memory():
    number = 3000
    table = {"id": list(range(number)), "age": list(range(number))}
    released = {"id": table["id"], "age": [f"[{one - 1000}, {one + 1000}]" for one in range(number)]}
    (outcome,) = audited(released, table, expect=[{"k_concealment": {}}], memory=2**24)
    assert "pairs of different records are consistent, which is all that 16 MiB can hold" in outcome.message


@pytest.mark.parametrize(("attributes", "why"), [(["none"], "no attribute 'none'"), (["id"], "'id' is the key")])
def test_attributes_that_no_one_can_know(attributes, why):
    with pytest.raises(tcdp_audit.PolicyError, match=why):
        audited(
            {"id": [1], "age": [1]}, {"id": [1], "age": [1]}, expect=[{"k_concealment": {"attributes": attributes}}]
        )


def test_a_failed_demand_has_the_distribution():
    ages, ranges, _, _ = PUBLISHED[2]
    (concealed,) = audited({"age": ranges}, {"age": ages}, expect=[{"k_concealment": {"k": 2}}])
    assert concealed.details["distribution"] == [[1, 1, 1], [2, 4, 4]]


@pytest.mark.parametrize(("axes", "most", "points", "number"), [(1, 5, 1, 3), (3, 9, 200, 80), (9, 3000, 300, 60)])
def test_points_in_boxes(axes, most, points, number, monkeypatch):
    """More axes than a word has bytes, places of more bits than a byte, boxes that hold nothing, few at a time."""
    monkeypatch.setattr(boxes, "TOGETHER", 64)
    random = np.random.default_rng(axes)
    places = np.unique(random.integers(0, most, (axes, points), dtype=np.int32), axis=1)
    first = random.integers(0, most, (axes, number), dtype=np.int32) // 2
    last = np.minimum(first + random.integers(-1, most, (axes, number), dtype=np.int32), most)
    actual = {pair for some in PointTree(places, Boxes(first, last)).pairs() for pair in zip(*some, strict=True)}
    inside = (first[:, :, None] <= places[:, None]) & (places[:, None] <= last[:, :, None])
    expected = set(zip(*np.nonzero(inside.all(axis=0)), strict=True))
    assert actual == expected
    assert 0 < len(expected) < number * places.shape[1]


@pytest.mark.long
@pytest.mark.parametrize("remedy", [{"mondrian": {}}, {"generalization": {}}, {"suppression": {"of": "cells"}}])
def test_a_release_that_a_remedy_made(remedy):
    """The cells that remedies write are read, and nobody is hidden among fewer than in their class."""
    random = np.random.default_rng(3)
    leaves = random.choice([leaf for leaf in LEAVES if leaf != "*"], 400)
    table = {
        "colour": leaves.tolist(),
        "size": random.choice(SIZES, 400).tolist(),
        "height": random.normal(170, 9, 400).round(1).tolist(),
        "town": random.choice(["bern", "chur", "genf", "thun"], 400).tolist(),
    }
    attributes = {name: declared for name, (declared, _) in KINDS.items()} | {"town": {"role": "quasi_identifier"}}
    policy = {"version": 1, "rows_aligned": True, "attributes": attributes}
    demands = {"expect": [{"k_anonymity": {"k": 5}}], "remedy": [remedy]}
    released = tcdp_audit.fix(pd.DataFrame(table), {**policy, **demands}, keep_order=True).released
    outcomes = tcdp_audit.audit(released, {**policy, "expect": CHECKS}, pd.DataFrame(table)).expectations
    concealed, _, one_to_k, _, k = (one.observed or 0 for one in outcomes)
    assert 5 <= k <= concealed <= one_to_k


def test_integers_that_a_range_would_round_are_refused():
    (outcome,) = audited({"age": [f"[0, {2**60}]"]}, {"age": [2**54 + 1]}, expect=[{"k_concealment": {}}])
    assert "integers too large to be compared exactly" in outcome.message


@pytest.mark.parametrize(
    ("example", "expected"),
    [(2, "1 record can only be one record, by 'age'."), (1, "Everyone may be one of 2 records at least, by 'age'.")],
)
def test_the_data_broker_knows_everybody(example, expected):
    ages, ranges, _, _ = PUBLISHED[example]
    document = {"version": 1, "rows_aligned": True, "attributes": AGES, "expect": [{"k_concealment": {}}]}
    audit = tcdp_audit.audit(pd.DataFrame({"age": ranges}), document, pd.DataFrame({"age": ages}))
    (table,) = (one for one in stories(audit) if isinstance(one, Rows))
    assert expected in {row[2] for row in table.body}


def test_a_set_may_name_a_value_that_occurs_nowhere():
    """Two people of r and one of q: `{r, s}` stands for the first two, though nobody has s."""
    attributes = {"q": {"role": "quasi_identifier", "scale": "nominal"}}
    outcomes = audited({"q": ["{r, s}", "r", "{q, s}"]}, {"q": ["r", "r", "q"]}, attributes)
    assert [one.status for one in outcomes] == [Status.MEASURED] * len(CHECKS)
    assert [one.observed for one in outcomes][:2] == [1, 1]
    (pair, *_) = audited({"q": ["{r, s}", "r"]}, {"q": ["r", "r"]}, attributes)
    assert pair.observed == 2
    (wrong, *_) = audited({"q": ["{r, s}", "{q, s}"]}, {"q": ["r", "r"]}, attributes)
    assert (wrong.status, "in 1 record of 2" in wrong.message) == (Status.ERROR, True)
