"""Redistribution: parts of purer labels are taken out of the table, with a mix of sensitive values near to its own.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to one label for each class;
- `strata`: records with the same sensitive values, and what the demands say of classes by their counts;
- `nodes`: what can be taken out of a part on one quasi-identifier, and what that saves;
- `division`: one part divided in the allowed way that saves most.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.mondrian.parameters import faults
from tcdp_audit_plugins.remedies.redistribution.apply import redistribute
from tcdp_audit_plugins.remedies.redistribution.parameters import RedistributionParameters, plans, why_not_applicable

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
    plan=plans,
    why_not_applicable=why_not_applicable,
)
