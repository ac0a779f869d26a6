"""The Markdown summary: verdict, tables, a paragraph an outcome. For pull requests and job summaries."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tcdp_audit.outcome import Outcome
from tcdp_audit.results import Audit, tool
from tcdp_audit_reports.certificate import WORDS, verdict_sentence
from tcdp_audit_reports.finding import attribute_of
from tcdp_audit_reports.margin import margin_words
from tcdp_audit_reports.words import (
    count,
    demanded,
    failing,
    observed,
    prose,
    sentence_case,
    state_of,
    visible,
)

SPECIAL = re.compile(r"[\\`*_{}\[\]<>()#+!|~$&:@=-]")  # acts somewhere in Markdown, HTML in it, or GitHub's dialect
HEAD = (
    "Status",
    "Check",
    "Attribute",
    "Observed",
    "Demanded",
    "Margin",
    "Classes failing",
    "Records failing",
)
BANNER = "**This report contains cells of the release** (`--show-values`): treat it as you treat the data."


def render(audit: Audit) -> str:
    """The audit as Markdown; the same audit gives the same bytes. Cost: linear in the outcomes."""
    return "\n\n".join(_blocks(audit)) + "\n"


def escaped(text: str) -> str:
    """Text that no reader of Markdown takes for markup: every character with a meaning becomes an entity."""
    plain = " ".join(visible(text).split())
    return SPECIAL.sub(lambda found: found[0] if found[0] in "-:=()+" else f"&#{ord(found[0])};", plain)


def _blocks(audit: Audit) -> Iterator[str]:
    release = audit.release
    yield f"# {WORDS[audit.status]}: {escaped(release.name)}"
    if any(one.cells is not None for outcome in audit.outcomes for one in outcome.worst):
        yield BANNER
    yield escaped(verdict_sentence(audit))
    yield f"{count(release.records, 'record')}, {count(release.columns, 'column')}. {_provenance(audit)}"
    yield "## Expectations"
    yield _expectations(audit)
    for outcome in audit.expectations:
        yield _paragraph(audit, outcome)
    if audit.structure:
        yield "## Columns"
        yield _table(("Status", "Demand", "Finding"), [_structural(one) for one in audit.structure])


def _provenance(audit: Audit) -> str:
    about = tool()
    digest = f"SHA-256 {audit.release.sha256}" if audit.release.sha256 else "a table in memory"
    return (
        f"Release: {digest}. Policy: {escaped(audit.policy.name)}, SHA-256 {audit.policy.sha256}. "
        f"Audited {audit.audited_at:%Y-%m-%d %H:%M} UTC with {about['name']} {about['version']}."
    )


def _expectations(audit: Audit) -> str:
    if not audit.expectations:
        return "The policy's expectations gave no outcome."
    return _table(HEAD, [_row(audit, one) for one in audit.expectations], left=3)


def _row(audit: Audit, outcome: Outcome) -> list[str]:
    fails = failing(outcome)
    classes, records = ("–", "–") if fails is None else map(count, fails)
    texts = (
        sentence_case(state_of(outcome)),
        outcome.title or outcome.check,
        attribute_of(outcome, audit.plugins.checks.get(outcome.check)),
        observed(outcome),
        demanded(outcome),
        margin_words(outcome),
        classes,
        records,
    )
    return [escaped(text) for text in texts]


def _structural(outcome: Outcome) -> list[str]:
    texts = (
        sentence_case(state_of(outcome)),
        outcome.title or outcome.check,
        prose(outcome.message) or "Kept.",
    )
    return [escaped(text) for text in texts]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int | None = None) -> str:
    """A table of GitHub's dialect; columns after the first `left` are aligned right."""
    marks = ["---" if left is None or position < left else "---:" for position in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, marks, *rows))


def _paragraph(audit: Audit, outcome: Outcome) -> str:
    attribute = attribute_of(outcome, audit.plugins.checks.get(outcome.check))
    name = f"{outcome.title or outcome.check}, {attribute}" if attribute != "–" else outcome.title or outcome.check
    told = f"**{escaped(name)}** ({state_of(outcome)}). {escaped(prose(outcome.message))}"
    cells = [
        f"- class {one.ordinal:,}: " + "; ".join(f"{escaped(k)}: {escaped(v)}" for k, v in one.cells.items())
        for one in outcome.worst
        if one.cells is not None
    ]
    return "\n".join([told, "", *cells]) if cells else told
