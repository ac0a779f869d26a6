"""Cells as codes.

A column becomes a list of distinct values, its domain, and one code a record.

    keys          several columns of codes as one key a record
    numbers       numbers in text, read exactly
    generalised   cells that stand for several values: ranges, sets, wildcards
    hierarchy     trees of values, from the most specific to the root
    domain        the values of one attribute, in order
"""

from __future__ import annotations

from tcdp_audit.encoding.domain import Domain, Misfit, RawDomain, canonical

__all__ = ["Domain", "Misfit", "RawDomain", "canonical"]
