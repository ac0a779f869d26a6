"""Reporters: registered code that turns a finished audit into one artefact, and the sections added to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tcdp_audit.results.audit import Audit


@dataclass(frozen=True, kw_only=True)
class Reporter:
    """A format of the audit.

    Args:
        name: snake_case name of the format, unique among all plugins.
        title: what a person calls it.
        suffix: the file extension that selects it, with its dot.
        render: the audit as text.
        prepare: what can be done before there is an audit, such as imports; the command line calls it meanwhile.
    """

    name: str
    title: str
    suffix: str
    render: Callable[[Audit], str]
    prepare: Callable[[], object] = field(default=lambda: None)


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


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A section that a plugin adds to every report for people: HTML and Markdown alike.

    Args:
        name: snake_case name of the section, unique among all plugins.
        title: its heading.
        blocks: the audit as paragraphs (texts) and tables, in their order; none where there is nothing to say.
    """

    name: str
    title: str
    blocks: Callable[[Audit], Iterable[str | Rows]]
