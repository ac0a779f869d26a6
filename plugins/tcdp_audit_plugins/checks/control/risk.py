"""Attacks with a control set: parameters, the comparison of both successes, draws from a hold-out, and ROC curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Parameters, TableFigure, TableView
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit.plugin.sentences import count
from tcdp_audit_plugins.checks._shared.control_comparison import (
    CONTROL,
    NO_CONTROL,
    Attack,
    interval_of_risk,
    require_strangers,
)
from tcdp_audit_plugins.checks._shared.known_attributes import ComparisonParameters, comparable

NEAR = 1e-12  # scores that differ by less, relative above 1, are equal


class ControlParameters(Parameters):
    """Parameters of an attack whose success on the original is compared with that on the hold-out."""

    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that the intruder knows; without it, all quasi-identifiers."),
    ] = None
    confidence: Annotated[
        Exact, Field(gt=0, lt=1, description="How sure the interval is whose upper end is compared with the demand.")
    ] = Fraction(95, 100)

    @property
    def demands(self) -> bool:
        """Whether anything is demanded."""
        return any(getattr(self, name, None) is not None for name in ("at_most", "true_positive_rate"))


def measurable(names: Sequence[str], document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The reason why records cannot be compared by some attributes."""
    if names:
        yield from comparable(ComparisonParameters(attributes=list(names)), document)
    else:
        yield "attributes", "no attribute is left that the intruder knows; name some"


def compare_with_control(
    view: TableView, parameters: ControlParameters, attacks: Sequence[Attack], details: Mapping[str, Any]
) -> TableFigure:
    """Compare an attack on the original with the same one on the hold-out, where there is one.

    Returns:
        The upper end of the risk's interval; without a hold-out the share of successes, which nothing is demanded of.

    Raises:
        CheckError: something is demanded, and there is no hold-out.
    """
    attack, *controls = attacks
    figures = {"success": attack.share, "successes": attack.successes, "attempts": attack.attempts}
    if not controls:
        if parameters.demands:
            raise CheckError(NO_CONTROL)
        return TableFigure(attack.share, view.records, details={**figures, **details})
    control = controls[0]
    low, high, excess = interval_of_risk(attack, control, parameters.confidence)
    figures |= {"control_success": control.share, "control_successes": control.successes}
    figures |= {"control_attempts": control.attempts, "excess": excess, "low": low, "high": high}
    return TableFigure(high, view.records, details={**figures, "confidence": parameters.confidence, **details})


def mean_credit(earned: Floats, times: NDArray[np.int64]) -> Attack:
    """An attack whose guesses are right with a probability each.

    The products are added with `fsum`, whose sum is the rounded exact one: no order of points shows in it.

    `times` is how many records make each guess.
    """
    return Attack(fsum((earned * times).tolist()), int(times.sum()))


def companions_of(view: TableView) -> list[str]:
    """The original, and the hold-out if there is one."""
    return ["original", CONTROL] if CONTROL in view.companions else ["original"]


def require_comparable(view: TableView) -> None:
    """Insist that no table is empty, and that no one of the original is in the hold-out.

    Raises:
        CheckError: a table is empty, or a person is in both.
    """
    tables = {"release": view.engine, **{name: view.companions[name] for name in companions_of(view)}}
    for name, engine in tables.items():
        if not engine.records:
            raise CheckError(f"the {name} has no record, so there is nothing to attack")
    require_strangers(view)


def require_as_many(view: TableView) -> None:
    """Insist that the hold-out has at least as many records as the original.

    A part of the original would say of chance, but the release was made of all of it: anyone who attacks a part sees a
    part of what leaks, and a copy would pass.

    Raises:
        CheckError: it has fewer.
    """
    original, holdout = (view.companions[name].records for name in ("original", CONTROL))
    if holdout < original:
        raise CheckError(
            f"the hold-out has {count(holdout, 'record')} and the original has {original:,}; among fewer records "
            "chance does something else. Hold back as many as the release is made from: half of the data"
        )


def none_drawn(records: int, drawn: int) -> Floats:
    """The probability that a draw without replacement has none of a given records, for a from 0 to all.

    Shape (records + 1,). Where all are drawn it is 1 for a = 0, and 0 beyond.

    Example:
        >>> none_drawn(4, 2).round(3).tolist()
        [1.0, 0.5, 0.167, 0.0, 0.0]
        >>> none_drawn(2, 2).tolist()
        [1.0, 0.0, 0.0]
    """
    # Of `records` with a marked ones, a draw has none with probability C(records - a, drawn) / C(records, drawn). The
    # ratio for a + 1 over that for a is (records - drawn - a) / (records - a), so that one cumulative product gives
    # all.
    each = np.arange(records)
    return np.append(1.0, np.cumprod(np.maximum(records - drawn - each, 0) / (records - each)))


def one_drawn(groups: NDArray[np.int64], records: int, drawn: int) -> Floats:
    """The probability that a draw has exactly one of a group, for groups of so many records.

    Example:
        >>> one_drawn(np.array([0, 1, 2]), 2, 2).tolist()
        [0.0, 1.0, 0.0]
        >>> one_drawn(np.array([0, 1, 2]), 4, 2).round(3).tolist()
        [0.0, 0.5, 0.667]
    """
    others = none_drawn(records - 1, drawn - 1)[np.maximum(groups - 1, 0)]
    return np.asarray(groups * (drawn / records) * others)


@dataclass(frozen=True)
class Ranking:
    """Members and others by their score, the lowest first, equal scores together."""

    members: NDArray[np.int64]  # members with each distinct score. Shape (scores,).
    others: NDArray[np.int64]  # others with each

    @classmethod
    def of(cls, members: tuple[Floats, NDArray[np.int64]], others: tuple[Floats, NDArray[np.int64]]) -> Ranking:
        """Scores, possibly infinite, and how many have each.

        Example:
            >>> once = np.ones(2, dtype=np.int64)
            >>> Ranking.of((np.array([0.0, 1.0]), once), (np.array([1.0, np.inf]), once)).area
            Fraction(7, 8)
        """
        scores = np.concatenate([members[0], others[0]])
        order = np.argsort(scores, kind="stable")
        ordered = scores[order]
        with np.errstate(invalid="ignore"):  # infinite ones are equal
            steps = np.diff(ordered) > NEAR * np.maximum(1, np.minimum(np.abs(ordered[1:]), np.finfo(np.float64).max))
        group = np.empty(len(scores), np.intp)
        group[order] = np.append(0, np.cumsum(steps))
        groups = int(group.max()) + 1
        own, their = np.split(group, [len(members[0])])
        return cls(
            *(np.bincount(one, each, groups).astype(np.int64) for one, each in ((own, members[1]), (their, others[1])))
        )

    @property
    def area(self) -> Fraction:
        """The probability that a member has a lower score than another, ties counting 1/2: the area under the curve."""
        higher = int(self.others.sum()) - np.cumsum(self.others)
        halves = sum((self.members * (2 * higher + self.others)).tolist())
        return Fraction(halves, 2 * int(self.members.sum()) * int(self.others.sum()))

    def true_positives(self, false_positives: Fraction) -> Fraction:
        """The share of members that a threshold finds which finds so many of the others, on lines between thresholds.

        Example:
            >>> Ranking(np.array([1, 1]), np.array([0, 2])).true_positives(Fraction(1, 4))
            Fraction(5, 8)
        """
        detected, wrong = (np.append(0, np.cumsum(one)) for one in (self.members, self.others))
        allowed = false_positives * int(wrong[-1])
        last = int(np.searchsorted(wrong, int(allowed), side="right")) - 1  # the best of those that find no more
        share = Fraction(int(detected[last]), int(detected[-1]))
        if last + 1 == len(wrong):
            return share
        part = (allowed - int(wrong[last])) / int(wrong[last + 1] - wrong[last])
        return share + part * Fraction(int(detected[last + 1] - detected[last]), int(detected[-1]))
