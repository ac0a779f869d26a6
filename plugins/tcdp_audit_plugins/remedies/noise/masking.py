"""What a mechanism is once it is fitted to an attribute: something to draw from, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from tcdp_audit.remedy import NewColumn, RemedyError
from tcdp_audit.remedy_view import Attribute

Draw = Callable[[], NewColumn]


@dataclass(frozen=True)
class Masking:
    """A mechanism that is fitted to an attribute.

    Args:
        draw: the masked column; another one at every call.
        audited_as: the mechanism as `stochastic_t_closeness` takes it.
        notes: its figures.
    """

    draw: Draw
    audited_as: Mapping[str, Any]
    notes: Mapping[str, Any]

    def lines(self, attribute: str) -> tuple[str, ...]:
        """Policy lines that audit the table before the noise under this mechanism."""
        declared = yaml.safe_dump(
            {"attribute": attribute, **self.audited_as}, default_flow_style=True, sort_keys=False, width=2**20
        )
        return (
            "# for the table before the noise; on the masked one it would describe a second masking",
            f"- stochastic_t_closeness: {declared.strip()}",
        )


def present(attribute: Attribute) -> NDArray[np.bool_]:
    """Which records have a value. Shape (records,).

    Raises:
        RemedyError: none has, or some values stand for several.
    """
    domain = attribute.domain
    if domain.covers is not None or domain.suppressed:
        raise RemedyError(
            f"column {attribute.name!r} has generalised or suppressed cells; noise is for the values themselves, so "
            "let it have its turn before other remedies"
        )
    found = np.asarray(attribute.codes != domain.size)
    if not found.any():
        raise RemedyError(f"column {attribute.name!r} has no value in any record")
    return found


def column(cells: NDArray[Any], codes: NDArray[np.int64], found: NDArray[np.bool_]) -> NewColumn:
    """A column from the masked values of the records that have one; the others stay without."""
    everywhere = np.full(len(found), len(cells), dtype=np.int64)
    everywhere[found] = codes
    return NewColumn(cells, everywhere)
