"""Solves one mixed-integer programme, read from standard input; run by `mixed_integer` as a process of its own."""

from __future__ import annotations

import io
import os
import sys

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array


def main() -> None:
    """Read a programme, write what the solver says of it."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # HiGHS prints to standard output in spite of its options
    given = np.load(io.BytesIO(sys.stdin.buffer.read()))
    rows = csr_array((given["data"], given["indices"], given["indptr"]), shape=tuple(given["shape"].tolist()))
    answer = milp(
        given["costs"],
        integrality=given["whole"],
        bounds=Bounds(given["low"], given["high"]),
        constraints=LinearConstraint(rows, given["least"], given["most"]),
        options={"time_limit": float(given["seconds"]), "mip_rel_gap": 0.0},
    )
    bound = -np.inf if answer.mip_dual_bound is None else answer.mip_dual_bound
    unknowns = np.zeros(0) if answer.x is None else answer.x
    with answers:
        np.savez(answers, unknowns=unknowns, bound=bound, finished=answer.status == 0)


if __name__ == "__main__":
    main()
