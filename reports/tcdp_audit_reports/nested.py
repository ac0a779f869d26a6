"""Figures inside an outcome's details, as tables: for each attribute, intervals, contributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tcdp_audit.plugin.sentences import Outcome, count, figure, sentence_case, visible
from tcdp_audit_reports.chart import Table
from tcdp_audit_reports.pictures import drawn

ELSEWHERE = frozenset({"distribution", "unfailable", "columns", "by_size"})  # stand elsewhere
MOST = 40  # rows; the machine-readable result has all
NONE = "–"


def nested_tables(outcome: Outcome) -> list[Table]:
    """A table for each detail that is a mapping, a list of mappings or a list of numbers."""
    elsewhere = ELSEWHERE | drawn(outcome)
    named = ((name, value) for name, value in outcome.details.items() if name not in elsewhere)
    return [table for table in (_table(outcome, name, value) for name, value in named) if table is not None]


def _table(outcome: Outcome, name: str, value: Any) -> Table | None:
    caption = sentence_case(visible(name).replace("_", " "))
    if isinstance(value, Mapping) and value:
        return _of_mapping(outcome, caption, value)
    if isinstance(value, list | tuple) and value and all(_is_number(one) for one in value):
        return Table(caption, ("number", "value"), [[count(i), _cell(one)] for i, one in enumerate(value[:MOST], 1)])
    if isinstance(value, list | tuple) and value and all(isinstance(one, Mapping) for one in value):
        return _of_rows(caption, value)
    return None


def _of_mapping(outcome: Outcome, caption: str, value: Mapping[str, Any]) -> Table:
    """Names with one figure each, or with several by name."""
    items = [*value.items()][:MOST]
    heads = list(dict.fromkeys(key for _, inner in items if isinstance(inner, Mapping) for key in inner))
    if heads:
        rows = [[_name(outcome, name), *(_cell(_inner(one, head)) for head in heads)] for name, one in items]
        return Table(caption, ("name", *(_words(head) for head in heads)), rows, _rest(len(value)))
    return Table(
        caption, ("name", "value"), [[_name(outcome, name), _cell(one)] for name, one in items], _rest(len(value))
    )


def _of_rows(caption: str, value: Sequence[Mapping[str, Any]]) -> Table:
    keys = dict.fromkeys(key for one in value[:MOST] for key in one)
    heads = [key for key in keys if any(_cell(one.get(key)) != NONE for one in value[:MOST])]
    rows = [[_cell(one.get(head)) for head in heads] for one in value[:MOST]]
    return Table(caption, tuple(map(_words, heads)), rows, _rest(len(value)))


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
