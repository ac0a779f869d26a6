"""dominance, p_percent, pq_rule and contributor_influence: examples of the Handbook, Torra's mean, and a plain twin."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import pytest
from cell_tables import names
from contributor_tables import MEASURES, RICH, TOTAL, judged as asked, released
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.check.aggregate_check import CellFigure
from tcdp_audit_plugins.checks import concentration
from tcdp_audit_plugins.checks.concentration import CHECKS

BY_NAME = {one.name: one for one in CHECKS}


def test_the_incomes_are_torras() -> None:
    assert (sum(RICH), sorted(RICH)[5], len(RICH)) == (133_000, 2_000, 11)


def judged(check: str, groups: dict[str, Any], measures: Any = None, **parameters: Any) -> CellFigure:
    return asked(BY_NAME[check], groups, measures, **parameters)


def is_unsafe(check: str, values: Sequence[Any], **parameters: Any) -> bool:
    return bool(judged(check, {"a": values}, **parameters).failing)


def test_the_handbooks_examples() -> None:
    first = [50_000, 49_000, *[10] * 100]  # 100,000 in all
    assert not is_unsafe("dominance", first, n=1, k=90)
    assert judged("p_percent", {"a": first}).value == 2  # 51,000 is too much by 1,000
    assert is_unsafe("p_percent", first, p=10)
    second = [52_000, 50_000, *[80] * 100]
    assert not is_unsafe("p_percent", second, p=10)
    assert float(judged("p_percent", {"a": second}).value) == pytest.approx(15.38, abs=0.01)
    assert is_unsafe("dominance", second, n=2, k="90.9")
    fourth = judged("dominance", {"a": [300, 20, 10]}, n=1, k=85, show_values=True).failing[0]
    assert fourth.figures is not None
    assert fourth.figures["protection"] == pytest.approx(22.94, abs=0.005)


def test_torras_mean() -> None:
    assert float(judged("dominance", {"ward": RICH}).value) == pytest.approx(75.19, abs=0.005)
    assert float(judged("dominance", {"ward": RICH}, n=2).value) == pytest.approx(82.71, abs=0.005)
    assert judged("p_percent", {"ward": RICH}).value == 23
    assert is_unsafe("dominance", RICH, n=1, k=50)
    assert is_unsafe("dominance", RICH, n=2, k=67)
    assert not is_unsafe("dominance", RICH, n=2, k=90)  # what ACRO asks
    assert not is_unsafe("p_percent", RICH, p=10)

    mean = {name: one for name, one in MEASURES.items() if name != "total"}
    figure = judged(
        "contributor_influence", {"ward": RICH}, mean, at_most="0.5", others_at_most=10_000, show_values=True
    )
    assert figure.value == Fraction(967, 363)
    assert figure.details == {"certain_presence": 2, "influence_measured": True}
    assert {"with": 133_000 / 11, "without": 3_300.0}.items() <= dict(figure.failing[0].figures or {}).items()
    alone = judged(
        "contributor_influence", {"ward": RICH}, mean, others_at_most=10_000, show_values=True, records=False
    )
    assert (alone.value, [one.figures for one in alone.failing]) == (inf, [{"at_least": 33_000.0}] * 2)
    assert alone.further["others_at_most"] == Fraction("12090.905")


def test_the_boundary_is_a_convention() -> None:
    two = {"a": [45, 45, 5, 5]}
    assert not judged("dominance", two, n=2, k=90).failing
    acro = judged("dominance", two, n=2, k=90, conventions={"boundary": "acro"})
    assert len(acro.failing) == 4
    assert "exactly k" in acro.violation
    assert not judged("dominance", two, n=2, k=91, conventions={"boundary": "acro"}).failing


def test_negative_contributions_are_refused_or_lose_their_sign() -> None:
    groups = {"a": [-5, 3, 2]}
    measures = {"total": MEASURES["total"] | {"at_least": -10}}
    with pytest.raises(CheckError, match="negative contributions"):
        judged("dominance", groups, measures)
    assert judged("dominance", groups, measures, conventions={"negative": "absolute"}).value == 50


def test_no_one_contributes() -> None:
    groups = {"a": [0, 0, 0]}
    assert judged("dominance", groups, k=10).value == 0
    assert judged("p_percent", groups, p=10).value == inf
    assert judged("contributor_influence", groups, at_most=1).value == 0


def test_one_contributor_is_unsafe_for_every_p() -> None:
    figure = judged("p_percent", {"a": [7], "b": [1, 1, 1, 1]}, p="0.001")
    assert (figure.value, names(figure)) == (0, [("a",), ("a",)])
    assert judged("contributor_influence", {"a": [7], "b": [1, 1, 1, 1]}).value == inf


def test_figures_that_are_not_those_of_the_records_are_not_judged() -> None:
    with released({"a": [1, 2, 3]}) as view:
        wrong = {**view.tables["table"].figures}
        wrong["total"].low.flags.writeable = True
        wrong["total"].low[:] = 7
        wrong["total"].high[:] = 7
        with pytest.raises(CheckError, match="cells_agree"):
            concentration.dominance(view, concentration.DominanceParameters())


def test_without_sums_and_means_there_is_nothing_to_judge() -> None:
    with pytest.raises(CheckError, match="no table has sums or means"):
        judged("dominance", {"a": [1, 2]}, {"n": {"counts": "people"}})


def test_p_must_be_below_q() -> None:
    with pytest.raises(ValueError, match="`p` must be below `q`"):
        concentration.PqRuleParameters(p=Fraction(80), q=Fraction(60))


VALUES = st.lists(st.integers(0, 30), min_size=1, max_size=7)


def plainly(values: list[int], check: str, n: int, q: Fraction) -> Fraction | float | None:
    """A rule on one cell, as it is defined; None for a cell without contributors."""
    ordered, total = sorted(values, reverse=True), Fraction(sum(values))
    if not total:
        return None
    if check == "dominance":
        return 100 * sum(ordered[:n]) / total
    if check == "p_percent":
        return 100 * (total - sum(ordered[: n + 1])) / ordered[0]
    if check == "pq_rule":
        return q * (total - sum(ordered[:2])) / ordered[0]
    if len(values) == 1 or total == ordered[0]:
        return inf
    mean = total / len(values)
    others = [(total - one) / (len(values) - 1) for one in values]
    return max(abs(mean - one) / one for one in others)


DRAWN = given(VALUES, VALUES, st.integers(1, 3), st.sampled_from([Fraction(100), Fraction(60), Fraction(35, 2)]))


@settings(max_examples=2, deadline=None)
@DRAWN
def test_every_rule_is_its_definition(one: list[int], other: list[int], n: int, q: Fraction) -> None:
    compare_with_definitions(one, other, n, q)


@pytest.mark.long
@settings(max_examples=20, deadline=None)
@DRAWN
def test_every_rule_is_its_definition_on_more_values(one: list[int], other: list[int], n: int, q: Fraction) -> None:
    compare_with_definitions(one, other, n, q)


def compare_with_definitions(one: list[int], other: list[int], n: int, q: Fraction) -> None:
    mean = {name: each for name, each in MEASURES.items() if name != "total"}
    cells = {"a": one, "b": other, TOTAL: one + other}
    for check, parameters, worst, empty in (
        ("dominance", {"n": n}, max, Fraction(0)),
        ("p_percent", {"coalition": n}, min, inf),
        ("pq_rule", {"q": q}, min, inf),
        ("contributor_influence", {}, max, Fraction(0)),
    ):
        own = [plainly(values, check, n, q) for values in cells.values()]
        known = [each for each in own if each is not None]
        figure = judged(check, {"a": one, "b": other}, mean, **parameters)
        assert figure.value == (worst(known) if known else empty), check
        limit = BY_NAME[check].limits[0]
        demanded = min(max(Fraction(figure.value) if figure.value != inf else Fraction(5), Fraction(1, 2)), q - 1, 99)
        expected = {
            cell
            for cell, each in zip(cells, own, strict=True)
            if each is not None and (each > demanded if worst is max else each < demanded)
        }
        failing = judged(check, {"a": one, "b": other}, mean, **parameters, **{limit.parameter: demanded})
        assert {labels[0] for labels in names(failing)} == expected, check
