"""The policy lines that say what was done, without lists of values."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from tcdp_audit.plugin.report import ChangeLog
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.policy_text import shown_policy


@dataclass(frozen=True)
class Lines:
    """Lines of a policy, and what to do with them."""

    sentence: str
    policy: str


def lines_to_paste(log: ChangeLog) -> Lines | None:
    """The lines as far as they hold no cell; None where they cannot be read, and so not be cleared of cells."""
    try:
        text, withheld = shown_policy(log.lines, show_values=False)
    except yaml.YAMLError:
        return None
    return Lines(_sentence(log, withheld=withheld), "\n".join(map(visible, text.splitlines())))


def _sentence(log: ChangeLog, *, withheld: bool) -> str:
    sentence = (
        "With these lines the policy names the remedies, and a later release is repaired with the same ones."
        if log.planned
        else "The remedies that made the release, as the policy names them."
    )
    if any(one.lines for one in log.steps):
        sentence += " Add the lines under expect to the policy before you audit this release."
    return f"{sentence} Lists of values are counted here, not shown." if withheld else sentence
