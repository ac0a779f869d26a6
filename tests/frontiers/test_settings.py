"""Thresholds to try, and the order of their settings."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import pytest
from frontier_samples import BUILT_IN, POLICY, K, T
from hypothesis import given, strategies as st

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.outcome import Comparison
from tcdp_audit.core.check.demands import around, between
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.results.setting_trial import VariedDemand
from tcdp_audit.frontiers.varied import Variation, grid, one_at_a_time_grid

F = Fraction
POSITIVE = st.fractions(min_value=F(1, 1000), max_value=1000)


def policy(*expect: dict[str, dict[str, object]]) -> Policy:
    return read_policy({**POLICY, "expect": list(expect) or POLICY["expect"]}, BUILT_IN)


@given(POSITIVE, POSITIVE)
def test_steps_ascend_from_one_end_to_the_other(one: Fraction, other: Fraction):
    low, high = sorted((one, other))
    steps = between(low, high)
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (low, high)
    assert all(b / a <= F(5, 2) for a, b in pairwise(steps))


@given(POSITIVE, st.integers(0, 4))
def test_steps_around_a_number_are_as_many_below_as_above(own: Fraction, steps: int):
    result = around(own, steps)
    assert result == sorted(set(result))
    assert result[steps] == own
    assert len(result) == 2 * steps + 1


def test_a_range_from_nothing():
    assert between(F(0), F(0)) == [0]
    assert between(F(0), F(1)) == [0, *map(F, ("1/50", "1/20", "1/10", "1/5", "1/2")), 1]
    assert between(F(-2), F(0)) == [-2, 0]


@given(st.integers(1, 6), st.integers(1, 6))
def test_a_grid_has_each_setting_once_and_the_policys_own_first(first: int, second: int):
    k = VariedDemand("k", "k", "k", Comparison.AT_LEAST, F(7), tuple(map(F, range(1, first + 1))))
    t = VariedDemand("t", "t", "t", Comparison.AT_MOST, F(7), tuple(map(F, range(second, 0, -1))))
    settings = grid((k, t))
    assert settings[0] == (7, 7)
    assert sorted(settings[1:]) == sorted(product(k.levels, t.levels))
    assert set(settings[1:3]) == {(k.levels[0], t.levels[0])} | ({settings[2]} if len(settings) > 2 else set())


def test_corners_come_before_what_lies_between():
    corners = {(k, t) for k in (K.levels[0], K.levels[-1]) for t in (T.levels[0], T.levels[-1])}
    assert set(grid((K, T))[1:5]) == corners


def test_a_star_varies_one_demand_at_a_time():
    assert one_at_a_time_grid((K, T)) == (
        (5, F(1, 5)),
        (3, F(1, 5)),
        (10, F(1, 5)),
        (5, F(1, 2)),
        (5, F(1, 10)),
    )


def test_too_many_settings_are_refused():
    many = VariedDemand("k", "k", "k", Comparison.AT_LEAST, F(1), tuple(map(F, range(1, 40))))
    with pytest.raises(UsageError, match="1,521 combinations"):
        grid((many, many))


def test_levels_run_from_the_laxest_to_the_strictest():
    k, t = Variation.asked(policy(), {"k_anonymity": "3..50", "t_closeness": (0.5, "1/5", F(3, 20))}).demands
    assert k.levels == (3, 5, 10, 20, 50)
    assert t.levels == (F(1, 2), F(1, 5), F(3, 20))
    assert (k.own, t.own) == (4, F(2, 5))


def test_without_names_every_demand_that_counts_is_varied():
    demands = Variation.around(
        policy(
            {"k_anonymity": {"k": 4}}, {"distinct_l_diversity": {"l": 2, "severity": "warning"}}, {"t_closeness": {}}
        )
    ).demands
    assert [one.name for one in demands] == ["k_anonymity"]
    assert demands[0].levels == (1, 2, 4, 5, 10)


def test_a_check_on_several_attributes_is_named_with_each():
    strict, lax = ({"t_closeness": {"t": t, "attribute": "illness"}} for t in (0.2, 0.3))
    with pytest.raises(UsageError, match="name the attribute of one, such as t_closeness:illness"):
        Variation.asked(policy(strict, lax), {"t_closeness": "0.1..0.2"})
    same = policy(strict, {"t_closeness": {"t": 0.2, "distance": "equal"}})
    assert Variation.asked(same, {"t_closeness": "0.1,0.2"}).positions == ((0, 1),)
    assert Variation.asked(same, {"t_closeness:illness": "0.1,0.2"}).positions == ((0,),)
    with pytest.raises(UsageError, match="name each once"):
        Variation.asked(same, {"t_closeness": [0.1], "t_closeness:illness": [0.1]})


def test_a_setting_becomes_a_policy_and_its_lines():
    variation = Variation.asked(policy(), {"k_anonymity": [3, 10], "t_closeness": ["1/3"]})
    setting = (F(10), F(1, 3))
    under = variation.under(setting, planned=True)
    assert [one.check.demanded(one.parameters) for one in under.expectations] == [10, F(1, 3)]
    assert list(variation.lines(setting)) == ["k_anonymity: {k: 10}", "t_closeness: {distance: equal, t: 1/3}"]
    named = Variation.asked(read_policy({**POLICY, "remedy": [{"mondrian": {}}]}, BUILT_IN), {"k_anonymity": [3]})
    assert [len(named.under((F(3),), planned=planned).remedies) for planned in (False, True)] == [1, 0]


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"k_anonimity": "3..5"}, "the policy does not demand it; did you mean 'k_anonymity'"),
        ({"homogeneity": "3..5"}, "those that can be varied are k_anonymity and t_closeness"),
        ({"k_anonymity": "5..3"}, "the range ends before it begins"),
        ({"k_anonymity": "2-10"}, "'2-10': write 2..10 for a range, 2,5,10 for a list"),
        ({"k_anonymity": "3..many"}, "'many' must be a finite number"),
        ({"k_anonymity": "2.5"}, "2.5 is no threshold of it: must be a whole number"),
        ({"k_anonymity": "0.1..0.9"}, "no threshold of it is in this range; list some, as k_anonymity=4"),
        ({"k_anonymity": []}, "lists no threshold"),
        ({"k_anonymity": 5}, "must be a range such as 3..50, or a list of numbers"),
        ({"k_anonymity": {"k": 5}}, "must be a range such as 3..50, or a list of numbers"),
        ({"k_anonymity": [None]}, "must be a number"),
        ({"t_closeness": "2"}, "2 is no threshold of it: must be at most 1"),
    ],
)
def test_what_cannot_be_varied_is_reported_in_a_sentence(asked: dict[str, object], sentence: str):
    with pytest.raises(UsageError) as caught:
        Variation.asked(policy(), asked)
    assert sentence in str(caught.value)


def test_a_demand_that_only_warns_is_not_varied():
    warns = policy({"k_anonymity": {"k": 4, "severity": "warning"}})
    with pytest.raises(UsageError, match="demands nothing, or only warns"):
        Variation.asked(warns, {"k_anonymity": "3..5"})
    with pytest.raises(UsageError, match="nothing to vary"):
        Variation.around(warns)
