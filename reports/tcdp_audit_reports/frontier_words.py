"""What the reports of a frontier say about its tables, in paragraphs."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin._internal import phrase_of
from tcdp_audit.plugin.report import Frontier
from tcdp_audit.plugin.sentences import count, listing

TITLE = "What other thresholds would cost"
FEW = 12  # settings in a sentence


def reading(frontier: Frontier) -> Iterator[str]:
    """How to read it."""
    titles = listing([f"{one.label} ({one.title})" for one in frontier.demands])
    yield (
        "Each setting of the thresholds was repaired by itself and written to a file, and the audit of that file gives "
        f"the figures. A release is on the front if no other one loses as little and is as safe in {titles}. A setting "
        "that a release made under a laxer one keeps was not repaired again."
    )
    yield (
        "Re-identified is the share of records that somebody is expected to find who knows the quasi-identifiers of "
        "everybody (average prosecutor risk): equivalence classes by records. Where values were perturbed, it takes "
        "them for true. To have a point, put its lines into the policy in place of its own for the same demands, and "
        "run `tcdp-audit fix`: the same release, policy and version give the same bytes."
    )


def untried(frontier: Frontier) -> str:
    """What the time did not suffice for; nothing where all was tried."""
    if frontier.is_complete:
        return ""
    named = [phrase_of(frontier.demands, one) for one in frontier.untried]
    rest = f" and {len(named) - FEW:,} more" if len(named) > FEW else ""
    settings = f"{count(len(named), 'setting')} of {len(frontier.settings):,}"
    return f"Not tried, for want of time: {settings}: {'; '.join(named[:FEW])}{rest}. What they cost may be less."
