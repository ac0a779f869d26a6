"""What remedies did to a release, as a step of what to do next, and what remedies cost in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin._internal import failing_demands
from tcdp_audit.plugin.report import Audit, ChangeLog
from tcdp_audit.plugin.sentences import listing, prose, sentence_case, visible
from tcdp_audit_reports.advice import Advice
from tcdp_audit_reports.columns import name_of, named
from tcdp_audit_reports.remedy.lines import lines_to_paste
from tcdp_audit_reports.remedy.sentences import drops

NONE_KNOWN = "None of the remedies that were tried makes the file pass"
NONE_TRIED = "No remedy could be tried on this file"
CLOSEST = f"{NONE_KNOWN}; these come closest."


def repair_advice(audit: Audit, log: ChangeLog) -> Iterator[Advice]:
    """The step for a release that remedies made; none where there was nothing to repair."""
    if not log.steps:
        if failing_demands(audit.outcomes):
            yield none_known(log, log.reason)
        elif log.dropped:
            yield Advice("Publish the written file, not the one that came in.", drops(log))
        return
    lines = lines_to_paste(log) if log.planned else None
    said, shown = ("", "") if lines is None else (f" {lines.sentence}", lines.policy)
    start = f"{drops(log)} " if log.dropped else ""
    made = f"{start}{listing(_titles(log))} made it. {cost_of(audit, log)}"
    if not audit.passed:
        yield Advice(CLOSEST, f"{_sentence(log.reason)}{made}{said}", "", shown)
        return
    head = "Publish the repaired file, not the one that came in"
    name = ", and name the remedies in the policy" if shown else ""
    yield Advice(f"{head}{name}.", f"{made}{said} What was not examined stands below.", "", shown)


def none_known(log: ChangeLog | None, reason: str) -> Advice:
    """The step where nothing helps.

    Args:
        log: what was tried; None where nothing could be.
        reason: why nothing helps.
    """
    names = [] if log is None else list(dict.fromkeys(visible(one.title) for one in log.tried))
    vain = f"Tried in vain: {named(names)}. " if names else ""
    return Advice(f"{NONE_KNOWN if vain else NONE_TRIED}.", f"{_sentence(reason)}{vain}Nothing was changed.")


def cost_of(audit: Audit, log: ChangeLog) -> str:
    """What remedies cost, in sentences that name the columns whose cells differ, the most first."""
    names = {one.name: name_of(one) for one in audit.columns}
    changed = sorted((one for one, number in log.cells.items() if number), key=lambda one: -log.cells[one])
    cells = named([f"{names.get(one, visible(one))} {log.cells[one]:,}" for one in changed])
    return f"The cost: {log.cost}.{f' Cells by column: {cells}.' if changed else ''}"


def _titles(log: ChangeLog) -> list[str]:
    return list(dict.fromkeys(visible(one.title or one.remedy) for one in log.steps))


def _sentence(reason: str) -> str:
    """A reason as a sentence before others; nothing where there is none."""
    return f"{sentence_case(prose(reason).rstrip('.'))}. " if reason else ""
