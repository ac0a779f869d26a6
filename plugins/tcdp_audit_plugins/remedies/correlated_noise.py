"""Correlated noise: normal noise with a given covariance is added to numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Scale, Text
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment, number_text
from tcdp_audit_plugins.remedies._shared.masking import (
    NO_NUMBERS,
    Fault,
    Masking,
    MaskingParameters,
    Names,
    by_content,
    correlations,
    masked_numbers,
    normal_noise,
)
from tcdp_audit_plugins.remedies._shared.scope import weakest

Row = Annotated[dict[Text, Exact], Field(min_length=1)]
LEAST = 1e-9  # a smaller negative part of the largest variance is rounding
PERCENTS = tuple(map(Fraction, (5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300)))  # from weak to strong
DECIMALS = 6  # a column with more of them is taken for one that was measured as finely as numbers are held


class Shape(StrEnum):
    """A relation of the noise of one attribute to that of another."""

    CORRELATED = "correlated"
    INDEPENDENT = "independent"


class CorrelatedNoiseParameters(MaskingParameters):
    """Parameters of `correlated_noise`."""

    naming = "covariance"
    strengths = ("percent", "covariance")
    percent: Annotated[
        Annotated[Exact, Field(gt=0)] | None,
        Field(
            description="The standard deviation of the noise, in percent of each attribute's own. By default the least "
            "that suffices."
        ),
    ] = None
    shape: Annotated[
        Shape,
        Field(
            strict=False,
            description="correlated: the noise has the correlations of the attributes; independent: it has none.",
        ),
    ] = Shape.CORRELATED
    rescaled: Annotated[
        bool, Field(description="Whether numbers are drawn back to their mean, so that variances stay on average.")
    ] = False
    covariance: Annotated[
        dict[Text, Row] | None,
        Field(
            min_length=1,
            description="The covariance matrix of the noise itself, in units of the attributes: {age: {age: 4, wage: "
            "10}, wage: {wage: 2500}}; each pair once or twice, and 0 where a pair is left out.",
        ),
    ] = None
    attributes: Annotated[
        Names | None,
        Field(
            description="The numeric attributes that get noise; by default those of `covariance`, and without it the "
            "numeric quasi-identifiers."
        ),
    ] = None

    @property
    def names(self) -> Sequence[str] | None:
        """The attributes that get noise; None for the quasi-identifiers."""
        return self.attributes or (None if self.covariance is None else sorted(self.covariance))

    def further_faults(self, document: PolicyDocument) -> Iterator[Fault]:  # noqa: ARG002 - as of others
        """Yield the faults of the covariance matrix."""
        matrix, names = self.covariance, set(self.names or ())
        if matrix is None:
            return
        given = [one for one in ("percent", "shape", "rescaled") if one in self.model_fields_set]
        if given:
            yield given[0], "`covariance` says all of the noise; leave it out"
        named = {*matrix, *(other for row in matrix.values() for other in row)}
        if named != names:
            odd = min(named ^ names)
            yield "covariance", f"{odd!r} is in `covariance` or gets noise, and not both"
        for one, row in matrix.items():
            if one not in row or row[one] <= 0:
                yield "covariance", f"{one!r} has no variance of its own above 0"
            for other, value in row.items():
                if matrix.get(other, {}).get(one, value) != value:
                    yield "covariance", f"{one!r} with {other!r} is another number than {other!r} with {one!r}"


MASKING = Masking(
    CorrelatedNoiseParameters,
    unfit=NO_NUMBERS,
    numeric=True,
    refused={Scale.ORDINAL: "is ordinal, and noise is added to numbers; use rank_swapping"},
)


def covariance_of(numbers: Floats) -> Floats:
    """The covariance matrix of some columns; what is missing counts as the mean of its column. Missing numbers are NaN.

    Return float64, shape (columns, columns); 0 for a column that does not vary.
    """
    centred = filled(numbers) - means(numbers)
    return np.asarray(centred.T @ centred / max(len(numbers) - 1, 1))


def filled(numbers: Floats) -> Floats:
    """The same with the mean of each column in place of what is missing."""
    return np.where(np.isnan(numbers), means(numbers), numbers)


def means(numbers: Floats) -> Floats:
    """The mean of each column, without what is missing; 0 where all is. Shape (columns,)."""
    present = ~np.isnan(numbers)
    return np.asarray(np.where(present, numbers, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1))


def declared(matrix: Mapping[str, Mapping[str, Fraction]], names: Sequence[str]) -> Floats:
    """A matrix that a policy declares, each pair once or twice; a RemedyError where no noise has these covariances."""
    place = {name: number for number, name in enumerate(names)}
    covariance = np.zeros((len(names), len(names)))
    for one, row in matrix.items():
        for other, value in row.items():
            covariance[place[one], place[other]] = covariance[place[other], place[one]] = float(value)
    variances = np.linalg.eigvalsh(covariance)
    if variances.min() < -LEAST * variances.max():
        raise RemedyError(
            "no noise has the covariances that `covariance` declares: a covariance is larger than the variances of its "
            f"attributes allow; {_possible_share(covariance):.4f} times the covariances, with the same variances, "
            "would do"
        )
    return covariance


def _possible_share(matrix: Floats) -> float:
    """The largest factor of the covariances that the variances allow, rounded down to four digits.

    The least eigenvalue of I + f (R - I) is 1 + f (least - 1), for the correlations R.

    Example:
        >>> _possible_share(np.array([[1.0, 2.0], [2.0, 1.0]]))
        0.5
    """
    deviations = np.sqrt(np.diag(matrix))
    least = float(np.linalg.eigvalsh(matrix / np.outer(deviations, deviations)).min())
    return floor(1 / (1 - least) * 10_000) / 10_000


def add_noise(view: RemedyView, parameters: CorrelatedNoiseParameters) -> Treatment:
    """Add normal noise to the numbers of some attributes.

    Raises:
        RemedyError: an attribute has generalised values, no quasi-identifier is numeric, no noise has the declared
            covariances, or, where no strength is given, nothing says how strong it has to be or none is enough.

    Cost: a sort of the records, and O(records x attributes^2); the same and an audit for each of at most five
    strengths where none is given.
    """
    masking = _Masking(view, parameters, masked_numbers(view, parameters.names, "noise is added to numbers; add it"))
    if parameters.covariance is not None:
        names = [one.name for one in masking.attributes]
        return masking.with_noise(declared(parameters.covariance, names), Fraction(0))
    if parameters.percent is not None:
        return masking.at(parameters.percent)
    return masking.at(weakest(view, masking.at, PERCENTS))


@dataclass(frozen=True)
class _Masking:
    view: RemedyView
    parameters: CorrelatedNoiseParameters
    attributes: Sequence[Attribute]  # whose numbers they are

    @cached_property
    def order(self) -> NDArray[np.intp]:
        return by_content(self.view)

    @cached_property
    def numbers(self) -> Floats:
        """The numbers of all records in their order by content, NaN where there is none."""
        columns = [_values(one)[one.codes[self.order]] for one in self.attributes]
        return np.array(columns, dtype=np.float64).T

    @cached_property
    def covariance(self) -> Floats:
        return covariance_of(self.numbers)

    def at(self, percent: Fraction) -> Treatment:
        share = float(percent / 100) ** 2
        own = self.covariance if self.parameters.shape is Shape.CORRELATED else np.diag(np.diag(self.covariance))
        return self.with_noise(share * own, percent, 1 / np.sqrt(1 + share) if self.parameters.rescaled else 1.0)

    def with_noise(self, covariance: Floats, percent: Fraction, factor: float = 1.0) -> Treatment:
        """The release with noise of a covariance matrix, numbers drawn back to their mean by a factor."""
        centre = means(self.numbers)
        noise = normal_noise(covariance, len(self.numbers), self.view.generator())
        drawn = centre + factor * (self.numbers + noise - centre)
        after = np.column_stack([_as_fine(new, one) for new, one in zip(drawn.T, self.attributes, strict=True)])
        columns = {one.name: self._column(one, new) for one, new in zip(self.attributes, after.T, strict=True)}
        moved = np.abs(after - self.numbers)
        deviations = np.sqrt(np.diag(self.covariance))
        far = np.divide(moved, deviations, out=np.zeros_like(moved), where=(deviations > 0) & ~np.isnan(moved))
        change = np.abs(correlations(filled(after)) - correlations(filled(self.numbers)))
        notes = {
            "percent": float(percent),
            "changed": int((moved > 0).sum()),
            "correlation_change": round(float(change.max()), 4),
            "largest": round(float(far.max(initial=0.0)), 4),
        }
        return Treatment(columns, notes=notes, attacks=({"noise_attack": self._known(percent)},))

    def _known(self, percent: Fraction) -> dict[str, Any]:
        """The knowledge of an intruder who knows the method: the noise's covariance, and whether it was rescaled.

        With missing cells covariances are of no use, so the noise of each attribute by itself is given.
        """
        from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT  # noqa: PLC0415 - many modules

        known: dict[str, Any] = {"attributes": [one.name for one in self.attributes], "limit": BY_DEFAULT}
        if self.parameters.covariance is not None:
            return {**known, "covariance": self.parameters.covariance}
        whole = not np.isnan(self.numbers).any()
        shape = self.parameters.shape if whole else Shape.INDEPENDENT
        return {**known, "sd": percent, "shape": shape.value, "rescaled": self.parameters.rescaled}

    def _column(self, attribute: Attribute, after: Floats) -> NewColumn:
        """A column of numbers, in the table's order; uninformative cells stay as they are."""
        new = np.empty_like(after)
        new[self.order] = after
        informative = ~np.isnan(new)
        cells, position = np.unique(new[informative], return_inverse=True)
        if attribute.is_numeric:
            codes = np.full(len(new), len(cells))
            codes[informative] = position
            return NewColumn(_whole(cells), codes)
        texts = [*attribute.domain.labels, *map(number_text, cells.tolist())]
        distinct, place = np.unique(np.array(texts, dtype=object).astype(str), return_inverse=True)
        codes = attribute.codes.astype(np.int64)  # uninformative ones: suppressed, or missing
        codes[informative] = len(attribute.domain.labels) + position
        missing = ~informative & (attribute.codes == len(attribute.domain.labels))
        return NewColumn.of_texts(distinct.tolist(), np.where(missing, len(distinct), place[codes * ~missing]))


def _values(attribute: Attribute) -> Floats:
    """The number of each code, NaN where it is uninformative."""
    numbers = np.append(np.asarray(attribute.numbers, dtype=np.float64), np.nan)
    return np.where(attribute.domain.is_uninformative, np.nan, numbers)


def _as_fine(drawn: Floats, attribute: Attribute) -> Floats:
    """Numbers with as many decimals as those of an attribute have."""
    informative = ~attribute.domain.is_uninformative[:-1]
    own = np.asarray(attribute.numbers, dtype=np.float64)[informative]
    for decimals in range(DECIMALS + 1):
        if (np.round(own, decimals) == own).all():
            return np.asarray(np.round(drawn, decimals))
    return drawn


def _whole(cells: Floats) -> NDArray[Any]:
    """Whole numbers where all are, so that a column of them stays one."""
    return cells.astype(np.int64) if len(cells) and (np.round(cells) == cells).all() else cells


CORRELATED_NOISE = MASKING.remedy(
    __file__,
    add_noise,
    title="Correlated noise",
    summary="Adds normal noise with a given covariance to numbers, so that correlations stay on average.",
    once=True,
)
