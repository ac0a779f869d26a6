"""The contents of the file: known and secret columns, and every column or table of figures with its role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.aggregate import AggregateDeclaration, PublishedTable
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.report import Audit, AuditedColumn, ColumnRisk, Group, Paragraph, Rows
from tcdp_audit.plugin.sentences import Outcome, Status, count, say, visible
from tcdp_audit_reports.charts.pictures import tables_picture
from tcdp_audit_reports.finding_tables import whole_percents
from tcdp_audit_reports.first_screen import sizes_in_words
from tcdp_audit_reports.people_exposed import known_facts, of_weights
from tcdp_audit_reports.policy_text import first_names, known, named, one_line, role_of, secret, unwanted
from tcdp_audit_reports.sections.grouped import by_ranges

EVEN = 0.02  # shares of the risk that differ by less say nothing
NAMED = 5  # intruders in sentences
COARSER = "Wider bands, fewer categories or larger regions put more people into each group."
LEAD = "Coarsen the columns that add most to the risk."
LINKED = "linked_rows"  # the schema check on columns that join rows
FEW = 3  # intruders in the policy's order
INTRUDERS = 3  # whose shares of the risk stand beside a column; the annex has all
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
    return [*(_of_figures(audit) if audit.figures else ()), *(_of_columns(audit) if audit.has_records else ())]


def _of_figures(audit: Audit) -> Iterator[str]:
    """The secrets of tables of figures; without records also where cells fail, and what cannot be asked of figures."""
    hidden = sum(one["hidden"] for one in audit.sizes_of_figures.values())
    checks = audit.plugins.checks
    least = [
        int(one.parameters["k"])
        for one in audit.expectations
        if one.check in checks and checks[one.check].disclosure_type is DisclosureType.IDENTITY_MODEL
        if one.cells is not None and one.parameters.get("k")
    ]
    yield say(
        "[{k>0?}Must stay secret: every count of fewer than {k:{noun}}, published or computed; {n} {n:is|are} hidden"
        "[{texts?} ({texts:text})]|{n>0?}Must stay secret: {n:hidden figure}[{texts?} ({texts:text})]|No figure is "
        "hidden].",
        k=max(least, default=0),
        noun=audit.policy.document.unit_name or "person",
        n=hidden,
        texts="; ".join(first_names(_texts(audit))),
    )
    if audit.has_records:
        return
    yield "No records are released: there is no column of secrets, and no record to find."
    failing, categories = _where_cells_fail(audit)
    yield say(
        "No column is the riskiest, as that is asked of records"
        "[{where?}. The riskiest category is {where:names}, in which [{all?}all|most] failing figures are].",
        where=first_names(categories),
        all=failing,
    )
    yield "No table or column is there that the policy does not declare."


def _where_cells_fail(audit: Audit) -> tuple[bool, list[str]]:
    """The categories, totals apart, that most failing cells are in, and whether all are; nothing where none fails."""
    totals = {
        (name, nodes.name, nodes.labels[nodes.total])
        for name, table in audit.figures.items()
        for nodes in table.dimensions
        if nodes.total is not None
    }
    cells = {(cell.table, cell.name): cell for one in audit.outcomes if one.blocks for cell in one.failing_cells}
    numbers = Counter(
        visible(label if label.casefold().startswith(dimension.casefold()) else f"{dimension} {label}")
        for cell in cells.values()
        for dimension, label in cell.labels.items()
        if (cell.table, dimension, label) not in totals
    )
    most = max(numbers.values(), default=0)
    return most == len(cells), [name for name, number in numbers.items() if number == most]


def taken_of_figures(audit: Audit) -> list[str]:
    """What is assumed of tables of figures, as the policy declares it, in sentences."""
    if not audit.figures:
        return []
    tables = [table.declaration for table in audit.figures.values()]
    absent = {one.absent for one in tables}
    return [
        KNOWN_TABLES,
        *([TOTALS_OF_ALL] if any(one.totals == "all" for one in tables) else []),
        *(text for name, text in OF_ABSENT.items() if name in absent),
        *(say("A reader knows that {text:text}.", text=one) for one in _texts(audit)),
        WRONG_MODEL if audit.models else WRONG_TABLE,
    ]


def _texts(audit: Audit) -> list[str]:
    """The texts in the place of figures, each once, with what they say of the figure."""
    declared = [pair for table in audit.figures.values() for pair in table.declaration.suppressed.items()]
    return list(dict.fromkeys(_meaning(text, meaning) for text, meaning in declared))


def _meaning(text: str, meaning: object) -> str:
    """A text with what it says of the figure that it hides: the ends of an interval, or nothing."""
    ends = getattr(meaning, "primary", None) or getattr(meaning, "secondary", None) or meaning
    low, high = ends if isinstance(ends, list | tuple) else ("", "")
    return say(
        "{text} means [{known?}{low} to {high}|any figure]",
        text=visible(text),
        low=str(low),
        high=str(high),
        known=low != "",
    )


KNOWN_TABLES = (
    "A reader is taken to know every released table of figures, which figures add up to which, and what a text in the "
    "place of a figure means."
)
TOTALS_OF_ALL = "A total is taken to count hidden figures, too."
OF_ABSENT = {
    "zero": "A cell that a file does not have is taken to be of no one.",
    "unknown": "A cell that a file does not have is taken to be hidden.",
    "structural": "A cell that a file does not have is taken to be impossible.",
}
WRONG_TABLE = "If the policy describes a table wrongly, this verdict may be wrong."
WRONG_MODEL = "If the policy describes a table or a model wrongly, this verdict may be wrong."


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
        "If a column has the wrong role in the policy, this verdict may be wrong.",
    ]


def _known(audit: Audit) -> Iterator[str]:
    """What intruders are taken to know, where the first screen does not say it."""
    taken = known(audit)
    if audit.scenarios:
        yield "The table of those who might attack says who knows what."
    elif not taken:
        yield "No one is taken to know anything about a person: no column has that role."
    elif not known_facts(audit)[0]:
        yield say("An intruder is taken to know {names:names}.", names=first_names(taken))


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
            *([_people(own)] if own.about else []),
            *(["totals of what is shown"] if own.totals != "all" else []),
            *([f"hidden by {named(texts)}"] if texts else []),
            *(["rounded"] if rounded else []),
            *(["with noise"] if noisy else []),
        ]
    )


def _people(declaration: AggregateDeclaration) -> str:
    """The people that a table is about, and the categories that all of them have."""
    subgroup = [
        f"{visible(name)}: {visible(one)}"
        if isinstance(one, str)
        else say("{name}: all but {category}", name=visible(name), category=visible(one.not_))
        for name, one in declaration.subgroup.items()
    ]
    return say("about {people:names}", people=[*filter(None, [visible(declaration.people)]), *subgroup])


def columns_table(audit: Audit) -> Rows:
    """Every column: name, meaning, role, number of values; its reason and its share of the risk where known."""
    measured = measured_columns(audit)[:INTRUDERS]
    links = () if audit.linked_tables is None else audit.linked_tables.links
    has_reasons = any(one.reason or one.acknowledged for one in audit.columns)
    joining, weighing = {*joining_columns(audit)}, of_weights(audit)
    named = {one.name.rpartition(".")[2]: one for one in audit.columns if one.name in links and one.reason}
    rows = [
        [
            visible(one.name),
            visible(one.label) or "–",
            _role(
                one,
                links,
                joins=one.name in joining,
                is_household=one.name == audit.policy.document.household,
                weighing=weighing if one.name == audit.policy.document.weight else (),
            ),
            *([_reason(one, named)] if has_reasons else []),
            "–" if one.values is None else count(one.values),
            *(each.shares.get(one.name, "–") for each in measured),
        ]
        for one in _by_tables(audit)[:MOST]
    ]
    rest = len(audit.columns) - MOST
    note = say("{n} more {n:column is|columns are} in the machine-readable result.", n=rest) if rest > 0 else ""
    reason = ["the policy’s reason"] * has_reasons
    several = len(measured) > 1
    share = [
        say("share of the risk[{several?}, {intruder:names}]", several=several, intruder=one.intruders)
        for one in measured
    ]
    head = ("column", "meaning", "role", *reason, "values", *share)
    how = HOW_IN_MEMORY if audit.release.in_memory else HOW
    note = " ".join(filter(None, (note, RISK if measured else f"{NO_RISK} {how}")))
    caption = "Every column of the tables" if links else "Every column of the file and of the policy"
    return Rows(head, rows, caption, note, numeric_from=3 + has_reasons)


def _by_tables(audit: Audit) -> list[AuditedColumn]:
    """The columns in the policy's order, those of several tables by their tables."""
    places = {name: place for place, name in enumerate(audit.policy.document.tables or {})}
    return (
        sorted(audit.columns, key=lambda one: places.get(one.name.rpartition(".")[0], 0))
        if places
        else [*audit.columns]
    )


def joining_columns(audit: Audit) -> list[str]:
    """The columns that join the rows of a person or a household, where no demand judges such rows together."""
    return [str(name) for one in audit.structure if one.is_warning and one.check == LINKED for name in joined_by(one)]


def joined_by(outcome: Outcome) -> Sequence[object]:
    """The columns by which the schema check on columns that join rows says that rows are joined."""
    columns = outcome.details.get("columns", ())
    return columns if isinstance(columns, list | tuple) else ()


def _role(
    column: AuditedColumn, links: Collection[str], *, joins: bool, is_household: bool, weighing: Sequence[str]
) -> str:
    """The role in everyday words, and that a column taken to be harmless joins rows, or which demands weigh by it."""
    if is_household and column.is_present:
        return say("shows who is of one household[{joins?}: see what to do next]", joins=joins)
    role = role_of(column, links)
    if weighing:
        return say(
            "{role:text}; [{several?}demands|demand] {weighing:names} [{several?}count|counts] with it",
            role=role,
            weighing=[*weighing],
            several=len(weighing) > 1,
        )
    harmless = joins and column.role is Role.INSENSITIVE
    return say("{role:text}, but joins rows: see what to do next", role=role) if harmless else role


def _reason(column: AuditedColumn, named: Mapping[str, AuditedColumn]) -> str:
    """The policy's reason for a declaration, and why the column is no identifier though it may look like one.

    A column that links tables has that of the column of the same name in the table above, which is in `named`.
    """
    above = named.get(column.name.rpartition(".")[2])
    if above is not None and above is not column and not column.reason and not column.acknowledged:
        return say("as for {name}", name=visible(above.name))
    why = one_line(column.acknowledged)
    acknowledged = say("No identifier, says the policy: {why:text}", why=why) if why else ""
    return "\n".join(filter(None, (one_line(column.reason), acknowledged))) or "–"


RISK = "Share of the risk: the part that a column has in telling people apart. Annex D says how it is computed."
NO_RISK = "How much each column adds to the risk was not measured."
HOW = "An audit with --report REPORT.html measures it, unless there are very many columns."
HOW_IN_MEMORY = "An audit that is asked for column risks measures it, unless there are very many columns."


@dataclass(frozen=True)
class IntrudersColumns:
    """The columns that an intruder knows by what each adds to the risk, the most first.

    Args:
        intruder: who it is, to follow `against`; empty where the policy has no intruders of its own.
        columns: the columns.
        demands: the numbers of the demands that fail against this intruder.
    """

    intruder: str
    columns: Sequence[ColumnRisk]
    demands: Sequence[str] = ()

    @property
    def intruders(self) -> list[str]:
        """The intruder as a list of names for a sentence; empty where the policy has no intruders of its own."""
        return [self.intruder] if self.intruder else []

    @property
    def shares(self) -> dict[str, str]:
        """The share of each column by its name, in whole percents that add up to 100."""
        percents = whole_percents([one.share for one in self.columns])
        return dict(zip((one.column for one in self.columns), percents, strict=True))

    @property
    def first(self) -> ColumnRisk | None:
        """The column that adds most; None where all add about the same."""
        first, last = self.columns[0], self.columns[-1]
        return first if first.share - last.share >= EVEN else None


def measured_columns(audit: Audit) -> list[IntrudersColumns]:
    """The columns of each intruder against whom a demand fails, in their order; else of who knows most.

    Of many intruders the one who exposes most comes first.
    """
    failing = [one for one in audit.scenarios if one.column_risks]
    if len(failing) > FEW:  # more than sentences name
        failing.sort(key=lambda one: -(0 if one.exposed is None else one.exposed.people or 0))
    of_each = [
        IntrudersColumns(_intruder(one.name), one.column_risks, [*_failing_demands(audit, one.name)]) for one in failing
    ]
    if of_each or not audit.column_risks:
        return of_each
    return [IntrudersColumns(say("the intruder who knows most") if audit.scenarios else "", audit.column_risks)]


def _intruder(scenario: str) -> str:
    """A scenario by its name; one that is only a set of columns has a clause for a name."""
    return say("an intruder who {name}", name=visible(scenario)) if " " in scenario else visible(scenario)


def _failing_demands(audit: Audit, scenario: str) -> Iterator[str]:
    for number, one in enumerate(audit.expectations, 1):
        if one.scenario == scenario and one.status is Status.FAILED and not one.is_warning:
            yield str(number)


def riskiest(audit: Audit) -> Iterator[str]:
    """For each intruder the column that adds most to the risk; of a single one with what the file is without it."""
    of_each = measured_columns(audit)
    for one in of_each[:NAMED]:
        first = one.first
        if first is not None:
            share = one.shares[first.column]
            most = [visible(each.label or each.column) for each in one.columns if one.shares[each.column] == share]
            yield say(
                "[{intruder?}Against {intruder:names}|Among the known facts], {most:names} {many:adds|add} "
                "most to the risk ({share}[{many>1?} each])"
                "[{n>0?}: with it {n:{noun}} {n:is|are} unique, without it {without}].",
                intruder=one.intruders,
                most=most,
                many=len(most),
                share=share,
                n=first.unique if len(of_each) == 1 and len(most) == 1 else 0,
                noun=noun_of_record(audit),
                without=first.unique_without,
            )
    yield from _riskiest_of_all(audit, of_each)
    unharmed = [visible(one.name) for one in audit.scenarios if " " not in one.name and _holds(audit, one.name)]
    if unharmed and of_each:
        yield say("Nothing fails against {names:names}.", names=unharmed)


def _riskiest_of_all(audit: Audit, of_each: Sequence[IntrudersColumns]) -> Iterator[str]:
    """The riskiest column where several intruders have one: that of the intruder to whom most people are exposed."""
    people = {_intruder(one.name): one.exposed.people or 0 for one in audit.scenarios if one.exposed is not None}
    worst = max(of_each, key=lambda one: people.get(one.intruder, 0), default=None)
    if worst is not None and worst.first is not None and len(of_each) > 1 and people.get(worst.intruder):
        yield say(
            "The riskiest column is {column}, as {intruder:names} exposes most people; shares against different "
            "intruders cannot be compared.",
            column=_name(worst.first),
            intruder=worst.intruders,
        )


def _holds(audit: Audit, scenario: str) -> bool:
    """Whether something is demanded against an intruder, and every demand holds."""
    judged = [one for one in audit.expectations if one.scenario == scenario and one.threshold is not None]
    return bool(judged) and all(one.status is Status.PASSED for one in judged)


def coarsening(audit: Audit) -> Iterator[Paragraph]:
    """The step that makes columns coarser: for each intruder against whom a demand fails."""
    of_each = measured_columns(audit)
    if audit.verdict == "passed":
        return
    if not of_each:
        yield from _coarsening_a_table(audit)
        return
    if not audit.scenarios:
        yield _for_all(audit, of_each[0])
        return
    sentences = [_against(audit, one) for one in of_each[:NAMED]]
    yield Paragraph(" ".join([*sentences, COARSER]), lead=LEAD)


def _against(audit: Audit, one: IntrudersColumns) -> str:
    """The columns to make coarser against one intruder, with what the file is without the first."""
    first, others = one.columns[0], [_name(each) for each in one.columns[1:]]
    return say(
        "Against {intruder:names}[{demands?} ([{several?}demands|demand] {demands:names})][{even?}, all about alike: "
        "{every:names}|: {name}[{n>0?}, with which {n:{noun}} {n:is|are} unique, without it {without}]"
        "[{others?}; then {others:names}]].",
        intruder=one.intruders,
        demands=one.demands,
        several=len(one.demands) > 1,
        even=one.first is None and bool(others),
        every=first_names([_name(each) for each in one.columns], 6),
        name=_name(first),
        n=first.unique,
        noun=noun_of_record(audit),
        without=first.unique_without,
        others=first_names(others, 4) if others else others,
    )


def _name(risk: ColumnRisk) -> str:
    return visible(risk.label or risk.column)


def _for_all(audit: Audit, measured: IntrudersColumns) -> Paragraph:
    """The column to make coarser first, where the policy has no intruders of its own."""
    (first, *others), noun = measured.columns, noun_of_record(audit)
    if others and measured.first is None:
        every = first_names([_name(one) for one in measured.columns], 6)
        return Paragraph(
            say("They add about the same to the risk: {names:names}.", names=every),
            lead="Coarsen any column that a neighbour may know.",
        )
    after = first_names([_name(one) for one in others], 4)
    sentences = [
        say("It adds most to the risk ({share}).", share=measured.shares[first.column]),
        _alone(first, noun),
        say("After it: {names:names}.", names=after) if others else "",
        COARSER,
    ]
    return Paragraph(" ".join(filter(None, sentences)), lead=say("Coarsen {column} first.", column=_name(first)))


def _coarsening_a_table(audit: Audit) -> Iterator[Paragraph]:
    """The table with which most become alone, where what its columns add was not measured."""
    tables = audit.linked_tables
    if tables is None or not tables.alone or not tables.alone[-1]:
        return
    added = [now - before for before, now in pairwise((0, *tables.alone))]
    depth = max(range(len(added)), key=lambda one: (added[one], one))
    names = [visible(one.name) for one in tables.added_at(depth)]
    yield Paragraph(
        say(
            "[{before?}Without {n:it|them} {without:{noun}} {without:is|are} alone, with {n:it|them} {now}"
            "|By {n:it|them} {now:{noun}} {now:is|are} alone]. Wider bands, fewer categories or longer periods put "
            "more {noun:plural} into each group; so does leaving rows out.",
            n=len(names),
            before=depth > 0,
            without=tables.alone[depth - 1] if depth else 0,
            now=tables.alone[depth],
            noun=visible(tables.noun),
        ),
        lead=say("Coarsen the known columns of {names:names} first.", names=first_names(names)),
    )


def noun_of_record(audit: Audit) -> str:
    """The noun for a record: what column risks count, or what the policy counts; else `record`."""
    document, risks = audit.policy.document, audit.column_risks
    if risks and risks[0].noun:
        return visible(risks[0].noun)
    return (document.unit_name if document.unit is None else None) or "record"


def _alone(risk: ColumnRisk, noun: str) -> str:
    if not risk.unique:
        return say(
            "No {noun} is unique, and this column by itself distinguishes {percent}% of all pairs.",
            noun=noun,
            percent=round(100 * risk.separation),
        )
    return say(
        "With it {n:{noun}} {n:is|are} unique, without it {without}.",
        n=risk.unique,
        noun=noun,
        without=risk.unique_without,
    )


def risk_tables(audit: Audit) -> Iterator[Rows]:
    """The columns that each intruder may know by what they add to the risk; nothing where it was not measured."""
    of_each, shown = measured_columns(audit), set[str]()
    for place, one in enumerate(of_each, 1):
        columns = {each.column for each in one.columns}
        yield _risk_table(audit, one, is_last=place == len(of_each), by_itself=not columns <= shown)
        shown |= columns


def _risk_table(audit: Audit, measured: IntrudersColumns, *, is_last: bool, by_itself: bool) -> Rows:
    """The table of one intruder; `by_itself` with what each column is by itself, which no intruder changes."""
    unique, noun = measured.columns[0].unique, noun_of_record(audit)
    rows = [
        [
            _name(one),
            measured.shares[one.column],
            *([count(one.unique_without)] if unique else []),
            *([f"{100 * one.distinction:.2f}%", f"{100 * one.separation:.1f}%"] if by_itself else []),
        ]
        for one in measured.columns
    ]
    alone = ["unique without it"] if unique else []
    head = ("column", "share of the risk", *alone, *(["distinction", "separation"] if by_itself else []))
    alone_by_all = say("[{n>0?}{n:{noun}} {n:is|are}|No {noun} is] unique with all of them.", n=unique, noun=noun)
    meaning = NOTE_OF_HISTORIES if measured.columns[0].noun else _note(unique)
    note = f"{alone_by_all} {meaning}" if is_last else alone_by_all
    caption = say("Which column adds most risk[{intruder?}, against {intruder:names}]", intruder=measured.intruders)
    return Rows(head, rows, caption, note, numeric_from=1, style="risks")


NOTE_OF_HISTORIES = (
    "Share of the risk: what a column adds to those who are unique, or to the pairs that differ where no one is, on "
    "average over all orders in which the columns may become known (Shapley values). Whole histories are compared, and "
    "the number of rows is always known. By this column and that number – distinction: different histories for each of "
    "them; separation: pairs that differ."
)


def _note(unique: int) -> str:
    """What the figures of a column mean, where rows are compared: the share depends on whether anyone is unique."""
    return say(
        "Share of the risk: a column’s part in the [{unique>0?}unique people|pairs of people that differ], on average "
        "over all orders of learning the columns (Shapley values). Distinction: values per record. Separation: pairs "
        "that differ in this column (Motwani, Xu, 2007).",
        unique=unique,
    )
