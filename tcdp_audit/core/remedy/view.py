"""The view of a remedy: the release's records as codes, the policy's demands on classes, a full audit on request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.arrays import Floats, freeze_arrays, frozen_array, frozen_arrays
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.classes.shards import Progress, silent
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import Ranges
from tcdp_audit.core.encoding.hierarchy import Hierarchy, Tree
from tcdp_audit.core.encoding.keys import Codes, fold, numbered
from tcdp_audit.core.information_loss.columns import LOSSY_ROLES, demanded_k
from tcdp_audit.core.policy.model import AttributeDeclaration, Role, Scale
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.unit_readings import linking_unit
from tcdp_audit.core.remedy.demands import Demands
from tcdp_audit.core.remedy.remedy import RemedyError, Treatment, require_least
from tcdp_audit.core.remedy.unit_cells import UnitRows

CLASS_SIZES = (2, 3, 5, 7, 10, 15, 20, 30, 50, 100)  # that are tried one after another


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

    def __post_init__(self) -> None:
        """Lock its arrays."""
        freeze_arrays(self, "codes")

    @property
    def scale(self) -> Scale:
        """Nominal where nothing else is declared."""
        return self.declaration.scale or Scale.NOMINAL

    @property
    def is_numeric(self) -> bool:
        """Say whether its values are numbers, none of them generalised."""
        return self.domain.values.dtype != object

    @property
    def is_ordered(self) -> bool:
        """Say whether its values are numbers or ranks, and no generalised ones overlap."""
        return self.declaration.is_ordered and self.domain.is_ordered

    @cached_property
    def ranges(self) -> Ranges:
        """The numbers or ranks that each value covers, one or several; codes where the scale has no numbers."""
        if self.domain.covers is not None:
            return frozen_arrays(Ranges.of(self.domain.covers))
        own = self.domain.values if self.is_numeric else np.arange(self.domain.size)
        return frozen_arrays(Ranges.of_numbers(own))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper end of what each value covers; see `ranges`.

        Returns:
            Two float64 arrays of shape (domain,), in the order of the domain.
        """
        return self.ranges.low, self.ranges.high

    @cached_property
    def numbers(self) -> Floats:
        """The number that stands for each value: itself, its rank, or the middle of its range. Shape (domain,).

        NaN for a suppressed value. An open end lies where the other values end; see `Ranges.middles`.
        """
        middles = self.ranges.middles(*self.ranges.limits)
        return frozen_array(np.where(self.domain.is_uninformative[:-1], np.nan, middles))

    @property
    def span(self) -> float:
        """Difference of the largest and the least number or rank of the domain; 0 for a single value."""
        least, largest = self.ranges.limits
        return largest - least

    def released_codes(self, token: str) -> NDArray[np.int64]:
        """The code of each record as it is released: a missing quasi-identifier becomes the suppressed token.

        Args:
            token: the suppressed token. Where no cell has it yet, the code of a missing value stands for it.
        """
        codes = self.codes.astype(np.int64)
        if self.declaration.role is Role.QUASI_IDENTIFIER and self.domain.missing:
            codes[codes == self.domain.size] = self.suppressed_code(token)
        return codes

    def suppressed_code(self, token: str) -> int:
        """The code of the suppressed token; that of a missing value where no cell has it."""
        return self.domain.labels.index(token) if token in self.domain.labels else self.domain.size


def _none_known() -> float:
    return inf


def _measured(expectation: Expectation, outcome: Outcome, policy: Policy) -> set[str]:
    """The attributes behind the name that an outcome gives to one or to several read together."""
    targets = expectation.check.targets(expectation.parameters, policy.document)
    return {name for one in targets if one.name == outcome.attribute for name in (*one.attributes, *one.known)}


@dataclass(frozen=True)
class RemedyView:
    """A release that fails its policy, to be changed.

    Args:
        release: the table under its policy.
        outcomes: those of its last audit.
        seed: of every random choice that a remedy makes.
        audited: the complete audit of a treatment, as slow as an audit.
        progress: called with (step, done, in all) on long work.
        least_loss: the least total loss of another remedy after which the release passes; infinite where none is known.
        part_audited: the outcomes of some checks after a treatment, by their names; None for those of `audited`.
    """

    release: Release
    outcomes: tuple[Outcome, ...]
    seed: int
    audited: Callable[[Treatment], tuple[Outcome, ...]]
    progress: Progress = silent
    least_loss: Callable[[], float] = _none_known
    part_audited: Callable[[Treatment, frozenset[str]], tuple[Outcome, ...]] | None = None
    _attributes: dict[str, Attribute] = field(default_factory=dict, repr=False)

    @property
    def policy(self) -> Policy:
        """The policy that the release must satisfy."""
        return self.release.policy

    @property
    def records(self) -> int:
        """The number of records of the release."""
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

    def classes(self, attributes: Sequence[Attribute] | None = None) -> tuple[NDArray[np.int64], int]:
        """The equivalence classes of the records, numbered in the order of their values.

        A missing quasi-identifier agrees with a suppressed one, because it is released as one.

        Args:
            attributes: records that agree in these form a class; by default the quasi-identifiers. Without any, all
                records form one class.

        Returns:
            The class number of each record, int64 from 0, shape (records,); and how many classes there are.

        Cost: that of `numbered`.
        """
        chosen = self.quasi_identifiers if attributes is None else attributes
        columns = [
            np.zeros(self.records, dtype=np.int64),
            *(one.released_codes(self.suppressed_token) for one in chosen),
        ]
        keys = fold(columns, [1, *(one.domain.size + 1 for one in chosen)])
        distinct, numbers = numbered(keys.values, keys.span)
        return numbers.astype(np.int64), len(distinct)

    @cached_property
    def unit_rows(self) -> UnitRows | None:
        """The rows of each unit, where the column of the unit joins them in the release; None where it joins none."""
        name = linking_unit(self.policy)
        return UnitRows.of(self.attribute(name)) if name is not None and not self.release.obstacle(name) else None

    @property
    def demanded_k(self) -> int | None:
        """The largest class size k that an expectation on classes demands; None where none does."""
        k = demanded_k(self.policy)
        return None if k is None else ceil(k)

    def require_least(self, hidden_cells: int) -> None:
        """Stop where so much will be hidden that the treated release would not be taken.

        Args:
            hidden_cells: how many cells of quasi-identifiers and sensitive attributes that tell something will tell
                nothing in the treated release, those of dropped records among them; or fewer.

        Raises:
            DominatedError: another remedy, after which the release passes, loses less. See `least_loss`.
        """
        attributes = [name for name, one in self.policy.attributes.items() if one.role in LOSSY_ROLES]
        cells = self.records * len(self.release.columns.intersection(attributes))
        require_least(hidden_cells / cells if cells else 0.0, self.least_loss())

    def failing_on_classes(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """Choose the failed demands on classes among some outcomes: what grouping records in another way can mend."""
        of_classes = {one.check.name for one in self.policy.expectations if one.check.on_classes}
        return [one for one in outcomes if one.status is Status.FAILED and one.check in of_classes]

    def class_sizes(self, outcomes: Iterable[Outcome]) -> list[int]:
        """The sizes of classes at which demands may be kept that are not on classes, but depend on their size.

        Args:
            outcomes: what fails.

        Returns:
            The least that may do, and larger ones, up to all records; above the k that the policy demands. None where
            no demand of the kind fails.
        """
        failing = {one.check for one in outcomes if one.status is Status.FAILED}
        asked = [one for one in self.policy.expectations if one.check.name in failing and not one.check.on_classes]
        sizes = [one.check.class_size(one.parameters) for one in asked]
        least = max((one for one in sizes if one is not None), default=None)
        if least is None:
            return []
        known = self.demanded_k or 1
        return sorted(size for size in {least, *CLASS_SIZES} if max(least, known + 1) <= size <= self.records)

    def outcomes_of(self, checks: frozenset[str], treatment: Treatment) -> tuple[Outcome, ...]:
        """Evaluate some checks after a treatment, exactly as in `audited`, without work for the others.

        Args:
            checks: their names.
            treatment: what would be done to the release.

        Raises:
            DominatedError: the release loses more than after another remedy that suffices; see `least_loss`.
        """
        if self.part_audited is not None:
            return self.part_audited(treatment, checks)
        return tuple(one for one in self.audited(treatment) if one.check in checks)

    def columns_behind(self, outcome: Outcome) -> frozenset[str] | None:
        """The columns that an outcome depends on; None where it does not tell which.

        One of equivalence classes depends on the quasi-identifiers, on what it measures and on what an intruder knows
        besides; one of the whole table on the attributes, or the column, that its expectation names, if it names some.
        """
        measured, on_classes = set[str](), False
        for one in self.policy.expectations:
            if one.check.name == outcome.check:
                on_classes |= one.check.on_classes
                measured |= _measured(one, outcome, self.policy)
        if on_classes:
            return frozenset({*self.policy.with_role(Role.QUASI_IDENTIFIER), *measured, *outcome.known})
        column = outcome.parameters.get("column")
        return frozenset(outcome.parameters.get("attributes") or ([column] if column else ())) or None

    @cached_property
    def demands(self) -> Demands:
        """The demands that every equivalence class must keep.

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
        return Demands(self.release, FrozenDict(columns))
