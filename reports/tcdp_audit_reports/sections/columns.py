"""The contents of the file: known and secret columns, and every column or table of figures with its role."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.aggregate import PublishedTable
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.report import Audit, AuditedColumn, Group, Paragraph, Rows
from tcdp_audit.plugin.sentences import Outcome, Status, count, say, sentence_case, visible
from tcdp_audit_reports.charts.pictures import tables_picture
from tcdp_audit_reports.finding_tables import shares_of_risk
from tcdp_audit_reports.first_screen import sizes_in_words
from tcdp_audit_reports.people_exposed import known_facts
from tcdp_audit_reports.policy_text import first_names, known, named, one_line, role_of, secret, unwanted
from tcdp_audit_reports.sections.grouped import by_ranges
from tcdp_audit_reports.sections.next_steps import EVEN, noun_of_record

LINKED = "linked_rows"  # the schema check on columns that join rows
MOST = 1000  # rows of the table of columns or of tables; the machine-readable result has all


def blocks(audit: Audit) -> Iterator[Block]:
    """The contents of the file: known and secret columns, and every column or table with its role."""
    if audit.linked_tables is not None:
        yield Group([tables_picture(audit.linked_tables), audit.linked_tables.rows], style="linked")
    yield Paragraph(" ".join(summary(audit)), style="meaning")
    for table, noun in ((columns_table(audit), "column"), (tables_of_figures(audit), "table")):
        if table.body:
            yield from by_ranges(table, noun, table.numeric_from)


def summary(audit: Audit) -> list[str]:
    """Assumptions on the columns and on the tables of figures, in sentences."""
    of_figures = [KNOWN_TABLES, *([] if has_microdata(audit) else [NO_RECORDS])] if audit.figures else []
    return [*of_figures, *(_of_columns(audit) if audit.has_records else [WRONG_TABLE])]


KNOWN_TABLES = (
    "A reader is taken to know every released table of figures, which figures add up to which, and what a text in the "
    "place of a figure means."
)
NO_RECORDS = "The records behind the figures were not examined."
WRONG_TABLE = "If the policy describes a table or a model wrongly, this verdict is wrong."


def has_microdata(audit: Audit) -> bool:
    """Whether the figures were compared with the records behind them."""
    return any(one.check == "cells_agree" and one.status is not Status.SKIPPED for one in audit.structure)


def _of_columns(audit: Audit) -> list[str]:
    """Assumptions on the columns of records, in sentences."""
    if not audit.columns:
        return ["The columns were not recorded with this result."]
    hidden, wrong = secret(audit), unwanted(audit)
    return [
        *_known(audit),
        say("Must stay secret: {names:names}.", names=first_names(hidden))
        if hidden
        else "No column is declared as one that must stay secret.",
        say("Should not be in a published file: {names:names}.", names=first_names(wrong))
        if wrong
        else "No column is there that should not be.",
        *_of_links(audit),
        *riskiest(audit),
        "If a column has the wrong role in the policy, this verdict is wrong.",
    ]


def _known(audit: Audit) -> Iterator[str]:
    """What intruders are taken to know, where the first screen does not say it."""
    taken = known(audit)
    if audit.scenarios:
        yield "What each intruder is taken to know is in the table of those who might attack."
    elif not taken:
        yield "No one is taken to know anything about a person: no column has that role."
    elif not known_facts(audit)[0]:
        yield say("A neighbour, an employer or a newspaper is taken to know {names:names}.", names=first_names(taken))


def _of_links(audit: Audit) -> Iterator[str]:
    """The sentence on the values of the columns that link tables: what they allow, and what is not known of them."""
    links = () if audit.linked_tables is None else audit.linked_tables.links
    linking = [one for one in audit.columns if one.name in links and one.is_present]
    if linking:
        explained = {one.name.rpartition(".")[2] for one in linking if one.reason or one.acknowledged}
        unexplained = [visible(one.name) for one in linking if one.name.rpartition(".")[2] not in explained]
        redrawn = audit.change_log is not None and bool(audit.change_log.redrawn)
        yield say(
            "Whoever knows the number of a {noun} in a column that links the tables finds all of the {noun}’s rows"
            "[{redrawn?}; these numbers were drawn anew|{unexplained?}: the policy does not say whether the numbers in "
            "{columns:names} were drawn for this release. tcdp-audit fix draws new ones"
            "|; the table has the policy’s reasons].",
            noun=visible(audit.linked_tables.noun) if audit.linked_tables is not None else "",
            redrawn=redrawn,
            unexplained=bool(unexplained),
            columns=first_names(unexplained),
        )


def riskiest(audit: Audit) -> Iterator[str]:
    """The column that adds most to the risk, with what the file would be without it; nothing where all add the same."""
    if len(audit.column_risks) > 1:
        first, *_, last = audit.column_risks
        if first.share - last.share >= EVEN:
            name = visible(first.label or first.column)
            yield say(
                "[{several?}For the intruder who knows most, {name}|{name}] adds most to the risk ({percent}%)"
                "[{n>0?}: with it {n:{noun}} {n:is|are} unique, without it {without}].",
                several=bool(audit.scenarios),
                name=name if audit.scenarios else sentence_case(name),
                percent=round(100 * first.share),
                n=first.unique,
                noun=noun_of_record(audit),
                without=first.unique_without,
            )


def tables_of_figures(audit: Audit) -> Rows:
    """Every table of figures: its dimensions, measures and cells, and the policy's declarations on it."""
    rows = [
        [
            visible(name),
            named([visible(one.name) for one in table.dimensions]),
            named([visible(measure) for measure in table.figures]),
            "\n".join(sizes_in_words(audit.sizes_of_figures[name])),
            _declared(table),
        ]
        for name, table in [*audit.figures.items()][:MOST]
    ]
    rest = len(audit.figures) - MOST
    note = say("{n} more {n:table is|tables are} in the machine-readable result.", n=rest) if rest > 0 else ""
    return Rows(("table", "dimensions", "measures", "cells", "declared"), rows, "Every table of figures", note)


def _declared(table: PublishedTable) -> str:
    """The policy's declarations on a table: its totals, absent cells, texts, rounding and noise."""
    own = table.declaration
    texts = [visible(text) for text in own.suppressed]
    rounded = own.rounding is not None or any(one.measure.rounding is not None for one in table.figures.values())
    noisy = own.noise is not None or any(one.measure.noise is not None for one in table.figures.values())
    return "\n".join(
        [
            *([f"about {visible(own.people)}"] if own.people else []),
            "totals of all figures" if own.totals == "all" else "totals of what is shown",
            f"an absent cell is {ABSENT[own.absent]}",
            *([f"hidden by {named(texts)}"] if texts else []),
            *(["rounded"] if rounded else []),
            *(["with noise"] if noisy else []),
        ]
    )


ABSENT = {"zero": "0", "unknown": "hidden", "structural": "impossible"}


def columns_table(audit: Audit) -> Rows:
    """Every column: name, meaning, role, number of values; its reason and its share of the risk where known."""
    shares = shares_of_risk(audit)
    links = () if audit.linked_tables is None else audit.linked_tables.links
    has_reasons = any(one.reason or one.acknowledged for one in audit.columns)
    joining = {*joining_columns(audit)}
    rows = [
        [
            visible(one.name),
            visible(one.label) or "–",
            _role(one, links, joins=one.name in joining, is_household=one.name == audit.policy.document.household),
            *([_reason(one)] if has_reasons else []),
            "–" if one.values is None else count(one.values),
            *([shares.get(one.name, "–")] if shares else []),
        ]
        for one in audit.columns[:MOST]
    ]
    rest = len(audit.columns) - MOST
    note = say("{n} more {n:column is|columns are} in the machine-readable result.", n=rest) if rest > 0 else ""
    reason, share = ["the policy’s reason"] * has_reasons, ["share of the risk"] * bool(shares)
    head = ("column", "meaning", "role", *reason, "values", *share)
    how = HOW_IN_MEMORY if audit.release.in_memory else HOW
    note = " ".join(filter(None, (note, RISK if shares else f"{NO_RISK} {how}")))
    caption = "Every column of the tables" if links else "Every column of the file and of the policy"
    return Rows(head, rows, caption, note, numeric_from=3 + has_reasons)


def joining_columns(audit: Audit) -> list[str]:
    """The columns that join the rows of a person or a household, where no demand judges such rows together."""
    return [str(name) for one in audit.structure if one.is_warning and one.check == LINKED for name in _columns(one)]


def _columns(outcome: Outcome) -> Sequence[object]:
    columns = outcome.details.get("columns", ())
    return columns if isinstance(columns, list | tuple) else ()


def _role(column: AuditedColumn, links: Collection[str], *, joins: bool, is_household: bool) -> str:
    """The role in everyday words, and that a column taken to be harmless joins rows."""
    if is_household and column.is_present:
        return say("shows who is of one household[{joins?}: see what to do next]", joins=joins)
    role = role_of(column, links)
    harmless = joins and column.role is Role.INSENSITIVE
    return say("{role:text}, but joins rows: see what to do next", role=role) if harmless else role


def _reason(column: AuditedColumn) -> str:
    """The policy's reason for a declaration, and why the column is no identifier though it may look like one."""
    why = one_line(column.acknowledged)
    acknowledged = say("No identifier, says the policy: {why:text}", why=why) if why else ""
    return "\n".join(filter(None, (one_line(column.reason), acknowledged))) or "–"


RISK = "Share of the risk: the part that a column has in telling people apart. Annex D says how it is computed."
NO_RISK = "How much each column adds to the risk was not measured."
HOW = "An audit with --report REPORT.html measures it, unless there are very many columns."
HOW_IN_MEMORY = "An audit that is asked for column risks measures it, unless there are very many columns."
