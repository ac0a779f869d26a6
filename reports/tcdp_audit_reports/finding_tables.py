"""Tables of an outcome: its worst classes by ordinal, and the figures inside its details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

from tcdp_audit.plugin.report import Rows, WorstClass
from tcdp_audit.plugin.sentences import Outcome, count, figure, plural, record_noun, sentence_case, visible
from tcdp_audit_reports.charts.drawing import Measured, figure_table
from tcdp_audit_reports.charts.pictures import drawn

SHOWN = 6
ORDINALS = "Groups are numbered from the worst; a number says nothing about who is in it."


def worst_table(outcome: Outcome, measured: Measured | None) -> Rows | None:
    """The worst classes, with their cells only where those were asked for; None without any class."""
    if not outcome.worst:
        return None
    if any(one.cells is not None for one in outcome.worst):
        return _with_cells(outcome)
    if measured is not None and measured.counts_whole_numbers:
        return _by_figure(measured)
    return _by_class(outcome)


def _by_figure(measured: Measured) -> Rows:
    """Whole figures are counted exactly, so that all equal classes share a row."""
    rows, first = [], 1
    for value, classes, records in measured.distribution[:SHOWN]:
        rows.append([_range(first, first + classes - 1), figure(value), count(records)])
        first += classes
    note = f"{count(first - 1)} of {count(measured.classes, 'group')} shown. {ORDINALS}"
    return figure_table("Worst groups", ("groups", measured.label, f"{measured.people} in all"), rows, note)


def _by_class(outcome: Outcome) -> Rows:
    rows = [
        [_range(run[0].ordinal, run[-1].ordinal), _sizes(run), figure(run[0].value, outcome.threshold)]
        for run in _equal_runs(outcome.worst)
    ]
    return figure_table(
        "Worst groups", ("groups", f"{plural(record_noun(outcome))} in each", "value"), rows, _note(outcome)
    )


def _with_cells(outcome: Outcome) -> Rows:
    rows = [
        [
            _range(one.ordinal, one.ordinal),
            "; ".join(f"{visible(name)}: {visible(cell)}" for name, cell in (one.cells or {}).items()),
            count(one.records),
            figure(one.value, outcome.threshold),
        ]
        for one in outcome.worst
    ]
    head = ("groups", "cells", f"{plural(record_noun(outcome))} in each", "value")
    return Rows(head, rows, "Worst groups", _note(outcome), numeric_from=2)


def _equal_runs(worst: Sequence[WorstClass]) -> Iterator[list[WorstClass]]:
    for _, run in groupby(worst, key=lambda one: one.value):
        yield list(run)


def _sizes(run: Sequence[WorstClass]) -> str:
    least, most = min(one.records for one in run), max(one.records for one in run)
    return count(least) if least == most else f"{count(least)} to {count(most)}"


def _range(first: int, last: int) -> str:
    return f"group {first:,}" if first == last else f"groups {first:,}–{last:,}"


def _note(outcome: Outcome) -> str:
    total = len(outcome.worst) if outcome.classes is None else outcome.classes.total
    return f"{count(len(outcome.worst))} of {count(total, 'group')} shown. {ORDINALS}"


ELSEWHERE = frozenset({"distribution", "unfailable", "columns", "by_size"})  # shown elsewhere
PER_ROW = "per_row"  # of several tables it has figures for each
MOST = 40  # rows; the machine-readable result has all
NONE = "–"


def nested_tables(outcome: Outcome) -> list[Rows]:
    """A table for each detail that is a mapping, a list of mappings or a list of numbers."""
    elsewhere = ELSEWHERE | drawn(outcome)
    named = ((name, value) for name, value in outcome.details.items() if name not in elsewhere)
    return [table for table in (_table(outcome, name, value) for name, value in named) if table is not None]


def _table(outcome: Outcome, name: str, value: Any) -> Rows | None:
    caption = sentence_case(visible(name).replace("_", " "))
    if isinstance(value, Mapping) and value:
        first = "table" if name == PER_ROW and outcome.table is not None else "name"
        return _of_mapping(outcome, caption, value, first)
    if isinstance(value, list | tuple) and value and all(_is_number(one) for one in value):
        return figure_table(
            caption, ("number", "value"), [[count(i), _cell(one)] for i, one in enumerate(value[:MOST], 1)]
        )
    if isinstance(value, list | tuple) and value and all(isinstance(one, Mapping) for one in value):
        return _of_rows(caption, value)
    return None


def _of_mapping(outcome: Outcome, caption: str, value: Mapping[str, Any], first: str) -> Rows:
    """Names with one figure each, or with several by name."""
    items = [*value.items()][:MOST]
    heads = list(dict.fromkeys(key for _, inner in items if isinstance(inner, Mapping) for key in inner))
    if heads:
        rows = [[_name(outcome, name), *(_cell(_inner(one, head)) for head in heads)] for name, one in items]
        return figure_table(caption, (first, *(_words(head) for head in heads)), rows, _rest(len(value)))
    return figure_table(
        caption, (first, "value"), [[_name(outcome, name), _cell(one)] for name, one in items], _rest(len(value))
    )


def _of_rows(caption: str, value: Sequence[Mapping[str, Any]]) -> Rows:
    keys = dict.fromkeys(key for one in value[:MOST] for key in one)
    heads = [key for key in keys if any(_cell(one.get(key)) != NONE for one in value[:MOST])]
    rows = [[_cell(one.get(head)) for head in heads] for one in value[:MOST]]
    return figure_table(caption, tuple(map(_words, heads)), rows, _rest(len(value)))


def _inner(value: Any, head: str) -> Any:
    return value.get(head) if isinstance(value, Mapping) else None


def _name(outcome: Outcome, name: str) -> str:
    """A column by its label, or any other name in words."""
    return visible(outcome.naming.labels.get(name, "")) or _words(name)


def _words(name: str) -> str:
    return visible(str(name)).replace("_", " ")


def _rest(total: int) -> str:
    return f"The first {MOST} of {count(total)}." if total > MOST else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_number(value):
        return figure(float(value))
    if isinstance(value, list | tuple) and value and all(_is_number(one) for one in value):
        return " to ".join(_cell(one) for one in value) if len(value) == 2 else ", ".join(map(_cell, value[:12]))
    return visible(value) if isinstance(value, str) else NONE
