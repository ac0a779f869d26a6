"""The section on a remedy in Markdown: what was done, before and after, what was lost, what to paste."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin.sentences import sentence_case
from tcdp_audit_reports.chart import Table
from tcdp_audit_reports.markdown_text import escaped, fenced, table
from tcdp_audit_reports.remedy import Repair
from tcdp_audit_reports.remedy.sentences import ATTACKED, UNHELPED
from tcdp_audit_reports.remedy.shifts import Shift

FELT = "What it costs those who use the release"
HEAD = ("Check", "Attribute", "Demanded", "Before", "After", "Margin", "Outcome")


def blocks(remedy: Repair) -> Iterator[str]:
    """The paragraphs and tables of the section, each to be put after an empty line."""
    yield escaped(remedy.summary)
    if remedy.utility_impact:
        yield f"**{escaped(FELT)}**"
        yield "\n".join(f"- {escaped(one)}" for one in remedy.utility_impact)
    if remedy.how:
        yield escaped(f"{remedy.how} {remedy.order}")
    if remedy.shifts:
        yield _grid(HEAD, [_row(one) for one in remedy.shifts], 2)
    for one in remedy.tables:
        yield from _captioned_table(one, 1)
    if remedy.attacks:
        yield f"**{ATTACKED}**"
    for title, sentence, person in remedy.attacks:
        yield escaped(" ".join(filter(None, (f"{title}: {sentence}", person))))
    if remedy.tried is not None:
        yield from _captioned_table(remedy.tried, 3)
    if remedy.unhelped:
        yield f"**{UNHELPED}**"
        yield "\n".join(f"- {escaped(one)}" for one in remedy.unhelped)
    if remedy.lines is not None:
        yield escaped(remedy.lines.sentence)
        yield f"```yaml\n{fenced(remedy.lines.policy)}\n```"


def _row(shift: Shift) -> list[str]:
    texts = (shift.title, shift.attribute, shift.demanded, shift.before, shift.after, shift.words)
    return [*texts, sentence_case(shift.state)]


def _captioned_table(data: Table, left: int) -> Iterator[str]:
    yield f"**{escaped(data.caption)}**"
    yield _grid([sentence_case(name) for name in data.columns], data.rows, left)
    if data.note:
        yield escaped(data.note)


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    return table([*map(escaped, head)], [[*map(escaped, row)] for row in rows], left)
