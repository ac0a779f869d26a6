"""The reports as PDF: the contents as data, which a template of Typst sets. No text of a report is ever markup."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from itertools import groupby
from math import floor
from typing import Any, Literal

import typst

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.report import (
    Audit,
    AuditComparison,
    Chart,
    Frontier,
    Items,
    Lines,
    Paragraph,
    Rows,
)
from tcdp_audit_reports.documents import (
    Document,
    document_of_audit,
    document_of_comparison,
    document_of_frontier,
    exact,
    shown,
    worded,
)
from tcdp_audit_reports.documents.shapes import COLOURS, LETTERS, LIKE, POINTS, WIDTH, Shape, shapes_of
from tcdp_audit_reports.guide_text import Node, fenced, formula_trees
from tcdp_audit_reports.languages import in_plain_names
from tcdp_audit_reports.templating import TEMPLATES

EDGE = 2.0  # points around a chart, for what reaches over its edge
FEW = 6  # columns, of a table that needs half the width of a page only
ROOM = 52  # letters of all its columns; a column takes two more
ACCESSIBLE: Sequence[Literal["ua-1"]] = ("ua-1",)  # PDF/UA-1
FONT = "Libertinus Serif"  # in the library
LONG = re.compile(r"\S{25,}")
BREAKS = re.compile(r"([_./,;:=-]|\w{24})")
UNMET = "PDF/UA-1 error"  # how Typst begins what it says of a document that does not meet it


@in_plain_names
def render(audit: Audit) -> bytes:
    """The audit as PDF; the same audit gives the same bytes. Cost: linear in the outcomes."""
    return _typeset(document_of_audit(audit))


def render_comparison(comparison: AuditComparison) -> bytes:
    """The comparison as PDF; the same comparison gives the same bytes. Cost: linear in the expectations."""
    return _typeset(document_of_comparison(comparison))


def render_frontier(frontier: Frontier) -> bytes:
    """The frontier as PDF; the same frontier gives the same bytes. Cost: linear in the settings."""
    return _typeset(document_of_frontier(frontier))


def _typeset(document: Document) -> bytes:
    """Typeset a document as PDF/UA-1.

    The machine's fonts are used only where those of the library lack a sign. Where they lack it too, or a plugin's
    blocks break another rule, the file does not claim PDF/UA-1.

    Raises:
        TypstError: the template has an error.
    """
    content = json.dumps(_content(document), ensure_ascii=False)
    template = (TEMPLATES / "document.typ").read_bytes()
    made_at = floor(document.made_at.timestamp())

    def compiled(standards: Sequence[Literal["ua-1"]], *, of_library: bool) -> bytes:
        return typst.compile(
            template,
            sys_inputs={"content": content},
            timestamp=made_at,
            ignore_system_fonts=of_library,
            pdf_standards=[*standards],
        )

    for of_library in (True, False):
        try:
            return compiled(ACCESSIBLE, of_library=of_library)
        except typst.TypstError as error:
            if not str(error).startswith(UNMET):
                raise
    return compiled((), of_library=False)


def _content(document: Document) -> dict[str, Any]:
    return _shown(
        {
            "kind": shown(document.kind),
            "language": document.language,
            "title": document.title,
            "state": document.state,
            "sentence": document.sentence,
            "further": [*document.further],
            "warning": document.warning,
            "number": document.number,
            "page": document.page_words,
            "date": document.date,
            "year": document.made_at.year,
            "month": document.made_at.month,
            "day": document.made_at.day,
            "subject": document.subject,
            "closing": document.closing,
            "particulars": [[name, [*lines]] for name, lines in document.particulars],
            "tally": [[one.state, f"{one.number:,}", worded(one)] for one in document.tally],
            "reasons": [[one.state, f"{one.which} {one.head}", one.text] for one in document.reasons],
            "sections": [
                {"title": title, "blocks": [*_paired([_block(one) for one in blocks])]}
                for title, blocks in document.dissolved()
            ],
            "colours": COLOURS,
            "like": LIKE,
        }
    )


def _shown(value: Any, name: str = "") -> Any:
    """The same with every text visible and in the language of the report, and places at which a long word may break."""
    if isinstance(value, str):
        text = exact(value) if name in VERBATIM else shown(value)
        return LONG.sub(lambda word: BREAKS.sub("\\1\u200b", word[0]), text)
    if isinstance(value, dict):
        of_lines = value.get("kind") == "lines"
        return {key: one if key in EXACT else _shown(one, "lines" if of_lines else key) for key, one in value.items()}
    return [_shown(one, name) for one in value] if isinstance(value, list | tuple) else value


EXACT = frozenset(
    {"kind", "svg", "trees", "state", "states", "colours", "like", "style", "language", "page"}
)  # no text for readers
VERBATIM = frozenset({"code", "lines"})  # what no language changes


def _block(block: Block) -> dict[str, Any]:
    one = Paragraph(block) if isinstance(block, str) else block
    return {"kind": type(one).__name__.lower(), **AS_DATA.get(type(one), asdict)(one)}


def _items(items: Items) -> dict[str, Any]:
    entries = [asdict(Paragraph(one) if isinstance(one, str) else one) for one in items.entries]
    return {"entries": entries, "ordered": items.ordered}


def _paired(blocks: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The same with neighbouring charts and narrow tables in two columns."""
    for is_narrow, run in groupby(blocks, key=_is_narrow):
        if is_narrow:
            yield {"kind": "columns", "blocks": [*run]}
        else:
            yield from run


def _is_narrow(block: dict[str, Any]) -> bool:
    if block["kind"] != "rows":
        return bool(block["kind"] == "chart")
    heads = [max(map(len, head.split()), default=0) for head in block["head"]]  # a head may be wrapped
    texts = [heads, *([max(map(len, cell)) for cell in row] for row in block["body"])]
    letters = sum(max(column) + 2 for column in zip(*texts, strict=True))
    return len(heads) <= FEW and letters <= ROOM and not block["signed"]


def _rows(rows: Rows) -> dict[str, Any]:
    return {
        "head": [*rows.head],
        "body": [[cell.split("\n") for cell in row] for row in rows.body],
        "caption": rows.caption,
        "note": rows.note,
        "numeric": len(rows.head) if rows.numeric_from is None else rows.numeric_from,
        "states": [*rows.states],
        "signed": "signatures" in rows.style.split(),
    }


def _lines(lines: Lines) -> dict[str, Any]:
    trees = [_tree(one) for one in formula_trees(lines.mathml)]
    return {"kind": "formula", "text": lines.text, "trees": trees} if trees else asdict(lines)


def _tree(node: Node) -> dict[str, Any]:
    return {
        "tag": node.tag,
        "text": node.text,
        "upright": node.is_upright,
        "bare": node.is_bare,
        "width": node.width,
        "parts": [
            {"tag": "fenced", "open": one[0], "parts": [_tree(part) for part in one[1]], "close": one[2]}
            if isinstance(one, tuple)
            else _tree(one)
            for one in (fenced(node.parts) if node.tag == "mrow" else node.parts)
        ],
    }


def _chart(chart: Chart) -> dict[str, Any]:
    height = chart.drawing.height * POINTS + 2 * EDGE
    shapes = "".join(_svg(one) for one in shapes_of(str(chart.drawing.svg)))
    size = f'width="{WIDTH + 2 * EDGE:g}" height="{height:g}"'
    face = f'font-family="{FONT}" font-size="{LETTERS:g}"'
    drawn = f'<g transform="translate({EDGE:g} {EDGE:g})" {face}>{shapes}</g>'
    return {
        "title": chart.title,
        "subtitle": chart.subtitle,
        "description": chart.description,
        "svg": f'<svg xmlns="http://www.w3.org/2000/svg" {size}><defs>{ARROW}</defs>{drawn}</svg>',
    }


ARROW = (
    '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" '
    'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0l8 4-8 4z" fill="#454a50"/></marker>'
)
AS_DATA: Mapping[type, Callable[[Any], dict[str, Any]]] = {Items: _items, Rows: _rows, Lines: _lines, Chart: _chart}


def _svg(shape: Shape) -> str:
    (x1, y1), (x2, y2) = shape.places[0], shape.places[-1]
    look = shape.look
    fill = f'fill="#{look.fill}" fill-opacity="{look.opacity:g}"' if look.fill else 'fill="none"'
    line = f'stroke="#{look.line}" stroke-width="{look.width * POINTS:g}"' if look.line else ""
    if look.is_dashed:
        line += ' stroke-dasharray="4 2.500"'
    if look.has_arrow:
        line += ' marker-end="url(#arrow)"'
    match shape.kind:
        case "rectangle":
            return f'<rect x="{x1:.2f}" y="{y1:.2f}" width="{x2 - x1:.2f}" height="{y2 - y1:.2f}" {fill} {line}/>'
        case "circle":
            radius = (x2 - x1) / 2
            return f'<circle cx="{x1 + radius:.2f}" cy="{y1 + radius:.2f}" r="{radius:.2f}" {fill} {line}/>'
        case "text":
            weight = ' font-weight="bold"' if look.is_bold else ""
            halo = 'stroke="#ffffff" stroke-width="2.500" paint-order="stroke"'
            return (
                f'<text x="{x1:.2f}" y="{y1:.2f}" text-anchor="{shape.anchor}"{weight} fill="#{look.fill}" {halo}>'
                f"{escape(shown(shape.text))}</text>"
            )
        case _:
            points = " ".join(f"{x:.2f},{y:.2f}" for x, y in shape.places)
            return f'<polyline points="{points}" fill="none" {line}/>'
