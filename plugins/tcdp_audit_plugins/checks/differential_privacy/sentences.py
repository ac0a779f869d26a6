"""Parts of sentences that this family shares: the assumptions come first, always."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isfinite

from tcdp_audit.plugin.sentences import Outcome, agree, decimal, figure, intruder_who_knows, part_of, record_noun

ASSUMING = "Under the assumptions of t-closeness on prior and posterior knowledge"
DS15 = (
    "Domingo-Ferrer, Soria-Comas, From t-closeness to differential privacy and vice versa in data "
    "anonymization, Knowledge-Based Systems 74, 2015, doi:10.1016/j.knosys.2014.11.011"
)
D13 = "Domingo-Ferrer, On the connection between t-closeness and differential privacy for data releases, SECRYPT 2013"


def worst_figure(outcome: Outcome) -> float:
    """The figure of the worst class."""
    return inf if outcome.observed is None else outcome.observed


def number(value: float, threshold: Fraction | None = None) -> str:
    """A figure as a sentence shows it; apart from a threshold that it is compared with."""
    return figure(value, threshold) if isfinite(value) else "infinite"


def demand(outcome: Outcome, name: str) -> str:
    """What the policy allows and how many classes do not keep it, as the end of a paragraph, or nothing."""
    if outcome.threshold is None or outcome.classes is None or outcome.classes.failing is None:
        return ""
    allowed = f" The policy allows {name} up to {decimal(outcome.threshold)}"
    broken, records = outcome.classes.failing, outcome.records
    if not broken or records is None:
        return f"{allowed}."
    part = part_of(records.failing or 0, records.total, record_noun(outcome))
    are = agree(records.failing or 1, "is", "are")
    return f"{allowed}; {part} {are} in {agree(broken, 'a group that does', f'{broken:,} groups that do')} not keep it."


def odds(outcome: Outcome, factor: float, value: str) -> str:
    """What a bound means for one person: by how much finding their group may change the odds of a value."""
    finds = f"{intruder_who_knows(outcome)} and finds their group"
    if not isfinite(factor):
        return f"{finds} may rule out {value}, or be sure of it."
    return f"{finds} may find {value} {number(factor)} times as likely, or as unlikely, as before."
