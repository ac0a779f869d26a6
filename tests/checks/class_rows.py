"""Evidence from rows of counts, figures as fractions, and how tables of the tests come about."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from tcdp_audit import Outcome, measure
from tcdp_audit.core.check.evidence import ClassEvidence, ReferenceDistribution
from tcdp_audit.core.check.threshold import Measured, Ratios, as_measured
from tcdp_audit.core.classes.histogram import Histogram
from tcdp_audit.core.encoding.hierarchy import Tree

Rows = Sequence[Sequence[int]]

tables = st.integers(1, 6).flatmap(
    lambda values: st.lists(
        st.lists(st.integers(0, 6), min_size=values, max_size=values).filter(any), min_size=1, max_size=6
    )
)


def evidence(
    rows: Rows,
    weights: Sequence[int] | None = None,
    values: Sequence[float] | None = None,
    labels: Sequence[str] = (),
    tree: Sequence[Sequence[int]] | None = None,
) -> ClassEvidence:
    """Classes by values; the reference is the sum of the rows unless weights are given."""
    table = np.array(rows, dtype=np.int64)
    classes, codes = np.nonzero(table)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(classes, minlength=len(table)))])
    return ClassEvidence(
        size=table.sum(axis=1),
        histogram=Histogram(offsets, codes.astype(np.int64), table[classes, codes]),
        marginal=ReferenceDistribution(table.sum(axis=0) if weights is None else np.array(weights, dtype=np.int64)),
        values=None if values is None else np.array(values),
        labels=labels,
        tree=None if tree is None else Tree(np.array(tree, dtype=np.int64)),
    )


def totals(rows: Rows) -> list[int]:
    """The counts of the table."""
    return [sum(column) for column in zip(*rows, strict=True)]


def exact(measured: Measured | Any) -> list[Fraction | float]:
    """Every figure as a fraction, or infinity."""
    result = as_measured(measured)
    assert isinstance(result, Ratios)
    pairs = zip(result.numerator.tolist(), result.denominator.tolist(), strict=True)
    return [Fraction(above, below) if below else inf for above, below in pairs]


def random_rows(seed: int, least: int = 0) -> list[list[int]]:
    """A table of up to seven classes and values, the same for the same seed; no class is empty."""
    random = np.random.default_rng(seed)
    table = random.integers(least, 9, (random.integers(1, 8), random.integers(1, 8)))
    table[:, random.integers(table.shape[1])] += 1
    return table.tolist()


def frame(rows: Rows, labels: Sequence[Any] | None = None) -> pa.Table:
    """One record for each count: column `place` is the class, column `answer` the value."""
    names = labels if labels is not None else [f"v{code}" for code in range(len(rows[0]))]
    cells = [
        (f"c{number}", names[code]) for number, row in enumerate(rows) for code, c in enumerate(row) for _ in range(c)
    ]
    return pa.table({"place": [place for place, _ in cells], "answer": [answer for _, answer in cells]})


def outcome(check: str, rows: Rows, **parameters: object) -> Outcome:
    """What an audit says of these counts of nominal values."""
    return measure(check, frame(rows), quasi_identifiers=["place"], attribute="answer", scale="nominal", **parameters)


GAPS = pa.table({"place": ["a", "a", "b", "b", "c"], "answer": ["x", None, "x", "y", None]})


def with_gaps(check: str, **parameters: object) -> Outcome:
    """What an audit says of classes that lack values: of two records one, of two none, and the only one."""
    return measure(check, GAPS, quasi_identifiers=["place"], attribute="answer", **parameters)
