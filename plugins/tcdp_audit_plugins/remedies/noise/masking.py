"""A mechanism that is fitted to an attribute: something to draw from, its figures, and the lines that declare it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from math import inf, nextafter
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError

Draw = Callable[[], NewColumn]


@dataclass(frozen=True)
class Masking:
    """A mechanism that is fitted to an attribute.

    Args:
        draw: the masked column; another one at every call.
        audited_as: the mechanism as `stochastic_t_closeness` takes it.
        notes: its figures.
        attack: by which check, and with which parameters beside the attribute, somebody attacks who knows it.
    """

    draw: Draw
    audited_as: Mapping[str, Any]
    notes: Mapping[str, Any]
    attack: tuple[str, Mapping[str, Any]]

    def attacks(self, attribute: str) -> tuple[Mapping[str, Mapping[str, Any]], ...]:
        """The same as a treatment has it."""
        from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT  # noqa: PLC0415 - many modules

        check, known = self.attack
        return ({check: {"attributes": [attribute], "limit": BY_DEFAULT, **known}},)

    def lines(self, attribute: str) -> tuple[str, ...]:
        """Policy lines that audit the table before the noise under this mechanism."""
        declared = yaml.safe_dump(
            {"attribute": attribute, **self.audited_as}, default_flow_style=True, sort_keys=False, width=2**20
        )
        return (
            "# for the table before the noise; on the masked one it would describe a second masking",
            f"- stochastic_t_closeness: {declared.strip()}",
        )


def records_with_value(attribute: Attribute) -> NDArray[np.bool_]:
    """The records that have a value. Shape (records,).

    Raises:
        RemedyError: none has, or some values stand for several.
    """
    domain = attribute.domain
    if domain.covers is not None or domain.suppressed:
        raise RemedyError(
            f"column {attribute.name!r} has generalised or suppressed cells; noise is for the values themselves, so "
            "let it have its turn before other remedies"
        )
    has_value = np.asarray(attribute.codes != domain.size)
    if not has_value.any():
        raise RemedyError(f"column {attribute.name!r} has no value in any record")
    return has_value


def masked_column(cells: NDArray[Any], codes: NDArray[np.int64], has_value: NDArray[np.bool_]) -> NewColumn:
    """A column from the masked values of the records that have one; the others stay without."""
    everywhere = np.full(len(has_value), len(cells), dtype=np.int64)
    everywhere[has_value] = codes
    return NewColumn(cells, everywhere)


def opendp() -> Any:
    """OpenDP's public interface, with the mechanisms that its contributors have proven but not yet vetted.

    Raises:
        RemedyError: it is not installed.
    """
    try:
        library = import_module("opendp.prelude")
    except ModuleNotFoundError:
        raise RemedyError('noise: needs OpenDP; pip install "tcdp-audit[dp]"') from None
    library.enable_features("contrib")
    return library


def at_least(number: Fraction) -> float:
    """The least float64 that is not below a number.

    Example:
        >>> at_least(Fraction(1, 2)), Fraction(at_least(Fraction(1, 10))) >= Fraction(1, 10)
        (0.5, True)
    """
    nearest = float(number)
    return nearest if Fraction(nearest) >= number else nextafter(nearest, inf)


def at_most(number: Fraction) -> float:
    """The largest float64 that is not above a number."""
    return -at_least(-number)
