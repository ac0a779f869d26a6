"""Remedies of the release: before and after, what was lost, what else was tried; nothing where none acted."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from tcdp_audit.plugin.report import Audit, ChangeLog, Chart, Group, Heading, Items, Paragraph, Rows
from tcdp_audit.plugin.sentences import sentence_case
from tcdp_audit_reports.policy_text import lines_to_paste
from tcdp_audit_reports.remedy import candidates, search, sentences
from tcdp_audit_reports.remedy.candidates import tried_table
from tcdp_audit_reports.remedy.losses import (
    attribute_table,
    counts_table,
    effects_table,
    loss_table,
    models_table,
    penalty_chart,
    retained_table,
)
from tcdp_audit_reports.remedy.shifts import Shift, caption, shifts
from tcdp_audit_reports.templating import blocks_as_html, fill_template

HEAD = ("Check", "Attribute", "Demanded", "Before", "After", "Margin", "Outcome")
TABLES = (attribute_table, effects_table, models_table, counts_table, loss_table, retained_table)
CHARTS = (search.chart, candidates.chart, penalty_chart)
IMPACT = "What it costs those who use the release"
ATTACKED = "What an intruder finds who knows how it was done"
UNHELPED = "What remedies do not act on"


def blocks(audit: Audit) -> Iterator[Group | Rows]:
    """The section as blocks."""
    log = audit.change_log
    if log is None:
        return
    yield _summary(audit, log)
    if log.steps:
        rows = [_row(one) for one in shifts(audit, log)]
        yield Rows(HEAD, rows, numeric_from=2)
    yield from _details(audit, log)


def html(audit: Audit) -> str:
    """The section with marks for each expectation before and after, on the axis of margins."""
    log = audit.change_log
    if log is None:
        return ""
    moved = shifts(audit, log) if log.steps else []
    table = fill_template("shifts.html.j2", caption=caption(audit, log), shifts=moved) if moved else ""
    parts = (
        blocks_as_html([_summary(audit, log)], "remedy"),
        Markup(table),  # noqa: S704 - a template's
        blocks_as_html([*_details(audit, log)], "remedy"),
    )
    return Markup().join(parts)


def _summary(audit: Audit, log: ChangeLog) -> Group:
    """What was done, what it costs users, and how the remedies were chosen."""
    done: list[Paragraph | Heading | Items] = [Paragraph(sentences.summary(audit, log), style="meaning")]
    if log.steps and log.utility_impact:
        done += [Heading(IMPACT), Items(log.utility_impact, style="impact")]
    how = [sentences.how(log), sentences.order(audit, log)] if log.steps else []
    chosen = [Group([Paragraph(one) for one in how], style="aside")] if how else []
    return Group([Group(done), *chosen], style="two")


def _details(audit: Audit, log: ChangeLog) -> Iterator[Group | Rows]:
    """What was changed and lost, what an intruder finds, what else was tried, and lines to paste."""
    if log.steps:
        yield from _losses(log)
        attacked = [
            Paragraph(f"{sentence} {person}".strip(), lead=f"{title}:")
            for title, sentence, person in sentences.attacks(log)
        ]
        if attacked:
            yield Group([Heading(ATTACKED), *attacked], style="fix")
    tried = tried_table(log)
    if tried is not None:
        yield tried
    unhelped = sentences.unhelped(log)
    if unhelped:
        yield Group([Heading(UNHELPED), Items(unhelped)], style="fix")
    lines = lines_to_paste(log, audit) if log.steps else None
    if lines is not None:
        yield Group([Heading("Policy lines to paste"), Paragraph(lines.sentence, lines=lines.policy)], style="fix")


def _losses(log: ChangeLog) -> Iterator[Group]:
    """Charts and tables of what was changed and lost, as far as there are figures."""
    charts: list[Chart] = [one for one in (chart(log) for chart in CHARTS) if one is not None]
    if charts:
        yield Group(charts, style="pair")
    tables: list[Rows] = [one for one in (table(log) for table in TABLES) if one is not None]
    if tables:
        yield Group(tables, style="pair tables")


def _row(shift: Shift) -> tuple[str, ...]:
    texts = (shift.title, shift.attribute, shift.demanded, shift.before, shift.after, shift.words)
    return *texts, sentence_case(shift.state)
