"""Texts that stand for a missing value, as people write them: a fixed list, of which those that occur are named."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tcdp_audit.drafting.column import ColumnFacts

CERTAIN = frozenset({"", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "."})
BESIDE_NUMBERS = frozenset({"-", "--", "None", "none", "missing", "Missing"})  # among words these may be values
KNOWN = CERTAIN | BESIDE_NUMBERS
STARTS = frozenset({"", *" \t\r\n\u00a0", *(one[:1] for one in KNOWN)})  # most of a million values end here
CAPITALS = re.compile("[A-Z]{2}")  # the codes of countries and states, among which NA is Namibia


def missing_tokens(columns: Iterable[ColumnFacts]) -> list[str]:
    """The texts of a table that stand for a missing value, the empty one first; blanks around them belong to them."""
    return sorted({""}.union(*(tokens_of(one) for one in columns)))


def tokens_of(column: ColumnFacts) -> set[str]:
    """Those of one column."""
    if column.raw is None or not column.raw.is_text:
        return set()
    found = {text for text in column.raw.values.tolist() if text[:1] in STARTS and text.strip() in KNOWN}
    others = [one for one in column.sample if one not in found]
    if not others:
        return found & {""}
    numbers = all(re.match(r"[+-]?[\d.<>=\[(]", one) for one in others)
    codes = sum(CAPITALS.fullmatch(one) is not None for one in others) * 2 >= len(others)
    return {one for one in found if _is_token(one.strip(), numbers=numbers, codes=codes)}


def _is_token(word: str, *, numbers: bool, codes: bool) -> bool:
    if word == "NA" and codes:
        return False
    return word in CERTAIN or numbers
