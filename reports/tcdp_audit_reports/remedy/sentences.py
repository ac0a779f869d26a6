"""Sentences on a remediation: who acted, what it touched, whether that was enough, the order of records.

Every sentence is computed from the log of changes and the audits; none holds a cell.
"""

from __future__ import annotations

from tcdp_audit.plugin._internal import in_words
from tcdp_audit.plugin.remedy import failing_demands
from tcdp_audit.plugin.report import Audit, ChangeLog, Step
from tcdp_audit.plugin.sentences import (
    Outcome,
    agree,
    count,
    listing,
    noun_form,
    prose,
    say,
    sentence_case,
    share,
    visible,
)
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.remedy.shifts import key_of

UNTOUCHED = "Nothing was changed: the release already passed."
SHUFFLED = "No entry was changed: the release already passed, and its records are in another order."
REDRAWN = "Only the pseudonyms that link its tables were changed: the release already passed."


def heading(audit: Audit, log: ChangeLog) -> str:
    """The heading of the section."""
    if log.dropped and not log.steps:
        return "What was dropped from this release"
    if log.redrawn and not log.steps:
        return "New pseudonyms link the tables of this release" if audit.passed else "Nothing was repaired"
    if log.order == "shuffled" and not log.steps:
        return "The records of this release were shuffled"
    if audit.passed:
        return "How this release was repaired" if log.steps else "Nothing had to be repaired"
    return "A repair that falls short" if log.steps else "Nothing was repaired"


def origin(audit: Audit, log: ChangeLog) -> str:
    """The line of the first screen: what was dropped from this release, and what kind of release it is."""
    return " ".join(part for part in (drops(log), _origin(audit, log)) if part)


def plain_name(audit: Audit, step: Step) -> str:
    """A remedy in plain words, as its guide has them: `wider values within neighbouring groups`; else its title."""
    remedy = audit.plugins.remedies.get(step.remedy)
    if remedy is None or not remedy.guide.plainly:
        return visible(step.name or step.remedy)
    return visible(f"{remedy.guide.plainly}{step.name.removeprefix(step.title)}")


def full_name(audit: Audit, step: Step) -> str:
    """Its title with the plain words: `Mondrian partitioning (wider values within neighbouring groups)`."""
    plain, name = plain_name(audit, step), visible(step.name or step.remedy)
    return name if plain == name else f"{name} ({plain})"


def drops(log: ChangeLog) -> str:
    """The columns that are not written, in a sentence; nothing where all are."""
    return say("{clause:text}.", clause=sentence_case(prose(visible(log.drops)))) if log.dropped else ""


def links(log: ChangeLog) -> str:
    """The columns of new pseudonyms that link several tables, in a sentence; nothing where there are none."""
    return f"{sentence_case(prose(visible(log.links)))}." if log.redrawn else ""


def restored_columns(log: ChangeLog) -> str:
    """What was put back for the audit, in sentences; nothing where nothing was."""
    return " ".join(f"{sentence_case(prose(visible(one)))}." for one in (log.restored_columns, log.aligned) if one)


def _origin(audit: Audit, log: ChangeLog) -> str:
    if not log.steps:
        what = "No entry" if log.dropped else "Nothing but its pseudonyms" if log.redrawn else "Nothing"
        return _untouched(log) if audit.passed else f"{what} was changed in this release, and it does not pass."
    kind = "This is a repaired release" if audit.passed else "This is a repaired release that still does not pass"
    return " ".join([f"{kind}: {_extent(log)}.", *_exposed(log)])


def _exposed(log: ChangeLog) -> list[str]:
    """What each attack on the remedies means for one person; those that were not run are named, too."""
    run = [one.outcome for one in log.attacks if one.outcome is not None]
    not_run = [f"{one.title} {visible(one.sentence)}." for one in log.attacks if one.reason]
    return [*(one.individual_impact or one.message for one in run), *not_run]


def _extent(log: ChangeLog) -> str:
    cells, columns, records = sum(log.cells.values()), _columns(log), count(log.records, "record")
    changed = f"{count(cells, 'entry')} in {count(columns, 'column')} changed" if cells else "no entry changed"
    return f"{changed}, {f'{log.suppressed:,} of {records} removed' if log.suppressed else 'no record removed'}"


def summary(audit: Audit, log: ChangeLog) -> str:
    """What was dropped, what was done in counts, and that the release passes now, or that it does not and why."""
    untreated = not log.steps and (log.dropped or log.order == "shuffled")  # otherwise said where remedies were chosen
    new = links(log) if log.steps or log.dropped else ""
    parts = (drops(log), _summary(audit, log), new, restored_columns(log), order(audit, log) if untreated else "")
    return " ".join(part for part in parts if part)


def _summary(audit: Audit, log: ChangeLog) -> str:
    if not log.steps:
        nothing = "Nothing but its pseudonyms was changed" if log.redrawn else "Nothing was changed"
        changed = "No entry was changed" if log.dropped else nothing
        return _untouched(log) if audit.passed else f"{changed}. {_shortfall(log)}"
    parts = [
        _action(audit, log),
        *([_demands_met(log)] if audit.passed else []),
        _broken(audit, log),
        _warnings(audit, log),
    ]
    return " ".join(part for part in ([] if audit.passed else [_shortfall(log)]) + parts if part)


def _untouched(log: ChangeLog) -> str:
    if not log.dropped:
        return REDRAWN if log.redrawn else SHUFFLED if log.order == "shuffled" else UNTOUCHED
    return (
        f"No entry was changed: without {agree(len(log.dropped), 'this column', 'these columns')} the release passes."
    )


def _shortfall(log: ChangeLog) -> str:
    reason = log.reason or "the written file fails a demand that the repaired table met"
    return f"The release does not pass: {quoted(prose(reason)).rstrip('.')}."


def _action(audit: Audit, log: ChangeLog) -> str:
    titles = [full_name(audit, one) for one in log.steps]
    cells, records = sum(log.cells.values()), count(log.records, "record")
    changed = f"changed {count(cells, 'entry')} in {count(_columns(log), 'column')}" if cells else "changed no entry"
    dropped = (
        f"removed {log.suppressed:,} of {records} ({share(log.suppressed, log.records)})"
        if log.suppressed
        else f"kept all {records}"
    )
    if len(titles) == 1:
        return f"{sentence_case(titles[0])} {changed} and {dropped}."
    return f"{sentence_case(in_words(len(titles)))} remedies {changed} and {dropped}: {', then '.join(titles)}."


def _columns(log: ChangeLog) -> int:
    return sum(cells > 0 for cells in log.cells.values())


def _demands_met(log: ChangeLog) -> str:
    unmet = len(failing_demands(log.before))
    if not unmet:
        return ""
    if unmet == 1:
        return "The one demand that was not met is met now."
    which = "Both" if unmet == 2 else f"All {in_words(unmet)}"
    return f"{which} demands that were not met are met now."


def _broken(audit: Audit, log: ChangeLog) -> str:
    """Demands that held before and do not now: a remedy for one can break another."""
    unmet = {key_of(one) for one in failing_demands(log.before)}
    broken = [one for one in failing_demands(audit.outcomes) if key_of(one) not in unmet]
    if not broken:
        return ""
    verb = agree(len(broken), "was met before and is not now", "were met before and are not now")
    return (
        f"{sentence_case(in_words(len(broken)))} {noun_form('demand', len(broken))} {verb}: {listed_outcomes(broken)}."
    )


def _warnings(audit: Audit, log: ChangeLog) -> str:
    """Warnings do not fail a release, so remedies may leave them."""
    warned = {key_of(one) for one in log.before if one.is_warning}
    new = [one for one in audit.warnings if key_of(one) not in warned]
    old = len(audit.warnings) - len(new)
    parts = [f"{_warning_count(old)} {agree(old, 'remains', 'remain')}"] if old else []
    if new:
        subject = in_words(len(new)) if old else _warning_count(len(new))
        parts.append(f"{subject} {agree(len(new), 'is', 'are')} new: {listed_outcomes(new)}")
    return f"{sentence_case(', and '.join(parts))}." if parts else ""


def _warning_count(number: int) -> str:
    return f"{in_words(number)} {noun_form('warning', number)}"


def listed_outcomes(outcomes: list[Outcome], most: int = 3) -> str:
    """Outcomes by title and attribute, the first few of many."""
    names = [title_of(one) for one in outcomes]
    rest = len(names) - most
    return listing(names) if rest <= 0 else f"{', '.join(names[:most])} and {in_words(rest)} more"


def title_of(outcome: Outcome) -> str:
    """The title of an outcome, such as `k-anonymity` or `homogeneity on salary`."""
    title = visible(outcome.title or outcome.check)
    return title if outcome.attribute is None else f"{title} on {visible(outcome.attribute)}"


def order(audit: Audit, log: ChangeLog) -> str:
    """What the order of records gives away."""
    if log.order == "shuffled":
        return (
            f"Records were sorted by content and then shuffled (seed {log.seed}): "
            "a record’s place says nothing about where it was in the input."
        )
    order_of_input = "Records are in the order in which they came in"
    if audit.policy.document.rows_aligned:
        linked = "anyone who holds the original links every record by its place"
        return f"{order_of_input}, as rows_aligned: true asks: {linked}."
    return f"{order_of_input}: anyone who holds the input links every record by its place."


def attacks(log: ChangeLog) -> list[tuple[str, str, str]]:
    """What attacks on the remedies found: title, sentence, and what it means for one person."""
    return [
        (
            one.title,
            sentence_case(quoted(visible(one.sentence))),
            "" if one.outcome is None else one.outcome.individual_impact,
        )
        for one in log.attacks
    ]


def unhelped(log: ChangeLog) -> list[str]:
    """The demands that a remedy of the policy does not act on, and why remedies were left out of a plan."""
    steps = dict.fromkeys(f"{one.title} {one.unhelped}." for one in (*log.steps, *log.tried) if one.unhelped)
    left_out = [f"{listing(titles)} not tried: {reason}." for reason, titles in log.left_out_by_reason.items()]
    return [sentence_case(quoted(visible(one))) for one in (*steps, *left_out)]


def how(log: ChangeLog) -> str:
    """The way in which the remedies were chosen and judged."""
    chosen = (
        "The policy names no remedy: those that apply were tried, and the one that passes with the least loss is kept."
        if log.planned
        else "The remedies are those of the policy, in its order."
    )
    return f"{chosen} The whole release was audited again after each."
