"""Tables of an outcome: its worst classes by ordinal, and the figures inside its details."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import floor
from typing import Any

from tcdp_audit.plugin.report import Rows, WorstClass
from tcdp_audit.plugin.sentences import Outcome, count, figure, plural, record_noun, say, sentence_case, visible
from tcdp_audit_reports.charts.drawing import Measured, Say, figure_table
from tcdp_audit_reports.charts.pictures import FACTS, drawn
from tcdp_audit_reports.fact_labels import Labels

WORST = 5  # of the worst groups, as lines of a table; the machine-readable result has more
ORDINALS = "Groups are numbered from the worst; a number says nothing about who is in it."


def worst_table(outcome: Outcome, measured: Measured | None, once: Say) -> Rows | None:
    """The worst classes, with their cells only where those were asked for; None where it would say nothing new.

    Whole figures are counted exactly, and their histogram has all of them. A single line would have the observed
    figure, and lines for every class would be the whole distribution and not the worst of it.
    """
    if not outcome.worst:
        return None
    if any(one.cells is not None for one in outcome.worst):
        return _with_cells(outcome, once)
    if measured is not None and measured.counts_whole_numbers:
        return None
    runs = [*_equal_runs(outcome.worst)]
    is_all = outcome.classes is not None and outcome.classes.total <= len(outcome.worst)
    return None if len(runs) < 2 or is_all else _by_class(outcome, runs, once)


def _by_class(outcome: Outcome, runs: Sequence[Sequence[WorstClass]], once: Say) -> Rows:
    rows = [
        [_range(run[0].ordinal, run[-1].ordinal), _sizes(run), figure(run[0].value, outcome.threshold)]
        for run in runs[:WORST]
    ]
    return figure_table(
        "Worst groups", ("groups", f"{plural(record_noun(outcome))} in each", "found"), rows, once(ORDINALS)
    )


def _with_cells(outcome: Outcome, once: Say) -> Rows:
    rows = [
        [
            _range(one.ordinal, one.ordinal),
            "; ".join(_cell_in_words(outcome, name, cell) for name, cell in (one.cells or {}).items()),
            count(one.records),
            figure(one.value, outcome.threshold),
        ]
        for one in outcome.worst
    ]
    head = ("groups", "cells", f"{plural(record_noun(outcome))} in each", "found")
    return Rows(head, rows, "Worst groups", once(ORDINALS), numeric_from=2)


def _cell_in_words(outcome: Outcome, name: str, cell: str) -> str:
    """A cell with its column; of a column of the table whose rows are judged, that these rows have it."""
    table, dot, column = name.partition(".")
    if outcome.table and dot and table == outcome.table:
        return say("of these the rows of {table} with {column} {cell}", table=table, column=column, cell=visible(cell))
    return f"{visible(name)}: {visible(cell)}"


def _equal_runs(worst: Sequence[WorstClass]) -> Iterator[list[WorstClass]]:
    for _, run in groupby(worst, key=lambda one: one.value):
        yield list(run)


def _sizes(run: Sequence[WorstClass]) -> str:
    least, most = min(one.records for one in run), max(one.records for one in run)
    return count(least) if least == most else f"{count(least)} to {count(most)}"


def _range(first: int, last: int) -> str:
    return f"group {first:,}" if first == last else f"groups {first:,}–{last:,}"


ELSEWHERE = frozenset({"distribution", "unfailable", "columns", "by_size", *FACTS})  # shown elsewhere
PER_ROW = "per_row"  # of several tables it has figures for each
MOST = 40  # rows; the machine-readable result has all
NONE = "–"


FLOW = "flow"  # a detail with the moves between the values of the worst group and of the reference
MOVE = re.compile(r"\d+(/[1-9]\d*)?")  # a fraction as text


def moves_of(outcome: Outcome) -> list[Mapping[str, Any]] | None:
    """The moves of an outcome's flow: from, to, share and cost; None if it has no detail of that form."""
    moves = outcome.details.get(FLOW)
    if not isinstance(moves, list | tuple) or not all(_is_move(one) for one in moves):
        return None
    return list(moves)


def _is_move(one: Any) -> bool:
    if not isinstance(one, Mapping) or {*one} != {"from", "to", "share", "cost"}:
        return False
    fractions = all(isinstance(one[name], str) and MOVE.fullmatch(one[name]) for name in ("share", "cost"))
    return fractions and all(isinstance(one[name], int) for name in ("from", "to"))


def nested_tables(outcome: Outcome, labels: Labels) -> list[Rows]:
    """A table for each detail that is a mapping, a list of mappings or a list of numbers."""
    elsewhere = ELSEWHERE | drawn(outcome) | (set() if moves_of(outcome) is None else {FLOW})
    shown = _Nested(outcome, labels)
    named = ((name, value) for name, value in outcome.details.items() if name not in elsewhere)
    return [table for table in (shown.table(name, value) for name, value in named) if table is not None]


@dataclass(frozen=True)
class _Nested:
    """Tables of what is inside an outcome's details, with labels in the place of keys."""

    outcome: Outcome
    labels: Labels

    def table(self, name: str, value: Any) -> Rows | None:
        """The table of a detail; None for a single figure."""
        caption = sentence_case(self.labels.of_key(name))
        if isinstance(value, Mapping) and value:
            first = "table" if name == PER_ROW and self.outcome.table is not None else "name"
            return self._of_mapping(caption, value, first)
        if isinstance(value, list | tuple) and value and all(_is_number(one) for one in value):
            body = [[count(place), cell_of(one)] for place, one in enumerate(value[:MOST], 1)]
            return figure_table(caption, ("number", "value"), body)
        if isinstance(value, list | tuple) and value and all(isinstance(one, Mapping) for one in value):
            return self._of_rows(caption, value)
        return None

    def _of_mapping(self, caption: str, value: Mapping[str, Any], first: str) -> Rows:
        """Names with one figure each, or with several by name."""
        items = [*value.items()][:MOST]
        heads = list(dict.fromkeys(key for _, inner in items if isinstance(inner, Mapping) for key in inner))
        if heads:
            rows = [[self._name(name), *(self._text(_inner(one, head)) for head in heads)] for name, one in items]
            return figure_table(caption, (first, *map(self.labels.of_key, heads)), rows, _rest(len(value)))
        rows = [[self._name(name), self._text(one)] for name, one in items]
        return figure_table(caption, (first, "value"), rows, _rest(len(value)))

    def _of_rows(self, caption: str, value: Sequence[Mapping[str, Any]]) -> Rows:
        keys = dict.fromkeys(key for one in value[:MOST] for key in one)
        heads = [key for key in keys if any(cell_of(one.get(key)) != NONE for one in value[:MOST])]
        rows = [[self._text(one.get(head)) for head in heads] for one in value[:MOST]]
        return figure_table(caption, tuple(map(self.labels.of_key, heads)), rows, _rest(len(value)))

    def _name(self, name: str) -> str:
        return self.labels.of_name(self.outcome, name)

    def _text(self, value: Any) -> str:
        return self.labels.of_text(self.outcome, value) if isinstance(value, str) else cell_of(value)


def _inner(value: Any, head: str) -> Any:
    return value.get(head) if isinstance(value, Mapping) else None


def _rest(total: int) -> str:
    return f"The first {MOST} of {count(total)}." if total > MOST else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def cell_of(value: Any) -> str:
    """A detail as the text of a cell: a figure, yes or no, an interval or a list of figures, or a text as it is."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_number(value):
        return figure(float(value))
    if isinstance(value, list | tuple) and value and all(_is_number(one) for one in value):
        return " to ".join(map(cell_of, value)) if len(value) == 2 else ", ".join(map(cell_of, value[:12]))
    return visible(value) if isinstance(value, str) else NONE


def whole_percents(shares: Sequence[float]) -> list[str]:
    """Shares of one whole as whole percentages with the same sum, by the largest remainder.

    Example:
        >>> whole_percents([0.345, 0.335, 0.32]), whole_percents([1 / 3] * 3)
        (['35%', '33%', '32%'], ['34%', '33%', '33%'])
    """
    exact = [100 * one for one in shares]
    whole = [floor(one + 1e-9) for one in exact]
    left = round(sum(exact)) - sum(whole)
    by_remainder = sorted(range(len(exact)), key=lambda place: whole[place] - exact[place])
    return [f"{one + (place in by_remainder[:left])}%" for place, one in enumerate(whole)]
