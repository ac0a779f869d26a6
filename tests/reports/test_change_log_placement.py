"""Names of marks: placed by computation, never on each other, on a mark or out of the plot."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, strategies as st

from tcdp_audit_reports.charts.drawing import LETTER, NARROW, Point, axis_for
from tcdp_audit_reports.charts.labelled_scatter import BASE, EDGE, HEIGHT, Mark, across, box_of, placed, scatter, up

MARKS = st.lists(
    st.builds(
        Mark,
        text=st.integers(1, 30).map(lambda length: "x" * length),
        x=st.floats(2, 98),
        y=st.floats(20, 240),
        radius=st.sampled_from([4.5, 6.5]),
    ),
    max_size=20,
)


def overlap(one, other):
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


@given(MARKS)
def test_no_name_touches_another_a_mark_or_what_is_taken(marks):
    taken = [(80.0, 100.0, 0.0, 20.0)]
    boxes = [box_of(label) for label, _ in placed(marks, 4, 260, taken)]
    assert not any(overlap(*pair) for pair in combinations(boxes, 2))
    assert not any(overlap(box, other) for box in boxes for other in [*taken, *(mark.box for mark in marks)])
    assert all(box[0] >= 0 and box[1] <= 100 and box[2] >= 4 and box[3] <= 260 for box in boxes)


@given(MARKS)
def test_a_line_leads_from_its_mark_to_its_name_and_crosses_nothing(marks):
    result = placed(marks, 4, 260)
    for label, line in result:
        if line is None:
            continue
        assert (line.x1, line.y1) == (label.x, label.y + 4)
        assert any(abs(mark.x - line.x1) <= 0.005 and abs(mark.y - mark.radius - line.y2) <= 0.05 for mark in marks)
        way = (line.x1, line.x1 + 0.01, line.y1 + 0.1, line.y2 - 0.1)
        others = [mark.box for mark in marks if abs(mark.x - line.x1) > 0.005]
        assert not any(overlap(way, box) for box in [*others, *(box_of(one) for one, _ in result if one is not label)])


def test_a_name_appears_right_of_its_mark_where_there_is_room_and_left_at_the_end():
    result = placed([Mark("right", 10, 100, 4.5), Mark("left", 95, 100, 4.5)], 0, 280)
    assert [(one.text, one.anchor, one.y) for one, _ in result] == [("right", "start", 104), ("left", "end", 104)]
    assert result[0][0].x == round(10 + 100 * 4.5 / NARROW + 1, 2)


def test_names_of_marks_in_a_row_are_raised_on_lines():
    """Five marks side by side on the lowest line, where nothing fits beside them."""
    row = [Mark("x" * 20, 30 + 8 * number, 240, 4.5) for number in range(5)]
    result = placed(row, 4, 244)
    assert [line is None for _, line in result] == [False] * 5
    assert len({label.y for label, _ in result}) == 5


def test_the_first_marks_keep_their_names_where_there_is_no_room_for_all():
    # one fits to the right and one to the left
    crowd = [Mark(f"{number}".rjust(20, "n"), 50, 100, 4.5) for number in range(30)]
    assert [one.text for one, _ in placed(crowd, 90, 110)] == [crowd[0].text, crowd[1].text]


def test_a_box_is_as_wide_as_the_text_on_a_phone():
    label, _ = placed([Mark("abcd", 10, 100, 4.5)], 0, 280)[0]
    left, right, top, bottom = box_of(label)
    assert (round(right - left, 6), bottom - top) == (round(100 * 4 * LETTER / NARROW, 6), 14)


@given(MARKS, st.floats(0, 1))
def test_a_plot_keeps_everything_inside_and_its_limit_apart_from_names(marks, share):
    axis = axis_for([0.0, 1.0], None, 100 - 2 * EDGE)
    drawing = scatter(axis, "loss", [(0, ""), (0.5, "5%")], [(mark, "ring") for mark in marks], limit=(share, "limit"))
    names = [box_of(one) for one in drawing.labels if one.text.startswith("x")]
    line = (0, 100, up(share) - 1, up(share) + 1)
    others = [box_of(one) for one in drawing.labels if one.text in ("limit", "5%")]
    assert not any(overlap(name, other) for name in names for other in [line, *others])
    assert all(0 <= one.x <= 100 and 0 <= one.y <= HEIGHT for one in (*drawing.points, *drawing.labels))
    assert (across(axis, 0), across(axis, 1), up(0)) == (EDGE, 100 - EDGE, BASE)


def test_the_limit_is_named_where_it_hides_the_fewest_points():
    axis = axis_for([0.0, 1.0], None, 100 - 2 * EDGE)
    cloud = [Point("cloud", x, up(0.5) - 8, 3.5) for x in (80, 90, 99)]
    actual = scatter(axis, "loss", [], [], cloud, (0.5, "limit")).labels
    assert [(one.x, one.y, one.anchor) for one in actual if one.text == "limit"] == [(0, up(0.5) - 6, "start")]
    actual = scatter(axis, "loss", [], [], (), (0.5, "limit")).labels
    assert [(one.x, one.y, one.anchor) for one in actual if one.text == "limit"] == [(100, up(0.5) - 6, "end")]
