"""Which parameters are worth trying on a release that fails closeness in the multiplicative distance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import exp
from typing import Any

from tcdp_audit import Outcome, Status
from tcdp_audit.information_loss.class_sizes import demanded_k
from tcdp_audit.policy import Role
from tcdp_audit.remedy_view import RemedyView
from tcdp_audit_plugins.remedies.bucketization.demand import Demand

LARGEST_EPSILON = 20.0  # t above e^10 asks for more buckets than any class holds
PARTS = 10**6


def plan(view: RemedyView, outcomes: tuple[Outcome, ...]) -> Iterator[Mapping[str, Any]]:
    """Proposals for each sensitive attribute that is not close enough.

    The t that is demanded, with the policy's k or as many records as there are buckets; where that is more than the
    policy's k, also fewer buckets.
    """
    sensitive = view.policy.with_role(Role.SENSITIVE)
    for outcome in outcomes:
        t = _demanded(outcome)
        if t is None or outcome.attribute not in sensitive:
            continue
        demanded = int(demanded_k(view.policy) or 1)
        buckets = Demand(view.attribute(outcome.attribute), t, demanded).number
        yield {"attribute": outcome.attribute, "t": t, "k": max(demanded, buckets)}
        if 1 < demanded < buckets:
            yield {"attribute": outcome.attribute, "t": t, "k": demanded, "buckets": demanded}


def _demanded(outcome: Outcome) -> Fraction | None:
    """The ratio that an outcome fails to keep, rounded down to a millionth where it follows from an epsilon."""
    if outcome.status is not Status.FAILED or outcome.threshold is None:
        return None
    if outcome.check == "t_closeness" and outcome.parameters.get("distance") == "multiplicative":
        return outcome.threshold
    if outcome.check == "implied_epsilon":
        return Fraction(int(exp(min(float(outcome.threshold), LARGEST_EPSILON) / 2) * PARTS), PARTS)
    return None
