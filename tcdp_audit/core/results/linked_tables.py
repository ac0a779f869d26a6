"""The tables of a release in words: linked ones, their links and who is alone with them, and tables of figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.outcome import ALONE_WITH, EXPOSED_WITH_ROWS, LINKED_ROWS, UNITS_WITH_ROWS
from tcdp_audit.core.base.words import count, in_words, noun_of_column, sentence_case, visible
from tcdp_audit.core.check.translation import say
from tcdp_audit.core.results.document import Rows

if TYPE_CHECKING:
    from tcdp_audit.core.cells.table import PublishedTable
    from tcdp_audit.core.policy.model import PolicyDocument
    from tcdp_audit.core.results.audit import Audit

NAMED = 3  # tables in a sentence
ROOTS = "–"  # in the place of the parent of the table that belongs to no other


@dataclass(frozen=True)
class LinkedTable:
    """One of several linked tables.

    Args:
        name: its name in the policy.
        records: the number of its records.
        depth: the number of tables above it.
        parent: the table that its rows belong to; empty for the first.
        column: the column of both by which they do; empty for the first.
    """

    name: str
    records: int
    depth: int
    parent: str = ""
    column: str = ""


@dataclass(frozen=True)
class TablesOverview:
    """The tables of a release, and who is alone with them.

    Args:
        tables: each table, the first one that which belongs to no other; every other one follows its parent.
        noun: what is judged as a whole, in the singular: a patient, a household.
        links: the columns that link tables, each with its table.
        total: the number of these; 0 where their histories were not measured.
        alone: the number of them whom no other is like, by what the tables down to each depth show; empty where that
            was not measured.
        sentence: how many are alone with all tables, in words; empty where that was not measured.
        with_rows: how many of them have a row in each table below the first; empty where that was not measured.
        exposed_with_rows: and how many of those failing demands expose.
    """

    tables: tuple[LinkedTable, ...]
    noun: str
    links: frozenset[str] = frozenset()
    total: int = 0
    alone: tuple[int, ...] = ()
    sentence: str = ""
    with_rows: Mapping[str, int] = FrozenDict()
    exposed_with_rows: Mapping[str, int] = FrozenDict()

    @property
    def size(self) -> str:
        """The number of tables: `three tables`."""
        return _tables(len(self.tables))

    def added_at(self, depth: int) -> list[LinkedTable]:
        """The tables at a depth."""
        return [one for one in self.tables if one.depth == depth]

    @property
    def rows(self) -> Rows:
        """A row for each table: its link, its records, and who is alone by all tables down to its depth."""
        alone = say("{noun:plural} alone", noun=self.noun)
        head = ("table", "belongs to", "by", "records", *([alone] if self.alone else []))
        body = [
            (
                visible(one.name),
                visible(one.parent) or ROOTS,
                visible(one.column) or ROOTS,
                count(one.records),
                *([count(self.alone[one.depth])] if self.alone else []),
            )
            for one in self.tables
        ]
        note = say("{noun:plural} alone: no other is the same in the tables down to here.", noun=self.noun)
        note = sentence_case(note)
        return Rows(head, body, note=note if self.alone else "", numeric_from=3)


def tables_overview(audit: Audit) -> TablesOverview | None:
    """The tables of an audited release; None where it is one table.

    Cost: linear in the tables and the outcomes.
    """
    document = audit.policy.document
    if document.tables is None:
        return None
    from tcdp_audit.core.policy.tables import linking_columns, top_of  # noqa: PLC0415 - only for several tables

    tables = tuple(_under(top_of(document.tables), document, audit, 0))
    links = frozenset(linking_columns(document))
    details = next((one.details for one in audit.outcomes if one.check == LINKED_ROWS), {})
    sentence = sentence_of_tables(details)
    if not sentence:
        return TablesOverview(tables, _noun(document), links)
    return TablesOverview(
        tables,
        _noun(document),
        links,
        details["units"],
        tuple(details["alone_at_depth"]),
        sentence,
        details.get(UNITS_WITH_ROWS, FrozenDict()),
        details.get(EXPOSED_WITH_ROWS, FrozenDict()),
    )


def average_risk_of_tables(audit: Audit) -> float | None:
    """The classes of whole histories divided by those who have them, of an audit of several tables.

    That is the share of them whom an intruder is expected to find who knows everything about everyone. None where
    whole histories were not compared, or for one table.
    """
    linked = next((one.details for one in audit.outcomes if one.check == LINKED_ROWS), {})
    if not audit.release.tables or "whole_histories" not in linked or not linked["units"]:
        return None
    return float(linked["whole_histories"]["classes"] / linked["units"])


def sentence_of_tables(details: Mapping[str, Any]) -> str:
    """The sentence on people alone with all tables, by the details of `linked_rows`; empty where that was not measured.

    Example:
        >>> names = ["visits", "drugs"]
        >>> tables = {"patients": {}, "visits": {}, "drugs": {}}
        >>> figures = {"per_row": tables, "whole_histories": {"k": 1, "alone": 1152}}
        >>> sentence_of_tables({"units": 3000, "noun": "patient", "alone_with": names, **figures})
        'Three tables: 1,152 of 3,000 patients are alone with their visits and drugs.'
    """
    if ALONE_WITH not in details:
        return ""
    whole, noun = details["whole_histories"], str(details["noun"])
    names = [visible(str(one)) for one in details[ALONE_WITH]]
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"rows of {in_words(len(names) - NAMED + 1)} more tables"]
    return say(
        "{tables:text}: {alone/units:{noun}} {verb:is|are} alone[{names?} with their {names:names}]"
        "[{alike?}, and at least {k} are alike].",
        tables=sentence_case(_tables(len(details["per_row"]))),
        alone=whole["alone"],
        units=details["units"],
        noun=noun,
        verb=whole["alone"] or 1,
        names=names,
        alike=not whole["alone"],
        k=whole["k"],
    )


def _tables(number: int) -> str:
    return say("{words:text} {n:table|tables}", words=in_words(number), n=number)


def _under(name: str, document: PolicyDocument, audit: Audit, depth: int, parent: str = "") -> Iterator[LinkedTable]:
    """A table, then all that belong to it, each with those that belong to it in turn."""
    declared, table = document.tables or {}, audit.release.tables.get(name)
    column = (declared[name].by or document.unit_column or "") if parent else ""
    yield LinkedTable(name, 0 if table is None else table.records, depth, parent, column)
    for child, one in declared.items():
        if one.belongs_to == name and child != name:
            yield from _under(child, document, audit, depth + 1, name)


def _noun(document: PolicyDocument) -> str:
    """What is judged as a whole."""
    return "household" if document.household else document.unit_name or noun_of_column(document.unit or "")


def sizes_of_figures(tables: Mapping[str, PublishedTable]) -> dict[str, dict[str, int]]:
    """The size of each table of figures, as results have it.

    Returns:
        By table its `dimensions` and `measures`, the `cells` that it has, the figures that are `hidden`, and the
        combinations of categories that are `absent` from it.
    """
    return {
        name: {
            "dimensions": len(one.dimensions),
            "measures": len(one.figures),
            "cells": one.cells - _absent(one),
            "hidden": sum(int(figures.hidden.sum()) for figures in one.figures.values()),
            "absent": _absent(one),
        }
        for name, one in tables.items()
    }


def _absent(table: PublishedTable) -> int:
    """The cells of the cross without any figure, shown or hidden."""
    present = np.zeros(table.cells, np.bool_)
    for figures in table.figures.values():
        present |= figures.shown | figures.hidden
    return int(table.cells - present.sum())


def size_of_figures(sizes: Mapping[str, Mapping[str, int]], models: Sequence[str] = ()) -> str:
    """Tables of figures and fitted models by their numbers: `2 tables of figures with 96 cells and 1 fitted model`."""
    cells = sum(one["cells"] for one in sizes.values())
    tables = say("{n:table} of figures with {cells:cell}", n=len(sizes), cells=cells)
    fitted = say("{n:fitted model}", n=len(models))
    return " and ".join([*([tables] if sizes else []), *([fitted] if models else [])])


def sentence_of_figures(
    sizes: Mapping[str, Mapping[str, int]], models: Sequence[str] = (), *, with_microdata: bool
) -> str:
    """The extent to which released figures were examined, and whether they were compared with the records behind them.

    Args:
        sizes: the size of each table, see `sizes_of_figures`.
        models: the names of the fitted models.
        with_microdata: whether the figures were compared with the records behind them.

    Returns:
        A sentence; empty where there are neither tables of figures nor models.
    """
    if not sizes and not models:
        return ""
    return say(
        "{what:text} {n:was|were} examined"
        "[{compared?} and compared with the records behind {n:it|them}|{sizes?}; the records behind them were not].",
        what=sentence_case(size_of_figures(sizes, models)),
        n=len(sizes) + len(models),
        compared=bool(sizes) and with_microdata,
        sizes=bool(sizes),
    )
