"""Attacks beside a hold-out: Wilson's intervals, what is judged and refused, and what a copy and strangers get."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from synthetic_tables import REMEMBERED, STRANGERS, TAUGHT, asked

import tcdp_audit
from tcdp_audit import PolicyError
from tcdp_audit.core.base.outcome import Outcome, Severity, Status
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import Interval
from tcdp_audit.core.policy.model import Scale
from tcdp_audit_plugins.checks._shared.control_comparison import Attack, interval_of_risk
from tcdp_audit_plugins.checks.control.risk import Ranking, none_drawn
from tcdp_audit_plugins.checks.control.singling_out import blind_guess
from tcdp_audit_plugins.checks.control.tables import numbers_of

SURE = Fraction(95, 100)
CODES = [f"c{number}" for number in range(60)]
ALL: dict[str, dict[str, Any]] = {
    "singling_out": {},
    "linkability": {"other_attributes": ["pay"]},
    "attribute_inference": {"target": "pay"},
    "membership_inference": {},
    "closest_record_share": {},
    "exact_match_rate": {"measure": "originals"},
}


@pytest.mark.parametrize(
    ("attempts", "own", "control", "risk", "error"),
    [
        (1000, 120, 60, ".063700", ".026060"),
        (1000, 120, 120, ".000000", ".032444"),
        (500, 5, 0, ".009962", ".010221"),
        (2000, 900, 880, ".017827", ".054473"),
        (100, 0, 0, ".000000", ".026651"),
        (100, 100, 90, ".838875", ".181526"),
    ],
)
def test_risks_are_those_that_anonymeter_gives(attempts: int, own: int, control: int, risk: str, error: str):
    rates = [Attack(one, attempts).rate(SURE) for one in (own, control)]
    result = rates[0].beyond(rates[1])
    assert (f"{result.centre:.6f}".lstrip("0"), f"{result.error:.6f}".lstrip("0")) == (risk, error)


@pytest.mark.parametrize(("successes", "centre", "error"), [(120, 0.121454, 0.020155), (60, 0.061684, 0.014787)])
def test_rates_are_wilsons(successes: int, centre: float, error: float):
    rate = Attack(successes, 1000).rate(SURE)
    assert (round(rate.centre, 6), round(rate.error, 6)) == (centre, error)


@given(st.integers(1, 50), st.integers(1, 50), st.data())
def test_an_interval_holds_the_risk(n: int, m: int, data: st.DataObject):
    own = data.draw(st.integers(0, n))
    control = data.draw(st.integers(0, own * m // n))  # chance does no better
    low, high, excess = interval_of_risk(Attack(Fraction(own), n), Attack(Fraction(control), m), SURE)
    assert 0 <= low <= high <= 1
    assert high >= excess >= 0
    assert high > 0


def test_a_blind_guess_isolates_one_in_37_percent():
    assert blind_guess(1000) == pytest.approx(0.3681, abs=5e-5)
    assert blind_guess(1) == 1


@given(st.integers(1, 8), st.integers(0, 8))
def test_a_draw_of_all_misses_no_one(records: int, drawn: int):
    chances = none_drawn(records, min(drawn, records))
    assert chances[0] == 1
    assert (np.diff(chances) <= 0).all()
    assert chances[-1] == (0 if drawn else 1)


@pytest.mark.parametrize(
    ("members", "others", "wrong", "expected"),
    [
        ([3, 1], [0, 4], 0, "3/4"),
        ([3, 1], [0, 4], "1/4", "13/16"),
        ([0, 4], [4, 0], 1, "1"),
        ([2, 2], [2, 2], "0.01", "0.01"),
    ],
)
def test_rates_lie_on_lines_between_thresholds(members: list[int], others: list[int], wrong: Any, expected: str):
    ranking = Ranking(np.array(members), np.array(others))
    assert ranking.true_positives(Fraction(wrong)) == Fraction(expected)


def numbered(seed: int, records: int = 300) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": random.integers(0, 60, records),
            "code": random.choice(CODES, records),
            "pay": random.integers(0, 99, records),
        }
    )


ORIGINAL, OTHERS, INDEPENDENT = numbered(1), numbered(2), numbered(3)


def all_attacked(
    folder: Path,
    released: pd.DataFrame,
    holdout: pd.DataFrame | None = OTHERS,
    given: Mapping[str, Mapping[str, Any]] = ALL,
) -> dict[str, Outcome]:
    """What came of some attacks, by the check."""
    attributes = {
        "age": {"role": "quasi_identifier", "scale": "numeric"},
        "code": {"role": "quasi_identifier", "scale": "nominal"},
        "pay": {"role": "sensitive", "scale": "numeric"},
    }
    expect = [{check: dict(parameters)} for check, parameters in given.items()]
    policy: dict[str, Any] = {"version": 1, "attributes": attributes, "expect": expect}
    if holdout is not None:
        policy["holdout"] = str(folder / "others.csv")
        holdout.to_csv(policy["holdout"], index=False)
    return {one.check: one for one in tcdp_audit.audit(released, policy, ORIGINAL).expectations}


def attacked(
    folder: Path, check: str, released: pd.DataFrame, holdout: pd.DataFrame | None = OTHERS, **parameters: Any
) -> Outcome:
    """What came of one."""
    return all_attacked(folder, released, holdout, {check: {**ALL[check], **parameters}})[check]


def demanding(most: float, **others: float) -> dict[str, dict[str, Any]]:
    """All attacks with the largest figure allowed of each."""
    return {check: {**given, "at_most": others.get(check, most)} for check, given in ALL.items()}


def test_a_copy_fails_and_strangers_pass(tmp_path: Path):
    demands = demanding(0.3, linkability=0.02, membership_inference=0.65, closest_record_share=0.65)
    copied = all_attacked(tmp_path, ORIGINAL, given=demands)
    assert {check: one.status for check, one in copied.items()} == dict.fromkeys(ALL, Status.FAILED)
    honest = all_attacked(tmp_path, INDEPENDENT, given=demands)
    assert {check: one.status for check, one in honest.items()} == dict.fromkeys(ALL, Status.PASSED)
    assert abs(honest["closest_record_share"].details["share"] - 0.5) <= 4 / (2 * 300**0.5)


def test_a_copy_beside_few_strangers_never_passes(tmp_path: Path):
    result = all_attacked(tmp_path, ORIGINAL, OTHERS.head(1), demanding(0.01))
    for check in ("singling_out", "closest_record_share"):
        outcome = result.pop(check)
        assert outcome.status is Status.ERROR
        assert "the hold-out has 1 record and the original has 300" in outcome.message
    assert {one.status for one in result.values()} == {Status.FAILED}


def test_a_holdout_that_is_released_is_no_control(tmp_path: Path):
    result = all_attacked(tmp_path, OTHERS, given=demanding(0.99))
    assert {one.status for one in result.values()} == {Status.ERROR}
    assert all("were the two tables swapped?" in one.message for one in result.values())


def test_a_demand_needs_a_control(tmp_path: Path):
    for check in ALL:
        with pytest.raises(PolicyError, match=r"at_most.*holdout"):
            attacked(tmp_path, check, ORIGINAL, None, at_most=0.1)
    result = all_attacked(tmp_path, ORIGINAL, None)
    for check in ("membership_inference", "closest_record_share"):
        assert "no holdout is given" in result.pop(check).message
    assert {one.status for one in result.values()} == {Status.MEASURED}


def test_the_order_of_records_plays_no_part(tmp_path: Path):
    released, larger = ORIGINAL.head(50), pd.concat([OTHERS, INDEPENDENT])
    mixed = released.sample(frac=1, random_state=2), larger.sample(frac=1, random_state=3)
    assert all_attacked(tmp_path, *mixed) == all_attacked(tmp_path, released, larger)


def test_a_table_without_records_is_refused(tmp_path: Path):
    result = all_attacked(tmp_path, ORIGINAL, OTHERS.head(0))
    assert {one.status for one in result.values()} == {Status.ERROR}
    assert all("has no record" in one.message for one in result.values())


def test_everyone_who_is_alone_in_a_copy_is_singled_out(tmp_path: Path):
    attack_outcome = attacked(tmp_path, "singling_out", ORIGINAL)
    assert (attack_outcome.observed, attack_outcome.details["excess"]) == (1, 1)
    assert attack_outcome.details["successes"] == attack_outcome.details["attempts"]


def test_equal_records_single_out_no_one(tmp_path: Path):
    twice = pd.concat([ORIGINAL, ORIGINAL])
    attack_outcome = attacked(tmp_path, "singling_out", twice)
    assert attack_outcome.status is Status.ERROR
    assert "no released record is alone" in attack_outcome.message


def test_people_of_the_original_are_no_control(tmp_path: Path):
    people = ORIGINAL.assign(id=[f"p{number}" for number in range(300)])
    holdout = OTHERS.assign(id=[f"p{number}" for number in range(299, 599)])
    holdout.to_csv(tmp_path / "holdout.csv", index=False)
    attributes = {"age": {"role": "quasi_identifier", "scale": "numeric"}, "id": {"role": "insensitive"}}
    expect = [{"membership_inference": {}}, {"singling_out": {}}, {"exact_match_rate": {"measure": "originals"}}]
    policy = {
        "version": 1,
        "key": "id",
        "holdout": str(tmp_path / "holdout.csv"),
        "attributes": attributes,
        "expect": expect,
    }
    actual = tcdp_audit.audit(people[["age", "id"]], policy, people).expectations
    assert {one.status for one in actual} == {Status.ERROR}
    assert all("1 key of the hold-out is in the original, too" in one.message for one in actual)


def test_no_guess_widens_its_own_tolerance(tmp_path: Path):
    """Secrets from 0 to 100: a guess of 94 for 100 is right within 5 % of a declared 120, whatever is released."""
    holdout = pd.DataFrame({"age": [1, 2, 3], "code": ["a", "b", "c"], "pay": [0, 1, 100]})
    released = pd.DataFrame({"age": [1, 2, 3], "code": ["a", "b", "c"], "pay": [10**9, 1, 94]})

    def right(**given: Any) -> Any:
        holdout.to_csv(tmp_path / "others.csv", index=False)
        attributes = {
            "age": {"role": "quasi_identifier", "scale": "numeric"},
            "code": {"role": "quasi_identifier", "scale": "nominal"},
            "pay": {"role": "sensitive", "scale": "numeric"},
        }
        expect = [{"attribute_inference": {"target": "pay", **given}}]
        policy = {"version": 1, "holdout": str(tmp_path / "others.csv"), "attributes": attributes, "expect": expect}
        return tcdp_audit.audit(released, policy, ORIGINAL).expectations[0].details["control_successes"]

    assert right() == 1
    assert right(tolerance="0.06") == 2
    assert right(width=120) == 2
    assert right(tolerance=0) == 1


def test_a_good_share_of_closest_records_only_ever_warns(tmp_path: Path):
    attack_outcome = attacked(tmp_path, "closest_record_share", ORIGINAL, at_most=0.5)
    assert (attack_outcome.status, attack_outcome.severity) == (Status.FAILED, Severity.WARNING)
    attack_outcome = attacked(tmp_path, "closest_record_share", ORIGINAL, at_most=0.5, severity="error")
    assert attack_outcome.severity is Severity.ERROR


def test_true_positives_need_a_hundred_others(tmp_path: Path):
    assert attacked(tmp_path, "membership_inference", ORIGINAL).details["true_positive_rate"] > 0.1
    few = attacked(tmp_path, "membership_inference", ORIGINAL, OTHERS.head(99), true_positive_rate=0.9)
    assert few.details["true_positive_rate"] is None
    assert few.status is Status.FAILED


def test_members_detected_with_few_mistakes_are_judged_by_the_upper_end(tmp_path: Path):
    copied = attacked(tmp_path, "membership_inference", ORIGINAL, at_most=1, true_positive_rate="1/20")
    assert copied.status is Status.FAILED
    assert "at most 5% is allowed" in copied.message
    details = copied.details
    assert details["true_positive_rate_high"] > details["true_positive_rate"] > 0.1
    honest = attacked(tmp_path, "membership_inference", INDEPENDENT, at_most=0.65, true_positive_rate="1/5")
    assert honest.status is Status.PASSED


@pytest.mark.parametrize(
    ("check", "given", "sentence"),
    [
        ("singling_out", {"size": 3}, "there are 2 attributes to choose from"),
        ("singling_out", {"attributes": ["nobody"]}, "the policy declares no attribute 'nobody'"),
        ("linkability", {"other_attributes": ["age"], "attributes": ["age"]}, "'age' is in both lists"),
        ("linkability", {"other_attributes": ["age", "code"]}, "no attribute is left that the intruder knows"),
        ("attribute_inference", {"target": "nobody"}, "the policy declares no attribute 'nobody'"),
        ("attribute_inference", {"attributes": ["pay"]}, "'pay' is what the intruder guesses"),
        ("membership_inference", {"attributes": ["nobody"]}, "the policy declares no attribute 'nobody'"),
    ],
)
def test_a_policy_that_cannot_be_measured_is_refused(tmp_path: Path, check: str, given: dict[str, Any], sentence: str):
    with pytest.raises(PolicyError, match=sentence):
        attacked(tmp_path, check, ORIGINAL, **given)


def test_too_many_sets_of_columns_are_refused(holdout: Path):
    wide = pd.concat([TAUGHT.add_suffix(str(copy)) for copy in range(4)], axis=1)
    result = asked("singling_out", wide, wide, size=7)
    assert "1,184,040 sets of 7 among 28 columns are more than 5,000" in result.message
    assert holdout.is_file()


def test_memory_of_a_release_is_detected_in_numbers(holdout: Path):
    result = asked("membership_inference", REMEMBERED, TAUGHT, holdout, at_most=0.5)
    assert result.status is Status.FAILED
    assert result.details["true_positive_rate"] >= 0.1  # a tenth was copied
    assert len(STRANGERS) == result.details["holdout_records"]


def test_a_range_is_at_its_middle_and_a_suppressed_cell_nowhere():
    covers = Interval(0, 1), Interval(-inf, inf), Interval(2, inf)
    values, counts = np.array(["[low, middle]", "*", "[high, ...]"], dtype=object), np.ones(3, dtype=np.int64)
    domain = Domain("grade", values, counts, 0, np.arange(3), covers=covers)
    np.testing.assert_array_equal(numbers_of(domain, Scale.ORDINAL), [0.5, np.nan, 2])


def test_nothing_to_compare_by_and_no_secret_are_errors(tmp_path: Path):
    no_one = OTHERS.assign(pay=np.nan)
    attack_outcome = attacked(tmp_path, "attribute_inference", ORIGINAL, no_one)
    assert "has a value of 'pay', so there is no secret to guess" in attack_outcome.message
    alike = asked("membership_inference", ORIGINAL[["code"]], ORIGINAL[["code"]].assign(code="c1"), _same(tmp_path))
    assert "none of the compared attributes varies" in alike.message


def _same(folder: Path) -> Path:
    pd.DataFrame({"code": ["c1", "c1"]}).to_csv(folder / "same.csv", index=False)
    return folder / "same.csv"


@pytest.mark.parametrize("check", ["singling_out", "k_concealment", "kk_anonymity"])
def test_the_key_is_no_quasi_identifier_that_an_intruder_knows(check: str):
    policy = {"version": 1, "key": "age", "attributes": {"age": {"role": "quasi_identifier"}}, "expect": [{check: {}}]}
    with pytest.raises(PolicyError, match="'age' is the key, which an intruder does not have; leave it out"):
        tcdp_audit.audit(ORIGINAL[["age"]], policy, ORIGINAL[["age"]])
