"""People whom conventions hide: written cells that count as missing, and columns that mostly match anything.

An intruder reads the text in the file. If different texts count as one, or a text matches every value, the measured
classes are larger than those that the intruder sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain, RawDomain, texts_of
from tcdp_audit.core.encoding.keys import Integers
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Role
from tcdp_audit.core.release.release import Release

MOSTLY = Fraction(1, 2)  # share of the records
SHORT = 2  # greatest number of letters of a code, such as that of a state
OTHER = re.compile(r"[\W_]+")
ABSENT = re.compile(  # words for a missing value, reduced to letters
    "na|nan|nil|none|null|nv|nd|dk|ka|x|missing|unknown|unspecified|refused|dontknow|suppressed|redacted|masked|"
    "withheld|not(available|applicable|stated|reported|known)|unbekannt|keineangabe|fehlend|unterdrückt|inconnu|"
    "nonréponse|nonrenseigné|manquant|desconocido|sinrespuesta|perdido|onbekend|ontbreekt|sconosciuto|mancante"
)


@dataclass(frozen=True)
class HiddenCells:
    """Cells of a column that count as missing, and should not.

    Args:
        column: its name.
        cells: the number of records with such a cell.
        matches_anything: whether they match every value of the column, as under `wildcard`.
    """

    column: str
    cells: int
    matches_anything: bool


def mostly_wildcards(release: Release) -> Sequence[Domain]:
    """The quasi-identifiers of which most cells match every value, under `missing_quasi_identifier: wildcard`."""
    if release.policy.conventions.missing_quasi_identifier != "wildcard":
        return ()
    return [one for one in release.quasi_identifiers if one.missing > MOSTLY * release.engine.records]


def hidden_cells(release: Release) -> Iterator[HiddenCells]:
    """The columns whose cells count as missing although they distinguish people. Cost: O(distinct values).

    A quasi-identifier is included if most of its cells match every value. Any column is included if a token that is
    written like a value is read as missing and thereby changes what an intruder sees: it matches every value, joins
    differently written cells, or leaves a sensitive value out. It is also included if tokens of any form do so in most
    of its cells.
    """
    mostly = {one.attribute: one for one in mostly_wildcards(release)}
    for domain in (*release.quasi_identifiers, *release.sensitive):
        if domain.attribute in mostly:
            yield HiddenCells(domain.attribute, domain.missing, matches_anything=True)
            continue
        cells = _read_as_missing(release, domain)
        if cells:
            wildcard = release.policy.conventions.missing_quasi_identifier == "wildcard"
            yield HiddenCells(domain.attribute, cells, wildcard and _is_known(release, domain))


def suppressed_values(release: Release) -> list[str]:
    """The columns in which a token for a suppressed cell is written like a value. Cost: O(distinct values)."""
    domains = (*release.quasi_identifiers, *release.sensitive)
    return [one.attribute for one in domains if _has_value(release, one, [one.label(code) for code in one.suppressed])]


def _is_known(release: Release, domain: Domain) -> bool:
    return release.policy.attributes[domain.attribute].role is Role.QUASI_IDENTIFIER


def _read_as_missing(release: Release, domain: Domain) -> int:
    """The number of written cells of a column that tokens make missing, if that changes what an intruder sees."""
    conventions = release.policy.conventions
    tokens = [one for one in conventions.missing_tokens if one.strip()]
    if not tokens:
        return 0
    raw = release.engine.domain(domain.attribute)
    places = _places(raw, tokens)
    cells = int(raw.counts[places].sum())
    if not cells or not _changes(conventions, domain, len(places), cells, is_known=_is_known(release, domain)):
        return 0
    return cells if cells > MOSTLY * release.engine.records or _has_value(release, domain, tokens) else 0


def _changes(conventions: Conventions, domain: Domain, texts: int, cells: int, *, is_known: bool) -> bool:
    """Whether reading these cells, of `texts` distinct texts, as missing differs from what the file shows."""
    convention = conventions.missing_quasi_identifier if is_known else conventions.missing_sensitive
    if convention == "own_category":  # a single text is a category like any value
        return texts > 1 or domain.missing > cells
    return convention != "fail"


def _places(raw: RawDomain, tokens: Sequence[str]) -> Integers:
    """The positions of some texts among the values of a column."""
    wanted = np.array([*tokens, None], dtype=object)[:-1]
    return np.flatnonzero(np.isin(texts_of(raw.values), wanted))


def _has_value(release: Release, domain: Domain, tokens: Sequence[str]) -> bool:
    """Whether a token that occurs in a column is written like one of its values."""
    if not tokens:
        return False
    raw, declaration = release.engine.domain(domain.attribute), release.policy.attributes[domain.attribute]
    places = _places(raw, tokens)
    texts: list[str] = texts_of(raw.values).tolist()
    rest = np.delete(texts_of(raw.values), places).tolist()
    others = _range_of(rest)
    return any(
        _is_code_among(texts[one], rest) or _is_value(texts[one], int(raw.counts[one]), declaration, others)
        for one in places.tolist()
    )


def _is_code_among(text: str, others: Sequence[str]) -> bool:
    """Whether a token is a short code among others: X with F and M, ND with the states; never NA."""
    if not text.isalpha() or len(text) > SHORT or text.casefold() == "na":
        return False
    rest = [one for one in others if any(map(str.isalnum, one))]
    return bool(rest) and all(one.isalpha() and len(one) == len(text) for one in rest)


def _range_of(texts: Sequence[str]) -> tuple[float, float] | None:
    """The least and greatest of a column's values; None if one is no number, or there is none."""
    numbers = [_number(text) for text in texts if text.strip()]
    if not numbers or None in numbers:
        return None
    finite = [one for one in numbers if one is not None]
    return min(finite), max(finite)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _is_value(text: str, cells: int, declaration: AttributeDeclaration, others: tuple[float, float] | None) -> bool:
    """Whether a token is written like a value.

    It is not if it has neither letters nor digits, is a word for a missing value, or is a repeated number outside the
    range of a numeric column, as missing codes of surveys are. A token of a declared order is always a value.
    """
    if text in (declaration.order or ()):
        return True
    if not any(map(str.isalnum, text)) or ABSENT.fullmatch(OTHER.sub("", text).casefold()):
        return False
    number = _number(text)
    return number is None or others is None or others[0] <= number <= others[1] or cells == 1
