"""Reporters: registered code that turns a finished audit into one artefact, and the sections of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tcdp_audit.core.base.errors import PolicyError, TcdpAuditError, UsageError
from tcdp_audit.core.results.document import Block, block_of

if TYPE_CHECKING:
    from tcdp_audit.core.results.audit import Audit
    from tcdp_audit.core.results.comparison import AuditComparison
    from tcdp_audit.core.results.frontier import Frontier


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
        render_comparison: two audits compared, as text; None for a format that has no form for it.
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


def _nothing(_: Audit) -> Iterable[Block]:
    return ()


@dataclass(frozen=True, kw_only=True)
class ReportSection:
    """A section of every report for people. The built-in ones are such sections too.

    Args:
        name: snake_case name of the section, unique among all plugins.
        title: its heading.
        blocks: the audit as blocks, in their order; none where there is nothing to say.
        order: sections come by ascending order, equal ones as they were registered. The built-in ones are at 100 (what
            the verdict rests on), 200 (what to do next), 300 (demands), 400 (what was checked), 500 (findings), 700
            (remedy), 800 (glossary) and 900 (appendix).
        heading: the heading where it depends on the audit, in place of the title.
        html: the section below its heading as HTML, where blocks cannot lay it out: balanced elements, every text
            escaped, no script, no style, no address; empty where there is nothing to say. Ids begin with the section's
            name. Every other format renders the blocks.
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
        name: of the section.
        title: its heading.
        blocks: its blocks; none where it has HTML of its own, and that was asked for.
        html: its own HTML; empty where it has none, or that was not asked for.
    """

    name: str
    title: str
    blocks: Sequence[Block] = ()
    html: str = ""


def fill_section(section: ReportSection, audit: Audit, *, as_html: bool) -> FilledSection:
    """Write a section of an audit.

    Args:
        section: the section.
        audit: what it is about.
        as_html: whether in its own HTML, where it has one.

    Raises:
        TypeError: it gives something else than blocks, or than text.
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
    """

    path: Path
    error: TcdpAuditError

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.name

    @property
    def exit_code(self) -> int:
        """2 where the call or the policy is wrong, 3 where the audit could not be made."""
        return self.error.exit_code

    @property
    def reasons(self) -> list[tuple[int, int, str]]:
        """Why: line and column of the policy (0 where unknown) and a sentence for each fault, at least one."""
        faults = self.error.faults if isinstance(self.error, PolicyError) else ()
        lines = [line for line in str(self.error).splitlines() if line.strip()] or [UNEXPLAINED]
        return list(faults) or [(0, 0, line) for line in lines]
