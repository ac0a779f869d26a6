"""The distance with which most records find their match: by the soft count of links, then by the count itself.

Goldberger, Roweis, Hinton, Salakhutdinov, Neighbourhood components analysis, NIPS 17 (2005), for pairs of records.
"""

from __future__ import annotations

from math import inf

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.supervised.coordinate_search import searched
from tcdp_audit_plugins.checks.record_linkage.supervised.deadline import Deadline
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family
from tcdp_audit_plugins.checks.record_linkage.supervised.links import FeatureBlocks, Learned, links
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import PairedPoints

SCALES = (1.0, 4.0, 16.0, 64.0)  # of equal weights, from which the search starts: from soft links to hard ones
ITERATIONS = 60


def learned(points: PairedPoints, family: Family, memory: int, deadline: Deadline | None = None) -> Learned:
    """The distance with the most expected links that is found; never fewer than with equal weights.

    Deterministic where the deadline is not missed; then it is the best distance so far. Cost: for each of four starts
    up to 60 steps of two products over all pairs of points, then some sweeps over the directions.
    """
    deadline = Deadline() if deadline is None else deadline
    blocks, equal = FeatureBlocks(points, family, memory), family.coefficients(family.equal)
    before = links(points, family, equal)
    if family.attributes == 1 or before.expected > points.most_possible().sum() - 1e-6:
        return Learned(equal, before)
    states, counted = [family.equal], [before]
    for scale in SCALES:
        if deadline.is_over():
            break
        states.append(_ascended(blocks, scale, deadline))
        counted.append(links(points, family, family.coefficients(states[-1])))
    best = max(range(len(states)), key=lambda one: counted[one].expected)
    return searched(blocks, states[best], counted[best], deadline)


class _TimeIsOverError(Exception):
    """Ends an ascent."""


def _ascended(blocks: FeatureBlocks, scale: float, deadline: Deadline) -> Floats:
    """The state after an ascent, or the best so far where time ends it."""
    from scipy.optimize import minimize  # noqa: PLC0415 - a slow import that only this needs

    family = blocks.family
    start = family.start(scale)
    best = [(inf, start)]

    def cost(free: Floats) -> tuple[float, Floats]:
        if deadline.is_over():
            raise _TimeIsOverError
        total, gradient = blocks.soft_links(family.coefficients(family.state(free)))
        best[0] = min(best[0], (-total, free.copy()), key=lambda one: one[0])
        return -total, -family.pulled_back(free, gradient)

    bounds = [family.widest] * len(start)
    try:
        end = minimize(
            cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": ITERATIONS, "ftol": 1e-6}
        )
        return family.state(end.x)
    except _TimeIsOverError:
        return family.state(best[0][1])
