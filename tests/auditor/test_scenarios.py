"""Several intruders in one policy: each is judged as in a policy that has only that one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import Audit, Outcome, PolicyError, audit, load_policy
from tcdp_audit.core.base.outcome import WORST_GROUP
from tcdp_audit.core.policy.model import PolicyDocument

COLUMNS = ("age", "sex", "job", "disease", "pay")
ROLES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "sex": {"role": "quasi_identifier"},
    "job": {"role": "insensitive"},
    "disease": {"role": "sensitive"},
    "pay": {"role": "sensitive", "scale": "numeric"},
}
SCENARIOS = {
    "neighbour": {"knows": ["age", "sex"], "says": "somebody next door"},
    "boss": {"knows": ["job", "pay"], "attempt": 0.5},
    "doctor": {"knows": ["sex", "disease"], "at_stake": ["pay"], "known_fraction": 0.25},
}
EXPECT: list[dict[str, Any]] = [
    {"k_anonymity": {"k": 3}},
    {"distinct_l_diversity": {"l": 2}},
    {"t_closeness": {"attribute": "pay", "t": 0.4, "distance": "ordered"}},
    {"reidentification_risk": {"at_most": 0.3, "threshold_risk": 0.2}},
    {"individual_risk": {"measure": "expected", "at_most": 2}},
    {"homogeneity": {"at_most": 0.1}},
]
RISKS = {"reidentification_risk", "individual_risk"}


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """Small tables, some with missing and suppressed cells."""
    records = draw(st.integers(6, 40))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    frame = pd.DataFrame(
        {
            "age": generator.integers(20, 23, records).astype(str),
            "sex": generator.choice(["m", "f"], records),
            "job": generator.choice(["a", "b", "c"], records),
            "disease": generator.choice(["x", "y", "z"], records),
            "pay": generator.integers(1, 5, records).astype(str),
        }
    )
    for column in draw(st.lists(st.sampled_from(["age", "sex", "job", "disease"]), unique=True, max_size=2)):
        frame.loc[generator.random(records) < 0.15, column] = None
    if draw(st.booleans()):
        frame.loc[generator.random(records) < 0.15, list(COLUMNS)] = "*"
    return frame


def policy(
    scenarios: Mapping[str, Any] | None = None, expect: Sequence[Mapping[str, Any]] = EXPECT, **further: Any
) -> dict[str, Any]:
    """A policy with these scenarios."""
    exempt = further.get("conventions", {}).get("suppressed") == "exempt"  # risks count every record
    judged = [one for one in expect if not (exempt and {*one} & RISKS)]
    document = {"version": 1, "attributes": ROLES, "expect": judged, "sampling_fraction": 0.1, **further}
    return document if scenarios is None else {**document, "scenarios": scenarios}


def alone(name: str, **further: Any) -> dict[str, Any]:
    """The policy that declares by roles what one scenario knows and has at stake."""
    one = SCENARIOS[name]
    at_stake = {*one.get("at_stake", ["disease", "pay"])} - {*one["knows"]}
    roles = {
        column: {
            **declared,
            "role": "quasi_identifier"
            if column in one["knows"]
            else "sensitive"
            if column in at_stake
            else "insensitive",
        }
        for column, declared in ROLES.items()
    }
    expect = [one for one in EXPECT if "attribute" not in next(iter(one.values())) or "pay" in at_stake]
    return {**policy(None, expect, **further), "attributes": roles}


def plain(outcome: Outcome, *, scaled: bool) -> dict[str, Any]:
    """The figures of an outcome, without who is taken to know what, and without what the whole policy says of it."""
    dropped = {"scenario", "message", "individual_impact", "laxer_than", "implied_by"}
    dropped |= {"details", "observed", "status", "proof"} if scaled else set()
    entry = {name: one for name, one in outcome.as_json().items() if name not in dropped}
    if not (shown := entry.get("details", {}).get(WORST_GROUP)):
        return entry
    shares = [{name: one for name, one in each.items() if name != "value"} for each in shown]  # numbered by the audit
    return {**entry, "details": {**entry["details"], WORST_GROUP: shares}}


def judged(result: Audit, name: str) -> list[Outcome]:
    return [one for one in result.expectations if one.scenario == name]


CONVENTIONS = [
    dict(zip(("missing_quasi_identifier", "suppressed", "multiple_sensitive"), values, strict=True))
    for values in product(
        ("own_category", "wildcard", "fail"),
        ("counted", "exempt"),
        ("per_attribute", "others_as_quasi_identifiers", "joint"),
    )
]


def agree(frame: pd.DataFrame, conventions: Mapping[str, str]) -> None:
    together = audit(frame, policy(SCENARIOS, conventions=conventions))
    for name in SCENARIOS:
        separate = audit(frame, alone(name, conventions=conventions))
        ours = judged(together, name)
        assert [(one.check, one.attribute) for one in ours] == [(o.check, o.attribute) for o in separate.expectations]
        for one, other in zip(ours, separate.expectations, strict=True):
            scaled = one.check in RISKS and name != "neighbour"
            assert plain(one, scaled=scaled) | {"records": None} == plain(other, scaled=scaled) | {"records": None}
            assert other.implied_by or not one.implied_by  # what implies it for every intruder does so for each
            assert other.implied_by or one.laxer_than == other.laxer_than
            if not scaled:
                assert one.records == other.records


@given(tables(), st.sampled_from(CONVENTIONS))
@settings(max_examples=12)
def test_each_is_judged_as_in_a_policy_of_only_that_one(frame: pd.DataFrame, conventions: dict[str, str]) -> None:
    agree(frame, conventions)


@pytest.mark.long
@given(tables(), st.sampled_from(CONVENTIONS))
@settings(max_examples=150)
def test_many_are_judged_as_in_policies_of_only_that_one(frame: pd.DataFrame, conventions: dict[str, str]) -> None:
    agree(frame, conventions)


@given(tables(), st.integers(2, 4))
@settings(max_examples=20)
def test_people_exposed_in_several_are_counted_once(frame: pd.DataFrame, k: int) -> None:
    expect = [{"k_anonymity": {"k": k}}]
    result = audit(frame, policy(SCENARIOS, expect))

    exposed = np.zeros(len(frame), dtype=bool)
    for one in SCENARIOS.values():
        sizes = frame.fillna("").groupby(list(one["knows"]))["age"].transform("size")
        exposed |= (sizes < k).to_numpy()

    assert (0 if result.exposed is None else result.exposed.records) == exposed.sum()


@given(tables(), st.integers(2, 4))
@settings(max_examples=12)
def test_units_exposed_in_several_are_counted_once(frame: pd.DataFrame, k: int) -> None:
    frame["person"] = [f"p{number // 2}" for number in range(len(frame))]
    expect = [{"k_anonymity": {"k": k, "known_rows": "one"}}]
    result = audit(frame, policy(SCENARIOS, expect, unit="person"))

    exposed = np.zeros(len(frame), dtype=bool)
    for one in SCENARIOS.values():
        sizes = frame.fillna("").groupby(list(one["knows"]))["person"].transform("nunique")
        exposed |= (sizes < k).to_numpy()

    people = set(frame.loc[exposed, "person"])
    assert (0 if result.exposed is None else result.exposed.people) == len(people)
    assert (0 if result.exposed is None else result.exposed.records) == exposed.sum()


FAULTS = [
    ({"a": {"knows": []}}, {}, "scenarios.a.knows"),
    ({"a": {"knows": ["agee"]}}, {}, "declares no attribute 'agee'; did you mean 'age'"),
    ({"a": {"knows": ["age", "age"]}}, {}, "'age' is named twice"),
    ({"a": {"knows": ["age"], "attempt": 1.5}}, {}, "scenarios.a.attempt"),
    ({"a": {"knows": ["age"], "attempt": 0}}, {}, "scenarios.a.attempt"),
    ({"a": {"knows": ["age", "pay"], "at_stake": ["pay"]}}, {}, "'pay' is known, so that it is not at stake"),
    ({"a": {"knows": ["age"], "at_stake": ["job"]}}, {}, "'job' is not sensitive"),
    ({"a": {"knows": ["age"], "in_release": "unknown"}}, {}, "add `population:`"),
    ({"a b": {"knows": ["age"]}}, {}, "must be a name"),
    ({"a": {"knows": ["age"]}}, {"against": "b"}, "declares no scenario 'b'"),
    ({"a": {"knows": ["age"]}}, {"against": ["a", "a"]}, "'a' is named twice"),
    ({"a": {"knows": ["age"]}}, {"against": "a", "knows": ["sex"]}, "leave out one of the two"),
    (None, {"against": "a"}, "declares no scenario 'a'"),
    (None, {"knows": ["agee"]}, "declares no attribute 'agee'"),
]


@pytest.mark.parametrize(("scenarios", "parameters", "sentence"), FAULTS)
def test_a_wrong_scenario_is_a_fault(
    scenarios: dict[str, Any] | None, parameters: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(PolicyError) as error:
        audit(pd.DataFrame(), policy(scenarios, [{"k_anonymity": {"k": 2, **parameters}}]))

    assert sentence in str(error.value)


def test_a_declared_set_of_columns_is_a_scenario_without_a_name() -> None:
    frame = pd.DataFrame({name: [1, 1, 2, 2] for name in COLUMNS} | {"pay": [1, 2, 3, 4]})
    expect = [{"k_anonymity": {"k": 2}}, {"k_anonymity": {"k": 2, "knows": ["pay"]}}]

    result = audit(frame, policy(None, expect))

    assert [(one.scenario, one.observed) for one in result.expectations] == [("", 2), ("knows pay", 1)]
    assert result.expectations[1].known == ("pay",)
    assert result.exposed is not None
    assert result.exposed.records == 4


def test_linked_tables_have_scenarios_of_their_columns() -> None:
    draw = np.random.default_rng(5)
    people = [f"p{number}" for number in range(60)]
    tables = {
        "patients": pd.DataFrame(
            {"patient": people, "sex": draw.choice(["f", "m"], 60), "age": draw.integers(0, 3, 60)}
        ),
        "visits": pd.DataFrame({"patient": draw.choice(people, 150), "month": draw.integers(1, 4, 150)}),
    }

    def asked(roles: Mapping[str, str], **further: Any) -> dict[str, Any]:
        of_patients = {name: {"role": roles[name]} for name in ("sex", "age")}
        of_visits = {"month": {"role": roles["month"]}}
        declared = {
            "patients": {"attributes": of_patients},
            "visits": {"belongs_to": "patients", "attributes": of_visits},
        }
        return {"version": 1, "unit": "patient", "tables": declared, "expect": [{"k_anonymity": {"k": 3}}], **further}

    known = dict.fromkeys(("sex", "age", "month"), "quasi_identifier")
    scenarios = {"neighbour": {"knows": ["sex", "age"]}, "nurse": {"knows": ["sex", "visits.month"]}}
    together = audit(tables, asked(known, scenarios=scenarios))
    for name, unknown in (("neighbour", "month"), ("nurse", "age")):
        (ours,) = judged(together, name)
        (alone_of,) = audit(tables, asked({**known, unknown: "insensitive"})).expectations
        assert (ours.observed, ours.classes, ours.records) == (alone_of.observed, alone_of.classes, alone_of.records)
    assert together.exposed is not None
    assert together.exposed.units is not None
    assert together.exposed.units > max(one.records.failing or 0 for one in together.expectations if one.records)


def test_each_intruder_has_tables_of_its_own(tmp_path: Path) -> None:
    frame = pd.DataFrame({name: [1, 1, 2, 2] for name in COLUMNS})
    register = pd.concat([frame, frame, frame])[["age", "sex"]]
    register.rename(columns={"age": "years"}).to_csv(tmp_path / "register.csv", index=False)
    pd.concat([frame, frame])[["age", "sex"]].to_csv(tmp_path / "voters.csv", index=False)
    own = {"file": str(tmp_path / "register.csv"), "columns": {"age": "years"}}
    scenarios = {
        "insurer": {"knows": ["age", "sex"], "population": own, "in_release": "unknown"},
        "journalist": {"knows": ["age", "sex"], "in_release": "unknown"},
    }
    expect: list[dict[str, Any]] = [{"k_map": {"k": 5}}, {"reidentification_risk": {"at_most": 0.3}}]
    population = str(tmp_path / "voters.csv")

    result = audit(frame, policy(scenarios, expect, population=population, sampling_fraction=None))

    assert [(one.scenario, one.observed) for one in result.expectations] == [
        ("insurer", 6),
        ("journalist", 4),
        ("insurer", 1 / 6),
        ("journalist", 1 / 4),
    ]
    assert [*result.companions] == ["population", "population of insurer"]
    assert "journalist" in result.expectations[2].title


def test_the_policies_of_scenarios_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    original = PolicyDocument.in_scenario

    def counted(self: PolicyDocument, name: str, knows: Sequence[str] = ()) -> PolicyDocument:
        made.append(name)
        return original(self, name, knows)

    read = load_policy(policy(SCENARIOS))
    monkeypatch.setattr(PolicyDocument, "in_scenario", counted)
    assert read.parts is read.parts
    assert read.targets is read.targets
    first = len(made)
    assert [*read.parts] == ["", *SCENARIOS]
    assert len(made) == first
