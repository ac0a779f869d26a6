"""Blocks of the document model as HTML: every text escaped, and no character of it acts on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from markupsafe import Markup

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.report import Chart, Definitions, Group, Heading, Items, Lines, Paragraph, Rows
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.templating import macros

EMPTY = Markup("")


def blocks_as_html(blocks: Sequence[Block], name: str, *, level: int = 3) -> Markup:
    """Blocks as HTML.

    Args:
        blocks: what to write.
        name: of the section; ids of charts begin with it.
        level: of its headings.
    """
    ids = (f"{name}-c{number}" for number in count(1))
    return _joined(_html(block, ids, level) for block in blocks)


def _html(block: Block, ids: Iterator[str], level: int) -> Markup:
    match block:
        case str():
            return Markup('<p class="intro">{}</p>').format(visible(block))
        case Paragraph():
            return _element("p", block.style, _line(block) + _code(block)) + _preformatted(block.lines)
        case Heading():
            return _element(f"h{level}", "", visible(block.text))
        case Items():
            return _items(block)
        case Definitions():
            pairs = (
                Markup("<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>").format(*_shown(pair)) for pair in block.pairs
            )
            return _element("dl", block.style or "register", _joined(pairs))
        case Rows():
            return _scrolling_table(block)
        case Lines():
            return _lines(block)
        case Chart():
            return macros().figure(block, next(ids))
        case Group():
            inner = _joined(_html(one, ids, level) for one in block.blocks)
            return _element("div", block.style, inner)


def _element(tag: str, style: str, content: str) -> Markup:
    opening = Markup('<{} class="{}">').format(tag, style) if style else Markup("<{}>").format(tag)
    return opening + content + Markup("</{}>\n").format(tag)


def _line(block: Paragraph) -> Markup:
    """Its lead, its text, and what to type."""
    lead = Markup("<strong>{}</strong> ").format(visible(block.lead)) if block.lead else EMPTY
    return lead + visible(block.text)


def _code(block: Paragraph) -> Markup:
    """Something to type, on a line of its own."""
    start = "" if block.lines else Markup("<br>")
    return Markup("{}<code>{}</code>").format(start, visible(block.code)) if block.code else EMPTY


def _items(block: Items) -> Markup:
    entries = (Paragraph(one) if isinstance(one, str) else one for one in block.entries)
    items = (Markup("<li>{}{}{}</li>").format(_line(one), _preformatted(one.lines), _code(one)) for one in entries)
    return _element("ol" if block.ordered else "ul", block.style, _joined(items))


def _lines(block: Lines) -> Markup:
    text = _preformatted(block.text, block.style)
    if not block.title:
        return text
    return Markup("<details><summary><bdi>{}</bdi></summary>{}</details>\n").format(visible(block.title), text)


def _preformatted(text: str, style: str = "") -> Markup:
    """Lines as they are; nothing without any."""
    shown = "\n".join(map(visible, text.splitlines()))
    return _element("pre", style, Markup("<code>{}</code>").format(shown)) if text else EMPTY


def _scrolling_table(rows: Rows) -> Markup:
    """A table that scrolls by itself where it is wider than the page, also by the keyboard."""
    name = visible(rows.caption) or ", ".join(_shown(rows.head))
    style = rows.style or ("texts" if rows.numeric_from is None else "")
    box = Markup('<div class="{}" role="group" aria-label="{}" tabindex="0">{}</div>\n')
    return box.format(f"{style} scroll".strip(), name, macros().table(rows))


def _shown(texts: Sequence[str]) -> list[str]:
    return [visible(one) for one in texts]


def _joined(parts: Iterator[Markup]) -> Markup:
    return EMPTY.join(parts)
