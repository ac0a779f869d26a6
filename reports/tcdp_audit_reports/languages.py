"""Reports in other languages: each text of a finished page or block is looked up as a whole.

Templates and sections write English. What reports write passes here once, at the end: a text whose translation was
offered or is in the catalogue is replaced, a number by itself is written as the language writes it, and what stays
English is marked as such.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from html import escape, unescape
from typing import TypeVar
from weakref import ref

from tcdp_audit.plugin._internal import active_translations
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import visible

T = TypeVar("T")

NOTE = "Where a sentence of this report has no translation, it is in English."
TAG = re.compile(r"(<[^>]+>)")
OPENED = re.compile(r"<([a-z][a-z0-9]*)")
ATTRIBUTES = re.compile(r'\b(aria-label|data-label)="([^"]*)"')
VERBATIM = ("code", "pre", "style", "script", "template", "math")  # elements whose content no language changes
UNMARKED = ("title", "svg")  # elements whose text can hold no markup
PROSE = re.compile(r"[a-z]{2,}[,;:]? [a-z]{2,}[,;:]? [a-z]{2,}", re.IGNORECASE)  # fewer words may be a name
LANGUAGE = re.compile(r'<html lang="[^"]*">')
END_OF_TOP = ("</header>", "</main>")  # the first of these that a page has ends what is seen first


def once_per_report(compute: Callable[[Audit], T]) -> Callable[[Audit], T]:
    """Compute what several sections show once for each report: for the same audit and the same translations.

    The last result remains as long as its audit does. Callers must not change it.
    """
    results: list[tuple[ref[Audit], object, T]] = []

    @wraps(compute)
    def computed(audit: Audit) -> T:
        translations = active_translations()
        for one, language, result in results[:]:
            if one() is audit and language is translations:
                return result
        result = compute(audit)
        results[:] = [(ref(audit, lambda _: results.clear()), translations, result)]
        return result

    return computed


def localised(text: str) -> str:
    """A text in the language of the report; its sentences without a translation stay English."""
    translations = active_translations()
    if translations is None or not text.strip():
        return _with_plain_names(text)
    shown = " ".join(one.text for one in translations.segments(text))
    if shown != text:
        translations.offered.setdefault(shown, shown)  # what has been translated stays as it is
    return _with_plain_names(shown)


Written = TypeVar("Written", str, bytes)


def in_plain_names(render: Callable[[Audit], Written]) -> Callable[[Audit], Written]:
    """Write a report in which columns have one form: the policy's label, or their name where it is a plain word.

    Messages quote the names of columns, and labels have no quotes. A reader who knows neither rule takes them for
    two kinds of things. Only a name that is no word, such as `db040`, keeps its quotes.
    """

    @wraps(render)
    def rendered(audit: Audit) -> Written:
        before = _names.set(_PlainNames.of(audit))
        try:
            return render(audit)
        finally:
            _names.reset(before)

    return rendered


@dataclass(frozen=True)
class _PlainNames:
    """The names of columns that a report writes without quotes, and how it writes them."""

    names: Mapping[str, str]
    quoted: re.Pattern[str]

    @classmethod
    def of(cls, audit: Audit) -> _PlainNames | None:
        columns = {one.name: one.label or one.name for one in audit.columns if one.label or WORD.fullmatch(one.name)}
        if not columns:
            return None
        any_name = "|".join(sorted(map(re.escape, columns), key=len, reverse=True))
        return cls(columns, re.compile(f"({OF_COLUMN})?('|„|« )({any_name})('|“| »)"))


_names: ContextVar[_PlainNames | None] = ContextVar("plain_names", default=None)
OF_COLUMN = r"[Cc]olumns? |Spalten? |[Cc]olonnes? |[Cc]olumnas? "
WORD = re.compile(r"[^\W\d_]{2,}")


def _with_plain_names(text: str) -> str:
    plain = _names.get()
    return text if plain is None else plain.quoted.sub(partial(_plainly, plain.names), text)


def _plainly(names: Mapping[str, str], match: re.Match[str]) -> str:
    """The name without quotes; after the word column, which it would run into, a label of several words keeps them."""
    before, opening, name, closing = match.groups()
    shown = visible(names[name])
    if before:
        return f"{before}{opening}{shown}{closing}" if " " in shown else f"{before}{shown}"
    return shown


def report_language() -> str:
    """The code of the language of the report that is being written."""
    translations = active_translations()
    return "en-GB" if translations is None else translations.language


def language_note() -> str:
    """The sentence of a report on its language; empty in English."""
    translations = active_translations()
    return "" if translations is None else translations.whole(NOTE) or NOTE


def localised_page(page: str) -> str:
    """A page of HTML in the language of the report, with plain names of columns. Cost: linear in the page."""
    translations = active_translations()
    if translations is None and _names.get() is None:
        return page
    pieces, open_verbatim, open_unmarked = list[str](), "", ""
    for piece in TAG.split(page):
        if piece.startswith("<"):
            pieces.append(piece if open_verbatim else ATTRIBUTES.sub(_attribute, piece))
            open_verbatim = _opened(piece, open_verbatim, VERBATIM)
            open_unmarked = _opened(piece, open_unmarked, UNMARKED)
        else:
            is_verbatim = open_verbatim or not piece.strip()
            pieces.append(piece if is_verbatim else _text(piece, mark=not open_unmarked))
    if translations is None:
        return "".join(pieces)
    translated = LANGUAGE.sub(f'<html lang="{translations.language}">', "".join(pieces), count=1)
    end = next(one for one in END_OF_TOP if one in translated)
    return translated.replace(end, f'<p class="note">{escape(language_note())}</p>{end}', 1)


def _opened(tag: str, opened: str, elements: tuple[str, ...]) -> str:
    """The element of these that is open after a tag; they do not contain themselves."""
    if opened:
        return "" if tag == f"</{opened}>" else opened
    match = OPENED.match(tag)
    return match[1] if match is not None and match[1] in elements and not tag.endswith("/>") else ""


def _attribute(match: re.Match[str]) -> str:
    text = unescape(match[2])
    shown = localised(text)
    return match[0] if shown == text else f'{match[1]}="{escape(shown)}"'


def _text(piece: str, *, mark: bool) -> str:
    """The text between two tags, with the blanks around it."""
    text, translations = piece.strip(), active_translations()
    if translations is None:
        shown = _with_plain_names(unescape(piece))
        return piece if shown == unescape(piece) else escape(shown, quote=False)
    before, after = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
    parts = []
    for segment in translations.segments(unescape(text)):
        shown = escape(_with_plain_names(segment.text), quote=False)
        is_english = mark and not segment.is_translated and PROSE.search(segment.text)
        parts.append(f'<span lang="en">{shown}</span>' if is_english else shown)
    return f"{before}{' '.join(parts)}{after}"
