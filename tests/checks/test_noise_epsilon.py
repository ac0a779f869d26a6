"""noise_epsilon: tables with margins, sums, several tables, and a twin that moves a person from cell to cell."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf, log, prod
from typing import Any

import numpy as np
import pytest
from cell_tables import PEOPLE, figures_of, nodes_of, table_of, view_of
from hypothesis import given, settings, strategies as st

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.cells.table import Nodes
from tcdp_audit.core.check.aggregate_check import CellFigure
from tcdp_audit_plugins.checks.noise_epsilon import NoiseEpsilonParameters, noise_epsilon

ONE = {**PEOPLE, "per_person": 1}
LAPLACE = {"kind": "laplace", "scale": 2}


def table(shape: tuple[int, ...] = (2, 2), declared: Any = None, total: str | None = "T", **more: Any) -> Any:
    name = more.pop("name", "table")
    dimensions = [
        nodes_of(f"d{axis}", [*map(str, range(size)), *([total] if total else [])], total)
        for axis, size in enumerate(shape)
    ]
    values = [5] * prod(len(one.labels) for one in dimensions)
    return table_of(dimensions, {"n": figures_of(declared or ONE, values)}, name, **{"noise": LAPLACE, **more})


def epsilon(*tables: Any, **parameters: Any) -> CellFigure:
    return noise_epsilon(view_of(*tables), NoiseEpsilonParameters(**parameters))


def test_a_table_with_both_margins() -> None:
    assert epsilon(table()).value == 2  # four cells contain a person: Laplace scale 2
    assert epsilon(table(), neighbours="replace").value == 3  # all but the grand total are left, and others entered
    assert epsilon(table(total=None)).value == Fraction(1, 2)
    assert epsilon(table(total=None), neighbours="replace").value == 1
    assert epsilon(table(declared={**ONE, "per_person": 3})).value == 6


def test_geometric_noise_is_rounded_up() -> None:
    figure = epsilon(table(noise={"kind": "geometric", "alpha": Fraction(1, 3)}))
    assert 0 <= figure.value - Fraction(4 * log(3)) < Fraction(1, 10**12)


def test_tables_of_the_same_people_add_up() -> None:
    about = {"who": "admitted 2025"}
    both = [table(about=about, name="one"), table(about={**about, "sex": "male"}, name="two")]
    assert epsilon(*both).value == 4
    assert epsilon(both[0], table(about={"who": "others"}, name="two")).value == 2
    failing = epsilon(*both, at_most=3).failing
    assert [(one.table, one.measure, dict(one.labels)) for one in failing] == [("one", "n", {}), ("two", "n", {})]
    assert not epsilon(*both, at_most=4).failing


def test_earlier_releases_add_up() -> None:
    view = view_of(table())
    object.__setattr__(view, "previous", (view_of(table()),))
    assert noise_epsilon(view, NoiseEpsilonParameters()).value == 4


def test_a_figure_without_noise_has_no_epsilon() -> None:
    exact = table(noise=None, name="exact")
    figure = epsilon(table(), exact)
    assert (figure.value, figure.details["without_noise"]) == (inf, 1)
    with pytest.raises(CheckError, match="no figure has Laplace"):
        epsilon(exact)


def test_what_one_person_changes_must_be_declared() -> None:
    with pytest.raises(CheckError, match="per_person"):
        epsilon(table(declared=PEOPLE))
    income = {"sum": "income", "per_person": 1, "noise": LAPLACE}
    with pytest.raises(CheckError, match="at_most"):
        epsilon(table(declared=income, noise=None))
    assert epsilon(table(declared={**income, "at_least": -300, "at_most": 200}, noise=None)).value == 600


def test_cells_without_a_figure_are_counted() -> None:
    dimensions = [nodes_of("d", ["a", "b", "T"])]
    hidden = table_of(dimensions, {"n": figures_of(ONE, [(1, 9), 4, 8])}, noise=LAPLACE)
    assert epsilon(hidden).details == {"without_noise": 0, "groups": 1, "unpublished_cells": 1}


def test_what_consistency_gains() -> None:
    assert epsilon(table((2, 2))).details["consistency_gain"] == pytest.approx(4 / 9)
    assert epsilon(table((3, 3))).details["consistency_gain"] == pytest.approx(9 / 16)
    assert epsilon(table((2, 2), total=None)).details["consistency_gain"] == 1


def test_the_gain_is_the_least_variance_of_an_estimate() -> None:
    county = Nodes(
        "county", ("a", "b", "c", "north", "T"), 4, ((3, (0, 1), True), (4, (2, 3), True)), (), frozenset(range(5))
    )
    contains = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]], float)
    figures = {"n": figures_of(ONE, [1, 2, 3, 3, 6])}
    estimate = np.linalg.pinv(contains)
    figure = epsilon(table_of([county], figures, noise=LAPLACE))
    assert figure.value == Fraction(3, 2)
    assert figure.details["consistency_gain"] == pytest.approx((estimate @ estimate.T).diagonal().min())


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(1, 3), st.booleans()), min_size=1, max_size=3), st.integers(1, 3))
def test_no_person_changes_more(dimensions: list[tuple[int, bool]], scale: int) -> None:
    own = [
        nodes_of(f"d{axis}", [*map(str, range(size)), *(["T"] if total else [])], "T" if total else None)
        for axis, (size, total) in enumerate(dimensions)
    ]
    cells = list(product(*[range(len(one.labels)) for one in own]))
    people = list(product(*[range(size) for size, _ in dimensions]))
    within = {
        person: {
            cell for cell in cells if all(c in (p, one.total) for c, p, one in zip(cell, person, own, strict=True))
        }
        for person in people
    }
    released = table_of(own, {"n": figures_of(ONE, [5] * len(cells))}, noise={"kind": "laplace", "scale": scale})
    added = max(map(len, within.values()))
    replaced = max(len(within[a] ^ within[b]) for a in people for b in people)

    assert epsilon(released).value == Fraction(added, scale)
    assert epsilon(released, neighbours="replace").value >= Fraction(replaced, scale)
    if all(size > 1 for size, _ in dimensions) and added > 1:
        assert epsilon(released, neighbours="replace").value == Fraction(max(added, replaced), scale)
