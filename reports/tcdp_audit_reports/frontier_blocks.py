"""A frontier as blocks: the map, what each setting costs, the Pareto-optimal releases, what each remedy loses alone."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin._internal import Block, phrase_of, points_table, remedies_table, settings_table
from tcdp_audit.plugin.report import Definitions, Frontier, Group, Heading, Lines, Paragraph
from tcdp_audit.plugin.sentences import count, listing
from tcdp_audit_reports.charts.frontier_map import chart

TITLE = "What other thresholds would cost"
FEW = 12  # settings in a sentence


def frontier_blocks(
    frontier: Frontier,
) -> Iterator[Block]:
    """All that reports say of a frontier below its first sentence. Cost: linear in the settings."""
    if cut := untried(frontier):
        yield Paragraph("", lead=cut, style="cut")
    yield Group([Definitions(_facts(frontier))], page_only=True)
    if (drawn := chart(frontier)) is not None:
        yield Group([Heading("The map"), drawn], page_only=True)
    yield Heading("What each setting costs")
    yield settings_table(frontier)
    if frontier.points:
        yield Heading("The front")
        yield points_table(frontier, detailed=True)
        for place, one in enumerate(frontier.points, 1):
            yield Lines(one.lines, f"Policy lines of point {place}")
    remedies = remedies_table(frontier)
    if remedies.body:
        yield Heading("What each remedy loses alone")
        yield remedies
    yield Heading("Reading it")
    yield from reading(frontier)


def _facts(frontier: Frontier) -> list[tuple[str, str]]:
    release = frontier.release
    return [
        ("release", f"{release.name}: {count(release.records, 'record')}"),
        ("SHA-256", release.sha256 or "none"),
        ("policy", frontier.policy or "given by a program"),
        ("seed", str(frontier.seed)),
        *([("run by", frontier.run.by)] if frontier.run.by else []),
        ("made", frontier.made_at.isoformat().replace("+00:00", "Z")),
    ]


def reading(frontier: Frontier) -> Iterator[str]:
    """How to read it."""
    titles = listing([f"{one.label} ({one.title})" for one in frontier.demands])
    yield (
        "Each setting of the thresholds was repaired by itself and written to a file, and the audit of that file gives "
        f"the figures. A release is on the front if no other one loses as little and is as safe in {titles}. A setting "
        "that is kept by a release made under a laxer one was not repaired again."
    )
    yield (
        "Re-identified is the share of records that an intruder who knows the quasi-identifiers of everyone is expected "
        "to find (average prosecutor risk): equivalence classes by records. Perturbed values are taken for true. To use "
        "a point, put its lines into the policy in place of its own for the same demands, and run `tcdp-audit fix`: the "
        "same release, policy and version give the same bytes."
    )


def untried(frontier: Frontier) -> str:
    """The settings that the time did not suffice for, in a sentence; nothing where all were tried."""
    if frontier.is_complete:
        return ""
    phrases = [phrase_of(frontier.demands, one) for one in frontier.untried]
    rest = f" and {len(phrases) - FEW:,} more" if len(phrases) > FEW else ""
    settings = f"{count(len(phrases), 'setting')} of {len(frontier.settings):,}"
    return f"Not tried, for want of time: {settings}: {'; '.join(phrases[:FEW])}{rest}. What they cost may be less."
