"""Invariants of information loss on generated tables, and the same figures from the slow plain-Python reference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from information_loss_reference import (
    BELOW,
    TREE,
    ListEngine,
    Range,
    Reference,
    correlation_change,
    counting_errors,
    discernibility,
    information,
    information_retained,
    mean_error,
    written,
)

from tcdp_audit import Policy, load_policy
from tcdp_audit.core.information_loss.loss import InformationLoss, information_loss
from tcdp_audit.core.release.release import Release

ATTRIBUTES: dict[str, dict[str, Any]] = {
    "age": {"scale": "numeric"},
    "pay": {"role": "sensitive", "scale": "numeric"},
    "colour": {"hierarchy": TREE},
    "town": {},
}
KINDS = {"age": "numeric", "pay": "numeric", "colour": "hierarchical", "town": "nominal"}
MISSING = st.sampled_from([None, "*"])
NUMBERS = st.integers(0, 20)
RANGES = st.builds(lambda low, width: Range(low, low + width), NUMBERS, st.integers(1, 15))
TOWNS = st.sampled_from("abcd")
SETS = st.sets(TOWNS, min_size=2).map(frozenset)
PLAIN = {
    "age": NUMBERS,
    "pay": NUMBERS,
    "colour": st.sampled_from(TREE["*"]["warm"] + TREE["*"]["cold"]),
    "town": TOWNS,
}
RELEASED = {
    "age": NUMBERS | RANGES | MISSING,
    "pay": NUMBERS | RANGES | MISSING,
    "colour": st.sampled_from(list(BELOW)) | MISSING,
    "town": TOWNS | SETS | MISSING,
}


@dataclass(frozen=True)
class Tables:
    before: dict[str, list[Any]]
    after: dict[str, list[Any]]
    records_retained: list[int]

    def loss(self) -> InformationLoss:
        one, two = (
            Release(ListEngine({name: written(cells) for name, cells in side.items()}), policy())
            for side in (self.before, self.after)
        )
        return information_loss(one, two, np.array(self.records_retained, dtype=np.intp))


@cache
def policy() -> Policy:
    attributes = {name: {"role": "quasi_identifier", **one} for name, one in ATTRIBUTES.items()}
    return load_policy({"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {}}]})


@st.composite
def tables(draw: st.DrawFn, before: dict[str, Any] = RELEASED) -> Tables:
    records = draw(st.integers(1, 8))
    records_retained = draw(
        st.permutations(range(records)).flatmap(lambda order: st.integers(0, records).map(lambda n: order[:n]))
    )
    cells = {name: draw(st.lists(one, min_size=records, max_size=records)) for name, one in before.items()}
    if not any(isinstance(one, frozenset) for one in cells["town"]):
        plain = cells
    else:  # a set label is one where its members stand in the table by themselves
        records += 4
        plain = {name: column + draw(st.lists(PLAIN[name], min_size=4, max_size=4)) for name, column in cells.items()}
        plain["town"][-4:] = list("abcd")
    known = {one for one in plain["town"] if isinstance(one, str) and one != "*"}
    after = {name: [draw(RELEASED[name]) for _ in records_retained] for name in before}
    after["town"] = [one if not isinstance(one, frozenset) or one <= known else "*" for one in after["town"]]
    return Tables(plain, after, list(records_retained))


@pytest.mark.long
@given(tables())
@settings(max_examples=80)
def test_the_reference_finds_the_same(given_tables: Tables):
    actual, records = given_tables.loss(), len(given_tables.before["age"])
    losses = []
    for name, kind in KINDS.items():
        slow = Reference(given_tables.before[name], given_tables.after[name], given_tables.records_retained, kind)
        losses.append(slow.cell_loss())
        assert actual.cell_loss[name] == pytest.approx(losses[-1]), name
        assert actual.certainty_penalties[name].after == pytest.approx(slow.certainty_penalty()), name
        assert actual.distribution_distances[name] == pytest.approx(slow.distance()), name
        assert actual.cells_changed[name] == slow.changed()
        if kind == "numeric":
            assert actual.deviation.attributes.get(name) == pytest.approx(slow.il1s())
    assert actual.total == pytest.approx(sum(losses) / 4)
    assert actual.suppressed == records - len(given_tables.records_retained)


def slow(given_tables: Tables) -> dict[str, Reference]:
    return {
        name: Reference(given_tables.before[name], given_tables.after[name], given_tables.records_retained, kind)
        for name, kind in KINDS.items()
    }


@pytest.mark.long
@given(tables())
@settings(max_examples=120)
def test_counting_queries_as_the_reference_has_them(given_tables: Tables):
    actual = given_tables.loss().counting_queries
    one_way, two_way = counting_errors([slow(given_tables)[name] for name in sorted(KINDS)])

    assert actual.queries == len(one_way) + len(two_way)
    assert actual.one_way == (pytest.approx(sum(one_way) / len(one_way)) if one_way else None)
    assert actual.two_way == (pytest.approx(sum(two_way) / len(two_way)) if two_way else None)
    every = one_way + two_way
    assert actual.value == (pytest.approx(sum(every) / len(every)) if every else None)


@pytest.mark.long
@given(tables())
@settings(max_examples=120)
def test_mutual_information_and_means_as_the_reference_has_them(given_tables: Tables):
    actual, columns = given_tables.loss(), slow(given_tables)
    for name, one in columns.items():
        records_retained = information_retained(one)
        expected = None if records_retained is None else pytest.approx(records_retained, abs=1e-9)
        assert actual.mutual_information_retained[name] == expected, name
        if name == "pay":
            assert actual.mutual_information[name] == {}
            continue
        (reported,) = actual.mutual_information[name].values()
        records = len(one.before)
        assert reported.before == pytest.approx(information(one.before, columns["pay"].before, records), abs=1e-9)
        assert reported.after == pytest.approx(information(one.after, columns["pay"].after, records), abs=1e-9)
    for name in ("age", "pay"):
        assert actual.mean_error.attributes.get(name) == pytest.approx(mean_error(columns[name]))


@pytest.mark.long
@given(tables())
@settings(max_examples=60)
def test_every_figure_is_within_its_bounds(given_tables: Tables):
    reported = given_tables.loss().as_json()

    assert 0 <= reported["total"] <= 1
    for one in reported["attributes"].values():
        assert 0 <= one["cell_loss"] <= 1
        assert 0 <= one["certainty_penalty"]["after"] <= 1
        assert 0 <= (one["distribution_distance"] or 0) <= 1
        assert 0 <= (one["mutual_information_retained"] or 0) <= 1
        assert all((bits or 0) >= 0 for pair in one["mutual_information"].values() for bits in pair.values())
    assert (reported["counting_queries"]["value"] or 0) >= 0
    assert 0 <= (reported["correlation_change"]["value"] or 0) <= 2
    assert reported["propensity"]["value"] is None or 0 <= reported["propensity"]["value"] <= 0.25 + 1e-9
    assert (reported["propensity"]["value"] is None) == bool(reported["propensity"]["reason"])


@pytest.mark.long
@given(tables())
@settings(max_examples=40)
def test_nothing_changed_is_nothing_lost(given_tables: Tables):
    order = list(reversed(range(len(given_tables.before["age"]))))
    after = {name: [cells[place] for place in order] for name, cells in given_tables.before.items()}
    result = Tables(given_tables.before, after, order).loss()

    assert result.total == 0
    assert set(result.cells_changed.values()) == {0}
    assert max(one or 0 for one in result.distribution_distances.values()) < 1e-15
    assert result.deviation.value in (None, 0)
    assert result.correlation_change.value in (None, pytest.approx(0, abs=1e-12))
    assert result.propensity.value == pytest.approx(0, abs=1e-12)
    assert result.counting_queries.value in (None, 0)
    assert result.mean_error.value in (None, pytest.approx(0, abs=1e-12))
    assert [
        one for one in result.mutual_information_retained.values() if one is not None and abs(one - 1) > 1e-12
    ] == []
    for phrase in result.mutual_information.values():
        assert all(one.before == one.after for one in phrase.values())
    assert result.discernibility.before == result.discernibility.after
    for one in [result.certainty_penalty, *result.certainty_penalties.values()]:
        assert one.after == one.before


@pytest.mark.long
@given(tables(PLAIN))
@settings(max_examples=40)
def test_everything_suppressed_is_everything_lost(given_tables: Tables):
    after = {name: ["*"] * len(cells) for name, cells in given_tables.after.items()}
    result = Tables(given_tables.before, after, given_tables.records_retained).loss()

    assert result.total == 1
    assert result.certainty_penalty.after == 1
    assert result.counting_queries.one_way in (None, 1)
    assert [one for one in result.mutual_information_retained.values() if one] == []


@pytest.mark.long
@given(tables(PLAIN), st.integers(0, 10), st.integers(0, 10))
@settings(max_examples=40)
def test_more_generalised_is_never_less_lost(given_tables: Tables, less: int, more: int):
    def generalised(width: int, label: str, sets: int) -> Any:
        records_retained = given_tables.records_retained
        cells = {name: [column[place] for place in records_retained] for name, column in given_tables.before.items()}
        known = sorted(set(given_tables.before["town"]))
        towns = [frozenset({one, *known[:sets]}) for one in cells["town"]]
        after = {
            "age": [Range(one - width, one + width) if width else one for one in cells["age"]],
            "pay": cells["pay"],
            "colour": [label or ("warm" if one in BELOW["warm"] else "cold") for one in cells["colour"]],
            "town": [one if len(one) > 1 else next(iter(one)) for one in towns],
        }
        return Tables(given_tables.before, after, records_retained).loss()

    first, second = generalised(less, "", 2), generalised(less + more, "*", 3)

    for name in ATTRIBUTES:
        assert first.certainty_penalties[name].after <= second.certainty_penalties[name].after
        assert first.cell_loss[name] <= second.cell_loss[name]
    assert first.total <= second.total


@pytest.mark.long
@given(tables())
@settings(max_examples=40)
def test_classes_and_correlations_as_the_reference_has_them(given_tables: Tables):
    actual, records_retained = given_tables.loss(), given_tables.records_retained
    names = ["age", "colour", "town"]
    before, after = (
        list(zip(*(written(side[name]) for name in names), strict=True))
        for side in (given_tables.before, given_tables.after)
    )
    assert actual.discernibility.after == discernibility(before, after)
    assert actual.average_class_size.after == (
        pytest.approx(len(records_retained) / len(set(after))) if records_retained else None
    )

    columns = [
        Reference(given_tables.before[name], given_tables.after[name], records_retained, "numeric")
        for name in ("age", "pay")
    ]
    sides = ([one.cut(one.before) for one in columns], [one.cut(one.after) for one in columns])
    assert actual.correlation_change.value == pytest.approx(correlation_change(*sides), abs=1e-9)
