"""Remedies as a step of what to do next: what they did or would do, what they cost, and lines of a policy to paste."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tcdp_audit.plugin.remedy import failing_demands
from tcdp_audit.plugin.report import Audit, ChangeLog, Paragraph, RemedyTrial, Rows, Step
from tcdp_audit.plugin.sentences import Outcome, count, listing, prose, say, sentence_case, share, visible
from tcdp_audit_reports.guide_text import quoted
from tcdp_audit_reports.policy_text import first_names, lines_to_paste, name_of, named, unwanted
from tcdp_audit_reports.reasons import demand_name
from tcdp_audit_reports.remedy.candidates import fate, not_taken, parameters_of
from tcdp_audit_reports.remedy.sentences import drops, listed_outcomes, plain_name
from tcdp_audit_reports.sections.columns import LINKED, joined_by, noun_of_record

NONE_KNOWN = "None of the remedies that were tried makes the file pass"
NONE_TRIED = "No remedy could be tried on this file"
CLOSEST = f"{NONE_KNOWN}; these come closest."


def repair_advice(audit: Audit, log: ChangeLog) -> Iterator[Paragraph]:
    """The step for a release that remedies made; none where there was nothing to repair."""
    if not log.steps:
        if failing_demands(audit.outcomes):
            yield none_known(audit, log, log.reason)
        elif log.dropped:
            yield Paragraph(drops(log), lead="Publish the written file, not the one that came in.")
        return
    lines = lines_to_paste(log, audit) if log.planned else None
    advice, shown = ("", "") if lines is None else (f" {lines.sentence}", lines.policy)
    start = f"{drops(log)} " if log.dropped else ""
    names = dict.fromkeys(plain_name(audit, one) for one in log.steps)
    made = f"{start}It was made by: {listing(list(names))}. {cost_of(audit, log)}"
    if not audit.passed:
        yield Paragraph(f"{_sentence(log.reason)}{made}{advice}", lead=CLOSEST, lines=shown)
        return
    head = say(
        "Publish the repaired file, not the one that came in[{named?}, and name the remedies in the policy].",
        named=bool(shown),
    )
    yield Paragraph(f"{made}{advice} What was not examined is listed below.", lead=head, lines=shown)


def none_known(audit: Audit, log: ChangeLog | None, reason: str) -> Paragraph:
    """The step where nothing helps."""
    names = [] if log is None else list(dict.fromkeys(plain_name(audit, one) for one in log.tried))
    vain = f"Tried in vain: {named(names)}. " if names else ""
    return Paragraph(f"{_sentence(reason)}{vain}Nothing was changed.", lead=f"{NONE_KNOWN if vain else NONE_TRIED}.")


def cost_of(audit: Audit, log: ChangeLog) -> str:
    """The cost of remedies, in sentences that name the columns whose entries differ, the most first."""
    names = {one.name: name_of(one) for one in audit.columns}
    changed = sorted((one for one, number in log.cells.items() if number), key=lambda one: -log.cells[one])
    entries = [say("{name} {n}", name=names.get(one, visible(one)), n=log.cells[one]) for one in changed]
    sentence = say("Values changed: {names:names}.", names=first_names(entries)) if changed else ""
    cost = say("The cost: {cost:text}.", cost=log.cost)
    return f"{cost} {sentence}".strip()


def _sentence(reason: str) -> str:
    """A reason as a sentence before others; nothing where there is none."""
    return f"{sentence_case(prose(reason).rstrip('.'))}. " if reason else ""


UNCHANGED = "Nothing was written, and the verdict on this file stays what it is."
NEW_TABLES = "The call in Python makes a new table of each; what is in memory stays as it is."
NEW_FILE = "The command writes a new file; this one stays as it is."
NEW_FILES = "The command writes new files into a folder; these stay as they are."
TRIED = 6  # remedies that are listed
NOT_KNOWN = "not known"  # the cost of one that could not be applied
COLUMNS = ("remedy", "what it would cost", "result")


def trial_advice(audit: Audit, trial: RemedyTrial, command: str) -> Paragraph:
    """The step that reports what remedies would do; `command` repairs the release."""
    log, files = trial.log, NEW_FILES if audit.release.tables else NEW_FILE
    apart = NEW_TABLES if audit.release.in_memory else files
    if log is not None and trial.only_drops:
        return Paragraph(
            f"{drops(log)} {_result(audit, trial)} {UNCHANGED} {apart}", lead="Drop these columns.", code=command
        )
    if log is None or not log.steps:
        return none_known(audit, log, trial.reason)
    lines = lines_to_paste(log, audit, command=trial.passes)
    advice, shown = ("", "") if lines is None else (f" {lines.sentence}", lines.policy)
    if not trial.passes:
        start = f"{drops(log)} " if log.dropped else ""
        text = f"{start}{_result(audit, trial)} {cost_of(audit, log)}"
        return Paragraph(f"{text} {UNCHANGED}{advice}", lead=CLOSEST, lines=shown)
    dropped, wrong = {one.name for one in log.dropped}, {*unwanted(audit)}  # of these a step of their own speaks
    left_out = [name_of(one) for one in audit.columns if one.name in dropped and name_of(one) not in wrong]
    also = say("The command also leaves out {names:names}.", names=left_out) if left_out else ""
    price, is_dear = _price(audit, log)
    parts = (_result(audit, trial), price, also, advice.strip(), apart)
    lost = log.steps[-1].loss or 0.0
    if is_dear:
        head = say(
            "Decide whether [{tables?}the tables are worth their|the file is worth its] repair, which takes "
            "[{most?}{lost} of all detail|much] from [{tables?}them|it].",
            tables=bool(audit.release.tables),
            most=lost >= MOST_OF_ALL,
            lost=share(lost, 1),
        )
    elif log.planned:
        head = "Then name the remedy in the policy, and repair with one command."
    else:
        head = "Then repair with one command, as the policy says."
    return Paragraph(" ".join(filter(None, parts)), lead=head, code=command, lines=shown)


MOST_OF_ALL = 0.5  # of the detail, from which on the advice begins with how much is lost
GREAT = (
    0.9,
    0.25,
)  # the share of a column's values that change, and the mean error of counts, that cost a release dear


def _price(audit: Audit, log: ChangeLog) -> tuple[str, bool]:
    """The cost of remedies in plain words, and whether little may be left of the file, which the words then say."""
    names = {one.name: name_of(one) for one in audit.columns}
    most = max(log.cells, key=lambda one: log.cells[one], default="")
    changed = log.cells.get(most, 0) / max(log.records_left(most), 1) if most else 0.0
    counts = log.loss.get("counting_queries")
    off = counts.get("value") if isinstance(counts, Mapping) else None
    cost = say(
        "[{removed>0?}{removed/records:record} removed[{tables?}: {tables:names} stay]|No record removed]; "
        "{values:value} changed"
        "[{changed>0?}, most of all in {name} ({share} of its values)]"
        "[{counts?}; simple tables of counts off by {counts} on average].",
        removed=log.suppressed,
        tables=_tables_left(audit, log),
        records=sum(one.records for one in audit.release.tables.values()) or audit.release.records,
        values=sum(log.cells.values()),
        changed=log.cells.get(most, 0),
        name=names.get(most, visible(most)),
        share=share(changed, 1),
        counts="" if off is None else share(float(off), 1),
    )
    if changed < GREAT[0] and (off is None or float(off) < GREAT[1]):
        return cost, False
    passing = [one for one in not_taken(log) if not one.error and not one.failing and one.loss is not None]
    following = min(passing, key=lambda one: one.loss or 0.0, default=None)
    own, lost = log.steps[-1].loss or 0.0, log.loss.get("attributes", {}).get(most, {}).get("cell_loss")
    first = audit.column_risks[0] if audit.column_risks else None
    dear = say(
        "That is a high price[{lost?}: {name} loses {own} of its detail][{least?}, though no other remedy "
        "[{other?}that passes keeps more of the detail|is known to pass][{next?} ({loss} of all is lost; the next "
        "loses {next}[{fewer?}, though it changes fewer values])]]. "
        "You may also name another remedy, or leave out a fact that an intruder may know[{first?}, {first} before "
        "others[{alone>0?} (without it, {alone:{noun}} {alone:is|are} still unique)]].",
        lost=changed >= GREAT[0] and lost is not None,
        own=share(lost or 0.0, 1),
        name=names.get(most, visible(most)),
        least=log.planned,
        other=bool(passing),
        loss=share(own, 1),
        next="" if following is None or following.loss is None else share(following.loss, 1),
        fewer=following is not None and sum(following.cells.values()) < sum(log.cells.values()),
        first="" if first is None else visible(first.label or first.column),
        alone=0 if first is None else first.unique_without,
        noun=noun_of_record(audit),
    )
    return f"{cost} {dear}", True


def _tables_left(audit: Audit, log: ChangeLog) -> list[str]:
    """The rows left of each of several tables, those of the people by their noun; nothing of a single table."""
    tables, linked = log.loss.get("tables", {}), audit.linked_tables
    declared = audit.policy.document.tables or {}
    return [
        say(
            "{left} of {total:{noun}}[{rows?} of {table}]",
            total=int(one["records"]),
            noun="record" if linked is None or declared[name].belongs_to else visible(linked.noun),
            rows=linked is None or bool(declared[name].belongs_to),
            table=visible(name),
            left=int(one["records"]) - int(one["records_suppressed"]),
        )
        for name, one in tables.items()
        if name in declared
    ]


def row_examples(audit: Audit, log: ChangeLog) -> Iterator[Paragraph | Rows]:
    """What happens to a row, for each remedy that made or would make the release: a sentence, and an invented row.

    Nothing of a remedy whose guide does not say so, and no row where it would only be removed.
    """
    for name in dict.fromkeys(one.remedy for one in log.steps):
        remedy = audit.plugins.remedies.get(name)
        if remedy is None or not remedy.guide.row:
            continue
        yield Paragraph(visible(remedy.guide.effect), lead="What happens to a row:")
        before, after = remedy.guide.example_row or ({}, "")
        if not isinstance(after, str):
            yield _example(before, after)


def _example(before: Mapping[str, str], after: Mapping[str, str]) -> Rows:
    columns = [*before]
    rows = [["before", *before.values()], ["after", *(after.get(one, "") for one in columns)]]
    return Rows(
        ("row", *map(visible, columns)),
        [[*map(visible, row)] for row in rows],
        "An invented row of another file",
        style="said",
    )


def trial_table(audit: Audit, trial: RemedyTrial) -> Rows | None:
    """A table of what each remedy would do, the most effective first; None where fewer than two were tried.

    Remedies that act on what others made are shown with them, as one attempt.
    """
    log = trial.log
    if log is None or len(log.steps) + len(not_taken(log)) < 2:
        return None
    others = sorted(not_taken(log), key=_effect)
    attempts = _attempts(log, others) if any(one.after for one in (*log.steps, *others)) else {}
    rows = [_row(audit, one, attempts.get(id(one), ""), _taken(log, one, attempts)) for one in log.steps]
    rows += [
        _row(audit, one, attempts.get(id(one), ""), _not_advised(log, one), follows=bool(one.after)) for one in others
    ]
    shown = [row for row in rows if row[1] != NOT_KNOWN][:TRIED] if attempts else rows[:TRIED]
    rest = len(rows) - len(shown)
    note = f"{count(rest)} more in the machine-readable result." if rest > 0 else ""
    caption = (
        "Attempts to repair the file, those that leave fewest demands unmet first"
        if attempts
        else "Remedies, the most effective first"
    )
    return Rows(COLUMNS, shown, caption, note, style="said risks")


def _attempts(log: ChangeLog, others: Sequence[Step]) -> Mapping[int, str]:
    """The name of each step by its id: `1a`, `1b` of the attempt that is advised, then `2`; else those it follows."""
    labels = {id(one): f"1{chr(ord('a') + place)}" for place, one in enumerate(log.steps)}
    if len(log.steps) == 1:
        labels = {id(one): "1" for one in log.steps}
    number = 1
    for one in others:
        if one.after:
            labels[id(one)] = listing([labels.get(id(each), visible(each.title)) for each in one.after])
        else:
            number += 1
            labels[id(one)] = str(number)
    return labels


def _result(audit: Audit, trial: RemedyTrial) -> str:
    """Whether the file would pass, with the warnings that would remain."""
    if not trial.passes:
        return f"Tried on this file. Even then it would not pass: {prose(trial.reason).rstrip('.')}."
    emptied = () if trial.log is None else trial.log.constant_columns
    warned = [one for one in trial.outcomes if one.is_warning]
    titles = [demand_name(one) for one in warned if not _alone_by_rows(one)]  # others have a sentence
    names = {one.name: name_of(one) for one in audit.columns}
    passed = say(
        "Tried on [{tables?}these tables|this file], with the policy as it is now: [{tables?}they|it] would then pass"
        "[{warned>0?}, with {warned:warning}[{titles?} ({titles:text})]]"
        "[{emptied?}, and be useless for {names:names}].",
        tables=bool(audit.release.tables),
        warned=len(warned),
        titles="; ".join(titles),
        emptied=bool(emptied),
        names=first_names([names.get(one, visible(one)) for one in emptied]),
    )
    lax = [str(number) for number, one in enumerate(audit.expectations, 1) if one.laxer_than]
    weak = say(
        "But the {n:limit of demand|limits of demands} {numbers:names} {n:is|are} weaker than published ones; what "
        "stricter ones would cost was not tried (tcdp-audit frontier tries them).",
        n=len(lax),
        numbers=first_names(lax),
    )
    may_change = any(one.is_warning and one.check == "undemanded_sensitive" for one in audit.structure)
    again = ["If a step above changes the policy, try again first."] if may_change else []
    return " ".join([passed, *_still_joined(audit, trial), *([weak] if lax else []), *again])


def _still_joined(audit: Audit, trial: RemedyTrial) -> Iterator[str]:
    """The sentence on people or households whom a column that stays still sets apart, where no demand judges them."""
    names = {one.name: name_of(one) for one in audit.columns}
    for one in trial.outcomes:
        if one.is_warning and (figures := _alone_by_rows(one)):
            noun = visible(str(one.details.get("noun") or "person"))
            yield say(
                "That is with {columns:names} still in, by which {alone/units:{noun}} would still be unlike every "
                "other; if you have whole {noun:plural} judged, try again.",
                columns=[names.get(str(name), visible(str(name))) for name in joined_by(one)],
                alone=figures[0],
                units=figures[1],
                noun=noun,
            )


def _alone_by_rows(outcome: Outcome) -> tuple[int, int] | None:
    """The people or households alone by the rows that a column joins, and the number of all; None of other checks."""
    alone, units = outcome.details.get("alone"), outcome.details.get("units")
    return (alone, units) if outcome.check == LINKED and isinstance(alone, int) and isinstance(units, int) else None


def _effect(step: Step) -> tuple[bool, int, bool, float]:
    """The less the better: what could not be applied last, then demands not met, then what is lost."""
    return bool(step.error), len(step.failing), step.loss is None, step.loss or 0.0


def _row(audit: Audit, step: Step, label: str, came: str, *, follows: bool = False) -> list[str]:
    plain = plain_name(audit, step)
    name = say(
        "[{label?}{label}[{follows?}, then]: ]{title:text}[{set?}, {parameters}]",
        label=label,
        follows=follows,
        title=plain if follows else sentence_case(plain),
        set=bool(step.parameters),
        parameters=parameters_of(step) if step.parameters else "",
    )
    if step.error:
        return [name, NOT_KNOWN, came]
    costs = say(
        "[{removed>0?}[{before>0?}{removed} more {removed:record|records} removed, together {all}, "
        "|{removed:record} removed, ]]"
        "{changed:value} changed[{lost?}, {lost} of the detail lost]",
        removed=step.suppressed,
        before=(before := sum(one.suppressed for one in step.after)),
        all=before + step.suppressed,
        changed=sum(step.cells.values()),
        lost="" if step.loss is None else share(step.loss, 1),
    )
    return [name, costs, came]


def _not_advised(log: ChangeLog, step: Step) -> str:
    if step.error or step.failing:
        return quoted(fate(log, step))
    return "The file passes after it, too."


def _taken(log: ChangeLog, step: Step, attempts: Mapping[int, str]) -> str:
    """The result of a step that is part of the advice."""
    if not step.failing:
        return "The file passes after it; what it costs is said above."
    place = log.steps.index(step) + 1
    return say(
        "[{more?}It goes on with [{following?}{following}|the next]. ]Not met after it: {titles:text}.",
        more=(more := place < len(log.steps)),
        following=attempts.get(id(log.steps[place]), "") if more else "",
        titles=listed_outcomes(step.failing),
    )
