"""Data shuffling: values move to other records so that distributions and correlations stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role
from tcdp_audit.plugin.remedy import Attribute, NewColumn, RemedyError, RemedyView, Treatment
from tcdp_audit_plugins.checks.masking_attacks.parameters import BY_DEFAULT
from tcdp_audit_plugins.remedies._shared.masking import (
    NO_ORDER,
    Fault,
    Masking,
    MaskingParameters,
    Names,
    by_content,
    correlations,
    is_orderable,
    masked_attributes,
    masked_faults,
    normal_noise,
)
from tcdp_audit_plugins.remedies._shared.scope import weakest

HUNDREDTHS = (99, 98, 97, 95, 93, 90, 85, 80, 75, 70, 65, 60, 55, 50, 45, 40, 35, 30, 25, 20, 10, 0)
PROXIMITIES = tuple(Fraction(one, 100) for one in HUNDREDTHS)  # from weak to strong
LEAST = 3  # records, for a correlation to say anything


class DataShufflingParameters(MaskingParameters):
    """Parameters of `data_shuffling`."""

    strengths = ("proximity",)
    proximity: Annotated[
        Annotated[Exact, Field(ge=0, lt=1)] | None,
        Field(
            description="The correlation of the residuals of a record's scores before and after, given the attributes "
            "that stay; 0 is data shuffling as published. By default the largest that suffices."
        ),
    ] = None
    attributes: Annotated[
        Names | None,
        Field(description="The attributes to shuffle, together; by default the numeric and ordinal quasi-identifiers."),
    ] = None
    given: Annotated[
        Names | None,
        Field(
            description="The attributes that stay, and whose relations to the shuffled ones are kept; by default every "
            "other numeric or ordinal quasi-identifier and sensitive attribute."
        ),
    ] = None

    def further_faults(self, document: PolicyDocument) -> Iterator[Fault]:
        """Yield the faults of the attributes that stay."""
        yield from (("given", sentence) for sentence in masked_faults(self.given, document, ordered=True))
        for name in sorted(set(self.attributes or ()) & set(self.given or ())):
            yield "given", f"{name!r} is shuffled, so that it cannot stay"


MASKING = Masking(DataShufflingParameters, unfit=NO_ORDER)


def scores(values: Floats) -> Floats:
    """The normal score of each value's mean rank, 0 where there is none. Shape and order as given.

    Example:
        >>> scores(np.array([30.0, 10.0, np.nan, 20.0, 20.0])).round(3).tolist()
        [0.842, -0.842, 0.0, 0.0, 0.0]
    """
    from scipy.special import ndtri  # noqa: PLC0415 - takes a while to import

    present = np.isfinite(values)
    _, place, records = np.unique(values[present], return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(records) - (records - 1) / 2
    result = np.zeros(len(values))
    result[present] = ndtri(mean_rank / (present.sum() + 1))[place]
    return result


def new_scores(own: Floats, given: Floats, proximity: float, random: np.random.Generator) -> Floats:
    """Scores drawn anew from their distribution given other attributes.

    y = m + a (x - m) + sqrt(1 - a^2) e, where m = B s is the regression of x on the given scores, and e has the
    residual covariance of x given s. So y has the correlations of x with itself and with s, whatever a is; for a = 0 it
    reveals no more of x than s does.

    Args:
        own: x, shape (records, columns).
        given: s, shape (records, others), perhaps none.
        proximity: a, at least 0 and less than 1.
        random: what draws e.

    Cost: O(records x columns^2).

    Source: Muralidhar, Sarathy, Management Science 52(5), 2006, for a = 0. They go by rank correlations r and take
    2 sin(pi r / 6), which is the same for normal variables; correlations of the scores are those of something, always.
    """
    columns = own.shape[1]
    everything = correlations(np.hstack([own, given]))
    among, across, others = (
        everything[:columns, :columns],
        everything[:columns, columns:],
        everything[columns:, columns:],
    )
    regression = across @ np.linalg.pinv(others, hermitian=True) if given.shape[1] else np.zeros((columns, 0))
    left = among - regression @ across.T
    predicted = _unit(given) @ regression.T
    noise = normal_noise((left + left.T) / 2, len(own), random)
    return np.asarray(predicted + proximity * (_unit(own) - predicted) + np.sqrt(1 - proximity**2) * noise)


def _unit(columns: Floats) -> Floats:
    """Columns with mean 0 and variance 1; one that does not vary is 0."""
    centred = columns - columns.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where(deviation > 0, deviation, 1.0))


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
    view: RemedyView
    shuffled: Sequence[Attribute]  # attributes whose values move
    given: Sequence[Attribute]  # attributes that stay

    def at(self, proximity: Fraction) -> Treatment:
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
        """The knowledge of an intruder who knows the method.

        By normal scores y = a x + sqrt(1 - a^2) e, with e as correlated as x is: noise of sqrt(1 - a^2) / a standard
        deviations was added to x, and the sum drawn back.
        """
        names = [one.name for one in self.shuffled]
        known: dict[str, Any] = {"attributes": names, "scores": "normal", "limit": BY_DEFAULT}
        if any(one.domain.is_uninformative[one.codes].any() for one in self.shuffled):
            return {**known, "estimate": "variances"}
        if self.given or not proximity:
            return known
        deviation = 100 * sqrt(1 - proximity**2) / proximity
        return {**known, "sd": deviation, "shape": "correlated", "rescaled": True}


def _ranks(attribute: Attribute, codes: NDArray[np.int64] | None = None) -> Floats:
    """The place of each record's value in the domain, NaN where it is uninformative."""
    places = np.where(attribute.domain.is_uninformative, np.nan, np.arange(attribute.domain.size + 1))
    return np.asarray(places[attribute.codes if codes is None else codes])


def _reordered(
    codes: NDArray[np.int64], order: NDArray[np.intp], target: Floats, attribute: Attribute
) -> NDArray[np.int64]:
    """The same values, in the order of the records' targets; records are listed in the order by content."""
    informative = ~attribute.domain.is_uninformative[codes[order]]
    records = order[informative]
    after = codes.copy()
    after[records[np.argsort(target[informative], kind="stable")]] = np.sort(codes[records])
    return after


DATA_SHUFFLING = MASKING.remedy(
    __file__,
    shuffle_data,
    title="Data shuffling",
    summary="Puts the values of attributes in another order, so that their distributions and rank correlations stay.",
    once=True,
)
