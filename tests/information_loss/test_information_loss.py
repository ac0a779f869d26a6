"""Loss of a cell, certainty penalty, distributions, classes: examples computed by hand, and the names in JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from information_loss_reference import TREE, loss_of

AGES = {"age": {"scale": "numeric"}}
ORDER = ["none", "mild", "moderate", "severe", "fatal"]


def only(figures: Any) -> Any:
    (one,) = figures.values()
    return one


def test_the_example_of_the_documentation():
    loss = loss_of({"age": [20, 30, 40, 60]}, {"age": ["[20, 30]", "32", "*"]}, records_retained=[0, 1, 2], **AGES)

    assert loss.total == pytest.approx((10 / 40 + 2 / 40 + 1 + 1) / 4)
    assert loss.certainty_penalty.after == pytest.approx((10 / 40 + 0 + 1 + 1) / 4)
    assert loss.cells_changed == {"age": 3}


@pytest.mark.parametrize(
    ("cell", "loss"),
    [
        ("40", 0),
        ("40.0", 0),
        ("42", 2 / 40),
        ("400", 1),
        ("[40, 50)", 10 / 40),
        ("40-45", 5 / 40),
        (">=50", (10 + 10) / 40),  # as wide as from 50 to 60, and 10 away from 40
        ("<50", 30 / 40),
        ("[0, 100]", 1),
        ("*", 1),
        (None, 1),
    ],
)
def test_a_number_loses(cell: str | None, loss: float):
    result = loss_of({"age": [20, 60, 40]}, {"age": ["20", "60", cell]}, **AGES)

    assert result.total == pytest.approx(loss / 3)


@pytest.mark.parametrize(
    ("old", "new", "loss"),
    [
        ("[20, 30]", "[20, 30]", 0),
        ("[20, 30]", "[20, 50]", 20 / 40),  # 30 wide and not 10
        ("[20, 30]", "[30, 40]", 10 / 40),  # as wide, and moved
        ("[20, 30]", "22", 8 / 40),  # what it covered sticks out of what is claimed now
        ("[20, 30]", "*", 1),
        ("*", "*", 0),
        ("*", None, 0),
        (None, "*", 0),
        (None, "25", 1),
        ("*", "[20, 60]", 1),
    ],
)
def test_a_number_that_was_generalised_before_loses(old: str | None, new: str | None, loss: float):
    result = loss_of({"age": ["20", "60", old]}, {"age": ["20", "60", new]}, **AGES)

    assert result.total == pytest.approx(loss / 3)
    assert result.cells_changed == {"age": int(old != new)}


@pytest.mark.parametrize(
    ("cell", "loss"),
    [("mild", 0), ("moderate", 1 / 4), ("fatal", 3 / 4), ("[mild, moderate]", 1 / 4), ("[none, fatal]", 1), ("*", 1)],
)
def test_a_rank_loses(cell: str, loss: float):
    result = loss_of({"harm": ["mild"]}, {"harm": [cell]}, harm={"scale": "ordinal", "order": ORDER})

    assert result.total == pytest.approx(loss)


@pytest.mark.parametrize(
    ("cell", "loss", "penalty"),
    [
        ("red", 0, 0),
        ("warm", 3 / 5, 3 / 5),
        ("orange", 3 / 5, 0),  # their lowest common ancestor is `warm`
        ("blue", 1, 0),
        ("cold", 1, 2 / 5),
        ("*", 1, 1),
        ("purple", 1, 0),  # no label of the hierarchy
    ],
)
def test_a_leaf_loses(cell: str, loss: float, penalty: float):
    result = loss_of({"colour": ["red"]}, {"colour": [cell]}, colour={"hierarchy": TREE})

    assert result.total == pytest.approx(loss)
    assert result.certainty_penalty.after == pytest.approx(penalty)


@pytest.mark.parametrize(
    ("old", "new", "loss"), [("warm", "warm", 0), ("warm", "red", 3 / 5), ("cold", "*", 1), ("cold", "warm", 1)]
)
def test_an_inner_label_loses(old: str, new: str, loss: float):
    result = loss_of({"colour": [old]}, {"colour": [new]}, colour={"hierarchy": TREE})

    assert result.total == pytest.approx(loss)
    assert result.certainty_penalty.before == pytest.approx({"warm": 3, "cold": 2}[old] / 5)


def test_an_inner_label_below_a_root_that_is_no_token_grows_to_it():
    tree = {"any": {"warm": ["red", "orange", "yellow"], "cold": ["blue", "green"]}}
    loss = loss_of({"colour": ["warm"]}, {"colour": ["any"]}, colour={"hierarchy": tree})

    assert loss.total == pytest.approx(2 / 5)
    assert loss.certainty_penalty.before == pytest.approx(3 / 5)
    assert loss.certainty_penalty.after == 1


@pytest.mark.parametrize(
    ("cell", "loss", "penalty"),
    [("a", 0, 0), ("b", 1, 0), ("{a, b}", 1 / 2, 1 / 2), ("{b, c}", 1, 1 / 2), ("{a, b, c, d}", 1, 1), ("x", 1, 0)],
)
def test_a_nominal_value_loses(cell: str, loss: float, penalty: float):
    result = loss_of({"town": ["a", "b", "c", "d"]}, {"town": [cell, "b", "c", "d"]})

    assert result.total == pytest.approx(loss / 4)
    assert result.certainty_penalty.after == pytest.approx(penalty / 4)


def test_a_set_label_grows():
    loss = loss_of({"town": ["a", "b", "c", "{a, b}"]}, {"town": ["a", "b", "c", "{a, b, c}"]})

    assert loss.total == pytest.approx((1 - 2 / 3) / 4)
    assert loss.certainty_penalty.before == pytest.approx(2 / 3 / 4)


def test_a_set_of_what_is_no_plain_value_covers_nothing():
    towns = ["a", "b", "c", "{b, c}", "{a, {b, c}}"]

    assert loss_of({"town": towns}, {"town": [*towns[:-1], "b"]}).total == pytest.approx(1 / 5)


def test_a_number_between_two_others_is_a_change():
    loss = loss_of({"age": [0, 2]}, {"age": [0, 1.5]}, **AGES)

    assert loss.cells_changed == {"age": 1}
    assert loss.total == pytest.approx(1 / 8)


def test_the_total_is_the_mean_over_attributes_of_both_roles():
    before = {"age": [20, 60], "town": ["a", "b"], "pay": [1, 5], "note": ["x", "y"]}
    after = {"age": ["[20, 60]", "60"], "town": ["a", "a"], "pay": [2, 5], "note": ["z", "z"]}
    pay, note = {"role": "sensitive", "scale": "numeric"}, {"role": "insensitive"}
    loss = loss_of(before, after, age={"scale": "numeric"}, pay=pay, note=note)

    assert loss.cell_loss == pytest.approx({"age": 1 / 2, "town": 1 / 2, "pay": 1 / 8})
    assert loss.total == pytest.approx((1 / 2 + 1 / 2 + 1 / 8) / 3)
    assert loss.certainty_penalty.after == pytest.approx((1 / 2 + 0) / 2)  # of the quasi-identifiers


def test_an_attribute_of_one_value():
    constant = {"age": [30, 30, 30]}

    assert loss_of(constant, {"age": ["30", "31", "[20, 40]"]}, **AGES).total == pytest.approx(1 / 3)
    assert only(loss_of(constant, {"age": [30, 31, 31]}, **AGES).distribution_distances) == 1


def test_records_are_compared_with_those_that_they_come_from():
    loss = loss_of({"age": [20, 30, 40]}, {"age": [40, 20]}, records_retained=[2, 0], **AGES)

    assert loss.cells_changed == {"age": 0}
    assert loss.total == pytest.approx(1 / 3)
    assert loss.suppressed == 1


def test_nothing_is_left():
    loss = loss_of({"age": [20, 30], "town": ["a", "b"]}, {"age": [], "town": []}, records_retained=[], **AGES)

    assert loss.total == 1
    assert loss.certainty_penalty.after == 1
    assert loss.discernibility.after == 4
    assert loss.average_class_size.after is None
    assert loss.deviation.value is None
    assert loss.deviation.records_left_out == 2
    assert loss.distribution_distances == {"age": None, "town": None}
    assert loss.propensity.value is None
    assert loss.propensity.reason == "no record is left"


def test_mondrian_on_six_records():
    before = {"age": [20, 22, 30, 40, 48, 60], "zip": ["a", "b", "a", "c", "c", "b"]}
    after = {
        "age": ["[20, 30]"] * 3 + ["[40, 60]"] * 3,
        "zip": ["{a, b}"] * 3 + ["{b, c}"] * 3,
    }
    loss = loss_of(before, after, expect=[{"k_anonymity": {"k": 3}}], age={"scale": "numeric"})

    assert loss.certainty_penalties["age"].after == pytest.approx((3 * 10 / 40 + 3 * 20 / 40) / 6)
    assert loss.certainty_penalties["zip"].after == pytest.approx(2 / 3)
    assert loss.certainty_penalty.after == pytest.approx((3 / 8 + 2 / 3) / 2)
    assert (loss.discernibility.before, loss.discernibility.after) == (6, 18)
    assert (loss.average_class_size.before, loss.average_class_size.after) == pytest.approx((1 / 3, 1))
    assert loss.total == pytest.approx(loss.certainty_penalty.after)


def test_a_suppressed_record_counts_as_many_as_there_are():
    loss = loss_of(
        {"town": list("aabbc")}, {"town": list("aabb")}, records_retained=range(4), expect=[{"k_anonymity": {"k": 2}}]
    )

    assert (loss.discernibility.before, loss.discernibility.after) == (9, 4 + 4 + 5 * 1)
    assert (loss.average_class_size.before, loss.average_class_size.after) == pytest.approx((5 / 3 / 2, 1))


@pytest.mark.parametrize(
    ("expect", "k"),
    [
        ([{"sample_uniqueness": {}}], None),
        ([{"k_anonymity": {}}], None),
        ([{"k_anonymity": {"k": 3}}, {"k_anonymity": {"k": 7, "severity": "warning"}}], 7),
    ],
)
def test_the_average_class_size_is_by_the_largest_k_demanded(expect: list[dict[str, Any]], k: int | None):
    loss = loss_of({"town": list("aaaabb")}, {"town": list("aaaabb")}, expect=expect)

    assert loss.average_class_size.after == pytest.approx(3 / (k or 1))
    assert loss.as_json()["average_class_size"]["k"] == k


@pytest.mark.parametrize(
    ("after", "distance"),
    [
        ([0, 0, 10, 10], 0),
        ([0, 0, 0, 10], 1 / 4),
        ([0, 0, 20, 10], 1 / 4),  # beyond the range
        (["[0, 10]", "[0, 10]", "[0, 10]", "[0, 10]"], 0),  # half at 0, half at 10, as before
        (["[0, 10)", "0", "10", "10"], 0),  # covers only 0
        (["(0, 10]", "0", "0", "10"], 0),  # covers only 10
        (["[4, 6]", "0", "10", "10"], 1 / 4 * 5 / 10),  # covers none, and stands at 5
        (["*", "0", "10", "10"], 1 / 2 * abs(1 / 3 - 1 / 2) + 1 / 2 * abs(1 / 3 - 1 / 2)),
        (["*", "*", "*", None], None),
    ],
)
def test_distributions_of_numbers(after: list[Any], distance: float | None):
    loss = loss_of({"age": [0, 0, 10, 10]}, {"age": after}, **AGES)

    assert only(loss.distribution_distances) == pytest.approx(distance)


@pytest.mark.parametrize(
    ("after", "distance"),
    [
        (["red", "blue", "orange", "red"], 0),
        (["red", "blue", "red", "red"], 1 / 4),
        (["warm", "blue", "orange", "red"], 1 / 8),  # half of a record goes from red to orange
        (["cold", "blue", "orange", "red"], 1 / 4),
        (["yellow", "blue", "orange", "red"], 1 / 4),
        (["any", "any", "any", "any"], 1 / 2 * ((1 / 2 - 1 / 3) + 2 * (1 / 3 - 1 / 4))),
        (["purple", "purple", "purple", "purple"], 1),
    ],
)
def test_distributions_under_a_hierarchy(after: list[str], distance: float):
    tree = {"any": {"warm": ["red", "orange", "yellow"], "cold": ["blue", "green"]}}
    loss = loss_of({"colour": ["red", "blue", "orange", "red"]}, {"colour": after}, colour={"hierarchy": tree})

    assert only(loss.distribution_distances) == pytest.approx(distance)


@pytest.mark.parametrize(
    ("after", "distance"),
    [
        ("aabc", 0),
        (["{a, b}", "{a, b}", "b", "c"], 1 / 4),
        (["x", "a", "b", "c"], 1 / 4),
        (["*", "a", "b", "c"], 1 / 6),
    ],
)
def test_distributions_of_nominal_values(after: list[str], distance: float):
    loss = loss_of({"town": list("aabc")}, {"town": list(after)})

    assert only(loss.distribution_distances) == pytest.approx(distance)


def test_distributions_of_ranks():
    order = {"scale": "ordinal", "order": ORDER}
    loss = loss_of({"harm": ["none", "fatal"]}, {"harm": ["mild", "fatal"]}, harm=order)

    assert only(loss.distribution_distances) == pytest.approx(1 / 4 / 2)


def test_without_quasi_identifiers_there_are_no_classes():
    loss = loss_of({"pay": [1, 2]}, {"pay": [1, 2]}, pay={"role": "sensitive"}, town={})

    assert loss.discernibility.before is None
    assert loss.certainty_penalty.after is None
    assert loss.total == 0


def test_without_any_attribute_only_records_can_be_lost():
    loss = loss_of({"note": [1, 2]}, {"note": [1]}, records_retained=[0], note={"role": "insensitive"}, town={})

    assert loss.total == 1 / 2
    assert loss.propensity.reason == "there is no quasi-identifier and no sensitive attribute"


def test_the_result_is_json_without_cells():
    marker = "quokka"
    before = {"age": [20, 30, 40], "town": [marker, "b", "c"]}
    after = {"age": ["[20, 30]", "[20, 30]"], "town": ["{b, " + marker + "}"] * 2}
    result = loss_of(before, after, records_retained=[0, 1], **AGES).as_json()

    assert marker not in json.dumps(result)
    assert result["records"] == 3
    assert result["records_suppressed"] == 1
    assert result["attributes"]["age"]["cells_changed"] == 2
    assert result["certainty_penalty"] == {"before": 0, "after": pytest.approx((2 / 3 + 7 / 9) / 2)}


def test_the_documentation_has_every_figure():
    page = (Path(__file__).parents[2] / "docs" / "information-loss.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    reported = [re.findall(r"`(\w+)`", line) for line in rows if "`links`" not in line]  # only where a unit joins rows
    result = loss_of({"age": [1, 2]}, {"age": [1, 2]}, **AGES).as_json()
    figures, attribute = result.copy(), result["attributes"]["age"]

    assert [names[0] for names in reported] == [*figures, *attribute]
    for names in reported:
        figure = (figures | attribute)[names[0]]
        if isinstance(figure, dict) and names[0] != "attributes":
            assert set(figure) <= set(names), names[0]
