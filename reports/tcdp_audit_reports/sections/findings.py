"""Findings: a sentence about the release, one about a person, the picture that fits, its data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeGuard

from tcdp_audit.plugin._internal import SIGNS, conflicting_demands, demanded, failing, observed, state_of
from tcdp_audit.plugin.check import Check, Limit
from tcdp_audit.plugin.report import Audit, Chart, Items, Paragraph, Rows
from tcdp_audit.plugin.sentences import (
    Outcome,
    count,
    decimal,
    figure,
    known_columns,
    plural,
    prose,
    record_noun,
    sentence_case,
    visible,
)
from tcdp_audit_reports.charts import cumulative, dumbbell, histogram, margin, scatter
from tcdp_audit_reports.charts.drawing import Drawing, Measured, distribution_of
from tcdp_audit_reports.charts.margin import margin_bar, margin_words
from tcdp_audit_reports.charts.pictures import pictures
from tcdp_audit_reports.finding_tables import ELSEWHERE, nested_tables, worst_table
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.policy_text import one_line
from tcdp_audit_reports.templating import fill_template

MANY = 100  # expectations, up to which every one is shown with its pictures
WHOLE = 40  # of more, so many are
BY_SIZE = 5  # have the picture of groups by size
GRAVITY = ("failed", "error", "warning", "passed", "measured", "skipped")
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class DemandRow:
    """A row of the table of demands."""

    id: str
    number: int
    state: str
    check: str
    title: str
    attribute: str
    observed: str
    demanded: str
    margin: Drawing | None
    margin_words: str
    at_risk: str
    at_risk_of: str  # whose records those are, of several tables; empty for people


@dataclass(frozen=True)
class Finding:
    """An article of the findings: its row, and all else that there is to say."""

    row: DemandRow  # what the table of demands says
    message: str  # what was found, in a sentence about the release
    line: int | None  # of the policy
    person: str = ""  # what it means for one person; nothing where the check does not say
    conflict: str = ""  # how it can be met where another demand on the same columns fails
    reason: str = ""  # why the policy makes the demand, on one line; nothing where it does not say
    facts: Pairs = ()  # single figures in addition to the observed one
    conventions: Pairs = ()  # that decided it
    source: str = ""  # of the definition
    question: str = ""  # the question in plain words
    explained: str = ""  # the id of the definition, one for all findings of a check; nothing without a guide
    chart: Chart | None = None  # the picture
    worst: Rows | None = None  # the worst groups
    nested: Sequence[Rows] = ()  # figures for each attribute, intervals, contributions
    pictures: Sequence[Chart] = ()  # of those
    # the number and title of the finding that has the picture of the same worst group; nothing where that is this one
    pictured: tuple[int, str] | None = None
    is_brief: bool = False  # whether it is one of very many, and only the message is shown


def rows(audit: Audit) -> list[DemandRow]:
    """The expectations' outcomes in policy order, as the table of demands shows them. Cost: linear in the outcomes."""
    checks = audit.plugins.checks
    return [_row(one, checks.get(one.check), number) for number, one in enumerate(audit.expectations, 1)]


def findings(audit: Audit) -> list[Finding]:
    """The same with all that there is to say of each. Cost: linear in the outcomes and their distributions."""
    checks = audit.plugins.checks
    whole, seen = _shown_whole(audit), dumbbell.Seen()
    gridded = [number for number in whole if scatter.grid_of(audit.expectations[number - 1])]
    by_size = _gravest(audit, gridded)[:BY_SIZE]
    return [
        _finding(one, checks.get(one.check), row, conflicting_demands(audit, one), seen, by_size=row.number in by_size)
        if row.number in whole
        else Finding(row, quoted(prose(one.message)), one.line, reason=one_line(one.reason), is_brief=True)
        for one, row in zip(audit.expectations, rows(audit), strict=True)
    ]


def _shown_whole(audit: Audit) -> frozenset[int]:
    """The numbers of the expectations that have pictures and tables: all, or of very many those that matter most."""
    numbers = range(1, len(audit.expectations) + 1)
    return frozenset(_gravest(audit, numbers)[:WHOLE] if len(numbers) > MANY else numbers)


def _gravest(audit: Audit, numbers: Iterable[int]) -> list[int]:
    """Numbers of expectations, those that matter most first."""
    return sorted(numbers, key=lambda one: (GRAVITY.index(state_of(audit.expectations[one - 1])), one))


def _row(outcome: Outcome, check: Check | None, number: int) -> DemandRow:
    fails = failing(outcome)
    return DemandRow(
        id=f"e{number}",
        number=number,
        state=state_of(outcome),
        check=outcome.check,
        title=outcome.title or outcome.check,
        attribute=attribute_of(outcome, check),
        observed=observed(outcome),
        demanded=demanded(outcome),
        margin=margin_bar(outcome),
        margin_words=margin_words(outcome),
        at_risk="–" if fails is None else count(fails[1]),
        at_risk_of="" if fails is None or not outcome.table else records_of_table(outcome),
    )


def _finding(
    outcome: Outcome, check: Check | None, row: DemandRow, others: str, seen: dumbbell.Seen, *, by_size: bool
) -> Finding:
    guide = None if check is None else check.guide
    pictured = seen.before(outcome, row.number, row.title)
    measured = _measured(outcome, check)
    if measured is None:
        chart = margin.chart(outcome)
    else:
        chart = histogram.chart(measured) if measured.counts_whole_numbers else cumulative.chart(measured)
    return Finding(
        row=row,
        message=quoted(prose(outcome.message)),
        person=quoted(prose(outcome.individual_impact)),
        conflict=quoted(prose(others)),
        reason=one_line(outcome.reason),
        line=outcome.line,
        facts=_facts(outcome, check),
        conventions=[(plain(name), plain(value)) for name, value in outcome.conventions.items()],
        source=outcome.source,
        question="" if guide is None else guide.question,
        explained="" if guide is None else f"glossary-{outcome.check}",
        chart=chart,
        worst=worst_table(outcome, measured),
        nested=nested_tables(outcome),
        pictures=_pictures(outcome, measured if by_size else None, pictured=pictured is not None),
        pictured=pictured,
    )


def _pictures(outcome: Outcome, measured: Measured | None, *, pictured: bool) -> list[Chart]:
    sizes = scatter.chart(outcome, measured)
    own = [one for one in pictures(outcome) if not (pictured and one.kind == dumbbell.KIND)]
    return own if sizes is None else [sizes, *own]


def records_of_table(outcome: Outcome) -> str:
    """`records of visits`, where an outcome counts the records of one of several tables; empty for people."""
    noun = record_noun(outcome)
    return plural(noun) if noun.endswith(f" of {visible(outcome.table or '')}") else ""


def attribute_of(outcome: Outcome, check: Check | None) -> str:
    """The attribute that was measured, or what was measured where there is none."""
    if outcome.attribute is not None:
        return sentence_case(visible(outcome.naming.labels.get(outcome.attribute, ""))) or visible(outcome.attribute)
    if check is None:
        return "–"
    if "attributes" in check.parameters.model_fields:  # it compares some of them
        return visible(", ".join(outcome.parameters.get("attributes", ()))) or "–"
    return "–" if check.on_attribute or not outcome.known else sentence_case(visible(known_columns(outcome)))


def plain(name: str) -> str:
    """A snake_case name in words."""
    return visible(str(name)).replace("_", " ").replace("quasi identifier", "quasi-identifier")


def _measured(outcome: Outcome, check: Check | None) -> Measured | None:
    """The distribution over classes, where it is of the very figure that is compared."""
    distribution = distribution_of(outcome)
    if check is None or not check.judges_each_class or not distribution or outcome.comparison is None:
        return None
    label = check.label or "observed figure"
    others = sum(one.parameter in outcome.parameters for one in check.limits) > 1
    fails = failing(outcome)
    return Measured(distribution, outcome.threshold, outcome.comparison, fails, label, others, record_noun(outcome))


def _facts(outcome: Outcome, check: Check | None) -> Pairs:
    """Classes, and every single figure that the check reports in addition to the observed one."""
    facts = []
    if outcome.classes is not None:
        facts.append(("Groups", count(outcome.classes.total)))
    fails = failing(outcome)
    if fails is not None:
        facts.append(("failing", count(fails[0])))
    limits = {} if check is None else {one.parameter: one for one in check.limits[1:]}
    for name, value in outcome.details.items():
        if isinstance(value, int | float | Fraction | str) or (name not in ELSEWHERE and _is_names(value)):
            facts.append((plain(name), f"{_fact(value)}{_limit(outcome, limits.get(name))}"))
    return facts


def _is_names(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(one, str) for one in value)


def _fact(value: float | Fraction | str | Sequence[str]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | Fraction):
        return figure(float(value))
    return ", ".join(map(visible, [value] if isinstance(value, str) else value))


def _limit(outcome: Outcome, limit: Limit | None) -> str:
    """The demand on a figure other than the headline one, in parameters such as `alpha`."""
    if limit is None or outcome.parameters.get(limit.parameter) is None:
        return ""
    value = Fraction(outcome.parameters[limit.parameter])
    return f", demanded {SIGNS[limit.comparison]} {decimal(value)}"


def html(audit: Audit) -> str:
    """An article for each of the policy's expectations."""
    shown = findings(audit)
    return fill_template("findings.html.j2", findings=shown, briefly=_briefly(shown))


def _briefly(shown: Sequence[Finding]) -> str:
    """The reason why most have no pictures, in a report of very many."""
    whole = sum(not one.is_brief for one in shown)
    if whole == len(shown):
        return ""
    shown_whole = f"Of {count(len(shown), 'result')} the {whole:,} that matter most have pictures and tables"
    return f"{shown_whole}; the machine-readable result in this file has all."


def blocks(audit: Audit) -> Iterator[Paragraph | Items]:
    """A paragraph for each, with the cells of the worst groups where those were asked for."""
    for one in audit.expectations:
        attribute = attribute_of(one, audit.plugins.checks.get(one.check))
        title = one.title or one.check
        name = title if attribute == "–" else f"{title}, {attribute}"
        reason = f"The policy’s reason: “{one_line(one.reason)}”" if one.reason else ""
        sentences = filter(None, (prose(one.message), prose(one.individual_impact), reason))
        yield Paragraph(" ".join(sentences), lead=f"{name} ({state_of(one)}).")
        cells = [
            f"group {worst.ordinal:,}: " + "; ".join(f"{column}: {cell}" for column, cell in worst.cells.items())
            for worst in one.worst
            if worst.cells is not None
        ]
        if cells:
            yield Items(cells)
