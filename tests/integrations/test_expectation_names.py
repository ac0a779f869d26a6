"""What needs no Great Expectations: names, the stub, the missing extra, and which demands share an audit."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import pytest

from tcdp_audit import PluginError, PolicyError, audit, load_policy
from tcdp_audit.core.session import inputs
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.integrations import great_expectations
from tcdp_audit.integrations.great_expectations.demands import sound_demand
from tcdp_audit.integrations.great_expectations.parameters import TAKEN, all_fields, class_names, setup_of
from tcdp_audit.integrations.host import Demand, Fault, answers_to, joined

CHECKS = {name: one for name, one in Plugins.load(external=False).checks.items() if one.on_records}
QUASI = {"age": {"role": "quasi_identifier"}}
POLICY = {"version": 1, "attributes": QUASI, "expect": [{"k_anonymity": {"k": 2}}]}


def test_names_are_those_of_the_field():
    names = {check.name: name for name, check in class_names(CHECKS).items()}

    assert set(names) == set(CHECKS)
    assert len(set(names.values())) == len(CHECKS)
    for check, name in {
        "k_anonymity": "ExpectTableToBeKAnonymous",
        "t_closeness": "ExpectColumnToBeTClose",
        "entropy_l_diversity": "ExpectColumnToBeEntropyLDiverse",
        "recursive_cl_diversity": "ExpectColumnToBeRecursivelyClDiverse",
        "p_sensitive_k_anonymity": "ExpectColumnToBePSensitiveKAnonymous",
        "basic_beta_likeness": "ExpectColumnToBeBasicBetaLike",
        "sample_uniqueness": "ExpectTableSampleUniquenessToBeLimited",
        "distance_to_closest_record": "ExpectTableDistanceToClosestRecordToBeSufficient",
        "homogeneity": "ExpectColumnHomogeneityToBeLimited",
    }.items():
        assert names[check] == name


def test_a_check_may_give_its_own_name():
    check = replace(CHECKS["k_anonymity"], expectation_name="ToHideInACrowd")

    assert list(class_names({"k_anonymity": check})) == ["ExpectTableToHideInACrowd"]


def test_two_checks_cannot_have_one_name():
    like_the_first = replace(CHECKS["k_map"], expectation_name="ToBeKAnonymous")

    with pytest.raises(PluginError, match="k_anonymity and k_map would both be ExpectTableToBeKAnonymous"):
        class_names({**CHECKS, "k_map": like_the_first})


def test_no_parameter_takes_the_name_of_another():
    for check in CHECKS.values():
        fields = [one.name for one in all_fields(check)]
        assert len(set(fields)) == len(fields)
        own = {one.name for one in all_fields(check) if one.name in check.parameters.model_fields}
        assert not own & (TAKEN - {"attributes", "unit"})  # a demand's unit is that of its table


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Great Expectations is not installed."""
    monkeypatch.setattr("tcdp_audit.core.quality.find_spec", lambda _: None)


@pytest.mark.usefixtures("absent")
def test_the_missing_extra_is_named():
    with pytest.raises(ModuleNotFoundError, match=r'pip install "tcdp-audit\[great-expectations\]"'):
        great_expectations.ExpectTableToBeKAnonymous  # noqa: B018 - using it is the point
    with pytest.raises(AttributeError, match="has no attribute '__wrapped__'"):
        great_expectations.__wrapped__  # noqa: B018
    assert "guarded_run" in dir(great_expectations)


@pytest.mark.usefixtures("absent")
def test_a_policy_with_a_suite_says_what_is_missing():
    with pytest.raises(PolicyError, match=r'policy: suite: needs Great Expectations; pip install "tcdp-audit\['):
        audit(_table(), {**POLICY, "suite": "quality.json"})


def _table() -> Any:
    return importlib.import_module("pyarrow").table({"age": [1, 1, 2], "zip": ["a", "a", "b"], "ill": ["x", "y", "x"]})


def test_a_policy_names_a_suite_in_two_ways():
    stored = load_policy({**POLICY, "suite": {"context": "gx", "name": "quality"}}).document.suite

    assert (stored.context, stored.name) == ("gx", "quality")  # type: ignore[union-attr]
    with pytest.raises(PolicyError, match="suite"):
        load_policy({**POLICY, "suite": {"context": "gx"}})


def _demand(check: str, quasi: Any = QUASI, column: str | None = None, **parameters: Any) -> Demand:
    conventions = parameters.pop("conventions", None)
    head = {} if conventions is None else {"conventions": conventions}
    sensitive = {} if column is None else {column: {"role": "sensitive"}}
    own = {**parameters, **({} if column is None else {"attribute": column})}
    return sound_demand({"attributes": {**quasi, **sensitive}, **head}, {check: own})


def _groups(*asked: Demand) -> list[int]:
    return [len(group) for group, _ in joined(asked)]


def test_demands_share_an_audit_where_no_answer_changes():
    anonymous, diverse = _demand("k_anonymity", k=2), _demand("distinct_l_diversity", column="ill", l=2)
    others = _demand("distinct_l_diversity", column="zip", l=2)
    together = {"multiple_sensitive": "others_as_quasi_identifiers"}
    apart = [_demand("distinct_l_diversity", column=one, l=2, conventions=together) for one in ("ill", "zip")]

    assert _groups(anonymous, diverse, others) == [3]
    assert _groups(anonymous, _demand("k_anonymity", quasi={"zip": {"role": "quasi_identifier"}}, k=2)) == [1, 1]
    assert _groups(*apart) == [1, 1]
    assert _groups(anonymous, apart[0]) == [1, 1]


def test_demands_on_columns_are_asked_of_the_columns_that_they_declare():
    structure = sound_demand({"attributes": {**QUASI, "ill": {"role": "sensitive"}}})
    fits, adds = (_demand("distinct_l_diversity", column=one, l=2) for one in ("ill", "zip"))

    assert _groups(structure, fits) == _groups(fits, structure) == [2]
    assert _groups(structure, adds) == _groups(adds, structure) == [1, 1]


def test_answers_are_those_of_an_audit():
    asked = [_demand("k_anonymity", k=2), _demand("distinct_l_diversity", column="ill", l=2)]
    structure = sound_demand({"attributes": {**QUASI, "ill": {"role": "sensitive"}}})

    given = answers_to([*asked, structure], _table())

    anonymous, diverse = (given[one][0] for one in asked)  # type: ignore[index]
    assert (anonymous.observed, anonymous.status, diverse.observed, diverse.status) == (1, "failed", 1, "failed")
    broken = [one.check for one in given[structure] if one.blocks]  # type: ignore[union-attr]
    assert broken == ["undeclared_columns"]


def test_faults_are_answers(monkeypatch: pytest.MonkeyPatch):
    demand = _demand("k_anonymity", k=2)

    (empty,) = answers_to([demand], _table().slice(0, 0)).values()
    (none,) = answers_to([demand], 7).values()
    monkeypatch.setattr(inputs, "evaluation", lambda *_: 1 / 0)
    (raised,) = answers_to([demand], _table()).values()

    assert isinstance(empty, Fault)
    assert "has no records" in empty.sentence
    assert isinstance(none, Fault)
    assert "an int is no table" in none.sentence
    assert raised == Fault("the audit raised ZeroDivisionError")


@pytest.mark.parametrize(
    ("check", "parameters", "attributes", "sentence"),
    [
        ("k_anonymity", {"k": 0}, QUASI, "^k: must be at least 1"),
        ("k_anonimity", {"k": 2}, QUASI, "did you mean 'k_anonymity'"),
        ("distinct_l_diversity", {"l": 2}, QUASI, "no attribute has the role sensitive"),
        ("k_anonymity", {"k": {1}}, QUASI, "as JSON has them"),
        ("", {}, {"age": {"role": "quasi"}}, "attributes.age.role: must be one of"),
        (
            "distinct_l_diversity",
            {"l": 2},
            {**QUASI, "a": {"role": "sensitive"}, "b": {"role": "sensitive"}},
            "it would give 2 outcomes",
        ),
    ],
)
def test_a_demand_that_no_policy_could_make_is_refused(
    check: str, parameters: dict[str, Any], attributes: dict[str, Any], sentence: str
):
    with pytest.raises(PolicyError, match=sentence):
        sound_demand({"attributes": attributes}, {check: parameters} if check else None)


def test_a_setup_says_nothing_twice():
    assert setup_of({"quasi_identifiers": ["age"], "column": "ill", "scale": "nominal", "unit": None}) == {
        "attributes": {"age": {"role": "quasi_identifier"}, "ill": {"role": "sensitive", "scale": "nominal"}}
    }
    unit = {"declarations": {"ill": {"role": "insensitive"}}, "unit": "home", "unit_released": False}
    assert setup_of(unit) == {"unit": "home", "unit_released": False, "attributes": {"ill": {"role": "insensitive"}}}
    with pytest.raises(ValueError, match="another scale for 'ill'"):
        setup_of({"declarations": {"ill": {"scale": "nominal"}}, "column": "ill", "scale": "numeric"})
