"""Reporters: registered code that turns a finished audit into one artefact, and the sections added to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_audit.errors import UsageError

if TYPE_CHECKING:
    from tcdp_audit.comparison import AuditComparison
    from tcdp_audit.results.audit import Audit
    from tcdp_audit.results.unaudited import Unaudited


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
        prepare: what can be done before there is an audit, such as imports; the command line calls it meanwhile.
    """

    name: str
    title: str
    suffix: str
    render: Callable[[Audit], str]
    render_several: Callable[[Sequence[Audit | Unaudited]], str] | None = None
    render_comparison: Callable[[AuditComparison], str] | None = None
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
