"""Equivalence classes: the records that agree on every quasi-identifier.

segments        arrays cut into stretches: starts, ranks, firsts
histogram       how often each value of a confidential attribute occurs in each class
visits          entities that count once per class and value
joint           several confidential attributes as one
wildcard_rows, wildcard   cells that match several values, so that classes overlap
grouping        records as classes
column_risk     what each column that an intruder may know adds to the risk
strength        how well sets of columns tell records apart
exempt          records that are suppressed throughout
shards          classes in parts that fit into memory
"""

from __future__ import annotations

from tcdp_audit.core.classes.grouping import Grouping, MatchedClasses, Shard

__all__ = ["Grouping", "MatchedClasses", "Shard"]
