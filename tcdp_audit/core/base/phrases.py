"""Parts of sentences about one outcome, the same in its own message, on the terminal and in every report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, log2

from tcdp_audit.core.base.language import active_translations
from tcdp_audit.core.base.outcome import (
    KNOWN_ROWS,
    RECORDS_WITHOUT_VALUE,
    Comparison,
    DisplayNames,
    Outcome,
    Tally,
    UsualThreshold,
)
from tcdp_audit.core.base.words import (
    agree,
    count,
    decimal,
    figure,
    in_words,
    listing,
    noun_form,
    noun_of_column,
    one_in,
    percent_of,
    plural,
    sentence_case,
    with_article,
)

LIMITS = {
    Comparison.AT_LEAST: "at least",
    Comparison.AT_MOST: "at most",
    Comparison.BELOW: "less than",
    Comparison.ABOVE: "more than",
}
NAMED = 5  # columns in a sentence, at most
SEVERAL = 10  # from here on a mean is written without digits


def state_of(outcome: Outcome) -> str:
    """The status as a report shows it: a failure that only warns is a warning."""
    return "warning" if outcome.is_warning else outcome.status.value


def demanded(outcome: Outcome) -> str:
    """The threshold with its comparison, such as `≥ 5`, or `none`."""
    return outcome.as_row().demanded


def bound(outcome: Outcome) -> str:
    """The threshold in words: `at least 5 is demanded`, `at most 0.2 is allowed`; `nothing is demanded` without one."""
    if outcome.threshold is None or outcome.comparison is None:
        return "nothing is demanded"
    kind = "demanded" if outcome.comparison.higher_is_safer else "allowed"
    return f"{LIMITS[outcome.comparison]} {decimal(outcome.threshold)} is {kind}"


def laxness_sentence(
    stricter: Sequence[UsualThreshold], threshold: Fraction | None, comparison: Comparison | None
) -> str:
    """A sentence on a threshold: the strictest usual one of the guide, and that of a profile; empty without any.

    `The policy demands at least 5; at least 11 is usual for public files (SOURCE).`
    """
    if not stricter or threshold is None or comparison is None:
        return ""
    limit = LIMITS[comparison]
    strictest = {bool(one.profile): one for one in stricter}.values()  # the laxest comes first
    usual = listing([f"{limit} {decimal(one.threshold)} is {one.says} ({one.source})" for one in strictest])
    return f"The policy demands {limit} {decimal(threshold)}; {usual}."


def strictness_sentences(outcome: Outcome) -> str:
    """The sentences on a demand that is laxer than usual, and on one that another demand implies; else nothing."""
    implied = f"A file that meets {outcome.implied_by} meets this demand, too." if outcome.implied_by else ""
    lax = laxness_sentence(outcome.laxer_than, outcome.threshold, outcome.comparison)
    return " ".join(filter(None, (lax, implied)))


def observed(outcome: Outcome) -> str:
    """The observed figure of the worst class."""
    return outcome.as_row().observed


def failing(outcome: Outcome) -> tuple[int, int] | None:
    """The numbers of classes and records that fail, where the outcome says so."""
    return outcome.as_row().failing


def doublings(outcome: Outcome) -> float | None:
    """log2 of the ratio between observed figure and threshold; positive is on the safe side.

    Infinite where no ratio is: nothing of what is demanded, or something where nothing is allowed.
    None where there is no demand, no figure, or no ratio because one of them is negative.
    """
    if outcome.threshold is None or outcome.observed is None or outcome.comparison is None:
        return None
    observed, threshold = outcome.observed, float(outcome.threshold)
    if observed < 0 or threshold < 0:
        return None
    safe = 1 if outcome.comparison.higher_is_safer else -1
    if observed == threshold:
        return 0.0
    if observed == 0 or threshold == 0 or observed == inf:
        return safe * (inf if observed > threshold else -inf)
    return safe * (log2(observed) - log2(threshold))


def record_noun(outcome: Outcome) -> str:
    """The noun for a record: `record`, or the policy's `unit_name` where a record is the unit of privacy."""
    if outcome.naming.record_name:
        return outcome.naming.record_name
    named = outcome.naming.unit_name if outcome.conventions.get("unit", "row") == "row" else ""
    return named or "record"


def unit_noun(outcome: Outcome) -> str:
    """The noun for what a class counts: records, or what the policy's unit names."""
    unit = outcome.conventions.get("unit", "row")
    return outcome.naming.unit_name or ("record" if unit == "row" else noun_of_column(unit))


def column_of(outcome: Outcome, name: str | None = None) -> str:
    """The name of a column in a sentence, by default the outcome's attribute: its label, or its name in quotes."""
    return outcome.naming.column(outcome.attribute or "" if name is None else name)


def columns_of(outcome: Outcome, names: Sequence[str]) -> str:
    """Some columns in a sentence: `age, sex and 'zip'`; of many the first, and how many more there are."""
    named = [column_of(outcome, name) for name in names]
    if len(named) > NAMED:
        named = [*named[: NAMED - 1], f"{len(named) - NAMED + 1:,} other columns"]
    return listing(named) if named else "nothing"


def known_columns(outcome: Outcome) -> str:
    """The columns that the intruder is taken to know, in the policy's order, or the whole history of them."""
    known = columns_of(outcome, outcome.naming.in_order(outcome.known))
    return f"{outcome.naming.history_name} {known}" if outcome.conventions.get(KNOWN_ROWS) == "all" else known


def known_facts(naming: DisplayNames, columns: Sequence[str]) -> str:
    """The sentence that names some known columns: `The four known facts are age band, sex, 'zip' and month`.

    Args:
        naming: the names of columns in sentences.
        columns: the columns, at least two.
    """
    named = [naming.column(one) for one in naming.in_order(columns)]
    return f"The {_facts(len(columns))} are {listing(named)}"


def with_known_facts(outcome: Outcome, columns: Sequence[str]) -> Outcome:
    """The outcome with sentences that say `the four known facts` where they list exactly these columns as known.

    `a person's age band and sex` becomes `the two known facts about a person`, and `the same age band and sex` becomes
    `the same two known facts`. What is replaced is the text of the list, so this also works for sentences of plugins.
    """
    if len(columns) < 2 or set(outcome.known) != set(columns):
        return outcome
    known, facts = re.escape(columns_of(outcome, outcome.naming.in_order(outcome.known))), _facts(len(columns))

    def renamed(text: str) -> str:
        text = re.sub(rf"\b(an? [^,.;:']+)'s {known}", rf"the {facts} about \1", text)
        text = re.sub(rf"\b(same|its|their|all) {known}", rf"\1 {facts}", text)
        return re.sub(known, f"the {facts}", text)

    if (translations := active_translations()) is not None:
        translations.offer_renamed((outcome.message, outcome.individual_impact), renamed)
    return replace(outcome, message=renamed(outcome.message), individual_impact=renamed(outcome.individual_impact))


def _facts(number: int) -> str:
    return f"{in_words(number)} known facts"


def person_of(outcome: Outcome) -> str:
    """The noun of a person in the table, with its article: `a person`, `a household`."""
    return with_article(outcome.naming.unit_name or _entity(outcome) or "person")


def intruder_who_knows(outcome: Outcome) -> str:
    """The subject of a sentence about one person: `An intruder who knows a person's age, sex and 'zip'`."""
    return f"An intruder who knows {person_of(outcome)}'s {known_columns(outcome)}"


def records_without_value(outcome: Outcome) -> int:
    """The number of records in classes in which no record has a value of the attribute."""
    return int(outcome.details.get(RECORDS_WITHOUT_VALUE, 0))


def average_group(outcome: Outcome) -> str:
    """The mean size of groups: `22 people`, `4.31 people`."""
    classes, records = outcome.classes, outcome.records
    assert classes is not None and records is not None  # noqa: S101, PT018 - outcomes on classes have both
    mean = records.total / max(classes.total, 1)
    number = float(round(mean)) if mean >= SEVERAL else mean
    return f"{figure(number)} {noun_form(record_noun(outcome), number)}"


def worst_people(outcome: Outcome) -> str:
    """The size of the worst group: `12 people`."""
    return count(outcome.worst[0].records if outcome.worst else 0, record_noun(outcome))


def every_record(outcome: Outcome) -> str:
    """All records of an outcome: `8,000 people`, `only record`; to follow `the`."""
    records = outcome.records
    assert records is not None  # noqa: S101 - outcomes on classes have them
    return agree(records.total, f"only {record_noun(outcome)}", count(records.total, record_noun(outcome)))


def chance_of(value: Fraction | float) -> str:
    """The certainty of a guess: `certainty`, `a chance of 1 in 4`, `a chance of 66.7%`, `no chance`."""
    if value in (0, 1):
        return "certainty" if value else "no chance"
    return f"a chance of {one_in(value)}"


def _entity(outcome: Outcome) -> str:
    """The noun for what the policy's unit identifies; nothing where a record is the unit, or its name says nothing."""
    unit = outcome.conventions.get("unit", "row")
    noun = "" if unit == "row" else noun_of_column(unit)
    return "" if noun == "entity" else noun


def groups(number: int) -> str:
    """`a group`, `812 groups`: how a sentence names equivalence classes."""
    return agree(number, "a group", count(number, "group"))


def victims(outcome: Outcome) -> str:
    """The failing records and classes: `3,244 of 30,162 records are in 812 groups`."""
    classes, records = outcome.classes, outcome.records
    assert classes is not None and records is not None  # noqa: S101, PT018 - outcomes on classes have both
    return f"{records_of(records, record_noun(outcome))} in {groups(classes.failing or 0)}"


def part_of(number: float, total: int, noun: str) -> str:
    """`1 of 4 records`, `all 4 records`, `both records`, `the only record`, `no record`."""
    if not number:
        return f"no {noun}"
    if number == total:
        return f"both {plural(noun)}" if total == 2 else agree(total, f"the only {noun}", f"all {count(total, noun)}")
    return f"{figure(number)} of {count(total, noun)}"


def records_of(records: Tally, noun: str = "record") -> str:
    """The failing records and their verb: `1 of 4 records is`, `All 4 people are`."""
    number = records.failing or 0
    return f"{sentence_case(part_of(number, records.total, noun))} {agree(number or 1, 'is', 'are')}"


def allowance(outcome: Outcome) -> str:
    """The part that the policy allows of a share: `at most 10% is allowed`, `none is allowed`."""
    if not outcome.threshold or outcome.comparison is None:
        return "none is allowed"
    return f"{LIMITS[outcome.comparison]} {percent_of(outcome.threshold)} is allowed"


def worst_group(outcome: Outcome, adjective: str) -> str:
    """`the smallest of 1,234 groups`, `the only group`."""
    assert outcome.classes is not None  # noqa: S101 - outcomes on classes have them
    total = outcome.classes.total
    return agree(total, "the only group", f"the {adjective} of {count(total, 'group')}")


def worst_group_of(outcome: Outcome, adjective: str) -> str:
    """The same with how many are in it: `the smallest of 1,234 groups, of 3 people,`."""
    return f"{worst_group(outcome, adjective)}, of {worst_people(outcome)},"
