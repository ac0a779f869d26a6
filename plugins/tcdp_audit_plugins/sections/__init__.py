"""Sections of reports that know the built-in checks by name: what applies only to some of them.

`attacks` has the attacks as stories. The release is read as differential privacy where a check asks for it, with
all that must hold for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, isinf

from tcdp_audit.plugin.report import Audit, ReportSection, Rows
from tcdp_audit.plugin.sentences import Outcome, column_of, figure, prose
from tcdp_audit_plugins.sections.attacks import stories

CONDITIONS = (
    "Only if all of this holds: before the release the intruder knows the mix of secrets in the whole file and nothing "
    "more about anyone; the group that a person is found in is all that the release adds; the secrets are read as one "
    "combination; and no other release about the same people exists. Differential privacy itself assumes none of this, "
    "so a file that keeps such a limit is not differentially private."
)
SOURCE = (
    "After Domingo-Ferrer, Soria-Comas, From t-closeness to differential privacy and vice versa in data anonymization, "
    "Knowledge-Based Systems 74, 2015, propositions 1 and 3."
)
CHECKS = ("implied_epsilon", "t_from_epsilon", "expected_t_closeness", "stochastic_t_closeness")


def reading(audit: Audit) -> Iterator[str | Rows]:
    """What epsilon follows, and what it means; nothing where the policy does not ask."""
    outcomes = [one for one in audit.expectations if one.check in CHECKS and one.observed is not None]
    if not outcomes:
        return
    for one in outcomes:
        yield prose(one.message)
    epsilons = [one for one in outcomes if one.check == "implied_epsilon"]
    if epsilons:
        head = ("secret", "epsilon", "odds of a guess change at most by")
        yield Rows(head, tuple(_row(one) for one in epsilons), "What the epsilon means")
    yield CONDITIONS
    yield SOURCE


def _row(outcome: Outcome) -> tuple[str, str, str]:
    secret = "all of them together" if outcome.attribute is None else column_of(outcome)
    epsilon = outcome.observed or 0.0
    return secret, figure(epsilon), "no limit follows" if isinf(epsilon) else f"{figure(exp(epsilon))} times"


SECTIONS = (
    ReportSection(name="attacks", title="How it could be used against a person", blocks=stories, order=100),
    ReportSection(name="differential_privacy", title="Read as differential privacy", blocks=reading, order=620),
)
