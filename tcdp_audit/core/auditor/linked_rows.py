"""What an audit says of a unit that joins rows: whole histories are measured always, whatever a policy demands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.auditor.views import UNITS, View, Views, root_noun, targets_of
from tcdp_audit.core.base.outcome import KNOWN_ROWS, Outcome, Severity, Status
from tcdp_audit.core.base.words import agree, count, noun_form, plural
from tcdp_audit.core.policy.policy import Policy

if TYPE_CHECKING:
    from tcdp_audit.core.units.histories import Histories

PER_ROW = "per_row"  # the detail of a demand on whole histories with what single rows show
TITLES = "Demands judge what the unit joins", "A column joins the records of a unit"


def with_per_row(outcome: Outcome, view: View) -> Outcome:
    """An outcome on whole histories with the size of the smallest class of single rows, and their number."""
    if view.kind != UNITS or view.histories is None or outcome.status is Status.ERROR:
        return outcome
    return replace(outcome, details={**outcome.details, PER_ROW: view.histories.per_row})


def with_histories(outcome: Outcome, views: Views, judged: Sequence[Outcome]) -> Outcome:
    """The finding on a released unit that joins rows, with what whole histories show.

    It passes if a demand that counts judges more than one row. Otherwise it warns, and the verdict says for whom the
    release is fit.

    Args:
        outcome: the finding by the columns alone.
        views: in which demands are judged.
        judged: the outcomes of all demands, in the policy's order.
    """
    histories, details = views.histories, dict(outcome.details)
    if histories is None:
        return outcome
    figures: dict[str, Any] = {
        "whole_histories": {"k": histories.k, "classes": histories.classes, "alone": histories.alone}
    }
    if histories.alone_at_depth:
        figures["alone_at_depth"] = list(histories.alone_at_depth)
    details |= {
        "units": histories.units,
        PER_ROW: histories.per_row,
        **figures,
    }
    if judges_histories(views, judged):
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
        details={
            **details,
            KNOWN_ROWS: "one",
            "alone": histories.alone,
            "least_alike": histories.k,
            "noun": root_noun(views.policy),
        },
    )


def judges_histories(views: Views, judged: Sequence[Outcome]) -> bool:
    """Whether a demand that counts, and can fail a release, judges more than one row of a unit.

    A demand that every release keeps is measured only, such as `k: 1`, and judges nothing.
    """
    return any(
        expectation.parameters.severity is Severity.ERROR
        and outcome.status not in (Status.MEASURED, Status.SKIPPED)
        and (views.of(expectation, target).is_whole or expectation.check.reading(expectation.parameters) == "events")
        for (expectation, target), outcome in zip(targets_of(views.policy), judged, strict=True)
    )


def _sentence(policy: Policy, histories: Histories) -> str:
    noun, unit = root_noun(policy), policy.document.root
    of = count(histories.units, noun)
    several, alone, least = _with_several_rows(histories), histories.alone, histories.k
    alike = (
        f"{alone:,} of {of} {agree(alone, 'is', 'are')} alone" if alone else f"as few as {count(least, noun)} are alike"
    )
    return (
        f"column {unit!r} joins the rows of each {noun}: {several:,} of {of} {agree(several, 'has', 'have')} more than "
        f"one, and with all of theirs {alike}, which no demand judges; "
        f"leave out `known_rows: one`, demand `known_events`, or drop the column ({plural(noun)} are then counted in "
        f"classes of single {noun_form('row', 2)})"
    )


def _with_several_rows(histories: Histories) -> int:
    return int((histories.by[()].lengths[histories.present] > 1).sum())
