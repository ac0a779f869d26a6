"""The basis of the verdict: conventions, who ran the audit and how, how to verify it, and who signs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from tcdp_audit.plugin._internal import Block, in_words
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.report import Audit, Definitions, Group, Heading, Items, Paragraph, Rows, Table
from tcdp_audit.plugin.sentences import Outcome, Severity, Status, percent, percent_of, say, sentence_case, visible
from tcdp_audit_reports.fact_labels import plain
from tcdp_audit_reports.first_screen import audited_at, by_tool, plugins
from tcdp_audit_reports.people_exposed import of_weights, of_whole_households
from tcdp_audit_reports.policy_text import first_names, name_of, policy_argument, runs, signed_for, tables_argument
from tcdp_audit_reports.reasons import is_chance
from tcdp_audit_reports.sections.appendix import changing_demands
from tcdp_audit_reports.sections.columns import noun_of_record, taken_of_figures
from tcdp_audit_reports.sections.findings import Pairs

OFFICES = ("Data owner", "Data protection officer")
SIGNED = ("Office", "Name", "Date and signature")
PER_ROW = "per_row"  # the detail of a demand on whole histories with what single rows show
HARMLESS = 3  # columns that are named
FEW = 6  # files, up to which the digest of each is a step of its own


def blocks(audit: Audit) -> Iterator[Block]:
    """Conventions, the run, how to verify the verdict, and who signs."""
    if audit.has_records:
        yield Paragraph(f"{flipping(audit)} {_not_varied(audit)}", style="flips")
    elif audit.figures:
        yield Paragraph(flipping(audit), style="flips")
    yield Items([*how_counted(audit), *taken_of_figures(audit)])
    steps = Items(verification(audit), ordered=True, style="steps")
    signatures = Rows(SIGNED, [(office, "", "") for office in OFFICES], style="signatures")
    yield Group(
        [
            Group([Heading("Run"), Definitions(run(audit))]),
            Group(
                [Heading(say("How to verify it, in {number:text} steps", number=in_words(len(steps.entries)))), steps]
            ),
        ],
        style="basis",
    )
    yield Group([Heading("Sign-off"), Definitions(signed_for(audit)), signatures], style="sign-off", page_only=True)


def _not_varied(audit: Audit) -> str:
    """The sentence on what no combination of conventions changes."""
    is_whole = audit.conventions.get("known_rows") == "all" and audit.policy.document.unit is not None
    looked_at = [
        (number, one, least)
        for number, one in enumerate(audit.expectations, 1)
        if one.parameters.get("k") and (least := _least_by_rows(one.details.get(PER_ROW))) is not None
    ]
    number, first, (table, size) = looked_at[0] if is_whole and looked_at else (0, None, ("", 0))
    return say(
        "Other roles of columns[{harmless?}, such as {harmless:names} as a fact that an intruder knows], and other "
        "limits, were not tried[{number>0?}. If an intruder knew only single rows "
        "(known_rows: one), [{fails?}demand {number} would still fail[{grave?}, and the verdict would stay]: ]the "
        "smallest group[{table?}, in {table},] has {size}, where demand {number} asks for {k}[{others?}; "
        "[{several?}demands|demand] {others:names} [{several?}were|was] not computed for that]|{whole?}, nor an "
        "intruder who knows single rows (known_rows: one)].",
        harmless=_harmless(audit),
        number=number,
        whole=is_whole,
        table=visible(table),
        size=size,
        k=(k := 0 if first is None else int(first.parameters["k"])),
        fails=size < k,
        grave=first is not None and not first.is_warning,
        others=[*runs(one for one in range(1, len(audit.expectations) + 1) if one != number)],
        several=len(audit.expectations) > 2,
    )


def _harmless(audit: Audit) -> list[str]:
    """The columns that are taken to be harmless and have no other part in the audit: an intruder might know them."""
    document, links = audit.policy.document, () if audit.linked_tables is None else audit.linked_tables.links
    others = {document.unit, document.household, document.weight, *links}
    return first_names(
        [
            name_of(one)
            for one in audit.columns
            if one.is_present and one.role is Role.INSENSITIVE and not one.is_key and one.name not in others
        ],
        HARMLESS,
    )


def _least_by_rows(figures: object) -> tuple[str, int] | None:
    """The table, or nothing where there is one, and the size of its smallest group by single rows; None without any."""
    if not isinstance(figures, Mapping) or not figures:
        return None
    if "k" in figures:
        return "", int(figures["k"])
    sizes = [(int(one["k"]), str(name)) for name, one in figures.items()]
    size, name = min(sizes)
    return name, size


def how_counted(audit: Audit) -> list[str]:
    """The policy's conventions as sentences, without those on missing values where none is missing."""
    own, unit, noun = audit.conventions, audit.policy.document.unit, noun_of_record(audit)
    idle = {"missing_quasi_identifier", "missing_sensitive"} if _misses_nothing(audit) else set[str]()
    if sum(one.role is Role.SENSITIVE and one.is_present for one in audit.columns) < 2:
        idle.add("multiple_sensitive")
    pairs = [(name, value) for name, value in own.items() if isinstance(value, str) and name not in idle]
    sentences = [CONVENTIONS[pair] for pair in pairs if pair in CONVENTIONS]
    if audit.has_records:
        sentences.append(
            say(
                "All rows with the same value of {unit} are taken to be of one {noun}.",
                unit=visible(unit),
                noun=audit.policy.document.unit_name or "person",
            )
            if unit
            else say("Each row is taken to be another {noun}.", noun=noun)
        )
        sentences += [*_of_sample(audit), *_of_intruders(audit), *_of_attempts(audit)]
    return sentences


def _of_sample(audit: Audit) -> Iterator[str]:
    """Assumptions of the policy on the population that the records are a sample of, and on its households."""
    document = audit.policy.document
    if document.sampling_fraction is not None:
        yield say(
            "The file is taken to hold {whole:one in} of all {noun:plural} (sampling_fraction)[{idle?}; no demand "
            "counts with it].",
            whole=float(document.sampling_fraction),
            noun=noun_of_record(audit),
            idle=_is_idle(audit),
        )
    if weighing := of_weights(audit):
        yield say(
            "[{several?}Demands|Demand] {demands:names} [{several?}take|takes] from {column} how many {noun:plural} "
            "each row stands for (weight).",
            demands=weighing,
            several=len(weighing) > 1,
            column=next(name_of(one) for one in audit.columns if one.name == document.weight),
            noun=noun_of_record(audit),
        )
    if document.household is not None:
        yield say(
            "Of a household an intruder is taken to know [{one?}one row|every row] (known_rows)"
            "[{others?}; under [{several?}demands|demand] {others:names} everyone in it].",
            one=audit.policy.conventions.known_rows == "one",
            others=(others := of_whole_households(audit)),
            several=len(others) > 1,
        )


def _is_idle(audit: Audit) -> bool:
    """Whether no demand uses the sampling fraction: those on groups of the file do not, nor those on weights."""
    checks, weighing = audit.plugins.checks, of_weights(audit)
    return all(
        str(number) in weighing
        or (one.check in checks and checks[one.check].on_classes)
        or one.details.get("classes_are_of") == "release"
        for number, one in enumerate(audit.expectations, 1)
    )


def _of_intruders(audit: Audit) -> Iterator[str]:
    """Assumptions on registers, and on what the policy's intruders know."""
    searched = [str(number) for number, one in enumerate(audit.expectations, 1) if _is_of_population(one)]
    if searched:
        yield say(
            "The register is taken to hold everyone ([{several?}demands|demand] {numbers:names}).",
            several=len(searched) > 1,
            numbers=[*runs(map(int, searched))],
        )
    if audit.scenarios:
        yield "Each intruder is taken to know what the table of intruders says, and no more."


def _is_of_population(outcome: Outcome) -> bool:
    """Whether a demand rests on a register of the population."""
    return outcome.details.get("classes_are_of") == "population" or "population_records" in outcome.details


def _of_attempts(audit: Audit) -> Iterator[str]:
    """The assumption on how likely attacks are tried, and the chance below which a demand would be met."""
    chances = {one.name: percent_of(one.attempt) for one in audit.scenarios if one.attempt != 1}
    if chances:
        of_each = [say("{intruder} {chance}", intruder=visible(name), chance=one) for name, one in chances.items()]
        yield say("How likely each attack is tried ({chances:text}) is the policy’s estimate.", chances=of_each)
    for number, one in enumerate(audit.expectations, 1):
        attempt = float(one.details.get("attempt", 1))
        is_failing = one.status is Status.FAILED and one.observed and one.threshold is not None
        if is_failing and attempt < 1 and is_chance(one):
            yield say(
                "Demand {number} would be met if the {assumed} of {intruder:names} were below about {chance}.",
                number=number,
                assumed=chances.get(one.scenario or "", percent(attempt)),
                intruder=[visible(one.scenario or "")],
                chance=percent(round(attempt * float(one.threshold or 0) / (one.observed or 1), 2)),
            )
    always = [
        str(number)
        for number, one in enumerate(audit.expectations, 1)
        if one.status is Status.FAILED and not one.is_warning and "attempt" not in one.details
    ]
    if chances and always:
        yield say(
            "No other estimate makes the release fit: [{several?}demands|demand] {numbers:names} {n:does|do} not "
            "depend on it.",
            numbers=first_names(always),
            several=len(always) > 1,
            n=len(always),
        )


CONVENTIONS = {
    ("missing_quasi_identifier", "own_category"): "A missing fact counts as a value of its own.",
    ("missing_quasi_identifier", "wildcard"): "A missing fact matches every value.",
    ("missing_quasi_identifier", "fail"): "A missing fact is a fault.",
    ("missing_sensitive", "excluded"): (
        "A secret that is missing is not counted; a group in which no one has it fails its demand."
    ),
    ("missing_sensitive", "own_category"): "A secret that is missing counts as a value of its own.",
    ("missing_sensitive", "fail"): "A secret that is missing is a fault.",
    ("suppressed", "counted"): "Records of which every fact is suppressed are counted as a group.",
    ("suppressed", "exempt"): "Records of which every fact and secret is suppressed are not judged.",
    ("multiple_sensitive", "per_attribute"): "Each secret is judged by itself.",
    ("multiple_sensitive", "others_as_quasi_identifiers"): (
        "Each secret is judged by itself, while an intruder knows the others."
    ),
    ("multiple_sensitive", "joint"): "All secrets of a person are judged together, as one.",
    ("reference", "release"): "Groups are compared with the whole of this file.",
    ("reference", "original"): "Groups are compared with the whole of the original file.",
    ("reference", "declared"): "Groups are compared with the shares that the policy declares.",
    ("known_rows", "one"): "Of people in several rows, an intruder knows one row.",
    ("negative", "absolute"): "Negative contributions count by their size.",
    ("boundary", "acro"): "A figure exactly at a limit of concentration is unsafe.",
    ("integers", "relaxed"): "Hidden counts may be taken for any numbers.",
}


def flipping(audit: Audit) -> str:
    """Whether another way of counting would have changed a result, or made the release fit."""
    if not audit.has_records:
        return _of_figures(audit)
    if audit.flips is None and _misses_nothing(audit):
        return (
            "No known fact and no secret is missing, so the ways to count missing ones cannot change the verdict; "
            "other ways of counting were not tried (--conventions all tries every one)."
        )
    if audit.flips is None:
        return (
            "Not known: whether another way of counting changes a demand. It was not tried: --conventions all tries "
            "every one."
        )
    others = len(audit.variants) - 1
    if not others:
        return "No other way of counting could change this verdict: the file gives none of them anything to decide."
    number = sentence_case(in_words(others))
    if not audit.flips:
        return say(
            "{number:text} other {n:way|ways} to count {what:names} {n:changes|change} no result; the other "
            "assumptions below were not varied.",
            number=number,
            n=others,
            what=[VARIED.get(one, plain(one)) for one in _varied(audit)],
        )
    names, numbers = [audit.policy.expectations[one] for one in audit.flips], changing_demands(audit)
    return say(
        "{number:text} other {n:way of counting was|ways of counting were} tried. The result changes for {titles:text} "
        "([{one?}demand|demands] {demands:names})[{stays?}, but no way makes the release fit]. Annex D says where.",
        number=number,
        n=others,
        titles=list(dict.fromkeys(one.check.titled(one.parameters) for one in names)),
        demands=numbers,
        one=len(numbers) == 1 and numbers[0].isdigit(),
        stays=not audit.passed and _fails_always(audit),
    )


def _misses_nothing(audit: Audit) -> bool:
    """Whether every column that an intruder may know, or that must stay secret, is known to have all its values."""
    judged = [one for one in audit.columns if one.is_present and one.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)]
    return audit.has_records and bool(judged) and all(one.missing == 0 for one in judged)


def _of_figures(audit: Audit) -> str:
    """The demands on tables of figures that no other way of counting can meet, and that others were not tried."""
    always = [
        str(number)
        for number, one in enumerate(audit.expectations, 1)
        if one.status is Status.FAILED and one.cells is not None and one.cells.failing
        if one.details.get("by_sums") == one.cells.failing and not one.is_warning
    ]
    return say(
        "[{always?}[{several?}Demands|Demand] {always:names} {n:fails|fail} by adding up published figures alone: no "
        "other way of counting makes the release fit. Other|Other ways of counting,] descriptions of the tables and "
        "limits were not tried[{always?}, and may change the verdict].",
        always=always,
        several=len(always) > 1,
        n=len(always),
    )


VARIED = {
    "missing_quasi_identifier": "missing facts",
    "missing_sensitive": "missing secrets",
    "suppressed": "suppressed records",
    "multiple_sensitive": "several secrets",
    "known_rows": "rows that are known",
    "negative": "negative contributions",
    "boundary": "figures at a limit",
    "integers": "hidden counts",
}


def _varied(audit: Audit) -> list[str]:
    """The conventions that some combination changes."""
    own = audit.variants[0].conventions
    return [name for name in own if any(one.conventions.get(name) != own[name] for one in audit.variants)]


def _fails_always(audit: Audit) -> bool:
    """Whether an expectation blocks the release under every combination of conventions that was tried."""
    fails = [
        {Status.ERROR, Status.FAILED} if one.parameters.severity is Severity.ERROR else {Status.ERROR}
        for one in audit.policy.expectations
    ]
    return all(
        any(verdict in grave for verdict, grave in zip(one.verdicts, fails, strict=True)) for one in audit.variants
    )


NOT_STATED = "no name was given; audit again with --run-by NAME before you sign"


def run(audit: Audit) -> Pairs:
    """The person who ran it, when, with which command and versions."""
    return [
        ("run by", visible(audit.run.by) if audit.run.by else NOT_STATED),
        ("when", audited_at(audit)),
        *([("command", visible(audit.run.command))] if audit.run.command else []),
        *([("configured by", visible(audit.run.configured))] if audit.run.configured else []),
        ("versions", say("{tool}, {plugins:text}", tool=by_tool(), plugins=plugins(audit))),
    ]


def verification(audit: Audit) -> Sequence[Paragraph]:
    """The steps by which anyone who has the files can verify the report."""
    files = [*_files(audit)]
    if len(files) > FEW:
        listed = say("Compute the SHA-256 of each of the {n} files; annex D has what they must be.", n=len(files))
        steps = [Paragraph(listed)]
    else:
        steps = [
            Paragraph(
                say(
                    "[{in_memory?}{name} was in memory. The SHA-256 of its content was"
                    "|Compute the SHA-256 of {name}[{first?}, by sha256sum: a fingerprint that one changed letter "
                    "changes]. It must be]",
                    in_memory=table.in_memory,
                    name=visible(table.name),
                    first=not at,
                ),
                code=table.sha256 or "not known",
            )
            for at, table in enumerate(files)
        ]
    return (*steps, *_policy_step(audit), *_files_of_policy(audit), _again(audit))


def _files_of_policy(audit: Audit) -> Iterator[Paragraph]:
    """The step on the files that the policy names, such as hierarchies; nothing where it names none."""
    declared = audit.policy.document.attributes
    named = [declared[one.attribute].hierarchy for one in audit.files if one.attribute in declared]
    names = [visible(one) for one in named if isinstance(one, str)]
    number = len(audit.files)
    if number:
        yield Paragraph(
            say(
                "The policy reads [{names?}{names:names}|{n:more file}], too; annex D has {n:its|their} SHA-256.",
                n=number,
                names=first_names(names) if len(names) == number else [],
            )
        )


def _again(audit: Audit) -> Paragraph:
    """The step that repeats the audit: a command for files, or a call for tables in memory."""
    if not (audit.has_records and audit.release.in_memory):
        again = "In the folder that has them all, audit everything again. The last line must begin with “Confirmed”."
        return Paragraph(again, code=_verify_command(audit))
    policy = json.dumps(policy_argument(audit))
    return Paragraph(
        "With the same content in memory, audit everything again in Python, which computes these digests, too. The "
        "answer must be True.",
        code=f'tcdp_audit.verify("REPORT.html", {tables_argument(audit)}, {policy}).is_confirmed',
    )


def _files(audit: Audit) -> Iterator[Table]:
    """The release or its tables, and the tables that it was compared with."""
    yield from audit.release.tables.values() or ([audit.release] if audit.has_records else [])
    yield from audit.companions.values()


def _policy_step(audit: Audit) -> Iterator[Paragraph]:
    """The step on the policy, which may be no file."""
    if audit.policy.path is None:
        yield Paragraph(
            say(
                "Save the policy, which annex D has, as {file}: its one line, without a line break at the end. Its "
                "SHA-256 must be",
                file=policy_argument(audit),
            ),
            code=audit.policy.sha256,
        )
        return
    yield Paragraph(
        say("Compute that of the policy, {file}. It must be", file=visible(audit.policy.name)), code=audit.policy.sha256
    )


def _verify_command(audit: Audit) -> str:
    """The command that verifies the report."""
    release = "." if audit.release.tables else visible(audit.release.name) if audit.has_records else ""
    policy = f"--policy {policy_argument(audit)}" if audit.policy.path is None else ""
    return " ".join(filter(None, ("tcdp-audit verify REPORT.html", release, policy)))
