"""What an outcome of (n, t)-closeness says."""

from __future__ import annotations

from math import inf

from tcdp_audit.plugin.sentences import Outcome, Status, column_of, decimal, figure, record_noun, victims
from tcdp_audit_plugins.checks.t_closeness.t_closeness import KINDS, Distance


def sentence(outcome: Outcome) -> str:
    """How many records are in classes that no large group around them explains, and how far the furthest is."""
    mix = f"mix of {_column(outcome)}"
    n, kind = f"{int(outcome.parameters['n']):,}", KINDS[Distance(outcome.parameters["distance"])].name
    if outcome.status is Status.FAILED:
        far = f"whose {mix} differs by more than {decimal(outcome.threshold)} from every group of {n} around it"
        return f"{victims(outcome)} {far} ({kind}); the furthest differs by {_observed(outcome)}."
    near = f"whose {mix} differs from some group of at least {n} around it by at most {_observed(outcome)}"
    return f"Every {record_noun(outcome)} is in a group {near} ({kind})."


def person(outcome: Outcome) -> str:
    """What the furthest group tells, beside what many people around it share."""
    around = f"every group of {int(outcome.parameters['n']):,} or more around them"
    return (
        f"In the group that stands out most, {_column(outcome)} differs from that of {around} by {_observed(outcome)}."
    )


def _column(outcome: Outcome) -> str:
    return column_of(outcome, str(outcome.details["attribute"]))


def _observed(outcome: Outcome) -> str:
    return "an infinite distance" if outcome.observed == inf else figure(outcome.observed, outcome.threshold)
