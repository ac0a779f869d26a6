"""The remedy itself: one draw of a mechanism; or draws until one is close, of which no epsilon holds any more."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Codes, count_pairs, fold
from tcdp_audit.plugin.check import ReferenceDistribution
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.checks._shared.distances import multiplicative_distance
from tcdp_audit_plugins.checks.differential_privacy.stochastic_t_closeness import Mechanism
from tcdp_audit_plugins.remedies.noise.masking import Draw, Masking
from tcdp_audit_plugins.remedies.noise.mechanisms import added_noise, randomised_response
from tcdp_audit_plugins.remedies.noise.parameters import NoiseParameters

WARNING = (
    "The noise was drawn again until it was close, so that a draw was accepted says something about the table itself: "
    "no epsilon holds for this release."
)


def mask(view: RemedyView, parameters: NoiseParameters) -> Treatment:
    """Mask an attribute by its mechanism.

    Raises:
        RemedyError: OpenDP is not installed, the attribute has no values of the mechanism's kind, or no draw is close.

    Cost: that of the mechanism for each draw.
    """
    attribute = view.attribute(parameters.attribute)
    answers = parameters.mechanism is Mechanism.RANDOMISED_RESPONSE
    masking = (randomised_response if answers else added_noise)(attribute, parameters)
    if parameters.until_close is not None:
        column, draws = close_draw(view, masking.draw, parameters.until_close, parameters.draws)
        conditioned = {"epsilon": None, "conditioned": True, "draws": draws, "warning": WARNING}
        notes = {**conditioned, **_notes(attribute, masking, column)}
        return Treatment({attribute.name: column}, notes=notes, attacks=masking.attacks(attribute.name))
    column = masking.draw()
    notes = {"epsilon": float(parameters.epsilon), "conditioned": False, **_notes(attribute, masking, column)}
    lines, attacks = masking.lines(attribute.name), masking.attacks(attribute.name)
    return Treatment({attribute.name: column}, notes=notes, lines=lines, attacks=attacks)


def _notes(attribute: Attribute, masking: Masking, column: NewColumn) -> dict[str, object]:
    before, after = _cells(attribute.domain.values, attribute.codes), _cells(column.cells, column.codes)
    return {
        "mechanism": masking.audited_as["mechanism"],
        **masking.notes,
        "records": int((before != after).sum()),
        "missing": attribute.domain.missing,
    }


def _cells(values: NDArray[Any], codes: Codes) -> NDArray[Any]:
    return np.array([*values.tolist(), None], dtype=object)[codes]


def close_draw(view: RemedyView, draw: Draw, t: Fraction, most: int) -> tuple[NewColumn, int]:
    """The first draw whose values are t-close in the multiplicative distance, and which one it is.

    Raises:
        RemedyError: none of them is.

    Source: Domingo-Ferrer (2013), note 1; the distance is that of Domingo-Ferrer, Soria-Comas (2015), definition 4.
    """
    if not view.quasi_identifiers:
        raise RemedyError("the policy declares no quasi-identifier, so there are no classes to compare with the table")
    classes, count = view.classes()
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
    present = column.codes != values
    histogram = count_pairs(fold([classes[present]], [count]), column.codes[present], values)
    table = ReferenceDistribution(np.bincount(column.codes[present], minlength=values))
    distances = multiplicative_distance(histogram, table)
    close = len(histogram) == count and bool((distances.compare(t) <= 0).all())
    return float(distances.values.max()), close
