"""What nobody asked: a line for each registered check that was not run, and the regulators' three questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tcdp_audit.plugin.check import Check, DisclosureType
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import Status, agree, count, listing

REGULATORS = (
    "Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques (WP216), section 2.2: singling out, "
    "linkability, inference. ISO/IEC 27559:2022, Privacy enhancing data de-identification framework: the data are one "
    "part of a release; its context and controls, which this audit does not see, are the other."
)
IDENTITY = (DisclosureType.IDENTITY_MODEL, DisclosureType.IDENTITY_DEGREE)
ATTRIBUTE = (DisclosureType.ATTRIBUTE_MODEL, DisclosureType.ATTRIBUTE_DEGREE)


@dataclass(frozen=True)
class Question:
    """A question of the regulators: its word, what it means, and what this audit answers."""

    word: str
    question: str
    answer: str


def regulators(audit: Audit) -> Sequence[Question]:
    """Singling out, linkability, inference: what was asked about each."""
    checks = audit.plugins.checks
    asked = {one.check: checks[one.check] for one in audit.expectations if one.check in checks}
    alone = [one.title for one in asked.values() if one.disclosure_type in IDENTITY and _is_about_one_file(one)]
    linked = [one.title for one in asked.values() if one.disclosure_type in IDENTITY and not _is_about_one_file(one)]
    learned = [one.title for one in asked.values() if one.disclosure_type in ATTRIBUTE]
    return (
        Question("Singling out", "can one person be picked out of the file?", _answer(alone)),
        Question("Linkability", "can records be matched with another file?", _answer(linked)),
        Question("Inference", "can something be learned about a person?", _answer(learned)),
    )


def _is_about_one_file(check: Check) -> bool:
    """Whether a check asks who stands out in the release by itself; a hold-out may say what chance does."""
    return not check.requires or check.name == "singling_out"


def _answer(titles: Sequence[str]) -> str:
    return f"asked by {listing(titles)}." if titles else "not asked by this policy."


def open_risks(audit: Audit) -> list[tuple[str, str]]:
    """Each installed check that was not run, by its title, with what could still happen; those without a line last."""
    run = {one.check for one in audit.expectations if one.status is not Status.SKIPPED}
    lines = [
        (check.title, check.risk)
        for name, check in audit.plugins.announced_checks.items()
        if name not in run and check.risk
    ]
    silent = len(audit.plugins.checks) - len(run & audit.plugins.checks.keys()) - len(lines)
    if silent:
        lines.append(("Others", f"{count(silent, 'more check')} {agree(silent, 'was', 'were')} not run."))
    return lines
