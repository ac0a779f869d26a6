"""Refusals: the sentence for a policy that not even one class of all records keeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcdp_audit.plugin import Demands, MergedDemands, Outcome, Status


def failed_as_one_class(demands: Demands) -> list[str]:
    """The titles of the demands that all records fail as one class, in the policy's order. Cost: one judgement."""
    records = len(next(iter(demands.columns.values())))
    return MergedDemands(demands, np.zeros(records, dtype=np.int64), 1).failed(np.zeros(1, dtype=np.int64), 1)


def refused_as_one_class(titles: Sequence[str], outcomes: Sequence[Outcome] = ()) -> str:
    """Part of a sentence that says why no grouping of the records can help, and what would be attainable.

    Args:
        titles: the demands on classes that all records fail as one class, at least one.
        outcomes: an audit of that class; its figures are what is attainable, where merging classes never does harm.

    Example:
        >>> refused_as_one_class(["k-anonymity", "t-closeness"])
        'k-anonymity and t-closeness would fail even if all records were one class'
    """
    *others, last = titles
    failing = f"{', '.join(others)} and {last}" if others else last
    failed = [one for one in outcomes if one.status is Status.FAILED and one.title in titles]
    figures = "; ".join(filter(None, (_figure(one) for one in failed)))
    attainable = f". Attainable by that class: {figures}." if figures else ""
    return f"{failing} would fail even if all records were one class{attainable}"


def _figure(outcome: Outcome) -> str:
    if outcome.observed is None or outcome.threshold is None or outcome.comparison is None:
        return ""
    of = "" if outcome.attribute is None else f" of {outcome.attribute!r}"
    demanded = f"{outcome.comparison} {float(outcome.threshold):.6g}"
    return f"{outcome.title}{of} {outcome.observed:.6g}, where {demanded} is demanded"
