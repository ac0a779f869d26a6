"""A column as detectors see it: its name, some of its distinct values, and how many there are.

A share of hits among a column's values, next to the share that a random column has.

Whether a column's name says what the column is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain, RawDomain, texts_of
from tcdp_audit.core.encoding.keys import Integers
from tcdp_audit.core.engines.base import Engine

SIGNIFICANT = 1e-6  # a p value below it is no accident, also where a hundred detectors look at a thousand columns
MOST = 10_000  # distinct values that are looked at; of more, a sample
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_EDGES_OF_ASCII = np.array(["!", "\x80"], object)  # the first character that is seen, and the first beyond ASCII
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")


@dataclass(frozen=True)
class Evidence:
    """Evidence for a column being of a kind.

    Args:
        hits: how many of the values that were looked at are of the kind.
        values: how many were looked at.
        base_rate: the share of hits in a random column.
        p_value: the chance of so many hits or more in a random column.
        note: a further fact about the hits, in words and without a cell; nothing where there is none.
    """

    hits: int
    values: int
    base_rate: float
    p_value: float
    note: str = ""

    @property
    def share(self) -> Fraction:
        """The share of the values that were looked at."""
        return Fraction(self.hits, self.values)

    @property
    def is_significant(self) -> bool:
        """Whether a random column has so many hits less than once in a million times."""
        return self.p_value < SIGNIFICANT


def binomial_evidence(hits: int, values: int, base_rate: float) -> Evidence:
    """The one-sided binomial test: the chance of at least so many hits among independent values of a base rate.

    Example:
        >>> one = binomial_evidence(10, 10, 0.5)
        >>> one.p_value, one.is_significant
        (0.0009765625, False)
    """
    from scipy.special import bdtrc  # noqa: PLC0415 - only where columns are looked at

    p_value = 1.0 if hits == 0 else float(bdtrc(hits - 1, values, base_rate))
    return Evidence(hits, values, base_rate, p_value)


@dataclass(frozen=True)
class DetectorColumn:
    """A column as detectors see it.

    Args:
        name: its name.
        texts: its distinct values without blanks around them and invisible characters, or a seeded sample of them; no
            missing one.
        values: how many distinct values it has.
        records: how many records have a value.
        distinct_integers: all of its distinct values where each is an integer, in ascending order; None where not.
        in_order: the integers in the order of the records; None where records have no order.
        cells: how many records have each of `texts`; nothing where each counts as one.
    """

    name: str
    texts: tuple[str, ...]
    values: int
    records: int
    distinct_integers: Callable[[], Integers | None]
    in_order: Callable[[], Integers | None]
    cells: tuple[int, ...] = ()

    @property
    def is_sampled(self) -> bool:
        """Whether `texts` are fewer than the distinct values."""
        return len(self.texts) < self.values

    @cached_property
    def counted(self) -> Sequence[tuple[str, int]]:
        """Each text with the number of its cells."""
        return [*zip(self.texts, self.cells or [1] * len(self.texts), strict=True)]

    @cached_property
    def worded(self) -> Sequence[tuple[str, int]]:
        """The texts that are more than digits."""
        return [one for one in self.counted if not one[0].isdigit()]

    @cached_property
    def integers(self) -> Integers | None:
        """All distinct values, ascending, where each is an integer; None where not. O(values)."""
        return self.distinct_integers() if all(map(WHOLE_NUMBER.fullmatch, self.texts)) else None

    @property
    def repeats(self) -> int:
        """Records whose value an earlier record has too."""
        return self.records - self.values


def column_of_engine(engine: Engine, name: str, missing: Collection[str], seed: int) -> DetectorColumn:
    """A column of a table.

    Args:
        engine: the table.
        name: the column.
        missing: texts that mark a missing value, in addition to empty ones.
        seed: of the sample of distinct values.

    Raises:
        DataError: its type has no distinct values to speak of.

    Cost: what the engine takes to find the distinct values; O(10,000) after that.
    """
    raw = engine.domain(name)
    present = _present(raw, missing)
    chosen = present
    if len(present) > MOST:
        chosen = np.sort(np.random.default_rng(seed).choice(present, MOST, replace=False))
    texts = tuple(_as_seen(text) for text in texts_of(raw.values[chosen]).tolist())
    return DetectorColumn(
        name,
        texts,
        len(present),
        int(raw.counts[present].sum()),
        lambda: _as_integers(raw, present),
        lambda: _in_order(engine, name, raw, present),
        tuple(raw.counts[chosen].tolist()),
    )


def _as_seen(text: str) -> str:
    """A text as a reader sees it: without blanks around it and invisible characters, in the usual width."""
    if text.isascii():
        return text.strip()
    return "".join(one for one in unicodedata.normalize("NFKC", text) if unicodedata.category(one) != "Cf").strip()


def _present(raw: RawDomain, missing: Collection[str]) -> Integers:
    """The positions of values that are not missing."""
    if not raw.is_text:
        finite = np.isfinite(raw.values)
        tokens = [number for number in map(_number, missing) if number is not None]
        return np.flatnonzero(finite & ~np.isin(raw.values, tokens)) if tokens else np.flatnonzero(finite)
    # Texts are sorted, so that those without a character that is seen are before all others of ASCII, or after them.
    first, last = np.searchsorted(raw.values, _EDGES_OF_ASCII).tolist()
    is_present = np.ones(len(raw.values), bool)
    for edge in (slice(first), slice(last, None)):
        is_present[edge] = [bool(text.strip()) for text in raw.values[edge].tolist()]
    absent = np.array([*missing, None], object)[:-1]
    places = np.searchsorted(raw.values, absent)
    within = places < len(raw.values)
    is_present[places[within][raw.values[places[within]] == absent[within]]] = False
    return np.flatnonzero(is_present)


def _number(token: str) -> float | None:
    try:
        return float(token)
    except ValueError:
        return None


def _as_integers(raw: RawDomain, present: Integers) -> Integers | None:
    """The values at some positions as integers, ascending; None where one is none."""
    values = raw.values[present]
    if values.dtype.kind == "f":
        whole = np.floor(values) == values
        return np.sort(values.astype(np.int64)) if whole.all() and (np.abs(values) < 2**53).all() else None
    if not raw.is_text:
        return np.sort(values.astype(np.int64))
    texts = [text.strip() for text in values.tolist()]
    return np.sort(np.array([*map(int, texts)], np.int64)) if all(map(WHOLE_NUMBER.fullmatch, texts)) else None


def _in_order(engine: Engine, name: str, raw: RawDomain, present: Integers) -> Integers | None:
    """The integers of the records that have one, in the table's order."""
    if not engine.ordered:
        return None
    numbers = np.zeros(len(raw.values) + 1, np.int64)
    numbers[present] = [int(text) for text in texts_of(raw.values[present]).tolist()]
    domain = Domain(name, raw.values, raw.counts, raw.nulls, np.arange(len(raw.values)))
    codes = np.concatenate([np.zeros(0, np.int64), *(batch[name] for batch in engine.batches([domain]))])
    return numbers[codes[np.isin(codes, present)]]


def is_named(column: str, phrases: Iterable[str]) -> bool:
    """Whether a column's name has the words of some phrase next to each other, or is the phrase written as one word.

    A phrase that begins with `=` must be the whole name. Case and accents make no difference; words end where the case
    changes, at digits and at all other characters.

    Example:
        >>> is_named("patientFirstName", ["first name"]), is_named("email", ["mail"]), is_named("drug_name", ["=name"])
        (True, False, False)
        >>> is_named("firstname", ["first name"])
        True
    """
    name = _name(column)
    return any(_says(name, _phrase(one)) for one in phrases)


@lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case without accents.

    Example:
        >>> words_of("dateOfBirth_2"), words_of("Téléphone")
        (('date', 'of', 'birth', '2'), ('telephone',))
    """
    decomposed = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(one for one in decomposed if not unicodedata.combining(one))
    return tuple(part.lower() for part in PARTS.findall(plain))


@dataclass(frozen=True)
class _Words:
    """Words as texts that are quick to compare: without anything between them, and with blanks around each."""

    joined: str
    spaced: str
    whole: bool = False
    alone: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def _phrase(text: str) -> _Words:
    words = words_of(text)
    return _Words("".join(words), f" {' '.join(words)} ", text.startswith("="))


@lru_cache(maxsize=4096)
def _name(text: str) -> _Words:
    """A column's name; `alone` are its words, and all of them without digits as one word."""
    words = words_of(text)
    one_word = "".join(word for word in words if not word.isdigit())
    return _Words("".join(words), f" {' '.join(words)} ", alone=frozenset({*words, one_word}))


def _says(name: _Words, phrase: _Words) -> bool:
    if phrase.whole:
        return name.joined == phrase.joined
    return phrase.spaced in name.spaced or phrase.joined in name.alone
