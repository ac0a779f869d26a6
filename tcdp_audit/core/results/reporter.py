"""Reporters: registered code that renders a finished audit, and the sections of reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_audit.core.base.errors import PolicyError, TcdpAuditError, UsageError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.provenance import now
from tcdp_audit.core.results.document import Block, block_of

if TYPE_CHECKING:
    from tcdp_audit.core.results.audit import Audit
    from tcdp_audit.core.results.comparison import AuditComparison
    from tcdp_audit.core.results.frontier import Frontier


@dataclass(frozen=True, kw_only=True)
class Reporter:
    """A report format.

    Args:
        name: snake_case name of the format, unique among all plugins.
        title: its name for readers.
        suffix: the end of a file's name that selects it: an extension with its dot, or two, such as `.junit.xml`.
        render: renders an audit as text, or as bytes for a format that is no text.
        render_several: renders all audits of a run, and the policies that could not be audited, as one text; None for a
            format that holds one audit.
        render_comparison: renders a comparison of two audits, as `render`; None if the format does not support it.
        render_frontier: renders the front of risk and loss, as `render`; None if the format does not support it.
        prepare: preparation, such as imports, which the command line runs during the audit.
        require: raises `UsageError` where a library that the format needs is not installed; the command line calls it
            before the audit.
    """

    name: str
    title: str
    suffix: str
    render: Callable[[Audit], str | bytes]
    render_several: Callable[[Sequence[Audit | Unaudited]], str] | None = None
    render_comparison: Callable[[AuditComparison], str | bytes] | None = None
    render_frontier: Callable[[Frontier], str | bytes] | None = None
    prepare: Callable[[], object] = field(default=lambda: None)
    require: Callable[[], object] = field(default=lambda: None)


def reporter_of(path: Path, reporters: Iterable[Reporter]) -> Reporter:
    """The reporter with the longest matching suffix of a file's name, so that `x.junit.xml` is not just XML.

    Raises:
        UsageError: no suffix matches.
    """
    known = {reporter.suffix: reporter for reporter in reporters}
    name = path.name.lower()
    fitting = [suffix for suffix in known if name.endswith(suffix) and name != suffix]
    if not fitting:
        listed = ", ".join(sorted(known))
        raise UsageError(f"{path}: no report format for {path.suffix.lower()!r}; known are {listed}")
    return known[max(fitting, key=len)]


def _nothing(_: Audit) -> Iterable[Block]:
    return ()


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A section of every report for people, built-in or of a plugin.

    Args:
        name: snake_case name of the section, unique among all plugins.
        title: its heading.
        blocks: the audit as blocks, in order; none if the section does not apply.
        order: sections are sorted by ascending order, equal ones by registration. The built-in ones are at 100
            (attacks), 150 (scenarios), 200 (columns), 300 (what to do next), 350 (remedy), 400 (what was not examined),
            500 (basis of the verdict), 550 (demands), 560 (tables of figures), 570 (findings), and from 800 the annex.
        heading: the heading for an audit, in place of the title.
        html: the section below its heading as HTML, for a layout that blocks do not have: balanced elements, every text
            escaped, no script, no style, no address; empty if the section does not apply. Ids begin with the section's
            name. Other formats render the blocks.
    """

    name: str
    title: str
    blocks: Callable[[Audit], Iterable[Block]] = _nothing
    order: int = 600
    heading: Callable[[Audit], str] | None = None
    html: Callable[[Audit], str] | None = None


@dataclass(frozen=True)
class FilledSection:
    """A section of one audit.

    Args:
        name: the section's name.
        title: its heading.
        blocks: its blocks; none if it has HTML, and HTML was requested.
        html: its HTML; empty if it has none, or it was not requested.
    """

    name: str
    title: str
    blocks: Sequence[Block] = ()
    html: str = ""


def fill_section(section: ReportSection, audit: Audit, *, as_html: bool) -> FilledSection:
    """Render a section of an audit.

    Args:
        section: the section.
        audit: the audit.
        as_html: whether to use its HTML, if it has any.

    Raises:
        TypeError: it returns other objects than blocks, or than text.
    """
    title = section.title if section.heading is None else section.heading(audit)
    if as_html and section.html is not None:
        return FilledSection(section.name, title, html=_text(section.html(audit)))
    return FilledSection(section.name, title, blocks=[block_of(one) for one in section.blocks(audit)])


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(type(text).__name__)
    return text


UNEXPLAINED = "no audit could be made, and what failed does not say why"  # a plugin's error may have no text


@dataclass(frozen=True)
class Unaudited:
    """A policy that is wrong, or whose release could not be read.

    Args:
        path: the policy's file.
        error: why there is no audit.
        tried_at: the time in UTC, as `audited_at` of an audit.
    """

    path: Path
    error: TcdpAuditError
    tried_at: datetime = field(default_factory=now)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def exit_code(self) -> int:
        """2 if the call or the policy is wrong, 3 if the audit could not be made."""
        return self.error.exit_code

    @property
    def reasons(self) -> list[tuple[int, int, str]]:
        """Line and column of the policy (0 if unknown) and a sentence for each fault, at least one."""
        faults = self.error.faults if isinstance(self.error, PolicyError) else ()
        lines = [line for line in str(self.error).splitlines() if line.strip()] or [UNEXPLAINED]
        return list(faults) or [(0, 0, line) for line in lines]
