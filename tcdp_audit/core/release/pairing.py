"""Release and original paired as the policy says: all of their records, or where these outgrow the memory a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy import Policy, Scale
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
from tcdp_audit.core.release.pairs import Pairs, Sample, align_by_key, align_by_row, require_as_many
from tcdp_audit.core.release.sampled import KEY_BYTES, Sampled

SHARE = 8  # of the memory, which a sample of one table may take
MEMORY = "give more memory with --memory"
COPY = "audit copies of the tables in files"  # where more memory would change nothing


@dataclass(frozen=True)
class Pairing:
    """Two tables to be paired.

    Args:
        policy: what pairs them.
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
        """The original's position for each released record.

        Raises:
            CheckError: no record has one, or the tables cannot be paired.
        """
        key = self._key
        partner = align_by_row(released, original) if key is None else align_by_key(released, original, key)
        if not (partner >= 0).any():
            raise CheckError(
                f"records cannot be paired: no value of the key {key!r} stands in both tables{among}; "
                "check that both write it in the same way"
            )
        return partner

    @property
    def _key(self) -> str | None:
        return self.policy.document.key

    def _require_pairing(self) -> None:
        """Insist that a pairing is declared, and that the tables have what it needs."""
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
        """What a sample is drawn from; None where all records are compared, or all are needed."""
        if not sample or self.memory is None:
            return None
        beside = 0 if self._key is None else KEY_BYTES
        if fit(self.engines, (CODE + KEY) * len(attributes) + beside, self.memory):
            return None  # whatever the domains are, which are not asked for twice
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
    """Insist that a table has the key's column."""
    if key not in {column.name for column in engine.columns}:
        raise CheckError(
            f"records cannot be paired: {engine.name} has no column {key!r}, which the policy names as the key; "
            "audit a copy that has it, or correct `key:`"
        )


def _require_order(engine: Engine) -> None:
    """Insist that record i of a table is the same whenever it is read."""
    if not engine.ordered:
        raise CheckError(
            f"the policy says `rows_aligned`, but the records of {engine.name} have no order where they are; "
            "declare a `key` instead"
        )
