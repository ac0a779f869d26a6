"""Suppressed units: whole histories go, those of failing classes and no others."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
import pytest
from histories import PLUGINS, UNIT, clinic, clinic_policy, figures_of, histories_of, small_clinic, treated

from tcdp_audit import PolicyError, RemedyError, audit, fix, load_policy


def test_those_in_small_classes_go_with_all_their_rows() -> None:
    table = clinic()
    histories = histories_of(table)
    sizes = Counter(histories.values())
    small = {unit for unit, own in histories.items() if sizes[own] < 5}
    released, treatment = treated(table, clinic_policy(), "suppress_units")
    stay = histories_of(released)
    assert treatment.notes["units"] == len(small) == 1451
    assert stay == {unit: own for unit, own in histories.items() if unit not in small}
    assert figures_of(stay.values())[0] == 5
    assert treatment.notes["rounds"] == 1


@pytest.mark.parametrize("seed", range(6))
def test_no_partial_units_and_no_smaller_class(seed: int) -> None:
    table = treated(small_clinic(seed, 120), clinic_policy(), "coarsen_time", to="year")[0]
    released, _ = treated(table, clinic_policy(k=3), "suppress_units")
    before, after = (
        histories_of(table, "month", "ward", "diagnosis"),
        histories_of(released, "month", "ward", "diagnosis"),
    )
    assert all(before[unit] == own for unit, own in after.items())
    old, new = (Counter(histories_of(some).values()) for some in (table, released))
    assert all(new[own] == old[own] for own in new)
    assert audit(released, clinic_policy(k=3)).passed


def slowly_remaining(table: pa.Table, values: int) -> set[Any]:
    """Those in classes of histories in which fewer than all have a value: homogeneity, again until no one fails."""
    histories, secrets = histories_of(table), defaultdict(set)
    for row in table.to_pylist():
        secrets[row[UNIT]].add(row["diagnosis"])
    remaining = set(histories)
    while True:
        classes = defaultdict(set)
        for unit in remaining:
            classes[histories[unit]].add(unit)
        failing = {
            unit
            for own in classes.values()
            if len(own) < values or set.intersection(*(secrets[unit] for unit in own))
            for unit in own
        }
        if not failing:
            return remaining
        remaining -= failing


def test_demands_on_secrets_equal_plain_python() -> None:
    table = treated(small_clinic(9, 200), clinic_policy(), "coarsen_time", to="year")[0]
    asked = clinic_policy(k=2)
    asked["expect"].append({"homogeneity": {"attribute": "diagnosis", "at_most": 0}})
    released, _ = treated(table, asked, "suppress_units")
    assert set(histories_of(released)) == slowly_remaining(table, 2)
    assert audit(released, asked).passed


def test_no_one_left_and_too_many() -> None:
    with pytest.raises(RemedyError, match="no patient would be left"):
        treated(clinic(), clinic_policy(k=1000), "suppress_units")
    with pytest.raises(RemedyError, match=r"1,451 of 2,000 patients .* allows 200; .* \(`at_most: 0.7255`\)"):
        treated(clinic(), clinic_policy(), "suppress_units", at_most="0.1")
    assert treated(clinic(), clinic_policy(), "suppress_units", at_most="0.7255")[1].notes["units"] == 1451


def test_a_household_goes_as_a_whole() -> None:
    people = [(home, 10 * home + one, sex) for home in range(12) for one, sex in enumerate("fm" if home else "ffm")]
    homes, names, sexes = zip(*people, strict=True)
    table = pa.table({"home": homes, "person": names, "sex": sexes})
    asked = {
        "version": 1,
        "unit": "person",
        "household": "home",
        "attributes": {
            "home": {"role": "insensitive"},
            "person": {"role": "insensitive"},
            "sex": {"role": "quasi_identifier"},
        },
        "expect": [{"k_anonymity": {"k": 2}}],
        "remedy": [{"suppress_units": {}}],
    }
    result = fix(table, asked, plugins=PLUGINS)
    assert result.passed
    assert sorted(set(result.released["home"].to_pylist())) == [*range(1, 12)]
    assert result.log.suppressed == 3


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"unit": None, "time": None}, "the policy names no `unit:`"),
        ({"unit_released": False}, "'patient' is dropped before release"),
    ],
)
def test_what_cannot_be_suppressed(changes: dict[str, Any], sentence: str) -> None:
    asked = {name: value for name, value in {**clinic_policy(), **changes}.items() if value is not None}
    for remedy in ("suppress_units", "suppress_events"):
        with pytest.raises(RemedyError, match=sentence):
            treated(clinic(), asked, remedy)


def test_what_a_policy_cannot_say() -> None:
    for remedy in ("suppress_units", "suppress_events"):
        with pytest.raises(PolicyError, match="at_most"):
            load_policy(clinic_policy({remedy: {"at_most": 0}}), PLUGINS)
        with pytest.raises(PolicyError, match="dropping records would break"):
            load_policy(clinic_policy({remedy: {}}, rows_aligned=True, original="o.csv"), PLUGINS)
