"""Templates of the HTML reports: one environment that escapes everything, compiled once.

The bytecode is kept next to them, as Python keeps that of its modules. Jinja takes it only for the same text
under the same versions of Jinja and Python. Where nothing can be written, each process compiles for itself.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import cache_from_source
from itertools import count
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, Template
from jinja2.bccache import Bucket
from markupsafe import Markup

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.report import Chart, Definitions, Group, Heading, Items, Lines, Paragraph, Rows
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.guide_text import is_mathml
from tcdp_audit_reports.languages import localised

TEMPLATES = Path(__file__).parent / "templates"
FRAME = "report.html.j2"


@cache
def template(name: str = FRAME) -> Template:
    """A template of the folder, by default the frame of an audit; the others belong to its environment."""
    if name == FRAME:
        return compile_template(TEMPLATES / FRAME)
    return template().environment.get_template(name)


def prepare_templates() -> None:
    """Compile every template of the folder."""
    for name in template().environment.list_templates(["j2"]):
        template(name)


def fill_template(name: str, **values: Any) -> str:
    """Fill in a template of the folder; every text is escaped."""
    return template(name).render(**values)


@cache
def macros() -> Any:
    """The macros that sections share: tables, figures, marks of a state."""
    return template("macros.html.j2").module


@cache
def stylesheet(*names: str) -> str:
    """The stylesheets of the folder as one, without comments and line ends."""
    text = "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)
    css = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"\s*([{};,])\s*", r"\1", re.sub(r"\s+", " ", css)).strip()


def stylesheet_hash(*names: str) -> str:
    """The digest that the content security policy allows, and nothing else."""
    return base64.b64encode(hashlib.sha256(stylesheet(*names).encode()).digest()).decode()


def compile_template(path: Path) -> Template:
    """Compile the template in a file, with those that it includes from the same folder."""
    environment = Environment(
        loader=FileSystemLoader(path.parent),
        bytecode_cache=_ModuleCache(path),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["visible"] = visible
    return environment.get_template(path.name)


class _ModuleCache(FileSystemBytecodeCache):
    """The folder in which Python would keep the bytecode of a module in the template's place."""

    def __init__(self, template: Path) -> None:
        folder = Path(cache_from_source(str(template))).parent
        super().__init__(str(folder), f"%s.jinja-{version('jinja2')}.{sys.implementation.cache_tag}")

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            super().load_bytecode(bucket)
        except Exception:  # noqa: BLE001 - whatever a damaged file holds, the template can be compiled
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                Path(self.directory).mkdir(parents=True, exist_ok=True)
                super().dump_bytecode(bucket)


EMPTY = Markup("")


def blocks_as_html(blocks: Sequence[Block], name: str, *, level: int = 3) -> Markup:
    """Blocks as HTML. The ids of charts begin with the name of the section; `level` is that of headings."""
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
            return _group(block, _joined(_html(one, ids, level) for one in block.blocks))


def _group(block: Group, inner: Markup) -> Markup:
    """A part of the page, or a fold under its title."""
    if not block.folded:
        return _element("div", block.style, inner)
    fold = Markup('<details class="{}"><summary>{}</summary>{}</details>\n')
    return fold.format(f"folded {block.style}".strip(), visible(block.folded), inner)


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
    """Lines, or the formula that they are where its MathML is harmless."""
    if is_mathml(block.mathml):
        return _element("div", "formula", Markup(block.mathml))  # noqa: S704 - MathML and nothing else
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
    name = visible(rows.caption) or ", ".join(map(localised, _shown(rows.head)))
    style = rows.style or ("texts" if rows.numeric_from is None else "")
    box = Markup('<div class="{}" role="group" aria-label="{}" tabindex="0">{}</div>\n')
    return box.format(f"{style} scroll".strip(), name, macros().table(rows))


def _shown(texts: Sequence[str]) -> list[str]:
    return [visible(one) for one in texts]


def _joined(parts: Iterator[Markup]) -> Markup:
    return EMPTY.join(parts)
