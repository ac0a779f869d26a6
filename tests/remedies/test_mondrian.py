"""Mondrian: the paper's own table, where attributes are cut, what becomes of gaps, and what cannot be done."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from mondrian_tables import policy, repaired, treatment

import tcdp_audit
from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.remedy.remedy import RemedyError

NUMERIC = {"scale": "numeric"}
SENSITIVE = {"role": "sensitive", "scale": "nominal"}
PLACES = {"scale": "nominal", "hierarchy": {"any": {"north": ["n1", "n2"], "south": ["s1", "s2"]}}}
TWO: dict[str, Any] = {"k_anonymity": {"k": 2}}
THREE: dict[str, Any] = {"k_anonymity": {"k": 3}}


def test_the_table_of_the_paper() -> None:
    """LeFevre, DeWitt, Ramakrishnan (2006), figure 1 and its multidimensional 2-anonymous version, figure 3."""
    patients = {
        "age": [25, 25, 26, 27, 27, 28],
        "sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
        "zip": [53711, 53712, 53711, 53710, 53712, 53711],
        "disease": ["Flu", "Hepatitis", "Brochitis", "Broken Arm", "AIDS", "Hang Nail"],
    }
    asked = policy({"age": NUMERIC, "sex": None, "zip": NUMERIC, "disease": SENSITIVE}, TWO)
    assert repaired(patients, asked) == {
        "age": ["[25, 26]", "[25, 27]", "[25, 26]", "[27, 28]", "[25, 27]", "[27, 28]"],
        "sex": ["Male", "Female", "Male", "Male", "Female", "Male"],
        "zip": ["53711", "53712", "53711", "[53710, 53711]", "53712", "[53710, 53711]"],
        "disease": patients["disease"],
    }


@pytest.mark.parametrize(
    ("ages", "expected"),
    [
        ([1, 2, 3, 4], ["[1, 2]"] * 2 + ["[3, 4]"] * 2),
        ([1, 1, 1, 2, 3], ["1"] * 3 + ["[2, 3]"] * 2),
        ([1, 2, 3, 3, 3], ["[1, 2]"] * 2 + ["3"] * 3),  # the median itself is the largest value
        ([1, 2, 2, 2, 3], ["[1, 3]"] * 5),
        ([7, 7, 7, 7, 7], [7] * 5),
        ([1, 2, 3, 4, 5, 6, 7, 8], ["[1, 2]"] * 2 + ["[3, 4]"] * 2 + ["[5, 6]"] * 2 + ["[7, 8]"] * 2),
    ],
)
def test_numbers_are_cut_at_the_median_and_equal_ones_stay_together(ages: list[int], expected: list[Any]) -> None:
    assert repaired({"age": ages}, policy({"age": NUMERIC}, TWO)) == {"age": expected}


def test_ranks_are_cut_in_their_declared_order() -> None:
    order = {"scale": "ordinal", "order": ["low", "medium", "high", "severe"]}
    cells = ["severe", "low", "high", "medium"]
    expected = ["[high, severe]", "[low, medium]", "[high, severe]", "[low, medium]"]
    assert repaired({"pain": cells}, policy({"pain": order}, TWO)) == {"pain": expected}


def test_names_without_a_hierarchy_are_cut_in_their_order_and_released_as_sets() -> None:
    cells = ["d", "a", "c", "b"]
    assert repaired({"name": cells}, policy({"name": None}, TWO)) == {"name": ["{c, d}", "{a, b}", "{c, d}", "{a, b}"]}


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ("n1 n1 n2 n2 s1 s1 s2 s2", "n1 n1 n2 n2 s1 s1 s2 s2"),
        ("n1 n2 s1 s2", "north north south south"),
        ("n1 n1 n1 s1", "any any any any"),  # one child is too small, and nothing would be left if the other joined it
        ("n1 n1 n2 s1 s1", "north north north s1 s1"),
        ("n1 n1 n2 n2 n2 s1", "any any n2 n2 n2 any"),  # the smallest part joins the rest
        ("n1 n1 n2 n2 s1", "any any n2 n2 any"),
        ("n1 s1 s1 s2 s2", "any any any s2 s2"),  # below the children, where the children give nothing
    ],
)
def test_names_are_cut_into_the_children_of_their_node(places: str, expected: str) -> None:
    assert repaired({"place": places.split()}, policy({"place": PLACES}, TWO))["place"] == expected.split()


def test_a_child_that_fails_is_cut_into_its_own_children_where_those_do_not() -> None:
    places = ["n1"] * 2 + ["n2"] * 3 + ["s1"] * 3
    disease = ["x", "y", "x", "x", "x", "y", "y", "y"]
    asked = policy({"place": PLACES, "disease": SENSITIVE}, TWO, {"t_closeness": {"t": 0.25}})
    result = repaired({"place": places, "disease": disease}, asked)
    assert result["place"] == ["n1"] * 2 + ["any"] * 6


def test_the_rest_takes_in_one_part_then_three() -> None:
    """With n of a, b, c, d the rest e is 0.4, 0.15, 0.067, 0.025 away from the table."""
    flat = {"scale": "nominal", "hierarchy": {"any": ["a", "b", "c", "d", "e"]}}
    columns = {"place": list("aabbccddee"), "disease": list("xyxyxyxyxx")}
    asked = policy({"place": flat, "disease": SENSITIVE}, TWO, {"t_closeness": {"t": 0.1}})
    assert repaired(columns, asked)["place"] == ["any"] * 6 + ["d"] * 2 + ["any"] * 2


def test_only_parts_that_keep_every_demand_are_cut() -> None:
    columns = {"age": [1, 2, 3, 4, 5, 6, 7, 8], "disease": ["x", "x", "y", "y", "x", "x", "x", "y"]}
    diverse = [TWO, {"distinct_l_diversity": {"l": 2}}]
    assert repaired(columns, policy({"age": NUMERIC, "disease": SENSITIVE}, *diverse))["age"] == (
        ["[1, 4]"] * 4 + ["[5, 8]"] * 4
    )
    close = [TWO, {"t_closeness": {"t": 0.1, "distance": "equal"}}]
    assert repaired(columns, policy({"age": NUMERIC, "disease": SENSITIVE}, *close))["age"] == ["[1, 8]"] * 8


def test_a_class_with_a_missing_value_is_suppressed_and_others_are_not() -> None:
    ages = [1, 2, 3, None, 5, 6, 7, 8]
    assert repaired({"age": ages}, policy({"age": NUMERIC}, TWO))["age"] == (
        ["[1, 2]"] * 2 + ["[3, 5]", "*", "[3, 5]", "[6, 7]", "[6, 7]", "*"]
    )


@pytest.mark.parametrize("gap", [None, "*"])
def test_missing_and_suppressed_values_stand_under_the_root(gap: str | None) -> None:
    places = ["n1", "n1", "n2", "n2", gap, gap]
    assert repaired({"place": places}, policy({"place": PLACES}, TWO))["place"] == ["n1", "n1", "n2", "n2", "*", "*"]
    assert repaired({"place": places[:-1]}, policy({"place": PLACES}, TWO))["place"] == ["*", "*", "n2", "n2", "*"]


def test_a_label_that_was_generalised_before_is_never_taken_for_the_rest() -> None:
    """Two classes under the label `north` would be one to the audit."""
    places = ["north", "north", "n1", "n1", "n2"]
    actual = repaired({"place": places}, policy({"place": PLACES}, TWO))["place"]
    assert actual == ["north", "north", "n1", "n1", "north"]


def test_k_counts_entities_where_the_policy_names_a_unit() -> None:
    columns = {"age": [1, 1, 2, 2, 3, 3], "person": ["a", "a", "b", "b", "c", "c"]}
    by_person = policy({"age": NUMERIC, "person": {"role": "insensitive"}}, TWO, unit="person")
    assert repaired(columns, by_person)["age"] == ["[1, 3]"] * 6
    by_row = policy({"age": NUMERIC, "person": {"role": "insensitive"}}, TWO)
    assert repaired(columns, by_row)["age"] == [1, 1, 2, 2, 3, 3]


def test_quasi_identifiers_that_are_not_named_stay_and_separate_classes() -> None:
    columns = {"age": [1, 2, 3, 4, 5, 6, 7], "sex": ["m", "f", "m", "f", "m", "f", "m"]}
    result = repaired(columns, policy({"age": NUMERIC, "sex": None}, TWO), attributes=["age"])
    assert result == {
        "age": ["[1, 3]", "[2, 6]", "[1, 3]", "[2, 6]", "[5, 7]", "[2, 6]", "[5, 7]"],
        "sex": columns["sex"],
    }


def test_a_weight_buys_detail() -> None:
    columns = {"age": [1, 2, 3, 4], "pay": [10, 30, 20, 40]}
    asked = policy({"age": NUMERIC, "pay": NUMERIC}, TWO)
    assert repaired(columns, asked, weights={"age": 3})["age"] == ["[1, 2]"] * 2 + ["[3, 4]"] * 2
    assert repaired(columns, asked, weights={"pay": 3})["pay"] == ["[10, 20]", "[30, 40]"] * 2


def test_k_serves_where_the_policy_demands_nothing_of_a_class() -> None:
    columns = {"age": [1, 2, 3, 4]}
    asked = policy({"age": NUMERIC}, {"individual_risk": {"measure": "highest", "at_most": 0.5}}, sampling_fraction=1)
    done = tcdp_audit.fix(pa.table(columns), {**asked, "remedy": [{"mondrian": {"k": 2}}]})
    assert done.passed
    planned = tcdp_audit.fix(pa.table(columns), asked)
    assert [dict(step.parameters) for step in planned.log.steps] == [{"k": 2}]
    assert {step.remedy for step in planned.log.tried} > {"microaggregation", "mondrian"}


def test_k_adds_to_what_the_policy_demands() -> None:
    assert repaired({"age": [1, 2, 3, 4, 5, 6]}, policy({"age": NUMERIC}, TWO), k=3)["age"] == (
        ["[1, 3]"] * 3 + ["[4, 6]"] * 3
    )


REFUSED, AS_ONE = "no partition of the table keeps the policy: ", " would fail even if all records were one class"


@pytest.mark.parametrize(
    ("expect", "parameters", "sentence"),
    [
        (
            [{"k_anonymity": {"k": 5}}],
            {},
            f"^{REFUSED}k-anonymity{AS_ONE}. Attainable by that class: k-anonymity 4, where >= 5 is demanded$",
        ),
        (
            [THREE, {"distinct_l_diversity": {"l": 4}}],
            {},
            f"^{REFUSED}Distinct l-diversity{AS_ONE}. Attainable .* of 'disease' 3, where >= 4 is demanded$",
        ),
        ([THREE], {"k": 9}, f"^{REFUSED}k = 9{AS_ONE}; the largest k is 4, all records$"),
        (
            [THREE],
            {"attributes": ["age"]},
            "^1 of the 2 classes of the quasi-identifiers that are not among `attributes` do not keep k-anonymity; ",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_the_demand_that_fails(
    expect: list[dict[str, Any]], parameters: dict[str, Any], sentence: str
) -> None:
    columns = {"age": [1, 2, 3, 4], "sex": ["m", "m", "m", "f"], "disease": ["x", "y", "z", "z"]}
    asked = policy({"age": NUMERIC, "sex": None, "disease": SENSITIVE}, *expect)
    with pytest.raises(RemedyError, match=sentence):
        treatment(columns, asked, **parameters)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"attributes": ["disease"]}, "mondrian.attributes: 'disease' is no quasi-identifier of the policy"),
        ({"weights": {"pay": 2}}, "mondrian.weights: 'pay' is no quasi-identifier of the policy"),
        ({"attributes": ["age"], "weights": {"sex": 2}}, "mondrian.weights: 'sex' is not among `attributes`"),
        ({"weights": {"age": 0}}, "greater than 0"),
        ({"k": 0}, "mondrian.k: must be at least 1"),
    ],
)
def test_faults_of_the_parameters_come_with_the_policy(parameters: dict[str, Any], sentence: str) -> None:
    asked = policy({"age": NUMERIC, "sex": None, "disease": SENSITIVE}, TWO, remedy=[{"mondrian": parameters}])
    with pytest.raises(PolicyError, match=sentence):
        tcdp_audit.fix(pa.table({"age": [1], "sex": ["m"], "disease": ["x"]}), asked)


def test_it_is_planned_where_a_demand_on_classes_fails() -> None:
    columns = {"age": [1, 2, 3, 4], "sex": ["m", "f", "m", "f"]}
    done = tcdp_audit.fix(pa.table(columns), policy({"age": NUMERIC, "sex": None}, TWO))
    assert done.passed
    assert "mondrian" in {step.remedy for step in (*done.log.steps, *done.log.tried)}


def test_notes_tell_the_strategy_that_was_retained() -> None:
    notes = treatment({"age": [1, 2, 3, 4]}, policy({"age": NUMERIC}, TWO)).notes
    strategies = ("widest", "saving_per_bit", "saving_per_bit_deeper", "saving_per_root_bit_deeper")
    assert notes == {
        "classes": 2,
        "levels": 2,
        "strategy": "widest",
        "penalties": dict.fromkeys(strategies, pytest.approx(1 / 3)),
    }
