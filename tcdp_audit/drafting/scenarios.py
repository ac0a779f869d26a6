"""Intruders as proposals: a neighbour, a journalist, a colleague, each with the columns that they may know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch

from tcdp_audit.drafting.roles import Evidence
from tcdp_audit.drafting.vocabulary import topic_of, words_of
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.sentences import listing

BIRTH = ("birth*", "born", "dob", "yob", "geburt*", "geboor*", "naissance", "nacimiento", "nascita", "nascimento")
COMMON = ("age", "sex", "place")  # what registers hold
VISIBLE = (*COMMON, "origin", "family")  # what can be seen of a person, or is known next door
OF_WORK = ("money", "judgement")  # secrets that a colleague may know


@dataclass(frozen=True)
class DraftScenario:
    """A proposal of an intruder, for a person to accept, to change or to delete.

    Args:
        name: of the scenario.
        says: who it is, with an article.
        knows: the columns that it knows.
        reasons: why, in sentences without cells.
        needs: keys that need a file, which the draft has as comments.
    """

    name: str
    says: str
    knows: Sequence[str]
    reasons: Sequence[str]
    needs: Sequence[tuple[str, str]] = ()


def kind_of(name: str, role: Role | None, evidence: Evidence) -> str:
    """The kind of a column that others may know or that is secret: `age` or `money`; empty where nothing says it.

    A date of birth is an age. A column that a detector of quasi-identifiers finds is a place: they find postal codes.
    """
    topic = topic_of(name)
    if role not in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        return ""
    if topic is None or topic.role is not role:
        return "place" if role is Role.QUASI_IDENTIFIER and evidence.known else ""
    is_birth = any(fnmatch(word, form) for word in words_of(name) for form in BIRTH)
    return "age" if topic.key == "date" and is_birth else topic.key


def propose_scenarios(
    known: Sequence[tuple[str, str]], secret: Sequence[tuple[str, str]]
) -> tuple[Sequence[DraftScenario], Sequence[str]]:
    """Three intruders, and sentences on those that the columns do not suffice for.

    One of them knows every quasi-identifier, so that none is left unjudged when the default intruder gives way.

    Args:
        known: the quasi-identifiers, each with its kind.
        secret: the sensitive columns, likewise.
    """
    every = [name for name, _ in known]
    if not every:
        return (), ("No scenario is proposed: no column has the role quasi_identifier.",)
    seen, listed = ([name for name, kind in known if kind in kinds] for kinds in (VISIBLE, COMMON))
    scenarios, notes = [], []
    if seen:
        reasons = ["What can be seen of a person or is commonly known nearby: age, sex, place, origin, family."]
        scenarios.append(DraftScenario("neighbour", "a person next door", seen, reasons))
    else:
        notes.append("No neighbour is proposed: no quasi-identifier is an age, a sex, a place, an origin or a family.")
    if listed:
        reason = (
            "What registers of voters or residents hold: age or birth, sex, place. Where there is such a register, "
            "name its file and remove `# ` before both lines: the risk is then one over the people who fit in it."
        )
        needs = (("population", "TODO"), ("in_release", "unknown"))
        scenarios.append(DraftScenario("journalist", "a journalist with a register", listed, [reason], needs))
    else:
        notes.append("No journalist with a register is proposed: no quasi-identifier is an age, a sex or a place.")
    if every != seen:
        reasons = ["Knows who is in the data, and every quasi-identifier, such as work and education."]
        asked = [repr(name) for name, kind in secret if kind in OF_WORK]
        if asked:
            reasons.append(f"Would a colleague know {listing(asked)}? Then add it to `knows`; it is not at stake then.")
        scenarios.append(DraftScenario("colleague", "a colleague", every, reasons))
    else:
        notes.append("No colleague is proposed: a neighbour knows every quasi-identifier already.")
    return scenarios, notes
