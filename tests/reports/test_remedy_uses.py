"""Tables of what people would do with a repaired release: effects, models, counts."""

from __future__ import annotations

from typing import Any

from remedied_samples import LOSS, log_of, step

from tcdp_audit_reports.remedy.losses import EFFECTS_SHOWN, counts_table, effects_table, models_table


def effect(overlap: float, *, is_reported: bool = True, **more: Any) -> dict[str, Any]:
    interval = {"estimate": 2.5, "low": -1.25, "high": 6.25}
    return (
        {"column": "age", "level": None, "before": interval, "after": interval if is_reported else None}
        | more
        | {"overlap": overlap}
    )


def test_effects_are_reported_with_their_intervals_the_worst_first():
    models = [{"of": "wage", "effects": [effect(0.5), effect(0, is_reported=False, column="<b>", level=3)]}]
    table = effects_table(log_of(step(), loss={**LOSS, "regressions": {"models": models}}))
    interval = "2.50 (-1.25\u00a0to\u00a06.25)"

    assert table is not None
    assert table.body == [
        ["<b>, value 3 by frequency, on wage", interval, "–", "0%"],
        ["age on wage", interval, interval, "50.0%"],
    ]
    assert table.note.startswith("Coefficients of linear regressions")


def test_of_many_effects_the_note_counts_those_that_are_not_shown():
    models = [{"of": "wage", "effects": [effect(one / 20) for one in range(EFFECTS_SHOWN + 3)]}]
    table = effects_table(log_of(step(), loss={**LOSS, "regressions": {"models": models}}))

    assert table is not None
    assert len(table.body) == EFFECTS_SHOWN
    assert table.note.startswith("3 more effects overlap more. Coefficients")


def test_models_stand_beside_a_guess_and_those_without_figures_do_not():
    model = {"of": "wage", "by": ["age", "sex"], "accuracy": {"before": 0.8, "after": 0.75}, "guess": 0.5, "reason": ""}
    given = {"models": {"models": [model, {"of": "pay", "by": ["age"], "reason": "too few"}]}}
    table = models_table(log_of(step(), loss={**LOSS, **given}))

    assert table is not None
    assert table.body == [["wage by age and sex", "80.0%", "75.0%", "50.0%"]]


def test_counts_that_the_policy_names():
    tables = [
        {"by": ["age", "sex"], "value": 0.125, "largest": 2.5, "queries": 1200, "reason": ""},
        {"by": ["pay"], "value": None, "largest": None, "queries": 0, "reason": "column 'pay' is not in the release"},
    ]
    table = counts_table(log_of(step(), loss={**LOSS, "counting_queries": {"value": 0, "tables": tables}}))

    assert table is not None
    assert table.body == [["age and sex", "1,200", "12.5%", "250.0%"], ["pay", "0", "–", "–"]]
    assert table.note == "column 'pay' is not in the release."


def test_nothing_declared_makes_no_tables():
    log = log_of(step(), loss={"total": 0.5})
    assert (effects_table(log), models_table(log), counts_table(log)) == (None, None, None)
