"""Audits of tables of figures to report on: tables and outcomes that stand here, so that only reporters change them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Annotated, Any

import numpy as np
from golden_checks import GUIDE, golden_plugins
from pydantic import Field

from tcdp_audit.core.auditor.figures import outcomes_of_figures
from tcdp_audit.core.base.outcome import Comparison, FailingCell, Outcome, Severity, Status, Tally
from tcdp_audit.core.base.provenance import Table, digest_of_tables
from tcdp_audit.core.cells.table import CellState, Figures, Nodes, PublishedTable
from tcdp_audit.core.cells.view import CellsView
from tcdp_audit.core.policy.loading import read_policy
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.plugin.aggregate import AggregateCheck, CellFigure
from tcdp_audit.plugin.check import DisclosureType, Parameters, hookimpl
from tcdp_audit.plugin.sentences import Sentences

WARDS = ("A", "B", "C", "All")
AGES = ("20-39", "40-59", "60+", "All")
PATIENTS = (
    ("31", "24", "<10", "62"),
    ("18", "4", "<10", "27"),
    ("12", "40", "55", "107"),
    ("61", "68", "67", "196"),
)
FILES = {"admissions": "admissions.csv", "men": "men.csv"}


class FewParameters(Parameters):
    k: Annotated[int | None, Field(ge=1)] = None


class KnownParameters(Parameters):
    at_most: Annotated[int | None, Field(ge=0)] = None


class FigurePlugin:
    @hookimpl
    def tcdp_audit_checks(self) -> Iterator[AggregateCheck[Any]]:
        common: dict[str, Any] = {
            "guide": GUIDE,
            "disclosure_type": DisclosureType.IDENTITY_MODEL,
            "measure": lambda *_: CellFigure(0, 1),
            "sentences": Sentences(passed="A sentence about cells."),
        }
        yield AggregateCheck(
            name="few_people",
            title="Counts of few people",
            parameters=FewParameters,
            threshold="k",
            comparison=Comparison.AT_LEAST,
            **common,
        )
        yield AggregateCheck(name="computed_cells", title="Computed cells", parameters=KnownParameters, **common)


def figure_plugins() -> Plugins:
    """The built-in reporters, two checks on records and two on tables of figures."""
    plugins = golden_plugins()
    plugins.register(FigurePlugin(), "figures")
    return plugins


TABLE: Mapping[str, Any] = {
    "file": "admissions.csv",
    "about": {"who": "admitted 2025"},
    "dimensions": {"ward": {"total": "All"}, "age": {"total": "All"}},
    "measures": {"patients": {"counts": "people"}},
    "suppressed": {"<10": [1, 9]},
}
MEN: Mapping[str, Any] = {
    "file": "men.csv",
    "about": {"who": "admitted 2025", "sex": "male"},
    "dimensions": {"age": {"total": "All"}},
    "measures": {"patients": {"counts": "people"}},
}
EXPECT = [
    {"few_people": {"k": 5}},
    {"computed_cells": {"at_most": 0}},
    {"computed_cells": {"at_most": 9, "severity": "warning"}},
    {"few_people": {}},
]
POLICY: Mapping[str, Any] = {"version": 1, "tables": {"admissions": TABLE, "men": MEN}, "expect": EXPECT}


def published_table(
    name: str, policy: Policy, labels: Sequence[Sequence[str]], figures: Mapping[str, Iterable[str]]
) -> PublishedTable:
    """A table from the texts of its figures, in C order; an empty text is a cell that the file lacks."""
    declaration = (policy.document.aggregates or {})[name]
    nodes = tuple(
        Nodes(dimension, tuple(own), own.index(one.total) if one.total in own else None)
        for (dimension, one), own in zip(declaration.dimensions.items(), labels, strict=True)
    )
    texts = {measure: [*own] for measure, own in figures.items()}
    cells = len([*product(*labels)])
    present = [any(own[cell] for own in texts.values()) for cell in range(cells)]
    line = np.where(present, np.cumsum(present) + 1, 0)
    tokens = [*declaration.suppressed]
    return PublishedTable(
        name,
        declaration,
        str(declaration.file),
        nodes,
        {measure: _figures(declaration.measures[measure], own, tokens) for measure, own in texts.items()},
        line.astype(np.int64),
    )


def _figures(measure: Any, texts: Sequence[str], tokens: Sequence[str]) -> Figures:
    hidden = [text in tokens for text in texts]
    states = [
        CellState.HIDDEN if one else CellState.SHOWN if text else CellState.ABSENT
        for one, text in zip(hidden, texts, strict=True)
    ]
    low = [1 if one else int(text or 0) for one, text in zip(hidden, texts, strict=True)]
    high = [9 if one else int(text or 0) for one, text in zip(hidden, texts, strict=True)]
    token = [tokens.index(text) if text in tokens else -1 for text in texts]
    arrays = (np.array(low, np.int64), np.array(high, np.int64), np.array(states, np.uint8), np.array(token, np.int16))
    return Figures(measure, 1, *arrays)


def failing(ward: str, age: str, says: str = "", *, values: bool = False, **figures: int) -> FailingCell:
    """A failing cell of the table of admissions."""
    line = 2 + WARDS.index(ward) * len(AGES) + AGES.index(age)
    labels = {"ward": ward, "age": age}
    return FailingCell(
        "admissions", labels, "patients", line, says, f"ward {ward}, age {age}", figures if values else None
    )


def outcomes(policy: Policy, *, values: bool = False) -> tuple[Outcome, ...]:
    """An outcome for each expectation: a small count, two computed cells, the same as allowed, a measurement."""
    few = failing("B", "40-59", values=values, value=4)
    computed = (
        failing("B", "60+", "is the total of ward B less 20-39 and 40-59", values=values, value=5),
        failing("A", "60+", "is the total of ward A less 20-39 and 40-59.", values=values, value=7),
    )
    common: dict[str, Any] = {"source": GUIDE.source}
    one, two, three, four = policy.expectations
    return (
        Outcome(
            **common,
            check="few_people",
            title="Counts of few people",
            status=Status.FAILED,
            observed=4.0,
            threshold=Fraction(5),
            comparison=Comparison.AT_LEAST,
            cells=Tally(18, 1),
            failing_cells=(few,),
            message="1 of 18 published counts is of fewer than 5 people.",
            parameters={"k": 5},
            line=one.line,
        ),
        Outcome(
            **common,
            check="computed_cells",
            title="Computed cells",
            status=Status.FAILED,
            observed=2.0,
            threshold=Fraction(0),
            comparison=Comparison.AT_MOST,
            cells=Tally(2, 2),
            failing_cells=computed,
            message="2 hidden cells can be computed from the rest.",
            parameters={"at_most": 0},
            line=two.line,
        ),
        Outcome(
            **common,
            check="computed_cells",
            title="Computed cells",
            status=Status.PASSED,
            severity=Severity.WARNING,
            observed=2.0,
            threshold=Fraction(9),
            comparison=Comparison.AT_MOST,
            cells=Tally(2, 2),
            failing_cells=computed,
            message="2 hidden cells can be computed from the rest.",
            parameters={"at_most": 9},
            line=three.line,
        ),
        Outcome(
            **common,
            check="few_people",
            title="Counts of few people",
            status=Status.MEASURED,
            observed=4.0,
            cells=Tally(18, 0),
            message="The smallest published count is of 4 people.",
            line=four.line,
        ),
    )


def figure_audit(*, values: bool = False, policy: Mapping[str, Any] = POLICY) -> Audit:
    """An audit of two tables of figures without the records behind them."""
    plugins = figure_plugins()
    read = read_policy(policy, plugins)
    tables = {
        "admissions": published_table(
            "admissions", read, (WARDS, AGES), {"patients": [one for row in PATIENTS for one in row]}
        ),
        "men": published_table("men", read, (AGES,), {"patients": ["28", "31", "", "59"]}),
    }
    return audit_of(read, plugins, tables, outcomes(read, values=values))


def audit_of(
    policy: Policy, plugins: Plugins, tables: Mapping[str, PublishedTable], of_demands: Sequence[Outcome]
) -> Audit:
    """An audit of tables that were read, with the outcomes of its demands as they are given."""
    structure = outcomes_of_figures(CellsView(replace(policy, expectations=()), tables))
    parts = {
        name: Table(f"/data/{one.place}", "abcdef"[number % 6] * 64, int((one.line > 0).sum()), 3)
        for number, (name, one) in enumerate(tables.items())
    }
    digest = digest_of_tables({name: one.sha256 for name, one in parts.items()})
    release = Table(
        ", ".join(one.uri for one in parts.values()), digest, sum(one.records for one in parts.values()), 0, parts
    )
    return Audit(outcomes=(*structure, *of_demands), release=release, policy=policy, plugins=plugins, figures=tables)
