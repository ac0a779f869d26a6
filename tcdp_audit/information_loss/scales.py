"""Measures of an attribute under its scale: as numbers or ranks, by its hierarchy, or as plain values."""

from __future__ import annotations

from tcdp_audit.encoding.domain import Domain
from tcdp_audit.encoding.hierarchy import Hierarchy
from tcdp_audit.information_loss.columns import PairedColumn, is_ordered
from tcdp_audit.information_loss.coverage import Coverage
from tcdp_audit.information_loss.hierarchical import Hierarchical, LeafPenalty
from tcdp_audit.information_loss.nominal import Nominal, SetPenalty
from tcdp_audit.information_loss.ordered import Ordered, RangePenalty
from tcdp_audit.information_loss.penalty import Penalty
from tcdp_audit.policy import AttributeDeclaration


def penalty_of(declaration: AttributeDeclaration, hierarchy: Hierarchy | None, domain: Domain) -> Penalty:
    """The certainty penalty of an attribute.

    Args:
        declaration: its role and scale.
        hierarchy: its generalisation hierarchy, where it has one.
        domain: the values that it has; what a generalised value leaves open is judged by them.
    """
    if is_ordered(declaration):
        return RangePenalty.of_attribute(declaration, domain)
    return SetPenalty.of_attribute(domain) if hierarchy is None else LeafPenalty(hierarchy)


def coverage_of(column: PairedColumn) -> Coverage:
    """A column of two releases, read under its scale."""
    if is_ordered(column.declaration):
        return Ordered(column)
    return Nominal(column) if column.hierarchy is None else Hierarchical(column)
