"""Generalization: one level of its hierarchy for each quasi-identifier, all combinations of them searched.

- `parameters`: what a policy may say, and when the remedy is proposed;
- `apply`: the remedy from a view to columns at the best levels, its figures, or why there are none;
- `levels`: the levels of a quasi-identifier, and what their labels cost;
- `base`: the records grouped once, at the lowest levels;
- `losses`: what a combination of levels costs;
- `node_judge`: whether a combination keeps the policy, and what has to be suppressed;
- `lattice`: all combinations, and what is known of them;
- `lattice_search`: the one with the least loss;
- `rungs`: the labels that single base classes can get;
- `local_recoding`: finer labels, class by class;
- `recoded`: from where that begins, and which result is taken.
"""

from __future__ import annotations

from pathlib import Path

from tcdp_audit.plugin.remedy import Remedy, RemedyGuide
from tcdp_audit_plugins.remedies.generalization.apply import generalize, plans
from tcdp_audit_plugins.remedies.generalization.parameters import GeneralizationParameters, faults, why_not_applicable

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
    plan=plans,
    why_not_applicable=why_not_applicable,
)
