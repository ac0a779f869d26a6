"""The basis of the verdict: every column with its role, conventions, who ran it and how, and how to verify it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tcdp_audit.plugin._internal import Block, in_words
from tcdp_audit.plugin.report import Audit, Definitions, Group, Heading, Items, Paragraph, Rows, Table, tool
from tcdp_audit.plugin.sentences import agree, count, listing, visible
from tcdp_audit_reports.charts.pictures import tables_picture
from tcdp_audit_reports.first_screen import audited_at, by_tool, plugins
from tcdp_audit_reports.policy_text import known, named, one_line, role_of, secret, unwanted
from tcdp_audit_reports.sections.findings import Pairs, plain

TOKENS = ("suppressed_tokens", "missing_tokens")  # conventions that are cells themselves
OFFICES = ("Data owner", "Data protection officer")
SIGNED = ("Office", "Name", "Date and signature")
LIMITS = (
    "This audit sees the file and its policy. It does not see who receives the file, under which contract, and what "
    "else they hold. The section on what was checked lists what was not examined."
)
MOST = 60  # rows of the table of columns; the machine-readable result has all


def blocks(audit: Audit) -> Iterator[Group]:
    """All of it, in columns: roles and run, then how to verify it and who signs."""
    if audit.linked_tables is not None:
        yield Group([tables_picture(audit.linked_tables), audit.linked_tables.rows], style="linked")
    columns = columns_table(audit)
    roles: list[Block] = [Paragraph(" ".join(summary(audit)), style="meaning")]
    circumstances: list[Block] = [
        Heading("Run"),
        Definitions(run(audit)),
        Heading("Conventions"),
        Paragraph(flipping(audit), style="flips"),
        Definitions(conventions(audit)),
    ]
    yield Group([Group([*roles, *([columns] if columns.body else [])]), Group(circumstances)], style="basis")
    steps = Items(verification(audit), ordered=True, style="steps")
    signatures = Rows(SIGNED, [(office, "", "") for office in OFFICES], style="signatures")
    sign_off = Group([Heading("Sign-off"), signatures], page_only=True)
    yield Group(
        [Group([Heading(f"How to verify it, in {in_words(len(steps.entries))} steps"), steps]), sign_off],
        style="basis foot",
    )
    yield Group([Paragraph(LIMITS, style="note")], page_only=True)


def summary(audit: Audit) -> list[str]:
    """What is assumed of the columns, in sentences."""
    if not audit.columns:
        return ["The columns were not recorded with this result."]
    taken, hidden, wrong = known(audit), secret(audit), unwanted(audit)
    return [
        "What each intruder is taken to know is in the table of those who might attack."
        if audit.scenarios
        else f"A neighbour, an employer or a newspaper is taken to know {named(taken)}."
        if taken
        else "No one is taken to know anything about a person: no column has that role.",
        f"Must stay secret: {named(hidden)}." if hidden else "No column is declared as one that must stay secret.",
        f"Should not be in a published file: {named(wrong)}." if wrong else "No column is there that should not be.",
        "If a column has the wrong role in the policy, this verdict is wrong.",
    ]


def columns_table(audit: Audit) -> Rows:
    """Every column: name, meaning, role, number of values; its reason and its share of the risk where known."""
    shares = {one.column: one.share for one in audit.column_risks}
    links = () if audit.linked_tables is None else audit.linked_tables.links
    has_reasons = any(one.reason for one in audit.columns)
    rows = [
        [
            visible(one.name),
            visible(one.label) or "–",
            role_of(one, links),
            *([one_line(one.reason) or "–"] if has_reasons else []),
            "–" if one.values is None else count(one.values),
            *(["–" if one.name not in shares else f"{100 * shares[one.name]:.0f}%"] if shares else []),
        ]
        for one in audit.columns[:MOST]
    ]
    rest = len(audit.columns) - MOST
    note = f"{count(rest)} more {agree(rest, 'column is', 'columns are')} in the machine-readable result." * (rest > 0)
    reason, share = ["the policy’s reason"] * has_reasons, ["share of the risk"] * bool(shares)
    head = ("column", "meaning", "role", *reason, "values", *share)
    note = f"{note} {RISK if shares else NO_RISK}".strip()
    file = "tables" if links else "file"
    return Rows(head, rows, f"Every column of the {file}", note, numeric_from=3 + has_reasons)


RISK = (
    "Share of the risk: how much a column adds, on average over all orders in which a neighbour may learn the columns, "
    "to the people who are unique (Shapley values; to the pairs of people that are distinguished, where no one is "
    "unique)."
)
NO_RISK = "How much each column adds to the risk was not measured in this run."


def conventions(audit: Audit) -> Pairs:
    """The policy's conventions; tokens in place of a cell are counted, not shown."""
    unit = audit.policy.document.unit
    own = audit.policy.conventions.model_dump(exclude={"known_rows"} if unit is None else set())
    pairs = [(plain(name), plain(value)) for name, value in own.items() if name not in TOKENS]
    tokens = [(plain(name), f"{len(own[name]):,} declared") for name in TOKENS if name in own]
    return [*pairs, *tokens, ("unit of privacy", visible(unit or "one record"))]


def flipping(audit: Audit) -> str:
    """Whether another convention would have changed a verdict."""
    if audit.flips is None:
        return "Whether another convention would change the verdict was not tried: --conventions all tries every one."
    tried = count(len(audit.variants) - 1, "other combination")
    if len(audit.variants) == 1:
        return "No other convention could change this verdict: the file gives none of them anything to decide."
    if not audit.flips:
        return f"The verdict does not depend on the conventions: under {tried} no demand comes out differently."
    names = [audit.policy.expectations[one] for one in audit.flips]
    titles = listing([one.check.titled(one.parameters) for one in names])
    return f"Under {tried} of conventions the result changes for {titles}. The table in the appendix says under which."


def run(audit: Audit) -> Pairs:
    """The person who ran it, when, with which command and versions."""
    about = tool()
    libraries = ", ".join(f"{name} {version}" for name, version in about["libraries"].items())
    return [
        ("run by", visible(audit.run.by or "not stated")),
        ("when", audited_at(audit)),
        ("command", visible(audit.run.command or "called from a program")),
        *([("configured by", visible(audit.run.configured))] if audit.run.configured else []),
        ("versions", f"{by_tool()}, Python {about['python']}, {libraries}; {plugins(audit)}"),
    ]


def verification(audit: Audit) -> Sequence[Paragraph]:
    """The steps by which anyone who has the files can verify the report."""
    release = "FOLDER" if audit.release.tables else visible(audit.release.name)
    file = "table" if audit.release.in_memory else "file"
    of_tables = [
        Paragraph(f"The {file} of {visible(name)} is the one that was audited: its SHA-256 is", code=_digest(one))
        for name, one in audit.release.tables.items()
    ]
    return (
        *(
            of_tables
            or [Paragraph(f"The {file} is the one that was audited: its SHA-256 is", code=_digest(audit.release))]
        ),
        Paragraph("The policy is the one that was applied: its SHA-256 is", code=audit.policy.sha256),
        Paragraph("Compute everything again and compare:", code=f"tcdp-audit verify REPORT.html {release}"),
    )


def _digest(table: Table) -> str:
    return table.sha256 or "not known"
