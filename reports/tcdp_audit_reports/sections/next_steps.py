"""What to do next, for all failures at once and in the order of effect; never a line that lowers the bar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import demanded, failing, observed
from tcdp_audit.plugin.report import Audit, ColumnRisk
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
from tcdp_audit_reports.advice import Advice
from tcdp_audit_reports.chart import Table
from tcdp_audit_reports.columns import named, unwanted
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.markdown_text import escaped, fenced, table
from tcdp_audit_reports.pages import filled
from tcdp_audit_reports.share_bar import is_share

NOTHING = "Nothing has to change before publication as far as this policy asks."
MOST = 12  # failing demands that are named
EVEN = 0.02  # shares of the risk that differ by less say nothing
UNKNOWN = (
    "What it would cost to meet every demand is not known: no remedy was tried in this run. The command below tries "
    "generalising, suppressing and other remedies, audits the whole file after each, keeps the one that passes with "
    "the least loss, and reports how many cells change and how many records go. An audit with the option "
    "--try-remedies says the same beforehand, and writes no data."
)


def html(audit: Audit) -> str:
    """The steps as a numbered list, and the columns in the order in which to coarsen them."""
    return filled("next_steps.html.j2", steps=steps(audit), tried=_tried(audit), risks=risk_table(audit))


def markdown(audit: Audit) -> str:
    """The same as a list."""
    parts = []
    for number, one in enumerate(steps(audit), 1):
        command = f" `{' '.join(one.command.replace('`', '').split())}`" if one.command else ""
        parts.append(f"{number}. **{escaped(one.head)}** {escaped(one.text)}{command}{_block(one.lines)}")
    tables = (_tried(audit), risk_table(audit))
    return "\n\n".join(["\n".join(parts), *(_grid(one) for one in tables if one is not None)])


def _tried(audit: Audit) -> Table | None:
    """Every remedy that was tried; None where none was."""
    if audit.remedy_trial is None:
        return None
    from tcdp_audit_reports.remedy.trial import trial_table  # noqa: PLC0415 - only where remedies were tried

    return trial_table(audit.remedy_trial)


def _grid(data: Table) -> str:
    """A table below its caption."""
    rows = table([*map(escaped, data.columns)], [[*map(escaped, row)] for row in data.rows])
    return f"**{escaped(data.caption)}**\n\n{rows}"


def _block(lines: str) -> str:
    """Lines of a policy as a block within an item of a list."""
    block = ["", "```yaml", *fenced(lines).splitlines(), "```"] if lines else []
    return "".join(f"\n{f'    {line}'.rstrip()}" for line in block)


def steps(audit: Audit) -> Sequence[Advice]:
    """What to do, in the order of effect."""
    advised = [
        *_columns(audit),
        *_unchecked(audit),
        *_failures(audit),
        *_coarsening(audit),
        *_remedy(audit),
        *_warned(audit),
        *_questions(audit),
    ]
    return advised or [Advice("Publish, or ask more.", f"{NOTHING} What was not examined stands below.")]


def _columns(audit: Audit) -> Iterator[Advice]:
    """Columns that should not be there."""
    wrong = unwanted(audit)
    if wrong:
        verb = agree(len(wrong), "it makes", "they make")
        yield Advice(
            f"Take {named(wrong)} out of the copy that is published.",
            f"Whatever else is done, {verb} it possible to link people or name them. "
            f"Keep {agree(len(wrong), 'it', 'them')} in the copy that is audited if the audit needs it, "
            "and declare what is not declared.",
        )


def _warned(audit: Audit) -> Iterator[Advice]:
    """What the verdict warns of, and no demand looks at."""
    known = {"undeclared_identifiers", "hidden_people", "undemanded_sensitive"}
    for one in audit.structure:
        if one.is_warning and one.check in known:
            yield Advice(f"{one.title}.", f"{sentence_case(quoted(prose(one.message)))}.")


def _unchecked(audit: Audit) -> Iterator[Advice]:
    """Demands that could not be evaluated."""
    for one in audit.expectations:
        if one.status is Status.ERROR:
            yield Advice(f"Make it possible to check {_name(one)}.", quoted(prose(one.message)))


def _failures(audit: Audit) -> Iterator[Advice]:
    """The failing demands, those that expose most people first."""
    failed = [one for one in audit.expectations if _fails(one) and not one.is_question]
    if not failed:
        return
    ordered = sorted(failed, key=lambda one: -(failing(one) or (0, 0))[1])
    told = [_reach(audit, one) for one in ordered[:MOST]]
    if len(ordered) > MOST:
        told.append(f"and {count(len(ordered) - MOST)} more")
    first = told[0] if len(told) == 1 else f"{'; '.join(told)}. They overlap: one change often meets several demands"
    yield Advice("Protect the people whom failing demands expose, the largest number first.", f"{first}.")


def _fails(outcome: Outcome) -> bool:
    return outcome.status is Status.FAILED and not outcome.is_warning


def _questions(audit: Audit) -> Iterator[Advice]:
    """What only people can answer, and what they answered against the release."""
    questions = [one for one in audit.expectations if one.is_question]
    for one in filter(_fails, questions):
        yield Advice("Change what a person answered against the release.", quoted(prose(one.message)))
    keys = [str(one.details["question"]) for one in questions if one.status is Status.SKIPPED]
    if keys:
        yield Advice(
            f"Let a person answer {count(len(keys), 'question')}.",
            "No figure decides them. Write each answer into the policy, with who gave it and when.",
            lines="\n".join(["answers:", *(f"  {key}: {{answer: yes, by: WHO, date: YYYY-MM-DD}}" for key in keys)]),
        )


def _reach(audit: Audit, outcome: Outcome) -> str:
    fails = failing(outcome)
    if fails is None or not fails[1]:
        if is_share(outcome):
            return f"{_name(outcome)}: {percent(outcome.observed, outcome.threshold)}, where {allowance(outcome)}"
        return f"{_name(outcome)}: {observed(outcome)}, where {demanded(outcome)} is demanded"
    people = plural(record_noun(outcome)) if fails[1] != 1 else record_noun(outcome)
    return f"{_name(outcome)}: {fails[1]:,} {people} ({share(fails[1], audit.release.records)})"


def _name(outcome: Outcome) -> str:
    title = visible(outcome.title or outcome.check)
    return title if outcome.attribute is None else f"{title} of {visible(column_of(outcome))}"


def _coarsening(audit: Audit) -> Iterator[Advice]:
    """Which of the columns that a neighbour may know to coarsen first."""
    if not audit.column_risks or audit.verdict == "passed":
        return
    (first, *others), noun = audit.column_risks, _noun(audit)
    if others and first.share - others[-1].share < EVEN:
        every = named([visible(one.label or one.column) for one in audit.column_risks], 6)
        yield Advice("Coarsen any column that a neighbour may know.", f"They add about the same to the risk: {every}.")
        return
    after = f" After it: {named([visible(one.label or one.column) for one in others], 4)}." if others else ""
    yield Advice(
        f"Coarsen {visible(first.label or first.column)} first.",
        f"It adds most to the risk ({100 * first.share:.0f}%). {_alone(first, noun)}{after} Wider bands, fewer "
        "categories or larger regions put more people into each group.",
    )


def _noun(audit: Audit) -> str:
    """What a record is called: as the policy calls what it counts, unless that is another thing than a record."""
    document = audit.policy.document
    return (document.unit_name if document.unit is None else None) or "record"


def _alone(risk: ColumnRisk, noun: str) -> str:
    """What leaving the column out would change."""
    if not risk.unique:
        return (
            f"No {noun} stands alone, and this column by itself tells {100 * risk.separation:.0f}% of all pairs apart."
        )
    stand = agree(risk.unique, "stands", "stand")
    return f"With it {count(risk.unique, noun)} {stand} alone, without it {risk.unique_without:,}."


def _remedy(audit: Audit) -> Iterator[Advice]:
    """What remedies cost or would cost, where that is known; otherwise how to find out."""
    log, trial = audit.change_log, audit.remedy_trial
    if log is not None:
        from tcdp_audit_reports.remedy.advised import repair_advice  # noqa: PLC0415 - only where remedies ran

        yield from repair_advice(audit, log)
    elif trial is not None:
        from tcdp_audit_reports.remedy.trial import trial_advice  # noqa: PLC0415 - only where remedies were tried

        yield trial_advice(audit, trial, _command(audit))
    elif any(_fails(one) and not one.is_structural and not one.is_question for one in audit.outcomes):
        yield Advice("Let remedies be tried.", UNKNOWN, _command(audit))


def _command(audit: Audit) -> str:
    """The command that repairs the release, which it names where the policy does not."""
    release = "" if audit.policy.document.release is not None else "RELEASE "
    return f"tcdp-audit fix {release}--policy {visible(audit.policy.name)} --output REPAIRED.csv"


def risk_table(audit: Audit) -> Table | None:
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
    alone = ["alone without it"] if unique else []
    head = ("column", "share of the risk", *alone, "distinction", "separation")
    stand = f"{count(unique, noun)} {agree(unique, 'stands', 'stand')}" if unique else f"No {noun} stands"
    return Table("Which column adds most risk", head, rows, f"{stand} alone with all of them. {NOTE}")


NOTE = (
    "Distinction: different values for each record, by this column alone. Separation: pairs of records that this "
    "column alone tells apart. After Motwani, Xu, Efficient Algorithms for Masking and Finding Quasi-Identifiers, 2007."
)
