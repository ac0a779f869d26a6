"""Candidate values: what the classes of a person in several releases leave of their sensitive value together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Counts, Floats, boundaries, positions_of
from tcdp_audit.plugin.check import Parameters, TableView
from tcdp_audit.plugin.detector import PolicyDocument, Role, Text
from tcdp_audit.plugin.sentences import listing
from tcdp_audit_plugins.checks.releases.classes import ClassValues, Positions, blocks_of, together

NOT_FOLLOWED = (
    "people of several tables are followed by the unit, which may be another one in each release; say "
    "`keep_links: true` where all releases have the same pseudonyms"
)
BYTES = 96  # of a value while it is looked for in other releases


@dataclass(frozen=True)
class Candidates:
    """The values that combinations of classes have in common."""

    number: Counts  # how many there are for each combination
    # the conditional entropy of the value in bits, 0 where there is no value: each value weighs the product of
    # its shares in all classes
    entropy: Floats


def candidates(values: Sequence[ClassValues], classes: Sequence[Positions], memory: int | None = None) -> Candidates:
    """The values in the intersection of classes, one of each release.

    Args:
        values: the values of the classes of each release.
        classes: for each release the class in each combination, -1 where it has no part; at least one has.
        memory: budget in bytes; None for no limit.

    Cost: for each combination the values of its smallest class, looked up in the other releases.
    """
    sizes = np.array([np.where(own >= 0, np.append(one.number, 0)[own], np.iinfo(np.int64).max)
                      for one, own in zip(values, classes, strict=True)])  # fmt: skip
    smallest, least = sizes.argmin(axis=0), sizes.min(axis=0)
    number, entropy = np.zeros(len(least), dtype=np.int64), np.zeros(len(least))
    for release in range(len(values)):
        own = np.flatnonzero((smallest == release) & (least > 0))
        for begin, end in blocks_of(least[own], together(memory, BYTES)):
            some = own[begin:end]
            number[some], entropy[some] = _in_common(values, [one[some] for one in classes], release)
    return Candidates(number, entropy)


def _in_common(values: Sequence[ClassValues], classes: Sequence[Positions], first: int) -> tuple[Counts, Floats]:
    """The number of common values of each combination, and their entropy; those of one release are looked up."""
    own = values[first]
    lengths = own.number[classes[first]]
    places = positions_of(own.offsets[classes[first]], lengths)
    owner, codes = np.repeat(np.arange(len(lengths)), lengths), own.keys[places] % own.width
    weight = own.shares(places)
    for release, (one, classes_of) in enumerate(zip(values, classes, strict=True)):
        if release == first:
            continue
        there = classes_of[owner]
        asked = there * one.width + codes
        places = np.minimum(np.searchsorted(one.keys, asked), max(len(one.keys) - 1, 0))
        has_value = one.keys[places] == asked if len(one.keys) else np.zeros(len(asked), dtype=np.bool_)
        weight[has_value] += one.shares(places[has_value])
        remaining = has_value | (there < 0)
        owner, codes, weight = owner[remaining], codes[remaining], weight[remaining]
    number = np.bincount(owner, minlength=len(lengths))
    entropy = np.zeros(len(lengths))
    entropy[number > 0] = _entropies(boundaries(owner), weight)
    return number, entropy


def _entropies(starts: Positions, weight: Floats) -> Floats:
    """The entropy in bits of each run of weights, which are binary logarithms."""
    if not len(starts):
        return np.zeros(0)
    runs = np.diff(starts, append=len(weight))
    weight = weight - np.repeat(np.maximum.reduceat(weight, starts), runs)
    mass = np.exp2(weight)
    total = np.add.reduceat(mass, starts)
    return np.maximum(np.log2(total) - np.add.reduceat(mass * weight, starts) / total, 0)


class SensitiveParameters(Parameters):
    """Parameters of a check that asks what several releases together reveal about sensitive attributes."""

    sensitive: Annotated[
        Text | None, Field(description="The sensitive attribute; without it all of them, and the worst is the figure.")
    ] = None


def faults_of_followed(parameters: SensitiveParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The reasons why people of several tables cannot be followed through the releases, or a secret of them cannot."""
    if document.tables is None:
        return
    if not document.keep_links:
        yield "", NOT_FOLLOWED
    if document.household is not None:
        yield "", "people are followed one by one, and whole households are judged; leave `household` out"
    asked = [parameters.sensitive] if parameters.sensitive else document.with_role(Role.SENSITIVE)
    of_rows = [name for name in asked if name.partition(".")[0] in document.event_tables]
    if of_rows:
        names = listing([repr(name) for name in of_rows])
        yield "sensitive", f"a person may have several values of {names}; name an attribute of the table of units"


def sensitive_attributes(parameters: SensitiveParameters, view: TableView) -> list[str]:
    """The attributes that are asked about."""
    return view.policy.with_role(Role.SENSITIVE) if parameters.sensitive is None else [parameters.sensitive]
