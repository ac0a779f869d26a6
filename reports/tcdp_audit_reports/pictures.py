"""Pictures of the figures inside an outcome's details, chosen by their form and never by the check's name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeGuard

from tcdp_audit.plugin.sentences import Outcome, figure, sentence_case, visible
from tcdp_audit_reports import dumbbell, heat_map, named_bars
from tcdp_audit_reports.chart import Chart

DRAWN = "distribution"


def drawn(outcome: Outcome) -> frozenset[str]:
    """The details that a picture's own table has."""
    bars = (name for name, value in outcome.details.items() if _has_bars(value, outcome))
    return frozenset([*bars, *([dumbbell.DETAIL] if dumbbell.chart(outcome) else [])])


def pictures(outcome: Outcome) -> list[Chart]:
    """The worst group against the table, heat maps of figures by column and width, bars of numbers by name."""
    return [
        one
        for one in (dumbbell.chart(outcome), *_heat_maps(outcome), *_bars(outcome), _directions(outcome))
        if one is not None
    ]


def _heat_maps(outcome: Outcome) -> Iterator[Chart | None]:
    """Lists of entries that each have one number that differs and one mapping of columns to shares."""
    for name, value in outcome.details.items():
        if name == DRAWN or not isinstance(value, list | tuple) or not value:
            continue
        if not all(isinstance(one, Mapping) for one in value):
            continue
        inner = next((key for key, one in value[0].items() if _is_numbers(one)), None)
        width = next((key for key, one in value[0].items() if _is_number(one)), None)
        if inner is None or width is None or not all(_same(one.get(inner), value[0][inner]) for one in value):
            continue
        shares = {_name(outcome, key): [float(one[inner][key]) for one in value] for key in value[0][inner]}
        widths = [figure(float(one[width])) for one in value]
        yield heat_map.chart(f"{_words(inner)}, by {visible(width)}", visible(width), widths, shares)


def _bars(outcome: Outcome) -> Iterator[Chart | None]:
    """Mappings of names to numbers: by columns in descending order, by anything else in their own."""
    columns = {*outcome.known, *outcome.naming.labels}
    for name, value in outcome.details.items():
        if not _has_bars(value, outcome):
            continue
        of_columns = columns >= {*value}
        named = [(_name(outcome, key), float(one)) for key, one in value.items()]
        where = "by column" if of_columns else f"by {_words(name).lower()}"
        yield named_bars.chart(_words(name), f"Number {where}", named, ordered=not of_columns)


def _directions(outcome: Outcome) -> Chart | None:
    """Mappings with the same keys beside each other: the first figure of each."""
    sides = {name: value for name, value in outcome.details.items() if _is_numbers(value) and _is_side(outcome, value)}
    if len(sides) < 2:
        return None
    first = next(iter(next(iter(sides.values()))))
    named = [(_words(name), float(value[first])) for name, value in sides.items()]
    return named_bars.chart("In both directions", _words(first), named, ordered=True)


def _has_bars(value: object, outcome: Outcome) -> TypeGuard[Mapping[str, float]]:
    if not _is_numbers(value) or _is_side(outcome, value):
        return False
    return min(value.values()) >= 0 and max(value.values()) > 0


def _is_side(outcome: Outcome, value: Mapping[str, Any]) -> bool:
    """Whether another detail has the same keys, and the outcome's own figures have their names."""
    keys = {*value}
    same = [one for one in outcome.details.values() if isinstance(one, Mapping) and {*one} == keys]
    return len(same) > 1 and keys <= {*outcome.details}


def _is_numbers(value: object) -> TypeGuard[Mapping[str, float]]:
    return isinstance(value, Mapping) and len(value) > 1 and all(_is_number(one) for one in value.values())


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def _same(one: object, other: Mapping[str, Any]) -> bool:
    return isinstance(one, Mapping) and {*one} == {*other} and _is_numbers(one)


def _name(outcome: Outcome, name: str) -> str:
    return visible(outcome.naming.labels.get(name, "")) or visible(str(name))


def _words(name: str) -> str:
    return sentence_case(visible(str(name)).replace("_", " "))
