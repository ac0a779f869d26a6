"""The levels of a quasi-identifier: the label and the cost of each value on every step up, and of each base class."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.detector import Conventions
from tcdp_audit.plugin.engine import RawDomain
from tcdp_audit.plugin.remedy import Attribute, Penalty, RemedyError, RemedyView, domain_of, interval_label, penalty_of

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Level:
    """One level of an attribute of m values."""

    labels: Sequence[str]  # its different labels
    codes: Numbers  # the label of each value, the missing one last, shape (m + 1,)
    penalty: Floats  # what each label costs, from 0 for a single value to 1 for all, shape (labels,)
    hidden: NDArray[np.bool_]  # which labels are uninformative: suppressed cells, shape (labels,)


@dataclass(frozen=True)
class GeneralizationLevels:
    """The levels of one quasi-identifier, its values first: what has one label on a level has one on every higher."""

    attribute: Attribute
    levels: Sequence[Level]  # its levels

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
        """The levels that differ in which records they distinguish; of equal ones the lowest."""
        labels_of = [len(np.unique(level.codes[self._counts > 0])) for level in self.levels]
        return [number for number, labels in enumerate(labels_of) if number == 0 or labels < labels_of[number - 1]]

    @cached_property
    def costs(self) -> list[float]:
        """The mean penalty over the records, at each level."""
        return [float(level.penalty[level.codes] @ self._counts) / len(self.attribute.codes) for level in self.levels]


def generalization_levels(
    view: RemedyView, attribute: Attribute, widths: Sequence[Fraction] | None, alike: Sequence[Attribute] = ()
) -> GeneralizationLevels:
    """The levels of an attribute: bins of some widths, those of its hierarchy, or only its values and the token.

    Each width of the bins of a numeric attribute is a multiple of the one before. Bins reach over the values of all
    attributes in `alike`, so that equal values of them get equal ones.

    Raises:
        RemedyError: the hierarchy does not know every value, its labels are no ranges of the attribute's scale, or
            bins are asked for where cells are generalised already.

    Cost: O(values x levels).
    """
    conventions, token, own = view.policy.conventions, view.suppressed_token, attribute.domain.labels
    if widths is not None:
        steps = [*_bins(attribute, widths, alike), [token] * len(own)]
    elif attribute.hierarchy is not None:
        steps = _upwards(attribute, conventions.suppressed_tokens)
    else:
        steps = [[token] * len(own)]
    tops = [False] * (len(steps) - 1) + [True]
    above = [_level(attribute, step, token, conventions, top) for step, top in zip(steps, tops, strict=True)]
    return GeneralizationLevels(attribute, [_values(attribute, token), *above])


def _bins(attribute: Attribute, widths: Sequence[Fraction], alike: Sequence[Attribute]) -> list[list[str]]:
    if not attribute.is_numeric and attribute.domain.size:
        raise RemedyError(
            f"column {attribute.name!r} is generalised already, so its cells have no place in bins; "
            "leave it out of `bins`, or begin with the original numbers"
        )
    own = attribute.domain.values.tolist()
    others = [value for one in alike if one is not attribute and one.is_numeric for value in one.domain.values.tolist()]
    return [bin_labels([*own, *others], width)[: len(own)] for width in widths]


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
    codes = np.append(np.arange(len(labels)), suppressed)
    return Level(
        [*labels, token], codes, own_penalty(attribute).of(attribute.domain), attribute.domain.is_uninformative
    )


def _level(attribute: Attribute, names: Sequence[str], token: str, conventions: Conventions, is_top: bool) -> Level:  # noqa: FBT001
    """A level from the label of each value. A missing value becomes the token; at the top it is like all others."""
    missing = names[0] if is_top and names else token
    number = {label: code for code, label in enumerate(dict.fromkeys([*names, missing]))}
    codes = np.array([number[label] for label in [*names, missing]], dtype=np.int64)
    return Level(list(number), codes, *penalties(attribute, list(number), conventions))


def penalties(attribute: Attribute, labels: Sequence[str], conventions: Conventions) -> tuple[Floats, Mask]:
    """The normalised certainty penalty of some labels of an attribute, and which labels are uninformative.

    A range of numbers or ranks costs its width over that of all values, a node of a hierarchy its share of the leaves,
    a suppressed cell 1. The attribute is given before it is generalised, and the labels as they would be released.
    Return float64 from 0 to 1 and bool, both of shape (labels,).

    Raises:
        RemedyError: a label has no place on the attribute's scale, so that the audit could not read it.

    Cost: O(labels).

    Source: Xu et al. (2006), Utility-based anonymization using local recoding, section 3; Ghinita et al. (2007),
    section 3.
    """
    ordered = sorted(labels)
    raw = RawDomain(np.array(ordered, dtype=object), np.ones(len(ordered), dtype=np.int64), 0)
    domain, misfit = domain_of(attribute.name, raw, attribute.declaration, conventions)
    if misfit is not None:
        raise RemedyError(_unreadable(attribute))
    place = dict(zip(ordered, domain.code_of_raw.tolist(), strict=True))
    codes = np.array([place[label] for label in labels], dtype=np.int64)
    return own_penalty(attribute).of(domain)[codes], domain.is_uninformative[codes]


def own_penalty(attribute: Attribute) -> Penalty:
    """The penalty of an attribute's values, as information loss measures it."""
    return penalty_of(attribute.declaration, attribute.hierarchy, attribute.domain)


def _unreadable(attribute: Attribute) -> str:
    name, scale = attribute.name, attribute.scale.value
    return (
        f"the hierarchy of {name!r} has labels that are no range of its {scale} values, so the audit could not read "
        f"them; write them as `20-29` or `[20, 30)`, or declare {name!r} as `scale: nominal`"
    )


def bin_labels(values: Sequence[Any], width: Fraction) -> list[str]:
    """The label of the bin of each number. Bins begin at multiples of the width, so those of a multiple are coarser.

    The last bin is closed, and holds the greatest value where that is a multiple itself. A number is read as the
    decimal that it prints as. Values are finite, and the width is above 0.

    Cost: O(values), in rational arithmetic.

    Example:
        >>> bin_labels([17, 20, 34, 60], Fraction(20))
        ['[0, 20)', '[20, 40)', '[20, 40)', '[40, 60]']
    """
    quotients = [Fraction(str(value)) / width for value in values]
    if not quotients:
        return []
    last = max(ceil(max(quotients)) - 1, floor(min(quotients)))
    return [_label(min(floor(one), last), last, width) for one in quotients]


def _label(number: int, last: int, width: Fraction) -> str:
    return interval_label(float(number * width), float((number + 1) * width), open_end=number < last)


@dataclass(frozen=True)
class ClassLabels:
    """The label of every base class on every level of one quasi-identifier; the last level is the suppressed token."""

    texts: Sequence[str]  # the different labels of all levels
    labels: Numbers  # the label of each base class on each level, shape (levels, base classes)
    penalty: Floats  # what it costs, likewise
    hidden: Mask  # whether it is uninformative, likewise
    chosen: Sequence[int]  # the levels that may be chosen, ascending

    @classmethod
    def of(
        cls, attribute_levels: GeneralizationLevels, codes: Numbers, chosen: Sequence[int], token: str
    ) -> ClassLabels:
        """Label the base classes on every level of a quasi-identifier."""
        number: dict[str, int] = {}
        labels, penalty, hidden = [], [], []
        for level in attribute_levels.levels:
            of_label = np.array([number.setdefault(text, len(number)) for text in level.labels])
            code = level.codes[codes]
            labels.append(of_label[code])
            penalty.append(level.penalty[code])
            hidden.append(level.hidden[code])
        labels.append(np.full(len(codes), number.setdefault(token, len(number))))
        penalty.append(np.ones(len(codes)))
        hidden.append(np.ones(len(codes), dtype=bool))
        return cls(list(number), np.array(labels), np.array(penalty), np.array(hidden), chosen)

    @property
    def token(self) -> int:
        """The level of the token."""
        return len(self.labels) - 1

    @cached_property
    def finer(self) -> Sequence[int]:
        """The informative levels: not those with one label for all, unless it is the only one."""
        telling = [one for one in self.chosen if (self.labels[one] != self.labels[one][0]).any()]
        return telling if len(self.chosen) > 1 else self.chosen

    @cached_property
    def below(self) -> Numbers:
        """For each level the highest of the finer levels below it; -1 where there is none. Shape (levels,)."""
        return np.array(
            [max((one for one in self.finer if one < level), default=-1) for level in range(len(self.labels))]
        )
