"""Texts and formulas of guides: code and emphasis as markup, groups by their everyday name, and plain MathML."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from tcdp_audit.plugin.sentences import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


CODE = re.compile(r"`([a-z][a-z0-9_ :.-]*)`")
SPAN = re.compile(rf"(?<!`){CODE.pattern}(?!`)")  # what is code in Markdown whatever is around it
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


def _group(match: re.Match[str]) -> str:
    article = "" if match[1] is None else match[1].replace("an ", "a ").replace("An ", "A ")
    word = "group" if match[2] == "e" else "Group"
    return f"{article}{word}{'s' if match[3] else ''}"


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - takes a moment to import

    return MarkdownIt("zero").enable(["backticks", "emphasis"])


ELEMENTS = (
    "math|mrow|mi|mo|mn|ms|mtext|mspace|mfrac|msqrt|mroot|msub|msup|msubsup|munder|mover|munderover|"
    "mtable|mtr|mtd|mstyle|mpadded|mphantom"
)
ATTRIBUTES = (
    "display|displaystyle|movablelimits|mathvariant|stretchy|symmetric|largeop|accent|accentunder|form|fence|"
    "separator|lspace|rspace|minsize|maxsize|linethickness|scriptlevel|width|columnalign|columnspacing"
)
VALUE = r"'[\w .%-]*'|\"[\w .%-]*\""
TOKEN = re.compile(rf"<(?P<close>/?)(?P<name>{ELEMENTS})(?:\s+(?:{ATTRIBUTES})=(?:{VALUE}))*\s*(?P<empty>/?)>|[^<>]+")


def is_mathml(text: str) -> bool:
    """True for balanced MathML elements with harmless attributes and nothing else. Cost: O(length)."""
    opened: list[str] = []
    position = 0
    while position < len(text):
        token = TOKEN.match(text, position)
        if token is None or not _fits(token, opened):
            return False
        position = token.end()
    return bool(text) and not opened


def _fits(token: re.Match[str], opened: list[str]) -> bool:
    """Whether a token fits here; keeps the stack of open elements."""
    name = token["name"]
    if name is None:
        return bool(opened) or token[0].isspace()
    if token["close"]:
        return bool(opened) and opened.pop() == name
    if not opened and name != "math":
        return False
    if not token["empty"]:
        opened.append(name)
    return True
