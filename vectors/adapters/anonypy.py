"""AnonyPy: the conditions by which its Mondrian accepts a partition, asked of each class."""

from __future__ import annotations

from fractions import Fraction

from vectors.adapters import LacksError, Reply
from vectors.adapters.frames import frame, quasi, require_plain
from vectors.reading import Vector

PACKAGE = "anonypy"
THRESHOLDS = {"k_anonymity": "k", "distinct_l_diversity": "l", "t_closeness_equal": "t"}


def answer(vector: Vector) -> Reply:
    """Whether every class is accepted. Classes are those of pandas, with a missing value as a value."""
    from anonypy import anonymity  # noqa: PLC0415 - only its own environment has it

    if vector.measure not in THRESHOLDS:
        raise LacksError("no such measure")
    require_plain(vector)
    if THRESHOLDS[vector.measure] not in vector.parameters:
        raise LacksError("no figure, only whether a threshold is kept")
    threshold, table = Fraction(vector.parameters[THRESHOLDS[vector.measure]]), frame(vector)
    classes = [table.index[rows] for rows in table.groupby(quasi(vector), dropna=False).indices.values()]
    secret = vector.parameters.get("attribute", "")
    if vector.measure == "k_anonymity":
        kept = all(anonymity.is_k_anonymous(one, int(threshold)) for one in classes)
    elif vector.measure == "distinct_l_diversity":
        kept = all(anonymity.is_l_diverse(table, one, secret, int(threshold)) for one in classes)
    else:
        shares = anonymity.get_global_freq(table, secret)
        kept = all(anonymity.is_t_close(table, one, secret, shares, float(threshold)) for one in classes)
    return Reply(verdict="pass" if kept else "fail")
