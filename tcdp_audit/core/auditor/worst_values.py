"""The values of the worst class and of the reference, whose names are hidden: a number is one value in all outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_audit.core.base.outcome import WORST_GROUP, Outcome
from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit.core.check.summary import PAIR, Pairs, least_first
from tcdp_audit.core.encoding.domain import Domain

if TYPE_CHECKING:
    from typing import Self

MOST = 6  # limit of the values shown, those whose shares differ most
DIGITS = 2  # decimal places of a share; an exact one could reveal the value
LEAST_MEMBERS = 10  # of a class whose shares are given without being asked for: those of fewer are close to cells


class HiddenValue(str):
    """A number in the place of a value. It has the value itself until all outcomes have their numbers."""

    label: str

    __slots__ = ("label",)

    def __new__(cls, text: str, label: str = "") -> Self:
        """The number as text, and the value."""
        one = super().__new__(cls, text)
        one.label = label
        return one


def worst_values(
    pairs: Pairs, marginal: ReferenceDistribution, attribute: Domain, *, named: bool
) -> list[dict[str, Any]]:
    """The shares in the class and in the reference of the values whose shares differ most; none of a small class.

    Args:
        pairs: code and count of each value in the class.
        marginal: the reference.
        attribute: the domain of the values.
        named: whether values are named by their cells, and not only numbered.

    Cost: O(domain).
    """
    if not pairs or not marginal.total:
        return []
    codes, counts = np.frombuffer(pairs, dtype=PAIR).astype(np.int64).T
    if not named and counts.sum() < LEAST_MEMBERS:
        return []
    in_class = np.zeros(marginal.size)
    in_class[codes] = counts / counts.sum()
    in_reference = marginal.weights / marginal.total
    differences = np.abs(in_class - in_reference)
    order = np.concatenate([*least_first(-differences, MOST)])[:MOST]
    return [
        {
            "value": attribute.label(code) if named else HiddenValue(f"value {number}", attribute.label(code)),
            "in_group": round(float(in_class[code]), DIGITS),
            "in_reference": round(float(in_reference[code]), DIGITS),
        }
        for number, code in enumerate((one for one in order.tolist() if in_class[one] or in_reference[one]), 1)
    ]


def number_values(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes in which a value of an attribute has the same number everywhere, in the order of their occurrence.

    An order of the domain, or by how often values occur, would say more of a value than that it is the same one.
    Cost: linear in the outcomes.
    """
    numbers: dict[tuple[str | None, str | None], dict[str, int]] = {}
    return [_numbered(one, numbers.setdefault((one.table, one.attribute), {})) for one in outcomes]


def _numbered(outcome: Outcome, numbers: dict[str, int]) -> Outcome:
    shown: Sequence[Any] = outcome.details.get(WORST_GROUP, ())
    if not any(isinstance(one["value"], HiddenValue) for one in shown):
        return outcome
    named = [{**one, "value": f"value {numbers.setdefault(one['value'].label, len(numbers) + 1)}"} for one in shown]
    return replace(outcome, details={**outcome.details, WORST_GROUP: named})
