"""What a repair costs those who use the release, in sentences: the worst first, a mean over all cells last."""

from __future__ import annotations

from typing import Any

from tcdp_audit.core.results.cost import Cost


def column(lost: float, retained: float | None) -> dict[str, Any]:
    return {"cell_loss": lost, "mutual_information_retained": retained}


def effect(column: str, overlap: float, before: float, after: float | None, level: int | None = None) -> dict[str, Any]:
    old, new = (
        {"estimate": one, "low": one - 1, "high": one + 1} if one is not None else None for one in (before, after)
    )
    return {"column": column, "level": level, "before": old, "after": new, "overlap": overlap}


def regressions(*effects: dict[str, Any], reason: str = "") -> dict[str, Any]:
    return {"models": [{"of": "wage", "by": ["age", "town"], "effects": list(effects), "reason": reason}]}


def cost_of(
    loss: dict[str, Any],
    cells: dict[str, int] | None = None,
    suppressed: int = 0,
    constant_columns: tuple[str, ...] = (),
) -> Cost:
    return Cost({"total": 0.005, **loss}, cells or {}, 1000, suppressed, constant_columns)


def test_a_column_that_is_all_but_gone_is_reported_before_the_mean():
    """Every postcode became a range of postcodes: half a percent of a cell, and nearly all of the column."""
    postcodes = cost_of({"attributes": {"zip": column(0.01, 0.02)}}, {"zip": 1000})
    assert postcodes.sentences == [
        "Hardly anything is left of zip: 100% of its entries changed, 2.0% of its information retained.",
        "An entry loses 0.5% of its detail on average.",
    ]
    assert postcodes.clause == (
        "no record removed, 1,000 entries changed; zip suffers most: 100% of its entries changed, and hardly anything "
        "is left of what it said; an entry loses 0.5% of its detail on average"
    )


def test_what_is_left_of_a_column_is_the_lesser_of_two_measures():
    given = {"wage": column(0.3, 1.0), "town": column(0.25, None)}
    exchanged = cost_of({"attributes": given}, {"wage": 900, "town": 5})
    assert exchanged.sentences[:2] == [
        "wage: 90.0% of its entries changed, 70.0% of its information retained.",
        "town: 0.5% of its entries changed, 75.0% of its information retained.",
    ]


def test_columns_are_reported_from_the_worst_and_the_rest_by_number():
    reported = {
        name: column(0.1, retained) for name, retained in zip("abcdef", (0.9, 0.2, 0.5, 0.8, 0.7, 1.0), strict=True)
    }
    cost = cost_of({"attributes": reported}, dict.fromkeys("abcde", 95), suppressed=50, constant_columns=("f",))
    assert cost.sentences == [
        "Nothing is left of f.",
        "b: 10.0% of its entries changed, 20.0% of its information retained.",
        "c: 10.0% of its entries changed, 50.0% of its information retained.",
        "e: 10.0% of its entries changed, 70.0% of its information retained.",
        "2 more columns changed: each retains at least 80.0% of its information.",
        "An entry loses 0.5% of its detail on average.",
    ]
    assert cost.clause.startswith(
        "50 records removed (5.0%), 475 entries changed; nothing left of f; b suffers most: 10.0% of its entries "
        "changed, and less than half is left of what it said"
    )


def test_counts_are_reported_by_their_errors():
    tables = [
        {"by": ["age", "town"], "value": 0.25, "largest": 1.5, "reason": ""},
        {"by": ["pay"], "value": None, "largest": None, "reason": "column 'pay' is not in the release"},
    ]
    cost = cost_of({"counting_queries": {"value": 0.125, "tables": tables}})
    assert cost.sentences[:-1] == [
        "Tables of counts by one or two columns are off by 12.5% on average.",
        "Counts by age and town are off by 25.0% on average, 150.0% at most.",
        "Counts by pay are not compared: column 'pay' is not in the release.",
    ]
    assert "counts by age and town off by 25.0% on average, 150.0% at most; an entry loses" in cost.clause
    assert "pay" not in cost.clause


def test_effects_are_reported_by_their_values_and_overlaps():
    cost = cost_of(
        {
            "regressions": regressions(
                effect("age", 0.864, 12.1, 11.8),
                effect("town", 0.5, 3, 2, level=2),
                effect("town", 0.0, 4, None, level=3),
                effect("sex", 0.0, 7.25, None, level=2),
            )
        }
    )
    several, one, number = cost.sentences[:3]
    assert several == (
        "The effects of 2 values of town on wage: intervals overlap 25.0% on average and 0% at least; "
        "1 of them can no longer be estimated."
    )
    assert one == "The effect of sex on wage: 7.25, and can no longer be estimated."
    assert number == "The effect of age on wage: 12.10 became 11.80, intervals overlap 86.4%."
    assert "the effects of town on wage and sex on wage lost; an entry loses 0.5% of" in cost.clause


def test_of_many_effects_the_others_are_counted():
    cost = cost_of({"regressions": regressions(*(effect(f"c{one}", one / 10, 1.5, 1.25) for one in range(4, 9)))})
    assert [one[:19] for one in cost.sentences[:3]] == [f"The effect of c{one} on" for one in (4, 5, 6)]
    assert cost.sentences[3] == "2 more effects of columns on outcomes: intervals overlap 70.0% at least."
    none = cost_of({"regressions": regressions(reason="its columns predict the outcome without error")})
    assert none.sentences[0] == (
        "The effects of age and town on wage are not compared: its columns predict the outcome without error."
    )


def test_models_are_reported_beside_a_guess():
    model = {"of": "wage", "by": ["age"], "accuracy": {"before": 0.8, "after": 0.75}, "guess": 0.5, "reason": ""}
    absent = {"of": "wage", "by": ["age"], "reason": "fewer than 30 records have a value of 'wage'"}
    assert cost_of({"models": {"models": [model, absent]}}).sentences[:-1] == [
        "A model that predicts wage by age is right in 75.0% of cases, before in 80.0%; guessing is in 50.0%.",
        "A model that predicts wage by age is not trained: fewer than 30 records have a value of 'wage'.",
    ]


def test_a_result_without_measures_has_a_cost_still():
    assert Cost({}, {}, 4, 4, ()).sentences == []
    assert Cost({}, {}, 4, 4, ()).clause == "4 records removed (100%), no entry changed"
