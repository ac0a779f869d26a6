"""Generalization: one level of its hierarchy for each quasi-identifier, all combinations of them searched.

- `levels`: the levels of a quasi-identifier, what their labels cost, and those that single classes can get;
- `losses`: the records grouped once, at the lowest levels, and what a combination of levels costs;
- `lattice`: all combinations, whether one keeps the policy, and the one with the least loss;
- `local_recoding`: finer labels, class by class, and from where that begins;
- `unit_base`: columns of several tables as axes of the lattice, and units grouped by their whole histories;
- `histories`: the judge and the search where whole histories are judged;
- `apply`: the parameters, and the remedy from a view to columns at the best levels, or why there are none.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.generalization.apply import (
    GeneralizationParameters,
    faults,
    generalize,
    suggest_parameters,
    why_not_applicable,
)

__all__ = ["GENERALIZATION", "GeneralizationParameters", "generalize"]
GENERALIZATION = Remedy(
    name="generalization",
    title="Full-domain generalization",
    summary=(
        "Generalises every quasi-identifier to one level of its hierarchy, the combination that loses least among all "
        "that keep the policy, and may suppress a few records."
    ),
    guide=RemedyGuide.from_file(Path(__file__).with_name("generalization.md")),
    parameters=GeneralizationParameters,
    apply=generalize,
    validate=faults,
    suggest_parameters=suggest_parameters,
    why_not_applicable=why_not_applicable,
    acts_on_histories=True,
    linked_tables=True,
)
