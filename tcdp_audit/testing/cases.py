"""Generated evidence: classes of every shape that a release can have, always the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.api import CheckOnClasses, SingletonClasses, load_hierarchy
from tcdp_audit.plugin.check import ClassEvidence, Histogram, Parameters, ReferenceDistribution
from tcdp_audit.plugin.detector import Scale
from tcdp_audit.plugin.engine import Tree

Counts = NDArray[np.int64]
SEED = 20_240_229
VALUE_MARKER = "zqvalue"
BEYOND_32_BITS = 2**31  # sums of a few such counts leave 32 bits, products of two leave 62
CLASS_MARKER = "zqclass"
QUASI_IDENTIFIER, SENSITIVE = "place", "answer"


@dataclass(frozen=True)
class Case:
    """Classes by values: how often each class has each value.

    Args:
        name: what a message calls it.
        counts: int64, shape (classes, values).
        missing: records without a value in each class.
        unseen: whether the reference weighs values that no class has.
        audited: whether it is written out as a release and audited as well.
    """

    name: str
    counts: Counts
    missing: int = 0
    unseen: bool = False
    audited: bool = False

    def of(
        self, classes: Sequence[int], check: CheckOnClasses[Any], parameters: Parameters, scale: Scale
    ) -> ClassEvidence:
        """Fresh evidence of some classes in the order given; the reference stays that of the whole table."""
        return self.grouped(self.counts[list(classes)], check, parameters, scale)

    def finest(self, check: CheckOnClasses[Any], parameters: Parameters, scale: Scale) -> SingletonClasses:
        """Its records, each in a class of its own."""
        records = self.counts.sum(axis=0)
        if not check.on_attribute:
            alone = ClassEvidence(size=np.ones(1, dtype=np.int64), records=int(records.sum()))
            return SingletonClasses(alone, records.sum(keepdims=True))
        table = np.eye(len(records), dtype=np.int64)[records > 0]
        return SingletonClasses(self.grouped(table, check, parameters, scale), records[records > 0])

    def grouped(self, table: Counts, check: CheckOnClasses[Any], parameters: Parameters, scale: Scale) -> ClassEvidence:
        """Fresh evidence of any classes of its records; the reference stays that of the whole table."""
        size = table.sum(axis=1) + self.missing
        records = int(self.counts.sum()) + self.missing * len(self.counts)
        if not check.on_attribute:
            return ClassEvidence(size=size, records=records)
        labels = [str(cell) for cell in self.cells(scale)]
        return ClassEvidence(
            size=size,
            histogram=_compressed(table),
            marginal=ReferenceDistribution(self.counts.sum(axis=0) + int(self.unseen)),
            values=np.array(self.cells(scale)) if scale is Scale.NUMERIC else None,
            labels=labels,
            tree=_tree(labels) if check.needs_hierarchy(parameters) else None,
            records=records,
        )

    def cells(self, scale: Scale) -> list[Any]:
        """The domain of the sensitive attribute in ascending order; its cells are easily recognised."""
        number = np.arange(self.counts.shape[1])
        if scale is Scale.NUMERIC:  # uneven gaps, some of them negative
            return list(map(int, 7_340_033 * (number - len(number) // 3) + 4_919 * number**2))
        return [f"{VALUE_MARKER}{one:04}" for one in number]


def hierarchy_of(labels: Sequence[str]) -> dict[str, Any]:
    """A hierarchy of height 2 over some labels, three to a node."""
    nodes = {f"node {start // 3}": list(labels[start : start + 3]) for start in range(0, len(labels), 3)}
    return {"*": nodes}


def _tree(labels: Sequence[str]) -> Tree:
    return load_hierarchy(hierarchy_of(labels), None).over(labels)


def cases() -> Iterator[Case]:
    """Every shape that checks are tried on."""
    random = np.random.default_rng(SEED)
    yield Case("one class with one value", _table([[4]]))
    yield Case("one class with many values", _table([[3, 1, 4, 1, 5, 9, 2, 6]]), audited=True)
    yield Case("one record", _table([[1]]))
    yield Case("classes of one record each", np.eye(7, dtype=np.int64)[random.permutation(7)], audited=True)
    yield Case("many classes with the same single value", _table([[2], [5], [1], [40]]))
    yield Case("equal classes", _table([[2, 1, 1]] * 6))
    yield Case("classes with every value", random.integers(1, 9, (12, 5)), audited=True)
    yield Case("sparse classes", _filled(random.poisson(0.4, (60, 9))), audited=True)
    yield Case("skewed values", _filled(random.poisson(6 / np.arange(1, 41) ** 1.5, (50, 40))))
    yield Case("many values", _filled(random.poisson(0.02, (30, 700))))
    yield Case("records without a value", _filled(random.poisson(0.8, (20, 6))), missing=2)
    yield Case("reference with values that no class has", _filled(random.poisson(0.8, (20, 6))), unseen=True)
    yield Case("counts near 2^31", BEYOND_32_BITS + random.integers(-1, 2, (8, 3)))
    yield Case("a small class next to counts near 2^31", _table([[1, 0], [BEYOND_32_BITS - 1, BEYOND_32_BITS]]))


def _table(rows: Sequence[Sequence[int]]) -> Counts:
    return np.array(rows, dtype=np.int64)


def _filled(counts: NDArray[np.int64]) -> Counts:
    """Every class and every value occurs at least once."""
    table = counts.astype(np.int64)
    classes, values = table.shape
    for position in range(max(classes, values)):
        table[position % classes, position % values] += 1
    return table


def _compressed(table: Counts) -> Histogram:
    rows, values = np.nonzero(table)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(table)))])
    return Histogram(offsets.astype(np.int64), values.astype(np.int64), table[rows, values])


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
    """True if a text shows a cell of such a table."""
    if CLASS_MARKER in text or VALUE_MARKER in text:
        return True
    return scale is Scale.NUMERIC and any(str(number) in text for number in case.cells(scale) if abs(number) > 10**6)
