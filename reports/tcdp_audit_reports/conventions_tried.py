"""The verdicts under every combination of conventions, where they were asked for, as one table."""

from __future__ import annotations

from tcdp_audit.plugin._internal import flips
from tcdp_audit.plugin.report import Audit
from tcdp_audit.plugin.sentences import Status, count
from tcdp_audit_reports.chart import Table

UNSUITED = "–"


def conventions_tried(audit: Audit) -> Table | None:
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
    return Table("Verdicts by convention; columns are the policy’s expectations", ("conventions", *numbers), rows, note)
