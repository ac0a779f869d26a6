"""The reports for Word: in its own headings, lists, tables, fields and formulas, so that people can go on with them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from itertools import count
from typing import TYPE_CHECKING, Any

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import parse_xml
from docx.shared import Mm, RGBColor

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.report import (
    Audit,
    AuditComparison,
    Chart,
    Definitions,
    Frontier,
    Heading,
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
    word_styles as styles,
    worded,
)
from tcdp_audit_reports.documents.shapes import COLOURS, INK, LIKE, POINTS, SOFT, Look, Shape, shapes_of
from tcdp_audit_reports.documents.word_drawings import drawing_run, office_math
from tcdp_audit_reports.guide_text import formula_trees
from tcdp_audit_reports.languages import in_plain_names

if TYPE_CHECKING:
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph as Text

CHART = 340.0  # points: the width of a chart
SIGNS = {"failed": "✗", "warning": "▲", "error": "?", "measured": "○", "skipped": "◇", "passed": "✓"}
OLDEST = (1980, 1, 1, 0, 0, 0)  # the first date that an archive can have
NO_XML = {0xFFFE: "\\ufffe", 0xFFFF: "\\uffff"}  # signs that no XML may hold
LETTER = 5.4  # points that a letter of a table takes at most
LEAST = 34.0  # points that a column has at least


@in_plain_names
def render(audit: Audit) -> bytes:
    """The audit for Word; the same audit gives the same bytes. Cost: linear in the outcomes."""
    return _written(document_of_audit(audit))


def render_comparison(comparison: AuditComparison) -> bytes:
    """The comparison for Word; the same comparison gives the same bytes. Cost: linear in the expectations."""
    return _written(document_of_comparison(comparison))


def render_frontier(frontier: Frontier) -> bytes:
    """The frontier for Word; the same frontier gives the same bytes. Cost: linear in the settings."""
    return _written(document_of_frontier(frontier))


def _written(document: Document) -> bytes:
    writer = _Writer()
    writer.write(document)
    file, whole = io.BytesIO(), io.BytesIO()
    writer.file.save(file)
    with zipfile.ZipFile(file) as parts, zipfile.ZipFile(whole, "w") as archive:
        for name in parts.namelist():  # the same parts, without the time at which they were written
            archive.writestr(zipfile.ZipInfo(name, OLDEST), parts.read(name), zipfile.ZIP_DEFLATED)
    return whole.getvalue()


def _shown(text: str) -> str:
    """A text in the language of the report, visible and fit for XML."""
    return shown(text).translate(NO_XML)


def _exact(text: str) -> str:
    """The same in its own language, for what no language changes."""
    return exact(text).translate(NO_XML)


class _Writer:
    """A file of Word that is being written, from its first line to its last."""

    def __init__(self) -> None:
        self.file: Any = docx.Document()
        self.numbers = count(1)  # of drawings
        styles.set_styles(self.file)
        self.cell_style: str = self.file.styles[styles.CELL].style_id

    def write(self, document: Document) -> None:
        """Write a document."""
        self._set_properties(document)
        styles.set_language(self.file, document.language)
        styles.number_pages(self.file, f"{_shown(document.kind)} · {_exact(document.subject)}", document.page_words)
        self._write_first_page(document)
        for title, blocks in document.dissolved():
            if title:
                self.file.add_heading(_shown(title), 1)
            for block in blocks:
                self._write_block(block)
        styles.draw_border(self._add(document.closing, styles.NOTE), INK, ("top",), width=18)

    def _set_properties(self, document: Document) -> None:
        properties = self.file.core_properties
        properties.title = f"{_shown(document.kind)}: {_shown(document.title)}, {_exact(document.subject)}"[:255]
        properties.author = properties.last_modified_by = properties.comments = ""
        made_at = document.made_at.astimezone(UTC).replace(microsecond=0, tzinfo=None)
        properties.created = properties.modified = made_at
        properties.language, properties.revision = document.language, 1

    def _write_first_page(self, document: Document) -> None:
        if document.warning:
            warning = self._add("", styles.STANDFIRST)
            warning.add_run(_shown(document.warning)).bold = True
            styles.draw_border(warning, COLOURS["failed"], ("top", "left", "bottom", "right"), width=18)
        facts = self._add("", styles.SMALL)
        facts.add_run("   ·   ".join(_shown(one) for one in (document.kind, document.number, document.date) if one))
        styles.draw_border(facts, INK, ("top",), width=18)
        title = self.file.add_paragraph(style="Title")
        if document.state:
            self._draw(title, _seal(document.state), (60, 60), f"{_shown('Seal')}: {_shown(document.title)}")
            title.add_run("  ")
        title.add_run(_shown(document.title))
        self._add(document.sentence, styles.STANDFIRST)
        for sentence in document.further:
            self._add(sentence)
        if document.tally:
            tally = self._add("")
            for one in document.tally:
                self._mark(tally, one.state)
                tally.add_run(f"{one.number:,}").bold = True
                tally.add_run(f"\u00a0{worded(one)}      ")
            styles.draw_border(tally, INK, ("top", "bottom"))
        for reason in document.reasons:
            head = self._add("", styles.REASON)
            self._mark(head, reason.state)
            head.add_run(f"{_shown(reason.which)} {_shown(reason.head)}")
            self._add(reason.text, styles.NOTE)
        if document.particulars:
            self._write_table((), [(name, "\n".join(lines)) for name, lines in document.particulars])

    def _write_block(self, block: Block) -> None:
        writers: Mapping[type, Callable[[Any], object]] = {
            Paragraph: self._write_paragraph,
            Heading: self._write_heading,
            Items: self._write_items,
            Definitions: self._write_definitions,
            Rows: self._write_rows,
            Lines: self._write_lines,
            Chart: self._write_chart,
        }
        one: Any = Paragraph(block) if isinstance(block, str) else block
        writers[type(one)](one)

    def _write_heading(self, block: Heading) -> None:
        self.file.add_heading(_shown(block.text), 2)

    def _write_lines(self, block: Lines) -> None:
        if block.title:
            self._add(block.title, styles.CAPTION)
        formula = formula_trees(block.mathml)
        for line in formula:
            self._add("")._p.append(parse_xml(office_math(line)))  # noqa: SLF001 - python-docx has no formulas
        if not formula:
            self._add(block.text.strip("\n"), styles.LINES)

    def _write_definitions(self, block: Definitions) -> None:
        if block.style != "facts":
            self._write_table((), block.pairs)
            return
        text = self._add("", styles.NOTE)
        for name, value in block.pairs:
            text.add_run(f"{_shown(name)}\u00a0")
            text.add_run(_shown(value)).bold = True
            text.add_run("   ")

    def _write_paragraph(self, block: Paragraph, style: str = "") -> Text:
        text = self._add("", style or (styles.NOTE if block.style == "note" else ""))
        self._mark(text, block.style)
        if block.lead:
            text.add_run(f"{_shown(block.lead)} ").bold = True
        text.add_run(_shown(block.text))
        if block.code:
            text.add_run(f"\n{_exact(block.code)}").font.name = styles.MONOSPACED
        if block.lines:
            self._add(block.lines.strip("\n"), styles.LINES)
        return text

    def _write_items(self, items: Items) -> None:
        style, number = "List Number" if items.ordered else "List Bullet", None
        for entry in items.entries:
            text = self._write_paragraph(Paragraph(entry) if isinstance(entry, str) else entry, style)
            if items.ordered and number is None:
                number = styles.restart_numbers(self.file, text, style)
            elif number is not None:
                styles.join_list(text, number)

    def _write_rows(self, rows: Rows) -> None:
        if rows.caption:
            self._add(rows.caption, styles.CAPTION)
        numeric = len(rows.head) if rows.numeric_from is None else max(rows.numeric_from, 1)
        self._write_table(rows.head, rows.body, numeric, rows.states, is_form="signatures" in rows.style.split())
        if rows.note:
            self._add(rows.note, styles.NOTE)

    def _write_table(
        self,
        head: Sequence[str],
        body: Sequence[Sequence[str]],
        numeric: int = 2,
        states: Sequence[str] = (),
        *,
        is_form: bool = False,
    ) -> None:
        """A table, with a head or, without one, of names with their values; a form has room to write."""
        lines = [*([head] if head else []), *body]
        if not lines:
            return
        table: Table = self.file.add_table(rows=len(lines), cols=len(lines[0]))
        for at, (row, texts) in enumerate(zip(table.rows, lines, strict=True)):
            is_head = bool(head) and at == 0
            state = states[at - 1] if states and not is_head else ""
            for column, (cell, text) in enumerate(zip(row.cells, texts, strict=True)):
                is_soft = is_head or (not head and column == 0)
                self._write_cell(cell, text, is_soft=is_soft, is_right=column >= numeric, state="" if column else state)
                cell.paragraphs[0].paragraph_format.keep_with_next = is_head
        widths = [styles.WIDTH / len(head)] * len(head) if is_form else _widths(lines, shares=not head)
        styles.rule_table(table, widths, has_head=bool(head))
        if is_form:
            for row in [*table.rows][1:]:
                row.height = Mm(15)
        self._add("", styles.CELL)

    def _write_cell(self, cell: _Cell, text: str, *, is_soft: bool, is_right: bool, state: str) -> None:
        paragraph, state = cell.paragraphs[0], LIKE.get(state, state)
        paragraph._p.style = self.cell_style  # noqa: SLF001 - by name python-docx searches all styles for every cell
        if is_right:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        self._mark(paragraph, state)
        first, line_break, more = _shown(text).partition("\n")
        value = paragraph.add_run(first)
        if is_soft:
            value.font.color.rgb = RGBColor.from_string(SOFT)
        if state in COLOURS:
            value.bold, value.font.color.rgb = True, RGBColor.from_string(COLOURS[state])
        if more:
            paragraph.add_run(line_break + more).font.color.rgb = RGBColor.from_string(SOFT)

    def _write_chart(self, chart: Chart) -> None:
        self._add(chart.title, styles.CAPTION)
        self._add(chart.subtitle, styles.NOTE).paragraph_format.keep_with_next = True
        shapes = [replace(one, text=_shown(one.text)) for one in shapes_of(str(chart.drawing.svg), CHART)]
        self._draw(
            self._add(""), shapes, (CHART, chart.drawing.height * POINTS), _shown(f"{chart.title} {chart.description}")
        )

    def _draw(self, text: Text, shapes: Sequence[Shape], size: tuple[float, float], description: str) -> None:
        run = drawing_run(shapes, size, description, self.numbers)
        text._p.append(parse_xml(run))  # noqa: SLF001 - python-docx has no shapes

    def _add(self, text: str, style: str = "") -> Text:
        shown = _exact(text) if style == styles.LINES else _shown(text)
        added: Text = self.file.add_paragraph(shown, style or None)
        if style == styles.CAPTION:
            added.paragraph_format.keep_with_next = True
        return added

    def _mark(self, text: Text, state: str) -> None:
        """The sign of a state, in its colour; nothing for a style that is no state."""
        state = LIKE.get(state, state)
        if state in SIGNS:
            run = text.add_run(f"{SIGNS[state]}\u00a0")
            run.font.name, run.font.color.rgb = styles.SIGNS, RGBColor.from_string(COLOURS[state])


def _widths(lines: Sequence[Sequence[str]], *, shares: bool) -> list[float]:
    """The widths of a table's columns in points: as its texts need them, and where that is too much in proportion."""
    if shares:
        return [styles.WIDTH * 0.29, styles.WIDTH * 0.71]
    columns = [[line for cell in column for line in cell.split("\n")] for column in zip(*lines, strict=True)]
    wanted = [_width(column) for column in columns]
    least = [min(_width(word for line in column for word in line.split()), styles.WIDTH / 3) for column in columns]
    spare = styles.WIDTH - sum(least)
    if sum(wanted) <= styles.WIDTH:
        return wanted
    if spare <= 0:
        return [one * styles.WIDTH / sum(least) for one in least]
    asked = [wish - one for wish, one in zip(wanted, least, strict=True)]
    return [one + spare * wish / sum(asked) for one, wish in zip(least, asked, strict=True)]


def _width(texts: Iterable[str]) -> float:
    """The width of the longest text, with the sign of a state and the margins of a cell."""
    return max(LEAST, max(map(len, texts), default=0) * LETTER + 20)


GLYPHS = {
    "failed": (((20.6, 20.6), (39.4, 39.4)), ((39.4, 20.6), (20.6, 39.4))),
    "passed": (((18.7, 31.2), (26.9, 39.4), (45, 21.2)),),
    "measured": (((18.7, 30), (41.2, 30)),),
    "error": (((30, 16.2), (30, 33.7)), ((30, 41.2), (30, 43.1))),
}


def _seal(state: str) -> list[Shape]:
    """Two circles around the sign of a verdict, in a box of 60 points."""
    colour = COLOURS[state]
    circles = [
        Shape("circle", ((edge, edge), (60 - edge, 60 - edge)), Look(line=colour, width=width))
        for edge, width in ((1.0, 2.5), (4.0, 0.9))
    ]
    strokes = [Shape("curve", corners, Look(line=colour, width=5.5)) for corners in GLYPHS[state]]
    return [*circles, *strokes]
