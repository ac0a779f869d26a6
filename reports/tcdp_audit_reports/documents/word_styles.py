"""The print style of reports for Word: page, paragraph styles, rules of tables, and the running foot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from docx.enum.style import WD_STYLE_TYPE
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_TAB_ALIGNMENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor

from tcdp_audit_reports.documents.shapes import INK, RULE, SOFT

if TYPE_CHECKING:
    from docx.document import Document as WordFile
    from docx.table import Table, _Row
    from docx.text.paragraph import Paragraph as Text

LETTERS, MONOSPACED, SIGNS = "Cambria", "Consolas", "Segoe UI Symbol"
WIDTH = 482.0  # points: of the text on A4
NOTE, SMALL, LINES, CELL = "Report Note", "Report Small", "Report Lines", "Report Cell"
STANDFIRST, REASON, CAPTION = "Report Standfirst", "Report Reason", "Report Caption"
CUSTOM = {  # size in points, colour, and points below each paragraph of a style
    NOTE: (8.5, SOFT, 8),
    SMALL: (8.5, INK, 6),
    STANDFIRST: (13, INK, 8),
    REASON: (12.5, INK, 2),
    LINES: (8, INK, 8),
    CELL: (8.5, INK, 2),
    CAPTION: (9, INK, 3),
}
BUILT_IN = {"Normal": (10, 0, 6), "Title": (30, 6, 8), "Heading 1": (17, 22, 8), "Heading 2": (12.5, 14, 5)}


def set_styles(file: WordFile) -> None:
    """Set A4, the language, and the fonts, sizes and distances of every style that a report uses."""
    section = file.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.left_margin = section.right_margin = Mm(20)
    section.top_margin, section.bottom_margin = Mm(18), Mm(20)
    for name, (size, before, after) in BUILT_IN.items():
        style: Any = file.styles[name]
        _set_font(style, LETTERS, size, INK)
        style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(before), Pt(after)
        for border in style.element.xpath(".//w:pBdr"):
            border.getparent().remove(border)
    for name, (size, colour, after) in CUSTOM.items():
        custom: Any = file.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
        custom.base_style = file.styles["Normal"]
        _set_font(custom, MONOSPACED if name == LINES else LETTERS, size, colour)
        custom.paragraph_format.space_after = Pt(after)
        custom.paragraph_format.keep_with_next = name in (REASON, CAPTION)
        custom.font.bold = name == CAPTION
    draw_border(file.styles["Heading 1"], INK, ("top",), width=8)
    draw_border(file.styles[LINES], RULE, ("left",), width=12)


def set_language(file: WordFile, language: str) -> None:
    """Set the language of all text, by which Word checks its spelling."""
    for one in file.styles.element.xpath(".//w:rPrDefault//w:lang"):
        one.set(qn("w:val"), language)


def _set_font(style: Any, name: str, size: float, colour: str) -> None:
    style.font.name, style.font.size, style.font.bold = name, Pt(size), False
    style.font.color.rgb = RGBColor.from_string(colour)
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
        fonts.attrib.pop(qn(f"w:{theme}"), None)
    for script in ("hAnsi", "cs", "eastAsia"):
        fonts.set(qn(f"w:{script}"), name)


AFTER_BORDERS = ("w:shd", "w:tblLayout", "w:tblCellMar", "w:tblLook")  # in the properties of a table, by the standard
AFTER_RULES = tuple(  # likewise of a paragraph
    f"w:{name}"
    for name in [
        "shd",
        "tabs",
        "suppressAutoHyphens",
        "kinsoku",
        "wordWrap",
        "overflowPunct",
        "topLinePunct",
        "autoSpaceDE",
        "autoSpaceDN",
        "bidi",
        "adjustRightInd",
        "snapToGrid",
        "spacing",
        "ind",
        "contextualSpacing",
        "mirrorIndents",
        "suppressOverlap",
        "jc",
        "textDirection",
        "textAlignment",
        "textboxTightWrap",
        "outlineLvl",
        "divId",
        "cnfStyle",
        "rPr",
        "sectPr",
        "pPrChange",
    ]
)


def draw_border(owner: Any, colour: str, sides: Sequence[str], *, width: int = 6) -> None:
    """Draw rules at sides of a paragraph or of all paragraphs of a style; the width is in eighths of a point."""
    properties = owner._element.get_or_add_pPr()  # noqa: SLF001 - python-docx has no borders
    borders = OxmlElement("w:pBdr")
    for side in ("top", "left", "bottom", "right"):
        if side in sides:
            borders.append(_border(side, colour, width, space=6))
    properties.insert_element_before(borders, *AFTER_RULES)


def _border(side: str, colour: str, width: int, *, space: int = 0) -> Any:
    border = OxmlElement(f"w:{side}")
    for name, value in (("val", "single"), ("sz", width), ("space", space), ("color", colour)):
        border.set(qn(f"w:{name}"), str(value))
    return border


def number_pages(file: WordFile, words: str, page_words: tuple[str, str]) -> None:
    """Put words at the foot of every page, and its number and the number of all, each after one of `page_words`."""
    page, of = page_words
    foot = file.sections[0].footer.paragraphs[0]
    foot.paragraph_format.tab_stops.add_tab_stop(Pt(WIDTH), WD_TAB_ALIGNMENT.RIGHT)
    style: Any = file.styles[NOTE]
    foot.style = style
    foot.add_run(f"{words}\t{page} ")
    _add_field(foot, "PAGE")
    foot.add_run(f" {of} ")
    _add_field(foot, "NUMPAGES")


def _add_field(text: Text, name: str) -> None:
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), name)
    run = OxmlElement("w:r")
    shown = OxmlElement("w:t")
    shown.text = "1"
    run.append(shown)
    field.append(run)
    text._p.append(field)  # noqa: SLF001 - python-docx has no fields


def restart_numbers(file: WordFile, text: Text, style: str) -> int:
    """Begin a numbered list anew with a paragraph; the number of the list, for its further entries."""
    numbering = file.part.numbering_part.element
    numbers = file.styles[style].element.xpath(".//w:numId/@w:val")
    abstract = numbering.num_having_numId(int(numbers[0])).abstractNumId.val
    number = numbering.add_num(abstract)
    number.add_lvlOverride(ilvl=0).add_startOverride(1)
    join_list(text, number.numId)
    return int(number.numId)


def join_list(text: Text, number: int) -> None:
    """Make a paragraph an entry of a numbered list."""
    properties = text._p.get_or_add_pPr().get_or_add_numPr()  # noqa: SLF001 - python-docx has no lists
    properties.get_or_add_numId().val = number
    properties.get_or_add_ilvl().val = 0


def rule_table(table: Table, widths: Sequence[float], *, has_head: bool) -> None:
    """Draw the rules of a table, repeat its head on every page, keep its rows whole, and set its columns' widths.

    The widths are in points.
    """
    table.autofit, table.alignment = False, WD_TABLE_ALIGNMENT.LEFT
    borders = OxmlElement("w:tblBorders")
    borders.append(_border("top", RULE, 0 if has_head else 4))
    borders.append(_border("bottom", RULE, 4))
    borders.append(_border("insideH", RULE, 4))
    table._tbl.tblPr.insert_element_before(borders, *AFTER_BORDERS)  # noqa: SLF001 - python-docx has no borders
    for column, width in zip(table.columns, widths, strict=True):
        column.width = Pt(width)
    for number, row in enumerate(table.rows):
        for cell, width in zip(row.cells, widths, strict=True):
            cell.width = Pt(width)
        _set_row(row, is_head=has_head and number == 0)


def _set_row(row: _Row, *, is_head: bool) -> None:
    properties = row._tr.get_or_add_trPr()  # noqa: SLF001 - python-docx has neither
    properties.append(OxmlElement("w:cantSplit"))
    if is_head:
        properties.append(OxmlElement("w:tblHeader"))
        for cell in row.cells:
            borders = OxmlElement("w:tcBorders")
            borders.append(_border("bottom", INK, 8))
            cell._tc.get_or_add_tcPr().append(borders)  # noqa: SLF001 - likewise
