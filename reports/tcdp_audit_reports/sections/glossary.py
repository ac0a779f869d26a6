"""The terms of the report, each explained once; and each check that was run, with definition, formula and source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tcdp_audit.plugin.check import Guide
from tcdp_audit.plugin.report import Audit, Definitions
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.guide_text import in_groups, inline, is_mathml
from tcdp_audit_reports.templating import fill_template

GLOSSARY = {
    "Group": (
        "All people who look alike to a neighbour: their records agree in every column that a neighbour may know. The "
        "literature calls it an equivalence class."
    ),
    "A neighbour may know it": "A column that others may know about a person from elsewhere: quasi-identifier.",
    "Must stay secret": "A column that no one may learn about a person from the file: sensitive attribute.",
    "Demand": "A line of the policy that can fail: it is met, fails, warns, or could not be checked.",
    "Warns": "The demand is not met, and the policy says that this alone does not stop publication.",
    "Schema check": "What the auditor asks of the columns of every file, whatever the policy says.",
    "Measured": "A number was computed, and the policy demands nothing of it.",
    "Re-identification risk": "How easily a person can be found in the file: identity disclosure.",
    "Attribute disclosure risk": "How easily something that must stay secret can be learned about a person.",
    "Exposed": "In a group that does not keep a failing demand. Each person is counted once.",
    "Margin": "How far what was found is from what is demanded, as a factor.",
}


@dataclass(frozen=True)
class Explained:
    """A check that was run."""

    id: str
    title: str
    question: str
    definition: Markup
    formula: str
    mathml: str
    reading: Sequence[Markup]
    source: str


def html(audit: Audit) -> str:
    """Terms, then checks."""
    return fill_template("glossary.html.j2", glossary=[*GLOSSARY.items()], checks=[*_explained(audit)])


def blocks(_: Audit) -> Iterator[Definitions]:
    """The terms only: `tcdp-audit explain` has the checks."""
    yield Definitions([*GLOSSARY.items()])


def _explained(audit: Audit) -> Iterator[Explained]:
    checks = audit.plugins.checks
    for name in dict.fromkeys(one.check for one in audit.expectations if one.check in checks):
        guide = checks[name].guide
        yield Explained(
            id=f"glossary-{name}",
            title=visible(checks[name].title),
            question=visible(guide.question),
            definition=inline(in_groups(guide.definition)),
            formula=visible(guide.formula).replace(";  ", "\n"),
            mathml=guide.mathml.replace("'", '"') if is_mathml(guide.mathml) else "",
            reading=[*_reading(guide)],
            source=visible(guide.source),
        )


def _reading(guide: Guide) -> Iterator[Markup]:
    for text in (guide.reading, guide.choosing, guide.limits):
        if text:
            yield inline(in_groups(text))
