"""What the attacks with a control set say in common: half sentences, and how their figures are read."""

from __future__ import annotations

from tcdp_audit.plugin._internal import allowance
from tcdp_audit.plugin.sentences import Outcome, Status, chance_of, percent, plural, record_noun


def has_control(outcome: Outcome) -> bool:
    """Whether there is a hold-out."""
    return "control_success" in outcome.details


def on_both(outcome: Outcome) -> str:
    """How often an attack is right: `73.5% of the people in the original, and for 21.6% of those in the hold-out`."""
    own = f"{percent(float(outcome.details['success']))} of the {plural(record_noun(outcome))} in the original"
    if not has_control(outcome):
        return own
    return f"{own}, and for {percent(float(outcome.details['control_success']))} of those in the hold-out"


def added(outcome: Outcome) -> str:
    """What the release adds, to end a sentence: `the release adds at most 9.1% to chance (with 95% confidence)`."""
    if not has_control(outcome):
        return "without a hold-out nobody can say how much of that is chance"
    sure = percent(float(outcome.details["confidence"]))
    limit = f", where {allowance(outcome)}" if outcome.status is Status.FAILED else ""
    high = percent(outcome.observed, outcome.threshold)
    return f"the release adds at most {high} to chance (with {sure} confidence){limit}"


def chances(outcome: Outcome) -> str:
    """How often a guess about one person is right, and how often about somebody who is not in the data."""
    own = f"is right with {chance_of(float(outcome.details['success']))}"
    if not has_control(outcome):
        return own
    control = chance_of(float(outcome.details["control_success"]))
    return f"{own}; about somebody who had no part in the release, with {control}"
