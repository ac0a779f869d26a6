"""Whole columns of one or more tables as codes over common domains, for checks that need records and not classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.arrays import Floats, frozen_array
from tcdp_audit.encoding.domain import Domain, by_cover, canonical, incomparable
from tcdp_audit.encoding.generalised import Interval
from tcdp_audit.encoding.keys import Codes
from tcdp_audit.engines.base import Engine
from tcdp_audit.errors import CheckError, DataError
from tcdp_audit.frozen import FrozenDict
from tcdp_audit.policy import AttributeDeclaration, Conventions, Role


@dataclass(frozen=True)
class CodedTable:
    """Some columns of a table, in the table's order.

    Args:
        name: what messages call the table.
        domains: the domain of each column; the same object's values for every table that was coded together.
        codes: the code of each record, for each column.
    """

    name: str
    domains: Mapping[str, Domain]
    codes: Mapping[str, Codes]

    @property
    def records(self) -> int:
        """How many records it has."""
        return len(next(iter(self.codes.values())))

    def numbers(self, attribute: str) -> Floats:
        """A numeric column as float64, NaN where the value is missing.

        Raises:
            CheckError: the column is not numeric.
        """
        domain = self.domains[attribute]
        if domain.values.dtype == object:
            raise CheckError(f"column {attribute!r} is not numeric; declare `scale: numeric` if it is")
        return np.append(domain.values.astype(np.float64), np.nan)[self.codes[attribute]]


def code_together(
    engines: Sequence[Engine],
    attributes: Sequence[str],
    declarations: Mapping[str, AttributeDeclaration],
    conventions: Conventions,
) -> list[CodedTable]:
    """Columns of several tables, coded over the union of their values so that equal codes are equal values.

    Raises:
        CheckError: a table lacks a column, or holds values that do not fit its declared scale.

    Cost: one scan of each table; memory for one code per record and column.
    """
    found = [{name: _domain(engine, name, declarations, conventions) for name in attributes} for engine in engines]
    common = {name: _union(name, [domains[name] for domains in found]) for name in attributes}
    tables = []
    for engine, domains in zip(engines, found, strict=True):
        coded = {name: domain.onto(*common[name]) for name, domain in domains.items()}
        tables.append(CodedTable(engine.name, FrozenDict(coded), FrozenDict(_columns(engine, list(coded.values())))))
    return tables


def _domain(
    engine: Engine, name: str, declarations: Mapping[str, AttributeDeclaration], conventions: Conventions
) -> Domain:
    if name not in {column.name for column in engine.columns}:
        raise CheckError(f"column {name!r} is not in {engine.name}")
    declaration = declarations.get(name, AttributeDeclaration(role=Role.INSENSITIVE))
    try:
        domain, misfit = canonical(name, engine.domain(name), declaration, conventions)
    except DataError as error:
        raise CheckError(str(error)) from None
    if misfit is not None:
        raise CheckError(f"column {name!r} of {engine.name} holds {misfit.reason}")
    return domain


def _union(name: str, domains: Sequence[Domain]) -> tuple[NDArray[Any], tuple[Interval, ...] | None]:
    """All values in the order that each domain has them, and what they cover; ordinal domains are equal already."""
    _require_comparable(name, domains)
    values = [domain.values for domain in domains]
    first = values[0]
    if all(len(other) == len(first) and bool(np.all(other == first)) for other in values[1:]):
        return first, domains[0].covers
    if any(domain.covers is not None for domain in domains):
        return _union_of_ranges(domains)
    if first.dtype == object:
        return np.array([*sorted(set().union(*(one.tolist() for one in values))), None], dtype=object)[:-1], None
    return np.unique(np.concatenate(values)), None


def _union_of_ranges(domains: Sequence[Domain]) -> tuple[NDArray[Any], tuple[Interval, ...]]:
    """Generalised values of several tables; one that is not generalised covers itself by its rank or its number."""
    known = {label: cover for one in domains for label, cover in zip(one.labels, one.covers or (), strict=False)}
    plain = [one for one in domains if one.covers is None]
    known |= {label: Interval(code, code) for one in plain for code, label in enumerate(one.labels)}
    ordered = sorted(known, key=lambda label: by_cover(label, known[label]))
    return np.array([*ordered, None], dtype=object)[:-1], tuple(known[label] for label in ordered)


def _require_comparable(name: str, domains: Sequence[Domain]) -> None:
    """Refuse numbers beside ranges, and numbers that would be rounded to those of another table."""
    if len({one.values.dtype == object for one in domains if one.size}) > 1:
        raise CheckError(
            f"column {name!r} is generalised in one table and holds numbers in another, so they cannot be compared"
        )
    reason = incomparable(domains)
    if reason:
        raise CheckError(f"column {name!r} {reason}")


def _columns(engine: Engine, domains: Sequence[Domain]) -> dict[str, Codes]:
    batches = list(engine.batches(domains))
    return {
        domain.attribute: frozen_array(
            np.concatenate([np.zeros(0, domain.dtype), *(batch[domain.attribute] for batch in batches)])
        )
        for domain in domains
    }
