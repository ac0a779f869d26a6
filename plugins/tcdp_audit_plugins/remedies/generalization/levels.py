"""The levels of a quasi-identifier: what each of its values becomes on every step from itself to one label for all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.policy import Conventions
from tcdp_audit.remedy import RemedyError
from tcdp_audit.remedy_view import Attribute, RemedyView
from tcdp_audit_plugins.remedies.generalization.bins import binned
from tcdp_audit_plugins.remedies.generalization.penalty import own_penalties, penalties

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """One level of an attribute of m values.

    Args:
        labels: its different labels.
        codes: the label of each value, the missing one last. Shape (m + 1,).
        penalty: what each label costs, from 0 for a single value to 1 for all. Shape (labels,).
        hidden: which labels tell nothing: suppressed cells. Shape (labels,).
    """

    labels: Sequence[str]
    codes: Numbers
    penalty: Floats
    hidden: NDArray[np.bool_]


@dataclass(frozen=True)
class Ladder:
    """The levels of one quasi-identifier, its values first: what has one label on a level has one on every higher.

    Args:
        attribute: the quasi-identifier.
        levels: its levels.
    """

    attribute: Attribute
    levels: Sequence[Level]

    @property
    def name(self) -> str:
        """The column's name."""
        return self.attribute.name

    @property
    def height(self) -> int:
        """The number of the highest level."""
        return len(self.levels) - 1

    @cached_property
    def _counts(self) -> Numbers:
        """Records with each value, those without one last."""
        return np.bincount(self.attribute.codes, minlength=self.attribute.domain.size + 1)

    @cached_property
    def distinct(self) -> list[int]:
        """The levels that differ in which records they tell apart; of equal ones the lowest."""
        told = [len(np.unique(level.codes[self._counts > 0])) for level in self.levels]
        return [number for number, labels in enumerate(told) if number == 0 or labels < told[number - 1]]

    @cached_property
    def costs(self) -> list[float]:
        """The mean penalty over the records, at each level."""
        return [float(level.penalty[level.codes] @ self._counts) / len(self.attribute.codes) for level in self.levels]


def ladder(view: RemedyView, attribute: Attribute, widths: Sequence[Fraction] | None) -> Ladder:
    """The levels of an attribute: bins of some widths, those of its hierarchy, or only its values and the token.

    Args:
        view: knows the cells that stand for a suppressed value.
        attribute: the quasi-identifier.
        widths: of the bins of a numeric attribute, each a multiple of the one before; None for its hierarchy.

    Raises:
        RemedyError: the hierarchy does not know every value, its labels are no ranges of the attribute's scale, or
            bins are asked for where cells are generalised already.

    Cost: O(values x levels).
    """
    conventions, token, own = view.policy.conventions, view.suppressed_token, attribute.domain.labels
    if widths is not None:
        steps = [*_bins(attribute, widths), [token] * len(own)]
    elif attribute.hierarchy is not None:
        steps = _upwards(attribute, conventions.suppressed_tokens)
    else:
        steps = [[token] * len(own)]
    tops = [False] * (len(steps) - 1) + [True]
    above = [_level(attribute, step, token, conventions, top) for step, top in zip(steps, tops, strict=True)]
    return Ladder(attribute, [_values(attribute, token), *above])


def _bins(attribute: Attribute, widths: Sequence[Fraction]) -> list[list[str]]:
    if not attribute.is_numeric and attribute.domain.size:
        raise RemedyError(
            f"column {attribute.name!r} is generalised already, so its cells have no place in bins; "
            "leave it out of `bins`, or begin with the original numbers"
        )
    return [binned(attribute.domain.values.tolist(), width) for width in widths]


def _upwards(attribute: Attribute, tokens: Collection[str]) -> list[list[str]]:
    """The label of each value at every level of its hierarchy; a token that it lacks stays until the root."""
    hierarchy, own = attribute.hierarchy, attribute.domain.labels
    assert hierarchy is not None  # noqa: S101 - the caller asked
    if any(own[code] not in tokens for code in hierarchy.unknown(own)):
        raise RemedyError(f"the hierarchy of {attribute.name!r} does not know all its values; add them to it")
    top = (hierarchy.height, hierarchy.branches[0][-1:])
    lineages = [(label, *hierarchy.lineage.get(label, top)) for label in own]
    return [
        [label if level < start else upward[level - start] for label, start, upward in lineages]
        for level in range(1, hierarchy.height + 1)
    ]


def _values(attribute: Attribute, token: str) -> Level:
    """Level 0: a missing value is released as the token, and so is of one class with it."""
    labels = attribute.domain.labels
    suppressed = labels.index(token) if token in labels else len(labels)
    penalty, hidden = own_penalties(attribute)
    return Level([*labels, token], np.append(np.arange(len(labels)), suppressed), penalty, hidden)


def _level(attribute: Attribute, names: Sequence[str], token: str, conventions: Conventions, is_top: bool) -> Level:  # noqa: FBT001
    """A level from the label of each value. A missing value becomes the token; at the top it is like all others."""
    missing = names[0] if is_top and names else token
    number = {label: code for code, label in enumerate(dict.fromkeys([*names, missing]))}
    codes = np.array([number[label] for label in [*names, missing]], dtype=np.int64)
    return Level(list(number), codes, *penalties(attribute, list(number), conventions))
