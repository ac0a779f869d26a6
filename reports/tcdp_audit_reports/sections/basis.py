"""What the verdict rests on: every column with its role, conventions, who ran it and how, and how to verify it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcdp_audit.plugin.report import Audit, tool
from tcdp_audit.plugin.sentences import agree, count, listing, visible
from tcdp_audit_reports.chart import Table
from tcdp_audit_reports.columns import known, named, role_of, secret, unwanted
from tcdp_audit_reports.finding import Pairs, plain
from tcdp_audit_reports.markdown_text import escaped, table
from tcdp_audit_reports.pages import filled
from tcdp_audit_reports.particulars import audited_at, by_tool, plugins

TOKENS = ("suppressed_tokens", "missing_tokens")  # conventions that are cells themselves
MOST = 60  # rows of the table of columns; the machine-readable result has all


def html(audit: Audit) -> str:
    """All of it, unfolded."""
    return filled(
        "basis.html.j2",
        summary=summary(audit),
        columns=columns_table(audit),
        conventions=conventions(audit),
        flips=flipping(audit),
        run=run(audit),
        verify=verification(audit),
        offices=("Data owner", "Data protection officer"),
    )


def markdown(audit: Audit) -> str:
    """The same as a table and lists."""
    columns = columns_table(audit)
    pairs = [*run(audit), *conventions(audit)]
    parts = [" ".join(map(escaped, summary(audit)))]
    if columns.rows:
        parts.append(table([*map(escaped, columns.columns)], [[*map(escaped, row)] for row in columns.rows]))
    parts.append(escaped(flipping(audit)))
    parts.append("\n".join(f"- {escaped(name)}: {escaped(value)}" for name, value in pairs))
    steps = (f"{number}. {escaped(one.text)} `{_code(one.typed)}`" for number, one in enumerate(verification(audit), 1))
    return "\n\n".join([*parts, "### How to verify it", "\n".join(steps)])


def _code(text: str) -> str:
    """Text that cannot close its code."""
    return " ".join(text.replace("`", "'").split())


def summary(audit: Audit) -> list[str]:
    """What is assumed of the columns, in sentences."""
    if not audit.columns:
        return ["The columns were not recorded with this result."]
    taken, hidden, wrong = known(audit), secret(audit), unwanted(audit)
    return [
        f"A neighbour, an employer or a newspaper is taken to know {named(taken)}."
        if taken
        else "Nobody is taken to know anything about a person: no column has that role.",
        f"Must stay secret: {named(hidden)}." if hidden else "No column is declared as one that must stay secret.",
        f"Should not be in a published file: {named(wrong)}." if wrong else "No column is there that should not be.",
        "If a column has the wrong role in the policy, this verdict is wrong.",
    ]


def columns_table(audit: Audit) -> Table:
    """Every column: name, meaning, role, number of values, and its share of the risk where that was measured."""
    shares = {one.column: one.share for one in audit.column_risks}
    rows = [
        [
            visible(one.name),
            visible(one.label) or "–",
            role_of(one),
            "–" if one.values is None else count(one.values),
            *(["–" if one.name not in shares else f"{100 * shares[one.name]:.0f}%"] if shares else []),
        ]
        for one in audit.columns[:MOST]
    ]
    rest = len(audit.columns) - MOST
    note = f"{count(rest)} more {agree(rest, 'column is', 'columns are')} in the machine-readable result." * (rest > 0)
    head = ("column", "meaning", "role", "values", *(["share of the risk"] if shares else []))
    return Table("Every column of the file", head, rows, f"{note} {RISK if shares else NO_RISK}".strip())


RISK = (
    "Share of the risk: how much a column adds, on average over all orders in which a neighbour may learn the columns, "
    "to the people who stand alone (Shapley values; to the pairs of people that are told apart, where nobody stands "
    "alone)."
)
NO_RISK = "How much each column adds to the risk was not measured in this run."


def conventions(audit: Audit) -> Pairs:
    """The policy's conventions; tokens that stand for a cell are counted, not shown."""
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
    """Who ran it, when, with which command and versions."""
    about = tool()
    libraries = ", ".join(f"{name} {version}" for name, version in about["libraries"].items())
    return [
        ("run by", visible(audit.run.by or "not stated")),
        ("when", audited_at(audit)),
        ("command", visible(audit.run.command or "called from a program")),
        *([("configured by", visible(audit.run.configured))] if audit.run.configured else []),
        ("versions", f"{by_tool()}, Python {about['python']}, {libraries}; {plugins(audit)}"),
    ]


@dataclass(frozen=True)
class Check:
    """A step of a verification: what it is, and what to type."""

    text: str
    typed: str


def verification(audit: Audit) -> Sequence[Check]:
    """Three steps by which anybody who has the files can verify the report."""
    release = visible(audit.release.name)
    digest = audit.release.sha256
    file = "table" if audit.release.in_memory else "file"
    return (
        Check(f"The {file} is the one that was audited: its SHA-256 is", digest or "not known"),
        Check("The policy is the one that was applied: its SHA-256 is", audit.policy.sha256),
        Check("Compute everything again and compare:", f"tcdp-audit verify REPORT.html {release}"),
    )
