"""The view of a remedy: records as codes, the policy's demands on classes, and full audits on request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cancellation import checkpoint
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.outcome import KNOWN_ROWS, Outcome, Severity, Status
from tcdp_audit.core.base.words import noun_of_column
from tcdp_audit.core.check.demands import expectations_of, required_class_size, sufficient_class_size
from tcdp_audit.core.classes.shards import Progress, silent
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import Ranges
from tcdp_audit.core.encoding.hierarchy import Hierarchy, Tree
from tcdp_audit.core.encoding.keys import Codes, Floats, fold, freeze_arrays, frozen_array, frozen_arrays, numbered
from tcdp_audit.core.encoding.periods import Period, period_of
from tcdp_audit.core.information_loss.columns import LOSSY_ROLES, demanded_k
from tcdp_audit.core.policy.model import AttributeDeclaration, Role, Scale
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.release import Release
from tcdp_audit.core.release.unit_readings import linking_unit
from tcdp_audit.core.remedy.demands import Demands, with_class_sizes
from tcdp_audit.core.remedy.remedy import RemedyError, Treatment, require_least
from tcdp_audit.core.remedy.unit_cells import UnitRows
from tcdp_audit.core.units.coding import LinkedRows, UnitsBehind, code_histories, units_behind
from tcdp_audit.core.units.reading import root_of


@dataclass(frozen=True)
class Attribute:
    """One attribute of a release, record by record.

    Args:
        name: the column's name.
        declaration: role and scale.
        domain: its values in the order of the scale; `domain.size` is the code of a missing value.
        codes: the code of each record, in the table's order. Shape (records,).
        hierarchy: its generalisation hierarchy, if it has one.
        tree: the hierarchy over the domain, if it has every value.
    """

    name: str
    declaration: AttributeDeclaration
    domain: Domain
    codes: Codes
    hierarchy: Hierarchy | None = None
    tree: Tree | None = None

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        freeze_arrays(self, "codes")

    @property
    def scale(self) -> Scale:
        """The declared scale; nominal by default."""
        return self.declaration.scale or Scale.NOMINAL

    @property
    def is_numeric(self) -> bool:
        """Whether its values are numbers, none of them generalised."""
        return self.domain.values.dtype != object

    @property
    def is_ordered(self) -> bool:
        """Whether its values are numbers or ranks, and no generalised ones overlap."""
        return self.declaration.is_ordered and self.domain.is_ordered

    @cached_property
    def ranges(self) -> Ranges:
        """The numbers or ranks that each value covers; codes if the scale has no numbers."""
        if self.domain.covers is not None:
            return frozen_arrays(Ranges.of(self.domain.covers))
        own = self.domain.values if self.is_numeric else np.arange(self.domain.size)
        return frozen_arrays(Ranges.of_numbers(own))

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper end of each value; see `ranges`.

        Returns:
            Two float64 arrays of shape (domain,), in the order of the domain.
        """
        return self.ranges.low, self.ranges.high

    @cached_property
    def numbers(self) -> Floats:
        """The number that represents each value: itself, its rank, or the middle of its range. Shape (domain,).

        NaN for a suppressed value. An open end is at the end of the other values; see `Ranges.middles`.
        """
        middles = self.ranges.middles(*self.ranges.limits)
        return frozen_array(np.where(self.domain.is_uninformative[:-1], np.nan, middles))

    @property
    def span(self) -> float:
        """The difference of the greatest and the least number or rank of the domain; 0 for a single value."""
        least, largest = self.ranges.limits
        return largest - least

    @cached_property
    def periods(self) -> tuple[Period | None, ...]:
        """The period of the calendar that each value names, such as a day or a month; None for what names none."""
        return tuple(map(period_of, self.domain.labels))

    def released_codes(self, token: str) -> NDArray[np.int64]:
        """The code of each record as released: a missing quasi-identifier becomes the suppressed token.

        Args:
            token: the suppressed token. If no cell has it yet, the code of a missing value represents it.
        """
        codes = self.codes.astype(np.int64)
        if self.declaration.role is Role.QUASI_IDENTIFIER and self.domain.missing:
            codes[codes == self.domain.size] = self.suppressed_code(token)
        return codes

    def suppressed_code(self, token: str) -> int:
        """The code of the suppressed token; that of a missing value if no cell has it."""
        return self.domain.labels.index(token) if token in self.domain.labels else self.domain.size


def _none_known() -> float:
    return inf


def _measured(expectation: Expectation, outcome: Outcome, policy: Policy) -> set[str]:
    """The attributes that an outcome measures, one or several that are read together."""
    targets = expectation.check.targets(expectation.parameters, policy.document)
    return {name for one in targets if one.name == outcome.attribute for name in (*one.attributes, *one.known)}


def judges_histories(policy: Policy, outcome: Outcome) -> bool:
    """Whether a demand of a policy judges several rows of a unit together; see `RemedyView.judges_histories`."""
    if outcome.conventions.get(KNOWN_ROWS) == "all":
        return True
    asked = (one for one in policy.expectations if one.check.name == outcome.check)
    return any(one.check.reading(one.parameters) == "events" for one in asked)


@dataclass(frozen=True)
class RemedyView:
    """A release that fails its policy, to be changed.

    Args:
        release: the table under its policy.
        outcomes: the outcomes of its last audit.
        seed: the seed of every random choice of a remedy.
        audited: runs the complete audit of a treatment.
        progress: called with (step, done, total) during long work.
        least_loss: the least total loss of another remedy after which the release passes; infinite if none is known.
        part_audited: evaluates only the named checks after a treatment; None to select them from `audited`.
        records_failing: judges which records fail a demand on classes after a treatment.
        joining: the unit or the household of each record, where several tables are linked and the release is one of
            them; None where a column of the release says it.
        linking: gives `tables` and `linked`, where the release is the table of units of several linked tables.
    """

    release: Release
    outcomes: tuple[Outcome, ...]
    seed: int
    audited: Callable[[Treatment], tuple[Outcome, ...]]
    progress: Progress = silent
    least_loss: Callable[[], float] = _none_known
    part_audited: Callable[[Treatment, frozenset[str]], tuple[Outcome, ...]] | None = None
    records_failing: Callable[[Treatment], NDArray[np.bool_]] | None = None
    joining: Attribute | None = None
    linking: Callable[[], tuple[Mapping[str, RemedyView], LinkedRows | None]] | None = None
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
        """The cell that represents a suppressed value."""
        return self.policy.conventions.suppressed_token

    def checkpoint(self) -> None:
        """End the work here if the computation was cancelled; call it in loops that take long.

        Raises:
            KeyboardInterrupt: it was. Let it pass.
        """
        checkpoint()

    def generator(self) -> np.random.Generator:
        """A random generator from the seed, the same at every call."""
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
        """Some attributes. Cost: one scan of the table for those that were not read before.

        Raises:
            RemedyError: a column is absent, or does not fit its declared scale.
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
            The class number of each record, int64 from 0, shape (records,); and the number of classes.

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

    @property
    def tables(self) -> Mapping[str, RemedyView]:
        """The views of the other tables that have rows, if the release is the table of units of several linked ones."""
        return self._linking[0]

    @property
    def linked(self) -> LinkedRows | None:
        """The rows of all tables that belong together, if the release is that table; else None."""
        return self._linking[1]

    @cached_property
    def _linking(self) -> tuple[Mapping[str, RemedyView], LinkedRows | None]:
        return ({}, None) if self.linking is None else self.linking()

    def home(self, column: str) -> RemedyView:
        """The view of a column's table: this one, or one of `tables`."""
        if column in self.release.columns:
            return self
        return next((one for one in self.tables.values() if column in one.release.columns), self)

    @cached_property
    def unit_rows(self) -> UnitRows | None:
        """The rows of each unit that the unit's column joins in the release; None if it joins none."""
        name = linking_unit(self.policy)
        return UnitRows.of(self.attribute(name)) if name is not None and not self.release.obstacle(name) else None

    @property
    def unit_noun(self) -> str:
        """What a unit is called, in the singular: the household's where the policy names one."""
        document = self.policy.document
        own = document.unit_name if document.household is None else None
        return own or noun_of_column(document.root or "")

    def histories(self, owners: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """The history of each owner of rows as a number: equal where the labels of the rows are, in any order.

        Args:
            owners: the owner of each row, from 0. Shape (rows,).
            labels: the label of each row, from 0. Shape (rows,).

        Returns:
            int64, shape (largest owner + 1,); it depends on the rows alone, whatever the owners' numbers.

        Cost: that of `code_histories`.
        """
        return code_histories(owners, labels, int(owners.max()) + 1, int(labels.max()) + 1).codes

    def units_behind(self, pseudonyms: NDArray[np.int64], units: NDArray[np.int64]) -> UnitsBehind:
        """Count the units behind classes of histories that new pseudonyms would make.

        Args:
            pseudonyms: the new pseudonym of each row, as a number from 0. Shape (records,).
            units: the unit of each row, as a number from 0. Shape (records,).

        Cost: that of `histories`.
        """
        return units_behind(pseudonyms, units, self.classes()[0], self.demanded_k or 1)

    @property
    def history_k(self) -> int:
        """The size that demands need every class of whole histories to have; 1 where none does.

        It is counted in units, or in households. Demands that are judged against a scenario do not count: an intruder
        who knows fewer columns has larger classes. Nor does any where suppressed records are exempt.
        """
        if self.policy.conventions.suppressed == "exempt":
            return 1
        judged = (one for one in self.outcomes if one.conventions.get(KNOWN_ROWS) == "all" and not one.scenario)
        asked = [expectation for one in judged for expectation in expectations_of(one, self.policy)]
        counted = [one for one in asked if one.parameters.severity is Severity.ERROR and self._counts_roots(one)]
        return max((required_class_size(one, self.policy.document) or 1 for one in counted), default=1)

    def _counts_roots(self, expectation: Expectation) -> bool:
        """Whether its class size counts roots; that of a risk counts people, who are several in a household."""
        return expectation.check.on_classes or self.policy.document.household is None

    @property
    def demanded_k(self) -> int | None:
        """The greatest class size k that an expectation on classes demands, or that one on risk needs; else None."""
        k = demanded_k(self.policy)
        return None if k is None else ceil(k)

    def require_least(self, hidden_cells: int) -> None:
        """Stop a treatment that hides so many cells that the treated release would be discarded.

        Args:
            hidden_cells: a lower bound of the number of informative cells of quasi-identifiers and sensitive attributes
                that the treatment suppresses or drops.

        Raises:
            DominatedError: another remedy, after which the release passes, loses less. See `least_loss`.
        """
        attributes = [name for name, one in self.policy.attributes.items() if one.role in LOSSY_ROLES]
        root = root_of(self.release)  # one more column of the loss, where it joins rows
        columns = self.release.columns.intersection([*attributes, *([] if root is None else [root.attribute])])
        cells = self.records * len(columns)
        require_least(hidden_cells / cells if cells else 0.0, self.least_loss())

    def failing_on_classes(self, outcomes: Iterable[Outcome]) -> list[Outcome]:
        """The failed demands among some outcomes that each class must keep, so that another grouping may satisfy them.

        They are those on classes, and those on the table that need classes of some size, as a highest risk does.
        """
        return [
            one
            for one in outcomes
            if one.status is Status.FAILED and any(map(self._needs_classes, expectations_of(one, self.policy)))
        ]

    def _needs_classes(self, expectation: Expectation) -> bool:
        return expectation.check.on_classes or required_class_size(expectation, self.policy.document) is not None

    def judges_histories(self, outcome: Outcome) -> bool:
        """Whether a demand judges several rows of a unit together, which the unit's column joins in the release.

        For classes these are whole histories; other demands may know of some rows of a unit.
        """
        return judges_histories(self.policy, outcome)

    def failing_records(self, treatment: Treatment) -> NDArray[np.bool_]:
        """Whether each record that a treatment retains fails a demand on classes, judged as in an audit.

        Where whole histories are judged, all rows of a unit fail together.

        Args:
            treatment: the treatment; one without changes for the release as it is.

        Returns:
            bool, shape (retained records,), in their order.

        Raises:
            RemedyError: nothing can be audited in this view.

        Cost: that of an audit.
        """
        if self.records_failing is None:
            raise RemedyError("which records fail is known only while a release is repaired")
        return self.records_failing(treatment)

    def class_sizes(self, outcomes: Iterable[Outcome]) -> range:
        """The class sizes at which failing demands may hold that depend on the size of classes, but need none.

        An average risk is one of them. What needs a size is a demand on classes; see `failing_on_classes`.

        Args:
            outcomes: the failing outcomes.

        Returns:
            The sizes from the least that may suffice, above the k that the policy demands, to the one that always does;
            to all records where none is known. Empty if no such demand fails, or the release has fewer records.
        """
        known, least, most = self.demanded_k or 1, 0, 0.0
        for one in outcomes:
            for asked in expectations_of(one, self.policy) if one.status is Status.FAILED else ():
                size, enough = asked.check.class_size(asked.parameters), self._sufficient_size(asked)
                if size is not None and not asked.check.on_classes and enough > known:
                    least, most = max(least, size), max(most, enough)
        return range(max(least, known + 1), int(min(most, self.records)) + 1) if least else range(0)

    def _sufficient_size(self, expectation: Expectation) -> float:
        """The size of classes that keep a demand in any case; infinite where none is known."""
        size = sufficient_class_size(expectation, self.policy.document)
        return inf if size is None or self.release.unit is not None else size  # a k of a remedy counts records

    def outcomes_of(self, checks: frozenset[str], treatment: Treatment) -> tuple[Outcome, ...]:
        """Evaluate some checks after a treatment, exactly as in `audited`, without work for the others.

        Args:
            checks: their names.
            treatment: the treatment.

        Raises:
            DominatedError: the release loses more than after another remedy that suffices; see `least_loss`.
        """
        if self.part_audited is not None:
            return self.part_audited(treatment, checks)
        return tuple(one for one in self.audited(treatment) if one.check in checks)

    def columns_behind(self, outcome: Outcome) -> frozenset[str] | None:
        """The columns that an outcome depends on; None if they are unknown.

        An outcome on classes depends on the quasi-identifiers, the measured attributes and other columns that an
        intruder knows; one on the whole table depends on the columns that its expectation names, if any.
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
        """The demands on every equivalence class.

        Raises:
            CheckError: an expectation on classes cannot be evaluated.
        """
        unit = [] if self.release.unit is None else [self.release.unit.attribute]
        # under these the counted records depend on the classes
        by_class = bool(unit) or self.policy.conventions.suppressed == "exempt"
        hidden = all(domain.suppressed for domain in self.release.quasi_identifiers)  # maybe every record is
        grouped = self.policy.with_role(Role.QUASI_IDENTIFIER) if by_class or hidden else []
        needed = self.attributes([*self.policy.with_role(Role.SENSITIVE), *unit, *grouped])
        columns: dict[str, NDArray[np.int64]] = {one.name: one.codes for one in needed}
        if not columns:
            columns = {"": np.zeros(self.records, dtype=np.int64)}
        policy = with_class_sizes(self.policy)
        release = self.release if policy is self.policy else replace(self.release, policy=policy)
        return Demands(release, FrozenDict(columns))
