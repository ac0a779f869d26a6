"""Refusals: the sentence for a policy that not even one class of all records keeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcdp_audit.plugin.remedy import Demands, MergedDemands
from tcdp_audit.plugin.sentences import figure, listing


def failed_as_one_class(demands: Demands) -> list[str]:
    """The titles of the demands that all records fail as one class, in the policy's order. Cost: one judgement."""
    records = len(next(iter(demands.columns.values())))
    return MergedDemands(demands, np.zeros(records, dtype=np.int64), 1).failed(np.zeros(1, dtype=np.int64), 1)


def refused_as_one_class(titles: Sequence[str], demands: Demands) -> str:
    """Part of a sentence that says why no grouping of the records can help, and what would be attainable.

    Args:
        titles: what all records fail as one class, at least one.
        demands: the policy's; the figures of that class are what is attainable, where merging classes never does harm.

    Cost: one judgement.
    """
    figures = "; ".join(dict.fromkeys(attainable(demands)))
    nearest = f". Attainable by that class: {figures}" if figures else ""
    return f"{listing(titles)} would fail even if all records were one class{nearest}"


def attainable(demands: Demands) -> list[str]:
    """What all records attain as one class of each demand that they fail: `k-anonymity 6, where >= 9 is demanded`."""
    return [
        f"{task.expectation.check.title}{'' if task.target.name is None else f' of {task.target.name!r}'} "
        f"{figure(observed, demanded)}, where {comparison} {figure(float(demanded))} is demanded"
        for task, observed, demanded, comparison in demands.attained_as_one_class()
    ]
