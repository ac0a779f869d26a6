"""What was audited, when and with what: the margin of the first page."""

from __future__ import annotations

from datetime import datetime

from tcdp_audit.plugin.report import Audit, Table, tool
from tcdp_audit.plugin.sentences import count, visible

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def particulars(audit: Audit) -> list[tuple[str, list[str]]]:
    """Names with the lines that stand beside them."""
    policy, log = audit.policy, audit.change_log
    repaired = [] if log is None or not log.steps else [("Repaired from", described(log.input))]
    compared = [(f"Compared with {name}", described(table)) for name, table in audit.companions.items()]
    return [
        ("Release", described(audit.release)),
        *repaired,
        *compared,
        ("Policy", [visible(policy.name), _short(policy.sha256)]),
        ("Audited", [audited_at(audit), by_tool(), plugins(audit)]),
    ]


def described(table: Table) -> list[str]:
    """A table's name, size and digest."""
    return [
        visible(table.name),
        f"{count(table.records, 'record')}, {count(table.columns, 'column')}",
        *(["a table in memory"] if table.in_memory else []),
        *([_short(table.sha256)] if table.sha256 else []),
    ]


def written_date(moment: datetime) -> str:
    """A date with its month in words."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def audited_at(audit: Audit) -> str:
    """When it was audited."""
    return f"{written_date(audit.audited_at)}, {audit.audited_at:%H:%M} UTC"


def by_tool() -> str:
    """The auditor and its version."""
    about = tool()
    return f"{about['name']} {about['version']}"


def plugins(audit: Audit) -> str:
    """Whether code of others took part."""
    external = [info for info in audit.plugins.infos if info.is_external]
    return count(len(external), "external plugin") if external else "built-in plugins only"


def _short(digest: str) -> str:
    return f"SHA-256 {digest[:12]}…"
