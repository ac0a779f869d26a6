"""The same sample of release and original, coded over the values of the whole tables.

Only the pairs are a sample. The domains of the attributes, with how many records have each value, are those of the
whole tables, so that ranks, means and standard deviations are exact. The key's domain is that of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict, frozen_array
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.sampling import Sampling
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions
from tcdp_audit.core.release.coded import CodedTable, common_domains
from tcdp_audit.core.release.pairs import require_unique

KEY_BYTES = 100  # that the text of a key takes in Python, where it is told from others
Tables = tuple[CodedTable, CodedTable]


@dataclass(frozen=True)
class Sampled:
    """Release and original, of which a sample of pairs is wanted.

    Args:
        engines: the two tables.
        domains: of the attributes in each, over their common values.
        seed: of the draw.
        pairs: about how many.
        memory: budget in bytes.
        more: what would make the sample larger, or needless: half a sentence.
    """

    engines: tuple[Engine, Engine]
    domains: Sequence[tuple[Domain, ...]]
    seed: int
    pairs: int
    memory: int
    more: str

    def by_key(self, key: str, declarations: Mapping[str, AttributeDeclaration], conventions: Conventions) -> Tables:
        """The records whose key is drawn, in both tables.

        That each has a key of its own is held of the whole tables, so that whoever is drawn stands for himself. A text
        or a number that stands for no value (`NA`, NaN) is counted as missing only where it is drawn.

        Raises:
            CheckError: the key is missing or repeated somewhere, or no sample can be drawn by it.
        """
        declared = declarations.get(key)
        if declared is not None and declared.is_ordered:
            raise CheckError(
                f"the tables are too large to be compared whole, and a sample is drawn by the text of the key {key!r}, "
                f"which the policy declares with an order; declare it `scale: nominal`, or {self.more}"
            )
        for engine in self.engines:
            require_unique(engine.repeats(key), key, engine.name)
        share = Fraction(self.pairs, max(engine.records for engine in self.engines))
        sampling = Sampling(key, share, self.seed)
        with self._drawn(sampling, 0) as released, self._drawn(sampling, 1) as original:
            keys = common_domains([released, original], [key], declarations, conventions)
            return (
                self._coded(released, 0, keys[0][0]),
                self._coded(original, 1, keys[1][0]),
            )

    @contextmanager
    def _drawn(self, sampling: Sampling, side: int) -> Iterator[Engine]:
        engine = self.engines[side]
        names = [domain.attribute for domain in self.domains[side] if domain.attribute != sampling.by]
        with open_engine(engine.sample([*names, sampling.by], sampling), self.memory, engine.name) as small:
            yield small

    def _coded(self, small: Engine, side: int, key: Domain) -> CodedTable:
        engine = self.engines[side]
        whole = [domain for domain in self.domains[side] if domain.attribute != key.attribute]
        domains = [
            *(_within(one, engine.domain(one.attribute), small.domain(one.attribute), engine.name) for one in whole),
            key,
        ]
        return _table(engine, domains, list(small.batches(domains)))

    def by_row(self) -> Tables:
        """The same positions of both tables, which are of one length and have an order."""
        records = self.engines[0].records
        draw = np.random.default_rng(self.seed)
        rows = np.sort(draw.choice(records, min(self.pairs, records), replace=False, shuffle=False))
        first, second = (
            _table(engine, domains, list(_picked(engine, domains, rows)))
            for engine, domains in zip(self.engines, self.domains, strict=True)
        )
        return first, second


def _picked(
    engine: Engine, domains: Sequence[Domain], rows: NDArray[np.int64]
) -> Iterator[dict[str, NDArray[np.int64]]]:
    """The records at some positions in ascending order."""
    start = 0
    for batch in engine.batches(domains):
        end = start + len(batch[domains[0].attribute])
        low, high = np.searchsorted(rows, [start, end])
        yield {domain.attribute: batch[domain.attribute][rows[low:high] - start] for domain in domains}
        start = end


def _within(whole: Domain, raw: RawDomain, drawn: RawDomain, table: str) -> Domain:
    """The domain of a whole table for the raw values of a sample of it."""
    if not len(drawn.values):
        return replace(whole, code_of_raw=whole.code_of_raw[:0])
    same_kind = len(raw.values) and raw.is_text == drawn.is_text
    position = np.searchsorted(raw.values, drawn.values) if same_kind else np.zeros(len(drawn.values), np.int64)
    known = raw.values[np.minimum(position, len(raw.values) - 1)]
    if not np.array_equal(known, drawn.values, equal_nan=known.dtype.kind == drawn.values.dtype.kind == "f"):
        raise CheckError(f"{table}: the table was changed while it was read; audit it again")
    return replace(whole, code_of_raw=whole.code_of_raw[position])


def _table(engine: Engine, domains: Sequence[Domain], parts: Sequence[Mapping[str, NDArray[np.int64]]]) -> CodedTable:
    codes = {
        one.attribute: frozen_array(np.concatenate([np.zeros(0, one.dtype), *(part[one.attribute] for part in parts)]))
        for one in domains
    }
    return CodedTable(engine.name, FrozenDict({one.attribute: one for one in domains}), FrozenDict(codes))
