"""The role that a column is proposed, by rules in the order of their weight, each with its reason.

1. a schema's declaration; 2. a detector of direct identifiers; 3. words of the column's name; 4. the form of its
values; 5. what another column says; 6. nearly as many values as records; 7. answers of a scale, and measurements;
8. the columns around it; 9. its part of the records that are unique. A person decides the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tcdp_audit.api import Plugins, Strengths, strengths_of
from tcdp_audit.drafting.column import ColumnFacts
from tcdp_audit.drafting.hierarchies import form_of_days
from tcdp_audit.drafting.vocabulary import Topic, topic_of, words_of
from tcdp_audit.plugin.detector import Detection, Role, detect
from tcdp_audit.plugin.engine import Engine
from tcdp_audit.plugin.sentences import count, listing, share

MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}.*)?")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
NEARLY_ALL, FEW, LEAST, STRONG = 0.99, 2, 20, 0.05
BEAM = 8  # sets that a search continues, by each figure; with 4 one of seven tables had a better set
WEIGHTS = frozenset(  # words of columns of sampling weights, and of those of bodies
    (
        *(
            "weight",
            "weights",
            "wgt",
            "wgts",
            "wght",
            "wt",
            "wts",
            "fnlwgt",
            "afnlwgt",
            "pweight",
            "aweight",
            "fweight",
        ),
        *("perweight", "hhweight", "hhwgt", "sampweight", "sampwt", "finalwt", "finalwgt", "finalweight", "wtper"),
        *("newwt", "earnwt"),
        *("pweights", "pspwght", "dweight", "anweight", "wtssall", "perwt", "hhwt", "gewicht", "poids", "peso"),
    )
)
OF_SURVEYS = frozenset(
    (
        *("sampling", "sample", "survey", "design", "probability", "person", "household", "hh", "final", "raking"),
        *("calibration", "calibrated", "expansion", "grossing", "poststratification", "poststrat", "replicate"),
        *("population", "analysis", "respondent", "hochrechnung"),
    )
)
OF_BODIES = frozenset({"kg", "lb", "lbs", "body", "gain", "birth", "baby", "loss", "pounds", "kilos", "gained"})
HEAVIEST, LIGHTEST, ROUNDING = 700, 20, 1e-6  # of bodies; halves of a kilogram
SMALL = 100  # whole numbers up to which may be years or a count, which others may know
DIFFERENT = 25  # times the smallest: bodies differ less
OF_NUMBERS = frozenset({"duration"})  # topics of numbers only
OF_FEW, MANY, OF_MANY = (
    frozenset({"family", "sex", "origin", "education"}),
    100,
    0.2,
)  # topics that more numbers than these do not fit
OF_A_PERSON = 0.01  # values for each record: with fewer, a number is that of a group, and a person says of which


@dataclass(frozen=True)
class Evidence:
    """Evidence about a column other than its facts."""

    declared: Role | None = None  # the role that a schema declares; None where it declares none
    declaration: str = ""  # where and how, in words
    detected: str = ""  # what a detector of direct identifiers says, in words; nothing where none does
    may_be_pseudonym: bool = False  # whether that is of numbers and codes that a pseudonym may look like
    known: str = ""  # what a detector of quasi-identifiers says, in words; nothing where none does
    hint: str = ""  # a library by which its values could be compared with known lists, in words
    open_question: str = ""  # what a detector cannot decide without its library, in words
    related: Proposal | None = None  # what columns that say the same or more have for a role
    around: Proposal | None = None  # what most of the columns around it have for a role
    of_panel: str = ""  # why it is the number of a person who has a row for each period; nothing where it is none
    of_place: str = ""  # why it is the figure of a place and not of a person; nothing where it is none
    listed: str = ""  # why it is a question of a list, in words; nothing where it is none
    is_among_known: bool = False  # whether most of the named columns around it are quasi-identifiers
    answers: str = ""  # why it is an answer of a scale; nothing where it is none
    has_height: bool = False  # whether the table has a height, so that a weight is that of a body
    strength: float | None = None  # its share of what makes records unique, of 1; None where it was not measured
    strength_note: str = ""  # how that was measured


@dataclass(frozen=True)
class Proposal:
    """A role with its reason, a clause without cells; the role is None for what a person must decide."""

    role: Role | None
    reason: str


def proposed(column: ColumnFacts, topic: Topic | None, evidence: Evidence) -> Proposal:
    """The role of the first rule that applies."""
    return next(_proposals(column, topic, evidence))


def _proposals(column: ColumnFacts, topic: Topic | None, evidence: Evidence) -> Iterator[Proposal]:
    yield from _declared(evidence)
    if column.raw is None:
        yield Proposal(None, "it holds nested or binary data, which no audit reads; flatten it or drop it")
    elif not column.distinct:
        yield Proposal(None, "it holds no value at all; drop it, or say what it would hold")
    else:
        yield from _identifying(column, topic, evidence)
        yield from _weighing(column, evidence)
        if evidence.listed:
            yield Proposal(Role.SENSITIVE, evidence.listed)
        if evidence.of_place:
            yield Proposal(None, evidence.of_place)
        if evidence.of_panel:
            yield Proposal(Role.IDENTIFIER, evidence.of_panel)
        yield from _by_word(column, topic)
        yield from _by_form(column, evidence)
        yield from _by_others(evidence)
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
    if _are_uuids(column):
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


def _are_uuids(column: ColumnFacts) -> bool:
    return all(UUID.fullmatch(one) for one in column.sample)


def _by_word(column: ColumnFacts, topic: Topic | None) -> Iterator[Proposal]:
    if topic is None or topic.role is Role.IDENTIFIER or (topic.key in OF_NUMBERS and column.numbers is None):
        return
    if topic.key in OF_FEW and _has_numbers_of_many(column):
        yield Proposal(
            Role.IDENTIFIER, f"its name speaks of {topic.noun}, and it has a number for each: whose number it is"
        )
    if column.distinct == 1 and topic.role is Role.SENSITIVE:
        yield Proposal(None, f"its name speaks of {topic.noun}, but all records have one value; a secret of everyone?")
    yield Proposal(topic.role, f"its name speaks of {topic.noun}")


def _has_numbers_of_many(column: ColumnFacts) -> bool:
    """Whether values are whole numbers or codes with digits, as many as of persons or families, and no measurement."""
    has_digits = column.is_whole or (column.numbers is None and all(re.search(r"\d", one) for one in column.sample))
    return has_digits and not column.is_measurement and column.distinct > MANY and column.distinct_share > OF_MANY


def is_weight(column: ColumnFacts, evidence: Evidence) -> bool:
    """Whether a column holds sampling weights: by its name, and by values that no body has.

    A body weighs 2 to 400 kg or lb in whole or half numbers, and is found next to a height. Sampling weights have as
    many decimals as their division left, lie around 1, or reach into the thousands.
    """
    words = words_of(column.name)
    numbers = column.numbers
    if numbers is None or not WEIGHTS.intersection(words) or evidence.declared is not None or numbers.min() < 0:
        return False
    if OF_SURVEYS.intersection(words) or not {"weight", "weights", "wt", "gewicht", "poids", "peso"}.intersection(
        words
    ):
        return column.distinct > 1
    if OF_BODIES.intersection(words) or evidence.has_height:
        return False
    is_fine = bool((np.abs(numbers * 2 - np.round(numbers * 2)) > ROUNDING).any())
    mean = float(np.average(numbers, weights=column.counts))
    return column.distinct > 1 and (
        numbers.max() > HEAVIEST or (is_fine and (mean < LIGHTEST or numbers.max() > DIFFERENT * numbers.min()))
    )


def _weighing(column: ColumnFacts, evidence: Evidence) -> Iterator[Proposal]:
    if is_weight(column, evidence):
        yield Proposal(Role.INSENSITIVE, "its name and its values are those of a sampling weight")
    elif evidence.has_height and WEIGHTS.intersection(words_of(column.name)) and column.numbers is not None:
        yield Proposal(Role.SENSITIVE, "a weight next to a height: that of a body")


def _by_others(evidence: Evidence) -> Iterator[Proposal]:
    if evidence.related is not None:
        yield evidence.related


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
        if column.may_be_amounts:
            yield Proposal(None, "nearly every record has a number of its own: amounts (sensitive), or its number?")
        yield Proposal(Role.IDENTIFIER, "nearly every record has a value of its own, and they are no measurements")
    if evidence.answers:
        yield Proposal(Role.SENSITIVE, evidence.answers)
    is_small = (
        column.is_whole and column.numbers is not None and 0 <= column.numbers.min() <= column.numbers.max() <= SMALL
    )
    if WEIGHTS.intersection(words_of(column.name)) and column.numbers is not None:
        return  # of a body, or of a sample: a person says which
    if column.is_measurement and not is_small:
        yield Proposal(Role.SENSITIVE, "a measurement, which no register has and a release would tell")
    if evidence.around is not None and column.distinct > 1:
        yield evidence.around
    is_strong = evidence.strength is not None and evidence.strength >= STRONG
    if evidence.strength is not None and is_strong and evidence.is_among_known and not column.has_answers:
        part = share(evidence.strength, 1)
        yield Proposal(Role.QUASI_IDENTIFIER, f"it adds {part} of what makes records unique{evidence.strength_note}")


def _question(column: ColumnFacts, evidence: Evidence) -> str:
    """What to ask where no rule decides."""
    if evidence.declaration:
        return f"{evidence.declaration}; could an intruder know it of a person, or must no one learn it?"
    if column.distinct == 1:
        return "all records have one value; would it reveal a secret of everyone?"
    if column.numbers is not None and WEIGHTS & set(words_of(column.name)):
        return "a sampling weight, which the policy names as `weight`? or the weight of a body, which is sensitive?"
    if column.is_measurement:
        return "a measurement: must no one learn it of a person (sensitive), could an intruder know it, or neither?"
    hint = f" {evidence.hint}" if evidence.hint else ""
    return f"no rule decides: could an intruder know it of a person, must no one learn it, or neither?{hint}"


def is_pseudonym(column: ColumnFacts, evidence: Evidence) -> bool:
    """Whether a column is a number of records or persons by its name, or UUIDs, and no direct identifier otherwise."""
    if evidence.declared is not None or names_people(column.name, evidence):
        return False
    topic = topic_of(column.name)
    is_named = topic is not None and topic.key == "key"
    return (is_named or _are_uuids(column)) and proposed(column, topic, evidence).role is Role.IDENTIFIER


def names_people(name: str, evidence: Evidence) -> bool:
    """Whether the values of a column, or its name, are those of direct identifiers such as e-mail addresses."""
    topic = topic_of(name)
    declared = evidence.declared is Role.IDENTIFIER
    detected = bool(evidence.detected) and not evidence.may_be_pseudonym
    return declared or detected or (topic is not None and topic.role is Role.IDENTIFIER and topic.key != "key")


def figures(column: ColumnFacts, evidence: Evidence) -> str:
    """The figures of a column, in a clause that follows the reason of its role."""
    if not column.distinct:
        return ""
    parts = [f"{count(column.distinct, 'value')} in {count(column.filled, 'record')}"]
    if column.unique_share:
        parts.append(f"{share(column.unique_share, 1)} of these alone with theirs")
    if column.missing_share:
        parts.append(f"{share(column.missing_share, 1)} missing")
    if evidence.strength is not None and 0 < evidence.strength < STRONG:
        parts.append(f"{share(evidence.strength, 1)} of what makes records unique")
    return ", ".join(parts)


OF_PATIENTS = ("medical_record_number",)  # any number under the name of a patient, as a pseudonym is as well
OF_FORM = ("record_number", "record_code")  # detectors of one value a record, which a word of the name explains better


def identified(
    engine: Engine,
    plugins: Plugins,
    tokens: Collection[str],
    columns: Sequence[str],
    progress: Callable[[str, int, int], None],
) -> dict[str, Evidence]:
    """The findings of the detectors for each column; `tokens` mean a missing value."""
    evidence = {}
    for number, name in enumerate(columns):
        progress("identifiers looked for", number, len(columns))
        evidence[name] = _of(name, engine, plugins, tokens)
    progress("identifiers looked for", len(columns), len(columns))
    return evidence


def _of(name: str, engine: Engine, plugins: Plugins, tokens: Collection[str]) -> Evidence:
    detections = detect(engine, plugins.detectors.values(), [name], missing=tokens)
    direct = detections.of_role(Role.IDENTIFIER).get(name)
    known = detections.of_role(Role.QUASI_IDENTIFIER).get(name)
    return Evidence(
        detected="" if direct is None or not _counts(direct) else direct.reason,
        may_be_pseudonym=direct is not None and _may_be_pseudonym(direct),
        known="" if known is None else known.reason,
        open_question=next((one.reason for one in detections.undecided), ""),
    )


def _may_be_pseudonym(detection: Detection) -> bool:
    """Whether a detection is of a number or code that a pseudonym may look like, as only the name says whose it is."""
    topic = topic_of(detection.column)
    is_named_key = detection.is_named and topic is not None and topic.key == "key"
    return is_named_key or detection.detector.name in (*OF_FORM, *OF_PATIENTS)


def _counts(detection: Detection) -> bool:
    """Whether a detection outweighs a name of another topic."""
    topic = topic_of(detection.column)
    named_otherwise = topic is not None and topic.role is not Role.IDENTIFIER and not detection.is_named
    return not (named_otherwise and detection.detector.name in OF_FORM)


def strengths_among(
    engine: Engine, columns: Sequence[str], tokens: Collection[str], progress: Callable[[str, int, int], None]
) -> Strengths | None:
    """The strengths of columns that an intruder may know; None where there is none."""
    if not columns:
        return None
    return strengths_of(engine, columns, tokens, beam=BEAM, progress=partial(progress, "combinations of columns"))


def with_strength(name: str, evidence: Evidence, strengths: Strengths | None) -> Evidence:
    """Evidence with the column's part of the share of records that are alone, by its Shapley value."""
    own = next((one for one in strengths.contributions if one.attribute == name), None) if strengths else None
    if strengths is None or own is None or not strengths.whole.unique:
        return evidence
    part = max(0.0, min(1.0, float(own.shapley / float(strengths.whole.unique))))
    return replace(evidence, strength=part, strength_note=_sampled(strengths))


def strength_note(strengths: Strengths) -> str:
    """A note of the strength of all columns together, and of the few that distinguish records best."""
    columns = count(len(strengths.contributions), "quasi-identifier or undecided column")
    alone = f"{columns} together leave {share(float(strengths.whole.unique), 1)} of the records alone"
    sets = [one for one in strengths.sets if len(one.attributes) < len(strengths.contributions)]
    best = max(sets, key=lambda one: float(one.unique), default=None)
    if best is None or not best.unique:
        return f"{alone}."
    names = listing([repr(one) for one in best.attributes])
    width = max(len(one.attributes) for one in sets)
    part = f"{share(float(best.unique), 1)}{_sampled(strengths)}"
    if strengths.searched:
        return f"{alone}; of up to {count(width, 'column')}, the most that a search found: {names}, with {part}."
    return f"{alone}; of up to {len(best.attributes)}, {names} most: {part}."


def _sampled(strengths: Strengths) -> str:
    return "" if strengths.sample is None else ", estimated from a sample"
