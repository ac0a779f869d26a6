"""The worst classes by ordinal; equal ones stand together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tcdp_audit.plugin.report import WorstClass
from tcdp_audit.plugin.sentences import Outcome, count, figure, plural, record_noun, visible
from tcdp_audit_reports.chart import Measured, Table

SHOWN = 6
ORDINALS = "Groups are numbered from the worst; a number says nothing about who is in it."


def worst_table(outcome: Outcome, measured: Measured | None) -> Table | None:
    """The worst classes, with their cells only where those were asked for; None without any class."""
    if not outcome.worst:
        return None
    if any(one.cells is not None for one in outcome.worst):
        return _with_cells(outcome)
    if measured is not None and measured.counts_whole_numbers:
        return _by_figure(measured)
    return _by_class(outcome)


def _by_figure(measured: Measured) -> Table:
    """Whole figures are counted exactly, so that all equal classes can stand in one row."""
    rows, first = [], 1
    for value, classes, records in measured.distribution[:SHOWN]:
        rows.append([_range(first, first + classes - 1), figure(value), count(records)])
        first += classes
    note = f"{count(first - 1)} of {count(measured.classes, 'group')} shown. {ORDINALS}"
    return Table("Worst groups", ("groups", measured.label, f"{measured.people} in all"), rows, note)


def _by_class(outcome: Outcome) -> Table:
    rows = [
        [_range(run[0].ordinal, run[-1].ordinal), _sizes(run), figure(run[0].value, outcome.threshold)]
        for run in _equal_runs(outcome.worst)
    ]
    return Table("Worst groups", ("groups", f"{plural(record_noun(outcome))} in each", "value"), rows, _note(outcome))


def _with_cells(outcome: Outcome) -> Table:
    rows = [
        [
            _range(one.ordinal, one.ordinal),
            count(one.records),
            figure(one.value, outcome.threshold),
            "; ".join(f"{visible(name)}: {visible(cell)}" for name, cell in (one.cells or {}).items()),
        ]
        for one in outcome.worst
    ]
    return Table(
        "Worst groups", ("groups", f"{plural(record_noun(outcome))} in each", "value", "cells"), rows, _note(outcome)
    )


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
