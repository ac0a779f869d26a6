"""Mixed-integer programmes, and the polytopes of distances over which they search: each direction of weights once.

HiGHS solves them in a process of its own, since it prints to standard output, which is ours.
"""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks.record_linkage.supervised.families import (
    ALL_SUBSETS,
    BilinearForm,
    ChoquetIntegral,
    Family,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True)
class Mixtures:
    """All mixtures of simple distances: x >= 0 with sum 1."""

    family: Family  # whose members they are

    @property
    def transform(self) -> Floats:
        """Coefficients = transform x. Shape (features, unknowns)."""
        return self.family.steps

    @property
    def mass(self) -> Floats:
        """What x adds up to 1 by. Shape (unknowns,)."""
        return np.ones(self.transform.shape[1])

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Least and largest x."""
        return np.zeros(len(self.mass)), np.ones(len(self.mass))

    @property
    def rows(self) -> Floats:
        """What keeps rows x <= 0. Shape (rows, unknowns)."""
        return np.zeros((0, len(self.mass)))

    def least(self, others: Floats, own: Floats) -> Floats:
        """At most what d(other) - d(own) can be in any member. Features first, then pairs."""
        return np.asarray(np.tensordot(self.transform.T, others - own, 1).min(axis=0))

    def most(self, others: Floats, own: Floats) -> Floats:
        """At least what it can be; at most 0 only where no member distinguishes the match from the other."""
        return -self.least(own, others)


@dataclass(frozen=True)
class Capacities(Mixtures):
    """All monotone capacities on few attributes: x_A = μ(A) from 0 to 1, μ of all of them 1."""

    @property
    def transform(self) -> Floats:
        """Möbius: m(A) = Σ over B in A of (-1)^|A - B| μ(B)."""
        sets = [frozenset(one) for one in self.family.names]
        return np.array([[(part <= one) * (-1.0) ** (len(one) - len(part)) for part in sets] for one in sets])

    @property
    def mass(self) -> Floats:
        """The set of all attributes, which is last."""
        return np.eye(len(self.family.names))[-1]

    @property
    def rows(self) -> Floats:
        """μ of a set is at least that of the set without one of its members."""
        sets = [frozenset(one) for one in self.family.names]
        place = {one: position for position, one in enumerate(sets)}
        unit = np.eye(len(sets))
        steps = [unit[place[one - {k}]] - unit[place[one]] for one in sets if len(one) > 1 for k in sorted(one)]
        return np.array(steps).reshape(-1, len(sets))

    def least(self, others: Floats, own: Floats) -> Floats:
        """The least over attributes of Δ_k: an integral grows with each value, and by c where all grow by c."""
        single = slice(0, self.family.attributes)
        return np.asarray((others[single] - own[single]).min(axis=0))


@dataclass(frozen=True)
class Forms(Mixtures):
    """Symmetric forms with trace 1 and 2 |q_kl| <= q_kk + q_ll: all metrics, and some forms that are none."""

    @property
    def transform(self) -> Floats:
        """The upper triangle itself."""
        return np.eye(len(self.family.names))

    @property
    def mass(self) -> Floats:
        """The trace."""
        return self._diagonal.astype(np.float64)

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """From 0 to 1 in the diagonal, from -1/2 to 1/2 next to it."""
        return np.where(self._diagonal, 0.0, -0.5), np.where(self._diagonal, 1.0, 0.5)

    @property
    def rows(self) -> Floats:
        """Both signs of each pair."""
        unit = np.eye(len(self.family.names))
        pairs = list(enumerate(self.family.names))[self.family.attributes :]
        rows = [sign * 2 * unit[one] - unit[k] - unit[el] for one, (k, el) in pairs for sign in (1, -1)]
        return np.array(rows).reshape(-1, len(unit))

    @property
    def _diagonal(self) -> Floats:
        return np.array([len(one) == 1 for one in self.family.names])

    def least(self, others: Floats, own: Floats) -> Floats:
        """The least over attributes k of Δ_kk - Σ_l |Δ_kl| / 2: off the diagonal at its bounds, against it."""
        gap, attributes = others - own, self.family.attributes
        lowest = gap[:attributes].copy()
        for (k, el), half in zip(self.family.names[attributes:], np.abs(gap[attributes:]) / 2, strict=True):
            lowest[k] -= half
            lowest[el] -= half
        return np.asarray(lowest.min(axis=0))


def region(family: Family) -> Mixtures:
    """The polytope of a family's members."""
    if isinstance(family, BilinearForm):
        return Forms(family)
    if isinstance(family, ChoquetIntegral) and family.attributes <= ALL_SUBSETS:
        return Capacities(family)
    return Mixtures(family)


SOLVER = Path(__file__).with_stem("solver_process")  # bytecode where this module is
GRACE = 10  # seconds that the process may take beyond what the solver was given


@dataclass(frozen=True)
class MixedIntegerProgramme:
    """min costs x with least <= rows x <= most, low <= x <= high, and some x whole."""

    costs: Floats  # of each unknown
    whole: Floats  # 1 for unknowns that are whole numbers, else 0
    low: Floats  # least unknowns
    high: Floats  # largest unknowns
    rows: csr_array  # sparse, shape (rows, unknowns)
    least: Floats  # of each row
    most: Floats  # of each row


@dataclass(frozen=True)
class Answer:
    """The solver's answer."""

    unknowns: Floats | None  # the best that it found; none where time ended before it found any
    bound: float  # no solution costs less
    finished: bool  # whether it proved that what it found is best


NOTHING = Answer(None, -np.inf, finished=False)


def solved(programme: MixedIntegerProgramme, seconds: float) -> Answer:
    """The best solution in some seconds.

    Raises:
        CheckError: the solver could not be run.
    """
    if seconds <= 0:
        return NOTHING
    given, rows = io.BytesIO(), programme.rows
    np.savez(
        given,
        seconds=seconds,
        data=rows.data,
        indices=rows.indices,
        indptr=rows.indptr,
        shape=rows.shape,
        **{name: getattr(programme, name) for name in ("costs", "whole", "low", "high", "least", "most")},
    )
    command = [sys.executable, "-P", str(SOLVER)]
    try:
        ended = subprocess.run(  # noqa: S603 - our own file, by the interpreter that runs this
            command, input=given.getvalue(), capture_output=True, check=True, timeout=seconds + GRACE
        )
        said = np.load(io.BytesIO(ended.stdout))
    except subprocess.TimeoutExpired:
        return NOTHING
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        raise CheckError("the solver could not be run as a process of its own; use `solver: surrogate`") from error
    unknowns = said["unknowns"]
    return Answer(unknowns if len(unknowns) else None, float(said["bound"]), bool(said["finished"]))
