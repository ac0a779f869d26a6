"""The table of demands: what the policy asks, what was found, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import demanded, failing, observed, state_of
from tcdp_audit.plugin.report import Audit, Heading, Rows
from tcdp_audit.plugin.sentences import Outcome, count, prose, sentence_case, visible
from tcdp_audit_reports.charts.margin import margin_words
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.sections.findings import attribute_of, records_of_table, rows
from tcdp_audit_reports.templating import fill_template

PASSED = "Passed."
HEAD = ("Status", "Check", "Column", "Found", "Demanded", "Margin", "Groups failing", "Records failing")


def html(audit: Audit) -> str:
    """The table, with a bar for each demand; schema checks below."""
    return fill_template(
        "demands.html.j2",
        rows=rows(audit),
        structure=structure_rows(audit),
        release=visible(audit.release.name),
        about_release=audit.release.size,
    )


def structure_rows(audit: Audit) -> Sequence[tuple[str, str, str, str]]:
    """The core's own findings on the columns: id, state, title and sentence."""
    return [
        (f"s{number}", state_of(one), one.title or one.check, quoted(prose(one.message)) or PASSED)
        for number, one in enumerate(audit.structure, 1)
    ]


def blocks(audit: Audit) -> Iterator[str | Heading | Rows]:
    """The same as tables of text, with the groups and records that fail."""
    expectations = audit.expectations
    if expectations:
        states = [state_of(one) for one in expectations]
        yield Rows(HEAD, [_row(audit, one) for one in expectations], numeric_from=3, states=states)
    else:
        yield "The policy’s demands gave no outcome."
    if audit.structure:
        yield Heading("Columns")
        states = [state_of(one) for one in audit.structure]
        yield Rows(("Status", "Demand", "Finding"), [_structural(one) for one in audit.structure], states=states)


def _structural(outcome: Outcome) -> tuple[str, str, str]:
    return sentence_case(state_of(outcome)), outcome.title or outcome.check, prose(outcome.message) or PASSED


def _row(audit: Audit, outcome: Outcome) -> tuple[str, ...]:
    fails = failing(outcome)
    classes, records = ("–", "–") if fails is None else map(count, fails)
    of_table = records_of_table(outcome) if outcome.table and fails is not None else ""
    return (
        sentence_case(state_of(outcome)),
        outcome.title or outcome.check,
        attribute_of(outcome, audit.plugins.checks.get(outcome.check)),
        observed(outcome),
        demanded(outcome),
        margin_words(outcome),
        classes,
        f"{records}\n{of_table}" if of_table else records,
    )
