"""What remedies would make of a release, as a step of what to do next: lines that were tried, and their cost."""

from __future__ import annotations

from tcdp_audit.plugin import ChangeLog, RemedyTrial, sentence_case, visible
from tcdp_audit_reports.advice import Advice
from tcdp_audit_reports.columns import named
from tcdp_audit_reports.remedy.lines import lines_to_paste

TESTED = (
    "It was tried on this very file, in memory, and audited as a whole; nothing was written, and the verdict stands"
)


def tried(trial: RemedyTrial, policy: str) -> Advice:
    """The step.

    Args:
        trial: what was tried.
        policy: the policy's name, to stand in the command.
    """
    log = trial.log
    if log is None or not log.steps:
        none = f"{sentence_case(visible(trial.reason))}. {_others(log)}Nothing was written."
        return Advice("No remedy is known after which the file would pass.", none)
    lines = lines_to_paste(log)
    paste = "" if lines is None else f" {lines.sentence}"
    text = f"{TESTED}. It would cost {trial.cost}{_columns(log)}. {_after(trial)}{paste}"
    command = f"tcdp-audit fix --policy {policy} --output REPAIRED.csv" if trial.passes else ""
    return Advice(_head(trial, log), text, command, "" if lines is None else lines.policy)


def _head(trial: RemedyTrial, log: ChangeLog) -> str:
    if not trial.passes:
        return "No remedy is known after which the file would pass; these come closest."
    return "Name these remedies in the policy, and repair." if log.planned else "Repair as the policy says."


def _after(trial: RemedyTrial) -> str:
    if trial.passes:
        return "The file would then meet every demand."
    return f"Even then the file would not pass: {visible(trial.reason)}."


def _columns(log: ChangeLog) -> str:
    """The columns whose cells would change, the most first."""
    changed = sorted((name for name, number in log.cells.items() if number), key=lambda name: -log.cells[name])
    cells = [f"{visible(name)} {log.cells[name]:,}" for name in changed]
    return f" on average over all cells (cells by column: {named(cells)})" if cells else " on average over all cells"


def _others(log: ChangeLog | None) -> str:
    """What was tried in vain."""
    names = [] if log is None else list(dict.fromkeys(visible(one.title) for one in log.tried))
    return f"Tried in vain: {named(names)}. " if names else ""
