"""Redistribution: parts of purer labels are taken out of the table, with a mix of sensitive values near to its own.

- `strata`: records with the same sensitive values, and what the demands say of classes by their counts;
- `division`: what can be taken out of a part, and one part divided in the allowed way that saves most;
- `apply`: the parameters, and the remedy from a view to one label for each class.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.mondrian.apply import faults
from tcdp_audit_plugins.remedies.redistribution.apply import (
    RedistributionParameters,
    redistribute,
    suggest_parameters,
    why_not_applicable,
)

__all__ = ["REDISTRIBUTION", "RedistributionParameters"]
REDISTRIBUTION = Remedy(
    name="redistribution",
    title="Redistribution",
    summary=(
        "Takes parts with finer labels out of the table, of each sensitive value no more than its share, so that "
        "classes stay near the table at a much smaller loss."
    ),
    guide=RemedyGuide.from_file(Path(__file__).with_name("redistribution.md")),
    parameters=RedistributionParameters,
    apply=redistribute,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
)
