"""Redistribution: small tables, what holds of every table, and its certainty penalty on Adult."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings, strategies as st
from mondrian_tables import policy, view_of

import tcdp_audit
from tcdp_audit import RemedyError
from tcdp_audit.core.remedy.remedy import Treatment
from tcdp_audit.core.remedy.treatment import apply_treatment
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit_plugins.remedies._shared.search import failed_as_one_class
from tcdp_audit_plugins.remedies.redistribution import REDISTRIBUTION, apply, division, strata

PLUGINS = Plugins.load(external=False)
PLACES = {"any": {"north": ["n1", "n2", "n3"], "south": ["s1", "s2"]}}
AGE = {"scale": "numeric"}
PLACE = {"scale": "nominal", "hierarchy": PLACES}
DISEASE = {"role": "sensitive", "scale": "nominal"}
PAY = {"role": "sensitive", "scale": "numeric"}
ATTRIBUTES: Mapping[str, Any] = {"age": AGE, "place": PLACE, "name": None, "disease": DISEASE}
Record = tuple[int | None, str | None, str | None, str]
RECORDS = st.lists(
    st.tuples(
        st.integers(20, 29) | st.none(),
        st.sampled_from(["n1", "n2", "n3", "s1", "s2", "north", "*", None]),
        st.sampled_from(["a", "b", "c", None]),
        st.sampled_from("xyz"),
    ),
    min_size=4,
    max_size=40,
).filter(lambda records: all(any(record[column] is not None for record in records) for column in range(3)))
POLICIES = st.tuples(st.integers(2, 4), st.integers(1, 2), st.sampled_from(["1", "0.6", "0.3", "0.1"]))
Asked = tuple[int, int, str]


def treatment(columns: Mapping[str, Sequence[Any]], asked: Mapping[str, Any], **parameters: Any) -> Treatment:
    with view_of(columns, asked) as view:
        return REDISTRIBUTION.apply(view, REDISTRIBUTION.parameters.model_validate(parameters))


def repaired(columns: Mapping[str, Sequence[Any]], asked: Mapping[str, Any], **parameters: Any) -> dict[str, list[Any]]:
    table = pa.table(dict(columns))
    with view_of(table, asked) as view:
        done = REDISTRIBUTION.apply(view, REDISTRIBUTION.parameters.model_validate(parameters))
        return dict(apply_treatment(table, view, done).to_pydict())


def closeness(t: str, **more: Any) -> dict[str, Any]:
    return {"t_closeness": {"t": float(t), "distance": "equal", **more}}


def test_what_is_over_its_share_stays_with_the_rest() -> None:
    """Three of four in the north have x, one of four in the south; a class of the north may have as many x as y."""
    columns = {"place": ["n1"] * 4 + ["s1"] * 4, "disease": [*"xxxy", *"yyyx"]}
    after = repaired(columns, policy({"place": PLACE, "disease": DISEASE}, {"k_anonymity": {"k": 2}}, closeness("0")))
    shown = Counter(zip(after["place"], after["disease"], strict=True))
    fine = {label for label, _ in shown if label != "any"}
    assert fine
    assert fine <= {"n1", "s1"}
    assert all(shown[label, "x"] == shown[label, "y"] > 0 for label, _ in shown)
    assert shown["any", "x"] <= 2


def test_records_far_from_a_cut_are_taken_first() -> None:
    columns = {"age": [20, 21, 22, 40, 41, 42], "disease": [*"xxyyyx"]}
    asked = policy({"age": AGE, "disease": DISEASE}, {"k_anonymity": {"k": 2}}, closeness("0"))
    after = repaired(columns, asked)
    assert after["age"] == ["[20, 22]", "[21, 40]", "[20, 22]", "[21, 40]", "[41, 42]", "[41, 42]"]


def test_however_records_are_counted_the_release_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ages, towns = [20, 21, None, 40, 41, 42, 20, 35], ["n1", "n2", "n3", "s1", None, "s2", "n1", "s1"]
    columns = {"age": ages * 2, "place": towns * 2, "disease": [*"xxyyyxzx"] * 2}
    asked = policy({"age": AGE, "place": PLACE, "disease": DISEASE}, {"k_anonymity": {"k": 2}}, closeness("0.4"))
    usual = repaired(columns, asked)
    assert len({*zip(usual["age"], usual["place"], strict=True)}) > 2
    for name, value in {"SPARSE": 0, "BATCH": 1, "CELLS": 0, "ROOM": 1, "TOGETHER": 1, "RECORDS": 1}.items():
        monkeypatch.setattr(division, name, value)
        assert repaired(columns, asked) == usual


def test_a_size_that_was_tried_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, made = np.random.default_rng(2), list[int | None]()
    columns = {"age": rng.integers(20, 60, 120).tolist(), "disease": rng.choice([*"xyz"], 120).tolist()}
    risk = {"reidentification_risk": {"measure": "average", "at_most": 0.1}}
    asked = policy({"age": AGE, "disease": DISEASE}, closeness("0.3"), risk)
    original = apply.of_size

    def recorded(view: Any, parameters: Any, k: int | None) -> Treatment:
        made.append(k)
        return original(view, parameters, k)

    monkeypatch.setattr(apply, "of_size", recorded)
    done = tcdp_audit.fix(pa.table(columns), {**asked, "remedy": [{"redistribution": {}}]}, plugins=PLUGINS)
    assert done.passed
    assert done.log.steps[0].notes["k"] in made
    assert len(made) == len(set(made)) > 1


@pytest.mark.parametrize("most", [64, 3], ids=["values are strata", "records decide"])
def test_a_session_divides_no_part_again_under_another_size_and_releases_the_same(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(strata, "MOST", most)
    rng, asked = np.random.default_rng(6), list[int]()
    columns = {"age": rng.integers(20, 60, 300), "place": rng.choice([*PLACES["any"]["north"], "s1"], 300)}
    table = pa.table({**columns, "disease": rng.choice([*"uvwxyz"], 300)})
    original = apply.divide

    def recorded(table: Any, parts: Sequence[Any], *judges: Any) -> Any:
        asked.append(len(parts))
        return original(table, parts, *judges)

    def policy_of(k: int, t: str) -> dict[str, Any]:
        plain = policy({"age": AGE, "place": PLACE, "disease": DISEASE}, {"k_anonymity": {"k": k}}, closeness(t))
        return {**plain, "remedy": [{"redistribution": {}}]}

    monkeypatch.setattr(apply, "divide", recorded)
    with tcdp_audit.open_session(table, plugins=PLUGINS) as session:
        for k, t in ((5, "0.4"), (3, "0.4"), (9, "0.4"), (20, "0.4"), (5, "0.3"), (4, "0.4"), (5, "0.4")):
            asked.clear()
            shared = session.fix(policy_of(k, t))
            divided = sum(asked)
            asked.clear()
            alone = tcdp_audit.fix(table, policy_of(k, t), plugins=PLUGINS)
            assert shared.passed
            assert shared.released == alone.released
            assert divided <= sum(asked)
        assert sum(asked) > divided
        if most > 6:
            assert divided == 0  # the last was asked before


def test_without_a_sensitive_attribute_it_divides_by_size_alone() -> None:
    done = treatment({"age": [1, 2, 3, 4]}, policy({"age": AGE}, {"k_anonymity": {"k": 2}}))
    assert done.notes == {
        "classes": 2,
        "divisions": 1,
        "schedule": "at_once",
        "penalties": {"at_once": pytest.approx(1 / 3)},
    }


def test_weights_say_which_detail_is_retained() -> None:
    columns = {"age": [1, 1, 9, 9], "pay": [1, 9, 1, 9]}
    asked = policy({"age": AGE, "pay": AGE}, {"k_anonymity": {"k": 2}})
    assert repaired(columns, asked, weights={"age": 2})["age"] == [1, 1, 9, 9]
    assert repaired(columns, asked, weights={"pay": 2})["pay"] == [1, 9, 1, 9]


def test_other_attributes_stay_and_their_classes_are_not_mixed() -> None:
    columns = {"age": [1, 2, 3, 4] * 2, "sex": [*"mmmmffff"]}
    asked = policy({"age": AGE, "sex": None}, {"k_anonymity": {"k": 2}})
    after = repaired(columns, asked, attributes=["age"])
    assert after["sex"] == columns["sex"]
    assert after["age"] == ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"] * 2


@pytest.mark.parametrize(
    ("parameters", "expect", "sentence"),
    [
        ({"k": 9}, [{"k_anonymity": {"k": 2}}], "k = 9 would fail even if all records were one class"),
        ({}, [{"distinct_l_diversity": {"l": 4}}], "Distinct l-diversity would fail even if all records were one"),
        ({}, [{"t_closeness": {}}], "the policy demands nothing of a class"),
    ],
)
def test_what_cannot_be_done_is_refused(parameters: dict[str, Any], expect: list[Any], sentence: str) -> None:
    columns = {"age": [1, 2, 3, 4], "disease": [*"xyzz"]}
    with pytest.raises(RemedyError, match=sentence):
        treatment(columns, policy({"age": AGE, "disease": DISEASE}, *expect), **parameters)


def test_many_values_are_quantiles_and_the_records_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strata, "MOST", 4)
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, 150)
    columns = {"age": age.tolist(), "pay": (age * 100 + rng.integers(0, 900, 150)).tolist()}
    demand = {"t_closeness": {"t": 0.15, "distance": "ordered"}}
    asked = policy({"age": AGE, "pay": PAY}, {"k_anonymity": {"k": 5}}, demand)
    done = tcdp_audit.fix(pa.table(columns), {**asked, "remedy": [{"redistribution": {}}]}, plugins=PLUGINS)
    assert done.passed
    assert done.log.steps[0].notes["classes"] > 1
    assert done.log.steps[0].notes["penalties"].keys() == {"at_once", "in_three", "in_four", "early"}


def test_it_is_planned_where_a_class_is_too_far_from_the_table() -> None:
    columns = {"age": [*range(20, 40)], "disease": [*"xxxxxxxyyyyyyyxyxyxy"]}
    attributes = {"age": AGE, "disease": DISEASE}
    far = tcdp_audit.fix(pa.table(columns), policy(attributes, closeness("0.2")), plugins=PLUGINS)
    small = tcdp_audit.fix(pa.table(columns), policy(attributes, {"k_anonymity": {"k": 2}}), plugins=PLUGINS)
    assert "redistribution" in {step.remedy for step in (*far.log.steps, *far.log.tried)}
    assert "redistribution" not in {step.remedy for step in (*small.log.steps, *small.log.tried)}


def test_a_plan_does_not_wait_for_it_where_another_remedy_loses_little() -> None:
    columns = {"age": [*range(20, 26)], "disease": [*"xyxyxy"]}
    asked = policy({"age": AGE, "disease": DISEASE}, closeness("0.2"))
    with view_of(columns, asked) as view, pytest.raises(RemedyError, match=r"not tried: .* remedy loses only 5% of"):
        REDISTRIBUTION.apply(replace(view, least_loss=lambda: 0.05), REDISTRIBUTION.parameters())
    with view_of(columns, asked) as view:
        done = REDISTRIBUTION.apply(replace(view, least_loss=lambda: 0.06), REDISTRIBUTION.parameters())
    assert done.notes["classes"] == 3


def test_what_no_class_can_fail_is_no_demand_at_a_share_of_it_either() -> None:
    asked = policy({"age": AGE, "disease": DISEASE}, {"k_anonymity": {"k": 2}}, closeness("1"))
    after = repaired({"age": [1, 2, 3, 4], "disease": [*"xxyy"]}, asked)
    assert after["age"] == ["[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]"]


def test_stricter_demands_scale_what_may_not_be_exceeded() -> None:
    columns = {"age": [1, 2, 3, 4], "disease": [*"xyxy"]}
    asked = policy({"age": AGE, "disease": DISEASE}, {"k_anonymity": {"k": 2}}, closeness("0.4"))
    with view_of(columns, asked) as view:
        tasks = view.demands.stricter(Fraction(1, 2)).stricter(Fraction(1, 2)).tasks
        whole = view.demands.tasks
    demanded = [task.check.demands(task.expectation.parameters) for task in tasks]
    assert demanded == [{"k": 2}, {"t": Fraction(1, 10)}]
    assert [task.check.demands(task.expectation.parameters) for task in whole] == [{"k": 2}, {"t": Fraction(2, 5)}]


def _policy(asked: Asked) -> dict[str, Any]:
    k, l, t = asked
    return policy(ATTRIBUTES, {"k_anonymity": {"k": k}}, {"distinct_l_diversity": {"l": l}}, closeness(t))


def _columns(records: Sequence[Record]) -> dict[str, list[Any]]:
    return {name: [record[place] for record in records] for place, name in enumerate(ATTRIBUTES)}


def _keeps(every: Sequence[str], inside: Sequence[str], asked: Asked) -> bool:
    """k, distinct l and equal-distance t from their definitions."""
    k, l, t = asked
    table, part = Counter(every), Counter(inside)
    distance = sum(abs(Fraction(part[one], len(inside)) - Fraction(table[one], len(every))) for one in table) / 2
    return len(inside) >= k and len(part) >= l and distance <= Fraction(t)


def _require_sound(records: Sequence[Record], asked: Asked) -> None:
    diseases = [record[3] for record in records]
    after = repaired(_columns(records), _policy(asked))
    classes: dict[Any, list[str]] = {}
    for *label, disease in zip(*after.values(), strict=True):
        classes.setdefault(tuple(label), []).append(disease)
    assert all(_keeps(diseases, inside, asked) for inside in classes.values())
    assert after["disease"] == diseases
    for (age, place, name, _), new_age, new_place, new_name, _ in zip(records, *after.values(), strict=True):
        assert new_age == "*" or age is not None
        assert new_place in {place, "*", "any"} or (place or "")[0] == new_place[0]
        assert new_name == "*" or (name is not None and name in new_name)


@settings(max_examples=8)
@given(records=RECORDS, asked=POLICIES)
def test_every_class_keeps_the_demands(records: list[Record], asked: Asked) -> None:
    assume(_keeps([one[3] for one in records], [one[3] for one in records], asked))
    _require_sound(records, asked)


@pytest.mark.long
@settings(max_examples=40)
@given(records=RECORDS, asked=POLICIES)
def test_every_class_of_many_tables_keeps_the_demands(records: list[Record], asked: Asked) -> None:
    assume(_keeps([one[3] for one in records], [one[3] for one in records], asked))
    _require_sound(records, asked)


@pytest.mark.long
@settings(max_examples=30)
@given(records=RECORDS, asked=POLICIES, seed=st.randoms(use_true_random=False))
def test_the_order_of_the_records_is_no_matter(records: list[Record], asked: Asked, seed: Any) -> None:
    assume(_keeps([one[3] for one in records], [one[3] for one in records], asked))
    shuffled = list(records)
    seed.shuffle(shuffled)
    one, other = (repaired(_columns(some), _policy(asked)) for some in (records, shuffled))
    assert Counter(zip(*one.values(), strict=True)) == Counter(zip(*other.values(), strict=True))


DEMANDS: list[dict[str, Any]] = [
    {"t_closeness": {"t": 0.2, "distance": "ordered", "attribute": "pay"}},
    {"t_closeness": {"t": 0.3, "distance": "equal", "attribute": "disease"}},
    {"entropy_l_diversity": {"l": 1.5, "attribute": "disease"}},
    {"delta_disclosure": {"delta": 2, "attribute": "disease"}},
    {"homogeneity": {"at_most": 0.2, "attribute": "disease"}},
]


@pytest.mark.long
@pytest.mark.parametrize("unit", [{}, {"unit": "person", "unit_released": False}])
@settings(max_examples=8)
@example(records=[(20, "n1", "a", "x")] * 4, demands=[DEMANDS[0], DEMANDS[4]])
@given(records=RECORDS, demands=st.lists(st.sampled_from(DEMANDS), min_size=1, max_size=2, unique_by=str))
def test_the_audit_agrees(unit: dict[str, Any], records: list[Record], demands: list[dict[str, Any]]) -> None:
    """No demand fails but those that all records fail as one class: an attack on that class is left to the audit."""
    columns = {
        **_columns(records),
        "pay": [((age or 0) * 5 + len(place or "")) % 7 for age, place, _, _ in records],
        "person": [f"p{number // 2}" for number in range(len(records))],
    }
    asked = policy({**ATTRIBUTES, "pay": PAY}, {"k_anonymity": {"k": 2}}, *demands, **unit)
    asked["attributes"]["person"] = {"role": "insensitive"}
    with view_of(columns, asked) as view:
        assume(not failed_as_one_class(view.demands))  # otherwise it refuses, which is the matter of another test
    one_class = {"age": [20] * len(records), "place": ["n1"] * len(records), "name": ["a"] * len(records)}
    assert _failed(repaired(columns, asked), asked) <= _failed({**columns, **one_class}, asked)


def _failed(columns: Mapping[str, Sequence[Any]], asked: Mapping[str, Any]) -> set[str]:
    audited = tcdp_audit.audit(pa.table(dict(columns)), asked, plugins=PLUGINS)
    return {outcome.check for outcome in audited.expectations if outcome.status.value == "failed"}


@pytest.mark.parametrize(("t", "most"), [(0.2, 0.40), (0.15, 0.55)])
def test_adult_loses_less_and_the_written_file_passes(data: Path, tmp_path: Path, t: float, most: float) -> None:
    names = ("education", "marital-status", "native-country", "race", "sex", "workclass")
    trees = {
        name: {"scale": "nominal", "hierarchy": str(data / "adult" / "hierarchies" / f"{name}.csv")} for name in names
    }
    asked = policy({"age": AGE, **trees, "occupation": DISEASE}, {"k_anonymity": {"k": 5}}, closeness(str(t)))
    asked["attributes"]["salary-class"] = {"role": "insensitive"}
    fixed = tmp_path / "fixed.csv"
    asked = {**asked, "remedy": [{"redistribution": {}}]}
    done = tcdp_audit.fix(data / "adult" / "adult.csv", asked, output=fixed, plugins=PLUGINS)
    assert done.passed
    assert done.log.loss["certainty_penalty"]["after"] <= most
    assert done.log.suppressed == 0
    result = tcdp_audit.audit(fixed, asked, plugins=PLUGINS)
    assert result.passed
    assert result.expectations[1].observed is not None
    assert result.expectations[1].observed <= t
