"""Closest record share: how many released records are closer to the original than to the hold-out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Check, DisclosureType, Need, TableCheck, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact
from tcdp_audit.plugin.sentences import Comparison, Sentences, Severity
from tcdp_audit_plugins.checks._shared.control_comparison import Attack, Rate, require_no_better
from tcdp_audit_plugins.checks._shared.known_attributes import known_attributes, quasi_identifiers_of
from tcdp_audit_plugins.checks.control.risk import ControlParameters, measurable, none_drawn, require_as_many
from tcdp_audit_plugins.checks.control.tables import Places, Points
from tcdp_audit_plugins.guides import built_in_guide


class ClosestShareParameters(ControlParameters):
    """Parameters of `closest_record_share`."""

    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest share; 1/2 is what chance gives.")] = (
        None
    )
    severity: Annotated[
        Severity,
        Field(strict=False, description="Whether a failure fails the audit or only warns; distances prove nothing."),
    ] = Severity.WARNING


def closest_record_share(view: TableView, parameters: ClosestShareParameters) -> TableFigure:
    """The share of released records that are closer to an original record than to any of the hold-out, ties 1/2.

    Returns:
        The upper end of the share's interval.

    Raises:
        CheckError: there is no hold-out or it has fewer records than the original, or nothing can be compared.

    Cost: O(released records x (original and hold-out) x attributes) in blocks.

    Source: Platzer, Reutterer (2021), with ties that count one half.
    """
    places = Places.of_both(view, parameters.attributes)
    require_as_many(view)
    sizes = [int(one.records.sum()) for one in places.targets]
    shares = _Shares.of(places, *sizes)
    share = float(shares.credit)
    attack = Attack(share * shares.attempts, shares.attempts)
    require_no_better(attack, Rate.even())
    low, high = attack.rate(parameters.confidence).ends
    records = int(places.released.records.sum())
    details = {
        "share": share,
        "low": low,
        "high": high,
        "confidence": parameters.confidence,
        "deviations": (share - 1 / 2) * 2 * sqrt(shares.attempts),
        "independent_attempts": shares.attempts,
        "tied": shares.tied,
        "original_records": sizes[0],
        "holdout_records": sizes[1],
    }
    return TableFigure(max(high, share), records, details=details)


@dataclass(frozen=True)
class _Shares:
    """The number of released records closer to the original, and the part of chance in it."""

    credit: float  # their share, ties one half
    tied: int  # how many are as close to both
    attempts: int  # how many independent ones would vary as much

    @classmethod
    def of(cls, places: Places, own: int, others: int) -> _Shares:
        """The shares of all released records, between records of the original (`own`) and the hold-out (`others`)."""
        none, drawn = none_drawn(others, own), _evenly(places.targets[1].records, own)
        search = _Nearest(places, none, drawn)
        parts = places.gower.each_block(places.released, _together(places.targets), search.block)
        earned, tied, pull = (np.concatenate([part[one] for part in parts], axis=-1) for one in range(3))
        times, records = places.released.records, int(places.released.records.sum())
        counts = np.concatenate([places.targets[0].records, drawn])
        weights = sum((part[3] for part in parts), np.zeros(len(counts)))
        attempts = _attempts(weights / records, float((pull * times).sum()) / records, counts, records)
        return cls(fsum((earned * times).tolist()) / records, int(times[tied > 0].sum()), attempts)


def _attempts(weights: Floats, whole: float, counts: NDArray[np.int64], records: int) -> int:
    r"""As many independent attempts as have the variance of the share, where nothing leaks.

    Then it is chance which of the records near the release are of the original: labels are shuffled over both tables,
    n records in all. A share of released records \(w_z\) depends on the label of record z, and
    \(4 V = (\sum_z w_z^2 - (\sum_z w_z)^2 / n)\, n / (n - 1)\). Where g records tie for nearest, the released
    record depends on the labels of them all, with the variance \(2^{1-g}\) in parts of that of one label; on each
    by itself with \(4^{1-g}\).

    `weights` are w of each point of both tables, `whole` is what single labels weigh in all; the result is at most
    `records`.
    """
    both = int(counts.sum())
    variance = (float((weights * weights * counts).sum()) - whole * whole / both) * both / max(both - 1, 1)
    return max(1, int(min(float(records), 1 / max(variance, 1 / records)) + 1e-6))


@dataclass(frozen=True)
class _Nearest:
    """The points near to released records."""

    places: Places  # all tables
    none: Floats  # the probability that a draw as large as the original has none of so many records of the hold-out
    drawn: NDArray[np.int64]  # records of one such draw on each point of the hold-out

    def block(self, some: NDArray[np.intp], distances: Floats) -> tuple[Floats, NDArray[np.bool_], Floats, Floats]:
        """The credit of some released points, whether both tables tie, and how much labels matter; and weights of all.

        A credit is the probability that the point is closer to the original than to a draw from the hold-out.
        """
        (original, control), rounding = self.places.targets, self.places.gower.rounding
        own = distances[:, : len(original)].min(axis=1)[:, None]
        others, records = distances[:, len(original) :], control.records.astype(np.float64)
        closer = (others < own - rounding) @ records
        as_close = (others <= own + rounding) @ records
        earned = (self.none[closer.astype(np.int64)] + self.none[as_close.astype(np.int64)]) / 2
        weights = self._weights(some, distances)
        return earned, (closer == 0) & (as_close > 0), *weights

    def _weights(self, some: NDArray[np.intp], distances: Floats) -> tuple[Floats, Floats]:
        """The weight of each released point by one label after another; and the weight of each point of both."""
        original = self.places.targets[0]
        counts = np.concatenate([original.records, self.drawn])
        distances[:, counts == 0] = np.inf
        near = distances <= distances.min(axis=1, keepdims=True) + self.places.gower.rounding
        ties = near @ counts.astype(np.float64)
        weights = np.sqrt(2.0 ** (1 - ties) / ties)
        return 2.0 ** (1 - ties) * ties, (weights * self.places.released.records[some]) @ near


def _together(targets: Sequence[Points]) -> Points:
    """The points of both tables."""
    original, control = targets
    return Points(
        np.concatenate([original.numbers, control.numbers]),
        np.concatenate([original.labels, control.labels]),
        np.concatenate([original.records, control.records]),
        np.zeros(0, np.intp),
    )


def _evenly(records: NDArray[np.int64], drawn: int) -> NDArray[np.int64]:
    """A number of the records, at even steps in the order of their points.

    Example:
        >>> _evenly(np.array([1, 3, 2]), 2).tolist()
        [0, 1, 1]
    """
    last = np.cumsum(records)
    return np.diff(last * drawn // int(last[-1]), prepend=0)


CHECKS: list[Check] = [
    TableCheck(
        name="closest_record_share",
        title="Closest record share",
        disclosure_type=DisclosureType.IDENTITY_DEGREE,
        parameters=ClosestShareParameters,
        measure=closest_record_share,
        comparison=Comparison.AT_MOST,
        label="upper end of the share of released records that are closer to the original",
        validate=lambda parameters, document: measurable(
            known_attributes(parameters.attributes, quasi_identifiers_of(document)), document
        ),
        needs={Need.HOLDOUT_FOR_DEMANDS},
        sentences=Sentences(
            passed=(
                "By {known}, {details.share:%} of the released {record:plural} are closer to the original than to "
                "the hold-out, ties counting one half: at most {observed:%} with {details.confidence:%} "
                "confidence[, where {allowed}]; chance gives 50%."
            ),
            impact=(
                "How close the release comes to {person} in the data, rather than to one who is not, holds on "
                "average only; a single person may be copied while the share is near one half."
            ),
        ),
        guide=built_in_guide(__file__, "closest_record_share.md"),
    )
]
