"""The columns that add most to the risk: of each intruder against whom a demand fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcdp_audit.plugin.report import Audit, ColumnRisk, Paragraph, Rows
from tcdp_audit.plugin.sentences import Status, count, say, sentence_case, visible
from tcdp_audit_reports.finding_tables import whole_percents
from tcdp_audit_reports.policy_text import first_names

EVEN = 0.02  # shares of the risk that differ by less say nothing
MOST = 5  # intruders in sentences
COARSER = "Wider bands, fewer categories or larger regions put more people into each group."
LEAD = "Coarsen the columns that add most to the risk."


@dataclass(frozen=True)
class IntrudersColumns:
    """What each column that an intruder knows adds to the risk, the most first.

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
    """The columns of each intruder against whom a demand fails, who exposes most first; else of who knows most."""
    failing = [one for one in audit.scenarios if one.column_risks]
    ranked = sorted(failing, key=lambda one: -(0 if one.exposed is None else one.exposed.people or 0))
    of_each = [
        IntrudersColumns(_intruder(one.name), one.column_risks, [*_failing_demands(audit, one.name)]) for one in ranked
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
    for one in of_each[:MOST]:
        first = one.first
        if first is not None:
            name = visible(first.label or first.column)
            yield say(
                "[{intruder?}Against {intruder:names}, {name}|{name}] adds most to the risk ({share})"
                "[{n>0?}: with it {n:{noun}} {n:is|are} unique, without it {without}].",
                intruder=one.intruders,
                name=name if one.intruder else sentence_case(name),
                share=one.shares[first.column],
                n=first.unique if len(of_each) == 1 else 0,
                noun=noun_of_record(audit),
                without=first.unique_without,
            )


def coarsening(audit: Audit) -> Iterator[Paragraph]:
    """The step that makes columns coarser: for each intruder against whom a demand fails."""
    of_each = measured_columns(audit)
    if not of_each or audit.verdict == "passed":
        return
    if not audit.scenarios:
        yield _for_all(audit, of_each[0])
        return
    sentences = [_against(audit, one) for one in of_each[:MOST]]
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


def noun_of_record(audit: Audit) -> str:
    """What a record is called: as the policy calls what it counts, unless that is another thing than a record."""
    document = audit.policy.document
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
    note = f"{alone_by_all} {NOTE}" if is_last else alone_by_all
    caption = say("Which column adds most risk[{intruder?}, against {intruder:names}]", intruder=measured.intruders)
    return Rows(head, rows, caption, note, numeric_from=1, style="risks")


NOTE = (
    "Share of the risk: a column’s part in the unique people, or in the pairs of people that differ where no one is "
    "unique, on average over all orders of learning the columns (Shapley values). Distinction: values per record. "
    "Separation: pairs that differ in this column (Motwani, Xu, 2007)."
)
