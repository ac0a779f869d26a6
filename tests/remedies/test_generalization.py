"""Generalization: levels and labels, what a policy may ask, when it is worth trying, and what it says when it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from tcdp_audit import PolicyError, audit, fix, load_policy
from tcdp_audit.core.encoding.generalised import parse_interval
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.remedy import Treatment
from tcdp_audit_plugins.remedies.generalization import GENERALIZATION
from tcdp_audit_plugins.remedies.generalization.levels import bin_labels

PLUGINS = Plugins.load(external=False)
AGES = {"*": {"0-49": {"0-24": ["1", "2", "24"], "25-49": ["25", "49"]}, "50-99": {"50-74": ["50"], "75-99": ["75"]}}}
TOWNS = {"*": {"north": ["a", "b"], "south": ["c", "d"]}}
GRADES = ["low", "middle", "high", "severe"]
QUASI: Mapping[str, Any] = {"role": "quasi_identifier"}
AGE: Mapping[str, Any] = {**QUASI, "scale": "numeric", "hierarchy": AGES}
TOWN: Mapping[str, Any] = {**QUASI, "scale": "nominal", "hierarchy": TOWNS}


def policy_of(attributes: Mapping[str, Any], k: int = 2, **more: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": attributes, "expect": [{"k_anonymity": {"k": k}}], **more}


def treated(columns: Mapping[str, Sequence[Any]], policy: Mapping[str, Any], **parameters: Any) -> Treatment:
    with open_engine(pa.table(dict(columns)), 2**28) as engine:
        view = RemedyView(Release(engine, load_policy(policy, PLUGINS)), (), 0, lambda _: ())
        return GENERALIZATION.apply(view, GENERALIZATION.parameters.model_validate(parameters))


def cells(treatment: Treatment, column: str) -> list[Any]:
    actual = treatment.columns[column]
    return actual.cells[actual.codes].tolist()


# Levels and labels


@pytest.mark.parametrize(
    ("level", "labels"),
    [
        (1, ["0-24", "0-24", "25-49", "75-99"]),
        (2, ["0-49", "0-49", "0-49", "50-99"]),
        (3, ["*", "*", "*", "*"]),
    ],
)
def test_numbers_get_the_labels_of_their_hierarchy(level: int, labels: list[str]) -> None:
    ages = {"age": [1, 24, 49, 75]}
    treatment = treated(ages | {"sex": ["f"] * 4}, policy_of({"age": AGE, "sex": QUASI}, k=1), levels={"age": level})
    assert cells(treatment, "age") == labels
    assert treatment.notes["levels"] == {"age": [level, 3], "sex": [0, 1]}
    assert treatment.notes["nodes"] == 1


def test_a_released_label_stays_until_its_own_level_and_a_missing_value_becomes_the_token() -> None:
    ages = {"age": ["1", "24", "25-49", "*", None, "49"], "sex": ["f"] * 6}
    policy = policy_of({"age": AGE, "sex": QUASI}, k=1)
    assert cells(treated(ages, policy, levels={"age": 1}), "age") == ["0-24", "0-24", "25-49", "*", "*", "25-49"]
    assert cells(treated(ages, policy, levels={"age": 3}), "age") == ["*"] * 6


def test_a_missing_value_is_of_one_class_with_suppressed_ones_on_level_0() -> None:
    treatment = treated({"town": ["*", None, "a", "a"]}, policy_of({"town": TOWN}))
    assert (treatment.columns, treatment.retained, treatment.notes["evaluated"]) == ({}, None, 1)


def test_a_missing_value_is_covered_by_a_root_that_is_no_token() -> None:
    rooted = {**TOWN, "hierarchy": {"anywhere": TOWNS["*"]}}
    treatment = treated({"town": ["a", None, "c"]}, policy_of({"town": rooted}, k=3))
    assert cells(treatment, "town") == ["anywhere"] * 3


def test_an_attribute_without_hierarchy_has_its_values_and_the_token() -> None:
    treatment = treated({"age": [1, 2, 3], "sex": ["f", "f", "f"]}, policy_of({"age": QUASI, "sex": QUASI}))
    assert cells(treatment, "age") == ["*", "*", "*"]
    assert "sex" not in treatment.columns


def test_ordinal_labels_are_ranges_of_the_order() -> None:
    hierarchy = {"*": {"[low, middle]": ["low", "middle"], "[high, severe]": ["high", "severe"]}}
    grade = {**QUASI, "scale": "ordinal", "order": GRADES, "hierarchy": hierarchy}
    released = {"grade": ["low", "middle", "high", "severe"]}
    done = fix(pa.table(released), policy_of({"grade": grade}, remedy=[{"generalization": {}}]), plugins=PLUGINS)
    assert done.passed
    assert sorted(done.released["grade"].to_pylist()) == ["[high, severe]"] * 2 + ["[low, middle]"] * 2
    assert done.log.steps[0].notes["loss"] == pytest.approx(1 / 3)


def test_bins_are_half_open_and_the_last_one_is_closed() -> None:
    ages = [15, 19, 20, 34, 35, 50, 65]
    labels = bin_labels(ages, Fraction(15))
    assert labels == ["[15, 30)", "[15, 30)", "[15, 30)", "[30, 45)", "[30, 45)", "[45, 60)", "[60, 75]"]
    assert bin_labels([20, 39, 40], Fraction(20)) == ["[20, 40]"] * 3
    assert bin_labels([7, 7], Fraction(7)) == ["[7, 14]"] * 2
    assert bin_labels([0.3, 0.35, -0.1], Fraction("0.1")) == ["[0.3, 0.4]", "[0.3, 0.4]", "[-0.1, 0)"]
    for age, label in zip(ages, labels, strict=True):
        interval = parse_interval(label)
        assert interval is not None
        assert interval.contains(age)


def test_bins_are_levels_below_the_token() -> None:
    ages = {"age": [17, 18, 26, 64, 65, 90], "sex": ["f"] * 6}
    policy = policy_of({"age": {**QUASI, "scale": "numeric"}, "sex": QUASI})
    done = fix(pa.table(ages), {**policy, "remedy": [{"generalization": {"bins": {"age": [30]}}}]}, plugins=PLUGINS)
    assert done.passed
    assert sorted(done.released["age"].to_pylist()) == ["[0, 30)"] * 3 + ["[60, 90]"] * 3
    assert done.log.steps[0].notes["levels"] == {"age": [1, 2], "sex": [0, 1]}
    assert done.log.steps[0].notes["loss"] == pytest.approx((3 * (30 - 17) / 73 + 3 * 30 / 73) / 12)


# What cannot be done


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"levels": {"zip": 1}}, "'zip' is no quasi-identifier of the policy"),
        ({"levels": {"answer": 1}}, "'answer' is no quasi-identifier of the policy"),
        ({"bins": {"town": [5]}}, "bins need 'town' to be numeric; declare `scale: numeric`, or give it a hierarchy"),
        ({"bins": {"age": [5, 12]}}, "each width of 'age' must be a multiple of the one before"),
        ({"bins": {"age": [10, 10]}}, "each width of 'age' must be a multiple of the one before"),
        ({"bins": {"age": [0]}}, "must be greater than 0"),
        ({"bins": {"age": []}}, "must not be empty"),
        ({"levels": {"age": -1}}, "must be at least 0"),
        ({"suppression": 1}, "must be less than 1"),
        ({"loss": "entropy"}, "'ncp', 'discernibility' or 'average_class_size'"),
    ],
)
def test_faults_of_the_parameters_come_with_the_policy(parameters: Mapping[str, Any], sentence: str) -> None:
    attributes = {"age": AGE, "town": TOWN, "answer": {"role": "sensitive", "scale": "nominal"}}
    with pytest.raises(PolicyError) as caught:
        load_policy(policy_of(attributes, remedy=[{"generalization": dict(parameters)}]), PLUGINS)
    assert sentence in str(caught.value)
    assert next(iter(parameters)) in str(caught.value)


@pytest.mark.parametrize(
    ("column", "declared", "parameters", "sentence"),
    [
        (["a", "zqx"], TOWN, {}, "the hierarchy of 'q' does not know all its values"),
        (["a", "b"], TOWN, {"levels": {"q": 3}}, "'q' has no level 3: its levels go from 0 to 2"),
        (
            [1, 75],
            {**AGE, "hierarchy": {"*": {"young": ["1"], "old": ["75"]}}},
            {},
            "labels that are no range of its numeric values.*declare 'q' as `scale: nominal`",
        ),
        (["1-5", "7"], {**QUASI, "scale": "numeric"}, {"bins": {"q": [5]}}, "column 'q' is generalised already"),
    ],
)
def test_what_only_the_release_shows_is_reported_without_a_cell(
    column: list[Any], declared: Mapping[str, Any], parameters: Mapping[str, Any], sentence: str
) -> None:
    with pytest.raises(RemedyError, match=sentence) as caught:
        treated({"q": column}, policy_of({"q": declared}), **parameters)
    assert "zqx" not in str(caught.value)


TWELVE = {"town": list("aaabbbcccccc"), "sex": list("ffmffmfffmmm")}


def test_an_unattainable_policy_names_a_limit_that_would_do() -> None:
    attributes = {"town": TOWN, "sex": QUASI}
    fixed = {"levels": {"town": 0, "sex": 0}}
    with pytest.raises(RemedyError) as caught:
        treated(TWELVE, policy_of(attributes, k=3), **fixed)
    assert str(caught.value) == (
        "none of the 1 combinations of levels keeps the policy; at the nearest one tried, 6 of 12 records would have "
        "to be suppressed, so `suppression: 0.5` would do"
    )
    assert treated(TWELVE, policy_of(attributes, k=3), **fixed, suppression="0.5").notes["suppressed"] == 6
    with pytest.raises(RemedyError, match="with at most 5 of 12 records suppressed; at the nearest one tried, 6 of 12"):
        treated(TWELVE, policy_of(attributes, k=3), **fixed, suppression="0.499")


ALIGNED: Mapping[str, Any] = {"original": "original.csv", "rows_aligned": True}


def test_what_fails_stays_as_one_group_that_shows_nothing() -> None:
    policy = policy_of({"town": TOWN, "sex": QUASI}, k=3, **ALIGNED)
    treatment = treated(TWELVE, policy, levels={"town": 0, "sex": 0}, suppression="0.5")
    assert (treatment.notes["suppressed"], treatment.notes["grouped"], treatment.retained) == (6, True, None)
    assert cells(treatment, "town") == ["*"] * 6 + ["c"] * 6
    assert cells(treatment, "sex") == ["*"] * 6 + list("fffmmm")
    assert treatment.notes["loss"] == 0.5


def test_a_group_that_fails_is_dropped_unless_rows_stand_for_rows() -> None:
    alone = {"town": ["a", "b", "b", "c", "c"], "sex": ["f"] * 5}
    fixed = {"levels": {"town": 0, "sex": 0}, "suppression": "0.2"}
    attributes = {"town": TOWN, "sex": QUASI}
    dropped = treated(alone, policy_of(attributes), **fixed)
    assert (dropped.notes["grouped"], dropped.columns) == (False, {})
    assert dropped.retained is not None
    assert dropped.retained.tolist() == [False, True, True, True, True]
    with pytest.raises(RemedyError, match="none of the 1 combinations of levels keeps the policy"):
        treated(alone, policy_of(attributes, **ALIGNED), **fixed)
    without_token = policy_of(attributes, conventions={"suppressed_tokens": []})
    assert not treated(alone | {"sex": list("fffff")}, without_token, **fixed).notes["grouped"]


def test_a_policy_that_no_grouping_keeps_names_what_fails() -> None:
    attributes = {"town": TOWN, "sex": QUASI, "answer": {"role": "sensitive", "scale": "nominal"}}
    expect = [{"k_anonymity": {"k": 20}}, {"distinct_l_diversity": {"l": 2}}, {"distinct_l_diversity": {"l": 3}}]
    with pytest.raises(RemedyError) as caught:
        treated({**TWELVE, "answer": ["x"] * 12}, {**policy_of(attributes), "expect": expect})
    assert "keeps the policy; even at the coarsest of them k-anonymity and Distinct l-diversity fail" in str(
        caught.value
    )
    assert "Attainable by that class: k-anonymity 12, where >= 20 is demanded" in str(caught.value)


# When it is worth trying


def plans(policy: Mapping[str, Any], columns: Mapping[str, Sequence[Any]] = TWELVE) -> list[Mapping[str, Any]]:
    table = pa.table(dict(columns))
    alone = {name: value for name, value in policy.items() if name not in ("original", "rows_aligned")}
    outcomes = audit(table, alone, plugins=PLUGINS).outcomes
    with open_engine(table, 2**28) as engine:
        view = RemedyView(Release(engine, load_policy(policy, PLUGINS)), outcomes, 0, lambda _: ())
        return list(GENERALIZATION.suggest_parameters(view, outcomes))


def test_it_is_planned_where_classes_fail_and_there_is_a_hierarchy() -> None:
    attributes = {"town": TOWN, "sex": QUASI}
    assert plans(policy_of(attributes, k=3)) == [{}, {"suppression": 0.01}, {"suppression": 0.05}]
    assert plans(policy_of(attributes, k=1)) == []
    assert plans(policy_of({"town": QUASI, "sex": QUASI}, k=3)) == []
    reidentification = {**policy_of(attributes, k=1), "expect": [{"reidentification_risk": {"at_most": 0.2}}]}
    assert plans(reidentification) == [{}, {"suppression": 0.01}, {"suppression": 0.05}]


# What it says, and that it leaves a passing release alone


def test_notes_are_the_documented_ones_and_hold_no_cell() -> None:
    treatment = treated(TWELVE, policy_of({"town": TOWN, "sex": QUASI}, k=4), suppression="0.25")
    assert set(treatment.notes) == set(GENERALIZATION.guide.notes) - {"k", "counted"}  # chosen, or of histories
    assert treatment.notes["nodes"] == 6
    assert len(treatment.notes["lattice"]) == treatment.notes["evaluated"] <= 6
    assert all(len(dot) == 4 and dot[2] in (True, False) for dot in treatment.notes["lattice"])
    chosen = [level for level, _ in treatment.notes["levels"].values()]
    assert [treatment.notes["loss"], treatment.notes["suppressed"] / 12, True, chosen] in treatment.notes["lattice"]


def test_at_most_two_hundred_dots_are_shown_the_best_and_the_worst_among_them() -> None:
    names = [f"q{number}" for number in range(9)]
    columns = {name: [str(row >> number & 1) for row in range(512)] for number, name in enumerate(names)}
    answers = ["x" if row % 3 else "y" for row in range(512)]
    attributes = {**dict.fromkeys(names, QUASI), "answer": {"role": "sensitive", "scale": "nominal"}}
    policy = {**policy_of(attributes), "expect": [{"t_closeness": {"t": 0.005}}]}
    treatment = treated({**columns, "answer": answers}, policy, suppression="0.3")
    dots, losses = treatment.notes["lattice"], [dot[0] for dot in treatment.notes["lattice"]]
    assert treatment.notes["evaluated"] > len(dots) == 200
    assert losses == sorted(losses)
    assert losses[0] == 0
    assert any(dot[3] == [level for level, _ in treatment.notes["levels"].values()] for dot in dots)


def test_a_passing_release_stays_as_it_is() -> None:
    treatment = treated({"town": list("aabb"), "sex": list("ffmm")}, policy_of({"town": TOWN, "sex": QUASI}))
    assert (treatment.columns, treatment.retained) == ({}, None)
    assert treatment.notes["evaluated"] == 1
