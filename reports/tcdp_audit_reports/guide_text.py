"""Texts of guides: Markdown of code and emphasis as markup, and groups by their everyday name."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from tcdp_audit.plugin.sentences import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

CODE = re.compile(r"`([a-z][a-z0-9_ :.-]*)`")
SPAN = re.compile(rf"(?<!`){CODE.pattern}(?!`)")  # what is code in Markdown whatever stands around it
MARKS = re.compile(r"[`*_]")  # without one of them there is neither code nor emphasis
EMPHASIS = re.compile(r"[`*]|(?<![^\W_])_|_(?![^\W_])")  # or may be: an underscore inside a word is none
GROUP = re.compile(r"\b(an? )?(E|e)quivalence class(es)?\b")


def inline(text: str) -> Markup:
    """A paragraph of a guide as markup: code and emphasis, and nothing else that Markdown has."""
    shown = visible(text)
    if not MARKS.search(shown):
        return escape(shown)
    if not EMPHASIS.search(SPAN.sub(" ", shown)):  # code alone takes no library, whose import is slow
        quotes = str(escape(shown)).replace("&#39;", "'").replace("&#34;", "&quot;")  # as the library writes them
        return Markup(SPAN.sub(r"<code>\1</code>", quotes))  # noqa: S704 - escaped before
    return Markup(_markdown().renderInline(shown))  # noqa: S704 - all but code and emphasis is escaped


def quoted(message: str) -> str:
    """A sentence of a check with its code between quotation marks, as one reads it.

    Example:
        >>> quoted("add `weight:` to the policy")
        'add ‘weight:’ to the policy'
    """
    return CODE.sub(r"‘\1’", message)


def in_groups(text: str) -> str:
    """The same text with `group` for `equivalence class`; the words of the report say that both are one.

    Example:
        >>> in_groups("Every equivalence class has k records; an equivalence class, two equivalence classes.")
        'Every group has k records; a group, two groups.'
    """
    return GROUP.sub(_group, text)


def _group(found: re.Match[str]) -> str:
    article = "" if found[1] is None else found[1].replace("an ", "a ").replace("An ", "A ")
    word = "group" if found[2] == "e" else "Group"
    return f"{article}{word}{'s' if found[3] else ''}"


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - takes a moment to import

    return MarkdownIt("zero").enable(["backticks", "emphasis"])
