"""The meaning of a column's raw values under the policy: which are missing, which are equal, how they are ordered.

`union` gives the domains of one attribute in several tables, over the values of all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field, replace
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain, Misfit, RawDomain, Strings, texts_of
from tcdp_audit.core.encoding.generalised import (
    EVERYTHING,
    RANGES,
    Interval,
    OrderedLabels,
    Rounded,
    by_cover,
    is_reversed,
    number_of,
    number_or_interval,
    number_text,
    rounded_numbers,
)
from tcdp_audit.core.encoding.text_bytes import indices_with_surrounding_whitespace
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Scale

_WITH_COMMA = re.compile(r"\s*[+-]?[0-9][0-9.\s]*,[0-9]+\s*")
EXACT = 2**53  # every integer up to here is a float64 of its own


@dataclass(frozen=True)
class _Reading:
    """Raw values that are not missing, read under a scale."""

    values: NDArray[Any]  # the distinct values in the order of the scale
    # for each raw value its place among `values`; their number where it does not fit the scale
    position: NDArray[np.int64]
    misfit: str = ""  # what a raw value is that does not fit
    covers: tuple[Interval, ...] | None = None  # see `Domain`
    rounded: Rounded = field(default_factory=dict)  # see `Domain`


def domain_of(
    attribute: str, raw: RawDomain, declaration: AttributeDeclaration, conventions: Conventions
) -> tuple[Domain, Misfit | None]:
    """The domain of a column under its declaration.

    Values that do not fit the scale are coded as missing and returned as a misfit, which fails the audit.

    Raises:
        DataError: two different numbers would be one.

    Cost: O(distinct values), never O(records).
    """
    present = np.flatnonzero(~_absent(raw, conventions, declaration.scale))
    reading = _reading(attribute, raw.values[present], declaration, conventions)
    size = len(reading.values)
    code_of_raw = np.full(len(raw.values), size, dtype=np.int64)
    code_of_raw[present] = reading.position
    counts = np.bincount(code_of_raw, weights=raw.counts, minlength=size + 1).astype(np.int64)
    unfit = present[reading.position == size]
    domain = Domain(
        attribute=attribute,
        values=reading.values,
        counts=counts[:-1],
        missing=int(counts[-1]) + raw.nulls,
        code_of_raw=code_of_raw,
        suppressed=_suppressed(reading.values, conventions),
        covers=reading.covers,
        rounded=reading.rounded,
    )
    return domain, _misfit(raw, unfit, reading.misfit, declaration) if len(unfit) else None


def joined_without_blanks(domain: Domain, conventions: Conventions) -> Domain:
    """The domain of a column that joins records, in which blanks around a value make no other value.

    Anyone who reads `p` and `p ` in a file reads one person; values of blanks alone are missing where an empty text is.
    """
    texts = domain.values.tolist() if domain.values.dtype == object and domain.covers is None else []
    padded = [place for place in indices_with_surrounding_whitespace(texts) if texts[place] != texts[place].strip()]
    if not padded:
        return domain
    for place in padded:
        texts[place] = texts[place].strip()
    values = sorted({*texts} - {*conventions.missing_tokens})
    code_of = {text: code for code, text in enumerate(values)}
    code = np.array([*(code_of.get(text, len(values)) for text in texts), len(values)], dtype=np.int64)
    counts = np.bincount(code, np.append(domain.counts, domain.missing), len(values) + 1).astype(np.int64)
    joined = np.array([*values, None], dtype=object)[:-1]
    suppressed = _suppressed(joined, conventions)
    return Domain(domain.attribute, joined, counts[:-1], int(counts[-1]), code[domain.code_of_raw], suppressed)


def _misfit(raw: RawDomain, unfit: NDArray[np.intp], reason: str, declaration: AttributeDeclaration) -> Misfit:
    if not raw.is_text:
        return Misfit(unfit, reason)
    if declaration.order is None and all(is_reversed(text) for text in raw.values[unfit].tolist()):
        return Misfit(unfit, "a range whose lower end is above its upper end")
    if declaration.order is None and all(_WITH_COMMA.fullmatch(text) for text in raw.values[unfit].tolist()):
        return Misfit(unfit, 'a number with a decimal comma; say `read_as: {decimal: ","}`, or write 3.5 for 3,5')
    forms = RANGES if declaration.order is None else "[low, high] with two values of the order"
    return Misfit(unfit, reason, forms)


def _absent(raw: RawDomain, conventions: Conventions, scale: Scale | None) -> NDArray[np.bool_]:
    """The raw values that are missing: declared tokens, and NaN among numbers however they are stored."""
    tokens = np.array([token for token in conventions.missing_tokens if token or raw.is_text], dtype=object)
    absent = np.isin(texts_of(raw.values), tokens) if len(tokens) else np.zeros(len(raw.values), bool)
    if not raw.is_text:
        return absent | np.isnan(raw.values)
    if scale is Scale.NUMERIC:
        absent |= np.array([text.strip().lstrip("+-").lower() == "nan" for text in raw.values.tolist()], bool)
    return absent


def _suppressed(values: NDArray[Any], conventions: Conventions) -> frozenset[int]:
    if values.dtype != object:
        return frozenset()
    return frozenset(np.flatnonzero(np.isin(values, np.array(conventions.suppressed_tokens, dtype=object))).tolist())


def _reading(
    attribute: str, present: NDArray[Any], declaration: AttributeDeclaration, conventions: Conventions
) -> _Reading:
    if not declaration.is_ordered:
        return _nominal(present)
    covers = _covers(present, declaration, conventions) if present.dtype == object else []
    if any(cover is not None and cover.low != cover.high for cover in covers):
        return _generalised(attribute, present, covers, declaration.scale)
    if declaration.order is None:
        return _numeric(attribute, present)
    return _placed(texts_of(present).tolist(), declaration.order, "a value that is not in the declared order")


def _nominal(present: NDArray[Any]) -> _Reading:
    if present.dtype == object:  # distinct and sorted already
        return _Reading(present, np.arange(len(present)))
    return _Reading(*np.unique(texts_of(present), return_inverse=True))


def _numeric(attribute: str, present: NDArray[Any]) -> _Reading:
    rounded: Rounded = {}
    if present.dtype == object:
        numbers, fits, rounded = _parsed(attribute, present)
    else:
        numbers, fits = present, np.isfinite(present)
    values, ranks = np.unique(numbers[fits], return_inverse=True)
    position = np.full(len(present), len(values), dtype=np.int64)
    position[fits] = ranks
    return _Reading(values, position, "a value that is not a finite number", rounded=rounded)


def _generalised(attribute: str, present: Strings, covers: Sequence[Interval | None], scale: Scale | None) -> _Reading:
    """Ranges of numbers or ranks, ordered by what they cover; numbers as they are compared, so that 39.0 is 39.

    What a raw value covers is None where it does not fit the scale.
    """
    numbers = [number_of(text) if scale is Scale.NUMERIC else None for text in present.tolist()]
    labels = [text if one is None else number_text(one) for text, one in zip(present.tolist(), numbers, strict=True)]
    known = {label: cover for label, cover in zip(labels, covers, strict=True) if cover is not None}
    ordered = sorted(known, key=lambda label: by_cover(label, known[label]))
    placed = _placed(labels, ordered, "a value that is neither of its scale nor a range of it")
    rounded = _parsed(attribute, present)[2] if scale is Scale.NUMERIC else {}
    return replace(placed, covers=tuple(known[label] for label in ordered), rounded=rounded)


def _placed(labels: Sequence[str], values: Sequence[str], misfit: str) -> _Reading:
    """Labels by their place among values in order."""
    rank = {value: code for code, value in enumerate(values)}
    position = np.array([rank.get(label, len(values)) for label in labels], dtype=np.int64)
    return _Reading(np.array([*values, None], dtype=object)[:-1], position, misfit)


def _covers(present: Strings, declaration: AttributeDeclaration, conventions: Conventions) -> list[Interval | None]:
    """The range that each text of a numeric or ordinal attribute covers."""
    read = number_or_interval if declaration.order is None else OrderedLabels(declaration.order).parse
    tokens = frozenset(conventions.suppressed_tokens) - frozenset(declaration.order or ())
    return [EVERYTHING if text in tokens else read(text) for text in present.tolist()]


def _parsed(attribute: str, texts: Strings) -> tuple[NDArray[Any], NDArray[np.bool_], Rounded]:
    """Text as numbers: all as 64-bit integers where they are, else as float64; which are numbers at all; the rounded.

    Raises:
        DataError: two different numbers would be one.
    """
    numbers = [number_of(text) for text in texts.tolist()]
    fits = np.array([value is not None for value in numbers], dtype=bool)
    finite = [value for value in numbers if value is not None]
    whole = all(isinstance(value, int) for value in finite)
    if any(isinstance(value, int) and abs(value) >= (2**63 if whole else 2**53) for value in finite):
        raise DataError(
            f"column {attribute!r} holds an integer too large to be compared exactly as a number; "
            f"if it is a code, declare it `{{scale: nominal}}`"
        )
    rounded = {} if whole else rounded_numbers(attribute, texts[fits].tolist(), finite)
    dtype = np.int64 if whole else np.float64
    return np.array([0 if value is None else value for value in numbers], dtype=dtype), fits, rounded


def union(domains: Sequence[Domain]) -> list[Domain]:
    """The same domains with the values of all of them, in their common order: equal codes are equal values.

    Raises:
        DataError: one holds numbers and another ranges, or numbers of one would be rounded to those of another.

    Cost: a merge of sorted values; O(values log values) where they are generalised.
    """
    _require_comparable(domains)
    if all(np.array_equal(one.values, domains[0].values) for one in domains[1:]):
        return list(domains)  # ordinal ones always are
    if any(one.covers is not None for one in domains):
        return _over_ranges(domains)
    values, positions = _merged([one.values for one in domains])
    return [one.recoded_to(values, position) for one, position in zip(domains, positions, strict=True)]


def _merged(values: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], list[NDArray[np.int64]]]:
    """All values in order, and the place of each array's own among them; every array is sorted and distinct."""
    together = np.concatenate(values)
    order = np.argsort(together, kind="stable")  # takes what is sorted already as it is, and merges it
    ordered = together[order]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    position = np.empty(len(ordered), dtype=np.int64)
    position[order] = np.cumsum(new) - 1
    return ordered[new], np.split(position, np.cumsum([len(one) for one in values[:-1]]))


def _over_ranges(domains: Sequence[Domain]) -> list[Domain]:
    """Domains with generalised values; one that is not generalised covers itself by its rank or its number."""
    known = {label: cover for one in domains for label, cover in zip(one.labels, one.covers or (), strict=False)}
    plain = [one for one in domains if one.covers is None]
    known |= {label: Interval(code, code) for one in plain for code, label in enumerate(one.labels)}
    ordered = sorted(known, key=lambda label: by_cover(label, known[label]))
    rank = {label: code for code, label in enumerate(ordered)}
    values, covers = np.array([*ordered, None], dtype=object)[:-1], tuple(known[label] for label in ordered)
    positions = (np.array([rank[value] for value in one.values.tolist()], dtype=np.int64) for one in domains)
    return [one.recoded_to(values, position, covers) for one, position in zip(domains, positions, strict=True)]


def _require_comparable(domains: Sequence[Domain]) -> None:
    if len({one.values.dtype == object for one in domains if one.size}) > 1:
        reason = "is generalised in one table and holds numbers in another, so they cannot be compared"
        raise DataError(f"column {domains[0].attribute!r} {reason}")
    require_exact(domains)


def require_exact(domains: Sequence[Domain]) -> None:
    """Insist that no number of one domain would be rounded to that of another.

    Raises:
        DataError: one would be.
    """
    reason = _inexact(domains)
    if reason:
        raise DataError(f"column {domains[0].attribute!r} {reason}")


def _inexact(domains: Sequence[Domain]) -> str:
    """The reason why the numbers of some domains cannot be compared exactly, or nothing; follows the column's name."""
    whole = [one.values for one in domains if one.values.dtype.kind == "i" and one.size]
    mixed = any(one.values.dtype.kind == "f" or one.covers is not None for one in domains)
    if mixed and any(max(-int(one[0]), int(one[-1])) > EXACT for one in whole):
        return (
            "holds integers too large to be compared exactly with the decimals or ranges that it holds in another "
            "table; if they are codes, declare `scale: nominal`"
        )
    if any(_merges(one, other) for one, other in permutations(domains, 2)):
        return (
            "holds numbers that differ from those of another table only beyond the digits of 64-bit floating point; "
            "round both alike, or declare `scale: nominal`"
        )
    return ""


def _merges(one: Domain, other: Domain) -> bool:
    """Whether a number of one domain is rounded to a value that is another number in the other domain."""
    if not one.rounded:
        return False
    known = set(other.values.tolist())  # numbers, or labels where some are ranges
    return any(
        (number in known or number_text(number) in known) and other.rounded.get(number) != cell
        for number, cell in one.rounded.items()
    )
