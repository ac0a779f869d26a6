"""What an audit says of a unit that joins rows: whole histories are measured always, whatever a policy demands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tcdp_audit.core.auditor.views import UNITS, View, Views, known_rows_of, targets_of
from tcdp_audit.core.base.outcome import KNOWN_ROWS, Outcome, Severity, Status
from tcdp_audit.core.base.words import agree, count, noun_form, noun_of_column, plural
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.units.histories import Histories

PER_ROW = "per_row"  # the detail of a demand on whole histories with what single rows show
TITLES = "Demands judge what the unit joins", "A column joins the records of a unit"


def with_per_row(outcome: Outcome, view: View) -> Outcome:
    """An outcome on whole histories with the size of the smallest class of single rows, and their number."""
    if view.kind != UNITS or view.histories is None or outcome.status is Status.ERROR:
        return outcome
    k, classes = view.histories.per_row
    return replace(outcome, details={**outcome.details, PER_ROW: {"k": k, "classes": classes}})


def with_histories(outcome: Outcome, views: Views) -> Outcome:
    """The finding on a released unit that joins rows, with what whole histories show.

    It passes if a demand that counts judges more than one row. Otherwise it warns, and the verdict says for whom the
    release is fit.
    """
    histories, details = views.histories, dict(outcome.details)
    if histories is None or details.get("units") is None:
        return outcome
    figures = {"whole_histories": {"k": histories.k, "classes": histories.classes, "alone": histories.alone}}
    details |= {"units": histories.units, PER_ROW: dict(zip(("k", "classes"), histories.per_row, strict=True)), **figures}
    if judges_histories(views):
        return replace(
            outcome, title=TITLES[0], status=Status.PASSED, observed=0.0, message="", details={**details, "columns": []}
        )
    return replace(
        outcome,
        title=TITLES[1],
        status=Status.FAILED,
        severity=Severity.WARNING,
        observed=1.0,
        message=_sentence(views.policy, histories),
        details={**details, KNOWN_ROWS: "one", "alone": histories.alone, "noun": _noun(views.policy)},
    )


def judges_histories(views: Views) -> bool:
    """Whether a demand that counts, and can fail a release, judges more than one row of a unit."""
    return any(
        expectation.parameters.severity is Severity.ERROR
        and bool(expectation.check.demands(expectation.parameters))
        and (views.of(expectation, target).is_whole or _reads_events(expectation, views.policy))
        for expectation, target in targets_of(views.policy)
    )


def _reads_events(expectation: Any, policy: Policy) -> bool:
    reads = expectation.check.reading(expectation.parameters) == "events"
    return reads and known_rows_of(expectation, policy) is not None


def _noun(policy: Policy) -> str:
    unit = policy.document.unit
    assert unit is not None  # noqa: S101 - a unit joins the rows
    return policy.document.unit_name or noun_of_column(unit)


def _sentence(policy: Policy, histories: Histories) -> str:
    noun, unit = _noun(policy), policy.document.unit
    sizes: Mapping[str, int] = {"several": _with_several_rows(histories), "alone": histories.alone}
    several, alone = sizes["several"], sizes["alone"]
    of = count(histories.units, noun)
    return (
        f"column {unit!r} joins the rows of each {noun}: {several:,} of {of} {agree(several, 'has', 'have')} more than "
        f"one, and {alone:,} of {of} {agree(alone, 'is', 'are')} alone with all of theirs, which no demand judges; "
        f"leave out `known_rows: one`, demand `known_events`, or drop the column ({plural(noun)} are then counted in "
        f"classes of single {noun_form('row', 2)})"
    )


def _with_several_rows(histories: Histories) -> int:
    return int((histories.by[()].lengths[histories.present] > 1).sum())


