"""What remedies would make of a release, as a step of what to do next: lines that were tried, and their cost."""

from __future__ import annotations

from tcdp_audit.plugin.report import Audit, ChangeLog, RemedyTrial, Step
from tcdp_audit.plugin.sentences import count, prose, share, visible
from tcdp_audit_reports.advice import Advice
from tcdp_audit_reports.chart import Table
from tcdp_audit_reports.columns import named
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.remedy.advised import CLOSEST, cost_of, none_known
from tcdp_audit_reports.remedy.candidates import SHOWN, fate, not_taken, parameters_of
from tcdp_audit_reports.remedy.lines import lines_to_paste
from tcdp_audit_reports.remedy.sentences import drops, listed_outcomes

STANDS = "Nothing was written, and the verdict on this file stays what it is."
NEW_FILE = "The command writes a new file, and never changes what it read."
COLUMNS = ("remedy", "what it would cost", "what came of it")


def trial_advice(audit: Audit, trial: RemedyTrial, command: str) -> Advice:
    """The step that says what comes of remedies.

    Args:
        audit: of the release as it is.
        trial: what was tried on it.
        command: the one that repairs the release.
    """
    log = trial.log
    if log is not None and trial.only_drops:
        return Advice("Drop these columns.", f"{drops(log)} {_result(trial)} {STANDS} {NEW_FILE}", command)
    if log is None or not log.steps:
        return none_known(log, trial.reason)
    lines = lines_to_paste(log)
    said, shown = ("", "") if lines is None else (f" {lines.sentence}", lines.policy)
    start = f"{drops(log)} " if log.dropped else ""
    text = f"{start}{_result(trial)} {cost_of(audit, log)} {STANDS}{said}"
    if not trial.passes:
        return Advice(CLOSEST, text, "", shown)
    head = "Name these remedies in the policy, and repair." if log.planned else "Repair as the policy says."
    return Advice(head, f"{text} {NEW_FILE}", command, shown)


def trial_table(trial: RemedyTrial) -> Table | None:
    """What each remedy would do, the most effective first; None where fewer than two were tried."""
    log = trial.log
    if log is None or len(log.steps) + len(not_taken(log)) < 2:
        return None
    others = sorted(not_taken(log), key=_effect)
    rows = [_row(one, _taken(one)) for one in log.steps] + [_row(one, _not_advised(log, one)) for one in others]
    rest = len(rows) - SHOWN
    note = f"{count(rest)} more in the machine-readable result." if rest > 0 else ""
    return Table("Remedies that were tried, the most effective first", COLUMNS, rows[:SHOWN], note)


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
    """Why a step is not part of the advice."""
    if step.error or step.failing:
        return quoted(fate(log, step))
    return "The file passes after it, too."


def _taken(step: Step) -> str:
    """What came of a step that is part of the advice."""
    if not step.failing:
        return "Advised above: the file passes after it."
    return f"Advised above. Not met after it: {listed_outcomes(step.failing)}."
