"""Demands on classes: which size of a class is enough, and the sentence for what no grouping of the records keeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin.remedy import Demands, MergedDemands, RemedyError, RemedyView, Treatment, failing_demands
from tcdp_audit.plugin.sentences import Outcome, figure, listing

ClassSize = Annotated[
    int | None, Field(ge=1, description="The least number of records in a class, besides what the policy demands.")
]


def sufficient_size(view: RemedyView, outcomes: tuple[Outcome, ...], treat: Callable[[int], Treatment]) -> int | None:
    """The least size of those that are tried after which nothing fails any more.

    Args:
        view: the release.
        outcomes: its failing outcomes.
        treat: the remedy for classes of so many records at least.

    Returns:
        A size; where none suffices the largest after which fewest demands fail. None where no failing demand depends on
        the size of classes, or the remedy cannot make classes of the first one.

    Cost: the remedy, and the audit of what fails, for each size.
    """
    failing, best, fewest = frozenset(one.check for one in outcomes), None, len(outcomes) + 1
    for size in view.class_sizes(outcomes):
        try:
            left = len(failing_demands(view.outcomes_of(failing, treat(size))))
        except RemedyError:
            break  # so large classes are not to be had, or cost more than another remedy
        if left <= fewest:
            best, fewest = size, left
        if not left:
            break
    return best


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
    """Say what all records attain as one class of demands that they fail: `k-anonymity 6, where >= 9 is demanded`."""
    return [
        f"{task.expectation.check.title}{'' if task.target.name is None else f' of {task.target.name!r}'} "
        f"{figure(observed, demanded)}, where {comparison} {figure(float(demanded))} is demanded"
        for task, observed, demanded, comparison in demands.attained_as_one_class()
    ]
