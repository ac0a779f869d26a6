"""Segments of arrays compared with plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from tcdp_audit.core.encoding.keys import positions_of, starts_of
from tcdp_audit_plugins.remedies._shared.segments import first_of_each, inverse, rank_within

LENGTHS = st.lists(st.integers(0, 4), max_size=8)
MEMBERS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20)


@given(LENGTHS)
def test_segments_that_follow_one_another_hold_every_position_once(lengths: list[int]):
    sizes = np.array(lengths, dtype=np.int64)

    assert starts_of(sizes).tolist() == [sum(lengths[:place]) for place in range(len(lengths))]
    assert positions_of(starts_of(sizes), sizes).tolist() == list(range(sum(lengths)))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=8))
def test_positions_of_any_segments(segments: list[tuple[int, int]]):
    starts, lengths = (np.array([one[side] for one in segments], dtype=np.int64) for side in (0, 1))

    assert positions_of(starts, lengths).tolist() == [start + n for start, length in segments for n in range(length)]


@given(st.permutations(range(7)))
def test_a_member_is_at_its_place(order: list[int]):
    assert inverse(np.array(order)).tolist() == [order.index(member) for member in range(7)]


@given(MEMBERS)
def test_ranks_are_those_among_the_members_of_a_group(members: list[tuple[int, int]]):
    groups, figures = (np.array([one[side] for one in members], dtype=np.int64) for side in (0, 1))
    by_figure = [
        sum((other, place) < (figure, here) for place, (of, other) in enumerate(members) if of == group)
        for here, (group, figure) in enumerate(members)
    ]
    by_place = [sum(of == group for of, _ in members[:here]) for here, (group, _) in enumerate(members)]

    assert rank_within(groups, figures).tolist() == by_figure
    assert rank_within(groups).tolist() == by_place


@given(MEMBERS)
def test_the_first_of_each_group_in_an_order(members: list[tuple[int, int]]):
    groups = np.array([group for group, _ in members], dtype=np.int64)
    order = sorted(range(len(members)), key=lambda place: members[place][1])
    of_group = {group: [place for place in order if members[place][0] == group] for group in set(groups.tolist())}
    expected = {group: places[0] for group, places in of_group.items()}

    present, first = first_of_each(groups, np.array(order, dtype=np.intp))

    assert dict(zip(present.tolist(), first.tolist(), strict=True)) == expected
