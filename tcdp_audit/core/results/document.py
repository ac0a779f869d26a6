"""The document model: the blocks of audits, comparisons and frontiers, independent of the format.

HTML, Markdown and the terminal render the same blocks. A block holds plain text, which each format escapes. `style` is
a hint that formats without styles ignore.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from tcdp_audit.core.base.frozen import dataclass


@dataclass(frozen=True)
class Heading:
    """The heading of a part of a section."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph, or an entry of a list; a plain text as a block is a paragraph of that text.

    Args:
        text: its sentences.
        lead: words in bold at its beginning.
        code: a command or code at its end.
        lines: lines of a file, as a block below it.
        style: a hint for formats that have styles.
    """

    text: str
    lead: str = ""
    code: str = ""
    lines: str = ""
    style: str = ""


@dataclass(frozen=True)
class Items:
    """A list.

    Args:
        entries: its entries, texts or paragraphs.
        ordered: whether they are numbered.
        style: a hint for formats that have styles.
    """

    entries: Sequence[str | Paragraph]
    ordered: bool = False
    style: str = ""


@dataclass(frozen=True)
class Definitions:
    """Names with their meanings or values.

    Args:
        pairs: each name with its text.
        style: a hint for formats that have styles.
    """

    pairs: Sequence[tuple[str, str]]
    style: str = ""


@dataclass(frozen=True)
class Rows:
    """A table. The first line of a cell is its value, further lines are details.

    Args:
        head: the names of its columns; the first one heads the rows.
        body: its rows, each with a text for every column.
        caption: its content, in a few words.
        note: a note below it.
        numeric_from: the first of the columns that hold figures, which are aligned right; None for a table of texts.
        states: the state of each row (`failed`, `passed`, `better`, ...), if any, for formats with colours.
        style: a hint for formats that have styles.

    Raises:
        ValueError: a row and the head differ in their numbers of cells, or the numbers of states and rows differ.
    """

    head: tuple[str, ...]
    body: Sequence[Sequence[str]]
    caption: str = ""
    note: str = ""
    numeric_from: int | None = None
    states: Sequence[str] = ()
    style: str = ""

    def __post_init__(self) -> None:
        """Check the numbers of cells and states."""
        if any(len(row) != len(self.head) for row in self.body):
            raise ValueError("a row has another number of cells than the head of the table")
        if self.states and len(self.states) != len(self.body):
            raise ValueError("there is another number of states than of rows")


@dataclass(frozen=True)
class Lines:
    """Preformatted lines of a policy, a file or a formula.

    Args:
        text: the lines.
        title: their title, for formats that can fold them.
        style: a hint for formats that have styles.
        mathml: the same as MathML where they are a formula, for formats that can draw it.
    """

    text: str
    title: str = ""
    style: str = ""
    mathml: str = ""


class Drawn(Protocol):
    """A drawing of a chart: SVG shapes whose x are percentages of the width, and whose y are pixels."""

    @property
    def height(self) -> int:
        """Its height in pixels."""
        ...

    @property
    def svg(self) -> str:
        """Its shapes: balanced SVG elements, every text escaped, no script, no style, no address."""
        ...


@dataclass(frozen=True)
class Chart:
    """A chart with its texts and figures.

    Formats without drawings leave it out, so a table or a sentence of the section must have the same content.

    Args:
        kind: the kind of chart; a class of the stylesheet.
        title: its message, in a sentence.
        subtitle: how to read it.
        description: an alternative text, in a sentence.
        drawing: its shapes.
        data: its figures.
    """

    kind: str
    title: str
    subtitle: str
    description: str
    drawing: Drawn
    data: Rows


@dataclass(frozen=True)
class Group:
    """Blocks that belong together, such as a column of a page.

    Args:
        blocks: the blocks.
        style: a hint for formats that have styles.
        page_only: whether only formats with pages show them, because they are too long for a summary.
        folded: the title of what they are, where a format that can fold shows it alone until it is opened.
    """

    blocks: Sequence[Block]
    style: str = ""
    page_only: bool = False
    folded: str = ""


Block: TypeAlias = str | Paragraph | Heading | Items | Definitions | Rows | Lines | Chart | Group
BLOCKS = (str, Paragraph, Heading, Items, Definitions, Rows, Lines, Chart, Group)


def block_of(block: object) -> Block:
    """Return a block; raise `TypeError` for any other object."""
    if not isinstance(block, BLOCKS):
        raise TypeError(type(block).__name__)
    return block


def summary_blocks(blocks: Sequence[Block], *, folds: bool = False) -> Iterator[Block]:
    """The blocks for a format without pages and drawings.

    Groups are dissolved, charts and long groups are left out. With `folds`, a group that is folded stays as it is.
    """
    for block in blocks:
        if isinstance(block, Group):
            if folds and block.folded and not block.page_only:
                yield block
            elif not block.page_only:
                yield from summary_blocks(block.blocks, folds=folds)
        elif not isinstance(block, Chart):
            yield block
