"""Measures of an attribute under its scale: as numbers or ranks, by its hierarchy, or as plain values."""

from __future__ import annotations

from typing import Any

from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.hierarchy import Hierarchy
from tcdp_audit.core.information_loss.columns import PairedColumn
from tcdp_audit.core.information_loss.coverage import Coverage
from tcdp_audit.core.information_loss.hierarchical import Hierarchical, LeafPenalty
from tcdp_audit.core.information_loss.nominal import Nominal, SetPenalty
from tcdp_audit.core.information_loss.ordered import Ordered, RangePenalty
from tcdp_audit.core.information_loss.penalty import Penalty
from tcdp_audit.core.policy import AttributeDeclaration

_COVERAGES: dict[type[Penalty], type[Coverage[Any]]] = {
    RangePenalty: Ordered,
    SetPenalty: Nominal,
    LeafPenalty: Hierarchical,
}


def penalty_of(declaration: AttributeDeclaration, hierarchy: Hierarchy | None, domain: Domain) -> Penalty:
    """The certainty penalty of an attribute.

    Args:
        declaration: its role and scale.
        hierarchy: its generalisation hierarchy, where it has one.
        domain: the values that it has; what a generalised value leaves open is judged by them.
    """
    if declaration.is_ordered:
        return RangePenalty.of_attribute(declaration, domain)
    return SetPenalty.of_attribute(domain) if hierarchy is None else LeafPenalty(hierarchy)


def coverage_of(column: PairedColumn) -> Coverage[Any]:
    """A column of two releases, read under its scale."""
    penalty = penalty_of(column.declaration, column.hierarchy, column.before)
    return _COVERAGES[type(penalty)](column, penalty)
