"""The distinct rows of a release: records that agree in all quasi-identifiers never part, so each is worked on once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tcdp_audit.plugin.engine import CountedCodes
from tcdp_audit.plugin.remedy import Attribute, RemedyView
from tcdp_audit_plugins.remedies.mondrian.place_runs import Integers


@dataclass(frozen=True)
class DistinctRows:
    """The records of a release, those that agree in all quasi-identifiers as one row.

    Args:
        of_record: the row of each record. Shape (records,).
        counted: the codes of the quasi-identifiers in each row, and how many records it stands for.
        attributes: the quasi-identifiers, whose codes are those of the rows.
    """

    of_record: Integers
    counted: CountedCodes
    attributes: Sequence[Attribute]

    @classmethod
    def of(cls, view: RemedyView) -> DistinctRows:
        """Those of a release. Cost: that of `RemedyView.classes`."""
        every = view.quasi_identifiers
        row, rows = view.classes(every)
        some_record = np.zeros(rows, dtype=np.intp)
        some_record[row] = np.arange(len(row))
        codes = {one.name: one.codes[some_record] for one in every}
        counted = CountedCodes(codes, np.bincount(row, minlength=rows))
        return cls(row, counted, [replace(one, codes=codes[one.name]) for one in every])
