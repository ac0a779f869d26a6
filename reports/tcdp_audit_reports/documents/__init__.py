"""Reports for paper: the contents of a document, whatever its format."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tcdp_audit.plugin._internal import Block, active_translations, verdict_sentence, verdict_title
from tcdp_audit.plugin.report import (
    Audit,
    AuditComparison,
    Chart,
    Frontier,
    Group,
    Heading,
    Paragraph,
    Rows,
    tool,
)
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.first_screen import (
    TallyEntry,
    open_questions,
    particulars,
    tally,
    written_date,
)
from tcdp_audit_reports.languages import language_note, localised
from tcdp_audit_reports.people_exposed import known_facts, relation
from tcdp_audit_reports.reasons import Reason, reasons

FIGURES_OF_CHARTS = "The figures behind the charts"


@dataclass(frozen=True)
class Document:
    """The contents of a document.

    Args:
        kind: the kind of report, in a few words.
        title: its title: of an audit the verdict.
        state: the verdict as a state; empty for a document without one.
        sentence: the sentence below the title.
        subject: the name of the release, for the running foot.
        made_at: the time that the document is dated with.
        closing: the sentence at its end.
        further: further sentences of the first page.
        warning: the sentence that the document opens with where it holds cells of the release.
        number: the number of the report, as `No. 0a1b2c3d`.
        particulars: names with their lines: the release, the policy, the audit.
        tally: the demands and the schema checks by their states.
        reasons: the findings that matter most.
        sections: the title and the blocks of each section; the title may be empty.
    """

    kind: str
    title: str
    state: str
    sentence: str
    subject: str
    made_at: datetime
    closing: str
    further: Sequence[str] = ()
    warning: str = ""
    number: str = ""
    particulars: Sequence[tuple[str, Sequence[str]]] = ()
    tally: Sequence[TallyEntry] = ()
    reasons: Sequence[Reason] = ()
    sections: Sequence[tuple[str, Sequence[Block]]] = ()

    @property
    def language(self) -> str:
        """The language of the report."""
        translations = active_translations()
        return "en" if translations is None else translations.language

    @property
    def date(self) -> str:
        """The date, with its month in words."""
        return written_date(self.made_at)

    @property
    def page_words(self) -> tuple[str, str]:
        """The words before the number of a page, and between it and the number of all pages."""
        return localised("page"), localised("of")

    def dissolved(self) -> Iterator[tuple[str, Sequence[Block]]]:
        """The sections without groups, their charts numbered, and at the end the figures behind all charts."""
        tables: list[Rows] = []
        for title, blocks in self.sections:
            flat: list[Block] = []
            for one in _dissolved(blocks):
                if isinstance(one, Chart):
                    number = f"{localised('Chart')} {len(tables) + 1}"
                    tables.append(replace(one.data, caption=f"{number}. {localised(one.data.caption or one.title)}"))
                    flat.append(replace(one, title=f"{number}. {localised(one.title)}"))
                else:
                    flat.append(one)
            yield title, flat
        if tables:
            yield FIGURES_OF_CHARTS, tables


def _dissolved(blocks: Iterable[Block]) -> Iterator[Block]:
    for block in blocks:
        if isinstance(block, Group):
            if block.folded:
                yield Paragraph("", lead=block.folded)
            yield from _dissolved(block.blocks)
        else:
            yield block


def exact(text: str) -> str:
    """A text as it is, with every character that would act written out."""
    return "\n".join(map(visible, text.split("\n")))


def shown(text: str) -> str:
    """A text in the language of the report, line by line, with every character that would act written out."""
    return exact("\n".join(map(localised, text.split("\n"))))


def worded(entry: TallyEntry) -> str:
    """An entry of the tally in the language of the report, without its number."""
    names = f": {shown(entry.names)}" if entry.names else ""
    return f"{shown(entry.words)}{names}"


def document_of_audit(audit: Audit) -> Document:
    """The contents of the report of an audit. Cost: linear in the outcomes."""
    what = "cells" if audit.has_records else "figures"
    holds = f"This report contains {what if audit.shows_values else f'no {what[:-1]}'} of the release."
    number, audit = hashlib.sha256(audit.to_json().encode()).hexdigest()[:8], audit.with_known_facts()
    facts = [" ".join(pair) for pair in [known_facts(audit)] if pair[0]]
    exposed = [f"People exposed. {one}" for one in [relation(audit)] if one]
    waiting = [f"Waiting for an answer: {one}" for one in open_questions(audit)]
    return Document(
        kind="Disclosure audit report",
        title=verdict_title(audit),
        state=audit.verdict,
        sentence=verdict_sentence(audit),
        subject=audit.release.name,
        made_at=audit.audited_at,
        closing=f"{_by()}. {holds}",
        further=[
            *_origin(audit),
            *facts,
            *exposed,
            *waiting,
            *filter(None, [language_note()]),
        ],
        warning=f"{holds} It was made with --show-values: treat it as you treat the data."
        if audit.shows_values
        else "",
        number=f"No. {number}",
        particulars=particulars(audit),
        tally=tally(audit),
        reasons=reasons(audit),
        sections=[(one.title, one.blocks) for one in audit.sections()],
    )


def _origin(audit: Audit) -> list[str]:
    if audit.change_log is None:
        return []
    from tcdp_audit_reports.remedy.sentences import origin  # noqa: PLC0415 - only for a release that remedies made

    return [origin(audit, audit.change_log)]


def document_of_comparison(comparison: AuditComparison) -> Document:
    """The contents of the report of a comparison."""
    return Document(
        kind="Two disclosure audits compared",
        title=comparison.title,
        state="",
        sentence=comparison.sentence,
        subject=f"{comparison.old.path.name}, {comparison.new.path.name}",
        made_at=max(comparison.old.audited_at, comparison.new.audited_at),
        closing=f"{_by()}. Both audits are taken at their word; nothing was computed again.",
        sections=_by_headings(comparison.blocks()),
    )


def document_of_frontier(frontier: Frontier) -> Document:
    """The contents of the report of a frontier."""
    from tcdp_audit_reports.frontier_blocks import TITLE, frontier_blocks  # noqa: PLC0415 - only for a frontier

    return Document(
        kind="The frontier of risk and loss",
        title=TITLE,
        state="",
        sentence=f"{frontier.sentence}.",
        subject=frontier.release.name,
        made_at=frontier.made_at,
        closing=f"{_by()}. This document contains no cell of a release but those that a policy's own lines name.",
        sections=_by_headings(frontier_blocks(frontier)),
    )


def _by_headings(blocks: Iterable[Block]) -> list[tuple[str, Sequence[Block]]]:
    """Blocks as sections, each of which a heading begins: so no level of headings is left out."""
    titles, contents = [""], list[list[Block]]([[]])
    for block in _dissolved(blocks):
        if isinstance(block, Heading):
            titles.append(block.text)
            contents.append([])
        else:
            contents[-1].append(block)
    return [*zip(titles, contents, strict=True)]


def _by() -> str:
    return f"{tool()['name']} {tool()['version']}"
