"""Truncated histories: which rows stay, compared with plain Python, and what cannot be put in order."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from histories import PLUGINS, UNIT, clinic, clinic_policy, figures_of, histories_of, small_clinic, treated

from tcdp_audit import PolicyError, RemedyError, fix, load_policy


@pytest.mark.parametrize(("rows", "figures"), [(2, (1, 12, 321)), (1, (61, 0, 24))])
def test_golden_numbers(rows: int, figures: tuple[int, int, int]) -> None:
    released, treatment = treated(clinic(), clinic_policy(timed=False), "truncate_histories", rows=rows)
    histories = histories_of(released)
    assert figures_of(histories.values()) == figures
    assert len(histories) == 2000
    assert max(map(len, histories.values())) == rows
    assert treatment.notes["records"] == 4977 - len(released)


def test_first_two_rows_and_quarters() -> None:
    remedies = {"truncate_histories": {"rows": 2}}, {"coarsen_time": {"to": "quarter"}}
    asked = clinic_policy(*remedies, k=19)
    table = clinic()
    released, _ = treated(table, clinic_policy(timed=False), "truncate_histories", rows=2)
    coarse, _ = treated(released, asked, "coarsen_time", to="quarter")
    assert figures_of(histories_of(coarse).values()) == (19, 0, 44)


@pytest.mark.parametrize("keep", ["first", "last"])
def test_rows_by_time_equal_plain_python(keep: str) -> None:
    for seed in range(5):
        table = small_clinic(seed)
        released, _ = treated(table, clinic_policy(), "truncate_histories", rows=2, keep=keep)
        times = defaultdict(list)
        for row in table.to_pylist():
            times[row[UNIT]].append(row["month"])
        slow = {unit: sorted(sorted(own)[:2] if keep == "first" else sorted(own)[-2:]) for unit, own in times.items()}
        released_times = {unit: sorted(row[0] for row in own) for unit, own in histories_of(released, "month").items()}
        assert released_times == slow


def test_rows_without_a_time_are_dropped_first() -> None:
    table = pa.table({UNIT: [1, 1, 1], "month": ["", "2024-02", "2024-01"], "ward": [*"abc"], "diagnosis": [*"aaa"]})
    for keep, ward in (("first", "c"), ("last", "b")):
        released, _ = treated(table, clinic_policy(), "truncate_histories", rows=1, keep=keep)
        assert released["ward"].to_pylist() == [ward]
        released, _ = treated(table, clinic_policy(), "truncate_histories", rows=2, keep=keep)
        assert sorted(released["ward"].to_pylist()) == ["b", "c"]


@pytest.mark.parametrize("keep", ["first", "last", "random"])
def test_the_order_of_the_file_has_no_influence(keep: str) -> None:
    table, asked = small_clinic(4), clinic_policy(seed=3)
    order = np.random.default_rng(1).permutation(len(table))
    names = [(name, "ascending") for name in table.column_names]
    released = [
        treated(some, asked, "truncate_histories", rows=1, keep=keep)[0].sort_by(names)
        for some in (table, table.take(order))
    ]
    assert released[0].equals(released[1])


def test_random_rows_are_drawn_evenly() -> None:
    table = pa.table(
        {
            UNIT: np.repeat(np.arange(3000), 3),
            "month": np.tile(["2024-01", "2024-02", "2024-03"], 3000),
            "ward": ["n"] * 9000,
            "diagnosis": ["a"] * 9000,
        }
    )
    released, _ = treated(table, clinic_policy(), "truncate_histories", rows=1, keep="random")
    months = Counter(released["month"].to_pylist())
    assert sum(months.values()) == 3000
    assert all(abs(number - 1000) < 180 for number in months.values())  # seven standard deviations


def test_the_most_rows_that_suffice() -> None:
    _, treatment = treated(clinic(), clinic_policy(timed=False, k=5), "truncate_histories")
    assert treatment.notes["rows"] == 1
    with pytest.raises(RemedyError, match="even one row of each patient does not suffice: k_anonymity 61, where >= 62"):
        treated(clinic(), clinic_policy(timed=False, k=62), "truncate_histories")


def test_a_short_history_stays_and_a_second_time_changes_nothing() -> None:
    asked = clinic_policy({"truncate_histories": {"rows": 1}}, timed=False)
    result = fix(clinic(), asked, plugins=PLUGINS)
    assert result.passed
    assert result.log.suppressed == 2977
    assert fix(result.released, asked, plugins=PLUGINS).log.is_unchanged
    assert any(sentence.startswith("Of 4,973 pairs of rows") for sentence in result.log.utility_impact)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"unit": None, "time": None}, "the policy names no `unit:`"),
        ({"unit_released": False}, "'patient' is dropped before release"),
        ({"time": "ward"}, "the time 'ward' is no date"),
    ],
)
def test_what_cannot_be_truncated(changes: dict[str, Any], sentence: str) -> None:
    asked = {name: value for name, value in {**clinic_policy(), **changes}.items() if value is not None}
    with pytest.raises(RemedyError, match=sentence):
        treated(clinic(), asked, "truncate_histories", rows=2)


@pytest.mark.parametrize(
    ("parameters", "changes", "sentence"),
    [
        ({"rows": 0}, {}, "must be at least 1"),
        ({"keep": "some"}, {}, "first"),
        ({"rows": 1}, {"rows_aligned": True, "original": "o.csv"}, "dropping records would break `rows_aligned: true`"),
    ],
)
def test_what_a_policy_cannot_say(parameters: dict[str, Any], changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError, match=sentence):
        load_policy(clinic_policy({"truncate_histories": parameters}, **changes), PLUGINS)
