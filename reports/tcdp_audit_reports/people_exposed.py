"""The first screen's sentences on people: what an intruder is taken to know, and what the number of exposed counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import failing, in_words
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import Outcome, Status, record_noun, say, sentence_case, unit_noun, visible
from tcdp_audit_reports.languages import once_per_report
from tcdp_audit_reports.policy_text import first_names, known, name_of

NAMED = 5  # failing demands with their numbers of people, in a sentence


@once_per_report
def known_facts(audit: Audit) -> tuple[str, str]:
    """The name of the facts that an intruder is taken to know, and the sentence that lists them.

    Both are empty if a policy has fewer than two such columns, or intruders of its own and no sentence that needs the
    name.
    """
    columns = known(audit)
    words = in_words(len(columns))
    facts = f"{words} known facts"
    if len(columns) < 2 or not audit.has_records:
        return "", ""
    if not audit.scenarios:
        sentence = say(
            "A neighbour, an employer or a newspaper is taken to know a person’s {names:names}.",
            names=first_names(columns),
        )
    elif any(facts in f"{one.message} {one.individual_impact}" for one in audit.expectations):
        sentence = say("{names:names}. What each intruder knows of them is below.", names=[*_capital(columns)])
    else:
        return "", ""
    return say("The {words:text} known facts.", words=words), sentence


def _capital(names: Sequence[str]) -> Iterator[str]:
    yield from (sentence_case(name) if not at else name for at, name in enumerate(names))


def relation(audit: Audit) -> str:
    """Sentences on the people that each failing demand exposes, and on failures without a number; empty without any."""
    if not audit.has_records or not any(one.status is Status.FAILED for one in audit.outcomes):
        return ""
    return " ".join([*_counted(audit), *_left_out(audit), *_warned(audit)])


def _numbered(audit: Audit, *, warning: bool) -> list[tuple[int, Outcome]]:
    """The demands that fail, or those that only warn, with their numbers."""
    return [
        (number, one)
        for number, one in enumerate(audit.expectations, 1)
        if one.status is Status.FAILED and one.is_warning is warning
    ]


def _counted(audit: Audit) -> Iterator[str]:
    """The number of people that each failing demand exposes, the largest first."""
    if audit.exposed is None or audit.exposed.people is None:
        return
    counted = {id(audit.outcomes[at]) for at in audit.exposed.counted}
    of_each = [
        (fails[1], number, one)
        for number, one in _numbered(audit, warning=False)
        if id(one) in counted
        if (fails := failing(one)) is not None
    ]
    ranked = sorted(of_each, key=lambda each: (-each[0], each[1]))
    if not ranked:
        return
    if len(ranked) == 1:
        people, number, one = ranked[0]
        if people != audit.exposed.people:  # otherwise the verdict has said it
            yield say("Demand {number} exposes {n:{noun}}.", number=number, n=people, noun=record_noun(one))
        return
    numbers, said = list[str](), set[int]()
    for people, number, one in ranked:
        without = int(one.details.get("records_without_value", 0))
        numbers.append(_number(people, number, without, is_same=without in said))
        said.add(without)
    yield say(
        "{numbers:names}. Do not add these numbers: several demands can expose the same {noun:plural}.",
        numbers=first_names(numbers, NAMED + 1),
        noun=record_noun(ranked[0][2]),
    )


def _number(people: int, number: int, without: int, *, is_same: bool) -> str:
    """The people of a demand, and how many of them are in groups in which no one has a value."""
    return say(
        "{n} by demand {number}[{without>0?} ({rest}, and "
        "[{same?}the same {without}|{without} in groups without any value, which fail by convention])]",
        n=people,
        number=number,
        without=without,
        rest=people - without,
        same=is_same,
    )


def _left_out(audit: Audit) -> Iterator[str]:
    """The failures that the number leaves out, and how many people it may be at worst."""
    exposed = audit.exposed
    if exposed is None:
        return
    numbers = {id(one): number for number, one in enumerate(audit.expectations, 1)}
    left_out = [audit.outcomes[at] for at in exposed.left_out]
    shares = [one for one in left_out if id(one) in numbers and not one.is_question and one.cells is None]
    columns = [one for one in left_out if one.is_structural and one.cells is None]
    if shares:
        yield say(
            "[{known?}Not counted|There is no single number of {noun:plural}]: [{n>1?}demands|demand] {numbers:names} "
            "{n:says|say} how many, not who.",
            known=exposed.people is not None,
            noun=record_noun(shares[0]),
            n=len(shares),
            numbers=[str(numbers[id(one)]) for one in shares],
        )
    if columns:
        yield say(
            "[{shares?}Nor is what is wrong with whole columns counted|Not counted: what is wrong with whole columns] "
            "({titles:text}).",
            shares=bool(shares),
            titles="; ".join(visible(one.title or one.check) for one in columns),
        )
    if any(one.is_question for one in left_out):
        yield "What a person answers is not counted."
    if any(one.cells is not None for one in left_out):
        yield "Failing cells of tables of figures are not counted."
    if exposed.people is not None and exposed.people < exposed.people_of and (shares or columns):
        numbers_of_shares = [failing(one) for one in shares]
        more = None if columns or None in numbers_of_shares else sum(one[1] for one in numbers_of_shares if one)
        worst = exposed.people_of if more is None else min(exposed.people_of, exposed.people + more)
        yield say(
            "So it is the least number; at worst [{all?}all ]{n:{noun}} are exposed.",
            all=worst == exposed.people_of,
            n=worst,
            noun=unit_noun(audit.expectations[0]),
        )


def _warned(audit: Audit) -> Iterator[str]:
    """The people whom demands of severity warning are about, and all of them where a key is still in the file."""
    links = [name_of(one) for one in audit.columns if one.is_key and one.is_present]
    if links and not audit.policy.document.internal_only:
        yield say(
            "As long as {names:names} {n:is|are} in the file, all {people:{noun}} can be linked with another table "
            "that has {n:it|them}; only a warning says so, and they are not counted for it.",
            names=links,
            n=len(links),
            people=audit.release.records,
            noun=unit_noun(audit.expectations[0]) if audit.expectations else "record",
        )
    for number, one in _numbered(audit, warning=True):
        fails = failing(one)
        if fails is not None and fails[1]:
            yield say(
                "Demand {number} only warns: the {n:{noun}} that it affects {n:is|are} not counted for it.",
                number=number,
                n=fails[1],
                noun=record_noun(one),
            )
