"""Reports in other languages: each text of a finished page or block is looked up as a whole.

Templates and sections write English. What reports write passes here once, at the end: a text whose translation was
offered or is in the catalogue is replaced, a number by itself is written as the language writes it, and what stays
English is marked as such.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from html import escape, unescape
from typing import TypeVar
from weakref import ref

from tcdp_audit.plugin._internal import active_translations
from tcdp_audit.plugin.report import Audit

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
        return text
    shown = " ".join(one.text for one in translations.segments(text))
    if shown != text:
        translations.offered.setdefault(shown, shown)  # what has been translated stays as it is
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
    """A page of HTML in the language of the report; unchanged in English. Cost: linear in the page."""
    translations = active_translations()
    if translations is None:
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
    return f'{match[1]}="{escape(localised(unescape(match[2])))}"'


def _text(piece: str, *, mark: bool) -> str:
    """The text between two tags, with the blanks around it."""
    text, translations = piece.strip(), active_translations()
    assert translations is not None  # noqa: S101 - only pages in another language come here
    before, after = piece[: len(piece) - len(piece.lstrip())], piece[len(piece.rstrip()) :]
    parts = []
    for segment in translations.segments(unescape(text)):
        shown = escape(segment.text, quote=False)
        is_english = mark and not segment.is_translated and PROSE.search(segment.text)
        parts.append(f'<span lang="en">{shown}</span>' if is_english else shown)
    return f"{before}{' '.join(parts)}{after}"
