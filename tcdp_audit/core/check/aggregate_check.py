"""Checks on released tables of figures: cells and their contributors, never records of the release."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from tcdp_audit.core.base.declared_types import items_of
from tcdp_audit.core.base.errors import PluginError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Comparison, FailingCell
from tcdp_audit.core.check.evidence import keeps, sound_figure, worst_share
from tcdp_audit.core.check.specification import P, Specification
from tcdp_audit.core.check.threshold import Limit, Verdict
from tcdp_audit.core.policy.model import PolicyDocument

if TYPE_CHECKING:
    from tcdp_audit.core.cells.view import CellsView
    from tcdp_audit.core.check.class_check import CheckOnClasses
    from tcdp_audit.core.check.table_check import TableCheck

T = TypeVar("T")
NO_AGGREGATES = (
    "it judges tables of figures, and the policy has none; declare one under `tables:` with its `dimensions` and "
    "`measures`"
)
NO_MODELS = "it judges fitted models, and the policy has none; declare one under `models:`"


@dataclass(frozen=True)
class CellFigure:
    """The figure that a check measured on tables of figures.

    Args:
        value: the figure: exact where it can be, infinite or finite, never NaN.
        cells: how many cells, or targets such as differences of cells, it is about.
        failing: those that miss the demand, each once, the worst first. They count whether or not a demand is made.
        details: further figures by documented names. No hidden value is among them.
        undecided: how many cells could not be decided. A demand with one that does not fail is an error.
        further: the figure of each of the check's `further` limits, by its parameter.
        violation: why the check fails whatever it measured.
    """

    value: Fraction | float
    cells: int
    failing: Sequence[FailingCell] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    undecided: int = 0
    further: Mapping[str, Fraction | float] = field(default_factory=dict)
    violation: str = ""


@dataclass(frozen=True, kw_only=True)
class AggregateCheck(Specification[P]):
    """A check on released tables of figures, or on the output of fitted models.

    Args:
        measure: the figure, from a view of all tables together. It raises `CheckError` where it cannot be measured.
        threshold: the parameter with the least (or largest) figure allowed.
        comparison: how the figure must compare with it.
        label: what the figure is called.
        worst: the worst figure that as many cells could have; None if there is no such bound. Without it, a demand on
            a figure between 0 and 1 can be failed up to 1 (or down to 0), and every other demand always.
        further: thresholds of other figures, which must be kept too.
        needs_microdata: whether it needs the records behind the tables, under some parameters and a policy. Without
            them a demand is an error, and what is only measured is skipped.
        of_models: whether it judges fitted models in the place of tables.
    """

    measure: Callable[[CellsView, P], CellFigure]
    threshold: str = "at_most"
    comparison: Comparison = Comparison.AT_MOST
    label: str = "cells"
    worst: Callable[[CellFigure, P], Fraction | float | None] | None = None
    further: tuple[Limit, ...] = ()
    needs_microdata: Callable[[P, PolicyDocument], bool] = field(default=lambda _, __: False)
    of_models: bool = False
    needs_quasi_identifiers: bool = False

    on_records: ClassVar[bool] = False

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The threshold of the figure, then those of further figures."""
        return (Limit(self.threshold, self.comparison, self.label), *self.further)

    def by_kind(
        self,
        of_classes: Callable[[CheckOnClasses[Any]], T],  # noqa: ARG002 - the other kinds'
        of_table: Callable[[TableCheck[Any]], T],  # noqa: ARG002 - likewise
        of_cells: Callable[[AggregateCheck[Any]], T],
    ) -> T:
        """The result of the third function for this check."""
        return of_cells(self)

    def faults(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """The reasons why an expectation cannot hold for this policy: (parameter or "", sentence)."""
        for key in ("against", "knows", "known_rows"):
            if getattr(parameters, key) is not None:
                yield key, f"it judges tables of figures, which have no columns that are known; leave `{key}` out"
        if self.of_models and not document.models:
            yield "", NO_MODELS
        elif not self.of_models and not document.aggregates:
            yield "", NO_AGGREGATES
        gave = f"`validate` of the check {self.name!r} gave"
        yield from items_of(self.validate(parameters, document), tuple, gave, PluginError)

    def verdict(self, figure: CellFigure, parameters: P) -> Verdict:
        """The figures, compared exactly with their thresholds; undecided cells leave open what does not fail."""
        demands = self.demands(parameters)
        values = {self.threshold: figure.value, **figure.further}
        holding = [
            _holds(one, sound_figure(values.get(one.parameter)), demands[one.parameter])
            for one in self.limits
            if one.parameter in demands
        ]
        failed = None if not demands else not all(holding)
        undecided = bool(figure.undecided) and failed is False
        return Verdict(
            float(figure.value),
            demands.get(self.threshold),
            self.comparison,
            None if undecided else failed,
            figure.details,
            undecided=undecided,
        )

    def unfailable(self, figure: CellFigure, parameters: P) -> tuple[str, ...]:
        """The parameters whose demand is kept by every release of as many cells."""
        demands = self.demands(parameters)
        return tuple(
            one.parameter
            for one in self.limits
            if one.parameter in demands
            and keeps(self._worst_figure(one, figure, parameters), demands[one.parameter], one.comparison)
        )

    def _worst_figure(self, limit: Limit, figure: CellFigure, parameters: P) -> Fraction | float | None:
        if self.worst is not None and limit.parameter == self.threshold:
            return self.worst(figure, parameters)
        return worst_share(self.parameters.model_fields[limit.parameter], limit.comparison)


def _holds(limit: Limit, value: Fraction | float, demanded: Fraction) -> bool:
    return bool(limit.comparison.holds((value > demanded) - (value < demanded)))
