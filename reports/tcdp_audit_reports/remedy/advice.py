"""Remedies as a step of what to do next: what they did or would do, what they cost, and lines of a policy to paste."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin.remedy import failing_demands
from tcdp_audit.plugin.report import Audit, ChangeLog, Paragraph, RemedyTrial, Rows, Step
from tcdp_audit.plugin.sentences import count, listing, prose, sentence_case, share, visible
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.policy_text import lines_to_paste, name_of, named
from tcdp_audit_reports.remedy.candidates import SHOWN, fate, not_taken, parameters_of
from tcdp_audit_reports.remedy.sentences import drops, listed_outcomes

NONE_KNOWN = "None of the remedies that were tried makes the file pass"
NONE_TRIED = "No remedy could be tried on this file"
CLOSEST = f"{NONE_KNOWN}; these come closest."


def repair_advice(audit: Audit, log: ChangeLog) -> Iterator[Paragraph]:
    """The step for a release that remedies made; none where there was nothing to repair."""
    if not log.steps:
        if failing_demands(audit.outcomes):
            yield none_known(log, log.reason)
        elif log.dropped:
            yield Paragraph(drops(log), lead="Publish the written file, not the one that came in.")
        return
    lines = lines_to_paste(log) if log.planned else None
    advice, shown = ("", "") if lines is None else (f" {lines.sentence}", lines.policy)
    start = f"{drops(log)} " if log.dropped else ""
    titles = dict.fromkeys(visible(one.title or one.remedy) for one in log.steps)
    made = f"{start}{listing(list(titles))} made it. {cost_of(audit, log)}"
    if not audit.passed:
        yield Paragraph(f"{_sentence(log.reason)}{made}{advice}", lead=CLOSEST, lines=shown)
        return
    head = "Publish the repaired file, not the one that came in"
    name = ", and name the remedies in the policy" if shown else ""
    yield Paragraph(f"{made}{advice} What was not examined is listed below.", lead=f"{head}{name}.", lines=shown)


def none_known(log: ChangeLog | None, reason: str) -> Paragraph:
    """The step where nothing helps."""
    names = [] if log is None else list(dict.fromkeys(visible(one.title) for one in log.tried))
    vain = f"Tried in vain: {named(names)}. " if names else ""
    return Paragraph(f"{_sentence(reason)}{vain}Nothing was changed.", lead=f"{NONE_KNOWN if vain else NONE_TRIED}.")


def cost_of(audit: Audit, log: ChangeLog) -> str:
    """The cost of remedies, in sentences that name the columns whose cells differ, the most first."""
    names = {one.name: name_of(one) for one in audit.columns}
    changed = sorted((one for one, number in log.cells.items() if number), key=lambda one: -log.cells[one])
    cells = named([f"{names.get(one, visible(one))} {log.cells[one]:,}" for one in changed])
    return f"The cost: {log.cost}.{f' Cells by column: {cells}.' if changed else ''}"


def _sentence(reason: str) -> str:
    """A reason as a sentence before others; nothing where there is none."""
    return f"{sentence_case(prose(reason).rstrip('.'))}. " if reason else ""


UNCHANGED = "Nothing was written, and the verdict on this file stays what it is."
NEW_FILE = "The command writes a new file, and never changes what it read."
COLUMNS = ("remedy", "what it would cost", "result")


def trial_advice(audit: Audit, trial: RemedyTrial, command: str) -> Paragraph:
    """The step that reports what remedies would do; `command` repairs the release."""
    log = trial.log
    if log is not None and trial.only_drops:
        return Paragraph(
            f"{drops(log)} {_result(trial)} {UNCHANGED} {NEW_FILE}", lead="Drop these columns.", code=command
        )
    if log is None or not log.steps:
        return none_known(log, trial.reason)
    lines = lines_to_paste(log)
    advice, shown = ("", "") if lines is None else (f" {lines.sentence}", lines.policy)
    start = f"{drops(log)} " if log.dropped else ""
    text = f"{start}{_result(trial)} {cost_of(audit, log)} {UNCHANGED}{advice}"
    if not trial.passes:
        return Paragraph(text, lead=CLOSEST, lines=shown)
    head = "Name these remedies in the policy, and repair." if log.planned else "Repair as the policy says."
    return Paragraph(f"{text} {NEW_FILE}", lead=head, code=command, lines=shown)


def trial_table(trial: RemedyTrial) -> Rows | None:
    """A table of what each remedy would do, the most effective first; None where fewer than two were tried."""
    log = trial.log
    if log is None or len(log.steps) + len(not_taken(log)) < 2:
        return None
    others = sorted(not_taken(log), key=_effect)
    rows = [_row(one, _taken(one)) for one in log.steps] + [_row(one, _not_advised(log, one)) for one in others]
    rest = len(rows) - SHOWN
    note = f"{count(rest)} more in the machine-readable result." if rest > 0 else ""
    caption = "Remedies that were tried, the most effective first"
    return Rows(COLUMNS, rows[:SHOWN], caption, note, style="said risks")


def _result(trial: RemedyTrial) -> str:
    """Whether the file would pass, with the warnings that would remain."""
    if not trial.passes:
        return f"Tried on this very file, in memory. Even then it would not pass: {prose(trial.reason).rstrip('.')}."
    warned = sum(one.is_warning for one in trial.outcomes)
    remain = f", with {count(warned, 'warning')}" if warned else ""
    emptied = () if trial.log is None else trial.log.constant_columns
    constant_columns = f", and be useless for {named([visible(one) for one in emptied])}" if emptied else ""
    return f"Tried on this very file, in memory, and audited as a whole: it would then pass{remain}{constant_columns}."


def _effect(step: Step) -> tuple[bool, int, bool, float]:
    """The less the better: what could not be applied last, then demands not met, then what is lost."""
    return bool(step.error), len(step.failing), step.loss is None, step.loss or 0.0


def _row(step: Step, came: str) -> list[str]:
    parameters = f", {parameters_of(step)}" if step.parameters else ""
    name = f"{visible(step.title or step.remedy)}{parameters}"
    if step.error:
        return [name, "not known", came]
    costs = [f"{count(sum(step.cells.values()), 'cell')} changed"]
    if step.suppressed:
        costs.insert(0, f"{count(step.suppressed, 'record')} withheld")
    if step.loss is not None:
        costs.append(f"{share(step.loss, 1)} lost")
    return [name, ", ".join(costs), came]


def _not_advised(log: ChangeLog, step: Step) -> str:
    if step.error or step.failing:
        return quoted(fate(log, step))
    return "The file passes after it, too."


def _taken(step: Step) -> str:
    """The result of a step that is part of the advice."""
    if not step.failing:
        return "Advised above: the file passes after it."
    return f"Advised above. Not met after it: {listed_outcomes(step.failing)}."
