"""The policy as given, and the environment with its digests."""

from __future__ import annotations

from tcdp_audit.plugin.report import Audit, tool
from tcdp_audit.plugin.sentences import visible
from tcdp_audit_reports.conventions_tried import conventions_tried
from tcdp_audit_reports.finding import Pairs
from tcdp_audit_reports.pages import filled
from tcdp_audit_reports.particulars import by_tool
from tcdp_audit_reports.policy_text import shown_policy


def html(audit: Audit) -> str:
    """What a reader looks up, not what they read."""
    values = any(one.cells is not None for outcome in audit.outcomes for one in outcome.worst)
    policy, withheld = shown_policy(audit.policy.text, show_values=values)
    return filled(
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
