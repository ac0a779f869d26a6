"""A table under a policy.

release        its columns with their roles, and the domains of their values
coded          any table in the domains of the release: the original, the population
covers         what generalised cells of the release stand for among the values of the original
pairs          original records paired with released ones
sampled        the same sample of two tables
pairing        all pairs of two tables, or those of a sample
distinct       tables larger than the memory as their distinct rows, whole or part by part
hierarchies    those that the policy declares, with every fault at its line
common_parts   what several labels of an attribute have in common
unit_readings  what an intruder reads in the rows of one unit
structure      what is wrong with the table as such, whatever the demands
hidden         cells that count as missing although they tell people apart
columns        what policy and table say of each column, for a result
"""

from __future__ import annotations

from tcdp_audit.core.release.release import Release

__all__ = ["Release"]
