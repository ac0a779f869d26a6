"""Outcomes on units that join rows. Whole histories are always measured, also where no demand judges them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.auditor.views import (
    ROWS,
    UNITS,
    View,
    Views,
    has_tables,
    noun_of_root,
    targets_of,
)
from tcdp_audit.core.base.outcome import (
    ALONE_WITH,
    DROPPED,
    EXPOSED_WITH_ROWS,
    KNOWN_ROWS,
    LINK_DEMANDS,
    ORPHAN_ROWS,
    REPEATED_UNIT,
    STRUCTURE,
    UNFAILABLE,
    UNITS_WITH_ROWS,
    Outcome,
    Severity,
    Status,
)
from tcdp_audit.core.base.words import agree, count, plural
from tcdp_audit.core.check.needs import Need
from tcdp_audit.core.policy.policy import Expectation
from tcdp_audit.core.release.release import Release

if TYPE_CHECKING:
    from tcdp_audit.core.auditor.exposure import FailingUnits
    from tcdp_audit.core.units.histories import Histories
    from tcdp_audit.core.units.members import Members

PER_ROW = "per_row"  # the detail of a demand on whole histories with what single rows show
TITLES = "Demands judge what the unit joins", "A column joins the rows of a person or household"
LINK_TITLES = {
    ORPHAN_ROWS: ("Every row belongs to one row of its parent", "Rows belong to no row, or to several"),
    REPEATED_UNIT: ("The table of units has one row for each", "The table of units repeats some"),
}
CORRECT = {
    ORPHAN_ROWS: "correct the links, or leave these rows out",
    REPEATED_UNIT: "leave one row of each, or declare the table as one of rows that belong to another",
}


def with_per_row(outcome: Outcome, view: View, *, on_classes: bool) -> Outcome:
    """An outcome on whole histories with what single rows show, and an outcome on classes with people of households.

    Args:
        outcome: of any demand.
        view: the table in which it was judged.
        on_classes: whether its check is on equivalence classes.
    """
    histories = view.histories
    if histories is None or outcome.status is Status.ERROR:
        return outcome
    if view.kind == UNITS:
        outcome = replace(outcome, details={**outcome.details, PER_ROW: histories.per_row})
    if histories.members is None or not on_classes or outcome.attribute is not None:
        return outcome
    if view.kind == UNITS:
        details, said = histories.members.as_details(), _of_people(histories.members)
    elif view.kind == ROWS:
        details, said = _of_one_alone(histories.members), ""
    else:
        return outcome
    return replace(
        outcome, details={**outcome.details, **details}, message=" ".join(filter(None, (outcome.message, said)))
    )


def _of_people(members: Members) -> str:
    """The sentence on people of households that no other one is like."""
    alone, people = members.in_households_alone, members.people
    if not alone:
        return f"Of {count(people, 'person')}, each is one of at least {members.least_alike:,} who could be meant."
    single = members.without_their_like
    whom = f", and {single:,} of them could be no one else" if single else ""
    are = agree(alone, "is", "are")
    return f"{alone:,} of {count(people, 'person')} {are} in a household that no other is like{whom}."


def _of_one_alone(members: Members) -> dict[str, int]:
    return {"people": members.people, "people_in_a_household_with_one_alone": members.with_one_alone}


def with_histories(outcome: Outcome, views: Views, *, judges: bool, exposed: FailingUnits | None = None) -> Outcome:
    """The finding on a released unit that joins rows, with what whole histories show.

    It passes if a demand that counts judges more than one row. Otherwise it warns, and the verdict says for whom the
    release is fit.

    Args:
        outcome: the finding by the columns alone.
        views: in which demands are judged.
        judges: whether demands judge more than one row of a unit; see `judges_histories`.
        exposed: the units that failing demands expose; None where none is known.
    """
    histories, details = views.histories, dict(outcome.details)
    if histories is None or details.get(DROPPED) is True:
        return outcome
    figures: dict[str, Any] = {
        "whole_histories": {"k": histories.k, "classes": histories.classes, "alone": histories.alone}
    }
    if histories.alone_at_depth:
        alone_with = [*views.both]  # the tables but that of units
        figures |= {"alone_at_depth": list(histories.alone_at_depth), ALONE_WITH: alone_with}
        figures["noun"] = noun_of_root(histories)
        having = {name: histories.having_rows(name) for name in alone_with}
        figures[UNITS_WITH_ROWS] = {name: int(some.sum()) for name, some in having.items()}
        if exposed is not None:
            figures[EXPOSED_WITH_ROWS] = {name: int((some & exposed.failing).sum()) for name, some in having.items()}
    details |= {
        "units": histories.units,
        PER_ROW: histories.per_row,
        **figures,
        **({} if histories.members is None else histories.members.as_details()),
    }
    if judges:
        return replace(
            outcome, title=TITLES[0], status=Status.PASSED, observed=0.0, message="", details={**details, "columns": []}
        )
    return replace(
        outcome,
        title=TITLES[1],
        status=Status.FAILED,
        severity=Severity.WARNING,
        observed=1.0,
        message=_sentence(histories),
        details={
            **details,
            "columns": details["columns"] or [histories.unit.attribute],  # of several tables, the unit
            KNOWN_ROWS: "one",
            "alone": histories.alone,
            "least_alike": histories.k,
            "noun": noun_of_root(histories),
        },
    )


def link_outcomes(release: Release) -> Iterator[Outcome]:
    """The outcomes on the links between the tables of a release; none for a release of one table.

    Cost: O(distinct links).
    """
    if not has_tables(release) or release.policy.document.is_unlinked:
        return
    from tcdp_audit.core.units.linked import LinkedTables  # noqa: PLC0415 - only for several tables

    assert isinstance(release.engine, LinkedTables)  # noqa: S101 - what a policy of tables is opened as
    for check in LINK_DEMANDS:
        faults = [one for one in release.engine.links.faults if one.check == check]
        columns = sorted({one.column for one in faults})
        rows = {one.column: one.rows for one in faults if one.rows is not None}
        yield Outcome(
            check=check,
            title=LINK_TITLES[check][bool(faults)],
            status=Status.FAILED if faults else Status.PASSED,
            severity=Severity.ERROR,
            observed=float(len(columns)),
            details={"columns": columns, **({"rows": rows} if rows else {})},
            message=f"{'; '.join(one.sentence for one in faults)}; {CORRECT[check]}" if faults else "",
            source=STRUCTURE,
        )


def judges_histories(views: Views, judged: Sequence[Outcome]) -> bool:
    """Whether demands that count, and can fail a release, judge more than one row of a unit.

    A demand that every release keeps is measured only, such as `k: 1`, and judges nothing. If single rows are judged by
    the size of their classes, histories are as well: a demand on a secret alone limits no size. Of several tables a
    demand on events judges one of rows and that of units, and a table that none judges may single units out.
    """
    document = views.policy.document
    whole, single = set(), set()  # whether sizes are judged
    unjudged = set(document.tables or ())
    for (expectation, target), outcome in zip(targets_of(views.policy), judged, strict=True):
        check, parameters = expectation.check, expectation.parameters
        if parameters.severity is not Severity.ERROR or outcome.status in (Status.MEASURED, Status.SKIPPED):
            continue
        if Need.PREVIOUS in check.needs:  # what changed since says nothing of who is alone
            continue
        if views.of(expectation, target).is_whole:
            whole.add(_judges_size(expectation, outcome))
            unjudged.clear()
        elif check.reading(parameters) == "events":
            whole.add(_judges_size(expectation, outcome))
            line = document.lineage(document.table_of_events(getattr(parameters, "table", None)))
            unjudged -= {*line[:1], *line[-1:]}  # rows above that have none below them are not judged
        elif check.on_classes:
            single.add(_judges_size(expectation, outcome))
    return bool(whole) and not unjudged and (True in whole or True not in single)


def _judges_size(expectation: Expectation, outcome: Outcome) -> bool:
    """Whether a demand is not on a secret alone, but on the people of a class, such as a class size k."""
    check = expectation.check
    judging = check.demands(expectation.parameters).keys() - {*outcome.details.get(UNFAILABLE, ())}
    return "k" in judging or (outcome.attribute is None and check.headline.parameter in judging)


def _sentence(histories: Histories) -> str:
    noun, unit = noun_of_root(histories), histories.unit.attribute
    of = count(histories.units, noun)
    several, alone, least = _with_several_rows(histories), histories.alone, histories.k
    alike = (
        f"{alone:,} of {of} {agree(alone, 'is', 'are')} alone" if alone else f"as few as {count(least, noun)} are alike"
    )
    tables = histories.release.policy.document.tables
    if tables is not None:
        return (
            f"column {unit!r} joins the rows of each {noun} in {count(len(tables), 'table')}: with all of theirs "
            f"{alike}, which no demand judges; demand a group size, such as `k_anonymity: {{k: 5}}`"
        )
    return (
        f"column {unit!r} joins the rows of each {noun}: {several:,} of {of} {agree(several, 'has', 'have')} more than "
        f"one. By all of their rows together {alike}, which no demand limits. Deleting the column "
        f"changes no other value, but rows can then no longer be joined by {noun}; otherwise have whole {plural(noun)} "
        f"judged: take `known_rows: one` out of the policy, or add the demand "
        f"`known_events`, which asks how many {plural(noun)} are alike to someone who knows a few rows of one"
    )


def _with_several_rows(histories: Histories) -> int:
    return int((histories.by[()].lengths[histories.present] > 1).sum())
