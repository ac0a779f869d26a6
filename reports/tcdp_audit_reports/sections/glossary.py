"""The terms of the report, each explained once; and each check that was run, with definition, formula and source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from tcdp_audit.plugin._internal import Block
from tcdp_audit.plugin.check import Check, Guide
from tcdp_audit.plugin.report import Audit, Definitions, Group, Heading, Lines, Paragraph
from tcdp_audit.plugin.sentences import say, visible
from tcdp_audit_reports.charts import dumbbell
from tcdp_audit_reports.charts.margin import margin_bar
from tcdp_audit_reports.guide_text import in_groups, inline, is_mathml, plain_text
from tcdp_audit_reports.templating import fill_template

GLOSSARY = {
    "Group": (
        "All people who look alike to an intruder: their records agree in every column that an intruder may know. The "
        "literature calls it an equivalence class."
    ),
    "An intruder may know it": "A column that others may know about a person from elsewhere: quasi-identifier.",
    "Must stay secret": "A column that no one may learn about a person from the file: sensitive attribute.",
    "Demand": "A line of the policy that can fail: it is met, fails, warns, or could not be checked.",
    "Warns": "The demand is not met, and the policy says that this alone does not stop publication.",
    "Schema check": "What the auditor asks of the columns of every file, whatever the policy says.",
    "Measured": "A number was computed, and the policy demands nothing of it.",
    "Re-identification risk": "How easily a person can be found in the file: identity disclosure.",
    "Attribute disclosure risk": "How easily something that must stay secret can be learned about a person.",
    "Affected": "In a group that does not keep a demand, or on whom the attack that it asks about succeeds.",
    "Exposed": (
        "Affected by a demand that fails, each person counted once; not those whom only a warning or a met demand "
        "affects."
    ),
    "Detail": (
        "What values say: one that stays loses none, one that is removed all, one that becomes wider a part. Losses "
        "are means."
    ),
    "Margin": "How far what was found is from what is demanded, as a factor.",
}
OF_HISTORIES = (
    "All people who look alike to an intruder: their whole histories agree in every column that an intruder may know. "
    "Where a group is of rows, the finding says so. The literature calls it an equivalence class."
)
OF_UNITS = "Where the policy names a unit"  # where the last sentences of a definition begin


BELIEFS = (
    "How likely a reader holds a value. A stranger to the file holds all values equally likely (B0). The step from B0 "
    "to B1 is what the release is for; t-closeness limits the step from B1 to B2."
)
OF_FIGURES = {
    "Table of figures": "A table of counts, sums, means or other figures of several people, and not of their records.",
    "Cell": (
        "One place of a table, named by its label in every dimension; it has a figure for each measure. A "
        "figure that several tables have is counted once."
    ),
    "Hidden": "A text, such as c, is in the place of a figure.",
    "Fails": "The figure, as it is published or as a reader computes it, does not keep a demand of the policy.",
}
OF_BOTH = ("Demand", "Warns", "Measured", "Margin")


def terms(audit: Audit) -> dict[str, str]:
    """The terms that a report of this audit uses: of records, of tables of figures, or of both."""
    of_records = {name: text for name, text in GLOSSARY.items() if audit.has_records or name in OF_BOTH}
    if not any(margin_bar(one) for one in audit.expectations):
        of_records.pop("Margin", None)
    demands, columns = audit.tally.demands, audit.tally.columns
    if audit.remedy_trial is None and audit.change_log is None:
        of_records.pop("Detail", None)
    if (
        "Group" in of_records
        and audit.conventions.get("known_rows") == "all"
        and audit.policy.document.unit is not None
    ):
        of_records["Group"] = OF_HISTORIES
    numbers = {"Warns": demands.warned + columns.warned, "Measured": demands.measured}
    used = {name: text for name, text in of_records.items() if numbers.get(name, 1)}
    beliefs = {"Beliefs": BELIEFS} if any(map(dumbbell.beliefs, audit.expectations)) else {}
    return {**used, **beliefs, **(OF_FIGURES if audit.figures else {})}


@dataclass(frozen=True)
class Explained:
    """A check that was run."""

    id: str
    title: str
    definition: Sequence[Markup]  # by paragraph
    formula: str
    mathml: str
    source: str

    @property
    def formula_label(self) -> str:
        """The name of its formula, for those who do not see it."""
        return say("Formula of {title:text}", title=self.title)


def html(audit: Audit) -> str:
    """Terms, then checks."""
    return fill_template("glossary.html.j2", glossary=[*terms(audit).items()], checks=[*_explained(audit)])


def blocks(audit: Audit) -> Iterator[Definitions | Group]:
    """The terms; the checks for pages only: `tcdp-audit explain` has them, too."""
    yield Definitions([*terms(audit).items()])
    run = [audit.plugins.checks[name] for name in _checks(audit)]
    checks: list[Block] = [block for one in run for block in _explanation(audit, one)]
    if checks:
        yield Group([Heading("The checks of this policy"), *checks], page_only=True)


def _checks(audit: Audit) -> Iterable[str]:
    """The checks that were run, once each."""
    return dict.fromkeys(one.check for one in audit.expectations if one.check in audit.plugins.checks)


def _definition(audit: Audit, guide: Guide) -> str:
    """The definition of a check, without its sentences on units where the policy has neither them nor households."""
    document = audit.policy.document
    of_rows = document.household is None or audit.policy.conventions.known_rows == "one"
    if document.unit is None and (document.household is None or (of_rows and "household" not in guide.definition)):
        return guide.definition.partition(OF_UNITS)[0].rstrip()
    return guide.definition


def _explanation(audit: Audit, check: Check) -> Iterator[Paragraph | Lines]:
    guide = check.guide
    yield Paragraph(guide.question, lead=say("{title:text}.", title=visible(check.title)))
    yield from (Paragraph(plain_text(in_groups(one))) for one in _definition(audit, guide).split("\n\n"))
    yield Lines(guide.formula.replace(";  ", "\n"), mathml=guide.mathml)
    yield Paragraph(guide.source, style="note")


def _explained(audit: Audit) -> Iterator[Explained]:
    checks = audit.plugins.checks
    for name in _checks(audit):
        guide = checks[name].guide
        yield Explained(
            id=f"glossary-{name}",
            title=visible(checks[name].title),
            definition=[inline(in_groups(one)) for one in _definition(audit, guide).split("\n\n")],
            formula=visible(guide.formula).replace(";  ", "\n"),
            mathml=guide.mathml.replace("'", '"') if is_mathml(guide.mathml) else "",
            source=visible(guide.source),
        )
