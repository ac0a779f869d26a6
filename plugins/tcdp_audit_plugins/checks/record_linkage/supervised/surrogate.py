"""The distance with which most records find their match: by the soft count of links, then by the count itself.

Goldberger, Roweis, Hinton, Salakhutdinov, Neighbourhood components analysis, NIPS 17 (2005), for pairs of records.
"""

from __future__ import annotations

from tcdp_audit.plugin import Floats
from tcdp_audit_plugins.checks.record_linkage.supervised.coordinate_search import searched
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family
from tcdp_audit_plugins.checks.record_linkage.supervised.links import FeatureBlocks, Learned, links
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import PairedPoints

SCALES = (1.0, 4.0, 16.0, 64.0)  # of equal weights, from which the search starts: from soft links to hard ones
ITERATIONS = 60


def learned(points: PairedPoints, family: Family, memory: int) -> Learned:
    """The distance with the most expected links that is found; never fewer than with equal weights.

    Deterministic. Cost: for each of four starts up to 60 steps of two products over all pairs of points, then some
    sweeps over the directions.
    """
    blocks, equal = FeatureBlocks(points, family, memory), family.coefficients(family.equal)
    before = links(points, family, equal)
    if family.attributes == 1 or before.expected > points.most_possible().sum() - 1e-6:
        return Learned(equal, before)
    states = [family.equal, *(_ascended(blocks, scale) for scale in SCALES)]
    counted = [before, *(links(points, family, family.coefficients(state)) for state in states[1:])]
    best = max(range(len(states)), key=lambda one: counted[one].expected)
    return searched(blocks, states[best], counted[best])


def _ascended(blocks: FeatureBlocks, scale: float) -> Floats:
    from scipy.optimize import minimize  # noqa: PLC0415 - a slow import that only this needs

    family = blocks.family

    def cost(free: Floats) -> tuple[float, Floats]:
        total, gradient = blocks.soft_links(family.coefficients(family.state(free)))
        return -total, -family.pulled_back(free, gradient)

    start = family.start(scale)
    bounds = [family.widest] * len(start)
    end = minimize(
        cost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": ITERATIONS, "ftol": 1e-6}
    )
    return family.state(end.x)
