"""Mixed-integer programmes, solved by HiGHS in a process of its own: it prints to standard output, which is ours."""

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

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SOLVER = Path(__file__).with_stem("solver_process")  # bytecode where this module is
GRACE = 10  # seconds that the process may take beyond what the solver was given


@dataclass(frozen=True)
class MixedIntegerProgramme:
    """min costs x with least <= rows x <= most, low <= x <= high, and some x whole.

    Args:
        costs: of each unknown.
        whole: 1 for unknowns that are whole numbers, else 0.
        low: least unknowns.
        high: largest unknowns.
        rows: sparse, shape (rows, unknowns).
        least: of each row.
        most: of each row.
    """

    costs: Floats
    whole: Floats
    low: Floats
    high: Floats
    rows: csr_array
    least: Floats
    most: Floats


@dataclass(frozen=True)
class Answer:
    """What the solver says.

    Args:
        unknowns: the best that it found; none where time ended before it found any.
        bound: no solution costs less.
        finished: whether it proved that what it found is best.
    """

    unknowns: Floats | None
    bound: float
    finished: bool


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
