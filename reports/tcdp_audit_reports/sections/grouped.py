"""Very many demands of one check, columns or tables of figures as entries that open, and a picture of the demands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from markupsafe import Markup

from tcdp_audit.plugin._internal import Block, DemandGroup, observed, state_of
from tcdp_audit.plugin.report import Audit, Group, Paragraph, Rows
from tcdp_audit.plugin.sentences import Outcome, count, prose, say, sentence_case
from tcdp_audit_reports.charts import matrix
from tcdp_audit_reports.charts.margin import margin_bar, margin_words
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.templating import blocks_as_html, fill_template

if TYPE_CHECKING:
    from tcdp_audit_reports.sections.findings import DemandRow, Finding

MANY = 20  # demands, up to which each has an entry of its own
WORST = 3  # of a group that are named
WRONG = ("failed", "error", "warning")
STYLES = "grouped.css"
T = TypeVar("T")


def groups_of(audit: Audit) -> Sequence[DemandGroup]:
    """The groups of demands of an audit that has many; none of any other."""
    return audit.demand_groups if len(audit.expectations) > MANY else ()


@dataclass(frozen=True)
class Gathered(Generic[T]):
    """The entries of a list for one demand, or for the demands of a group.

    Args:
        members: an entry for each of these demands, in the policy's order.
        group: the group; None for a single demand.
        id: that of the group's entry; empty for a single demand.
    """

    members: Sequence[T]
    group: DemandGroup | None = None
    id: str = ""


def gathered(audit: Audit, listed: Sequence[T]) -> Iterator[Gathered[T]]:
    """The entries of a list by demand, in the policy's order, with those of a group at its first demand."""
    groups = groups_of(audit)
    first = {group.numbers[0]: (group, f"g{at}") for at, group in enumerate(groups, 1)}
    grouped = {number for group in groups for number in group.numbers}
    for number, one in enumerate(listed, 1):
        if number in first:
            group, name = first[number]
            yield Gathered([listed[one - 1] for one in group.numbers], group, name)
        elif number not in grouped:
            yield Gathered([one])


def demand_rows(audit: Audit, rows: Sequence[DemandRow]) -> list[DemandRow]:
    """The rows of the table of demands, with one for each group: its worst figure, and the people exposed once."""
    return [
        one.members[0] if one.group is None else _row(one.group, one.id, one.members) for one in gathered(audit, rows)
    ]


def _row(group: DemandGroup, name: str, members: Sequence[DemandRow]) -> DemandRow:
    worst = group.ranked[0][1]
    return replace(
        members[0],
        id=name,
        state=group.state,
        title=group.title,
        attribute=f"{group.subjects}: {group.result}",
        observed=observed(worst),
        margin=margin_bar(worst),
        margin_words=margin_words(worst),
        at_risk=_exposed(group),
        at_risk_of="",
    )


def _exposed(group: DemandGroup) -> str:
    """The number of people whom the failing demands of a group expose; `0` where all hold, `–` if not known."""
    return group.exposed_people or ("0" if group.state == "passed" else "–")


def matrix_html(audit: Audit) -> str:
    """The picture of all demands of groups; empty without any."""
    chart = matrix.chart(groups_of(audit))
    return "" if chart is None else blocks_as_html([chart], "matrix")


@dataclass(frozen=True)
class Entry:
    """The entry of a group in the findings, inside of which its demands have theirs.

    Args:
        id: that of the entry.
        numbers: those of its demands, such as `2-55`.
        group: the group.
        first: the finding on the first of its demands, which asks the same question as all.
        worst: the worst of them, each with its subject and its sentence.
        is_wrong: whether any of them does not hold.
        person: what the worst means for one person.
        exposed: the people exposed.
    """

    id: str
    numbers: str
    group: DemandGroup
    first: Finding
    worst: Sequence[tuple[Finding, str]]
    is_wrong: bool
    person: str
    exposed: str


def framed(audit: Audit, findings: Sequence[Finding]) -> tuple[list[Finding], dict[str, str], dict[str, str]]:
    """The findings with those of a group together, and the markup before and after some of them, by their ids."""
    ordered: list[Finding] = []
    before, after = dict[str, str](), dict[str, str]()
    for one in gathered(audit, findings):
        ordered += one.members
        if one.group is not None:
            before[one.members[0].row.id] = Markup(  # noqa: S704 - a template's own markup
                fill_template(
                    "grouped.html.j2", entry=_entry(one.group, one.id, findings), has_records=audit.has_records
                )
            )
            after[one.members[-1].row.id] = Markup("</details></article>")
    return ordered, before, after


def _entry(group: DemandGroup, name: str, findings: Sequence[Finding]) -> Entry:
    worst, first = _worst(group), findings[group.numbers[0] - 1]
    last = group.numbers[-1]
    consecutive = last - group.numbers[0] == len(group.numbers) - 1
    return Entry(
        name,
        f"{group.numbers[0]}–{last}" if consecutive else f"{group.numbers[0]}…",
        group,
        first,
        [(findings[number - 1], group.subject_of(outcome)) for number, outcome in worst],
        group.state in WRONG,
        quoted(prose(worst[0][1].individual_impact)),
        _exposed(group),
    )


def _worst(group: DemandGroup) -> Sequence[tuple[int, Outcome]]:
    """The worst of a group with their numbers: three that do not hold, or the one that is closest to its demand."""
    wrong = [one for one in group.ranked if state_of(one[1]) in WRONG]
    return wrong[:WORST] or group.ranked[:1]


def group_paragraph(group: DemandGroup) -> Paragraph:
    """A group in a summary: how many hold, who is exposed, and the worst with their sentences."""
    worst = [f"{group.subject_of(one)}: {prose(one.message)}" for _, one in _worst(group)]
    lead = say(
        "{title:text}[{column?}, {column:text}] ({state:text}).",
        title=group.title,
        column=group.subjects,
        state=group.state,
    )
    return Paragraph(" ".join([group.sentence, *worst]), lead=lead)


def fold(group: DemandGroup, blocks: Sequence[Block]) -> Group:
    """The blocks on the demands of a group, folded."""
    return Group(blocks, folded=f"{group.title}: {count(len(group.outcomes), 'demand')} one by one")


MANY_ROWS = 24  # rows, up to which a table is shown as it is
SHOWN = 3  # of rows that are alike and no range
Row = Sequence[str]


def by_ranges(table: Rows, noun: str, counts: int | None = None) -> list[Rows | Group]:
    """A table as it is; of more than 24 rows its ranges, and the whole table in a fold.

    Consecutive rows are a range if their names have the same stem and all other cells are equal. If ranges are many as
    well, all rows whose other cells are equal are one row. Cost: linear in the rows.

    Args:
        table: its first column names the rows.
        noun: what a row is, in the singular.
        counts: the column with a number that may differ in a range; None without one.
    """
    if len(table.body) <= MANY_ROWS:
        return [table]
    ranges = _alike(table.body, counts, noun, lambda row: (_stem(row[0]), *_others(row, counts)), consecutive=True)
    if len(ranges) > MANY_ROWS:
        ranges = _alike(table.body, counts, noun, lambda row: _others(row, counts), consecutive=False)
    whole = replace(table, caption="", note="")
    title = f"{sentence_case(table.caption)}, {count(len(table.body), noun)} one by one"
    return [replace(table, body=ranges), Group([whole], folded=title)]


def _stem(name: str) -> str:
    """A name without the number at its end."""
    return re.sub(r"\d+$", "", name)


def _others(row: Row, counts: int | None) -> tuple[str, ...]:
    return tuple(cell for at, cell in enumerate(row) if at not in (0, counts))


def _alike(
    rows: Sequence[Row], counts: int | None, noun: str, key: Callable[[Row], object], *, consecutive: bool
) -> list[Row]:
    """A row for all that have the same key; only for consecutive ones, if requested."""
    groups: dict[object, list[Row]] = {}
    place = 0
    for before, row in zip([None, *rows], rows, strict=False):
        place += before is None or key(before) != key(row)
        groups.setdefault((place if consecutive else 0, key(row)), []).append(row)
    return [_range(same, counts, noun, is_range=consecutive) for same in groups.values()]


def _range(same: Sequence[Row], counts: int | None, noun: str, *, is_range: bool) -> Row:
    first, last = same[0], same[-1]
    if len(same) == 1:
        return first
    if is_range:
        name = f"{first[0]} to {last[0]}"
    else:
        more = len(same) - SHOWN
        name = ", ".join(row[0] for row in same[:SHOWN]) + (f" and {more:,} more" if more > 0 else "")
    cells = [f"{name}\n{count(len(same), noun)}", *first[1:]]
    if counts is not None:
        cells[counts] = _between([row[counts] for row in same])
    return cells


def _between(texts: Sequence[str]) -> str:
    """The least and the most of some counts; a text that is no number is added as it is."""
    counted = sorted(
        {text for text in texts if re.fullmatch(r"[\d,]+", text)}, key=lambda one: int(one.replace(",", ""))
    )
    others = dict.fromkeys(text for text in texts if text not in counted)
    ends = counted if len(counted) < 2 else [f"{counted[0]} to {counted[-1]}"]
    return " or ".join([*ends, *others])
