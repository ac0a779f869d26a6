"""The first screen's sentences on people: what an intruder is taken to know, and what the number of exposed counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tcdp_audit.plugin._internal import failing, in_words
from tcdp_audit.plugin.aggregate import FailingCell
from tcdp_audit.plugin.check import DisclosureType
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import Outcome, Status, column_of, record_noun, say, sentence_case, unit_noun, visible
from tcdp_audit_reports.languages import once_per_report
from tcdp_audit_reports.policy_text import first_names, known, name_of, runs

EVENTS = ("known_events", "unicity")  # demands on people of whom some rows are known
UNIT_NOUN = "unit_noun"  # the detail of a demand on rows with what the units are called that it counts
CERTAIN = "homogeneity"  # the demand on people whose secret is certain
DISTINCT = "distinct_l_diversity"  # the demand on the number of values in a group
OF_HOUSEHOLDS = ("unit_highest", "highest_by_composition")  # the chances to find a household
WEIGHED = "individual_risk"  # the demand on the number of people that each row represents
NAMED = 5  # failing demands with their numbers of people, in a sentence


@once_per_report
def known_facts(audit: Audit) -> tuple[str, str]:
    """The name of the facts that an intruder is taken to know, and the sentence that lists them.

    Both are empty if a policy has fewer than two such columns, or intruders of its own and no sentence that needs the
    name.
    """
    columns, checks = known(audit), audit.plugins.checks
    words = in_words(len(columns))
    facts = f"{words} known facts"
    if len(columns) < 2 or not audit.has_records:
        return "", ""
    if not audit.scenarios:
        sentence = say(
            "An intruder is taken to know a person’s {names:names}[{inside?}, that the person is in the "
            "[{tables?}tables|file]], and nothing else.",
            names=first_names(columns),
            inside=all(one.check in checks and checks[one.check].on_classes for one in audit.expectations),
            tables=bool(audit.release.tables),
        )
        sentence = " ".join(filter(None, (sentence, _households(audit), _whole_histories(audit))))
    elif any(facts in f"{one.message} {one.individual_impact}" for one in audit.expectations):
        sentence = say(
            "{names:names}. [{whole?}{whole:names} {n:knows|know} all of them; what|What] [{others?}others know|each "
            "intruder knows] of them is below.",
            names=[*_capital(columns)],
            whole=(whole := _who_know_all(audit)),
            others=bool(whole),
            n=len(whole),
        )
    else:
        return "", ""
    return say("The {words:text} known facts.", words=words), sentence


def _who_know_all(audit: Audit) -> list[str]:
    """The policy's intruders who know every column that an intruder may know."""
    columns = {one.name for one in audit.columns if one.role is Role.QUASI_IDENTIFIER and one.is_present}
    named = [one for one in audit.scenarios if " " not in one.name and columns <= {*one.knows}]
    return [sentence_case(visible(one.name)) if not at else visible(one.name) for at, one in enumerate(named)]


def _capital(names: Sequence[str]) -> Iterator[str]:
    yield from (sentence_case(name) if not at else name for at, name in enumerate(names))


def relation(audit: Audit) -> str:
    """Sentences on the people that each failing demand exposes, and on failures without a number; empty without any."""
    if not audit.has_records:
        return " ".join(_of_few_people(audit))
    if not any(one.status is Status.FAILED for one in audit.outcomes):
        return ""
    counted = (*_at_worst(audit), *_with_rows(audit), *_counted(audit), *_surest_guess(audit), *_left_out(audit))
    return " ".join([*counted, *_chance(audit), *_warned(audit)])


def _of_few_people(audit: Audit) -> Iterator[str]:
    """The people of failing figures, what can happen to one of them, and the worst figure; nothing without any."""
    checks, figures = audit.plugins.checks, dict[tuple[str, str], tuple[int, int, FailingCell]]()
    few = [
        (number, one)
        for number, one in _numbered(audit, warning=False)
        if one.check in checks and checks[one.check].disclosure_type is DisclosureType.IDENTITY_MODEL
        if one.parameters.get("k")
    ]
    numbers = Counter[tuple[str, str]]()  # of figures by the cell that names them, which may be one for several
    for number, one in few:
        numbers |= Counter((cell.table, cell.name) for cell in one.failing_cells)
        for cell in one.failing_cells:
            figures.setdefault((cell.table, cell.name), (number, int(one.parameters["k"]), cell))
    if not figures:
        return
    noun, most = visible(audit.policy.document.unit_name or "person"), max(k for _, k, _ in figures.values())
    named = all(one.cells is None or one.cells.failing == len(one.failing_cells) for _, one in few)
    yield say(
        "[{named?}At most {all:{noun}}: fewer|Fewer] than {most} in [{n=1?}the failing figure|each of {n} failing "
        "figures, and some may be in [{n=2?}both|several]]. A reader learns that they are so few; anyone who knows one "
        "may recognise this {noun}[{known?} by {known:names}].",
        named=named,
        all=numbers.total() * (most - 1),
        most=most,
        noun=noun,
        n=numbers.total(),
        known=first_names([*dict.fromkeys(visible(name) for *_, cell in figures.values() for name in cell.labels)]),
    )
    from tcdp_audit_reports.cell_grids import is_hidden, is_of_few  # noqa: PLC0415 - only for tables of figures

    number, k, worst = max(figures.values(), key=lambda one: is_hidden(audit, one[2]))
    yield say(
        "Worst for one {noun}: [{few?}anyone in {cell}, is one of at most {rest}|{cell}] (demand "
        "{number})[{hidden?}; the tables hide how many, and every reader can compute it].",
        few=is_of_few(audit, worst, k),
        rest=k - 1,
        noun=noun,
        cell=visible(worst.name),
        number=number,
        hidden=is_hidden(audit, worst),
    )


def _chance(audit: Audit) -> Iterator[str]:
    """The chance to find a person whom one knows to be in the file, and which demands give another one.

    Nothing if no demand measures it, or if the policy has intruders of its own.
    """
    if audit.scenarios:
        return
    measured = [
        (number, one)
        for number, one in enumerate(audit.expectations, 1)
        if one.details.get("classes_are_of") == "release" and {"highest", "average"} <= one.details.keys()
    ]
    shares = {id(one) for one in _shares(audit)}
    others = [str(number) for number, one in enumerate(audit.expectations, 1) if id(one) in shares]
    for number, one in measured[:1]:
        whole = of_whole_households(audit)
        others = [other for other in others if other != str(number) and other not in whole]
        yield say(
            "The chance to find a person who is known to be in the file is [{top=1?}certainty|{top:one in}] at worst "
            "and {mean:one in} on average (demand {number})[{others?}; [{several?}demands|demand] {others:names} "
            "[{several?}give|gives] another one, of an intruder whom the finding describes].",
            top=float(one.details["highest"]),
            mean=float(one.details["average"]),
            number=number,
            others=others,
            several=len(others) > 1,
        )
    for number, one in enumerate(audit.expectations, 1):
        if str(number) in of_whole_households(audit) and {"unit_highest", "highest"} <= one.details.keys():
            yield say(
                "Who does not know who is in the file is estimated to find a person with {single:chance} at worst, "
                "and, knowing everyone in a household, one of them with {chance:chance} (demand {number}).",
                single=float(one.details["highest"]),
                chance=max(float(one.details[name]) for name in OF_HOUSEHOLDS if name in one.details),
                number=number,
            )
            return


def of_whole_households(audit: Audit) -> list[str]:
    """The numbers of the demands under which an intruder knows everyone in a household."""
    return [str(number) for number, one in enumerate(audit.expectations, 1) if "households" in one.details]


def of_weights(audit: Audit) -> list[str]:
    """The numbers of the demands that take from a column of weights how many people a row represents."""
    weight = audit.policy.document.weight
    if not any(one.name == weight and one.is_present for one in audit.columns):
        return []
    return [str(number) for number, one in enumerate(audit.expectations, 1) if one.check == WEIGHED]


def _households(audit: Audit) -> str:
    """The sentence on an intruder's knowledge of a household, by demand; empty if all demands agree."""
    whole = of_whole_households(audit)
    rest = [str(number) for number in range(1, len(audit.expectations) + 1) if str(number) not in whole]
    if audit.policy.document.household is None or audit.policy.conventions.known_rows != "one" or not (whole and rest):
        return ""
    return say(
        "Of a household the intruder knows one person under [{many?}demands|demand] {rest:names}, and everyone in it "
        "under [{several?}demands|demand] {whole:names}.",
        rest=[*runs(map(int, rest))],
        many=len(rest) > 1,
        whole=[*runs(map(int, whole))],
        several=len(whole) > 1,
    )


def _whole_histories(audit: Audit) -> str:
    """The sentences on the assumption that all rows of a person are known; empty where single rows are judged."""
    whole = [one for one in audit.expectations if one.conventions.get("known_rows") == "all"]
    if not whole or audit.policy.document.household is not None:
        return ""
    return say(
        "These are known in all rows of a {noun}[{tables?}, in every table], and which rows belong together: the "
        "whole history. Who knows only some of the rows may be less certain[{asked?}|: see what this "
        "verdict rests on].",
        noun=unit_noun(whole[0]),
        tables=audit.policy.document.tables is not None,
        asked=any(one.check in EVENTS for one in audit.expectations),
    )


@dataclass(frozen=True)
class Affected:
    """Whom a demand affects: people, or units; records where it says no more.

    Args:
        number: of them.
        noun: what they are called, in the singular.
        records: the records of one of several tables, or of units, that are affected; None where these are what counts.
        record: what those are called, in the singular.
        of: of how many units with a row in the table; None where these are what counts.
        table: the one of several tables whose rows a demand judges; empty otherwise.
    """

    number: int
    noun: str
    records: int | None = None
    record: str = ""
    of: int | None = None
    table: str = ""

    @property
    def in_words(self) -> str:
        """The number with its noun, and the records behind it: `139 patients (307 records of visits)`."""
        return say(
            "{n:{noun}}[{some?} ({records:{record}})]",
            n=self.number,
            noun=self.noun,
            some=self.records is not None,
            records=self.records or 0,
            record=self.record or "record",
        )


def affected(outcome: Outcome) -> Affected | None:
    """Whom a demand affects; None where it has no number."""
    fails = failing(outcome)
    if fails is None:
        return None
    details, noun = outcome.details, record_noun(outcome)
    if UNIT_NOUN not in details or details.get("records_without_value"):
        return Affected(fails[1], noun)
    return Affected(
        int(details["victim_units"]),
        visible(str(details[UNIT_NOUN])),
        fails[1],
        noun,
        int(details["units"]),
        outcome.table or "",
    )


def _with_rows(audit: Audit) -> Iterator[str]:
    """The sentence on a table of which everyone who has a row in it is exposed; nothing where there is none."""
    tables, exposed = audit.linked_tables, audit.exposed
    if tables is None or exposed is None or exposed.people is None:
        return
    whole = {name: number for name, number in tables.with_rows.items() if number == tables.exposed_with_rows.get(name)}
    if not any(whole.values()):
        return
    name = max(whole, key=lambda one: whole[one])
    yield say(
        "[{same?}These are|Among them are] all {n:{noun}} with rows in {name}"
        "[{rest>0?}[{same?}; the other {rest:{noun}} {rest:has|have} none]].",
        same=exposed.people == whole[name],
        n=whole[name],
        noun=visible(tables.noun),
        name=visible(name),
        rest=tables.total - whole[name],
    )


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
        (whom, number, one)
        for number, one in _numbered(audit, warning=False)
        if id(one) in counted
        if (whom := affected(one)) is not None
    ]
    ranked = sorted(of_each, key=lambda each: (-each[0].number, each[1]))
    if not ranked:
        return
    if len(ranked) == 1:
        whom, number, one = ranked[0]
        if whom.number != audit.exposed.people:  # otherwise the verdict has said it
            yield say("Demand {number} exposes {people:text}.", number=number, people=whom.in_words)
        return
    without = {int(one.details.get("records_without_value", 0)) for _, _, one in ranked}
    shared = max(without) if len(without - {0}) == 1 else 0  # all that have any have these
    nouns = {whom.noun for whom, _, _ in ranked}
    has_units = len(nouns) > 1 or any(whom.records is not None for whom, _, _ in ranked)
    alike: dict[tuple[str, int, int], list[int]] = {}  # the demands that affect the same number
    for whom, number, one in ranked:
        own = int(one.details.get("records_without_value", 0))
        key = (whom.in_words if has_units else "", whom.number, 0 if has_units or own == shared else own)
        alike.setdefault(key, []).append(number)
    numbers = [_number(*key, demands) for key, demands in alike.items()]
    yield say(
        "Of the {total}, {numbers:names}. Do not add these numbers: several demands can expose the same {noun:plural}.",
        total=audit.exposed.people,
        numbers=first_names(numbers, NAMED + 1),
        noun=ranked[0][0].noun,
    )
    if shared and not has_units:
        counting = sorted(number for _, number, one in ranked if one.details.get("records_without_value"))
        yield say(
            "[{many?}Demands|Demand] {demands:names} [{many?}count|counts] {n:{noun}} in groups in which no one has a "
            "value: that is all that is learned of them, but with nothing to compare they count as failing, to be "
            "safe.",
            many=len(counting) > 1,
            demands=[*runs(counting)],
            n=shared,
            noun=ranked[0][0].noun,
        )


def _number(in_words: str, people: int, without: int, demands: Sequence[int]) -> str:
    """The people of some demands, and how many of them are in groups in which no one has a value, where that is said.

    `in_words` is what to say of people who are units of several records; empty for others.
    """
    return say(
        "[{units?}[{several?}demands|demand] {demands:names} [{several?}expose|exposes] {units:text}"
        "|[{several?}demands|demand] {demands:names} [{several?}expose|exposes] {n}][{without>0?} ({rest}, and "
        "{without} in groups in which no one has a value: with nothing to compare, they count as failing)]",
        units=in_words,
        n=people,
        several=len(demands) > 1,
        demands=[*map(str, demands)],
        without=without,
        rest=people - without,
    )


def _at_worst(audit: Audit) -> Iterator[str]:
    """The number of people counted, the largest possible number, and the reason for it."""
    exposed = audit.exposed
    if exposed is None or exposed.people is None or not audit.expectations:
        return
    links, shares, columns, means = linking_keys(audit), _shares(audit), _faulty_columns(audit), _averages(audit)
    fails = [failing(one) for one in shares]
    uncounted = [one for one, known in zip(shares, fails, strict=True) if known is None]
    if links or columns or means or None in fails:
        worst = exposed.people_of
    else:
        worst = min(exposed.people_of, exposed.people + sum(one[1] for one in fails if one))
    why = [
        *([say("if {names:names} {n:is|are} published", names=links, n=len(links))] if links else []),
        *([say("by what is wrong with whole columns ({titles:text})", titles=_titles(columns))] if columns else []),
        *([_names_no_one(audit, means, uncounted)] if means or uncounted else []),
    ]
    yield say(
        "Counted: {n:{noun}}, by demands that fail. At worst: [{more?}[{all?}all ]{worst}[{why?}, {why:text}]|no "
        "more].",
        n=exposed.people,
        noun=unit_noun(audit.expectations[0]),
        more=worst > exposed.people,
        all=worst == exposed.people_of,
        worst=worst,
        why=why,
    )


@dataclass(frozen=True)
class SurestGuess:
    """The guess at a person's value that a demand's worst group makes: right for so many of its members."""

    outcome: Outcome
    have: int
    of: int

    @property
    def chance(self) -> float:
        """The chance that it is right."""
        return self.have / self.of

    @classmethod
    def of_demand(cls, audit: Audit, outcome: Outcome) -> SurestGuess | None:
        """The guess of a demand; None where the demand does not say."""
        shared = outcome.details.get("shared_value") or {}
        have, of = shared.get("have"), shared.get("of")
        if outcome.attribute is None:
            return None
        if outcome.check == DISTINCT and outcome.observed == 1 and outcome.worst:  # all have the only value there is
            is_complete = any(one.name == outcome.attribute and one.missing == 0 for one in audit.columns)
            have = of = outcome.worst[0].records if is_complete else None
        if UNIT_NOUN in outcome.details:  # several rows of each: groups are of rows, and said to be
            is_certain = bool(outcome.details.get("victims")) or (have is not None and have == of)
            rows = outcome.worst[0].records if outcome.worst and is_certain else 0
            have = of = rows
        return cls(outcome, have, of) if have and of else None


def _surest_guess(audit: Audit) -> Iterator[str]:
    """The one failing demand that is worst for one person: that by which a guess at a value is right most often.

    Of guesses that are certain, the one in the largest group comes first: there it gives most people away, and no one
    in it has to be the only match. Someone who is alone comes last, and the sentence says why the guess is certain.
    """
    failing = _numbered(audit, warning=False)
    guesses = [
        (guess.chance, guess.of, -number, guess)
        for number, one in failing
        if (guess := SurestGuess.of_demand(audit, one)) is not None
    ]
    certain = [(whom.number, -number, one, whom) for number, one in failing if (whom := _whose_secret_is_certain(one))]
    if certain and len(failing) > 1:
        _, number, outcome, whom = max(certain, key=lambda one: one[:2])
        alone = _alone_among(audit, outcome)
        yield say(
            "Worst for one person: who knows the [{several?}whole history of|facts about] one of {n:{noun}} knows "
            "[{several?}a value of ]the {name} for certain (demand {number})[{alone>0?}; for {alone} of them, as no "
            "one else has these facts].",
            number=-number,
            several=whom.of is not None,
            name=visible(column_of(outcome)),
            n=whom.number,
            noun=whom.noun,
            alone=alone,
        )
    elif guesses and len(failing) > 1:
        *_, number, guess = max(guesses, key=lambda one: one[:3])
        of_rows = UNIT_NOUN in guess.outcome.details
        yield say(
            "Worst for one person: [{rows?}who knows the whole history of one of those in a group of {of:{noun}} knows "
            "a value of the {name} for certain|{sure?}{of=1?}who knows the facts about one {noun} knows the {name} for "
            "certain, as no one else has these facts|{sure?}who knows the facts about one of {of:{noun}} in a group "
            "knows the {name} for certain|a guess at the {name} is right for {have} of {of:{noun}} with the same "
            "facts] (demand {number}).",
            number=-number,
            name=visible(column_of(guess.outcome)),
            have=guess.have,
            of=guess.of,
            rows=of_rows,
            sure=guess.have == guess.of,
            noun=record_noun(guess.outcome),
        )


def _whose_secret_is_certain(outcome: Outcome) -> Affected | None:
    """Whom a failing attack gives a secret away for certain; None where it is another demand."""
    whom = affected(outcome) if outcome.check == CERTAIN and not outcome.details.get("records_without_value") else None
    return whom if whom is not None and whom.number else None


def _alone_among(audit: Audit, outcome: Outcome) -> int:
    """The people whose secret is certain as they are the only match; 0 where that is not known of each."""
    values = next((one for one in audit.columns if one.name == outcome.attribute), None)
    if UNIT_NOUN in outcome.details:  # groups of whole histories are counted elsewhere
        return 0
    return alone_against(audit, outcome.scenario or "") if values is not None and not values.missing else 0


def alone_against(audit: Audit, scenario: str) -> int:
    """The records that are the only match of what an intruder knows, by a demand that counts groups of the release.

    Args:
        audit: the audit.
        scenario: the intruder; empty where the policy names none.

    Returns:
        Their number; 0 where there are none, or where no demand against the intruder counted groups.
    """
    for one in audit.expectations:
        if (one.scenario or "") == scenario and one.details.get("classes_are_of") == "release":
            return sum(int(records) for size, _, records in one.details.get("distribution", ()) if size == 1)
    return 0


def _names_no_one(audit: Audit, means: Sequence[Outcome], others: Sequence[Outcome]) -> str:
    """The clause on failing demands without a number of people: anyone may be among those whom they expose."""
    numbers = {id(one): str(number) for number, one in enumerate(audit.expectations, 1)}
    if others:
        places = [
            str(number)
            for number, one in enumerate(audit.expectations, 1)
            if id(one) in {*map(id, means), *map(id, others)}
        ]
        return say("as [{n>1?}demands|demand] {numbers:names} {n:names|name} no one", n=len(places), numbers=places)
    return say(
        "as [{n>1?}demands|demand] {numbers:names} {n:limits an average and names|limit averages and name} no one",
        n=len(means),
        numbers=[numbers[id(one)] for one in means],
    )


def linking_keys(audit: Audit) -> list[str]:
    """The keys that are still in a file that is to be published."""
    if audit.policy.document.internal_only:
        return []
    return [name_of(one) for one in audit.columns if one.is_key and one.is_present]


def _left(audit: Audit) -> list[Outcome]:
    """The failures that the number of exposed people leaves out."""
    return [] if audit.exposed is None else [audit.outcomes[at] for at in audit.exposed.left_out]


def _averages(audit: Audit) -> list[Outcome]:
    """The failures left out that are a mean over all."""
    asked = {id(one) for one in audit.expectations}
    return [one for one in _left(audit) if id(one) in asked and one.parameters.get("measure") == "average"]


def _shares(audit: Audit) -> list[Outcome]:
    """The failures left out that are a number of people without their identity."""
    asked, means = {id(one) for one in audit.expectations}, {id(one) for one in _averages(audit)}
    return [
        one
        for one in _left(audit)
        if id(one) in asked and id(one) not in means and not one.is_question and one.cells is None
    ]


def _faulty_columns(audit: Audit) -> list[Outcome]:
    """The failures left out that are about whole columns."""
    return [one for one in _left(audit) if one.is_structural and one.cells is None]


def _titles(outcomes: Sequence[Outcome]) -> str:
    return "; ".join(visible(one.title or one.check) for one in outcomes)


def _left_out(audit: Audit) -> Iterator[str]:
    """The failures that are not in the number."""
    exposed = audit.exposed
    if exposed is None:
        return
    numbers = {id(one): number for number, one in enumerate(audit.expectations, 1)}
    means, shares = _averages(audit), _shares(audit)
    if means and exposed.people is None:
        yield say(
            "[{n>1?}Demands|Demand] {numbers:names} {n:is an average|are averages} over all {people:{noun}}, so "
            "{n:it exposes|they expose} no particular one.",
            n=len(means),
            numbers=[str(numbers[id(one)]) for one in means],
            people=exposed.people_of,
            noun=unit_noun(means[0]),
        )
    if shares:
        yield say(
            "[{known?}Not counted|There is no single number of {noun:plural}]: [{n>1?}demands|demand] {numbers:names} "
            "{n:says|say} how many or how likely, not who.",
            known=exposed.people is not None,
            noun=record_noun(shares[0]),
            n=len(shares),
            numbers=[str(numbers[id(one)]) for one in shares],
        )
    columns = _faulty_columns(audit)
    if columns and exposed.people is None:
        yield say("Not counted: what is wrong with whole columns ({titles:text}).", titles=_titles(columns))
    left_out = _left(audit)
    if any(one.is_question for one in left_out):
        yield "What a person answers is not counted."
    if any(one.cells is not None for one in left_out):
        yield "Failing figures of tables are not counted."


def _warned(audit: Audit) -> Iterator[str]:
    """The people whom demands of severity warning are about, and all of them where a key is still in the file."""
    links = linking_keys(audit)
    if links:
        yield say(
            "Anyone who holds another table with the same {names:names}[{original?}, such as the original,] could "
            "match all {people:{noun}} to their rows[{secrets?}, and read every secret]; only a warning says so.",
            secrets=any(one.role is Role.SENSITIVE and one.is_present for one in audit.columns),
            names=links,
            original="original" in audit.companions,
            people=audit.release.records,
            noun=unit_noun(audit.expectations[0]) if audit.expectations else "record",
        )
    for number, one in _numbered(audit, warning=True):
        whom = affected(one)
        if whom is not None and whom.number:
            yield say(
                "Demand {number} only warns: of the {n:{noun}} that it affects, those count whom a failing demand "
                "affects, too.",
                number=number,
                n=whom.number,
                noun=whom.noun,
            )
