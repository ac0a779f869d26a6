"""A sample of combinations of events, where all of them are too many: what it finds is a proof, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from tcdp_audit.plugin._internal import checkpoint
from tcdp_audit.plugin.check import TableFigure
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks.histories.chances import DRAWS, draws
from tcdp_audit_plugins.checks.histories.combinations import BLOCK
from tcdp_audit_plugins.checks.histories.events import Events, Flags, Positions
from tcdp_audit_plugins.checks.histories.knowledge import largest, shares_of
from tcdp_audit_plugins.checks.histories.nearby import NearbyEvents
from tcdp_audit_plugins.checks.histories.reading import (
    KnownEventsParameters,
    ReadEvents,
    block_for,
    event_details,
    generator_of,
)
from tcdp_audit_plugins.checks.histories.sensitive import Secrets, SensitiveValues

if TYPE_CHECKING:
    from tcdp_audit.plugin.check import TableView

MOST = 10**9  # combinations, or comparisons of them with units, up to which all are looked at
UNITS = 1_000  # that are drawn
LOOKED_UP = 10**8  # candidates that are looked at, at the most


def too_many(amounts: Sequence[float]) -> bool:
    """Whether combinations of 1, 2, ... events are more than are all looked at."""
    return sum(amounts) > MOST


@dataclass(frozen=True)
class SampledKnowledge:
    """The figures of some combinations of events of some units.

    Args:
        units: how many units were drawn.
        combinations: how many combinations of theirs were looked at.
        support: the least number of units that have one of them.
        exposed: how many of the drawn units have one that fewer than k units have, or that gives a value a larger share
            than is allowed.
        confidence: the largest share of the units that have one and a sensitive value; None without an attribute.
    """

    units: int
    combinations: int
    support: int
    exposed: int
    confidence: Fraction | None


def sampled_knowledge(
    events: Events,
    size: int,
    nearby: NearbyEvents,
    generator: np.random.Generator,
    *,
    k: int = 0,
    secrets: Secrets | None = None,
    most: Fraction | None = None,
    block: int = BLOCK,
) -> SampledKnowledge:
    """Look at the rarest events and 100 random choices of each of 1,000 units, as far as 10^8 candidates reach.

    Args:
        events: without times; with points for labels.
        size: how many events an intruder knows.
        nearby: the events by the same labels.
        generator: draws the units and their events.
        k: units are exposed by what fewer have.
        secrets: the sensitive values of units.
        most: the largest share of a value that is allowed.
        block: how many candidates are looked at together.
    """
    unit, points = _drawn(events, size, nearby, generator)
    support, exposed, confidence, combinations = events.units, set[int](), Fraction(0), 0
    for holder, chosen in zip(unit, points, strict=True):
        for some, fits in nearby.fits(chosen, block):
            checkpoint()
            support = min(support, int(fits.supports.min()))
            exposed |= {*holder[some][fits.supports < k].tolist()}
            combinations += len(fits.supports)
            if secrets is not None:
                sharing, shares = shares_of(fits.combination, fits.unit, len(fits.supports), fits.supports, secrets)
                confidence = max(confidence, largest(shares)) if len(sharing) else confidence
                if most is not None:
                    exposed |= {*holder[some][sharing[shares.compare(most) > 0]].tolist()}
    drawn = len({*np.concatenate(unit).tolist()})
    return SampledKnowledge(drawn, combinations, support, len(exposed), None if secrets is None else confidence)


def _drawn(
    events: Events, size: int, nearby: NearbyEvents, generator: np.random.Generator
) -> tuple[list[Positions], list[Positions]]:
    """Units with choices of their events, those of one size together. Shapes (choices,) and (choices, size)."""
    having = np.flatnonzero(events.lengths)
    chosen = np.sort(generator.permutation(having)[:UNITS])
    rare = nearby.amounts[events.label]
    order = np.lexsort((events.label, rare, events.unit))  # a unit's rarest events first
    starts = np.concatenate([[0], np.cumsum(events.lengths)])
    units, points, left = [], [], LOOKED_UP
    lengths = np.minimum(events.lengths[chosen], size)
    for length in np.unique(lengths).tolist():
        some = chosen[lengths == length]
        rarest = np.broadcast_to(np.arange(length), (len(some), length)) + starts[some][:, None]
        at_random = draws(events.lengths[some], length, generator) + np.repeat(starts[some], DRAWS)[:, None]
        holder = np.concatenate([some, np.repeat(some, DRAWS)])
        labels = np.sort(events.label[order[np.concatenate([rarest, at_random])]], axis=1)
        few = _affordable(nearby, labels, left)
        left -= int(nearby.amounts[labels[few]].min(axis=1).sum()) if few.any() else 0
        units.append(holder[few])
        points.append(labels[few])
    return units, points


def _affordable(nearby: NearbyEvents, points: Positions, candidates: int) -> Flags:
    """The first combinations that have so many candidates together, and the very first in any case."""
    until = np.cumsum(nearby.amounts[points].min(axis=1))
    few = until <= candidates
    few[:1] = True
    return few


def known_sample(
    view: TableView,
    read: ReadEvents,
    parameters: KnownEventsParameters,
    sensitive: SensitiveValues,
    amounts: Sequence[float],
) -> TableFigure:
    """A failure that a sample proves, or a pass that whole histories prove, as the figure of `known_events`.

    Raises:
        CheckError: neither proves anything.
    """
    events, nearby = read.untimed
    k, size = parameters.k, len(amounts)
    sample = sampled_knowledge(
        events,
        size,
        nearby,
        generator_of(view),
        k=k or 0,
        # Shares among units that have events in any order bound none among those that have them in one order.
        secrets=None if parameters.order == "sequence" else sensitive.secrets,
        most=parameters.C,
        block=block_for(view, size),
    )
    bound = _bound(read, parameters)
    fails = (k is not None and sample.support < k) or (
        parameters.C is not None and sample.confidence is not None and sample.confidence > parameters.C
    )
    if not fails and (k is None or parameters.C is not None or bound < k):
        raise CheckError(_undecided(sample, bound, amounts, compared=read.nearby is not None))
    details = {
        **event_details(read),
        "sampled": True,
        "combinations": round(sum(amounts)),
        "sampled_units": sample.units,
        "sampled_combinations": sample.combinations,
        "smallest_support_sampled": sample.support,
        "smallest_class": bound,
        "seed": view.policy.document.seed,
        **sensitive.details(sample.confidence),
    }
    return TableFigure(
        Fraction(sample.support if fails else bound),
        events.units,
        sample.exposed if fails else 0,
        details=details,
        further={"C": sample.confidence or Fraction(0)},
        violation=sensitive.violation,
    )


def _bound(read: ReadEvents, parameters: KnownEventsParameters) -> int:
    """A lower bound of the figure: equal whole histories have equal parts.

    Where times are used that are no part of a history, equal histories may have other ones, and nothing is known.
    """
    rows = read.rows
    used = parameters.order == "sequence" or parameters.tolerance is not None
    return 1 if used and rows.time_column not in rows.codes else int(rows.least_class)


def _undecided(sample: SampledKnowledge, bound: int, amounts: Sequence[float], *, compared: bool) -> str:
    """Say what was looked at, why that decides nothing, and what would."""
    sums = np.cumsum(amounts).tolist()
    fits = [size for size, amount in enumerate(sums, 1) if amount <= MOST]
    number = f"{round(sums[-1]):,}" if sums[-1] < 10**15 else f"{sums[-1]:.2g}"
    what = "comparisons with combinations" if compared else "combinations"
    return (
        f"{number} {what} of at most {count(len(amounts), 'event')} are too many to look at all of them ({MOST:,} at "
        f"the most); the rarest of {sample.combinations:,} in a sample occurs in {sample.support:,} histories, and the "
        f"smallest class of equal whole histories is of {bound:,}, which decides nothing; "
        + (f"lower `m` to {max(fits)}" if fits else "make the events coarser, or histories shorter")
    )
