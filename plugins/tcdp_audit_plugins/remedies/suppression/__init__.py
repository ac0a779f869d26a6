"""Suppression: leave out the records of failing classes, or as few of their quasi-identifier cells as will do.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy, and the limit of what may be suppressed;
- `records`: classes that fail are dropped until those that are left keep the policy;
- `quasi_identifier_cells`: the cells that may be suppressed, and the classes that result;
- `cells`: the search for cells, and the patterns of attributes that it tries;
- `local_suppression`: records of failing classes are grouped with each other;
- `enlargement`: passing classes help what is left over; then cells are shown again.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.suppression.apply import plans, suppress
from tcdp_audit_plugins.remedies.suppression.parameters import SuppressionParameters, faults, why_not_applicable

SUPPRESSION = Remedy(
    name="suppression",
    title="Suppression",
    summary="Drops the records of failing classes, or suppresses as few of their quasi-identifier cells as will do.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("suppression.md")),
    parameters=SuppressionParameters,
    apply=suppress,
    validate=faults,
    plan=plans,
    why_not_applicable=why_not_applicable,
)
