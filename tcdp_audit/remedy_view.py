"""What a remedy sees: the release's records as codes, the policy's demands on classes, and a full audit on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.demands import Demands
from tcdp_audit.encoding import Domain
from tcdp_audit.exact import Floats
from tcdp_audit.hierarchy import Hierarchy, Tree
from tcdp_audit.keys import Codes
from tcdp_audit.outcome import Outcome
from tcdp_audit.policy import AttributeDeclaration, Policy, Role, Scale
from tcdp_audit.release import Release
from tcdp_audit.remedy import RemedyError, Treatment
from tcdp_audit.shards import Progress, silent


@dataclass(frozen=True)
class Attribute:
    """One attribute of a release, record by record.

    Args:
        name: the column's name.
        declaration: role and scale.
        domain: its values in the order of the scale; `domain.size` is the code of a missing value.
        codes: the code of each record, in the table's order. Shape (records,).
        hierarchy: its generalisation hierarchy, where it has one.
        tree: the hierarchy laid over the domain, where it knows every value.
    """

    name: str
    declaration: AttributeDeclaration
    domain: Domain
    codes: Codes
    hierarchy: Hierarchy | None = None
    tree: Tree | None = None

    @property
    def scale(self) -> Scale:
        """Nominal where nothing else is declared."""
        return self.declaration.scale or Scale.NOMINAL

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers, none of them generalised."""
        return self.domain.values.dtype != object

    @property
    def is_ordered(self) -> bool:
        """Whether its values are numbers or ranks, and no generalised ones overlap."""
        declared = self.scale is Scale.NUMERIC or (self.scale is Scale.ORDINAL and self.declaration.order is not None)
        return declared and self.domain.is_ordered

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper end of what each value covers: the number itself, the rank, or a range of them.

        Returns:
            Two float64 arrays of shape (domain,), in the order of the domain; codes where the scale has no numbers.
        """
        if self.domain.covers is not None:
            return np.array([c.low for c in self.domain.covers]), np.array([c.high for c in self.domain.covers])
        own = self.domain.values if self.is_numeric else np.arange(self.domain.size)
        return own.astype(np.float64), own.astype(np.float64)

    @cached_property
    def numbers(self) -> Floats:
        """The number that stands for each value: itself, its rank, or the middle of its range. Shape (domain,)."""
        low, high = self.bounds
        with np.errstate(invalid="ignore"):  # what a suppressed value covers has no middle
            middle = np.where(low == high, low, (low + high) / 2)
        known = middle[np.isfinite(middle)]
        return np.where(np.isfinite(middle), middle, known.mean() if len(known) else 0.0)

    @cached_property
    def span(self) -> float:
        """Difference of the largest and the least number or rank of the domain; 0 for a single value."""
        ends = np.concatenate(self.bounds)
        ends = ends[np.abs(ends) < inf]
        return float(ends.max() - ends.min()) if len(ends) else 0.0


@dataclass(frozen=True)
class RemedyView:
    """A release that fails its policy, to be changed.

    Args:
        release: the table under its policy.
        outcomes: what its last audit found.
        seed: of every random choice that a remedy makes.
        audited: the complete audit of a treatment, as slow as an audit.
        progress: told (step, done, in all) on long work.
    """

    release: Release
    outcomes: tuple[Outcome, ...]
    seed: int
    audited: Callable[[Treatment], tuple[Outcome, ...]]
    progress: Progress = silent
    _attributes: dict[str, Attribute] = field(default_factory=dict, repr=False)

    @property
    def policy(self) -> Policy:
        """What the release must satisfy."""
        return self.release.policy

    @property
    def records(self) -> int:
        """How many records the release has."""
        return self.release.engine.records

    @property
    def suppressed_token(self) -> str:
        """The cell that stands for a suppressed value."""
        return self.policy.conventions.suppressed_token

    def generator(self) -> np.random.Generator:
        """Random numbers that the seed determines; the same ones at every call."""
        return np.random.default_rng(self.seed)

    @property
    def quasi_identifiers(self) -> list[Attribute]:
        """The quasi-identifiers, in the order of their names."""
        return self.attributes(self.policy.with_role(Role.QUASI_IDENTIFIER))

    @property
    def sensitive(self) -> list[Attribute]:
        """The sensitive attributes, in the order of their names."""
        return self.attributes(self.policy.with_role(Role.SENSITIVE))

    def attributes(self, names: Sequence[str]) -> list[Attribute]:
        """Some attributes. One scan of the table for those that were not asked for before.

        Raises:
            RemedyError: a column is not there, or does not keep its declared scale.
        """
        for name in names:
            if obstacle := self.release.obstacle(name):
                raise RemedyError(obstacle)
        self._read([name for name in names if name not in self._attributes])
        return [self._attributes[name] for name in names]

    def attribute(self, name: str) -> Attribute:
        """One attribute; see `attributes`."""
        return self.attributes([name])[0]

    def _read(self, names: Sequence[str]) -> None:
        domains = [self.release.domain(name) for name in names]
        batches = list(self.release.engine.batches(domains)) if domains else []
        for domain in domains:
            codes = np.concatenate([batch[domain.attribute] for batch in batches])
            name = domain.attribute
            declared = self.policy.attributes.get(name, AttributeDeclaration(role=Role.INSENSITIVE))
            hierarchy, tree = self.release.hierarchies.get(name), self.release.tree(domain)
            self._attributes[name] = Attribute(name, declared, domain, codes, hierarchy, tree)

    @cached_property
    def demands(self) -> Demands:
        """What every equivalence class must keep.

        Raises:
            CheckError: an expectation on classes cannot be evaluated at all.
        """
        unit = [] if self.release.unit is None else [self.release.unit.attribute]
        by_class = bool(unit) or self.policy.conventions.suppressed == "exempt"  # who counts depends on the classes
        hidden = all(domain.suppressed for domain in self.release.quasi_identifiers)  # maybe every record is
        grouped = self.policy.with_role(Role.QUASI_IDENTIFIER) if by_class or hidden else []
        needed = self.attributes([*self.policy.with_role(Role.SENSITIVE), *unit, *grouped])
        columns: dict[str, NDArray[np.int64]] = {one.name: one.codes for one in needed}
        if not columns:
            columns = {"": np.zeros(self.records, dtype=np.int64)}
        return Demands(self.release, columns)
