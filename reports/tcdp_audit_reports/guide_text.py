"""Texts and formulas of guides: code and emphasis as markup, groups by their everyday name, and plain MathML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from markupsafe import Markup, escape

from tcdp_audit.plugin.sentences import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


CODE = re.compile(r"`([a-z][a-z0-9_ :.-]*)`")
SPAN = re.compile(rf"(?<!`){CODE.pattern}(?!`)")  # what is code in Markdown whatever is around it
MARKS = re.compile(r"[`*_]")  # without one of them there is neither code nor emphasis
EMPHASIS = re.compile(r"[`*]|(?<![^\W_])_|_(?![^\W_])")  # or may be: an underscore inside a word is none
GROUP = re.compile(r"\b([Aa]n? )?((?:[Ee]quivalence c|[Cc])lass)(es)?\b")


def inline(text: str) -> Markup:
    """A paragraph of a guide as markup: code and emphasis, and nothing else that Markdown has."""
    shown = visible(text)
    if not MARKS.search(shown):
        return escape(shown)
    if not EMPHASIS.search(SPAN.sub(" ", shown)):  # code alone takes no library, whose import is slow
        quotes = str(escape(shown)).replace("&#39;", "'").replace("&#34;", "&quot;")  # as the library writes them
        return Markup(SPAN.sub(r"<code>\1</code>", quotes))  # noqa: S704 - escaped before
    return Markup(_markdown().renderInline(shown))  # noqa: S704 - all but code and emphasis is escaped


def plain_text(text: str) -> str:
    """A paragraph of a guide without the marks of code and emphasis.

    Example:
        >>> plain_text("add `weight:` for *every* record")
        'add weight: for every record'
    """
    if not MARKS.search(text):
        return text
    tokens = _markdown().parseInline(text)[0].children or ()
    return "".join(token.content for token in tokens)


def quoted(message: str) -> str:
    """A sentence of a check with its code between quotation marks, as one reads it.

    Example:
        >>> quoted("add `weight:` to the policy")
        'add ‘weight:’ to the policy'
    """
    return CODE.sub(r"‘\1’", message)


def in_groups(text: str) -> str:
    """The same text with `group` for `equivalence class` and for `class`; the words of the report say that all are one.

    Example:
        >>> in_groups("Every equivalence class has k records; an equivalence class. A class, two equivalence classes.")
        'Every group has k records; a group. A group, two groups.'
    """
    return GROUP.sub(_group, text)


def _group(match: re.Match[str]) -> str:
    article = "" if match[1] is None else match[1].replace("an ", "a ").replace("An ", "A ")
    word = "group" if match[2][0].islower() else "Group"
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


ROWS = frozenset({"math", "mrow", "mstyle", "mpadded", "mphantom", "mtd"})


@dataclass(frozen=True)
class Node:
    """An element of a formula.

    Args:
        tag: its name in MathML; `mrow` for every element that only holds others.
        text: its text.
        parts: the elements in it, in MathML's order.
        is_fence: whether it is a bracket that grows with what it holds.
        is_bare: whether it is a fraction without its line.
        is_upright: whether its letters are upright.
        width: the width of a space, in em.
    """

    tag: str
    text: str = ""
    parts: Sequence[Node] = field(default=())
    is_fence: bool = False
    is_bare: bool = False
    is_upright: bool = False
    width: float = 0.0


def formula_trees(mathml: str) -> Sequence[Node]:
    """The tree of each line of a formula; none for text that is no MathML, lacks a part or names an entity.

    Cost: linear.
    """
    if not is_mathml(mathml):
        return ()
    try:
        return [_node(one) for one in ET.fromstring(f"<lines>{mathml}</lines>")]  # noqa: S314 - no declaration, as seen
    except (ET.ParseError, ValueError):
        return ()


def _node(element: ET.Element) -> Node:
    """The tree of an element.

    Raises:
        ValueError: an element has more or fewer parts than MathML gives it.
    """
    tag = element.tag.rpartition("}")[2]
    if len(element) != PARTS.get(tag, len(element)):
        raise ValueError(tag)
    text = (element.text or "").strip() if tag in LEAVES else ""
    width = SPACE.fullmatch(element.get("width", ""))
    return Node(
        "mrow" if tag in ROWS else tag,
        text or (element.text or "" if tag in ("mtext", "ms") else ""),
        tuple(_node(one) for one in element),
        is_fence=element.get("fence") == "true" and element.get("stretchy") == "true",
        is_bare=element.get("linethickness", "").startswith("0"),
        is_upright=element.get("mathvariant") == "normal" or len(text) != 1 or text.isdigit(),
        width=0.0 if width is None else float(width[1]),
    )


LEAVES = frozenset({"mi", "mo", "mn", "mtext", "ms"})
PARTS = {  # how many parts an element has; the others have any number
    **dict.fromkeys([*LEAVES, "mspace"], 0),
    **dict.fromkeys(["mfrac", "mroot", "msub", "msup", "munder", "mover"], 2),
    **dict.fromkeys(["msubsup", "munderover"], 3),
}
SPACE = re.compile(r"(-?\d+(?:\.\d+)?)em")


def fenced(parts: Sequence[Node]) -> Iterator[Node | tuple[str, Sequence[Node], str]]:
    """The parts of a row, with a pair of growing brackets and what they hold as one: opening, parts, closing."""
    at = 0
    while at < len(parts):
        end = _closing(parts, at) if parts[at].is_fence else None
        if end is None:
            yield parts[at]
            at += 1
        else:
            yield parts[at].text, parts[at + 1 : end], parts[end].text
            at = end + 1


def _closing(parts: Sequence[Node], start: int) -> int | None:
    """The place of the last growing bracket of a row after an opening one, where nothing between is one."""
    return next((at for at in range(start + 1, len(parts)) if parts[at].is_fence), None)
