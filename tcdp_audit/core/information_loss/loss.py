"""Information loss: every measure of what a remedied release has lost, each computed when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import number
from tcdp_audit.core.information_loss.columns import (
    ClassSizes,
    LostLinks,
    PairedColumn,
    class_sizes,
    demanded_k,
    lossy_columns,
    lost_links,
    paired_columns,
    share,
)
from tcdp_audit.core.information_loss.counting import CountingError, TableError, counting_error, table_error
from tcdp_audit.core.information_loss.coverage import Coverage, MutualInformation, information_on, information_retained
from tcdp_audit.core.information_loss.ordered import (
    CorrelationChange,
    Deviation,
    MeanError,
    Ordered,
    correlation_change,
    deviation,
    mean_error,
)
from tcdp_audit.core.information_loss.prediction import Accuracy, accuracy, accuracy_as_json
from tcdp_audit.core.information_loss.propensity import Propensity, propensity
from tcdp_audit.core.information_loss.regression import Fitted, default_regressions, regression, regressions_as_json
from tcdp_audit.core.information_loss.scales import coverage_of
from tcdp_audit.core.policy.model import PolicyDocument, Role
from tcdp_audit.core.release.release import Release


@dataclass(frozen=True)
class BeforeAfter:
    """A figure of two releases; None where it is not defined."""

    before: float | None
    after: float | None


@dataclass(frozen=True)
class InformationLoss:
    """The losses of a release compared with the one that it was made from."""

    columns: tuple[PairedColumn, ...]  # their quasi-identifiers and sensitive attributes, side by side
    records: int  # records before
    suppressed: int  # how many of them are not there after
    k: Fraction | None  # the class size that the policy demands, if any
    document: PolicyDocument  # the policy, for what it says people would do with the release
    # further columns that a user needs, side by side; no other measure is about them
    others: tuple[PairedColumn, ...] = ()
    links: LostLinks | None = None  # the loss of histories, where a released unit joins rows

    @cached_property
    def _used(self) -> Mapping[str, Coverage[Any]]:
        """Every column that a use may name."""
        return {**self._coverages, **{one.name: coverage_of(one) for one in self.others}}

    @cached_property
    def _coverages(self) -> Mapping[str, Coverage[Any]]:
        return {one.name: coverage_of(one) for one in self.columns}

    @cached_property
    def _numeric(self) -> list[Ordered]:
        return [one for one in self._coverages.values() if isinstance(one, Ordered) and one.column.is_numeric]

    @cached_property
    def total(self) -> float:
        """Mean loss of a cell, from 0 (nothing changed) to 1 (nothing is left); compares remedies of every kind.

        The mean is over the quasi-identifiers and sensitive attributes, and over all records before. A
        household, or else a released unit, that joins rows is one more column: its cells lose what they no longer join.
        """
        losses = [*self.cell_loss.values(), *([] if self.links is None else [self.links.loss])]
        return sum(losses) / len(losses) if losses else share(self.suppressed, self.records)

    @cached_property
    def cell_loss(self) -> Mapping[str, float]:
        """Mean loss of a cell of each attribute; see `Coverage.loss`."""
        return {name: one.loss for name, one in self._coverages.items()}

    @cached_property
    def cells_changed(self) -> Mapping[str, int]:
        """The number of cells of each attribute with another value, in the records that stayed."""
        return {one.name: one.cells_changed for one in self.columns}

    @cached_property
    def emptied(self) -> tuple[str, ...]:
        """The attributes that distinguished records and do not any more; see `PairedColumn.is_emptied`."""
        return tuple(one.name for one in self.columns if one.is_emptied)

    @cached_property
    def _class_sizes(self) -> ClassSizes | None:
        return class_sizes(self.columns, self.suppressed)

    @property
    def discernibility(self) -> BeforeAfter:
        """Sum of squared class sizes; a suppressed record counts as many as there are records before."""
        return BeforeAfter(None, None) if self._class_sizes is None else BeforeAfter(*self._class_sizes.discernibility)

    @property
    def average_class_size(self) -> BeforeAfter:
        """Records by classes and by k (by 1 where the policy demands no k)."""
        return BeforeAfter(None, None) if self._class_sizes is None else BeforeAfter(*self._class_sizes.average(self.k))

    @cached_property
    def certainty_penalties(self) -> Mapping[str, BeforeAfter]:
        """Normalised certainty penalty of each attribute; see `Coverage.certainty_penalty`."""
        return {name: BeforeAfter(*one.certainty_penalty) for name, one in self._coverages.items()}

    @cached_property
    def certainty_penalty(self) -> BeforeAfter:
        """Global certainty penalty: the mean over the quasi-identifiers (Ghinita et al., VLDB 2007)."""
        penalties = [one.certainty_penalty for one in self._coverages.values() if one.column.is_quasi_identifier]
        return BeforeAfter(*np.mean(penalties, axis=0).tolist()) if penalties else BeforeAfter(None, None)

    @cached_property
    def deviation(self) -> Deviation:
        """IL1s of the numeric attributes."""
        return deviation(self._numeric, self.suppressed)

    @cached_property
    def distribution_distances(self) -> Mapping[str, float | None]:
        """Distance of each attribute's distribution before and after; see `Coverage.distribution_distance`."""
        return {name: one.distribution_distance for name, one in self._coverages.items()}

    @cached_property
    def correlation_change(self) -> CorrelationChange:
        """The change of the correlations of numeric attributes."""
        return correlation_change(self._numeric)

    @cached_property
    def mean_error(self) -> MeanError:
        """The distance by which the means of numeric attributes moved."""
        return mean_error(self._numeric)

    @cached_property
    def counting_queries(self) -> CountingError:
        """The error of all counts of values of one attribute and of two."""
        return counting_error(list(self._coverages.values()), self.records)

    @cached_property
    def declared_counts(self) -> Sequence[TableError]:
        """The error of the counts of each table that the policy names."""
        return [table_error(one.by, self._used, self.records) for one in self.document.utility.counts]

    @cached_property
    def regressions(self) -> Sequence[Fitted]:
        """The change of the coefficients of each regression; see `regression`."""
        declared = self.document.utility.regressions
        asked = default_regressions(list(self._coverages.values())) if declared is None else declared
        return [regression(one, self._used, self.document.weight) for one in asked]

    @cached_property
    def models(self) -> Sequence[Accuracy]:
        """The accuracy of each model that the policy names; see `accuracy`."""
        return [accuracy(one, self._used, self.document.seed) for one in self.document.utility.models]

    @cached_property
    def mutual_information_retained(self) -> Mapping[str, float | None]:
        """The share of each attribute's information that is left; see `information_retained`."""
        return {one.name: information_retained(one) for one in self.columns}

    @cached_property
    def mutual_information(self) -> Mapping[str, Mapping[str, MutualInformation]]:
        """The information of each attribute about each other one that is sensitive, in bits, before and after."""
        sensitive = [one for one in self.columns if one.declaration.role is Role.SENSITIVE]
        return {
            one.name: {other.name: information_on(one, other) for other in sensitive if other is not one}
            for one in self.columns
        }

    @cached_property
    def propensity(self) -> Propensity:
        """The success of a model that distinguishes records after from records before."""
        return propensity(list(self._coverages.values()))

    def as_json(self) -> dict[str, Any]:
        """Every measure under its documented name; computes those that were not asked for yet."""
        il1s = asdict(self.deviation)
        del il1s["attributes"]  # reported under each attribute
        figures = {
            "total": self.total,
            "records": self.records,
            "records_suppressed": self.suppressed,
            "discernibility": asdict(self.discernibility),
            "average_class_size": {**asdict(self.average_class_size), "k": self.k},
            "certainty_penalty": asdict(self.certainty_penalty),
            "il1s": il1s,
            "mean_error": {"value": self.mean_error.value, "attributes": len(self.mean_error.attributes)},
            "correlation_change": asdict(self.correlation_change),
            "counting_queries": {
                **asdict(self.counting_queries),
                "tables": [asdict(one) for one in self.declared_counts],
            },
            "regressions": regressions_as_json(self.regressions),
            "models": accuracy_as_json(self.models),
            "propensity": asdict(self.propensity),
            "attributes": self.attributes_as_json(),
            **({} if self.links is None else {"links": asdict(self.links)}),
        }
        return {name: number(figure) for name, figure in figures.items()}

    def attributes_as_json(self) -> dict[str, Any]:
        """The measures of each attribute under their documented names."""
        return {one.name: self._attribute(one.name) for one in self.columns}

    def _attribute(self, name: str) -> dict[str, Any]:
        return {
            "cell_loss": self.cell_loss[name],
            "cells_changed": self.cells_changed[name],
            "certainty_penalty": asdict(self.certainty_penalties[name]),
            "distribution_distance": self.distribution_distances[name],
            "il1s": self.deviation.attributes.get(name),
            "mean_error": self.mean_error.attributes.get(name),
            "mutual_information_retained": self.mutual_information_retained[name],
            "mutual_information": {other: asdict(bits) for other, bits in self.mutual_information[name].items()},
        }


@dataclass(frozen=True)
class TablesLoss:
    """The losses of a release of several linked tables.

    Args:
        tables: the losses of each table by its name.
    """

    tables: Mapping[str, InformationLoss]

    @cached_property
    def total(self) -> float:
        """Mean loss of a cell: over the columns of all tables, each over the rows that its table had before.

        The links between the rows of units are one more column of each table in which a unit has several. A table
        without any column loses the rows dropped.
        """
        losses = [loss for one in self.tables.values() for loss in _losses_of(one)]
        return sum(losses) / len(losses)

    @cached_property
    def cell_loss(self) -> Mapping[str, float]:
        """Mean loss of a cell of each attribute."""
        return {name: loss for one in self.tables.values() for name, loss in one.cell_loss.items()}

    @cached_property
    def cells_changed(self) -> Mapping[str, int]:
        """The number of cells of each attribute with another value, in the rows that stayed."""
        return {name: cells for one in self.tables.values() for name, cells in one.cells_changed.items()}

    @cached_property
    def emptied(self) -> tuple[str, ...]:
        """The attributes that distinguished rows and do not any more."""
        return tuple(name for one in self.tables.values() for name in one.emptied)

    def as_json(self) -> dict[str, Any]:
        """The measures that several tables have: the mean loss, the rows of each table, those of attributes, and uses.

        Each table is counted, and used, by itself; the error of all counts is the mean over those of every table.
        """
        rows = {
            name: {
                "records": one.records,
                "records_suppressed": one.suppressed,
                "total": one.total,
                "counting_queries": asdict(one.counting_queries),
                **({} if one.links is None else {"links": asdict(one.links)}),
            }
            for name, one in self.tables.items()
        }
        figures = {
            "total": self.total,
            "records": sum(one.records for one in self.tables.values()),
            "records_suppressed": sum(one.suppressed for one in self.tables.values()),
            "attributes": {
                name: figures for one in self.tables.values() for name, figures in one.attributes_as_json().items()
            },
            "counting_queries": self._counting_queries(),
            "regressions": regressions_as_json([fitted for one in self.tables.values() for fitted in one.regressions]),
            "models": accuracy_as_json([model for one in self.tables.values() for model in one.models]),
            "tables": rows,
        }
        return {name: number(figure) for name, figure in figures.items()}

    def _counting_queries(self) -> dict[str, Any]:
        errors = [one.counting_queries for one in self.tables.values()]
        queries = sum(one.queries for one in errors)
        total = sum((one.value or 0.0) * one.queries for one in errors)
        declared = [asdict(table) for one in self.tables.values() for table in one.declared_counts]
        error = CountingError(total / queries if queries else None, None, None, queries)
        return {**asdict(error), "tables": declared}


Loss = InformationLoss | TablesLoss


def _losses_of(one: InformationLoss) -> Sequence[float]:
    losses = [*one.cell_loss.values(), *([] if one.links is None else [one.links.loss])]
    return losses or [share(one.suppressed, one.records)]


def information_loss(before: Release, after: Release, position_before: NDArray[np.intp]) -> InformationLoss:
    """The losses of a release.

    Both releases are read at once, so that their engines may be closed; each measure is computed when it is asked for.

    Args:
        before: the release before the repair.
        after: what a remedy made of it: the same policy, the same columns.
        position_before: for each record of `after` its position in `before`; other records were suppressed.

    Raises:
        DataError: a column cannot be read.

    Cost: one scan of each release. `total` is linear in the records, with a sort of them for an attribute of many
    values.
    """
    lossy, document = lossy_columns(before), before.policy.document
    used = {*document.utility.named, *([] if document.weight is None else [document.weight])} & set(before.columns)
    names = [*lossy, *sorted(used.intersection(before.policy.attributes).difference(lossy))]
    columns = paired_columns(before, after, position_before, names)
    return InformationLoss(
        columns=columns[: len(lossy)],
        records=before.engine.records,
        suppressed=before.engine.records - len(position_before),
        k=demanded_k(before.policy),
        document=document,
        others=columns[len(lossy) :],
        links=lost_links(before, after, position_before),
    )
