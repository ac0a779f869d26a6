"""The policy as given, the verdicts by convention, and the environment with its digests."""

from __future__ import annotations

from tcdp_audit.plugin._internal import flips
from tcdp_audit.plugin.report import Audit, Rows, tool
from tcdp_audit.plugin.sentences import Status, count, visible
from tcdp_audit_reports.charts.measured import figure_table
from tcdp_audit_reports.first_screen import by_tool
from tcdp_audit_reports.policy_text import shown_policy
from tcdp_audit_reports.sections.findings import Pairs
from tcdp_audit_reports.templating import fill_template

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


def html(audit: Audit) -> str:
    """What a reader looks up, not what they read."""
    values = any(one.cells is not None for outcome in audit.outcomes for one in outcome.worst)
    policy, withheld = shown_policy(audit.policy.text, show_values=values)
    return fill_template(
        "appendix.html.j2",
        policy="\n".join(map(visible, policy.splitlines())),
        policy_name=visible(audit.policy.name),
        withheld=withheld,
        conventions_tried=conventions_tried(audit),
        environment=_environment(audit),
    )


def markdown(_: Audit) -> str:
    """Nothing: the policy and the result are files of their own there."""
    return ""


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
