"""What detectors see of a column: its name, some of its distinct values, and how many there are."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tcdp_audit.core.base.frozen import Integers
from tcdp_audit.core.encoding.domain import Domain, RawDomain, texts_of
from tcdp_audit.core.engines.base import Engine

MOST = 10_000  # distinct values that are looked at; of more, a sample
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


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
        """Those of them that are more than digits."""
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
        missing: texts that stand for no value, beside empty ones.
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
    """The positions of values that stand for one."""
    if not raw.is_text:
        kept = np.isfinite(raw.values)
        tokens = [number for number in map(_number, missing) if number is not None]
        return np.flatnonzero(kept & ~np.isin(raw.values, tokens)) if tokens else np.flatnonzero(kept)
    absent = {*missing}
    return np.array([i for i, text in enumerate(raw.values.tolist()) if text.strip() and text not in absent], np.int64)


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
