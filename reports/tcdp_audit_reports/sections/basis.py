"""The basis of the verdict: conventions, who ran the audit and how, how to verify it, and who signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import Block, in_words
from tcdp_audit.plugin.report import Audit, Definitions, Group, Heading, Items, Paragraph, Rows, Table
from tcdp_audit.plugin.sentences import Severity, Status, say, sentence_case, visible
from tcdp_audit_reports.first_screen import audited_at, by_tool, plugins
from tcdp_audit_reports.policy_text import signed_for
from tcdp_audit_reports.sections.findings import Pairs

TOKENS = ("suppressed_tokens", "missing_tokens")  # conventions that are cells themselves
OFFICES = ("Data owner", "Data protection officer")
SIGNED = ("Office", "Name", "Date and signature")
FEW = 6  # tables, up to which the digest of each is a step of its own


def blocks(audit: Audit) -> Iterator[Block]:
    """Conventions, the run, how to verify the verdict, and who signs."""
    if audit.has_records:
        yield Paragraph(f"{flipping(audit)} {NOT_VARIED}", style="flips")
    yield Items(how_counted(audit))
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
    yield Group([Heading("Sign-off"), Definitions(signed_for(audit)), signatures], page_only=True)


NOT_VARIED = "Other roles of columns, and other limits, were not tried."


def how_counted(audit: Audit) -> list[str]:
    """The policy's conventions as sentences; texts in the place of a cell are counted, not shown."""
    own, unit = audit.conventions, audit.policy.document.unit
    pairs = [(name, value) for name, value in own.items() if isinstance(value, str)]
    sentences = [CONVENTIONS[pair] for pair in pairs if pair in CONVENTIONS]
    tokens = [len(own[name]) for name in TOKENS if name in own]
    if audit.has_records and any(tokens):
        sentences.append(say("{n} {n:text|texts} {n:stands|stand} for a missing or suppressed value.", n=sum(tokens)))
    if audit.has_records:
        sentences.append(
            say("What is protected: everything about one value of {unit}.", unit=visible(unit))
            if unit
            else "What is protected: each row by itself."
        )
    return sentences


CONVENTIONS = {
    ("missing_quasi_identifier", "own_category"): "A missing fact counts as a value of its own.",
    ("missing_quasi_identifier", "wildcard"): "A missing fact matches every value.",
    ("missing_quasi_identifier", "fail"): "A missing fact is a fault.",
    ("missing_sensitive", "excluded"): "A secret that is missing is left out.",
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
    if audit.flips is None:
        return "Whether another way of counting changes the verdict was not tried: --conventions all tries every one."
    others = len(audit.variants) - 1
    if not others:
        return "No other way of counting could change this verdict: the file gives none of them anything to decide."
    number = sentence_case(in_words(others))
    if not audit.flips:
        return say(
            "The verdict does not depend on how things are counted. {number:text} other "
            "{n:way of counting was|ways of counting were} tried, and no demand comes out differently.",
            number=number,
            n=others,
        )
    names = [audit.policy.expectations[one] for one in audit.flips]
    return say(
        "{number:text} other {n:way of counting was|ways of counting were} tried. The result changes for {titles:text}"
        "[{stays?}, but no way makes the release fit]. Annex D says where.",
        number=number,
        n=others,
        titles=list(dict.fromkeys(one.check.titled(one.parameters) for one in names)),
        stays=not audit.passed and _fails_always(audit),
    )


def _fails_always(audit: Audit) -> bool:
    """Whether an expectation blocks the release under every combination of conventions that was tried."""
    fails = [
        {Status.ERROR, Status.FAILED} if one.parameters.severity is Severity.ERROR else {Status.ERROR}
        for one in audit.policy.expectations
    ]
    return all(
        any(verdict in grave for verdict, grave in zip(one.verdicts, fails, strict=True)) for one in audit.variants
    )


NOT_STATED = "not stated; the option --run-by would state it"


def run(audit: Audit) -> Pairs:
    """The person who ran it, when, with which command and versions."""
    return [
        ("run by", visible(audit.run.by) if audit.run.by else NOT_STATED),
        ("when", audited_at(audit)),
        ("command", visible(audit.run.command or "called from a program")),
        *([("configured by", visible(audit.run.configured))] if audit.run.configured else []),
        ("versions", say("{tool}, {plugins:text}; annex D has the libraries", tool=by_tool(), plugins=plugins(audit))),
    ]


def verification(audit: Audit) -> Sequence[Paragraph]:
    """The steps by which anyone who has the files can verify the report."""
    has_file = audit.has_records or audit.release.tables
    release = "FOLDER" if audit.release.tables else visible(audit.release.name) if audit.has_records else ""
    file = "table" if audit.release.in_memory else "file"
    of_tables = [
        Paragraph(
            say("The {file:text} of {name} is the one that was audited: its SHA-256 is", file=file, name=visible(name)),
            code=_digest(one),
        )
        for name, one in audit.release.tables.items()
    ]
    of_figures = [
        Paragraph(
            say("The table {name} is the one that was audited: its SHA-256 is", name=visible(name)), code=_digest(one)
        )
        for name, one in audit.companions.items()
        if name in audit.figures
    ]
    of_tables, of_figures = _together(of_tables), _together(of_figures)
    return (
        *(
            of_tables
            or [
                Paragraph(
                    say("The {file:text} is the one that was audited: its SHA-256 is", file=file),
                    code=_digest(audit.release),
                )
            ]
            if has_file
            else []
        ),
        *of_figures,
        Paragraph("The policy is the one that was applied: its SHA-256 is", code=audit.policy.sha256),
        Paragraph("Compute everything again and compare:", code=f"tcdp-audit verify REPORT.html {release}".strip()),
    )


def _together(steps: list[Paragraph]) -> list[Paragraph]:
    """The steps on digests of tables; of many one on all of them."""
    if len(steps) <= FEW:
        return steps
    return [
        Paragraph(
            say("The {n} tables are the ones that were audited: the appendix has the SHA-256 of each.", n=len(steps))
        )
    ]


def _digest(table: Table) -> str:
    return table.sha256 or "not known"
