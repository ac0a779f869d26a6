"""Mondrian: the table is cut in two, again and again, as long as every part keeps the policy.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to one label for each class;
- `distinct_rows`: records that no cut can part, as one row;
- `axes`: a quasi-identifier as a dimension: numbers, ranks and plain values, or the nodes of a hierarchy;
- `place_runs`: the rows of many partitions by their place on an axis, in compressed form;
- `cuts`: how each partition would be cut on each axis, and which axis is tried first;
- `parts`: which parts of a cut are allowed, and the rest that has to stay together;
- `partition`: all partitions of a level are cut at once, until none can be;
- `tally`: progress of the strategies that run side by side.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.mondrian.apply import cut, plans
from tcdp_audit_plugins.remedies.mondrian.parameters import MondrianParameters, faults, why_not_applicable

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
    plan=plans,
    why_not_applicable=why_not_applicable,
)
