"""Rounding: the multiple that each number becomes, and what cannot be rounded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from masked import PLUGINS, masked, paired_policy

from tcdp_audit import PolicyError, fix, load_policy
from tcdp_audit.core.remedy.remedy import RemedyError
from tcdp_audit_plugins.remedies.rounding import near, nearest

GRADES = ["none", "low", "middle", "high"]
GRADE = {"grade": {"role": "quasi_identifier", "scale": "ordinal", "order": GRADES}}
DECLARED = {
    "age": {"role": "quasi_identifier", "scale": "numeric"},
    "town": {"role": "quasi_identifier", "scale": "nominal"},
    "name": {"role": "identifier"},
    **GRADE,
}


@pytest.mark.parametrize(
    ("remedy", "sentence"),
    [
        ({"global_recoding": {"breaks": {"age": [30, 18]}}}, "must ascend"),
        ({"global_recoding": {"breaks": {"age": ["young"]}}}, "a break of 'age' is no number"),
        ({"global_recoding": {"breaks": {"grade": ["lowest"]}}}, "a break of 'grade' is no value of its order"),
        ({"global_recoding": {"breaks": {"grade": ["none"]}}}, "first break of 'grade' is the least value"),
        ({"global_recoding": {"breaks": {"town": [1]}}}, "'town' have no order"),
        ({"top_bottom_coding": {"attribute": "age", "top": 90, "share": 0.1}}, "or a share of the records, not both"),
        ({"top_bottom_coding": {"attribute": "age", "top": 18, "bottom": 18}}, "bottom must be less than the top"),
        ({"top_bottom_coding": {"attribute": "grade", "share": 0.1}}, "'grade' is ordinal"),
        ({"top_bottom_coding": {"attribute": "name", "share": 0.1}}, "neither a quasi-identifier nor a sensitive"),
        ({"rounding": {"attributes": ["grade"], "base": 2}}, "'grade' is ordinal"),
        ({"rounding": {"attributes": ["age"], "base": {"age": 2, "wage": 3}}}, "a base and is not rounded"),
    ],
)
def test_what_a_policy_cannot_say(remedy: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        load_policy(paired_policy(DECLARED, {"exact_match_rate": {"at_most": 0}}, remedy=[remedy]), PLUGINS)


@given(
    st.integers(-10_000, 10_000).map(lambda cents: cents / 100),
    st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(5), Fraction(7, 2)]),
)
def test_the_nearest_multiple_is_near_and_stays(number: float, base: Fraction) -> None:
    rounded = nearest(number, base)
    assert rounded % base == 0
    assert -base / 2 < rounded - Fraction(str(number)) <= base / 2
    assert nearest(float(rounded), base) == rounded


@given(st.fractions(Fraction(1, 10**6), 10**6))
def test_a_round_size_is_at_most_a_size_and_more_than_two_fifths_of_it(size: Fraction) -> None:
    assert Fraction(2, 5) * size < near(size) <= size
    assert str(float(near(size)))[0] in "0125"


def test_numbers_are_rounded_each_attribute_to_its_base() -> None:
    table = pa.table({"age": pa.array([3, 8, 12, None], pa.int8()), "wage": ["0.24", "0.25", "*", "-0.25"]})
    declared = {"age": "numeric", "wage": "numeric"}
    done = masked(table, declared, "rounding", base={"age": 5, "wage": Fraction(1, 2)})
    assert done.column("age") == [5, 10, 10, None]
    assert done.table["age"].type == pa.int8()
    assert done.column("wage") == ["0", "0.5", "*", "0"]
    assert done.notes["records"] == 6
    assert masked(done.table, declared, "rounding", base={"age": 5, "wage": Fraction(1, 2)}).table.equals(done.table)


@pytest.mark.parametrize(
    ("table", "parameters", "sentence"),
    [
        ({"age": ["[0, 5)", "7"]}, {"base": 5}, "'age' has ranges"),
        ({"grade": ["low"]}, {"base": 5}, "no numeric quasi-identifier"),
        ({"age": [1, 2]}, {}, "compare the release with its original"),
    ],
)
def test_what_cannot_be_rounded(table: dict[str, Any], parameters: dict[str, Any], sentence: str) -> None:
    declared = {name: DECLARED[name] for name in table}
    with pytest.raises(RemedyError, match=sentence):
        masked(pa.table(table), declared, "rounding", **parameters)


@pytest.mark.long
def test_the_finest_base_that_does() -> None:
    random = np.random.default_rng(3)
    table = pa.table({"age": random.integers(18, 90, 60), "height": random.integers(140, 200, 60)})
    declared = {name: {"role": "quasi_identifier", "scale": "numeric"} for name in table.column_names}
    policy = paired_policy(declared, {"exact_match_rate": {"at_most": 0.1}}, remedy=[{"rounding": {}}])
    done = fix(table, policy, table, plugins=PLUGINS)
    assert done.passed
    assert 0 < done.log.steps[0].notes["coarsest"] < 1
    assert fix(done.released, policy, table, plugins=PLUGINS).log.is_unchanged
