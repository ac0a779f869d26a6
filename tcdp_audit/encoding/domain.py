"""Attributes as integer codes: what the values of a column are, in which order, and which of them is missing.

An engine finds the distinct raw values of a column; `Domain` decides what they mean under the policy. Codes run
from 0 to `size` - 1 in the order of the attribute's scale; `size` itself is the code of a missing value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.arrays import freeze_arrays
from tcdp_audit.encoding.generalised import EVERYTHING, Interval, OrderedLabels, number_text, parse_interval
from tcdp_audit.encoding.keys import Codes
from tcdp_audit.encoding.numbers import Rounded, number_of, rounded_numbers
from tcdp_audit.errors import DataError
from tcdp_audit.frozen import FrozenList
from tcdp_audit.policy.model import AttributeDeclaration, Conventions, Scale

Strings = NDArray[np.object_]
EXACT = 2**53  # every integer up to here is a float64 of its own


@dataclass(frozen=True)
class RawDomain:
    """The distinct values of a column as an engine found them.

    Args:
        values: distinct and sorted: int64, float64, or text (object); never null.
        counts: records with each value.
        nulls: records without a value.
    """

    values: NDArray[Any]
    counts: NDArray[np.int64]
    nulls: int

    def __post_init__(self) -> None:
        """Lock its arrays: the engine gives the same ones to everybody."""
        freeze_arrays(self, "values", "counts")

    @property
    def is_text(self) -> bool:
        """True where the column is not stored as numbers."""
        return self.values.dtype == object


@dataclass(frozen=True)
class Domain:
    """The values of an attribute under its declared scale.

    Args:
        attribute: the column's name.
        values: canonical values in the order of the scale, text (object) or numbers. For evidence never printed.
        counts: records with each value, int64, shape (size,).
        missing: records without a value.
        code_of_raw: canonical code for each of the engine's raw values.
        suppressed: codes that stand for a suppressed cell.
        covers: where cells of a numeric or ordinal attribute are generalised: the numbers (or ranks) each value covers.
        rounded: the numbers of cells whose number is no float64's shortest decimal, by the float64 that is their value.
    """

    attribute: str
    values: NDArray[Any]
    counts: NDArray[np.int64]
    missing: int
    code_of_raw: NDArray[np.int64]
    suppressed: frozenset[int] = field(default_factory=frozenset)
    covers: tuple[Interval, ...] | None = None
    rounded: Rounded = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "values", "counts", "code_of_raw")

    @property
    def is_ordered(self) -> bool:
        """False where generalised values overlap, so that they have no order."""
        neighbours = zip(self.covers or (), (self.covers or ())[1:], strict=False)
        return all(
            one.high < two.low or (one.high == two.low and (one.high_open or two.low_open)) for one, two in neighbours
        )

    @property
    def size(self) -> int:
        """How many values the domain has; the code of a missing value."""
        return len(self.values)

    @cached_property
    def tells_nothing(self) -> NDArray[np.bool_]:
        """For each code whether it tells nothing about the value: suppressed cells, and the missing one, which is last.

        Shape (size + 1,).
        """
        nothing = np.zeros(self.size + 1, dtype=bool)
        nothing[[*self.suppressed, self.size]] = True
        return nothing

    @property
    def dtype(self) -> np.dtype[Any]:
        """The narrowest type that holds every code and the missing one."""
        return np.min_scalar_type(self.size)

    def codes(self, shard: Mapping[str, Codes]) -> Codes:
        """The code of each record of a shard."""
        return shard[self.attribute]

    def onto(self, values: NDArray[Any], covers: tuple[Interval, ...] | None = None) -> Domain:
        """The same attribute over a larger domain in the same order, whose values include all of this one's."""
        if np.array_equal(values, self.values):
            return self  # also where the values stand in a declared order
        rank = {value: code for code, value in enumerate(values.tolist())}
        position = np.array([rank[value] for value in self.values.tolist()], dtype=np.int64)
        counts = np.zeros(len(values), dtype=np.int64)
        counts[position] = self.counts
        return replace(
            self,
            values=values,
            counts=counts,
            code_of_raw=np.append(position, len(values))[self.code_of_raw],
            suppressed=frozenset(position[list(self.suppressed)].tolist()),
            covers=covers,
        )

    @cached_property
    def labels(self) -> list[str]:
        """The values as text, as hierarchies and parameters name them. For evidence never printed."""
        return FrozenList(_texts(RawDomain(self.values, self.counts, 0)))

    def label(self, code: int) -> str:
        """A value as text, for evidence with `--show-values` only."""
        return "(missing)" if code == self.size else str(self.values[code])


@dataclass(frozen=True)
class Misfit:
    """Why some raw values do not fit the declared scale: `raw` are their positions among the raw values."""

    raw: NDArray[np.intp]
    reason: str


def canonical(
    attribute: str, raw: RawDomain, declaration: AttributeDeclaration, conventions: Conventions
) -> tuple[Domain, Misfit | None]:
    """Decide what raw values mean: which are missing, which are equal, and how they are ordered.

    Values that do not fit the scale are coded as missing and returned as a misfit, which fails the audit.

    Cost: O(distinct values), never O(records).
    """
    absent = _absent(raw, conventions, declaration.scale)
    covers = _covers(raw.values[~absent], declaration, conventions) if raw.is_text else None
    rounded: Rounded = {}
    if covers is not None:
        labels = [_label(text, declaration.scale) for text in raw.values[~absent].tolist()]
        values, position, misfit, covers = _generalised(labels, absent, covers)
        rounded = _parsed(attribute, raw.values[~absent])[2] if declaration.scale is Scale.NUMERIC else rounded
    elif declaration.scale is Scale.NUMERIC:
        values, position, misfit, rounded = _numeric(attribute, raw, absent)
    elif declaration.order is not None:
        values, position, misfit = _ordinal(raw, absent, declaration.order)
    elif raw.is_text:  # distinct and sorted already
        values, position, misfit = raw.values[~absent], np.arange((~absent).sum()), None
    else:
        values, position = np.unique(_texts(raw)[~absent], return_inverse=True)
        misfit = None
    code_of_raw = np.full(len(raw.values), len(values), dtype=np.int64)
    code_of_raw[np.flatnonzero(~absent)] = position
    counts = np.bincount(code_of_raw, weights=raw.counts, minlength=len(values) + 1).astype(np.int64)
    domain = Domain(
        attribute=attribute,
        values=values,
        counts=counts[:-1],
        missing=int(counts[-1]) + raw.nulls,
        code_of_raw=code_of_raw,
        suppressed=_suppressed(values, conventions),
        covers=None if covers is None else tuple(cover for cover in covers if cover is not None),
        rounded=rounded,
    )
    return domain, misfit


def _absent(raw: RawDomain, conventions: Conventions, scale: Scale | None) -> NDArray[np.bool_]:
    """Which raw values stand for no value: declared tokens, and NaN among numbers however they are stored."""
    tokens = [token for token in conventions.missing_tokens if token or raw.is_text]
    absent = np.isin(_texts(raw), np.array(tokens, dtype=object)) if tokens else np.zeros(len(raw.values), bool)
    if not raw.is_text:
        return absent | np.isnan(raw.values)
    if scale is Scale.NUMERIC:
        absent |= np.array([text.strip().lstrip("+-").lower() == "nan" for text in raw.values.tolist()], bool)
    return absent


def _suppressed(values: NDArray[Any], conventions: Conventions) -> frozenset[int]:
    if values.dtype != object:
        return frozenset()
    return frozenset(np.flatnonzero(np.isin(values, np.array(conventions.suppressed_tokens, dtype=object))).tolist())


def _texts(raw: RawDomain) -> Strings:
    """Raw values as the text that nominal attributes are compared by; 39.0 stored as a float is `39`."""
    if raw.is_text:
        return raw.values
    if raw.values.dtype.kind == "f":
        texts = [str(int(v)) if float(v).is_integer() and abs(v) < 2**53 else repr(v) for v in raw.values.tolist()]
    else:
        texts = [str(v) for v in raw.values.tolist()]
    return np.array(texts, dtype=object)


def _covers(
    present: Strings, declaration: AttributeDeclaration, conventions: Conventions
) -> list[Interval | None] | None:
    """What each text of a numeric or ordinal attribute covers; None as a whole where no cell is generalised."""
    if declaration.order is not None:
        read = OrderedLabels(declaration.order).parse
    elif declaration.scale is Scale.NUMERIC:
        read = _number_or_interval
    else:
        return None
    tokens = frozenset(conventions.suppressed_tokens) - frozenset(declaration.order or ())
    covers = [EVERYTHING if text in tokens else read(text) for text in present.tolist()]
    return covers if any(cover is not None and cover.low != cover.high for cover in covers) else None


def _number_or_interval(text: str) -> Interval | None:
    number = number_of(text)
    return parse_interval(text) if number is None else Interval(number, number)


def _label(text: str, scale: Scale | None) -> str:
    """A number as it is compared, so that 39.0 is 39; any other text as it stands."""
    number = number_of(text) if scale is Scale.NUMERIC else None
    return text if number is None else number_text(number)


def _generalised(
    labels: Sequence[str], absent: NDArray[np.bool_], covers: Sequence[Interval | None]
) -> tuple[NDArray[Any], NDArray[np.int64], Misfit | None, list[Interval | None]]:
    """A numeric or ordinal attribute some of whose cells are generalised: labels, ordered by what they cover.

    Args:
        labels: the raw values that stand for a value, as they are compared.
        absent: which of all raw values stand for none.
        covers: what each label covers; None where it does not fit the scale.
    """
    known = {label: cover for label, cover in zip(labels, covers, strict=True) if cover is not None}
    ordered = sorted(known, key=lambda label: by_cover(label, known[label]))
    rank = {label: code for code, label in enumerate(ordered)}
    position = np.array([rank.get(label, len(ordered)) for label in labels], dtype=np.int64)
    unfit = np.flatnonzero(~absent)[position == len(ordered)]
    misfit = Misfit(unfit, "a value that is neither of its scale nor a range of it") if len(unfit) else None
    return np.array([*ordered, None], dtype=object)[:-1], position, misfit, [known[label] for label in ordered]


def by_cover(label: str, cover: Interval) -> tuple[bool, Interval, str]:
    """The order of generalised values: by what they cover, those that cover everything last."""
    return cover == EVERYTHING, cover, label


def _ordinal(
    raw: RawDomain, absent: NDArray[np.bool_], order: Sequence[str]
) -> tuple[NDArray[Any], NDArray[np.int64], Misfit | None]:
    rank = {value: code for code, value in enumerate(order)}
    position = np.array([rank.get(text, len(order)) for text in _texts(raw)[~absent].tolist()], dtype=np.int64)
    unknown = np.flatnonzero(~absent)[position == len(order)]
    misfit = Misfit(unknown, "a value that is not in the declared order") if len(unknown) else None
    return np.array([*order, None], dtype=object)[:-1], position, misfit


def _numeric(
    attribute: str, raw: RawDomain, absent: NDArray[np.bool_]
) -> tuple[NDArray[Any], NDArray[np.int64], Misfit | None, Rounded]:
    present = raw.values[~absent]
    rounded: Rounded = {}
    if raw.is_text:
        numbers, fits, rounded = _parsed(attribute, present)
    else:
        numbers, fits = present, np.isfinite(present)
    values, ranks = np.unique(numbers[fits], return_inverse=True)
    position = np.full(len(present), len(values), dtype=np.int64)
    position[fits] = ranks
    unfit = np.flatnonzero(~absent)[~fits]
    misfit = Misfit(unfit, "a value that is not a finite number") if len(unfit) else None
    return values, position, misfit, rounded


def _parsed(attribute: str, texts: Strings) -> tuple[NDArray[Any], NDArray[np.bool_], Rounded]:
    """Text as numbers: all as 64-bit integers where they are, else as float64; which are numbers at all; the rounded.

    Raises:
        DataError: two different numbers would be one.
    """
    numbers = [number_of(text) for text in texts.tolist()]
    fits = np.array([value is not None for value in numbers], dtype=bool)
    found = [value for value in numbers if value is not None]
    whole = all(isinstance(value, int) for value in found)
    too_long = any(isinstance(value, int) and abs(value) >= (2**63 if whole else 2**53) for value in found)
    if too_long:
        raise DataError(
            f"column {attribute!r} holds an integer too large to be compared exactly as a number; "
            f"if it is a code, declare it `{{scale: nominal}}`"
        )
    rounded = {} if whole else rounded_numbers(attribute, texts[fits].tolist(), found)
    dtype = np.int64 if whole else np.float64
    return np.array([0 if value is None else value for value in numbers], dtype=dtype), fits, rounded


def incomparable(domains: Sequence[Domain]) -> str:
    """Why numbers of one attribute in several tables cannot be compared exactly, or nothing; follows its name."""
    whole = [one.values for one in domains if one.values.dtype.kind == "i" and one.size]
    mixed = any(one.values.dtype.kind == "f" for one in domains)
    if mixed and any(max(-int(one[0]), int(one[-1])) > EXACT for one in whole):
        return (
            "holds integers too large to be compared exactly with the decimal numbers that it holds in another table; "
            "if they are codes, declare `scale: nominal`"
        )
    if any(_merges(one, other) for one, other in permutations(domains, 2)):
        return (
            "holds numbers that are told from those of another table only beyond the digits of 64-bit floating point; "
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
