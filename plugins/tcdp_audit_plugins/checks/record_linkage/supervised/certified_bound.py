"""A bound on what any distance of a family links, quickly: pairs that settle it, then a linear programme.

A record earns nothing where, in every member of the family, some other known record is nearer than its match. One
competitor settles that for many records. For the others a linear programme relaxes the mixed-integer one of
`exact_optimum`: K_i may be a fraction, and a few near competitors of each record stand for all.

    min Σ w_i K_i  with  d(i, j) - d(i, match) + m_ij K_i >= 0,  0 <= K_i <= 1

Its value is not taken from the solver. Weak duality gives a bound for any multipliers whatever, so that the solver's
are put into the Lagrangian, whose minimum over a box is a sum: the bound is wrong by rounding at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit_plugins.checks.record_linkage.supervised.families import Family
from tcdp_audit_plugins.checks.record_linkage.supervised.mixed_integer import Mixtures, region
from tcdp_audit_plugins.checks.record_linkage.supervised.paired_points import CELLS, PairedPoints, Positions
from tcdp_audit_plugins.checks.record_linkage.supervised.surrogate import Deadline

TIED = 1e-9  # differences below this share of the largest feature may be ties by rounding
TELLING = 1e-4  # the same for differences that a row is worth having for
NEAREST = 10  # competitors of each record, by each distance that was tried


@dataclass(frozen=True)
class _Rows:
    """Competitors of records, each of which may be nearer than the match."""

    seeker: Positions  # the released point of each, shape (rows,)
    gap: Floats  # d(competitor) - d(match) by unknowns of the region, shape (rows, unknowns)
    relief: Floats  # how far it may be below what is a tie, above 0, shape (rows,)
    tie: Floats  # what is a tie, shape (rows,)


def most_links(points: PairedPoints, family: Family, tried: Sequence[Floats], deadline: Deadline) -> float:
    """At least the expected links of any member, those that only ties give included.

    Args:
        points: what is linked.
        family: the distances. Of bilinear forms those of the region in `mixed_integer`, which has all metrics.
        tried: coefficients of some members, whose nearest competitors the linear programme looks at.
        deadline: where time ends, the bound so far is returned.

    Returns:
        From 0 to the sum of `most_possible`.

    Cost: O(pairs of points x features) for each distance tried, and a linear programme of 20 rows a record.
    """
    members, earning = region(family), points.most_possible()
    alone = np.bincount(points.seeker, minlength=len(earning)) == 1  # others are linked where any of their matches is
    competitors: list[_Rows] = []
    for block in points.blocks(CELLS // len(family.names)):
        if deadline.left <= 0:
            break
        hopeless, rows = _of_block(points, members, tried, block, alone)
        earning[hopeless] = 0
        competitors.append(rows)
    return float(earning.sum()) - _lost(members, earning, competitors, deadline)


def _of_block(
    points: PairedPoints, members: Mixtures, tried: Sequence[Floats], block: slice, alone: NDArray[np.bool_]
) -> tuple[Positions, _Rows]:
    """The released points of a block that no member links, and near competitors of the others."""
    pairs = points.pairs_in(block)
    seeker, match = points.seeker[pairs], points.match[pairs]
    seeker, match = seeker[alone[seeker]], match[alone[seeker]]
    features = members.family.features(points.differences(block))[:, seeker - block.start]
    everyone = np.arange(len(seeker))
    own, size = features[:, everyone, match], float(np.abs(features).max(initial=0.0))
    hopeless = (members.most(features, own[:, :, None]) < -TIED * size).any(axis=1)
    near = [_nearest(np.tensordot(one, features, 1), match) for one in tried]
    wanted = np.zeros(features.shape[1:], dtype=np.bool_)
    for competitors in near:
        wanted[everyone[:, None], competitors] = True
    wanted[everyone, match] = wanted[hopeless] = False
    record, competitor = np.nonzero(wanted)
    others, matches = features[:, record, competitor], own[:, record]
    tie = np.full(len(record), TIED * size)
    relief = -members.least(others, matches) - tie
    telling = relief > TELLING * size
    gap = (others - matches).T[telling] @ members.transform
    return seeker[hopeless], _Rows(seeker[record[telling]], gap, relief[telling], tie[telling])


def _nearest(distances: Floats, match: Positions) -> Positions:
    """The competitors with the least distances. Shape (records, competitors)."""
    distances[np.arange(len(match)), match] = np.inf
    few = min(NEAREST, distances.shape[1])
    return np.asarray(np.argpartition(distances, few - 1, axis=1)[:, :few])


def _lost(members: Mixtures, earning: Floats, competitors: Sequence[_Rows], deadline: Deadline) -> float:
    """At most what any member loses of what records could earn."""
    if not sum(len(one.seeker) for one in competitors) or deadline.left <= 0:
        return 0.0
    from scipy.optimize import linprog  # noqa: PLC0415 - a slow import that only this needs
    from scipy.sparse import csr_array, hstack, vstack  # noqa: PLC0415 - likewise

    rows = _Rows(
        np.concatenate([one.seeker for one in competitors]),
        np.concatenate([one.gap for one in competitors]),
        np.concatenate([one.relief for one in competitors]),
        np.concatenate([one.tie for one in competitors]),
    )
    seekers, record = np.unique(rows.seeker, return_inverse=True)
    weights, (low, high), shape = earning[seekers], members.bounds, members.rows
    gap, ties = rows.gap / rows.relief[:, None], rows.tie / rows.relief
    wrong = csr_array((np.ones(len(record)), (np.arange(len(record)), record)), shape=(len(record), len(seekers)))
    whole = vstack([-hstack([csr_array(gap), wrong]), csr_array(np.pad(shape, [(0, 0), (0, len(seekers))]))])
    answer = cast("Any", linprog)(
        np.append(np.zeros(len(low)), weights),
        A_ub=whole,
        b_ub=np.append(ties, np.zeros(len(shape))),
        A_eq=np.append(members.mass, np.zeros(len(seekers)))[None],
        b_eq=[1.0],
        bounds=[*zip(low.tolist(), high.tolist(), strict=True), *[(0.0, 1.0)] * len(seekers)],
        method="highs-ipm",
        options={"time_limit": deadline.left},
    )
    if answer.status != 0:
        return 0.0
    multipliers, mass = np.maximum(-answer.ineqlin.marginals, 0), float(answer.eqlin.marginals[0])
    of_rows, of_shape = multipliers[: len(gap)], multipliers[len(gap) :]
    unknowns = of_shape @ shape - of_rows @ gap - mass * members.mass
    least = np.minimum(unknowns * low, unknowns * high).sum()
    fractions = np.minimum(weights - np.bincount(record, of_rows, len(seekers)), 0).sum()
    return max(0.0, float(mass + least + fractions - of_rows @ ties))
