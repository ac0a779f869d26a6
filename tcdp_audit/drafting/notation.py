"""The notation of numbers that are text, as `1.234,5`, and the encoding of a text file: a draft says both."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tcdp_audit.api import TextForm
from tcdp_audit.drafting.draft import scalar
from tcdp_audit.plugin.engine import DataError, Engine
from tcdp_audit.plugin.remedy import silent

TEXT = "VARCHAR"
SAMPLE = 10_000  # distinct values that a notation is looked for in
NOTATIONS = (",.", ",", ".,", ", ", ".'")  # the decimal mark, and that of thousands where there is one
ABSENT = ("", "NA", "N/A", ".", "-", "*")


def notation_of(engine: Engine, progress: Callable[[str, int, int], None] = silent) -> TextForm:
    """The form of a table with columns of numbers that are not written with a decimal point alone.

    A column counts where all of its values are numbers in one notation and some could be numbers in no other. The first
    such column decides the notation of the table.

    Cost: one reading of the distinct values of each column of text.
    """
    columns: dict[str, Sequence[str]] = {}
    for place, one in enumerate(engine.columns):
        progress("notations compared", place, len(engine.columns))
        texts = _texts(engine, one.name) if one.type == TEXT else ()
        columns |= {one.name: texts} if texts else {}
    for marks in NOTATIONS:
        form = TextForm(decimal=marks[0], thousands=marks[1:])
        named = frozenset(name for name, texts in columns.items() if _is_written_in(form, texts))
        if named:
            return replace(engine.text_form, decimal=form.decimal, thousands=form.thousands, numbers=named)
    return engine.text_form


def _texts(engine: Engine, name: str) -> Sequence[str]:
    try:
        values = engine.domain(name).values
    except DataError:  # nested data
        return ()
    return [text for text in values[:SAMPLE].tolist() if str(text).strip() not in ABSENT]


def _is_written_in(form: TextForm, texts: Sequence[str]) -> bool:
    """Whether all texts are numbers of a notation, and some show that they are."""
    if not all(map(form.is_number, texts)):
        return False
    marks = {mark for text in texts for mark in re.findall(r"[^0-9+\-eE\s]", text)}
    if form.thousands and form.thousands not in marks and form.thousands != " ":
        return False
    if form.thousands == " " and not any(re.search(r"[0-9]\s[0-9]", text.strip()) for text in texts):
        return False
    if form.decimal not in marks:
        return False
    # 1,234 alone may be a thousand: a part of other than three digits, or both marks, tell
    both = bool(form.thousands) and any(form.decimal in text and _has_group(form, text) for text in texts)
    return both or any(re.search(rf"{re.escape(form.decimal)}(?:[0-9]{{1,2}}|[0-9]{{4,}})\s*$", text) for text in texts)


def _has_group(form: TextForm, text: str) -> bool:
    return bool(re.search(r"[0-9]\s[0-9]", text)) if form.thousands == " " else form.thousands in text


def lines_of(form: TextForm, engine: Engine) -> Iterator[str]:
    """The entries of `read_as` for a table, in YAML."""
    if engine.encoding:
        yield f"encoding: {engine.encoding}"
    if form.layout is not None:
        yield f"layout: {scalar(form.layout.name)}"
    if form.decimal != ".":
        yield f'decimal: "{form.decimal}"'
    if form.thousands:
        yield f'thousands: "{form.thousands}"'
