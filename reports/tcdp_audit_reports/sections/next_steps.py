"""Next steps, for all failures at once and in the order of effect; never a line that lowers the bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import demanded, failing, observed
from tcdp_audit.plugin.report import Audit, ColumnRisk, Items, Paragraph, Rows
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    agree,
    allowance,
    column_of,
    count,
    percent,
    plural,
    prose,
    record_noun,
    sentence_case,
    share,
    visible,
)
from tcdp_audit_reports.charts.margin import is_share
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.policy_text import named, unwanted

NOTHING = "Nothing has to change before publication as far as this policy asks."
MOST = 12  # failing demands that are named
EVEN = 0.02  # shares of the risk that differ by less say nothing
UNKNOWN = (
    "What it would cost to meet every demand is not known: no remedy was tried in this run. The command below tries "
    "generalising, suppressing and other remedies, audits the whole file after each, keeps the one that passes with "
    "the least loss, and reports how many cells change and how many records go. An audit with the option "
    "--try-remedies says the same beforehand, and writes no data."
)
UNLINKED = "Remedies change tables that a unit links. Wider categories make people alike."


def blocks(audit: Audit) -> Iterator[Items | Rows]:
    """The steps as a numbered list, and the columns in the order in which to coarsen them."""
    yield Items(steps(audit), ordered=True, style="steps advice")
    yield from (one for one in (_tried(audit), risk_table(audit)) if one is not None)


def _tried(audit: Audit) -> Rows | None:
    if audit.remedy_trial is None:
        return None
    from tcdp_audit_reports.remedy.advice import trial_table  # noqa: PLC0415 - only where remedies were tried

    return trial_table(audit.remedy_trial)


def steps(audit: Audit) -> Sequence[Paragraph]:
    """The steps to take, in the order of effect."""
    advised = [
        *_columns(audit),
        *_unchecked(audit),
        *_failures(audit),
        *_coarsening(audit),
        *_warned(audit),
        *_remedy(audit),
        *_questions(audit),
    ]
    return advised or [Paragraph(f"{NOTHING} What was not examined is listed below.", lead="Publish, or ask more.")]


def _columns(audit: Audit) -> Iterator[Paragraph]:
    wrong = unwanted(audit)
    if wrong:
        verb = agree(len(wrong), "it makes", "they make")
        yield Paragraph(
            f"Whatever else is done, {verb} it possible to link people or name them. "
            f"Keep {agree(len(wrong), 'it', 'them')} in the copy that is audited if the audit needs it, "
            "and declare what is not declared.",
            lead=f"Take {named(wrong)} out of the copy that is published.",
        )


def _warned(audit: Audit) -> Iterator[Paragraph]:
    """What the verdict warns of, and no demand looks at."""
    known = {"undeclared_identifiers", "hidden_people", "undemanded_sensitive"}
    for one in audit.structure:
        if one.is_warning and one.check in known:
            yield Paragraph(f"{sentence_case(quoted(prose(one.message)))}.", lead=f"{one.title}.")


def _unchecked(audit: Audit) -> Iterator[Paragraph]:
    for one in audit.expectations:
        if one.status is Status.ERROR:
            yield Paragraph(quoted(prose(one.message)), lead=f"Make it possible to check {_name(one)}.")


def _failures(audit: Audit) -> Iterator[Paragraph]:
    """The failing demands, those that expose most people first."""
    failed = [one for one in audit.expectations if _fails(one) and not one.is_question]
    if not failed:
        return
    ordered = sorted(failed, key=lambda one: -(failing(one) or (0, 0))[1])
    reasons = [_reach(audit, one) for one in ordered[:MOST]]
    if len(ordered) > MOST:
        reasons.append(f"and {count(len(ordered) - MOST)} more")
    first = (
        reasons[0]
        if len(reasons) == 1
        else f"{'; '.join(reasons)}. They overlap: one change often meets several demands"
    )
    yield Paragraph(f"{first}.", lead="Protect the people whom failing demands expose, the largest number first.")


def _fails(outcome: Outcome) -> bool:
    return outcome.status is Status.FAILED and not outcome.is_warning


def _questions(audit: Audit) -> Iterator[Paragraph]:
    """What only people can answer, and what they answered against the release."""
    questions = [one for one in audit.expectations if one.is_question]
    for one in filter(_fails, questions):
        yield Paragraph(quoted(prose(one.message)), lead="Change what a person answered against the release.")
    keys = [str(one.details["question"]) for one in questions if one.status is Status.SKIPPED]
    if keys:
        yield Paragraph(
            "No figure decides them. Write each answer into the policy, with who gave it and when.",
            lead=f"Let a person answer {count(len(keys), 'question')}.",
            lines="\n".join(["answers:", *(f"  {key}: {{answer: yes, by: WHO, date: YYYY-MM-DD}}" for key in keys)]),
        )


def _reach(audit: Audit, outcome: Outcome) -> str:
    fails = failing(outcome)
    if fails is None or not fails[1]:
        if is_share(outcome):
            return f"{_name(outcome)}: {percent(outcome.observed, outcome.threshold)}, where {allowance(outcome)}"
        return f"{_name(outcome)}: {observed(outcome)}, where {demanded(outcome)} is demanded"
    people = plural(record_noun(outcome)) if fails[1] != 1 else record_noun(outcome)
    return f"{_name(outcome)}: {fails[1]:,} {people} ({share(fails[1], _total(audit, outcome))})"


def _total(audit: Audit, outcome: Outcome) -> int:
    return audit.release.records if outcome.records is None else outcome.records.total


def _name(outcome: Outcome) -> str:
    title = visible(outcome.title or outcome.check)
    return title if outcome.attribute is None else f"{title} of {visible(column_of(outcome))}"


def _coarsening(audit: Audit) -> Iterator[Paragraph]:
    if not audit.column_risks or audit.verdict == "passed":
        return
    (first, *others), noun = audit.column_risks, _noun(audit)
    if others and first.share - others[-1].share < EVEN:
        every = named([visible(one.label or one.column) for one in audit.column_risks], 6)
        yield Paragraph(
            f"They add about the same to the risk: {every}.", lead="Coarsen any column that a neighbour may know."
        )
        return
    after = f" After it: {named([visible(one.label or one.column) for one in others], 4)}." if others else ""
    yield Paragraph(
        f"It adds most to the risk ({100 * first.share:.0f}%). {_alone(first, noun)}{after} Wider bands, fewer "
        "categories or larger regions put more people into each group.",
        lead=f"Coarsen {visible(first.label or first.column)} first.",
    )


def _noun(audit: Audit) -> str:
    """What a record is called: as the policy calls what it counts, unless that is another thing than a record."""
    document = audit.policy.document
    return (document.unit_name if document.unit is None else None) or "record"


def _alone(risk: ColumnRisk, noun: str) -> str:
    if not risk.unique:
        return (
            f"No {noun} is unique, and this column by itself distinguishes {100 * risk.separation:.0f}% of all pairs."
        )
    verb = agree(risk.unique, "is", "are")
    return f"With it {count(risk.unique, noun)} {verb} unique, without it {risk.unique_without:,}."


def _remedy(audit: Audit) -> Iterator[Paragraph]:
    """What remedies cost or would cost, where that is known; otherwise how to find out."""
    log, trial = audit.change_log, audit.remedy_trial
    fails = any(_fails(one) and not one.is_structural and not one.is_question for one in audit.outcomes)
    if log is not None:
        from tcdp_audit_reports.remedy.advice import repair_advice  # noqa: PLC0415 - only where remedies ran

        yield from repair_advice(audit, log)
    elif trial is not None:
        from tcdp_audit_reports.remedy.advice import trial_advice  # noqa: PLC0415 - only where remedies were tried

        yield trial_advice(audit, trial, _command(audit))
    elif fails and audit.policy.document.tables is not None and audit.policy.document.unit is None:
        yield Paragraph(UNLINKED, lead="Repair the tables where they are made, and audit all of them again.")
    elif fails:
        yield Paragraph(UNKNOWN, lead="Let remedies be tried.", code=_command(audit))


def _command(audit: Audit) -> str:
    """The command that repairs the release, which it names where the policy does not."""
    document = audit.policy.document
    files = [document.release] if document.tables is None else [one.file for one in document.tables.values()]
    release = ("RELEASE " if document.tables is None else "FOLDER ") if None in files else ""
    output = "REPAIRED" if audit.release.tables else "REPAIRED.csv"  # a folder for several tables
    return f"tcdp-audit fix {release}--policy {visible(audit.policy.name)} --output {output}"


def risk_table(audit: Audit) -> Rows | None:
    """The columns that a neighbour may know by what they add to the risk; None where it was not measured."""
    if not audit.column_risks:
        return None
    unique, noun = audit.column_risks[0].unique, _noun(audit)
    rows = [
        [
            visible(one.label or one.column),
            f"{100 * one.share:.0f}%",
            *([count(one.unique_without)] if unique else []),
            f"{100 * one.distinction:.2f}%",
            f"{100 * one.separation:.1f}%",
        ]
        for one in audit.column_risks
    ]
    alone = ["unique without it"] if unique else []
    head = ("column", "share of the risk", *alone, "distinction", "separation")
    subject = f"{count(unique, noun)} {agree(unique, 'is', 'are')}" if unique else f"No {noun} is"
    note = f"{subject} unique with all of them. {NOTE}"
    return Rows(head, rows, "Which column adds most risk", note, numeric_from=1, style="risks")


NOTE = (
    "Distinction: different values for each record, by this column alone. Separation: pairs of records that this "
    "column alone distinguishes. After Motwani, Xu, Efficient Algorithms for Masking and Finding Quasi-Identifiers, "
    "2007."
)
