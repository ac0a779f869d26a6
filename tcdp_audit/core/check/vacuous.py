"""Demands that no release could fail, read from the policy alone, before there is any data.

A check is asked what nothing can fail in releases that are as bad as releases get: every record in a class of its own,
values that nobody else has beside values that nearly all have. What it says of every one of them is said of the demand.
A check that needs the attribute's own values, numbers or hierarchy for its answer is not asked further.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from tcdp_audit.core.check.evidence import ClassEvidence, ReferenceDistribution
from tcdp_audit.core.check.on_classes import CheckOnClasses
from tcdp_audit.core.check.parameters import Parameters
from tcdp_audit.core.check.specification import Specification
from tcdp_audit.core.check.table_check import TableCheck, TableFigure
from tcdp_audit.core.check.unfailable import SingletonClasses, classes_of_one

MANY = 10**12  # records, so that a share of one of them is next to nothing
VALUES = 1000


def vacuous(check: Specification[Any], parameters: Parameters) -> tuple[str, ...]:
    """The parameters whose demand every release keeps. Where that cannot be told without data, nothing."""
    try:
        return check.by_kind(lambda one: _of_classes(one, parameters), lambda one: _of_table(one, parameters))
    except Exception:  # noqa: BLE001 - it asks for what only a release has, or is somebody's who raises
        return ()


def _of_classes(check: CheckOnClasses[Any], parameters: Parameters) -> tuple[str, ...]:
    said = [check.unfailable(one, parameters) for one in _releases(on_attribute=check.on_attribute)]
    return tuple(name for name in said[0] if all(name in others for others in said))


def _of_table(check: TableCheck[Any], parameters: Parameters) -> tuple[str, ...]:
    return check.unfailable(TableFigure(0, records=MANY), parameters)


def _releases(*, on_attribute: bool) -> Iterator[SingletonClasses]:
    """Releases of many records, each in a class of its own, with a rare value, with equal ones, with many."""
    if not on_attribute:
        one = np.ones(1, dtype=np.int64)
        yield SingletonClasses(ClassEvidence(size=one, records=MANY), one * MANY)
        return
    for counts in ([1, MANY], [MANY, 1], [1, MANY, 1], [MANY, MANY], [MANY // VALUES] * VALUES):
        weights = np.array(counts, dtype=np.int64)
        classes = ClassEvidence(
            size=np.ones(len(weights), dtype=np.int64),
            histogram=classes_of_one(np.arange(len(weights))),
            marginal=ReferenceDistribution(weights),
            labels=_Unknown(),
            records=int(weights.sum()),
        )
        yield SingletonClasses(classes, weights)


class _Unknown(Sequence[str]):
    """The values of an attribute before there is any data: anyone who asks for one has to wait for a release."""

    @overload
    def __getitem__(self, position: int) -> str: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[str]: ...

    def __getitem__(self, position: int | slice) -> str | Sequence[str]:
        raise LookupError("the values are not known without a release")

    def __len__(self) -> int:
        raise LookupError("the values are not known without a release")
