"""People of households as checks see them, and how far they are alike, against a program that compares households."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tcdp_audit import load_policy
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.check.table_view import TableView
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.units.coding import code_histories
from tcdp_audit.core.units.members import Members, People, members_of

PLUGINS = Plugins.load(external=False)
ROWS = [
    *(("h1", "30", "f"), ("h1", "32", "m"), ("h2", "32", "m"), ("h2", "30", "f")),
    *(("h3", "30", "f"), ("h3", "32", "m"), ("h3", "5", "f"), ("h4", "70", "f"), ("h5", "70", "f")),
]


@contextmanager
def viewed(rows: Sequence[tuple[Any, ...]] = ROWS, **more: Any) -> Iterator[TableView]:
    columns = dict(zip(("home", "age", "sex", "person"), zip(*rows, strict=True), strict=False))
    known = {name: {"role": "quasi_identifier"} for name in ("age", "sex")}
    links = {name: {"role": "insensitive"} for name in columns if name not in known}
    document = {"version": 1, "household": "home", "attributes": {**known, **links}, "expect": [{"k_anonymity": {}}]}
    with open_engine(pa.table({name: [*cells] for name, cells in columns.items()}), 2**30) as engine:
        yield TableView(load_policy({**document, **more}, PLUGINS), engine, {})


def test_the_rows_of_households_are_their_members() -> None:
    with viewed() as view:
        members = view.events(table="members")

    assert (members.units, members.unit.tolist()) == (5, [0, 0, 1, 1, 2, 2, 2, 3, 4])
    assert sorted(members.codes) == ["age", "sex"]
    history = members.history.tolist()
    assert (history[0] == history[1], history[3] == history[4], len({*history})) == (True, True, 3)
    assert members.least_class == 1


def test_what_may_be_known_of_members_can_be_chosen() -> None:
    with viewed() as view:
        by_sex = view.events(["sex"], table="members")

    assert [*by_sex.codes] == ["sex"]
    assert sorted(Counter(by_sex.history.tolist()).values()) == [1, 2, 2]


def test_members_are_rows_and_need_a_household() -> None:
    twice = [(*row, f"p{number // 2}") for number, row in enumerate(ROWS)]
    several = "some people have several rows, so that a row is no member"
    with viewed(twice, unit="person") as view, pytest.raises(CheckError, match=several):
        view.events(table="members")
    with viewed(household=None) as view, pytest.raises(CheckError, match="the policy names no `household:`"):
        view.events(table="members")


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.integers(1, 3)), min_size=1, max_size=12))
def test_people_of_households_are_alike_as_comparing_says(rows: list[tuple[int, str, int]]) -> None:
    people = [(home, label) for home, label, times in rows for _ in range(times)]
    home, label = np.array([home for home, _, _ in rows]), np.array(["abc".index(one) for _, one, _ in rows])
    times = np.array([times for _, _, times in rows])
    present = np.ones(5, dtype=bool)
    coded = code_histories(home, label, 5, 3, times)
    # households without a row do not count
    present[[one for one in range(5) if one not in home]] = False

    assert members_of(People(home, label, times), coded, present) == _slowly(people)


def _slowly(people: Sequence[tuple[int, Hashable]]) -> Members:
    homes: dict[int, list[Hashable]] = defaultdict(list)
    for home, label in people:
        homes[home].append(label)
    like = {home: sum(Counter(own) == Counter(other) for other in homes.values()) for home, own in homes.items()}
    candidates = [like[home] * homes[home].count(label) for home, label in people]
    everyone = Counter(label for _, label in people)
    with_one = {home for home, label in people if everyone[label] == 1}
    return Members(
        people=len(people),
        in_households_alone=sum(like[home] == 1 for home, _ in people),
        least_alike=min(candidates),
        without_their_like=candidates.count(1),
        with_one_alone=sum(home in with_one for home, _ in people),
    )
