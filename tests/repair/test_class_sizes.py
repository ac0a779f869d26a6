"""`fix` for demands that are not on classes, but kept by larger ones: a k follows, or is tried, and is reported."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import audit, fix
from tcdp_audit.core.check.demands import required_class_size, sufficient_class_size
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.session.registry import Plugins

PLUGINS = Plugins.load(external=False)

DRAW = np.random.default_rng(5)
TABLE = pa.table(
    {
        "age": DRAW.integers(20, 80, 300),
        "zip": [f"{zip_}" for zip_ in DRAW.integers(10, 22, 300)],
        "sex": DRAW.choice(["f", "m"], 300).tolist(),
    }
)
ATTRIBUTES = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "zip": {"role": "quasi_identifier"},
    "sex": {"role": "quasi_identifier"},
}


def policy(*expect: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"version": 1, "attributes": ATTRIBUTES, "expect": list(expect), **more}


RISK = {"reidentification_risk": {"at_most": 0.2}}


@pytest.mark.parametrize(
    ("expect", "k"),
    [
        ([{"reidentification_risk": {"at_most": 0.1, "measure": "average"}}], 9),
        ([{"reidentification_risk": {"measure": "share_above", "threshold_risk": 0.34, "at_most": 0.2}}], 3),
        ([{"individual_risk": {"at_most": 0.2}}], 2),
        ([{"suda": {"at_most": 0}}], 2),
        ([{"population_uniqueness": {"at_most": 0, "estimator": "zayatz"}}], 2),
        ([{"uniqueness_profile": {"at_most": 0}}], 2),
        ([{"quasi_identifier_strength": {"at_most": 0}}], 2),
    ],
)
def test_classes_of_some_k_keep_a_demand_on_risk(expect: list[dict[str, Any]], k: int) -> None:
    more = {"sampling_fraction": 0.1} if "uniqueness" in str(expect) or "individual" in str(expect) else {}
    asked = policy(*expect, **more)
    result = fix(TABLE, asked)
    assert result.passed, result.log.reason
    assert [(one.remedy, dict(one.parameters)) for one in result.log.steps] == [("mondrian", {"k": k})]
    again = fix(TABLE, {**asked, "remedy": [{"mondrian": {"k": k}}]})
    assert again.passed
    assert again.released.equals(result.released)


@pytest.mark.parametrize(
    "remedy",
    [
        {"suppression": {"of": "cells", "k": 5}},
        {"suppression": {"of": "records", "k": 5}},
        {"generalization": {"k": 5, "suppression": 0.5}},
        {"mondrian": {"k": 5}},
    ],
)
def test_a_remedy_takes_a_k_of_its_own(remedy: dict[str, Any]) -> None:
    table = pa.table({"age": DRAW.integers(20, 26, 90), "zip": DRAW.choice(["1", "2"], 90), "sex": ["f"] * 90})
    trees = {
        "age": {"*": {"20-22": dict.fromkeys(["20", "21", "22"]), "23-25": dict.fromkeys(["23", "24", "25"])}},
        "zip": {"*": {"1": None, "2": None}},
    }
    asked = policy(RISK, remedy=[remedy])
    asked["attributes"] = {
        name: {**one, **({"hierarchy": trees[name]} if name in trees else {})} for name, one in ATTRIBUTES.items()
    }
    result = fix(table, asked)
    assert result.passed, result.log.reason
    sizes = result.released.group_by(["age", "zip", "sex"]).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(sizes) >= 5
    assert audit(result.released, asked).passed


def smallest(release: pa.Table) -> int:
    """The size of the smallest class, by plain counting."""
    return min(Counter(zip(*(release[name].to_pylist() for name in ATTRIBUTES), strict=True)).values())


@pytest.mark.parametrize("expect", [[RISK], [{"k_anonymity": {"k": 3}}, RISK]])
def test_a_highest_risk_is_searched_for_as_the_k_that_it_is(expect: list[dict[str, Any]]) -> None:
    result, by_k = fix(TABLE, policy(*expect)), fix(TABLE, policy({"k_anonymity": {"k": 5}}))
    assert result.passed, result.log.reason
    assert [(one.remedy, dict(one.parameters)) for one in result.log.steps] == [("mondrian", {})]
    assert result.released.equals(by_k.released)
    assert result.log.loss["total"] == by_k.log.loss["total"]
    assert smallest(result.released) == 5


@pytest.mark.parametrize(
    ("remedy", "note"),
    [
        ({"mondrian": {}}, 7),
        ({"redistribution": {}}, 8),
        ({"suppression": {"of": "cells"}}, 6),
        ({"suppression": {"of": "records"}}, 10),
    ],
)
def test_a_named_remedy_chooses_the_k_that_a_demand_needs(remedy: dict[str, Any], note: int) -> None:
    table = TABLE.set_column(0, "age", pa.array(np.array(TABLE["age"]) // 30 * 30))
    result = fix(table, policy({"reidentification_risk": {"at_most": 0.1, "measure": "average"}}, remedy=[remedy]))
    assert result.passed, result.log.reason
    (step,) = result.log.steps
    assert step.notes["k"] == note
    assert not step.unhelped
    (name,) = remedy
    given = fix(
        table,
        policy(
            {"reidentification_risk": {"at_most": 0.1, "measure": "average"}},
            remedy=[{name: {**remedy[name], "k": note}}],
        ),
    )
    assert given.released.equals(result.released)
    assert "k" not in given.log.steps[0].notes


def test_a_plan_chooses_one_k_where_classes_fail_as_well() -> None:
    average = {"reidentification_risk": {"at_most": 0.1, "measure": "average"}}
    result = fix(TABLE, policy({"k_anonymity": {"k": 3}}, average))
    assert [(one.remedy, dict(one.parameters), one.notes["k"]) for one in result.log.steps] == [("mondrian", {}, 9)]
    enough = fix(TABLE, policy({"k_anonymity": {"k": 9}}, average))
    assert enough.released.equals(result.released)
    assert "k" not in enough.log.steps[0].notes


def test_microaggregation_takes_the_k_that_a_risk_needs() -> None:
    table, numbers = TABLE.select(["age"]), {"age": {"role": "quasi_identifier", "scale": "numeric"}}
    average = {"reidentification_risk": {"at_most": 0.05, "measure": "average"}}
    for demand in (RISK, average):
        result = fix(table, {"version": 1, "attributes": numbers, "expect": [demand], "remedy": [MICRO]})
        assert result.passed, result.log.reason


MICRO: dict[str, Any] = {"microaggregation": {}}


@pytest.mark.parametrize(
    ("demand", "remedies", "reason"),
    [
        ({"at_most": 0.001}, [], "needs classes of at least 1,000 records, and the release has 300"),
        ({"at_most": 0.001}, [{"mondrian": {}}], "needs classes of at least 1,000 records, and the release has 300"),
        ({"at_most": 0.05, "measure": "average"}, [{"mondrian": {"k": 3}}], "give a remedy `k: 20`"),
    ],
)
def test_a_reason_says_which_size_would_do(demand: dict[str, Any], remedies: list[Any], reason: str) -> None:
    result = fix(TABLE, policy({"reidentification_risk": demand}, **({"remedy": remedies} if remedies else {})))
    assert not result.passed
    assert result.written is None
    assert reason in result.log.reason


@pytest.mark.parametrize("remedies", [{}, {"remedy": [{"mondrian": {}}]}])
def test_where_no_size_is_enough_the_remedy_says_what_comes_nearest(remedies: dict[str, Any]) -> None:
    result = fix(TABLE, policy({"reidentification_risk": {"at_most": 0.001, "measure": "average"}}, **remedies))
    assert not result.passed
    tried = {one.remedy: one.error for one in result.log.tried}
    assert tried["mondrian"] == (
        "no size of classes is enough: k = 300 leaves reidentification_risk 0.003, where <= 0.001 is demanded"
    )


def test_a_remedy_for_another_demand_makes_no_smaller_classes_than_a_risk_needs() -> None:
    release = fix(TABLE, policy(RISK)).released  # keeps the risk, and fails the other demand
    other = {"alpha_k_anonymity": {"alpha": 0.9, "k": 2, "attribute": "sick"}}
    sick = DRAW.choice(["y", "n"], 300, p=[0.7, 0.3])
    asked = policy(RISK, other, remedy=[{"mondrian": {}}])
    asked["attributes"] = {**ATTRIBUTES, "sick": {"role": "sensitive", "scale": "nominal"}}
    result = fix(release.append_column("sick", pa.array(sick)), asked)
    assert result.passed, result.log.reason
    assert smallest(result.released) >= 5


@given(st.fractions(min_value=0, max_value=1, max_denominator=200).filter(bool))
def test_the_k_of_a_highest_risk_is_the_smallest_that_keeps_it(risk: Fraction) -> None:
    read = read_policy(policy({"reidentification_risk": {"at_most": str(risk)}}), PLUGINS)
    (one,) = read.expectations
    k = required_class_size(one, read.document)
    assert k == sufficient_class_size(one, read.document)
    assert k == next(size for size in range(1, 1000) if Fraction(1, size) <= risk)


SHARES = st.sampled_from(["0", "0.05", "0.2", "0.5"])
DEMANDS = st.one_of(
    st.builds(lambda r: {"reidentification_risk": {"at_most": r}}, st.sampled_from(["0.2", "0.34", "0.1", "1/7"])),
    st.builds(
        lambda r, who: {"reidentification_risk": {"at_most": r, "measure": "average", "scenario": who}},
        st.sampled_from(["0.2", "0.34", "0.1"]),
        st.sampled_from(["prosecutor", "marketer"]),
    ),
    st.builds(
        lambda r, s: {"reidentification_risk": {"at_most": s, "measure": "share_above", "threshold_risk": r}},
        st.sampled_from(["0.2", "0.34"]),
        SHARES,
    ),
    st.builds(
        lambda r, of: {"individual_risk": {"at_most": r, "measure": of}},
        st.sampled_from(["0.01", "0.1", "0.5"]),
        st.sampled_from(["highest", "average", "expected"]),
    ),
    st.builds(lambda s, size: {"suda": {"at_most": s, "max_size": size}}, SHARES, st.integers(1, 3)),
    st.builds(lambda s: {"sample_uniqueness": {"at_most": s}}, SHARES),
    st.builds(lambda s: {"population_uniqueness": {"at_most": s, "estimator": "zayatz"}}, SHARES),
    st.builds(lambda s, t: {"uniqueness_profile": {"at_most": s, "t": t}}, SHARES, st.integers(2, 5)),
)
ROWS = st.lists(st.tuples(st.integers(20, 40), st.sampled_from("abc"), st.sampled_from("fm")), min_size=1, max_size=25)
REMEDIES = st.sampled_from(
    [
        None,
        {"mondrian": {}},
        {"mondrian": {"k": 2}},
        {"suppression": {"of": "cells"}},
        {"suppression": {"of": "records"}},
        {"generalization": {"suppression": 0.3}},
        {"redistribution": {}},
    ]
)


def repaired_or_refused(rows: list[Any], demands: list[dict[str, Any]], remedy: dict[str, Any] | None) -> None:
    """A repair passes an audit of its own, with the sizes that its demands need, or is refused with a sentence."""
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(ATTRIBUTES)})
    asked = policy(*demands, sampling_fraction=0.1, **({} if remedy is None else {"remedy": [remedy]}))
    result = fix(table, asked, plugins=PLUGINS)
    assert result.passed == audit(result.released, asked, plugins=PLUGINS).passed
    if not result.passed:
        assert result.log.reason
        assert all(one.error or one.outcomes for one in result.log.tried)
        return
    for one in read_policy(asked, PLUGINS).expectations:
        if one.check.name == "reidentification_risk" and one.parameters.measure == "highest":
            assert Fraction(1, smallest(result.released)) <= one.parameters.at_most


@settings(max_examples=3, deadline=None)  # repairs take a while
@given(ROWS, st.lists(DEMANDS, min_size=1, max_size=2), REMEDIES)
def test_a_risk_is_repaired_or_refused_with_a_sentence(rows: Any, demands: Any, remedy: Any) -> None:
    repaired_or_refused(rows, demands, remedy)


@pytest.mark.long
@settings(max_examples=20, deadline=None)  # repairs take a while
@given(ROWS, st.lists(DEMANDS, min_size=1, max_size=2), REMEDIES)
def test_a_risk_is_repaired_or_refused_with_a_sentence_in_many_tables(rows: Any, demands: Any, remedy: Any) -> None:
    repaired_or_refused(rows, demands, remedy)


@pytest.mark.parametrize("expect", [{"at_most": 0.001}, {"at_most": 0.001, "measure": "average"}])
def test_what_fails_is_not_written(expect: dict[str, Any], tmp_path: Path) -> None:
    result = fix(TABLE, policy({"reidentification_risk": expect}), output=tmp_path / "out.csv")
    assert not result.passed
    assert not list(tmp_path.iterdir())
