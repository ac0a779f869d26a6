"""The table of demands: what the policy asks, what was found, and how far apart they are."""

from __future__ import annotations

from collections.abc import Sequence

from tcdp_audit.plugin._internal import demanded, failing, observed, state_of
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import Outcome, count, prose, sentence_case, visible
from tcdp_audit_reports.finding import attribute_of, rows
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.margin import margin_words
from tcdp_audit_reports.markdown_text import escaped, table
from tcdp_audit_reports.pages import filled

HEAD = ("Status", "Check", "Column", "Found", "Demanded", "Margin", "Groups failing", "Records failing")


def html(audit: Audit) -> str:
    """The table, with a bar for each demand; column checks below."""
    return filled(
        "demands.html.j2",
        rows=rows(audit),
        structure=structure_rows(audit),
        release=visible(audit.release.name),
        about_release=f"{count(audit.release.records, 'record')}, {count(audit.release.columns, 'column')}",
    )


def structure_rows(audit: Audit) -> Sequence[tuple[str, str, str, str]]:
    """The core's own findings on the columns: id, state, title and sentence."""
    return [
        (f"s{number}", state_of(one), one.title or one.check, quoted(prose(one.message)) or "Met.")
        for number, one in enumerate(audit.structure, 1)
    ]


def markdown(audit: Audit) -> str:
    """The same as tables."""
    expectations = table(HEAD, [_row(audit, one) for one in audit.expectations], left=3) if audit.expectations else ""
    parts = [expectations or "The policy’s demands gave no outcome."]
    if audit.structure:
        cells = [[escaped(text) for text in _structural(one)] for one in audit.structure]
        parts += ["### Columns", table(("Status", "Demand", "Finding"), cells)]
    return "\n\n".join(parts)


def _structural(outcome: Outcome) -> tuple[str, str, str]:
    return sentence_case(state_of(outcome)), outcome.title or outcome.check, prose(outcome.message) or "Met."


def _row(audit: Audit, outcome: Outcome) -> list[str]:
    fails = failing(outcome)
    classes, records = ("–", "–") if fails is None else map(count, fails)
    texts = (
        sentence_case(state_of(outcome)),
        outcome.title or outcome.check,
        attribute_of(outcome, audit.plugins.checks.get(outcome.check)),
        observed(outcome),
        demanded(outcome),
        margin_words(outcome),
        classes,
        records,
    )
    return [escaped(text) for text in texts]
