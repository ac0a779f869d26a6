"""What the attacks with a control set say in common: half sentences, and how their figures are read."""

from __future__ import annotations

from tcdp_audit.plugin._internal import allowance
from tcdp_audit.plugin.sentences import Outcome, Status, chance_of, percent, plural, record_noun

READING = (
    "With a hold-out the observed value is `high`, the upper end of the risk's interval at `confidence`; `low` is the "
    "lower end, and `excess` is (a - c) / (1 - c) of the shares as they are, below 0 where the hold-out did worse. "
    "`success` is a, `successes` of `attempts` on the original; `control_success`, `control_successes` and "
    "`control_attempts` are those of c on the hold-out. Without a hold-out the observed value is `success`, which says "
    "little by itself: much of it is chance, and no demand can be judged."
)
CHOOSING = (
    "0.1 is our proposal; no norm names a figure. It is compared with the upper end, so that a small hold-out never "
    "passes for want of records: a few hundred are needed for 0.1, even where nothing leaks."
)
ABOUT_CONTROL = (
    "It is what this intruder gains, not a bound: a low value is no proof that no other attack works. A `holdout` must "
    "be drawn from the same population as the original and have had no part in making the release."
)
CUT = (
    "Gower's differences are in parts of the range that original and hold-out have, 1 at the most: a released value "
    "beyond that range is as far away as its ends are from each other."
)
GIOMI = (
    "Giomi, Boenisch, Wehmeyer, Tasnadi, A unified framework for quantifying privacy risk in synthetic data, PoPETs "
    "2023(2), arXiv 2211.10459"
)
OPINION = "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216), section 2.2"


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
