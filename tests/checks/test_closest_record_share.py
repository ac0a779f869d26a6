"""The interval of the closest record share where nothing leaks: original and hold-out are shared by all records."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from synthetic_tables import asked

from tcdp_audit import Status
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit_plugins.checks._shared.control_comparison import Attack, Rate, require_no_better

HALF = Fraction(1, 2)


def chance(folder: Path, seed: int, people: int, released: int, *, digits: int = 3) -> tuple[Status, dict[str, float]]:
    """What is said of a release that knows nothing of either table."""
    rng = np.random.default_rng(seed)
    tables = [pd.DataFrame(rng.normal(size=(size, 3)).round(digits), columns=list("abc")) for size in (people, people)]
    release = pd.DataFrame(rng.normal(size=(released, 3)).round(digits), columns=list("abc"))
    holdout = folder / f"{seed}.csv"
    tables[1].to_csv(holdout, index=False)
    result = asked("closest_record_share", release, tables[0], holdout)
    return result.status, dict(result.details)


@pytest.mark.long
@pytest.mark.parametrize(("people", "released", "digits"), [(200, 2000, 0), (50, 2000, 3), (40, 3000, 3)])
def test_the_interval_covers_one_half_and_no_tables_are_swapped(
    tmp_path: Path, people: int, released: int, digits: int
):
    runs = 24
    every = [chance(tmp_path, seed, people, released, digits=digits) for seed in range(runs)]
    assert [status for status, _ in every] == [Status.MEASURED] * runs
    covered = sum(one["low"] <= 0.5 <= one["high"] for _, one in every)
    assert covered >= 20  # 23 are expected
    assert max(abs(one["deviations"]) for _, one in every) < 3.5


def test_many_released_records_near_few_people_are_few_attempts(tmp_path: Path):
    _, details = chance(tmp_path, 1, 40, 3000)
    assert 100 < details["independent_attempts"] < 800
    assert details["deviations"] == pytest.approx((details["share"] - 0.5) * 2 * details["independent_attempts"] ** 0.5)


def test_one_person_near_whom_everybody_is_released_is_one_attempt(tmp_path: Path):
    """All released records stand on one original: one label decides about all of them."""
    holdout = tmp_path / "holdout.csv"
    pd.DataFrame({"v": [100, 200]}).to_csv(holdout, index=False)
    original, release = pd.DataFrame({"v": [0, 300]}), pd.DataFrame({"v": [0] * 500})
    result = asked("closest_record_share", release, original, holdout)
    # weights 1, 0, 0, 0: 4 V = (1 - 1/4) 4/3 = 1
    assert (result.details["share"], result.details["independent_attempts"]) == (1, 1)


def test_a_tie_of_many_is_decided_by_no_single_label(tmp_path: Path):
    """Two originals and two of the hold-out on the released point: 4 V = 2^(1-4) - (4 x 2^-3)^2 / 4, times 4/3."""
    holdout = tmp_path / "holdout.csv"
    pd.DataFrame({"v": [0, 0]}).to_csv(holdout, index=False)
    result = asked("closest_record_share", pd.DataFrame({"v": [0] * 50}), pd.DataFrame({"v": [0, 0]}), holdout)
    assert result.status is Status.ERROR  # nothing varies
    pd.DataFrame({"v": [0, 0, 9]}).to_csv(holdout, index=False)
    result = asked("closest_record_share", pd.DataFrame({"v": [0] * 50}), pd.DataFrame({"v": [0, 0, 8]}), holdout)
    variance = (Fraction(1, 8) - Fraction(1, 4) / 6) * Fraction(6, 5)
    assert result.details["independent_attempts"] == int(1 / variance)


def test_tables_that_were_swapped_are_an_error(tmp_path: Path):
    rng = np.random.default_rng(4)
    people = pd.DataFrame(rng.normal(size=(400, 3)).round(3), columns=list("abc"))
    holdout = tmp_path / "holdout.csv"
    people[:200].to_csv(holdout, index=False)
    result = asked("closest_record_share", people[:200], people[200:], holdout)
    assert result.status is Status.ERROR
    assert "were the two tables swapped?" in result.message


def test_a_lower_confidence_does_not_suspect_a_swap():
    """Two and a half standard deviations below chance: 1 in 160 honest releases."""
    attack = Attack(Fraction(4375, 10), 1000)
    require_no_better(attack, Rate.even())
    with pytest.raises(CheckError, match="swapped"):
        require_no_better(Attack(400, 1000), Rate.even())
    assert attack.rate(HALF).error < attack.rate(Fraction(95, 100)).error


def test_a_confidence_of_one_half_is_no_reason_for_an_error(tmp_path: Path):
    rng = np.random.default_rng(0)
    holdout = tmp_path / "holdout.csv"
    pd.DataFrame({"v": np.arange(0, 2000, 2)}).to_csv(holdout, index=False)
    original = pd.DataFrame({"v": np.arange(1, 2001, 2)})
    release = pd.DataFrame({"v": np.append(rng.permutation(original["v"])[:450], np.arange(0, 1100, 2))})
    result = asked("closest_record_share", release, original, holdout, confidence="0.5")
    assert (result.status, result.details["share"]) == (Status.MEASURED, 0.45)
