"""regression_output: saturated models, one person's dummy, two fits, and leverage against the plain formula."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.cells.view import CellsView
from tcdp_audit.core.check.aggregate_check import CellFigure
from tcdp_audit.core.policy.aggregates import ModelDeclaration
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit_plugins.checks.released_models import (
    REGRESSION_OUTPUT,
    RegressionOutputParameters,
    read_design,
    regression_output,
)

CELLS = {
    "A m": [31],
    "A f": [20, 24, 28, 30],
    "B m": [22, 25, 40],
    "B f": [18, 19],
    "C m": [20, 21, 22, 23, 24],
    "C f": [55],
}
NAMES = ("const", "B", "C", "f", "B:f", "C:f", "y")


def saturated() -> list[tuple[int, ...]]:
    rows = []
    for label, values in CELLS.items():
        b, c, f = ("B" in label), ("C" in label), (" f" in label)
        rows += [(1, b, c, f, b and f, c and f, y) for y in values]
    return [tuple(map(int, row)) for row in rows]


def write(folder: Path, rows: Any, names: Any = NAMES, file: str = "design.csv") -> str:
    lines = [",".join(names), *(",".join(map(str, row)) for row in rows)]
    (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def view_of(folder: Path, *, show_values: bool = False, **models: Any) -> CellsView:
    declared = {name: ModelDeclaration.model_validate(one) for name, one in models.items()}
    policy = Policy(PolicyDocument.model_construct(models=declared), (), "", folder / "policy.tcdp.yaml")
    return CellsView(policy, {}, show_values=show_values)


def judged(folder: Path, models: dict[str, Any], *, show_values: bool = False, **parameters: Any) -> CellFigure:
    return regression_output(
        view_of(folder, show_values=show_values, **models), RegressionOutputParameters(**parameters)
    )


def test_a_saturated_model_passes_by_its_size_and_gives_two_people_away(tmp_path: Path) -> None:
    model = {"design": write(tmp_path, saturated()), "outcome": "y", "n": 16, "parameters": 6}
    figure = judged(tmp_path, {"wages": model}, degrees_of_freedom=10, show_values=True)

    assert (figure.value, figure.further["leverage"], figure.further["k"]) == (10, 1, 1)
    assert "passes through one person" in figure.violation
    given_away = {tuple(n for n, v in one.labels.items() if v == "1"): one.figures for one in figure.failing}
    assert given_away == {(): {"value": 31.0}, ("C", "f", "C:f"): {"value": 55.0}}
    assert [one.line for one in figure.failing] == [2, 17]
    assert figure.details["saturated"] == 1
    few = judged(tmp_path, {"wages": model}, k=3)
    assert sorted(tuple(n for n, v in one.labels.items() if v == "1") for one in few.failing) == [
        (),
        ("B", "f", "B:f"),
        ("B:f",),
        ("C", "f", "C:f"),
        ("C:f",),
    ]


def test_an_intercept_and_a_dummy_of_one_person(tmp_path: Path) -> None:
    rows = [(1, 0)] * 10 + [(1, 1)]
    figure = judged(tmp_path, {"rich": {"design": write(tmp_path, rows, ("const", "rich"))}}, degrees_of_freedom=1)

    assert (figure.value, figure.further["leverage"]) == (9, 1)
    assert [dict(one.labels) for one in figure.failing] == [{"rich": "1"}]
    assert figure.violation


def test_only_the_size_is_known(tmp_path: Path) -> None:
    figure = judged(tmp_path, {"wages": {"n": 15, "parameters": 6}}, degrees_of_freedom=10)

    assert (figure.value, [one.measure for one in figure.failing]) == (9, ["degrees of freedom"])
    assert (figure.further["leverage"], figure.details["without_design"]) == (0, 1)
    assert not judged(tmp_path, {"wages": {"n": 16, "parameters": 6}}, degrees_of_freedom=10).failing


def test_only_the_dummies_are_known(tmp_path: Path) -> None:
    figure = judged(tmp_path, {"wages": {"dummies": {"ward_B": 31, "ward_C": 4, "ward_D": 0}}}, k=5)

    assert (figure.value, figure.further["k"]) == (inf, 4)
    assert [dict(one.labels) for one in figure.failing] == [{"ward_C": "1"}]


@pytest.mark.parametrize(
    ("model", "parameters", "says"),
    [
        ({"n": 20}, {"degrees_of_freedom": 10}, "neither `n:` and `parameters:` nor `design:`"),
        ({"n": 20, "parameters": 3}, {"leverage": "0.99"}, "needs its design"),
        ({"n": 20, "parameters": 3}, {"k": 5}, "`dummies:`"),
    ],
)
def test_a_demand_that_cannot_be_judged_is_an_error(tmp_path: Path, model: Any, parameters: Any, says: str) -> None:
    with pytest.raises(CheckError, match=says):
        judged(tmp_path, {"wages": model}, **parameters)


def test_two_fits_that_differ_by_one_person(tmp_path: Path) -> None:
    rows = [(1, x, y) for x, y in zip((34, 51, 42, 29, 60, 38), (21, 40, 33, 19, 52, 30), strict=True)]
    names = ("const", "x", "y")
    models = {
        "all": {"design": write(tmp_path, rows, names), "outcome": "y"},
        "less": {"design": write(tmp_path, rows[:-1], names, "less.csv"), "outcome": "y"},
    }
    figure = judged(tmp_path, models, k=2, show_values=True)

    assert figure.further["k"] == 1
    assert [(one.table, one.measure, one.figures) for one in figure.failing] == [
        ("all", "difference of fits", {"const": 30.0, "x": 1140.0})
    ]
    sizes = {"all": {"n": 214, "parameters": 9, "dummies": {}}, "less": {"n": 211, "parameters": 9, "dummies": {}}}
    assert judged(tmp_path, sizes, k=4).further["k"] == 3
    assert judged(tmp_path, {**sizes, "less": {"n": 211, "parameters": 8, "dummies": {}}}, k=4).further["k"] == inf


def test_a_model_of_an_earlier_release_differs_by_few_people(tmp_path: Path) -> None:
    size = {"n": 214, "parameters": 9, "dummies": {}}
    view = view_of(tmp_path, income=size)
    earlier = view_of(tmp_path, income={**size, "n": 213})
    both = CellsView(view.policy, {}, (earlier,))
    figure = regression_output(both, RegressionOutputParameters(k=5))

    assert (figure.further["k"], [one.table for one in figure.failing]) == (1, ["income"])
    assert "earlier release" in figure.failing[0].says


def test_a_fit_without_residuals_fails_whatever_its_size(tmp_path: Path) -> None:
    rows = [(1, x, 3 + 2 * x) for x in range(30)]
    model = {"design": write(tmp_path, rows, ("const", "x", "y")), "outcome": "y"}
    assert "leaves no residual" in judged(tmp_path, {"line": model}, degrees_of_freedom=10).violation
    size = {"n": 300, "parameters": 3, "r_squared": 1}
    assert "leaves no residual" in judged(tmp_path, {"line": size}, degrees_of_freedom=10).violation
    assert not judged(tmp_path, {"line": size}).violation


def test_dependent_columns_add_no_coefficient(tmp_path: Path) -> None:
    rows = [(1, a, 1 - a) for a in (0, 0, 0, 1, 1)]
    figure = judged(tmp_path, {"both": {"design": write(tmp_path, rows, ("const", "a", "b"))}})
    assert (figure.value, figure.further["leverage"], figure.further["k"]) == (3, Fraction(1, 2), 2)


def test_leverage_is_compared_exactly(tmp_path: Path) -> None:
    rows = [(1, 0)] * 3 + [(1, 1)] * 3
    model = {"thirds": {"design": write(tmp_path, rows, ("const", "a"))}}
    demanded = {text: RegressionOutputParameters(leverage=text) for text in ("1/3", "0.3333333334")}
    figure = judged(tmp_path, model, leverage="1/3")

    assert figure.further["leverage"] == Fraction(1, 3)
    assert REGRESSION_OUTPUT.verdict(figure, demanded["1/3"]).failed
    assert not REGRESSION_OUTPUT.verdict(figure, demanded["0.3333333334"]).failed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n1,x\n", "line 2, column 'b' has no number"),
        ("a,b\n1,\n", "line 2, column 'b' has no number"),
        ("a,b\n1,nan\n", "line 2, column 'b' has no number"),
        ("a,b\n1,2,3\n", "line 2 has 3 cells"),
        ("a,a\n1,2\n", "two columns have the same name"),
        ("a,b\n", "there are no numbers"),
        ("", "there are no numbers"),
    ],
)
def test_a_broken_design_is_said_where(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "design.csv").write_text(text, encoding="utf-8")
    with pytest.raises(CheckError, match=says):
        read_design(tmp_path / "design.csv", "design.csv")


def test_a_design_of_another_size_is_an_error(tmp_path: Path) -> None:
    file = write(tmp_path, saturated())
    with pytest.raises(CheckError, match="has 16 rows, and the policy says `n: 17`"):
        judged(tmp_path, {"wages": {"design": file, "outcome": "y", "n": 17}})
    with pytest.raises(CheckError, match="has 6 columns, and the policy says `parameters: 7`"):
        judged(tmp_path, {"wages": {"design": file, "outcome": "y", "parameters": 7}})


def _plainly(rows: list[tuple[int, ...]]) -> list[Fraction]:
    """The leverage of each row by Gram and Schmidt, in fractions: no inverse, no elimination."""
    basis: list[list[Fraction]] = []
    for column in zip(*rows, strict=True):
        left = [Fraction(one) for one in column]
        for other in basis:
            factor = sum(a * b for a, b in zip(left, other, strict=True)) / sum(b * b for b in other)
            left = [a - factor * b for a, b in zip(left, other, strict=True)]
        if any(left):
            basis.append(left)
    return [sum((b[i] * b[i] / sum(one * one for one in b) for b in basis), Fraction(0)) for i in range(len(rows))]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.just(1), st.integers(0, 1), st.integers(-2, 2)), min_size=1, max_size=8))
def test_leverage_is_that_of_the_plain_formula(tmp_path: Path, rows: list[tuple[int, ...]]) -> None:
    design = read_design(tmp_path / write(tmp_path, rows, ("a", "b", "c")), "design.csv")
    expected = _plainly(rows)

    assert [design.exactly(row) for row in design.rows] == expected
    by_row = dict(zip(design.distinct, design.leverage.tolist(), strict=True))
    assert [by_row[row] for row in design.rows] == pytest.approx(list(map(float, expected)))
    assert design.rank == round(float(sum(expected))) == np.linalg.matrix_rank(np.array(rows, float))
