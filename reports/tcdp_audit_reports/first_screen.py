"""The first screen: the verdict in sentences, the tally, the findings that matter most, and what was audited."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from tcdp_audit.plugin._internal import bound, failing, observed, state_of
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.report import Audit, Table, tool
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    agree,
    allowance,
    column_of,
    count,
    part_of,
    percent,
    plural,
    prose,
    record_noun,
    sentence_case,
    visible,
)
from tcdp_audit_reports.charts.margin import doublings, is_share, margin_words
from tcdp_audit_reports.guide_text import quoted

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def particulars(audit: Audit) -> list[tuple[str, list[str]]]:
    """Names with their lines."""
    policy, log = audit.policy, audit.change_log
    repaired = [] if log is None or not log.steps else [("Repaired from", described(log.input))]
    compared = [(f"Compared with {name}", described(table)) for name, table in audit.companions.items()]
    return [
        ("Release", described(audit.release)),
        *repaired,
        *compared,
        ("Policy", [visible(policy.name), _short(policy.sha256)]),
        ("Audited", [audited_at(audit), by_tool(), plugins(audit)]),
    ]


def described(table: Table) -> list[str]:
    """A table's name, size and digest."""
    if table.tables:
        return _described_tables(table)
    return [
        visible(table.name),
        table.size,
        *(["a table in memory"] if table.in_memory else []),
        *([_short(table.sha256)] if table.sha256 else []),
        *([table.comparison] if table.comparison else []),
    ]


def _described_tables(table: Table) -> list[str]:
    """The number of tables, the size of each, of many of the first, and the digest of all."""
    sizes = [f"{visible(one.name)}: {count(one.records, 'record')}" for one in table.tables.values()]
    more = len(sizes) - MOST_TABLES
    return [
        count(len(sizes), "table"),
        *sizes[:MOST_TABLES],
        *([f"{more:,} more"] if more > 0 else []),
        *(["tables in memory"] if table.in_memory else []),
        *([_short(table.sha256)] if table.sha256 else []),
    ]


def written_date(moment: datetime) -> str:
    """A date with its month in words."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def audited_at(audit: Audit) -> str:
    """The time of the audit."""
    return f"{written_date(audit.audited_at)}, {audit.audited_at:%H:%M} UTC"


def by_tool() -> str:
    """The auditor and its version."""
    about = tool()
    return f"{about['name']} {about['version']}"


def plugins(audit: Audit) -> str:
    """Whether code of others took part."""
    external = [info for info in audit.plugins.infos if info.is_external]
    return count(len(external), "external plugin") if external else "built-in plugins only"


def _short(digest: str) -> str:
    return f"SHA-256 {digest[:12]}…"


REASONS = 4
MOST_TABLES = 8  # named on the first screen
DEGREES = (DisclosureType.IDENTITY_DEGREE, DisclosureType.ATTRIBUTE_DEGREE)  # whose shares are of people
LONGEST = 280  # letters of a reason; the section that it links to has the rest


@dataclass(frozen=True)
class Reason:
    """A finding that matters: a head with its number, a text, and where to read on."""

    head: str
    text: str
    target: str
    link: str
    state: str


def tally(audit: Audit) -> list[tuple[str, int, str]]:
    """State, number and words for each state that occurs among the demands, then among the schema checks."""
    demands, columns = audit.tally.demands, audit.tally.columns
    rows = [
        ("failed", demands.failed, f"of {count(demands.total, 'demand')} {agree(demands.failed, 'fails', 'fail')}"),
        ("warning", demands.warned, agree(demands.warned, "warns", "warn")),
        ("error", demands.unchecked, "could not be checked"),
        ("passed", demands.met, agree(demands.met, "is met", "are met")),
        ("measured", demands.measured, "measured, without a demand"),
        ("skipped", demands.skipped, f"{agree(demands.skipped, 'question waits', 'questions wait')} for an answer"),
        ("failed", columns.failed, _of_columns(columns.total, agree(columns.failed, "fails", "fail"))),
        ("warning", columns.warned, _of_columns(columns.total, agree(columns.warned, "warns", "warn"))),
        ("error", columns.unchecked, _of_columns(columns.total, "could not be made")),
    ]
    return [row for row in rows if row[1]]


def _of_columns(total: int, verb: str) -> str:
    return f"of {count(total, 'schema check')} {verb}"


def reasons(audit: Audit) -> list[Reason]:
    """Up to four findings: what the columns lack, what fails most, what could not be checked, what is closest."""
    numbered = [*enumerate(audit.expectations, 1)]
    targets = [(one, f"s{number}") for number, one in enumerate(audit.structure, 1) if one.status is not Status.PASSED]
    targets += [(one, f"e{number}") for number, one in numbered]
    ranked = sorted(targets, key=lambda target: _rank(target[0]))
    disclosure_types = {name: check.disclosure_type for name, check in audit.plugins.announced_checks.items()}
    return [_reason(one, target, disclosure_types.get(one.check)) for one, target in ranked[:REASONS]]


def _rank(outcome: Outcome) -> tuple[int, float]:
    """Columns first, then failures by the records they hit, errors, and then what is closest."""
    fails, margin = failing(outcome), doublings(outcome)
    if outcome.is_structural and not outcome.is_warning:
        return 0, 0.0
    order = {"failed": 1, "error": 2, "warning": 3, "passed": 4, "measured": 5, "skipped": 6}[state_of(outcome)]
    if outcome.status is Status.FAILED:
        return order, float(-fails[1]) if fails else 0.0
    return order, margin if outcome.status is Status.PASSED and margin is not None else 0.0


def _reason(outcome: Outcome, target: str, disclosure_type: DisclosureType | None) -> Reason:
    title = outcome.title or outcome.check
    link = title if outcome.attribute is None else f"{title} of {visible(column_of(outcome))}"
    text = quoted(prose(outcome.individual_impact or outcome.message))
    return Reason(
        _head(outcome, disclosure_type),
        text if len(text) <= LONGEST else text[: LONGEST - 1] + "…",
        target,
        link,
        state_of(outcome),
    )


def _head(outcome: Outcome, disclosure_type: DisclosureType | None) -> str:
    """The finding in a few words about people, with its number."""
    fails = failing(outcome)
    if outcome.is_structural:
        return _columns_at_fault(outcome)
    if outcome.is_question:
        answer = outcome.details.get("answer")
        return f"A person answered {answer}" if answer else "A person must answer"
    if outcome.status is Status.ERROR:
        return "Could not be decided" if outcome.is_estimated else "Could not be checked"
    if outcome.status is Status.SKIPPED:
        return "A person must answer"
    if outcome.status is Status.FAILED and fails is not None and fails[1]:
        return _people_at_risk(outcome, fails[1], disclosure_type)
    if outcome.is_judged and is_share(outcome):
        return f"{_share_of_people(outcome, disclosure_type)}, where {allowance(outcome)}"
    if outcome.is_judged and outcome.threshold is not None:
        return f"{observed(outcome)}, where {bound(outcome)}"
    if outcome.status is Status.FAILED:
        return sentence_case(margin_words(outcome))
    return f"Measured: {observed(outcome)}"


def _share_of_people(outcome: Outcome, disclosure_type: DisclosureType | None) -> str:
    """`An intruder can identify 255 of 1,080 people`: a share as people, where it is one of records."""
    share = percent(outcome.observed, outcome.threshold)
    if outcome.records is None or outcome.observed is None or disclosure_type not in DEGREES:
        return share
    number, noun = round(outcome.observed * outcome.records.total), record_noun(outcome)
    is_none = not number and outcome.observed > 0
    people = f"{share} of all {plural(noun)}" if is_none else part_of(number, outcome.records.total, noun)
    if disclosure_type is DisclosureType.IDENTITY_DEGREE:
        return f"An intruder can identify {people}"
    secret = "a sensitive value" if outcome.attribute is None else f"the {visible(column_of(outcome))}"
    return f"An intruder can guess {secret} of {people}"


def _people_at_risk(outcome: Outcome, number: int, disclosure_type: DisclosureType | None) -> str:
    """The kind of risk, and in everyday words how many people run it."""
    people = count(number, record_noun(outcome)) if number == 1 else f"{number:,} {plural(record_noun(outcome))}"
    if outcome.attribute is not None:
        column = visible(column_of(outcome))
        return f"Attribute disclosure risk: an intruder can learn too much about the {column} of {people}"
    is_identity = disclosure_type in (DisclosureType.IDENTITY_MODEL, DisclosureType.IDENTITY_DEGREE)
    if is_identity:
        return f"Re-identification risk: {people} can be identified too easily"
    return f"{people} {agree(number, 'is', 'are')} at risk"


def _columns_at_fault(outcome: Outcome) -> str:
    columns = outcome.details.get("columns")
    if isinstance(columns, list | tuple) and columns:
        return (
            f"Column {visible(column_of(outcome, str(columns[0])))}" if len(columns) == 1 else f"{len(columns)} columns"
        )
    return outcome.title or "Columns"  # the order of the records is in no column
