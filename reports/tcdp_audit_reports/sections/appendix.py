"""The policy as given, the verdicts by convention, and the environment with its digests."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin._internal import Block, flips
from tcdp_audit.plugin.report import Audit, Definitions, Group, Heading, Lines, Paragraph, Rows, tool
from tcdp_audit.plugin.sentences import Status, count, visible
from tcdp_audit_reports.charts.drawing import figure_table
from tcdp_audit_reports.first_screen import by_tool
from tcdp_audit_reports.policy_text import shown_policy
from tcdp_audit_reports.sections.findings import Pairs

UNSUITED = "–"


def conventions_tried(audit: Audit) -> Rows | None:
    """A row a combination, a column an expectation; None where only the policy's own was tried."""
    if not audit.variants:
        return None
    own = audit.variants[0].conventions
    rows = []
    for variant in audit.variants:
        changed = [f"{name}: {value}" for name, value in variant.conventions.items() if value != own[name]]
        verdicts = [UNSUITED if one is Status.SKIPPED else one.value for one in variant.verdicts]
        rows.append((", ".join(changed).replace("_", " ") or "as in the policy", *verdicts))
    flipping = flips(audit.variants)
    tried = count(len(audit.variants), "combination")
    note = (
        f"Under {tried} of conventions the verdict changes for {count(len(flipping), 'expectation')}: "
        f"{', '.join(str(position + 1) for position in flipping)}."
        if flipping
        else f"Under {tried} of conventions no verdict changes."
    )
    numbers = tuple(str(position + 1) for position in range(len(audit.variants[0].verdicts)))
    return figure_table(
        "Verdicts by convention; columns are the policy’s expectations", ("conventions", *numbers), rows, note
    )


WITHHELD = "Lists of values in the policy are cells of the release; they are counted here, not shown."


def blocks(audit: Audit) -> Iterator[Group]:
    """What a reader looks up, not what they read."""
    policy, withheld = shown_policy(audit.policy.text, show_values=audit.shows_values)
    parts: list[Block] = [Heading("Policy as given")]
    if withheld:
        parts.append(Paragraph(WITHHELD, style="note"))
    parts.append(Lines(policy, audit.policy.name, style="policy"))
    if (tried := conventions_tried(audit)) is not None:
        parts += [Heading("Conventions tried"), tried]
    parts += [Heading("Environment"), Definitions(_environment(audit))]
    yield Group(parts, page_only=True)


def _environment(audit: Audit) -> Pairs:
    about = tool()
    infos = [
        (
            f"plugin {info.name}",
            visible(f"{info.distribution} {info.version}".strip()) + (", not in use" if info.error else ""),
        )
        for info in audit.plugins.infos
    ]
    digests = [
        ("release's content" if audit.release.in_memory else "release", audit.release.sha256 or "unknown"),
        ("policy", audit.policy.sha256),
        *((visible(one.title), one.sha256) for one in audit.files),
    ]
    sums = [(f"SHA-256 of the {name}", digest) for name, digest in digests]
    return [("auditor", by_tool()), ("Python", about["python"]), *about["libraries"].items(), *infos, *sums]
