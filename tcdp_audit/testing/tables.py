"""Generated releases: the records behind a case, with cells that would be recognised wherever they leaked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.plugin.detector import Scale
from tcdp_audit.testing.cases import VALUE_MARKER, Case, hierarchy_of

CLASS_MARKER = "zqclass"
QUASI_IDENTIFIER, SENSITIVE = "place", "answer"


def table_of(case: Case, scale: Scale, shuffle: int | None = None) -> pa.Table:
    """One record for each count of a case, in the order of a seed."""
    classes, values = np.nonzero(case.counts)
    records = case.counts[classes, values]
    places, answers = np.repeat(classes, records), np.repeat(values, records)
    if shuffle is not None:
        order = np.random.default_rng(shuffle).permutation(len(places))
        places, answers = places[order], answers[order]
    cells = np.array(case.cells(scale))
    return pa.table({QUASI_IDENTIFIER: [f"{CLASS_MARKER}{one}" for one in places], SENSITIVE: cells[answers]})


def declarations(case: Case, scale: Scale, *, hierarchy: bool) -> Mapping[str, Any]:
    """The attributes of a policy for such a table."""
    order = {"order": case.cells(scale)} if scale is Scale.ORDINAL else {}
    tree = {"hierarchy": hierarchy_of([str(cell) for cell in case.cells(scale)])} if hierarchy else {}
    return {
        QUASI_IDENTIFIER: {"role": "quasi_identifier"},
        SENSITIVE: {"role": "sensitive", "scale": scale.value, **order, **tree},
    }


def leaked(text: str, case: Case, scale: Scale) -> bool:
    """Whether a text shows a cell of such a table."""
    if CLASS_MARKER in text or VALUE_MARKER in text:
        return True
    return scale is Scale.NUMERIC and any(str(number) in text for number in case.cells(scale) if abs(number) > 10**6)
