"""The remedy itself: noise is drawn for all attributes of a record together and added to its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyView, Treatment, number_text
from tcdp_audit_plugins.remedies._shared.by_content import by_content
from tcdp_audit_plugins.remedies._shared.masked_attributes import masked_numbers
from tcdp_audit_plugins.remedies._shared.normal import correlations, normal_noise
from tcdp_audit_plugins.remedies._shared.pair_demands import weakest
from tcdp_audit_plugins.remedies.correlated_noise.covariance import covariance_of, declared, filled, means
from tcdp_audit_plugins.remedies.correlated_noise.parameters import CorrelatedNoiseParameters, Shape

PERCENTS = tuple(map(Fraction, (5, 10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300)))  # from weak to strong
DECIMALS = 6  # a column with more of them is taken for one that was measured as finely as numbers are held


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
    """Numbers that get noise.

    Args:
        view: the release.
        parameters: those of the policy.
        attributes: whose numbers they are.
    """

    view: RemedyView
    parameters: CorrelatedNoiseParameters
    attributes: Sequence[Attribute]

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The records by content."""
        return by_content(self.view)

    @cached_property
    def numbers(self) -> Floats:
        """The numbers of all records in their order by content, NaN where there is none."""
        columns = [_values(one)[one.codes[self.order]] for one in self.attributes]
        return np.array(columns, dtype=np.float64).T

    @cached_property
    def covariance(self) -> Floats:
        """Of the numbers."""
        return covariance_of(self.numbers)

    def at(self, percent: Fraction) -> Treatment:
        """The release with noise of some percent of each standard deviation."""
        share = float(percent / 100) ** 2
        own = self.covariance if self.parameters.shape is Shape.CORRELATED else np.diag(np.diag(self.covariance))
        return self.with_noise(share * own, percent, 1 / np.sqrt(1 + share) if self.parameters.rescaled else 1.0)

    def with_noise(self, covariance: Floats, percent: Fraction, factor: float = 1.0) -> Treatment:
        """The release with noise of a covariance matrix.

        Args:
            covariance: of the noise.
            percent: what the notes tell.
            factor: by how much numbers are drawn back to their mean.
        """
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
        """What somebody knows who knows the method: the covariance of the noise, and whether numbers were drawn back.

        Beside missing cells noise with covariances tells nothing, so that noise of each attribute by itself is told.
        """
        from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT  # noqa: PLC0415 - many modules

        known: dict[str, Any] = {"attributes": [one.name for one in self.attributes], "limit": BY_DEFAULT}
        if self.parameters.covariance is not None:
            return {**known, "covariance": self.parameters.covariance}
        whole = not np.isnan(self.numbers).any()
        shape = self.parameters.shape if whole else Shape.INDEPENDENT
        return {**known, "sd": percent, "shape": shape.value, "rescaled": self.parameters.rescaled}

    def _column(self, attribute: Attribute, after: Floats) -> NewColumn:
        """A column of numbers, in the table's order; cells that tell nothing stay as they are."""
        new = np.empty_like(after)
        new[self.order] = after
        tells = ~np.isnan(new)
        cells, position = np.unique(new[tells], return_inverse=True)
        if attribute.is_numeric:
            codes = np.full(len(new), len(cells))
            codes[tells] = position
            return NewColumn(_whole(cells), codes)
        texts = [*attribute.domain.labels, *map(number_text, cells.tolist())]
        distinct, place = np.unique(np.array(texts, dtype=object).astype(str), return_inverse=True)
        codes = attribute.codes.astype(np.int64)  # what tells nothing: suppressed, or missing
        codes[tells] = len(attribute.domain.labels) + position
        missing = ~tells & (attribute.codes == len(attribute.domain.labels))
        return NewColumn.of_texts(distinct.tolist(), np.where(missing, len(distinct), place[codes * ~missing]))


def _values(attribute: Attribute) -> Floats:
    """The number of each code, NaN where it tells nothing."""
    numbers = np.append(np.asarray(attribute.numbers, dtype=np.float64), np.nan)
    return np.where(attribute.domain.tells_nothing, np.nan, numbers)


def _as_fine(drawn: Floats, attribute: Attribute) -> Floats:
    """Numbers with as many decimals as those of an attribute have."""
    tells = ~attribute.domain.tells_nothing[:-1]
    own = np.asarray(attribute.numbers, dtype=np.float64)[tells]
    for decimals in range(DECIMALS + 1):
        if (np.round(own, decimals) == own).all():
            return np.asarray(np.round(drawn, decimals))
    return drawn


def _whole(cells: Floats) -> NDArray[Any]:
    """Whole numbers where all are, so that a column of them stays one."""
    return cells.astype(np.int64) if len(cells) and (np.round(cells) == cells).all() else cells
