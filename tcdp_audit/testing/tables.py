"""Generated releases: the records behind a case, with cells that would be recognised wherever they leaked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.policy import Scale
from tcdp_audit.testing.cases import Case, domain

CLASS_MARKER, VALUE_MARKER = "zqclass", "zqvalue"
QUASI_IDENTIFIER, SENSITIVE = "place", "answer"


def table_of(case: Case, scale: Scale, shuffle: int | None = None) -> pa.Table:
    """One record for each count of a case, in the order of a seed."""
    classes, values = np.nonzero(case.counts)
    records = case.counts[classes, values]
    places, answers = np.repeat(classes, records), np.repeat(values, records)
    if shuffle is not None:
        order = np.random.default_rng(shuffle).permutation(len(places))
        places, answers = places[order], answers[order]
    cells = np.array(_cells(case, scale))
    return pa.table({QUASI_IDENTIFIER: [f"{CLASS_MARKER}{one}" for one in places], SENSITIVE: cells[answers]})


def declarations(case: Case, scale: Scale) -> Mapping[str, Any]:
    """The attributes of a policy for such a table."""
    order = {"order": _cells(case, scale)} if scale is Scale.ORDINAL else {}
    return {
        QUASI_IDENTIFIER: {"role": "quasi_identifier"},
        SENSITIVE: {"role": "sensitive", "scale": scale.value, **order},
    }


def leaked(text: str, case: Case, scale: Scale) -> bool:
    """Whether a text shows a cell of such a table."""
    if CLASS_MARKER in text or VALUE_MARKER in text:
        return True
    return scale is Scale.NUMERIC and any(str(number) in text for number in _cells(case, scale) if abs(number) > 10**6)


def _cells(case: Case, scale: Scale) -> list[Any]:
    numbers = domain(case.counts.shape[1])
    return numbers.tolist() if scale is Scale.NUMERIC else [f"{VALUE_MARKER}{one:04}" for one in range(len(numbers))]
