"""The section on a remedy: everything that a report says of it, with nothing left to decide but the layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tcdp_audit.plugin.report import Audit
from tcdp_audit_reports.chart import Chart, Table
from tcdp_audit_reports.remedy import choices, lattice, penalties, sentences
from tcdp_audit_reports.remedy.candidates import tried_table
from tcdp_audit_reports.remedy.lines import Lines, lines_to_paste
from tcdp_audit_reports.remedy.losses import attribute_table, loss_table, told_table
from tcdp_audit_reports.remedy.shifts import Shift, caption, shifts
from tcdp_audit_reports.remedy.uses import counts_table, effects_table, models_table

TABLES = (attribute_table, effects_table, models_table, counts_table, loss_table, told_table)


@dataclass(frozen=True)
class Repair:
    """The section on the remedy: nothing is left to decide but the layout.

    Args:
        heading: what the section is called.
        origin: the line of the first screen.
        summary: what was done, in counts, and whether it was enough.
        utility_impact: what it costs those who use the release, in sentences, the worst first.
        state: of the release as it stands.
        how: who chose the remedies and how they were judged; empty where nothing was done, as all that follows.
        order: what the order of records gives away.
        caption: of the expectations before and after.
        shifts: the expectations before and after.
        charts: the plots that there are figures for.
        tables: what was changed and lost.
        attacks: what somebody finds who knows what the remedies did: title, sentence, and what it means for a person.
        tried: what else was tried.
        unhelped: what remedies do not act on, in sentences.
        lines: to paste into the policy.
    """

    heading: str
    origin: str
    summary: str
    state: str
    utility_impact: Sequence[str] = ()
    how: str = ""
    order: str = ""
    caption: str = ""
    shifts: Sequence[Shift] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[Table] = ()
    attacks: Sequence[tuple[str, str, str]] = ()
    tried: Table | None = None
    unhelped: Sequence[str] = ()
    lines: Lines | None = None


def repair(audit: Audit) -> Repair | None:
    """The section of a remediation; None for an audit that no remedy came before. Cost: linear in the log."""
    log = audit.change_log
    if log is None:
        return None
    untouched = Repair(
        heading=sentences.heading(audit, log),
        origin=sentences.origin(audit, log),
        summary=sentences.summary(audit, log),
        state=audit.status,
        tried=tried_table(log),
        unhelped=sentences.unhelped(log),
    )
    if not log.steps:
        return untouched
    return replace(
        untouched,
        utility_impact=log.utility_impact,
        how=sentences.how(log),
        order=sentences.order(audit, log),
        caption=caption(audit, log),
        shifts=shifts(audit, log),
        charts=[one for one in (lattice.chart(log), choices.chart(log), penalties.chart(log)) if one is not None],
        tables=[one for one in (table(log) for table in TABLES) if one is not None],
        attacks=sentences.attacks(log),
        lines=lines_to_paste(log),
    )
