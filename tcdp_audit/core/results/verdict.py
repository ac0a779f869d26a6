"""The verdict of an audit, in a word and in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tcdp_audit.core.base.audit_figures import failures
from tcdp_audit.core.base.outcome import UNDEMANDED_SENSITIVE, Outcome, Status
from tcdp_audit.core.base.phrases import column_of, part_of
from tcdp_audit.core.base.words import agree, listing, noun_of_column, plural, sentence_case, share, visible
from tcdp_audit.core.results.conditions import SHOWN, Condition, fit_sentence, secret_columns
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


def verdict_of(audit: Audit) -> str:
    """The state of the verdict: the audit's status, but failed if a demand fails while others are not checked."""
    return "failed" if failures(audit.outcomes) else audit.status


def verdict_sentence(audit: Audit) -> str:
    """The sentences on several tables, the demands' results, the people exposed, and an incomplete audit."""
    of_tables = "" if audit.linked_tables is None else audit.linked_tables.sentence
    demands, reason, exposed = tally_of(audit.outcomes).sentence, _no_demand(audit), _exposed(audit)
    sentences = (of_tables, demands, reason, exposed, _undemanded(audit), _incomplete(audit))
    return " ".join(sentence for sentence in sentences if sentence)


def exposed_sentence(audit: Audit) -> str:
    """The total number of people exposed, what it counts and what it leaves out; empty if no demand fails."""
    sentences = (_exposed(audit), _counted_once(audit), *_left_out(audit))
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
    return f"Nothing is demanded of {secret_columns(columns)}{more}." if columns else ""


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
    part = part_of(number, total, people_noun(audit))
    verb = agree(number or 1, "is", "are")
    once = ", each counted once" if len(exposed.counted) > 1 and number > 1 else ""
    least = f"at least {part}" if exposed.is_least else part
    return f"{sentence_case(least)} ({share(number, total).replace('.0%', '%')}) {verb} exposed{once}."


def _counted_once(audit: Audit) -> str:
    exposed = audit.exposed
    if exposed is None or len(exposed.counted) < 2:
        return ""
    people = plural(people_noun(audit))
    return f"Do not add the numbers of the {len(exposed.counted):,} failing demands; {people} can appear in several."


def _left_out(audit: Audit) -> Iterator[str]:
    """The sentences on what the total number leaves out."""
    exposed = audit.exposed
    if exposed is None:
        return
    left_out = [audit.outcomes[number] for number in exposed.left_out]
    answers = any(one.is_question for one in left_out)
    named = [_name(one) for one in left_out if not one.is_structural and not one.is_question]
    if named:
        says = agree(len(named), "says", "say")
        if exposed.people is None:
            people = plural(people_noun(audit))
            yield f"There is no single number of {people}: {listing(named)} {says} how many, not who."
        else:
            yield f"Not counted: {listing(named)}, which {says} how many, not who."
    if answers:
        yield "What a person answers is not counted."
    columns = [one.title for one in left_out if one.is_structural]
    if columns:
        yield f"What is wrong with columns is not counted: {listing(columns)}."


def _name(outcome: Outcome) -> str:
    title = outcome.title or outcome.check
    return title if outcome.attribute is None else f"{title} of {column_of(outcome)}"


def conflicting_demands(audit: Audit, outcome: Outcome) -> str:
    """The question of a demand that is met and those of demands that fail on the same column; empty if none does."""
    question = _asks(audit, outcome)
    if outcome.status is not Status.PASSED or not question:
        return ""
    failing = {
        one.check: one for one in audit.expectations if _fails_on_same_column(one, outcome) and _asks(audit, one)
    }
    if not failing:
        return ""
    titles, number = listing([one.title for one in failing.values()]), len(failing)
    columns = "columns" if outcome.attribute is None else "column"
    fails = (
        f"{titles} {agree(number, 'fails', 'fail')} on the same {columns}, and {agree(number, 'both', 'all')} are true"
    )
    questions = " ".join(_asks(audit, one) for one in failing.values())
    return f"{fails}. This asks: {question} {agree(number, 'The other asks', 'The others ask')}: {questions}"


def _fails_on_same_column(one: Outcome, outcome: Outcome) -> bool:
    return one.status is Status.FAILED and one.attribute == outcome.attribute and one.check != outcome.check


def _asks(audit: Audit, outcome: Outcome) -> str:
    check = audit.plugins.checks.get(outcome.check)
    return "" if check is None else check.guide.question
