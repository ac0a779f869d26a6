"""The verdict of an audit, in a word and in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tcdp_audit.core.base import phrases
from tcdp_audit.core.base.audit_figures import failures
from tcdp_audit.core.base.outcome import CELLS_AGREE, UNDEMANDED_SENSITIVE, Outcome, Status
from tcdp_audit.core.base.phrases import column_of
from tcdp_audit.core.base.words import agree, listing, noun_of_column, plural, sentence_case, share, visible
from tcdp_audit.core.check.translation import say
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.results.conditions import SHOWN, Condition, fit_sentence, undemanded_clause
from tcdp_audit.core.results.tally import tally_of

if TYPE_CHECKING:
    from tcdp_audit.core.base.outcome import Outcome
    from tcdp_audit.core.results.audit import Audit


VERDICTS = {
    "passed": "Fit for release",
    "failed": "Not fit for release",
    "error": "Audit incomplete",
    "measured": "Measured, not judged",
}


def title_of(state: str, constant_columns: Iterable[str] = (), conditions: Sequence[Condition] = ()) -> str:
    """A verdict in a few words.

    For a release that is fit it names the columns that remedies made constant. It is never "Fit for release" alone if a
    condition applies, such as a key in the file.

    Args:
        state: the state of the verdict.
        constant_columns: the columns that remedies made constant.
        conditions: the conditions under which a release that passes is fit.
    """
    if state != "passed":
        return VERDICTS[state]
    names = ", ".join(map(visible, constant_columns))
    return f"{fit_sentence(conditions)}{f', and useless for: {names}' if names else ''}"


def verdict_title(audit: Audit) -> str:
    """The verdict of an audit in a few words."""
    constant_columns = () if audit.change_log is None else audit.change_log.constant_columns
    return title_of(verdict_of(audit), constant_columns, audit.conditions)


def known_facts(audit: Audit) -> str:
    """The sentence that names what a report calls the known facts; empty where no sentence needs the name.

    `The four known facts are age band, sex, postcode and month of admission.`
    """
    columns = audit.policy.with_role(Role.QUASI_IDENTIFIER)
    named = any(phrases.with_known_facts(one, columns) != one for one in audit.outcomes)
    return f"{phrases.known_facts(audit.policy.naming, columns)}." if named else ""


def with_known_facts(audit: Audit) -> Audit:
    """The audit with sentences that say `the four known facts` where they list every quasi-identifier as known.

    For a report that gives the name once, as `known_facts` says it. Other sentences stay as they are: those of
    scenarios in which other columns are known, and those of a single quasi-identifier.
    """
    columns = audit.policy.with_role(Role.QUASI_IDENTIFIER)
    return replace(audit, outcomes=tuple(phrases.with_known_facts(one, columns) for one in audit.outcomes))


def verdict_of(audit: Audit) -> str:
    """The state of the verdict: the audit's status, but failed if a demand fails while others are not checked."""
    return "failed" if failures(audit.outcomes) else audit.status


def verdict_sentence(audit: Audit) -> str:
    """The sentences on several tables, the demands' results, the people exposed, and an incomplete audit."""
    of_tables = "" if audit.linked_tables is None else audit.linked_tables.sentence
    demands, reason, exposed = tally_of(audit.outcomes).sentence, _no_demand(audit), _exposed(audit)
    sentences = (of_tables, _examined(audit), demands, reason, exposed, _undemanded(audit), _incomplete(audit))
    return " ".join(sentence for sentence in sentences if sentence)


def _examined(audit: Audit) -> str:
    """The released figures that were examined, and whether with the records behind them."""
    if not audit.figures and not audit.models:
        return ""
    from tcdp_audit.core.results.linked_tables import sentence_of_figures  # noqa: PLC0415 - only for figures

    with_microdata = any(one.check == CELLS_AGREE and one.status is not Status.SKIPPED for one in audit.structure)
    return sentence_of_figures(audit.sizes_of_figures, audit.models, with_microdata=with_microdata)


def exposed_sentence(audit: Audit) -> str:
    """The total number of people exposed, what it counts and what it leaves out; empty if no demand fails."""
    sentences = (_exposed(audit), _counted_once(audit), *(_left_out(audit) if audit.has_records else ()))
    return " ".join(sentence for sentence in sentences if sentence)


def people_noun(audit: Audit) -> str:
    """The singular noun for the total number: a record, or the policy's unit."""
    document = audit.policy.document
    return document.unit_name or ("record" if document.unit is None else noun_of_column(document.unit))


def _no_demand(audit: Audit) -> str:
    """The reason why there is no verdict although no demand fails."""
    if audit.status != "measured":
        return ""
    if any(one.is_judged for one in audit.expectations):
        return "Nothing was judged: a demand of severity warning fails no release."
    return "The policy demands nothing that could fail."


def _undemanded(audit: Audit) -> str:
    """The sensitive columns without a demand, where the title does not name them."""
    if verdict_of(audit) not in ("failed", "error"):
        return ""
    finding = next((one for one in audit.structure if one.check == UNDEMANDED_SENSITIVE), None)
    columns = [] if finding is None else finding.details["columns"]
    more = "" if len(columns) > SHOWN else ", which must stay secret"
    if finding is None or not columns:
        return ""
    return say(
        "{clause:text}{more:text}.", clause=sentence_case(undemanded_clause(columns, finding.details)), more=more
    )


def _incomplete(audit: Audit) -> str:
    if audit.status != "error":
        return ""
    if verdict_of(audit) == "failed":
        return "The release is not fit, whatever the rest would show; the audit is incomplete."
    return "Nothing may be concluded from an incomplete audit."


def _exposed(audit: Audit) -> str:
    """The number of people exposed: `1,512 of 8,000 people (18.9%) are exposed, each counted once`."""
    exposed = audit.exposed
    if exposed is None or exposed.people is None:
        return ""
    number, total = exposed.people, exposed.people_of
    without = {
        int(audit.outcomes[at].details.get("records_without_value", 0))
        for at in exposed.counted
        if exposed.units is None
    } - {0}  # counted only as nothing can be compared
    sentence = say(
        "[{without?}{n/total:{noun}} ({share:text}) {n/total:is|are} counted as exposed[{once?}, each once]; "
        "[{known>0?}up to {known}|some] of them to be safe|[{at_least?}at least ]{n/total:{noun}} ({share:text}) "
        "{n/total:is|are} exposed[{once?}, each counted once]].",
        without=bool(without),
        known=max(without) if len(without) == 1 else 0,
        at_least=exposed.is_least and number < total,
        n=number,
        total=total,
        noun=people_noun(audit),
        share=share(number, total).replace(".0%", "%"),
        once=len(exposed.counted) > 1 and number > 1,
    )
    return sentence_case(sentence)


def _counted_once(audit: Audit) -> str:
    exposed = audit.exposed
    if exposed is None or len(exposed.counted) < 2:
        return ""
    return say(
        "Do not add the numbers of the {n} failing demands; {noun:plural} can appear in several.",
        n=len(exposed.counted),
        noun=people_noun(audit),
    )


def _left_out(audit: Audit) -> Iterator[str]:
    """The sentences on what the total number leaves out."""
    exposed = audit.exposed
    if exposed is None:
        return
    left_out = [audit.outcomes[number] for number in exposed.left_out]
    answers = any(one.is_question for one in left_out)
    named = [_name(one) for one in left_out if not (one.is_structural or one.is_question or one.cells is not None)]
    if named:
        says = agree(len(named), "says", "say")
        if exposed.people is None:
            people = plural(people_noun(audit))
            yield f"There is no single number of {people}: {listing(named)} {says} how many, not who."
        else:
            yield say(
                "Not counted: {names:text}, which {n:says|say} how many, not who.", names=listing(named), n=len(named)
            )
    if answers:
        yield "What a person answers is not counted."
    if any(one.cells is not None for one in left_out):
        yield "Failing cells of tables of figures are not counted."
    columns = [one.title for one in left_out if one.is_structural and one.cells is None]
    if columns:
        yield f"This number leaves out what is wrong with whole columns: {listing(columns)}."


def _name(outcome: Outcome) -> str:
    title = outcome.title or outcome.check
    return (
        title if outcome.attribute is None else say("{title:text} of {column}", title=title, column=column_of(outcome))
    )


def conflicting_demands(audit: Audit, outcome: Outcome) -> str:
    """The sentences on a demand that is met where others fail on the same column: what it asks; empty if none does."""
    question = _asks(audit, outcome)
    if outcome.status is not Status.PASSED or not question:
        return ""
    failing = {one.check: one for one in audit.expectations if _fails_on_same_column(one, outcome)}
    if not failing:
        return ""
    titles, number = [one.title for one in failing.values()], len(failing)
    fails = say(
        "{titles:text} {n:fails|fail} on the same [{cells?}tables|{whole?}columns|column]; that is no contradiction: "
        "{n:it|each} asks something else.",
        titles=titles,
        n=number,
        cells=outcome.cells is not None,
        whole=outcome.attribute is None,
    )
    asks = say("This asks: {question:text}", question=question)
    return f"{fails} {asks}"


def _fails_on_same_column(one: Outcome, outcome: Outcome) -> bool:
    same = one.attribute == outcome.attribute and set(one.known) == set(outcome.known)
    return one.status is Status.FAILED and same and one.check != outcome.check


def _asks(audit: Audit, outcome: Outcome) -> str:
    check = audit.plugins.checks.get(outcome.check)
    return "" if check is None else check.guide.question
