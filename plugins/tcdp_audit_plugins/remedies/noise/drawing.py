"""One draw of a mechanism; or draws until one is close, of which no epsilon holds any more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.check import Marginal
from tcdp_audit.histogram import count_pairs
from tcdp_audit.keys import fold
from tcdp_audit.remedy import NewColumn, RemedyError
from tcdp_audit.remedy_view import RemedyView
from tcdp_audit_plugins.checks.distances import multiplicative_distance
from tcdp_audit_plugins.remedies.noise.masking import Draw
from tcdp_audit_plugins.remedies.suppression.quasi_identifier_cells import QuasiIdentifierCells


def close_draw(view: RemedyView, draw: Draw, t: Fraction, most: int) -> tuple[NewColumn, int]:
    """The first draw whose values are t-close in the multiplicative distance, and which one it is.

    Raises:
        RemedyError: none of them is.

    Source: Domingo-Ferrer (2013), note 1; the distance is that of Domingo-Ferrer, Soria-Comas (2015), definition 4.
    """
    classes, count = QuasiIdentifierCells.of(view).classes()
    least = np.inf
    for number in range(1, most + 1):
        column = draw()
        distance, close = _closeness(column, classes, count, t)
        if close:
            return column, number
        least = min(least, distance)
    reached = (
        f"the closest was within a factor of {least:.4g}" if least < np.inf else "some class always lacked a value"
    )
    raise RemedyError(
        f"none of {most:,} draws had every class within a factor of {float(t):.4g} of the table; {reached}. Larger "
        "classes or fewer values would help"
    )


def _closeness(column: NewColumn, classes: NDArray[np.int64], count: int, t: Fraction) -> tuple[float, bool]:
    """The largest distance of a class from the table, and whether all are t-close; missing values are left out."""
    values = len(column.cells)
    found = column.codes != values
    histogram = count_pairs(fold([classes[found]], [count]), column.codes[found], values)
    table = Marginal(np.bincount(column.codes[found], minlength=values))
    distances = multiplicative_distance(histogram, table)
    close = len(histogram) == count and bool((distances.compare(t) <= 0).all())
    return float(distances.values.max()), close
