"""Mondrian: the table is cut in two, again and again, as long as every part keeps the policy.

- `rank_ranges`: the rows of many parts by their rank on an axis, distinct rows, and what has to stay together;
- `axes`: a quasi-identifier as a dimension: numbers, ranks and plain values, or the nodes of a hierarchy;
- `partition`: how each part would be cut, and all parts of a level cut at once, until none can be;
- `apply`: the parameters, and the remedy from a view to one label for each class.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.mondrian.apply import (
    MondrianParameters,
    cut,
    faults,
    suggest_parameters,
    why_not_applicable,
)

__all__ = ["MONDRIAN", "MondrianParameters", "cut"]
MONDRIAN = Remedy(
    name="mondrian",
    title="Mondrian partitioning",
    summary=(
        "Cuts the table into classes that keep the policy, each attribute as finely as its part of the table allows, "
        "and releases intervals, nodes of hierarchies or sets in place of values."
    ),
    guide=RemedyGuide.from_file(Path(__file__).with_name("mondrian.md")),
    parameters=MondrianParameters,
    apply=cut,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
)
