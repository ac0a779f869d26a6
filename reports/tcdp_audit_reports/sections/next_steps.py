"""Next steps, for all failures at once and in the order of effect; never a line that lowers the bar."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tcdp_audit.plugin._internal import demanded, observed
from tcdp_audit.plugin.aggregate import FailingCell
from tcdp_audit.plugin.report import Audit, Items, Paragraph, Rows
from tcdp_audit.plugin.sentences import (
    Outcome,
    Status,
    allowance,
    count,
    percent,
    prose,
    say,
    sentence_case,
    share,
    visible,
)
from tcdp_audit_reports.charts.margin import is_share
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.people_exposed import affected
from tcdp_audit_reports.policy_text import first_names, name_of, policy_argument, tables_argument, unwanted
from tcdp_audit_reports.reasons import demand_name, is_chance
from tcdp_audit_reports.sections.columns import coarsening, measured_columns
from tcdp_audit_reports.sections.coverage import ATTRIBUTE
from tcdp_audit_reports.sections.grouped import groups_of

NOTHING = "Nothing has to change before publication as far as this policy asks."
# schema checks with a step
WARNED = frozenset({"undeclared_identifiers", "hidden_people", "undemanded_sensitive", "linked_rows"})
MOST = 12  # failing demands that are named
FIGURES = 5  # failing ones that are named
HIDDEN = 50  # figures of a proposal that are listed
UNKNOWN = (
    "The cost is not known yet: the command finds it out, and writes no data. It tries generalising, suppressing and "
    "other remedies, and says after which the file passes with the least loss. tcdp-audit fix with the same policy "
    "then writes the repaired file."
)
UNKNOWN_IN_MEMORY = (
    "The cost is not known yet: this call in Python finds it out, and changes no table. It tries generalising, "
    "suppressing and other remedies, and says after which the tables pass with the least loss. The function fix with "
    "the same tables and policy then makes the repaired ones."
)
MODELS = "Change the models with failing figures."
OF_MODELS = "Leave a coefficient or a category of few people out, or fit the model on more people. Then audit it again."
HOW = "Hide further cells, leave a row or column of totals out, join categories or round."
AGAIN = "What one table hides may follow from another."
NOT_TRIED = (
    "The cost is not known yet. The command tries which cells to hide, which rows or columns of totals to leave out "
    "and which base to round to, says how many figures each change takes away, and writes no data."
)
COST = "Find out what a remedy costs."
UNLINKED = "Remedies change tables that a unit links. Wider categories make people alike."


def blocks(audit: Audit) -> Iterator[Items | Rows | Paragraph]:
    """The steps as a numbered list, what happens to a row, the remedies that were tried, and the figures to hide."""
    yield Items(steps(audit), ordered=True, style="steps advice")
    if audit.remedy_trial is not None and audit.remedy_trial.log is not None and audit.remedy_trial.passes:
        from tcdp_audit_reports.remedy.advice import row_examples  # noqa: PLC0415 - only where remedies were tried

        yield from row_examples(audit, audit.remedy_trial.log)
    yield from (one for one in (_tried(audit), *_hidden(audit)) if one is not None)


def _tried(audit: Audit) -> Rows | None:
    if audit.remedy_trial is None:
        return None
    from tcdp_audit_reports.remedy.advice import trial_table  # noqa: PLC0415 - only where remedies were tried

    return trial_table(audit, audit.remedy_trial)


def _hidden(audit: Audit) -> Iterator[Rows]:
    """The figures to hide by each proposal, with the reason."""
    for one in () if audit.figure_trial is None else audit.figure_trial.proposals:
        if one.hidden:
            rows = [
                [visible(cell.name), f"{visible(cell.measure)} of {visible(cell.table)}", visible(cell.says)]
                for cell in one.hidden[:HIDDEN]
            ]
            more = len(one.hidden) - HIDDEN
            note = f"{count(more, 'more figure')}; the JSON result lists all." if more > 0 else ""
            yield Rows(("figure to hide", "of", "reason"), rows, one.title, note)


def steps(audit: Audit) -> Sequence[Paragraph]:
    """The steps to take: changes of the policy, then what repairs the file, then what a person may do by hand.

    A remedy that is known replaces the steps by hand; one that was not tried is tried first.
    """
    trial, is_untried = audit.remedy_trial, audit.remedy_trial is None and audit.change_log is None
    by_hand = [] if trial is not None and trial.passes else [*_failures(audit), *coarsening(audit)]
    remedies = [*_remedy(audit)]
    advised = [
        *_columns(audit),
        *_structural(audit),
        *_unchecked(audit),
        *_warned(audit),
        *(remedies if is_untried or not by_hand else ()),
        *by_hand,
        *_cells(audit),
        *(remedies if by_hand and not is_untried else ()),
        *_questions(audit),
    ]
    return advised or [Paragraph(f"{NOTHING} What was not examined is listed below.", lead="Publish, or ask more.")]


def _columns(audit: Audit) -> Iterator[Paragraph]:
    wrong, dropped = unwanted(audit), _dropped_by_command(audit)
    if wrong:
        yield Paragraph(
            say(
                "[{dropped?}Leaving {n:it|them} out costs nothing: delete {n:it|them}, or run the command "
                "below[{more?}, which does more]|As long as {n:it is|they are} in the file, {n:it makes|they make} it "
                "possible to link people or to name them. The copy that is audited may keep {n:it|them}].",
                n=len(wrong),
                dropped=dropped.issuperset(wrong),
                more=audit.remedy_trial is not None and not audit.remedy_trial.only_drops,
            ),
            lead=say("Take {names:names} out of the copy that is published.", names=first_names(wrong)),
        )


def _dropped_by_command(audit: Audit) -> set[str]:
    """The columns that the command of a later step leaves out."""
    trial = audit.remedy_trial
    if trial is None or trial.log is None or not trial.passes:
        return set()
    dropped = {one.name for one in trial.log.dropped}
    return {name_of(one) for one in audit.columns if one.name in dropped}


def _structural(audit: Audit) -> Iterator[Paragraph]:
    """What is wrong with columns or tables, and neither the columns to take out nor the cells to change say."""
    wrong = {*unwanted(audit)}
    names = {one.name: name_of(one) for one in audit.columns}
    for one in audit.structure:
        columns = [names.get(str(name)) for name in one.details.get("columns", ())]
        if one.blocks and not one.failing_cells and not (columns and wrong.issuperset(columns)):
            yield _said(one)


def _said(outcome: Outcome) -> Paragraph:
    """The title of an outcome and its sentence."""
    sentence = say("{clause:text}.", clause=sentence_case(quoted(prose(outcome.message))))
    return Paragraph(sentence, lead=say("{title:text}.", title=outcome.title))


def _warned(audit: Audit) -> Iterator[Paragraph]:
    """What the verdict warns of, and no demand looks at."""
    for one in audit.structure:
        if one.is_warning and one.check in WARNED:
            yield replace(_said(one), lead=_decision(audit, one), **_of_own_demands(audit, one))


def _of_own_demands(audit: Audit, outcome: Outcome) -> dict[str, str]:
    """The text on secrets of which the policy demands something that cannot stop publication; nothing for others."""
    columns = {str(name) for name in outcome.details.get("columns", ())}
    of_columns = [
        (number, one)
        for number, one in enumerate(audit.expectations, 1)
        if one.attribute in columns and one.check in audit.plugins.checks
        if audit.plugins.checks[one.check].disclosure_type in ATTRIBUTE
    ]
    warning = [say("{n} (line {line})", n=n, line=one.line) for n, one in of_columns if one.is_warning and one.line]
    measured = [say("{n} (line {line})", n=n, line=one.line) for n, one in of_columns if not one.is_judged and one.line]
    has_demands = {one.attribute for _, one in of_columns if one.line} == columns
    if outcome.check != "undemanded_sensitive" or not has_demands or not (warning or measured):
        return {}
    text = say(
        "Nothing that can stop publication is demanded of {n:it|them}. [{warning?}Let [{several?}demands|demand] "
        "{warning:names} stop it, without severity: warning[{measured?}, or give|. Or]][{measured?}[{warning?}|Give] "
        "{measured:names} a limit. Or] say that {n:it|they} need not be secret (role: insensitive), and why.",
        n=len(columns),
        warning=warning,
        several=len(warning) > 1,
        measured=measured,
    )
    return {"text": text}


def _decision(audit: Audit, outcome: Outcome) -> str:
    """The decision on the columns that a check warns of; its title if there is none."""
    names = {one.name: name_of(one) for one in audit.columns}
    columns = [names.get(str(name), visible(str(name))) for name in outcome.details.get("columns", ())]
    if outcome.check == "undemanded_sensitive" and columns:
        return say(
            "Decide on {names:names}.",
            names=first_names(columns),
        )
    if outcome.check == "linked_rows" and columns:
        return say(
            "Decide on {names:names}: leave {n:it|them} out, or have whole {noun:plural} judged.",
            names=first_names(columns),
            n=len(columns),
            noun=visible(str(outcome.details.get("noun") or "person")),
        )
    return say("{title:text}.", title=outcome.title)


def _unchecked(audit: Audit) -> Iterator[Paragraph]:
    for one in audit.expectations:
        if one.status is Status.ERROR:
            yield Paragraph(
                quoted(prose(one.message)),
                lead=say("Make it possible to check {demand:text}.", demand=demand_name(one)),
            )


def _failures(audit: Audit) -> Iterator[Paragraph]:
    """The failing demands, those that expose most people first; without those that the step on columns names."""
    named = {number for each in measured_columns(audit) for number in each.demands}
    failed = [
        one
        for number, one in enumerate(audit.expectations, 1)
        if _fails(one) and not one.is_question and one.cells is None and str(number) not in named
    ]
    if not failed:
        return
    ordered = sorted(failed, key=lambda one: -(0 if (whom := affected(one)) is None else whom.number))
    reasons = list(dict.fromkeys(_reach_of_group(audit, one) or _reach(audit, one) for one in ordered))
    if len(reasons) > MOST:
        reasons = [*reasons[:MOST], say("and {n} more", n=len(reasons) - MOST)]
    text = say("{reasons:text}.", reasons="; ".join(reasons))
    overlap = " They overlap: one change often meets several demands." if len(reasons) > 1 else ""
    yield Paragraph(
        f"{text}{overlap}", lead="Protect the people whom failing demands expose, the largest number first."
    )


def _cells(audit: Audit) -> Iterator[Paragraph]:
    """The steps on tables with failing figures: their cost, where to change them, and what was tried."""
    failing = [one for one in audit.outcomes if one.status in (Status.FAILED, Status.ERROR) and not one.is_warning]
    cells = {(cell.table, cell.measure, *cell.labels.items()): cell for one in failing for cell in one.failing_cells}
    trial, tables = audit.figure_trial, {cell.table for cell in cells.values()}
    if tables and tables <= {*audit.models}:
        models = first_names([*_by_table([*cells.values()])])
        yield Paragraph(f"{sentence_case(say('{names:names}.', names=models))} {OF_MODELS}", lead=MODELS)
        tables = set()
    if tables and trial is None:
        yield Paragraph(NOT_TRIED, lead="Find out which change helps, and what it costs.", code=_trial_command(audit))
    if tables:
        yield Paragraph(
            " ".join([_where_to_change(audit, [*cells.values()]), *([HOW] if trial else [])]),
            lead="Change the tables where they are made.",
        )
        if trial is None:
            yield Paragraph(AGAIN, lead="Audit all tables together again.")
    if trial is not None:
        for one in trial.proposals:
            listed = " They are listed below." if one.hidden else ""
            yield Paragraph(f"{one.effect}{listed} {one.declaration}", lead=f"{one.title}.")
        yield Paragraph(trial.note, lead="Audit the changed tables again.")


def _by_table(cells: Sequence[FailingCell]) -> Iterator[str]:
    """Each table or model with the number of its failing figures, those with the most first."""
    for name, number in Counter(sorted(cell.table for cell in cells)).most_common():
        yield say("{name} ({n})", name=visible(name), n=number)


def _where_to_change(audit: Audit, cells: Sequence[FailingCell]) -> str:
    """The failing figures by the tables that have them, and those that only several tables together give."""
    from tcdp_audit_reports.cell_grids import is_computed  # noqa: PLC0415 - only for tables of figures

    inside = [one for one in cells if not is_computed(audit, one)]
    computed = [one for one in cells if is_computed(audit, one)]
    names = [say("{table} ({cell})", table=visible(one.table), cell=visible(one.name)) for one in inside]
    groups = [
        say("{cell:text}[{why?}, which {why:text}]", cell=visible(one.name), why=visible(prose(one.says)))
        for one in computed
    ]
    named = "; ".join(first_names(names if len(names) <= FIGURES else [*_by_table(inside)], FIGURES))
    sentences = [
        say("In {places}.", places=named) if inside else "",
        say(
            "In no table: {figures:text}; change one of the tables that give it.",
            figures="; ".join(first_names(groups, FIGURES)),
        )
        if computed
        else "",
    ]
    return " ".join(filter(None, sentences))


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
            lead=say("Let a person answer {n:question}.", n=len(keys)),
            lines="\n".join(["answers:", *(f"  {key}: {{answer: yes, by: WHO, date: YYYY-MM-DD}}" for key in keys)]),
        )


def _reach_of_group(audit: Audit, outcome: Outcome) -> str:
    """The failing demands of the group that a demand belongs to, and the people exposed; empty if it is in none."""
    group = next((group for group in groups_of(audit) if any(one is outcome for one in group.outcomes)), None)
    if group is None or not group.exposed_people:
        return ""
    return f"{group.title}, {group.subjects} ({group.result}): {group.exposed_people}"


def _reach(audit: Audit, outcome: Outcome) -> str:
    whom = affected(outcome)
    if whom is None or not whom.number:
        if is_share(outcome) or is_chance(outcome):
            return say(
                "{demand:text}: {share}, where {allowed:text}",
                demand=demand_name(outcome),
                share=percent(outcome.observed, outcome.threshold),
                allowed=allowance(outcome),
            )
        return say(
            "{demand:text}: {found:text}, where {bound:text} is demanded",
            demand=demand_name(outcome),
            found=observed(outcome),
            bound=demanded(outcome),
        )
    if whom.of is not None and whom.table:
        return say(
            "{demand:text}: {n/total:{noun}} with rows in {table}",
            demand=demand_name(outcome),
            n=whom.number,
            total=whom.of,
            noun=whom.noun,
            table=visible(whom.table),
        )
    total = _total(audit, outcome) if whom.of is None else whom.of
    return say(
        "{demand:text}: {n:{noun}} ({share})",
        demand=demand_name(outcome),
        n=whom.number,
        noun=whom.noun,
        share=share(whom.number, total),
    )


def _total(audit: Audit, outcome: Outcome) -> int:
    return audit.release.records if outcome.records is None else outcome.records.total


def _remedy(audit: Audit) -> Iterator[Paragraph]:
    """What remedies cost or would cost, where that is known; otherwise how to find out."""
    log, trial = audit.change_log, audit.remedy_trial
    of_records = [one for one in audit.outcomes if one.cells is None]
    fails = any(_fails(one) and not one.is_structural and not one.is_question for one in of_records)
    if log is not None:
        from tcdp_audit_reports.remedy.advice import repair_advice  # noqa: PLC0415 - only where remedies ran

        yield from repair_advice(audit, log)
    elif trial is not None:
        from tcdp_audit_reports.remedy.advice import trial_advice  # noqa: PLC0415 - only where remedies were tried

        yield trial_advice(audit, trial, _command(audit))
    elif fails and audit.policy.document.tables is not None and audit.policy.document.unit is None:
        yield Paragraph(UNLINKED, lead="Repair the tables where they are made, and audit all of them again.")
    elif fails and audit.release.in_memory:
        call = f"tcdp_audit.audit({tables_argument(audit)}, {json.dumps(policy_argument(audit))}, try_remedies=True)"
        yield Paragraph(UNKNOWN_IN_MEMORY, lead=COST, code=f'{call}.render(".html")')
    elif fails:
        yield Paragraph(UNKNOWN, lead=COST, code=_trial_command(audit))


def _command(audit: Audit) -> str:
    """The command that repairs the release, which it names where the policy does not; a call for tables in memory."""
    if audit.release.in_memory:
        return f"tcdp_audit.fix({tables_argument(audit)}, {json.dumps(policy_argument(audit))}).released"
    output = "REPAIRED" if audit.release.tables else "REPAIRED.csv"  # a folder for several tables
    return f"tcdp-audit fix {_release(audit)}--policy {policy_argument(audit)} --output {output}"


def _release(audit: Audit) -> str:
    """The release as an argument of a command; empty where the policy names it."""
    document = audit.policy.document
    tables = (document.tables or {}) if audit.has_records else (document.aggregates or {})
    files = [one.file for one in tables.values()] if tables else [document.release]
    one_file = "RELEASE" if audit.release.in_memory else visible(audit.release.name)
    return f"{'FOLDER' if tables else one_file} " if None in files else ""


def _trial_command(audit: Audit) -> str:
    return f"tcdp-audit check {_release(audit)}--policy {policy_argument(audit)} --try-remedies --report REPORT.html"
