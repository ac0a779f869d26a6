"""The cells that the checks of this family are about, and how a failing one is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tcdp_audit.plugin.aggregate import CellsView, Derivation, FailingCell, Intervals
from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.engine import CheckError

Mask = NDArray[np.bool_]
Steps = NDArray[np.int64]
NO_COUNTS = "no table has counts of people; declare a measure with `counts: people`"
NO_SUMS = "no table has counts or sums, which alone can be added up"


class DerivationParameters(Parameters):
    """Parameters that all checks of this family have."""

    at_most: Annotated[
        int | None, Field(ge=0, description="The most such cells that are allowed; 0 where something is demanded.")
    ] = None
    effort: Annotated[
        int, Field(ge=1, description="Seconds for programs that decide cells; what is left then is not decided.")
    ] = 60

    @property
    def is_demand(self) -> bool:
        """Whether a parameter demands something, so that no failing cell is allowed unless `at_most` says so."""
        return True

    @model_validator(mode="after")
    def _allow_none(self) -> Self:
        if self.is_demand and "at_most" not in self.model_fields_set:
            object.__setattr__(self, "at_most", 0)  # the model is frozen already
        return self


def counts_of_people(view: CellsView) -> Sequence[Derivation]:
    """The counts of people of all tables, one system for those about the same people.

    Raises:
        CheckError: no table counts people.
    """
    counts = [one for one in view.derivations if one.joint.of[0] == "people"]
    if not counts:
        raise CheckError(NO_COUNTS)
    return counts


def added_figures(view: CellsView) -> Sequence[Derivation]:
    """The counts and sums of all tables, one system for each kind and each group of people.

    Raises:
        CheckError: no table has any.
    """
    if not view.derivations:
        raise CheckError(NO_SUMS)
    return view.derivations


def add_up(derivation: Derivation, variables: Sequence[int]) -> int:
    """The number of some variables that published figures give exactly by sums alone, whatever hidden ones mean.

    Cost: that of a proof each; nothing where failing cells come without their computations.
    """
    if not derivation.explains:
        return 0
    hidden = derivation.joint.system.hidden
    computed = (derivation.computation_of(one, shortest=False) for one in variables if hidden[one])
    by_sums = sum(one is not None and not one.limited for one in computed)
    return by_sums + sum(not hidden[one] for one in variables)


def failing_cells(
    view: CellsView, derivation: Derivation, variables: Mask, intervals: Intervals, *, computed: bool = True
) -> Iterator[FailingCell]:
    """Each of some variables as a failing cell, with how it is computed, and its ends where these were asked for."""
    chosen = np.flatnonzero(variables).tolist()
    says = derivation.computations(chosen) if computed else [""] * len(chosen)
    for variable, sentence in zip(chosen, says, strict=True):
        low, high = derivation.limits(variable, intervals)
        figures = {"value": low} if low == high else {"low": low, "high": high}
        yield view.failing_variable(derivation.joint, variable, sentence, figures)
