"""The parameters of redistribution, and when it is proposed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tcdp_audit.plugin import Comparison, Outcome, RemedyView
from tcdp_audit_plugins.remedies.mondrian.parameters import MondrianParameters

LARGE = 200_000  # records: dividing more takes minutes, which nobody wants of a plan


class RedistributionParameters(MondrianParameters):
    """Parameters of `redistribution`."""


def plans(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Parameters to try, where a sensitive attribute is too far in some class from what it is in the table.

    Args:
        view: the release.
        outcomes: what stands against it.
    """
    failing = view.failing_on_classes(outcomes)
    if view.records <= LARGE and any(one.attribute and one.comparison is Comparison.AT_MOST for one in failing):
        yield {}
