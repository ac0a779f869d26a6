"""Redrawn pseudonyms: the column that joins a unit's rows is drawn anew for each row, or for each window of time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin._internal import fold, numbered
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Text
from tcdp_audit.plugin.remedy import (
    Attribute,
    NewColumn,
    Remedy,
    RemedyError,
    RemedyGuide,
    RemedyParameters,
    RemedyView,
    Treatment,
)
from tcdp_audit.plugin.sentences import Outcome, agree, count, plural
from tcdp_audit_plugins.remedies._shared.histories import (
    NO_TIME,
    JoinedRows,
    Trials,
    content_of,
    is_number,
    joined_rows,
    named,
    only_on_histories,
    require_dates,
    require_whole,
    time_column,
)

Numbers = NDArray[np.int64]
WITHOUT_TIME = -(2**62)
EPOCH = 719_163  # 1970-01-01 in days since 0001-01-01
Width = Literal["week", "month", "quarter", "half_year", "year"]  # windows of the calendar, the narrowest first
EXACT = 2**53  # whole numbers below this are exact however a table stores them


class Per(StrEnum):
    """What gets a pseudonym."""

    ROW = "row"
    WINDOW = "window"


class RedrawPseudonymParameters(RemedyParameters):
    """Parameters of `redraw_pseudonym`."""

    per: Annotated[
        Per,
        Field(strict=False, description="row: no two rows are joined; window: those of one window of the `time` are."),
    ]
    width: Annotated[
        Width | Annotated[Exact, Field(gt=0)] | None,
        Field(
            description="The window: week, month, quarter, half_year or year of dates; or so many days of dates, or so "
            "much of times that are numbers, counted from 1970-01-01 or from 0.",
        ),
    ] = None
    table: Annotated[
        Text | None,
        Field(description="Of several linked tables the one whose rows are joined. By default the only such one."),
    ] = None

    @model_validator(mode="after")
    def _belong_together(self) -> RedrawPseudonymParameters:
        if self.per is Per.WINDOW and self.width is None:
            raise ValueError("`per: window` needs the `width` of a window")
        if self.per is Per.ROW and self.width is not None:
            raise ValueError("`per: row` joins no rows, so it has no `width`")
        return self


def faults(parameters: RedrawPseudonymParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Yield the faults that only the policy as a whole shows: (parameter, sentence)."""
    if parameters.per is Per.WINDOW and document.root is not None and not _has_time(parameters, document):
        yield "per", "windows are windows of time; name the column by `time:`"
    if document.tables is not None and document.household is not None:
        yield "", "a household of several tables stays whole; truncate histories or coarsen times"
    of_units = _tables_of_units(document)
    if len(of_units) > 1:
        yield (
            "",
            f"rows of {named(of_units)} belong to units; it acts where only one table does, and would tear them apart",
        )


def _has_time(parameters: RedrawPseudonymParameters, document: PolicyDocument) -> bool:
    if document.tables is None:
        return document.time is not None
    places = tables(parameters, document)
    return not places or document.tables[places[0]].time is not None


def _tables_of_units(document: PolicyDocument) -> list[str]:
    """The linked tables whose rows belong to units: to rows of the table of units, or to units that none lists."""
    declared = document.tables or {}
    top = [name for name, one in declared.items() if one.belongs_to is None]
    return [name for name, one in declared.items() if one.belongs_to in (top or ["units"])]


def tables(parameters: RedrawPseudonymParameters | None, document: PolicyDocument) -> list[str]:
    """The linked tables whose rows the unit joins."""
    named_table, of_units = None if parameters is None else parameters.table, _tables_of_units(document)
    if len(of_units) > 1 or document.household is not None or document.tables is None:
        return []
    by = (None, document.unit_column)
    return [name for name in of_units if named_table in (None, name) and document.tables[name].by in by]


def why_not_applicable(view: RemedyView, parameters: RedrawPseudonymParameters | None, outcome: Outcome) -> str:
    """Say why other pseudonyms cannot help a failing demand, or nothing."""
    if reason := only_on_histories(view, outcome):
        return reason
    if further := _further_links(view):
        return f"{named(further)} {agree(len(further), 'joins', 'join')} rows as well"
    windowed = parameters is not None and parameters.per is Per.WINDOW
    return NO_TIME if windowed and view.policy.document.time is None else ""


def suggest_parameters(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Propose the widest window of the calendar that suffices, and a pseudonym for each row."""
    helped = tuple(one for one in outcomes if not why_not_applicable(view, None, one))
    if not helped:
        return
    if view.policy.document.time is not None and not is_number(time_column(view)):
        attempts = Trials(view, helped)
        for width in reversed(get_args(Width)):
            parameters = RedrawPseudonymParameters(per=Per.WINDOW, width=width)
            try:
                suffices = attempts.suffice(redraw_pseudonyms(view, parameters))
            except RemedyError:
                continue  # its windows cut periods apart, or it joins as much as before
            if suffices:
                yield {"per": "window", "width": width}
                break
    yield {"per": "row"}


def redraw_pseudonyms(view: RemedyView, parameters: RedrawPseudonymParameters) -> Treatment:
    """Draw new pseudonyms, none of which is one of the release.

    Raises:
        RemedyError: no column joins rows, another one joins them as well, windows do not suit the times, or a class
            would have as many new pseudonyms as the policy demands, of fewer units.

    Cost: a sort of the rows by all their cells.
    """
    joined = joined_rows(view)
    if further := _further_links(view):
        raise RemedyError(
            f"{named(further)} {agree(len(further), 'joins', 'join')} rows of one {joined.noun} as well; drop "
            f"{agree(len(further), 'it', 'them')} first"
        )
    drawn = np.arange(view.records) if parameters.per is Per.ROW else _windows(view, joined, parameters.width)
    number = int(drawn.max()) + 1
    if number == joined.present:
        raise RemedyError(
            f"no {joined.noun} has rows in two windows, so new pseudonyms would join what the old ones do"
        )
    owner = np.empty(number, dtype=np.int64)
    owner[drawn] = joined.unit
    column = _column(view, joined)
    place = _unlinkable_places(view, column, drawn, number)
    pseudonyms = _pseudonyms(view, column, joined.column, number)
    divided = int((np.bincount(owner) > 1).sum())
    notes = {"pseudonyms": number, "units": joined.present, "divided": divided}
    if view.joining is None:  # of several tables the core counts the units behind
        notes["fewest_units"] = _fewest_units(view, joined, drawn)
    return Treatment({column: NewColumn(pseudonyms, place[drawn])}, notes=notes)


def _column(view: RemedyView, joined: JoinedRows) -> str:
    """The column of pseudonyms in the release: of several tables that of the rows, which belong by the unit."""
    document = view.policy.document
    return f"{tables(None, document)[0]}.{document.unit_column}" if document.tables else joined.column.name


def _further_links(view: RemedyView) -> list[str]:
    """The other columns of the release that join rows of one unit, as a case number does.

    A quasi-identifier is left to the demands, which judge it. Cost: a sort of the rows for each column.
    """
    document, joined = view.policy.document, joined_rows(view)
    key = None if document.keep_key else document.key
    unit = document.unit if document.drops_unit else None
    dropped = {*document.with_role(Role.IDENTIFIER), *(name for name in (key, unit) if name is not None)}
    judged = {*document.with_role(Role.QUASI_IDENTIFIER), _column(view, joined)}
    others = sorted(view.release.columns - dropped - judged)
    return [one.name for one in view.attributes(others) if _joins(one, joined)]


def _joins(attribute: Attribute, joined: JoinedRows) -> bool:
    """Say whether at least half of the rows whose value is in several rows have one that only their unit has."""
    present = ~attribute.domain.is_uninformative[attribute.codes]
    values, units = attribute.codes[present].astype(np.int64), joined.unit[present]
    first = np.empty(attribute.domain.size + 1, dtype=np.int64)
    first[values] = units
    repeated = np.bincount(values, minlength=len(first)) > 1
    of_several = np.zeros(len(first), dtype=bool)
    of_several[values[first[values] != units]] = True
    joining, rows = (int(some[values].sum()) for some in (repeated & ~of_several, repeated))
    return joining > 0 and 2 * joining >= rows


# Windows


def _windows(view: RemedyView, joined: JoinedRows, width: Width | Fraction | None) -> Numbers:
    """The number of the unit and window of each row. Rows without a time are one further window of each unit."""
    time = time_column(view)
    if isinstance(width, str):
        labels = [None if one is None else one.label(width) for one in time.periods]
        of_value = _date_windows(time, labels, f"a {width.replace('_', ' ')}")
    else:
        assert width is not None  # noqa: S101 - the parameters were validated
        of_value = _number_windows(time, width) if is_number(time) else _day_windows(time, width)
    windows = np.append(of_value, WITHOUT_TIME)[time.codes]
    distinct, window = np.unique(windows, return_inverse=True)
    keys = fold([joined.unit, window.reshape(-1)], [joined.units, len(distinct)])
    return numbered(keys.values, keys.span)[1].astype(np.int64)


def _day_windows(time: Attribute, width: Fraction) -> Numbers:
    """The window of each value of dates, of so many days from 1970-01-01."""
    ends = [
        None if one is None else ((one.first - EPOCH) // width, (one.last - EPOCH) // width) for one in time.periods
    ]
    return _date_windows(time, [None if one is None or one[0] != one[1] else one[0] for one in ends], "a window")


def _date_windows(time: Attribute, dated: Sequence[str | int | None], window: str) -> Numbers:
    """The window of each value of dates as a number.

    Args:
        time: the column.
        dated: the window of each value; None where it reaches over a border, and for a value without a date.
        window: what a window is called, with its article.
    """
    require_dates(time)
    reaching = [code for code, one in enumerate(time.periods) if one is not None and dated[code] is None]
    require_whole(time, reaching, window, "give a `width` that contains it")
    numbers = {one: place for place, one in enumerate(dict.fromkeys(dated))}
    return np.array([WITHOUT_TIME if one is None else numbers[one] for one in dated], dtype=np.int64)


def _number_windows(time: Attribute, width: Fraction) -> Numbers:
    """The window of each value of times that are numbers, exactly: [j w, (j + 1) w)."""
    if (time.ranges.low < time.ranges.high)[~time.domain.is_uninformative[:-1]].any():
        raise RemedyError(
            f"the times {time.name!r} have ranges, which windows may cut apart; redraw before generalising"
        )
    windows = [
        WITHOUT_TIME if silent else int(_exact(label) // width)
        for label, silent in zip(time.domain.labels, time.domain.is_uninformative[:-1], strict=True)
    ]
    return np.array(windows, dtype=np.int64)


def _exact(label: str) -> Fraction:
    try:
        return Fraction(label.strip())
    except ValueError:
        return Fraction(float(label))


# Pseudonyms


def _unlinkable_places(view: RemedyView, column: str, drawn: Numbers, number: int) -> Numbers:
    """The place of each new unit in an order that says nothing of who it was: by all its cells, then shuffled.

    Anyone who knows the seed can undo the shuffle, and gets the units in the order of what is released of them. Units
    that tie there have the same rows, so that exchanging them changes no cell.
    """
    content = content_of(view, column)
    histories = view.histories(drawn, content)
    place = np.empty(number, dtype=np.int64)
    place[np.argsort(histories, kind="stable")] = view.generator().permutation(number)
    return place


def _pseudonyms(view: RemedyView, name: str, column: Attribute, number: int) -> NDArray[Any]:
    """New pseudonyms, in no relation to those of the release, of which none is one.

    Args:
        view: the release.
        name: the column that gets them.
        column: the pseudonyms of all units, whether they have rows in the release or not.
        number: how many are drawn.
    """
    old = view.release.engine.domain(name)
    if not old.is_text:
        largest = max(old.values.max(initial=0), 0, *(_number(one) for one in column.domain.labels))
        start = 10 ** len(str(int(largest)))  # above all numbers of the column
        if start + number < EXACT:
            return np.arange(start, start + number)
    prefix = "u"
    while any(label.startswith(prefix) for label in column.domain.labels):
        prefix += "u"
    digits = len(str(number))
    return np.array([*(f"{prefix}{place:0{digits}}" for place in range(1, number + 1)), None], dtype=object)[:-1]


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return 0.0


def _fewest_units(view: RemedyView, joined: JoinedRows, drawn: Numbers) -> int:
    """The least number of units in a class of new histories.

    Raises:
        RemedyError: a class has as many new pseudonyms as the policy demands, and too few units behind them: an audit
            of the release, which knows only pseudonyms, would not see it.
    """
    k, behind = view.demanded_k or 1, view.units_behind(drawn, joined.unit)
    if behind.hollow:
        raise RemedyError(
            f"{count(behind.hollow, 'class')} would have {k} or more new pseudonyms of fewer than {k} "
            f"{plural(joined.noun)}, which no one who has the release alone could see; make rows coarser first, or say "
            "`unit_released: false`, under which remedies for single rows count the units behind them"
        )
    return behind.fewest


REDRAW_PSEUDONYM = Remedy(
    name="redraw_pseudonym",
    title="Redrawn pseudonyms",
    summary="Draws the pseudonym of a unit anew for each row, or for each window of time.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("redraw_pseudonym.md")),
    parameters=RedrawPseudonymParameters,
    apply=redraw_pseudonyms,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
    once=True,
    acts_on_histories=True,
    tables=tables,
)
