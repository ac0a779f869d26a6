"""The sensitive values of the worst class beside the reference, as the details of an outcome have them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tcdp_audit.core.check.evidence import ReferenceDistribution
from tcdp_audit.core.check.summary import PAIR, Pairs, least_first
from tcdp_audit.core.encoding.domain import Domain

MOST = 6  # values, those whose shares differ most
DIGITS = 2  # of a share: an exact one could tell which value it is


def worst_values(
    pairs: Pairs, marginal: ReferenceDistribution, attribute: Domain, *, named: bool
) -> list[dict[str, Any]]:
    """The share of a value in the class and in the reference, for the values whose shares differ most.

    Args:
        pairs: code and count of each value in the class.
        marginal: the reference.
        attribute: whose values they are.
        named: whether values are named by their cells, and not only numbered.

    Cost: O(domain).
    """
    if not pairs or not marginal.total:
        return []
    codes, counts = np.frombuffer(pairs, dtype=PAIR).astype(np.int64).T
    in_class = np.zeros(marginal.size)
    in_class[codes] = counts / counts.sum()
    in_reference = marginal.weights / marginal.total
    differences = np.abs(in_class - in_reference)
    order = np.concatenate([*least_first(-differences, MOST)])[:MOST]
    return [
        {
            "value": attribute.label(code) if named else f"value {number}",
            "in_group": round(float(in_class[code]), DIGITS),
            "in_reference": round(float(in_reference[code]), DIGITS),
        }
        for number, code in enumerate((one for one in order.tolist() if in_class[one] or in_reference[one]), 1)
    ]
