"""The parameters of redistribution, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.plugin.check import Comparison
from tcdp_audit.plugin.remedy import RemedyView
from tcdp_audit.plugin.sentences import Outcome
from tcdp_audit_plugins.remedies._shared.scope import only_on_classes
from tcdp_audit_plugins.remedies.mondrian.parameters import MondrianParameters

LARGE = 200_000  # records: dividing more takes minutes, which nobody wants of a plan


class RedistributionParameters(MondrianParameters):
    """Parameters of `redistribution`."""


def why_not_applicable(view: RemedyView, parameters: RedistributionParameters | None, outcome: Outcome) -> str:
    """Why dividing the records cannot help a failing demand, or why it is not tried unasked; or nothing."""
    if (other := only_on_classes(view, outcome)) or parameters is not None:
        return other
    if not outcome.attribute or outcome.comparison is not Comparison.AT_MOST:
        return "no better than mondrian but for closeness"
    return f"takes minutes beyond {LARGE:,} records" if view.records > LARGE else ""


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a sensitive attribute is too far in some class from what it is in the table.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    if any(not why_not_applicable(view, None, one) for one in outcomes):
        yield {}
