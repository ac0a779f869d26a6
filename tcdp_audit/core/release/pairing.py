"""Release and original paired as the policy declares: all records, or a sample if they exceed the memory.

Only the pairs are sampled. The domains of the attributes, with the counts of their values, are those of the whole
tables, so that ranks, means and standard deviations are exact. The key's domain is that of the sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.keys import frozen_array
from tcdp_audit.core.engines.base import Engine, Sampling
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.model import AttributeDeclaration, Conventions, Scale
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.release.coded import (
    CODE,
    KEY,
    CodedTable,
    are_few,
    bytes_of_record,
    code_together,
    common_domains,
    fit,
)
from tcdp_audit.core.release.pairs import Pairs, Sample, align_by_key, align_by_row, require_as_many, require_unique

SHARE = 8  # a sample of one table may take the memory divided by this
MEMORY = "give more memory with --memory"
COPY = "audit copies of the tables in files"  # advice where more memory does not help
KEY_BYTES = 100  # bytes of a key as a Python text, for finding distinct ones
Tables = tuple[CodedTable, CodedTable]


@dataclass(frozen=True)
class Pairing:
    """Two tables to be paired.

    Args:
        policy: the policy that declares the pairing.
        engines: release and original.
        memory: budget in bytes; None for no limit.
    """

    policy: Policy
    engines: tuple[Engine, Engine]
    memory: int | None

    def pairs(self, attributes: Sequence[str], sample: int) -> Pairs:
        """The pairs; see `TableView.pairs`."""
        self._require_pairing()
        sampled = self._sampled(attributes, sample)
        released, original = self._whole(attributes) if sampled is None else self._drawn(sampled)
        among = "" if sampled is None else f" among the {released.records:,} released records of a sample"
        partner = self._partner(released, original, among)
        scales = {name: self._scale(name) for name in attributes}
        drawn = None if sampled is None else Sample(self.engines[0].records, sampled.seed, sampled.more)
        return Pairs(released, original, partner, scales, drawn)

    def apart(self, attributes: Sequence[str]) -> Pairs:
        """All pairs, each table coded over its own values; see `TableView.generalised_pairs`."""
        self._require_pairing()
        each = None if self.memory is None else self.memory // len(self.engines)
        declared, conventions = self.policy.attributes, self.policy.conventions
        released, original = (
            code_together([engine], attributes, declared, conventions, memory=each)[0] for engine in self.engines
        )
        keyed = (released, original) if self._key is None else self._whole([self._key])
        scales = {name: self._scale(name) for name in attributes}
        return Pairs(released, original, self._partner(keyed[0], keyed[1]), scales)

    def _partner(self, released: CodedTable, original: CodedTable, among: str = "") -> NDArray[np.int64]:
        """The original's position for each released record; `CheckError` if no record has one."""
        key = self._key
        partner = align_by_row(released, original) if key is None else align_by_key(released, original, key)
        if not (partner >= 0).any():
            raise CheckError(
                f"records cannot be paired: no value of the key {key!r} is in both tables{among}; "
                "check that both write it in the same way"
            )
        return partner

    @property
    def _key(self) -> str | None:
        return self.policy.document.key

    def _require_pairing(self) -> None:
        """Raise `CheckError` unless a pairing is declared and the tables have its key or an order."""
        if self._key is None and not self.policy.document.rows_aligned:
            raise CheckError("which released record came from which original is not declared")
        for engine in self.engines:
            if self._key is None:
                _require_order(engine)
            else:
                _require_key(engine, self._key)

    def _whole(self, attributes: Sequence[str]) -> Sequence[CodedTable]:
        """All records of both tables."""
        names = [*attributes, *([] if self._key is None or self._key in attributes else [self._key])]
        return code_together(self.engines, names, self.policy.attributes, self.policy.conventions, memory=self.memory)

    def _sampled(self, attributes: Sequence[str], sample: int) -> Sampled | None:
        """The tables to sample; None if all records are compared."""
        if not sample or self.memory is None:
            return None
        beside = 0 if self._key is None else KEY_BYTES
        if fit(self.engines, (CODE + KEY) * len(attributes) + beside, self.memory):
            return None  # independent of the domains, which are read only once
        domains = common_domains(self.engines, attributes, self.policy.attributes, self.policy.conventions)
        each = bytes_of_record(domains[0]) + beside
        if fit(self.engines, each, self.memory):
            return None
        pairs = max(1, min(sample, self.memory // (SHARE * each)))
        more = MEMORY if are_few(self.engines) else COPY
        return Sampled(self.engines, domains, self.policy.document.seed, pairs, self.memory, more)

    def _drawn(self, sampled: Sampled) -> Sequence[CodedTable]:
        """A sample of both tables."""
        if self._key is not None:
            return sampled.by_key(self._key, self.policy.attributes, self.policy.conventions)
        require_as_many(*self.engines)
        return sampled.by_row()

    def _scale(self, attribute: str) -> Scale:
        declaration = self.policy.attributes.get(attribute)
        return Scale.NOMINAL if declaration is None or declaration.scale is None else declaration.scale


def _require_key(engine: Engine, key: str) -> None:
    """Raise `CheckError` unless a table has the key's column."""
    if key not in {column.name for column in engine.columns}:
        raise CheckError(
            f"records cannot be paired: {engine.name} has no column {key!r}, which the policy names as the key; "
            "audit a copy that has it, or correct `key:`"
        )


def _require_order(engine: Engine) -> None:
    """Raise `CheckError` unless record i of a table is the same in every scan."""
    if not engine.ordered:
        raise CheckError(
            f"the policy says `rows_aligned`, but the records of {engine.name} have no order where they are; "
            "declare a `key` instead"
        )


@dataclass(frozen=True)
class Sampled:
    """Release and original, for a sample of pairs.

    Args:
        engines: the two tables.
        domains: the domains of the attributes in each, over their common values.
        seed: the seed of the draw.
        pairs: the approximate number of pairs.
        memory: budget in bytes.
        more: a clause on how to make the sample larger or unnecessary.
    """

    engines: tuple[Engine, Engine]
    domains: Sequence[tuple[Domain, ...]]
    seed: int
    pairs: int
    memory: int
    more: str

    def by_key(self, key: str, declarations: Mapping[str, AttributeDeclaration], conventions: Conventions) -> Tables:
        """The records whose key is drawn, in both tables.

        The key must be unique in the whole tables, so that a sampled key identifies one record. A text or a number for
        a missing value (`NA`, NaN) is counted as missing only if it is drawn.

        Raises:
            CheckError: the key is missing or repeated in a record, or no sample can be drawn by it.
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
        """Sample the same positions of both tables, which have the same length and an order."""
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
