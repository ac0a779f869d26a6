"""Whole columns of one or more tables as codes over common domains, for checks that need records and not classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tcdp_audit.arrays import Floats, frozen_array
from tcdp_audit.encoding.domain import Domain
from tcdp_audit.encoding.keys import Codes
from tcdp_audit.encoding.reading import domain_of
from tcdp_audit.encoding.union import union
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
    own = [[_domain(engine, name, declarations, conventions) for engine in engines] for name in attributes]
    try:
        common = [union(domains) for domains in own]
    except DataError as error:
        raise CheckError(str(error)) from None
    return [_coded(engine, domains) for engine, domains in zip(engines, zip(*common, strict=True), strict=True)]


def _coded(engine: Engine, domains: Sequence[Domain]) -> CodedTable:
    named = {one.attribute: one for one in domains}
    return CodedTable(engine.name, FrozenDict(named), FrozenDict(_columns(engine, domains)))


def _domain(
    engine: Engine, name: str, declarations: Mapping[str, AttributeDeclaration], conventions: Conventions
) -> Domain:
    if name not in {column.name for column in engine.columns}:
        raise CheckError(f"column {name!r} is not in {engine.name}")
    declaration = declarations.get(name, AttributeDeclaration(role=Role.INSENSITIVE))
    try:
        domain, misfit = domain_of(name, engine.domain(name), declaration, conventions)
    except DataError as error:
        raise CheckError(str(error)) from None
    if misfit is not None:
        raise CheckError(f"column {name!r} of {engine.name} holds {misfit.reason}")
    return domain


def _columns(engine: Engine, domains: Sequence[Domain]) -> dict[str, Codes]:
    batches = list(engine.batches(domains))
    return {
        domain.attribute: frozen_array(
            np.concatenate([np.zeros(0, domain.dtype), *(batch[domain.attribute] for batch in batches)])
        )
        for domain in domains
    }
