"""Cells as codes.

A column becomes a list of distinct values, its domain, and one code a record.

    counting      integers counted, numbered and put into order
    keys          several columns of codes as one key a row
    packed        several columns of codes as one narrow column
    counted       rows of codes, each with how many records it stands for
    text_bytes    many texts at a time: sorted, told apart
    numbers       numbers in text, read exactly
    generalised   cells that stand for several values: ranges, sets, wildcards
    hierarchy     trees of values, from the most specific to the root
    domain        the values of one attribute, in order
    reading       a column's raw values as a domain, under its declaration
    union         domains of several tables over the values of all
"""

from __future__ import annotations

from tcdp_audit.core.encoding.domain import Domain, Misfit, RawDomain
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.encoding.union import union

__all__ = ["Domain", "Misfit", "RawDomain", "domain_of", "union"]
