"""Reporters: registered code that turns a finished audit into one artefact, and the sections added to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_audit.core.base.errors import UsageError

if TYPE_CHECKING:
    from tcdp_audit.core.results.audit import Audit
    from tcdp_audit.core.results.comparison import AuditComparison
    from tcdp_audit.core.results.frontier import Frontier
    from tcdp_audit.core.results.unaudited import Unaudited


@dataclass(frozen=True, kw_only=True)
class Reporter:
    """A format of the audit.

    Args:
        name: snake_case name of the format, unique among all plugins.
        title: what a person calls it.
        suffix: the end of a file's name that selects it: an extension with its dot, or two, such as `.junit.xml`.
        render: the audit as text.
        render_several: all audits of a run as one text, with the policies that could not be audited; None for a format
            that holds one audit.
        render_comparison: two audits beside each other as text; None for a format that has no form for it.
        render_frontier: the front of risk and loss as text; None for a format that has no form for it.
        prepare: what can be done before there is an audit, such as imports; the command line calls it meanwhile.
    """

    name: str
    title: str
    suffix: str
    render: Callable[[Audit], str]
    render_several: Callable[[Sequence[Audit | Unaudited]], str] | None = None
    render_comparison: Callable[[AuditComparison], str] | None = None
    render_frontier: Callable[[Frontier], str] | None = None
    prepare: Callable[[], object] = field(default=lambda: None)


def reporter_of(path: Path, reporters: Iterable[Reporter]) -> Reporter:
    """The reporter that a file's name selects: that of the longest suffix, so that `x.junit.xml` is not just XML.

    Raises:
        UsageError: none has a suffix of it.
    """
    known = {reporter.suffix: reporter for reporter in reporters}
    name = path.name.lower()
    fitting = [suffix for suffix in known if name.endswith(suffix) and name != suffix]
    if not fitting:
        listed = ", ".join(sorted(known))
        raise UsageError(f"{path}: no report format for {path.suffix.lower()!r}; known are {listed}")
    return known[max(fitting, key=len)]


@dataclass(frozen=True)
class Rows:
    """A table of a report's section: plain text, which every format escapes for itself.

    Args:
        head: the names of its columns.
        body: its rows, each with a text for every column.
        caption: what it shows, in a few words.

    Raises:
        ValueError: a row has another number of cells than the head.
    """

    head: tuple[str, ...]
    body: tuple[tuple[str, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        """Insist on as many cells as columns."""
        if any(len(row) != len(self.head) for row in self.body):
            raise ValueError("a row has another number of cells than the head of the table")


def _nothing(_: Audit) -> Iterable[str | Rows]:
    return ()


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A section of every report for people, HTML and Markdown alike. The built-in ones are such sections too.

    Args:
        name: snake_case name of the section, unique among all plugins.
        title: its heading.
        blocks: the audit as paragraphs (texts) and tables, in their order; none where there is nothing to say.
        order: where it stands: sections stand by ascending order, equal ones as they were registered. The built-in ones
            are at 100 (what the verdict rests on), 200 (what to do next), 300 (demands), 400 (what was checked), 500
            (findings), 700 (remedy), 800 (words) and 900 (appendix).
        heading: the heading where it depends on the audit, in place of the title.
        html: the section below its heading as HTML, in place of the blocks: balanced elements, every text escaped, no
            script, no style, no address; empty where there is nothing to say. Ids begin with the section's name.
        markdown: the section below its heading as Markdown, likewise.
    """

    name: str
    title: str
    blocks: Callable[[Audit], Iterable[str | Rows]] = _nothing
    order: int = 600
    heading: Callable[[Audit], str] | None = None
    html: Callable[[Audit], str] | None = None
    markdown: Callable[[Audit], str] | None = None


@dataclass(frozen=True)
class FilledSection:
    """A section of one audit.

    Args:
        name: of the section.
        title: its heading.
        content: it as a text of the format that was asked for, or its blocks.
    """

    name: str
    title: str
    content: str | Sequence[str | Rows]


def filled(section: ReportSection, audit: Audit, form: str) -> FilledSection:
    """A section of an audit.

    Args:
        section: the one.
        audit: what it is about.
        form: `html` or `markdown`.

    Raises:
        TypeError: it gives something else than texts and tables.
    """
    title = section.title if section.heading is None else section.heading(audit)
    whole = section.html if form == "html" else section.markdown
    content = [_block(one) for one in section.blocks(audit)] if whole is None else _text(whole(audit))
    return FilledSection(section.name, title, content)


def _block(block: object) -> str | Rows:
    if not isinstance(block, str | Rows):
        raise TypeError(type(block).__name__)
    return block


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(type(text).__name__)
    return text
