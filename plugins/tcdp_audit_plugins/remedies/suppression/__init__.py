"""Suppression: leave out the records of failing classes, or as few of their quasi-identifier cells as will do.

- `local_suppression`: the cells that may be suppressed; records of failing classes grouped with each other;
- `cells`: the search for cells; passing classes help what is left over, then cells are shown again;
- `apply`: the parameters, the remedy, records of failing classes dropped, and the limit of what may go.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.suppression.apply import (
    SuppressionParameters,
    faults,
    suggest_parameters,
    suppress,
    why_not_applicable,
)

SUPPRESSION = Remedy(
    name="suppression",
    title="Suppression",
    summary="Drops the records of failing classes, or suppresses as few of their quasi-identifier cells as will do.",
    guide=RemedyGuide.from_file(Path(__file__).with_name("suppression.md")),
    parameters=SuppressionParameters,
    apply=suppress,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
)
