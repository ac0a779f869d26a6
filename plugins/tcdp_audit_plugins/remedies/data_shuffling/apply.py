"""The remedy itself: values of the confidential attributes are put in the order of scores that were drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT
from tcdp_audit_plugins.remedies._shared.by_content import by_content
from tcdp_audit_plugins.remedies._shared.masked_attributes import is_orderable, masked_attributes
from tcdp_audit_plugins.remedies._shared.normal import correlations
from tcdp_audit_plugins.remedies._shared.pair_demands import weakest
from tcdp_audit_plugins.remedies.data_shuffling.copula import new_scores, scores
from tcdp_audit_plugins.remedies.data_shuffling.parameters import DataShufflingParameters

HUNDREDTHS = (99, 98, 97, 95, 93, 90, 85, 80, 75, 70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 10, 0)
PROXIMITIES = tuple(Fraction(one, 100) for one in HUNDREDTHS)  # from weak to strong
LEAST = 3  # records, for a correlation to say anything


def shuffle_data(view: RemedyView, parameters: DataShufflingParameters) -> Treatment:
    """Put the values of some attributes in a new order, keeping their correlations.

    Raises:
        RemedyError: no attribute has an order, there are too few records, or, where no proximity is given, nothing
            says how far values have to move or no proximity is far enough.

    Cost: a sort of the records for each attribute, and O(records x attributes^2); the same and an audit for each of
    at most ten proximities where none is given.
    """
    shuffled = masked_attributes(view, parameters.attributes, ordered=True)
    shuffle = _Shuffle(view, shuffled, _staying(view, parameters, shuffled))
    if parameters.proximity is not None:
        return shuffle.at(parameters.proximity)
    return shuffle.at(weakest(view, shuffle.at, PROXIMITIES))


def _staying(view: RemedyView, parameters: DataShufflingParameters, shuffled: Sequence[Attribute]) -> list[Attribute]:
    """The attributes that stay and have an order."""
    if parameters.given is not None:
        return masked_attributes(view, parameters.given, ordered=True)
    names = {one.name for one in shuffled}
    known = view.attributes(
        sorted({*view.policy.with_role(Role.QUASI_IDENTIFIER), *view.policy.with_role(Role.SENSITIVE)} - names)
    )
    return [one for one in known if is_orderable(one)]


@dataclass(frozen=True)
class _Shuffle:
    """Attributes that are shuffled together.

    Args:
        view: the release.
        shuffled: attributes whose values move.
        given: attributes that stay.
    """

    view: RemedyView
    shuffled: Sequence[Attribute]
    given: Sequence[Attribute]

    def at(self, proximity: Fraction) -> Treatment:
        """The release after shuffling at a proximity."""
        if self.view.records < LEAST:
            raise RemedyError(f"correlations need at least {LEAST} records, and the release has {self.view.records:,}")
        order = by_content(self.view)
        own = np.array([scores(_ranks(one)[order]) for one in self.shuffled]).T
        given = np.array([scores(_ranks(one)[order]) for one in self.given]).reshape(len(self.given), len(order)).T
        drawn = new_scores(own, given, float(proximity), self.view.generator())
        columns, after, moved = {}, [], 0
        for attribute, target in zip(self.shuffled, drawn.T, strict=True):
            codes = _reordered(attribute.codes.astype(np.int64), order, target, attribute)
            columns[attribute.name] = NewColumn(attribute.domain.values, codes)
            moved += int((codes != attribute.codes).sum())
            after.append(scores(_ranks(attribute, codes)[order]))
        new = np.hstack([np.array(after).T, given])
        change = np.abs(correlations(new) - correlations(np.hstack([own, given])))
        notes = {
            "proximity": float(proximity),
            "changed": moved,
            "given": len(self.given),
            "correlation_change": round(float(change.max()), 4),
        }
        return Treatment(columns, notes=notes, attacks=({"noise_attack": self._known(proximity)},))

    def _known(self, proximity: Fraction) -> dict[str, Any]:
        """What somebody knows who knows the method.

        By normal scores y = a x + sqrt(1 - a^2) e, with e as correlated as x is: noise of sqrt(1 - a^2) / a standard
        deviations was added to x, and what came of it drawn back.
        """
        names = [one.name for one in self.shuffled]
        known: dict[str, Any] = {"attributes": names, "scores": "normal", "limit": BY_DEFAULT}
        if any(one.domain.tells_nothing[one.codes].any() for one in self.shuffled):
            return {**known, "estimate": "variances"}
        if self.given or not proximity:
            return known
        deviation = 100 * sqrt(1 - proximity**2) / proximity
        return {**known, "sd": deviation, "shape": "correlated", "rescaled": True}


def _ranks(attribute: Attribute, codes: NDArray[np.int64] | None = None) -> Floats:
    """The place of each record's value in the domain, NaN where it tells nothing."""
    places = np.where(attribute.domain.tells_nothing, np.nan, np.arange(attribute.domain.size + 1))
    return np.asarray(places[attribute.codes if codes is None else codes])


def _reordered(
    codes: NDArray[np.int64], order: NDArray[np.intp], target: Floats, attribute: Attribute
) -> NDArray[np.int64]:
    """The same values, in the order of the targets of the records, which stand in an order of their own."""
    tells = ~attribute.domain.tells_nothing[codes[order]]
    records = order[tells]
    after = codes.copy()
    after[records[np.argsort(target[tells], kind="stable")]] = np.sort(codes[records])
    return after
