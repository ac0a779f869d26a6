"""A column whose distinct values become other ones, whatever records have them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tcdp_audit.plugin.remedy import Attribute, NewColumn


def recoded(attribute: Attribute, labels: Sequence[str]) -> NewColumn:
    """A column of text. A missing value stays one.

    Args:
        attribute: as it is.
        labels: the cell that is released for each value of the domain.

    Cost: a sort of the domain.
    """
    distinct, position = np.unique(np.array(labels, dtype=object).astype(str), return_inverse=True)
    return NewColumn.of_texts(distinct.tolist(), np.append(position, len(distinct))[attribute.codes])


def changed(attribute: Attribute, labels: Sequence[str]) -> int:
    """The records whose cell becomes another one."""
    other = [before != after for before, after in zip(attribute.domain.labels, labels, strict=True)]
    return int(np.bincount(attribute.codes, minlength=len(other) + 1)[:-1][np.array(other, dtype=bool)].sum())
