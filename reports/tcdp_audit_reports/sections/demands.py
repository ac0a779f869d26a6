"""The table of demands: what the policy asks, what was found, and how far apart they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import failing, observed, state_of
from tcdp_audit.plugin.report import Audit, Group, Heading, Rows
from tcdp_audit.plugin.sentences import Outcome, count, prose, sentence_case, visible
from tcdp_audit_reports.charts.margin import margin_words
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.people_exposed import affected, linking_keys
from tcdp_audit_reports.sections.findings import (
    attribute_of,
    demand_in_words,
    observed_in_words,
    rows,
    whose_affected,
)
from tcdp_audit_reports.sections.grouped import Gathered, demand_rows, fold, gathered, matrix_html
from tcdp_audit_reports.sections.next_steps import WARNED
from tcdp_audit_reports.templating import fill_template

PASSED = "Passed."
KEY = "linkable_key"  # the schema check on the column that aligns the release and the original
ADVISED = "See what to do next."  # it has the sentence
HEAD = ("Status", "Check", "Column", "Found", "Demanded", "Margin", "Groups failing", "Records failing")
OF_FIGURES = ("Status", "Check", "Found", "Demanded", "Result", "Figures failing")


def _is_advised(audit: Audit, outcome: Outcome) -> bool:
    """Whether a step of what to do next is on a schema check."""
    asked = outcome.check in WARNED or (outcome.check == KEY and bool(linking_keys(audit)))
    return outcome.blocks or (outcome.is_warning and asked)


def html(audit: Audit) -> str:
    """The table, with a bar for each demand; schema checks below."""
    silent = {f"s{number}" for number, one in enumerate(audit.structure, 1) if _passed_silently(one)}
    table = fill_template(
        "demands.html.j2",
        rows=demand_rows(audit, rows(audit)),
        structure=[
            (name, state, title, ADVISED if _is_advised(audit, one) else message)
            for one, (name, state, title, message) in zip(audit.structure, structure_rows(audit), strict=True)
            if name not in silent
        ],
        sound=[title for id_, _, title, _ in structure_rows(audit) if id_ in silent],
        release=visible(audit.release.name),
        about_release=audit.size,
        has_records=audit.has_records,
    )
    return f"{table}{matrix_html(audit)}"


def _passed_silently(outcome: Outcome) -> bool:
    """Whether a check of columns or of tables passed, without a note on what was not compared."""
    return state_of(outcome) == "passed" and (outcome.cells is None or not outcome.message)


def structure_rows(audit: Audit) -> Sequence[tuple[str, str, str, str]]:
    """The core's own findings on the columns: id, state, title and sentence."""
    return [
        (f"s{number}", state_of(one), one.title or one.check, quoted(prose(one.message)) or PASSED)
        for number, one in enumerate(audit.structure, 1)
    ]


def blocks(audit: Audit) -> Iterator[str | Heading | Rows | Group]:
    """The same as tables of text, with the groups and records that fail."""
    expectations = audit.expectations
    if expectations:
        entries = [*gathered(audit, expectations)]
        yield _rows(audit, [_entry(audit, one) for one in entries])
        for one in entries:
            if one.group is not None:
                yield fold(one.group, [_rows(audit, [(_row(audit, each), state_of(each)) for each in one.members])])
    else:
        yield "The policy’s demands gave no outcome."
    if audit.structure:
        yield Heading("Columns" if audit.has_records else "Tables")
        states = [state_of(one) for one in audit.structure]
        yield Rows(("Status", "Demand", "Finding"), [_structural(one) for one in audit.structure], states=states)


def _rows(audit: Audit, rows: Sequence[tuple[tuple[str, ...], str]]) -> Rows:
    """A table of rows with their states; without records it has cells in the place of groups and records."""
    body, states = [row for row, _ in rows], [state for _, state in rows]
    if not audit.has_records:
        body = [(*row[:2], *row[3:6], row[7].removeprefix("–\n").removesuffix(" cells")) for row in body]
    head, numeric_from = (HEAD, 3) if audit.has_records else (OF_FIGURES, 2)
    return Rows(head, body, numeric_from=numeric_from, states=states)


def _entry(audit: Audit, one: Gathered[Outcome]) -> tuple[tuple[str, ...], str]:
    """The row of a demand, or of a group of them with the figure of the worst, and its state."""
    if one.group is None:
        return _row(audit, one.members[0]), state_of(one.members[0])
    group, worst = one.group, _row(audit, one.group.ranked[0][1])
    about = f"{group.subjects}: {group.result}"
    row = (sentence_case(group.state), group.title, about, *worst[3:6], "–", group.exposed_people or "–")
    return row, group.state


def _cells(outcome: Outcome) -> str:
    """The number of failing figures of tables."""
    return "–" if outcome.cells is None or outcome.cells.failing is None else count(outcome.cells.failing)


def _structural(outcome: Outcome) -> tuple[str, str, str]:
    return sentence_case(state_of(outcome)), outcome.title or outcome.check, prose(outcome.message) or PASSED


def _row(audit: Audit, outcome: Outcome) -> tuple[str, ...]:
    fails = failing(outcome)
    whom, whose = affected(outcome), whose_affected(outcome)
    classes, records = ("–", "–") if fails is None or whom is None else (count(fails[0]), count(whom.number))
    if outcome.cells is not None:
        records = f"–\n{_cells(outcome)} cells"
    return (
        sentence_case(state_of(outcome)),
        outcome.title or outcome.check,
        attribute_of(outcome, audit.plugins.checks.get(outcome.check)),
        observed_in_words(outcome) if outcome.cells is not None else observed(outcome),
        demand_in_words(outcome),
        margin_words(outcome),
        classes,
        f"{records}\n{whose}" if whose and outcome.cells is None else records,
    )
