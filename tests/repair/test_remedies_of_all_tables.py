"""Remedies that see all linked tables at once: what they are given, and answers that do not fit."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from test_fix_of_linked_tables import policy_of, released, tables_of, without_orphans

from tcdp_audit import Remediation, fix
from tcdp_audit.core.remedy.remedy import NewColumn, Remedy, RemedyGuide, RemedyParameters, Treatment
from tcdp_audit.core.remedy.view import RemedyView
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.units.coding import LinkedRows
from tcdp_audit.plugin.check import hookimpl

GUIDE = RemedyGuide("m.", "c.", "g.", "s", "- toy: {}")
Apply = Callable[[RemedyView, RemedyParameters], Treatment]


class Toy:
    """A plugin with one remedy of all tables."""

    def __init__(self, apply: Apply) -> None:
        self.apply = apply

    @hookimpl
    def tcdp_audit_remedies(self) -> list[Remedy[Any]]:
        return [
            Remedy(
                name="toy",
                title="Toy",
                summary="S.",
                guide=GUIDE,
                parameters=RemedyParameters,
                apply=self.apply,
                acts_on_histories=True,
                linked_tables=True,
            )
        ]


def treated(apply: Apply, seed: int = 11) -> tuple[Remediation, Mapping[str, Any]]:
    plugins = Plugins.load(external=False)
    plugins.register(Toy(apply), "toys")
    tables = tables_of(seed, 3, 20)
    return fix(tables, policy_of(3, {"toy": {}}), plugins=plugins), tables


def hide_all_but_half(view: RemedyView, _: RemedyParameters) -> Treatment:
    """Suppress every cell of every table, and drop every second patient."""
    assert view.linked is not None
    assert view.linked.top == "patients"
    columns = {}
    for one in (view, *view.tables.values()):
        for attribute in one.quasi_identifiers:
            columns[attribute.name] = NewColumn.of_texts(["x"], np.zeros(one.records, dtype=np.int64))
    return Treatment(columns, np.arange(view.records) % 2 == 0)


def test_columns_of_every_table_change_and_rows_go_with_their_unit() -> None:
    result, tables = treated(hide_all_but_half)
    step, *_ = (*result.log.steps, *result.log.tried)
    staying = set(tables["patients"]["patient"].to_pylist()[::2])
    visits = [one for one in tables["visits"].to_pylist() if one["patient"] in staying]
    drugs = [one for one in tables["drugs"].to_pylist() if one["visit"] in {own["visit"] for own in visits}]
    assert step.cells == {"patients.sex": 10, "visits.month": len(visits), "drugs.drug": len(drugs)}
    assert step.suppressed == sum(map(len, tables.values())) - 10 - len(visits) - len(drugs)
    assert without_orphans(released(result))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"visits.month": 3}, "gave 3 codes of column 'visits.month' for"),
        ({"visits.place": 20}, "changed a column 'visits.place', which the release does not have"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(columns: Mapping[str, int], sentence: str) -> None:
    def apply(_: RemedyView, __: RemedyParameters) -> Treatment:
        return Treatment({name: NewColumn.of_texts(["x"], np.zeros(rows, int)) for name, rows in columns.items()})

    (tried,) = treated(apply)[0].log.tried
    assert sentence in tried.error


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_histories_are_numbered_as_trees_of_labels_are_equal(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - generated rows
    sizes = {"a": draw.randint(1, 8), "b": draw.randint(0, 12), "c": draw.randint(0, 12) if draw.random() < 0.8 else 0}
    sizes["c"] = sizes["c"] if sizes["b"] else 0
    roots = np.array([draw.randrange(4) for _ in range(sizes["a"])], dtype=np.int64)
    above = {
        name: np.array([draw.randrange(sizes[parent]) for _ in range(sizes[name])], dtype=np.int64)
        for name, parent in (("c", "b"), ("b", "a"))
    }
    rows = LinkedRows("a", roots, {"c": "b", "b": "a"}, above, sizes)
    labels = {name: np.array([draw.randrange(2) for _ in range(size)], dtype=np.int64) for name, size in sizes.items()}

    def tree(table: str, row: int) -> Hashable:
        child = {"a": "b", "b": "c"}.get(table)
        below = [] if child is None else [tree(child, int(one)) for one in np.flatnonzero(above[child] == row)]
        return int(labels[table][row]), frozenset(Counter(below).items())

    whole = [
        frozenset(Counter(tree("a", int(one)) for one in np.flatnonzero(roots == root)).items())
        for root in range(rows.count)
    ]
    codes = rows.histories({name: [(own, 2)] for name, own in labels.items()})
    assert [[a == b for a in codes] for b in codes] == [[a == b for a in whole] for b in whole]
    some = np.array([draw.random() < 0.5 for _ in range(rows.count)], dtype=bool)
    fewer, places = rows.among(some)
    again = fewer.histories({name: [(own[places[name]], 2)] for name, own in labels.items()})
    here = np.flatnonzero(some)
    present = [number for number, root in enumerate(here) if root in roots]
    assert [[again[a] == again[b] for a in present] for b in present] == [
        [whole[here[a]] == whole[here[b]] for a in present] for b in present
    ]
