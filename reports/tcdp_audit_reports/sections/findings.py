"""Findings: a sentence about the release, one about a person, the picture that fits, its data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from typing import TypeGuard

from tcdp_audit.plugin._internal import (
    conflicting_demands,
    demanded,
    failing,
    observed,
    state_of,
    strictness_sentences,
)
from tcdp_audit.plugin.check import Check, Limit
from tcdp_audit.plugin.report import Audit, Chart, Definitions, Group, Items, Paragraph, Rows
from tcdp_audit.plugin.sentences import (
    Comparison,
    Outcome,
    Status,
    allowance,
    column_of,
    count,
    decimal,
    figure,
    noun_form,
    percent,
    percent_of,
    prose,
    record_noun,
    say,
    sentence_case,
    unit_noun,
    visible,
)
from tcdp_audit_reports.charts import cumulative, dumbbell, histogram
from tcdp_audit_reports.charts.drawing import Drawing, Measured, Once, Say, distribution_of
from tcdp_audit_reports.charts.margin import is_share, margin_bar, margin_words
from tcdp_audit_reports.charts.pictures import pictures
from tcdp_audit_reports.fact_labels import Labels, plain
from tcdp_audit_reports.finding_tables import ELSEWHERE, cell_of, nested_tables, worst_table
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.languages import once_per_report
from tcdp_audit_reports.people_exposed import affected
from tcdp_audit_reports.policy_text import one_line
from tcdp_audit_reports.reasons import reasons
from tcdp_audit_reports.sections.grouped import fold, framed, gathered, group_paragraph
from tcdp_audit_reports.templating import fill_template

MANY = 100  # expectations, up to which every one is shown with its pictures
WHOLE = 40  # of more, so many are
CELLS = 6  # failing cells that a finding names
IN_SENTENCES = frozenset(  # of the finding
    {"attempt", "classes_without_value", "records_without_value", "largest_gain", "larger", "unit_noun"}
)
UNITS = frozenset({"units", "victim_units"})  # are in sentences where both are known
USUAL = {"known_fraction": 1, "classes_are_of": "release"}  # figures that say nothing unless they differ from these
NO_VALUE = "no value"  # what was found in a group in which no one has one, where a figure cannot be infinite
SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z])")
FOLDED = frozenset({"passed", "measured", "skipped"})
TABLED = frozenset({"cumulative", "histogram", "dumbbell"})  # charts of which a folded finding has the table alone
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
    title_of_all: str  # the title without a scenario
    attribute: str
    observed: str
    demanded: str
    margin: Drawing | None
    margin_words: str
    at_risk: str
    at_risk_of: str  # whose records those are, of several tables, or that they are cells; empty for people


@dataclass(frozen=True)
class Finding:
    """An article of the findings: its row, and all else that there is to say."""

    row: DemandRow  # what the table of demands says
    message: str  # what was found, in a sentence about the release
    line: int | None  # of the policy
    person: str = ""  # what it means for one person; nothing where the check does not say, or the first screen does
    conflict: str = ""  # how it can be met where another demand on the same columns fails
    strictness: str = ""  # what is usual where the demand is laxer, and which other demand implies it
    reason: str = ""  # why the policy makes the demand, on one line; nothing where it does not say
    facts: Pairs = ()  # single figures in addition to the observed one
    conventions: Pairs = ()  # that decided it, where they are not those of the policy
    source: str = ""  # of the definition
    question: str = ""  # the question in plain words, where no finding before it asks the same
    explained: str = ""  # the id of the definition, one for all findings of a check; nothing without a guide
    chart: Chart | None = None  # the picture
    worst: Rows | None = None  # the worst groups
    nested: Sequence[Rows] = ()  # figures for each attribute, intervals, contributions
    pictures: Sequence[Chart] = ()  # of those
    beliefs: str = ""  # what the worst group adds to what the whole table shows of a value
    # the number and title of the finding that has the picture of the same worst group; nothing where that is this one
    pictured: tuple[int, str] | None = None
    same_groups: int | None = None  # the number of the finding that has the table of the same groups
    cells: Sequence[tuple[int, str]] = ()  # the first failing cells, by their numbers in the section on tables
    more_cells: int = 0  # how many there are besides
    is_brief: bool = False  # whether it is one of very many, and only the message is shown

    @property
    def is_folded(self) -> bool:
        """Whether nothing is wrong, so that one line shows and all else opens from it."""
        return self.row.state in FOLDED

    @property
    def charts(self) -> Sequence[Chart]:
        """Its pictures, the first one first."""
        return [*([] if self.chart is None else [self.chart]), *self.pictures]


@once_per_report
def rows(audit: Audit) -> list[DemandRow]:
    """The expectations' outcomes in policy order, as the table of demands shows them. Cost: linear in the outcomes."""
    checks = audit.plugins.checks
    return [_row(one, checks.get(one.check), number) for number, one in enumerate(audit.expectations, 1)]


@once_per_report
def findings(audit: Audit) -> list[Finding]:
    """The same with all that there is to say of each. Cost: linear in the outcomes and their distributions."""
    whole, seen, once, shown = _shown_whole(audit), dumbbell.Seen(), Once(), dict[str, int]()
    first = {one.target for one in reasons(audit) if not one.is_cut}  # the first screen has their sentence on a person
    numbers = _cell_numbers(audit)
    return [
        replace(
            _without_repetition(_finding(audit, one, row, seen, once, is_first=row.id in first), shown),
            cells=numbers.get(row.id, ())[:CELLS],
            more_cells=max((one.cells.failing or 0) - CELLS, 0) if one.cells is not None else 0,
        )
        if row.number in whole
        else Finding(row, quoted(prose(one.message)), one.line, reason=one_line(one.reason), is_brief=True)
        for one, row in zip(audit.expectations, rows(audit), strict=True)
    ]


def _without_repetition(finding: Finding, shown: dict[str, int]) -> Finding:
    """A finding that holds, without a table of groups that an earlier one of the same check has."""
    if not finding.is_folded or finding.chart is None or finding.chart.kind not in TABLED:
        return finding
    number = shown.setdefault(f"{finding.row.check} {finding.chart.data}", finding.row.number)
    return finding if number == finding.row.number else replace(finding, chart=None, same_groups=number)


def _cell_numbers(audit: Audit) -> dict[str, list[tuple[int, str]]]:
    """The failing cells of each outcome by its id: their numbers in the section on tables, and their names."""
    numbers: dict[str, list[tuple[int, str]]] = {}
    if any(one.failing_cells for one in audit.outcomes):
        from tcdp_audit_reports.cell_grids import LISTED, numbered_cells  # noqa: PLC0415 - only for tables of figures

        for one in numbered_cells(audit)[:LISTED]:
            for reason in one.reasons:
                numbers.setdefault(reason.target, []).append((one.number, one.cell.name))
    return numbers


def _shown_whole(audit: Audit) -> frozenset[int]:
    """The numbers of the expectations that have pictures and tables: all, or of very many those that matter most."""
    numbers = range(1, len(audit.expectations) + 1)
    return frozenset(_gravest(audit, numbers)[:WHOLE] if len(numbers) > MANY else numbers)


def _gravest(audit: Audit, numbers: Iterable[int]) -> list[int]:
    """Numbers of expectations, those that matter most first."""
    return sorted(numbers, key=lambda one: (GRAVITY.index(state_of(audit.expectations[one - 1])), one))


def _row(outcome: Outcome, check: Check | None, number: int) -> DemandRow:
    whom = affected(outcome)
    return DemandRow(
        id=f"e{number}",
        number=number,
        state=state_of(outcome),
        check=outcome.check,
        title=title_of_all(outcome) if _lists_its_columns(outcome) else outcome.title or outcome.check,
        title_of_all=title_of_all(outcome),
        attribute=attribute_of(outcome, check),
        observed=_share_of_units(outcome) or observed_in_words(outcome),
        demanded=_demanded_share(outcome) if _share_of_units(outcome) else demand_in_words(outcome),
        margin=margin_bar(outcome),
        margin_words=margin_words(outcome),
        at_risk=_failing_cells(outcome) if whom is None else count(whom.number),
        at_risk_of=whose_affected(outcome),
    )


def demand_in_words(outcome: Outcome) -> str:
    """The threshold with its comparison; in words where no cell of a table of figures may fail."""
    return "none allowed" if _allows_no_cell(outcome) else demanded(outcome)


def _allows_no_cell(outcome: Outcome) -> bool:
    is_none = outcome.threshold == 0 and outcome.comparison is Comparison.AT_MOST
    return is_none and outcome.cells is not None and outcome.observed == outcome.cells.failing


def observed_in_words(outcome: Outcome) -> str:
    """The observed figure, as a number of cells where no cell of a table of figures may fail.

    If some group lacks values, it is the worst of the other groups with a remark on that.
    """
    if _allows_no_cell(outcome):
        return count(int(outcome.observed or 0), "cell")
    if not _without_value(outcome) or outcome.observed not in (0, inf):
        return observed(outcome)
    worst = (outcome.details.get("worst_with_value") or {}).get("figure")
    return (
        NO_VALUE if worst is None else say("{found}; no value in some groups", found=figure(worst, outcome.threshold))
    )


def _share_of_units(outcome: Outcome) -> str:
    """The observed share as one of the units that have rows in a table; empty for any other figure."""
    whom = affected(outcome)
    if whom is None or whom.of is None or not whom.table or not is_share(outcome):
        return ""
    return say(
        "{share} of {noun:plural} with {table}",
        share=percent(outcome.observed, outcome.threshold),
        noun=whom.noun,
        table=visible(whom.table),
    )


def _demanded_share(outcome: Outcome) -> str:
    """The demand on a share in percent: `≤ 5%`."""
    sign = "" if outcome.comparison is None else outcome.comparison.sign
    return "" if outcome.threshold is None else f"{sign} {percent_of(outcome.threshold)}"


def _lists_its_columns(outcome: Outcome) -> bool:
    """True where a row's column says what is known, so that the title of a demand on a set of columns need not."""
    return " " in (outcome.scenario or "") and outcome.attribute is None and bool(outcome.known)


def title_of_all(outcome: Outcome) -> str:
    """The title of a demand without the scenario, which is the same for every scenario."""
    title = outcome.title or outcome.check
    return title.removesuffix(f" against {outcome.scenario}").removesuffix(f" if an intruder {outcome.scenario}")


def _failing_cells(outcome: Outcome) -> str:
    """The number of failing cells of tables of figures."""
    return "–" if outcome.cells is None or outcome.cells.failing is None else count(outcome.cells.failing)


def whose_affected(outcome: Outcome) -> str:
    """The noun of what fails: figures, or of several tables those affected, with the records of a table behind them."""
    if outcome.cells is not None:
        return noun_form("figure", outcome.cells.failing or 0)
    whom = affected(outcome)
    if whom is None or whom.records is None:
        return "" if whom is None or outcome.table is None else noun_form(whom.noun, whom.number)
    behind = say("{n:{noun}}", n=whom.records, noun=whom.record)
    return f"{noun_form(whom.noun, whom.number)}, {behind}"


def _finding(
    audit: Audit, outcome: Outcome, row: DemandRow, seen: dumbbell.Seen, once: Say, *, is_first: bool
) -> Finding:
    check, others, own = audit.plugins.checks.get(outcome.check), conflicting_demands(audit, outcome), audit.conventions
    guide, labels = None if check is None else check.guide, Labels.of(check)
    question = "" if guide is None or row.state in FOLDED else once(guide.question)
    pictured = None if row.state in FOLDED else seen.before(outcome, row.number, row.title)
    measured = _measured(outcome, check)
    chart = None
    if measured is not None and len(measured.distribution) > 1:  # a single figure is no picture
        chart = histogram.chart(measured) if measured.counts_whole_numbers else cumulative.chart(measured, once)
    return Finding(
        row=row,
        message=_message(outcome, once),
        person="" if is_first or _says_it_all(outcome) else quoted(prose(outcome.individual_impact)),
        conflict=once(quoted(prose(others))),
        strictness=_strictness(outcome, once),
        reason=one_line(outcome.reason),
        line=outcome.line,
        facts=_facts(outcome, check, labels),
        conventions=[
            (plain(name), plain(value)) for name, value in outcome.conventions.items() if own.get(name, value) != value
        ],
        source=outcome.source,
        question=question,
        explained="" if guide is None else f"glossary-{outcome.check}",
        chart=chart,
        pictures=_pictures(outcome, labels, once, pictured=pictured is not None),
        beliefs="" if row.state in FOLDED else dumbbell.beliefs(outcome),
        worst=worst_table(outcome, measured, once),
        nested=nested_tables(outcome, labels),
        pictured=pictured,
    )


def _says_it_all(outcome: Outcome) -> bool:
    """Whether a demand that holds reaches no one, or has the chances of a single attempt in its message already."""
    return outcome.status is Status.PASSED and (outcome.details.get("victims") == 0 or "success" in outcome.details)


def _strictness(outcome: Outcome, once: Say) -> str:
    """What is usual where a demand is laxer; of a second one with the same limit only that it is."""
    sentences = prose(strictness_sentences(outcome))
    return once(sentences) or ("Laxer than is usual, as said above." if sentences else "")


def _without_value(outcome: Outcome) -> int:
    """The records in groups in which no one has a value."""
    return int(outcome.details.get("records_without_value", 0))


def _message(outcome: Outcome, once: Say) -> str:
    """The message; a sentence on groups without a value that another finding has is its number of people only."""
    first, *others = SENTENCE_END.split(quoted(prose(outcome.message)))
    said = [one for one in others if once(one)]
    fails = failing(outcome)
    if outcome.status is Status.PASSED and fails is not None and fails[1] and is_share(outcome):
        said.append(say("{bound:text}.", bound=sentence_case(allowance(outcome))))
    without = _without_value(outcome)
    if len(said) < len(others) and without and outcome.records is not None and outcome.records.failing:
        said.append(
            say(
                "With the {n:{noun}} in groups without a value: {all}.",
                n=without,
                noun=record_noun(outcome),
                all=outcome.records.failing,
            )
        )
    elif len(said) < len(others):
        said = others
    return " ".join([first, *said, *_of_units(outcome)])


def _of_units(outcome: Outcome) -> Iterator[str]:
    """Sentences on the units whose rows a demand judges: how many fail, and what all of their rows show."""
    whom, gain = affected(outcome), outcome.details.get("largest_gain")
    if whom is not None and whom.of is not None and whom.records is not None and not outcome.details.get("victims"):
        yield say(
            "They are of {number/of:{noun}}[{table?} with rows in {table}].",
            number=whom.number,
            of=whom.of,
            noun=whom.noun,
            table=visible(whom.table),
        )
    if gain:
        yield say(
            "[{table?}Here a group is of {record:plural} that look alike, of {noun:plural} with the same whole "
            "history; one {noun} can be in several. ]All rows of a {noun} together can tell more: among the "
            "{noun:plural} of one history, a value of {column} is {points} percentage points more common than among "
            "all.",
            noun=unit_noun(outcome) if whom is None or whom.of is None else whom.noun,
            table="" if whom is None else whom.table,
            record=record_noun(outcome),
            column=visible(column_of(outcome)),
            points=figure(100 * float(gain)),
        )


def _pictures(outcome: Outcome, labels: Labels, once: Say, *, pictured: bool) -> list[Chart]:
    worst = None if pictured else dumbbell.chart(outcome, once)
    return [one for one in (worst, *pictures(outcome, labels)) if one is not None]


def attribute_of(outcome: Outcome, check: Check | None) -> str:
    """The attribute that was measured, or what was measured where there is none."""
    if outcome.attribute is not None:
        label = sentence_case(visible(outcome.naming.labels.get(outcome.attribute, "")))
        return say("{name}", name=label or visible(outcome.attribute))
    if check is None:
        return "–"
    if "attributes" in check.parameters.model_fields:  # it compares some of them
        return visible(", ".join(outcome.parameters.get("attributes", ()))) or "–"
    return "–" if check.on_attribute or not outcome.known else sentence_case(visible(say("{known}", outcome)))


def _measured(outcome: Outcome, check: Check | None) -> Measured | None:
    """The distribution over classes, where it is of the very figure that is compared."""
    distribution = distribution_of(outcome)
    if check is None or not check.judges_each_class or not distribution or outcome.comparison is None:
        return None
    label = check.label or "observed figure"
    others = sum(one.parameter in outcome.parameters for one in check.limits) > 1
    fails = failing(outcome)
    no_value = _without_value(outcome) > 0
    noun = record_noun(outcome)
    return Measured(distribution, outcome.threshold, outcome.comparison, fails, label, others, noun, no_value)


def _facts(outcome: Outcome, check: Check | None, labels: Labels) -> Pairs:
    """Classes, and every single figure that the check reports in addition to the observed one."""
    facts = []
    if outcome.classes is not None:
        facts.append(("groups", count(outcome.classes.total)))
    if outcome.cells is not None:
        facts += [("figures looked at", count(outcome.cells.total)), ("failing", _failing_cells(outcome))]
    fails = failing(outcome)
    if fails is not None and (fails[0] or outcome.blocks):
        facts.append(
            ("groups that fail" if outcome.status is Status.FAILED else "groups in which it succeeds", count(fails[0]))
        )
    limits = {} if check is None else {one.parameter: one for one in check.limits[1:]}
    said = {*IN_SENTENCES, *(name for name, usual in USUAL.items() if outcome.details.get(name) == usual)}
    counted = {"victims": outcome.records, "victim_classes": outcome.classes}
    said |= UNITS if outcome.details.keys() >= UNITS else set()
    said |= {"highest", "average"} if "success" in outcome.details else set()
    said |= {name for name, of in counted.items() if of is not None and outcome.details.get(name) == of.failing}
    for name, value in outcome.details.items():
        if name in said or (name == "first" and outcome.cells is not None):  # its sentence is in the message
            continue
        if isinstance(value, int | float | Fraction | str) or (name not in ELSEWHERE and _is_names(value)):
            fact, limit = _fact(outcome, labels, value), _limit(outcome, limits.get(name))
            facts.append((labels.of_key(name), f"{fact}{limit}" if limit else fact))
    return facts


def _is_names(value: object) -> TypeGuard[Sequence[str]]:
    return isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(one, str) for one in value)


def _fact(outcome: Outcome, labels: Labels, value: float | Fraction | str | Sequence[str]) -> str:
    if isinstance(value, int | float | Fraction):
        return cell_of(value)
    return ", ".join(labels.of_text(outcome, one) for one in ([value] if isinstance(value, str) else value))


def _limit(outcome: Outcome, limit: Limit | None) -> str:
    """The demand on a figure other than the headline one, in parameters such as `alpha`."""
    if limit is None or outcome.parameters.get(limit.parameter) is None:
        return ""
    value = Fraction(str(outcome.parameters[limit.parameter]))  # of a float the decimal that was typed
    return f", demanded {limit.comparison.sign} {decimal(value)}"


def html(audit: Audit) -> str:
    """An article for each of the policy's expectations."""
    shown, before, after = framed(audit, findings(audit))
    return fill_template(
        "findings.html.j2",
        findings=shown,
        before=before,
        after=after,
        briefly=_briefly(shown),
        has_records=audit.has_records,
        tabled=TABLED,
    )


def _briefly(shown: Sequence[Finding]) -> str:
    """The reason why most have no pictures, in a report of very many."""
    whole = sum(not one.is_brief for one in shown)
    if whole == len(shown):
        return ""
    shown_whole = f"Of {count(len(shown), 'result')} the {whole:,} that matter most have pictures and tables"
    return f"{shown_whole}; the machine-readable result in this file has all."


def blocks(audit: Audit) -> Iterator[Paragraph | Items | Group]:
    """A paragraph for each, with the cells of the worst groups; of many demands one for each group, and a fold."""
    pairs = [*zip(audit.expectations, findings(audit), strict=True)]
    for entry in gathered(audit, pairs):
        of_each = [block for one, finding in entry.members for block in _blocks_of(audit, one, finding)]
        yield from of_each if entry.group is None else (group_paragraph(entry.group), fold(entry.group, of_each))


def _blocks_of(audit: Audit, one: Outcome, finding: Finding) -> Iterator[Paragraph | Items | Group]:
    """A paragraph on a demand, with the cells of the worst groups where those were asked for; on pages its evidence."""
    attribute = attribute_of(one, audit.plugins.checks.get(one.check))
    title = one.title or one.check
    lead = say(
        "{title:text}[{column?}, {column:text}] ({state:text}).",
        title=visible(title),
        column="" if attribute == "–" else attribute,
        state=state_of(one),
    )
    reason = f"The policy’s reason: “{one_line(one.reason)}”" if one.reason else ""
    fails = state_of(one) in ("failed", "error", "warning")
    counted = "Failing figures" if fails else "Cells that it counts"
    cells = f"{counted}: {_named_cells(one)}." if one.failing_cells else ""
    strict = prose(strictness_sentences(one))
    said = (
        prose(one.message),
        *_of_units(one),
        cells,
        prose(one.individual_impact),
        dumbbell.beliefs(one),
        strict,
        reason,
    )
    yield Paragraph(" ".join(filter(None, said)), lead=lead, style=state_of(one))
    groups = [
        f"group {worst.ordinal:,}: " + "; ".join(f"{column}: {cell}" for column, cell in worst.cells.items())
        for worst in one.worst
        if worst.cells is not None
    ]
    if groups:
        yield Items(groups)
    if evidence := [*_evidence(finding)]:
        yield Group(evidence, page_only=True)


def _evidence(finding: Finding) -> Iterator[Definitions | Rows | Chart]:
    """The single figures, the picture, the worst groups and further tables and pictures of a finding."""
    if finding.facts:
        yield Definitions(finding.facts, style="facts")
    yield from (one for one in (finding.chart, finding.worst, *finding.nested, *finding.pictures) if one is not None)


def _named_cells(outcome: Outcome) -> str:
    """The first failing cells by name, and how many more there are."""
    names = [one.name for one in outcome.failing_cells[:CELLS]]
    more = (0 if outcome.cells is None else outcome.cells.failing or 0) - len(names)
    return "; ".join([*names, *([f"{more:,} more"] if more > 0 else [])])
