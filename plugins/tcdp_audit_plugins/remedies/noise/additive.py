"""Noise that is added to numbers: Laplace, or two-sided geometric on whole ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.remedy import NewColumn, RemedyError
from tcdp_audit.remedy_view import Attribute
from tcdp_audit_plugins.checks.differential_privacy.stochastic_t_closeness import Mechanism
from tcdp_audit_plugins.remedies.noise.library import opendp
from tcdp_audit_plugins.remedies.noise.masking import Masking, column, present
from tcdp_audit_plugins.remedies.noise.parameters import NoiseParameters
from tcdp_audit_plugins.remedies.noise.rounding import at_least, at_most


def added_noise(attribute: Attribute, parameters: NoiseParameters) -> Masking:
    """Clamp every value to the bounds, and add noise of scale b = (high - low) / epsilon to each by itself.

    Pr(noise = x) is proportional to e^(-|x|/b). Two values within the bounds differ by at most high - low, so no
    output is more than e^epsilon times as likely from one as from the other.

    Raises:
        RemedyError: OpenDP is not installed; or values are no numbers, or for `geometric` not whole.

    Cost of a draw: O(records), 6 to 25 µs each in OpenDP's exact samplers, and a sort of them.
    """
    found = present(attribute)
    values = _numbers(attribute, parameters)[attribute.codes[found]]
    low, high = parameters.range
    clamped = np.clip(values, *_inside(low, high, values.dtype))
    scale = at_least(parameters.scale)
    measurement = _measurement(parameters.mechanism, scale)

    def draw() -> NewColumn:
        noisy = np.array(measurement(clamped), dtype=clamped.dtype)
        cells, codes = np.unique(noisy, return_inverse=True)
        return column(cells, codes, found)

    notes = {"scale": scale, "clamped": int((clamped != values).sum())}
    return Masking(draw, {"mechanism": parameters.mechanism.value, "noise_scale": scale}, notes)


def _numbers(attribute: Attribute, parameters: NoiseParameters) -> NDArray[Any]:
    """The domain as numbers: float64 for real noise, int64 for whole noise."""
    values = attribute.domain.values
    if not attribute.is_numeric:
        raise RemedyError(f"column {attribute.name!r} holds no numbers, and {parameters.mechanism.value} adds to those")
    if parameters.mechanism is Mechanism.LAPLACE:
        return values.astype(np.float64)
    if (values != np.round(values)).any():
        raise RemedyError(
            f"geometric noise is for whole numbers, and column {attribute.name!r} has others; use laplace"
        )
    low, high = parameters.range
    fitting = np.clip(values, int(low) - 1, int(high) + 1)  # what is outside stays outside
    return np.asarray(fitting.astype(np.int64))


def _inside(low: Fraction, high: Fraction, kind: np.dtype[Any]) -> tuple[Any, Any]:
    """The bounds in a type, rounded inwards so that the range never grows."""
    if kind.kind == "i":
        return int(low), int(high)
    return at_least(low), at_most(high)


def _measurement(mechanism: Mechanism, scale: float) -> Any:
    """OpenDP's mechanism on vectors, whose noise is independent from place to place."""
    dp = opendp()
    if mechanism is Mechanism.LAPLACE:
        domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
        return (domain, dp.l1_distance(T=float)) >> dp.m.then_laplace(scale=scale)
    return (dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")) >> dp.m.then_geometric(scale=scale)
