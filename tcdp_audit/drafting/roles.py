"""The role that a column is proposed, by rules in the order of their weight, each with its reason.

1. what a schema declares; 2. a detector of direct identifiers; 3. words of the column's name; 4. the form of its
values; 5. nearly as many values as records; 6. what it adds to the records that are alone. What no rule decides is left
to a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.ladders import form_of_days
from tcdp_audit.drafting.vocabulary import Topic
from tcdp_audit.drafting.words import words_of
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.sentences import count, share

MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}.*)?")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
NEARLY_ALL, FEW, LEAST, STRONG = 0.99, 2, 20, 0.05
WEIGHTS = frozenset({"weight", "weights", "wgt", "fnlwgt", "afnlwgt", "gewicht", "poids", "peso"})
OF_A_PERSON = 0.01  # values for each record: with fewer, a number is that of a group, and a person says of which


@dataclass(frozen=True)
class Evidence:
    """What is known of a column beside its facts.

    Args:
        declared: the role that a schema declares; None where it declares none.
        declaration: where and how, in words.
        detected: what a detector of direct identifiers says, in words; nothing where none does.
        known: what a detector of quasi-identifiers says, in words; nothing where none does.
        open_question: what a detector cannot decide without its library, in words.
        strength: its share of what makes records unique, of 1; None where it was not measured.
        strength_note: how that was measured.
    """

    declared: Role | None = None
    declaration: str = ""
    detected: str = ""
    known: str = ""
    open_question: str = ""
    strength: float | None = None
    strength_note: str = ""


@dataclass(frozen=True)
class Proposal:
    """A role with its reason; None for what a person must decide.

    Args:
        role: the role.
        reason: why, in a clause without cells.
    """

    role: Role | None
    reason: str


def proposed(column: ColumnFacts, topic: Topic | None, evidence: Evidence) -> Proposal:
    """The role that the first rule gives which has something to say."""
    return next(_proposals(column, topic, evidence))


def _proposals(column: ColumnFacts, topic: Topic | None, evidence: Evidence) -> Iterator[Proposal]:
    yield from _declared(evidence)
    if column.raw is None:
        yield Proposal(None, "it holds nested or binary data, which no audit reads; flatten it or drop it")
    elif not column.distinct:
        yield Proposal(None, "it holds no value at all; drop it, or say what it would tell")
    else:
        yield from _identifying(column, topic, evidence)
        yield from _by_word(column, topic)
        yield from _by_form(column, evidence)
        yield from _by_figures(column, evidence)
        yield Proposal(None, _question(column, evidence))


def _declared(evidence: Evidence) -> Iterator[Proposal]:
    """What a schema says; a direct identifier that it calls something else is for a person to decide."""
    if evidence.declared is None:
        return
    if evidence.detected and evidence.declared is not Role.IDENTIFIER:
        yield Proposal(None, f"{evidence.declaration}, but {evidence.detected}; which is right?")
    yield Proposal(evidence.declared, evidence.declaration)


def _identifying(column: ColumnFacts, topic: Topic | None, evidence: Evidence) -> Iterator[Proposal]:
    if evidence.detected:
        yield Proposal(Role.IDENTIFIER, evidence.detected)
    if all(UUID.fullmatch(one) for one in column.sample):
        yield Proposal(Role.IDENTIFIER, "all values are UUIDs, each of one record or person")
    if topic is None or topic.role is not Role.IDENTIFIER:
        return
    said = f"its name speaks of {topic.noun}"
    if column.distinct <= FEW and column.filled >= LEAST:
        yield Proposal(None, f"{said}, but it has {count(column.distinct, 'value')} only: a mark whether there is one?")
    elif topic.key == "key" and column.distinct_share < OF_A_PERSON and column.filled >= LEAST:
        yield Proposal(None, f"{said}, but many records share each value: the number of a group, and of which?")
    shared = "; if records that share a value are one person's, say so as `unit`" if topic.key == "key" else ""
    yield Proposal(Role.IDENTIFIER, f"{said}{shared if column.distinct < column.filled else ''}")


def _by_word(column: ColumnFacts, topic: Topic | None) -> Iterator[Proposal]:
    if topic is None or topic.role is Role.IDENTIFIER:
        return
    if column.distinct == 1:
        yield Proposal(None, f"its name speaks of {topic.noun}, but all records have one value; a secret of everybody?")
    yield Proposal(topic.role, f"its name speaks of {topic.noun}")


def _by_form(column: ColumnFacts, evidence: Evidence) -> Iterator[Proposal]:
    if evidence.open_question:
        yield Proposal(None, evidence.open_question)
    if evidence.known:
        yield Proposal(Role.QUASI_IDENTIFIER, evidence.known)
    if form_of_days(column.sample) is not None:
        yield Proposal(Role.QUASI_IDENTIFIER, "all values are calendar days")
    if all(MOMENT.fullmatch(one) for one in column.sample):
        yield Proposal(Role.QUASI_IDENTIFIER, "all values are points in time")


def _by_figures(column: ColumnFacts, evidence: Evidence) -> Iterator[Proposal]:
    if column.distinct_share >= NEARLY_ALL and column.filled >= LEAST and not column.is_measurement:
        yield Proposal(Role.IDENTIFIER, "nearly every record has a value of its own, and they are no measurements")
    if evidence.strength is not None and evidence.strength >= STRONG:
        part = share(evidence.strength, 1)
        yield Proposal(Role.QUASI_IDENTIFIER, f"it adds {part} of what makes records unique{evidence.strength_note}")


def _question(column: ColumnFacts, evidence: Evidence) -> str:
    """What to ask where no rule decides."""
    if evidence.declaration:
        return f"{evidence.declaration}; could somebody know it of a person, or must nobody learn it?"
    if column.distinct == 1:
        return "all records have one value; would it tell a secret of everybody?"
    if column.numbers is not None and WEIGHTS & set(words_of(column.name)):
        return "a sampling weight, which the policy names as `weight`? or the weight of a body, which is sensitive?"
    if column.is_measurement:
        return "a measurement: must nobody learn it of a person (sensitive), could somebody know it, or neither?"
    return "no rule decides: could somebody know it of a person, must nobody learn it, or neither?"


def figures(column: ColumnFacts, evidence: Evidence) -> str:
    """The figures of a column, which the reason of its role is followed by."""
    if not column.distinct:
        return ""
    parts = [f"{count(column.distinct, 'value')} in {count(column.filled, 'record')}"]
    if column.unique_share:
        parts.append(f"{share(column.unique_share, 1)} of these alone with theirs")
    if column.missing_share:
        parts.append(f"{share(column.missing_share, 1)} missing")
    if evidence.strength is not None and evidence.strength < STRONG:
        parts.append(f"{share(evidence.strength, 1)} of what makes records unique")
    return ", ".join(parts)
