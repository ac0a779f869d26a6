"""Known lists of codes and names: countries (ISO 3166-1), and the parts of one country (ISO 3166-2).

A column is on a list if all of its values are, and random texts of their form would be with a chance below one in a
million. The lists are those of pycountry, which the extra `codes` installs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import log

from tcdp_audit.drafting.column import ColumnFacts

CODE, NAME = re.compile("[A-Z]{2,3}"), re.compile(r"[^\W\d_][^\d_]{2,60}")
MOST, FEWEST = 600, 3  # different values of a column that is compared
CHANCE = log(1e-6)
LETTERS = 26
NAMES_OF_A_WORD = 1e-3  # share of random words that are names of a list, at most
INSTALL = 'pip install "tcdp-audit[codes]"'


@dataclass(frozen=True)
class CodeList:
    """A list: what its entries are, and all of them without capitals and accents."""

    noun: str  # in the plural
    entries: frozenset[str]
    are_codes: bool

    def chance(self, values: frozenset[str]) -> float:
        """The logarithm of the chance that random texts of this form are all on the list."""
        if not self.are_codes:
            return len(values) * log(NAMES_OF_A_WORD)
        length = len(next(iter(values)))
        size = sum(len(one) == length for one in self.entries)
        return len(values) * log(max(size, 1) / LETTERS**length)


def list_of(column: ColumnFacts) -> str:
    """A clause on what a column holds, if all of its values are on a list; nothing if they are on none.

    Cost: O(values) for each list.
    """
    values = _values(column)
    if values is None or find_spec("pycountry") is None:
        return ""
    are_codes = all(CODE.fullmatch(one) for one in values)
    plain = frozenset(one if are_codes else _plain(one) for one in values)
    matches = [one for one in _lists() if one.are_codes == are_codes and plain <= one.entries]
    best = min(matches, key=lambda one: one.chance(plain), default=None)
    if best is None or best.chance(plain) > CHANCE:
        return ""
    return f"all of its values are {best.noun}"


def hint_of(column: ColumnFacts) -> str:
    """A hint to the library, as a clause, if a column may be on a list and the library is not installed."""
    values = _values(column)
    if values is None or not all(CODE.fullmatch(one) for one in values) or find_spec("pycountry") is not None:
        return ""
    return f"{INSTALL} compares such codes with those of countries and their parts"


def _values(column: ColumnFacts) -> frozenset[str] | None:
    """The values of a column that may be on a list; None for another column."""
    if column.raw is None or not column.raw.is_text or not FEWEST <= column.distinct <= MOST:
        return None
    values = frozenset(one.strip() for one in column.texts)
    is_uniform = all(CODE.fullmatch(one) for one in values) and len({len(one) for one in values}) == 1
    return values if is_uniform or all(NAME.fullmatch(one) for one in values) else None


def _plain(text: str) -> str:
    """A name without capitals, accents and signs."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(re.findall(r"[^\W_]+", "".join(one for one in letters if not unicodedata.combining(one))))


@cache
def _lists() -> tuple[CodeList, ...]:
    """The lists of the library."""
    return tuple(_read())


def _read() -> Iterator[CodeList]:
    import pycountry  # noqa: PLC0415 - of an extra

    countries = [*pycountry.countries]
    fields = ("name", "common_name", "official_name")
    names = frozenset(_plain(getattr(one, field)) for one in countries for field in fields if hasattr(one, field))
    codes = frozenset({*(one.alpha_2 for one in countries), *(one.alpha_3 for one in countries)})
    yield CodeList("codes of countries (ISO 3166-1)", codes, are_codes=True)
    yield CodeList("names of countries", names, are_codes=False)
    parts: Mapping[str, list[tuple[str, str]]] = {one.alpha_2: [] for one in countries}
    for one in pycountry.subdivisions:
        parts[one.country_code].append((one.code.partition("-")[2], _plain(one.name)))
    for country in countries:
        own = parts[country.alpha_2]
        yield CodeList(
            f"codes of parts of {country.name} (ISO 3166-2)", frozenset(one for one, _ in own), are_codes=True
        )
        yield CodeList(f"names of parts of {country.name}", frozenset(one for _, one in own), are_codes=False)
