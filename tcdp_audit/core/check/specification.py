"""The declarations that every kind of check makes, and the reasons why an expectation cannot hold for a policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import field, replace
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from tcdp_audit.core.base.declared_types import items_of
from tcdp_audit.core.base.errors import PluginError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.guide_file import DisclosureType, Guide
from tcdp_audit.core.base.words import listing, noun_form
from tcdp_audit.core.check.needs import (
    CLASSES_OF_TABLES,
    KNOWN_SECRETS,
    NO_RECORDS,
    OF_SINGLE_ROWS,
    PAIRS_BY_UNIT,
    PAIRS_OF_TABLES,
    PAIRS_OF_UNITS,
    SEVERAL_TABLES,
    UNDEFINED,
    Need,
    further_tables,
    missing,
    missing_tables,
)
from tcdp_audit.core.check.sentences import Sentences
from tcdp_audit.core.check.threshold import Limit, Parameters, Target
from tcdp_audit.core.policy.faults import faults_of_knowledge, name_of_knowledge, nearest
from tcdp_audit.core.policy.model import SEPARATOR, AttributeDeclaration, PolicyDocument, Role, Scale

if TYPE_CHECKING:
    from tcdp_audit.core.check.aggregate_check import AggregateCheck
    from tcdp_audit.core.check.class_check import CheckOnClasses
    from tcdp_audit.core.check.table_check import TableCheck

LINKED = "linked"  # a reading, see `history_reading`
P = TypeVar("P", bound=Parameters)
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Specification(ABC, Generic[P]):
    """The declaration of a check. What differs between the kinds is a method here; no one asks for the kind.

    Args:
        name: snake_case name for policies, unique among all plugins, never changed once released.
        title: what a person calls it.
        expectation_name: what libraries of expectations call it, after `ExpectTable` or `ExpectColumn`, such as
            `ToSatisfyKMap`; by default derived from the name.
        guide: definition, formula, reading and source.
        disclosure_type: its place in Torra's map.
        parameters: a model of its parameters, derived from `Parameters` or `AttributeParameters`.
        on_attribute: whether it measures a sensitive attribute.
        joint: whether it always reads several sensitive attributes together, whatever the policy's convention.
        joint_if: whether it reads the attributes that its parameters name together, under some parameters.
        needs_quasi_identifiers: whether it has nothing to measure where no column is a quasi-identifier.
        reads_known: of one that needs no quasi-identifier, the columns that it takes to be known under some parameters
            and a policy; None where it depends on none, so that it is judged once for all intruders.
        needs_hierarchy: whether it needs the attribute's hierarchy under some parameters.
        scales: the scales of the attribute, or of the columns it compares, that it can measure under some parameters;
            None for every scale.
        variant: a suffix of the title that parameters bring, such as the distance.
        monotone: whether merging equivalence classes never turns a passing release into a failing one under some
            parameters, each record being counted and the reference staying as it is. A search for a remedy prunes by
            it, so it is False unless it is proved.
        validate: further faults of the parameters under a policy: (parameter or "", sentence).
        implies: demands that hold whenever an expectation holds: a check's name, and parameters of it. What is said
            here may let a person drop a demand, so say only what is proved.
        impossible: why no release can keep an expectation under a policy, whatever its records are.
        class_size: the size from which on larger equivalence classes may keep a demand that is not one on classes
            itself; None where their size does not decide. Remedies try k from there on.
        required_class_size: the size below which no equivalence class may be where an expectation holds under a policy;
            None where none follows from it. Remedies make no smaller ones, so say only what is proved.
        sufficient_class_size: the size of equivalence classes from which on an expectation holds under a policy,
            whatever else is in them; None where none is known. What is said here may let a person drop a demand, so
            say only what is proved. Where the size that is required suffices, the two demand the same.
        sentences: templates of what it says about an outcome, in place of the general sentence.
        needs: what it needs of the policy, and the further tables that it reads. Checks on classes read none.
        needs_if: what else it needs under some parameters and a policy.
        controls: names of the tables among these that only say what chance does: the check still asks about the
            release alone.
        answers: names of checks whose question its outcome answers as well, so that a report does not list them as not
            examined where it was run.
        concerns: `masked` for one that attacks values which were changed at random or by swapping: a report lists it
            as not examined only where the policy declares such values. Nothing for all others.
        history_reading: what it judges, under some parameters, where a released unit joins rows: `units`, one row a
            unit with its whole history, a share being the share of units that have a value in any row; `cells`, the
            rows of a class of histories that agree in their quasi-identifiers; `events`, the rows of each unit that it
            reads by itself; `rows`, single rows, which is less than an intruder sees; `linked`, whole histories as
            `units` where the policy has several tables, and single rows of one table; `none` where it is not defined.
            By default `units` on classes, `cells` on a sensitive attribute, and `rows` on tables.
    """

    name: str
    title: str
    guide: Guide
    disclosure_type: DisclosureType
    parameters: type[P]
    on_attribute: bool = False
    joint: bool = False
    joint_if: Callable[[P], bool] = field(default=lambda _: False)
    needs_quasi_identifiers: bool = True
    reads_known: Callable[[P, PolicyDocument], Sequence[str] | None] = field(default=lambda _, __: None)
    needs_hierarchy: Callable[[P], bool] = field(default=lambda _: False)
    scales: Callable[[P], frozenset[Scale] | None] = field(default=lambda _: None)
    variant: Callable[[P], str] = field(default=lambda _: "")
    monotone: Callable[[P], bool] = field(default=lambda _: False)
    validate: Callable[[P, PolicyDocument], Iterable[tuple[str, str]]] = field(default=lambda _, __: ())
    implies: Callable[[P, PolicyDocument], Iterable[tuple[str, Mapping[str, Any]]]] = field(default=lambda _, __: ())
    impossible: Callable[[P, PolicyDocument], Iterable[str]] = field(default=lambda _, __: ())
    class_size: Callable[[P], int | None] = field(default=lambda _: None)
    required_class_size: Callable[[P, PolicyDocument], int | None] = field(default=lambda _, __: None)
    sufficient_class_size: Callable[[P, PolicyDocument], int | None] = field(default=lambda _, __: None)
    expectation_name: str = ""
    sentences: Sentences = field(default_factory=Sentences)
    needs: AbstractSet[Need] = frozenset()
    needs_if: Callable[[P, PolicyDocument], AbstractSet[Need]] = field(default=lambda _, __: frozenset())
    controls: frozenset[str] = frozenset()
    answers: tuple[str, ...] = ()
    concerns: str = ""
    history_reading: Callable[[P], str] | None = None

    on_records: ClassVar[bool] = True
    """Whether it judges records; otherwise released tables of figures, which have none."""
    on_classes: ClassVar[bool] = False
    """Whether it is measured on equivalence classes, so that grouping records in another way can mend a failure."""
    judges_each_class: ClassVar[bool] = False
    """Whether every class must keep the thresholds by itself."""
    passes_if: ClassVar[str] = "Passes if"
    """How the sentence on a threshold begins."""

    @abstractmethod
    def by_kind(
        self,
        of_classes: Callable[[CheckOnClasses[Any]], T],
        of_table: Callable[[TableCheck[Any]], T],
        of_cells: Callable[[AggregateCheck[Any]], T],
    ) -> T:
        """The result of one of three functions: for checks on classes, on tables of records, or on cells."""

    @property
    @abstractmethod
    def limits(self) -> tuple[Limit, ...]:
        """The parameters with a threshold, that of the headline figure first."""

    @property
    def headline(self) -> Limit:
        """The limit of the figure that outcomes report first."""
        return self.limits[0]

    def demanded(self, parameters: P) -> Fraction | None:
        """The headline threshold of an expectation."""
        return self.headline.demanded(parameters)

    def demands(self, parameters: P) -> dict[str, Fraction]:
        """Every threshold of an expectation, by the parameter that has it."""
        given = {one.parameter: one.demanded(parameters) for one in self.limits}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def requires(self) -> frozenset[str]:
        """The further tables that it reads: `original`, `population`, `holdout`, `registry`, `previous`."""
        return further_tables(self.needs)

    @property
    def risk(self) -> str:
        """The harm that could still happen where no one asks it, in one line; nothing if its guide has none."""
        return self.guide.risk or self.guide.question

    def missing_tables(self, parameters: P, document: PolicyDocument) -> Iterator[str]:
        """The sentences on tables that it cannot do without, and that the policy leaves to the command."""
        yield from missing_tables({*self.needs, *self.needs_if(parameters, document)}, document)

    def titled(self, parameters: P) -> str:
        """The title with what the parameters add to it."""
        variant = self.variant(parameters)
        return f"{self.title}, {variant}" if variant else self.title

    def targets(self, parameters: P, document: PolicyDocument) -> list[Target]:
        """The targets of an expectation, one outcome each, scenario by scenario."""
        unit = parameters.unit or ""
        return [
            replace(target, part=part, unit=unit, scenario="" if unit else part)
            for part, own in (self.parts(parameters, document) or {"": document}).items()
            for target in self._targets(parameters.in_scenario(own) if part else parameters, own)
        ]

    def parts(self, parameters: P, document: PolicyDocument) -> dict[str, PolicyDocument]:
        """The documents under which an expectation is judged, where they differ from that of the policy; else empty.

        Each scenario has one, by the scenario's name, and so has a unit that the expectation names.
        """
        if parameters.unit is None:
            return self._scenarios(parameters, document)
        if parameters.unit == document.root:
            return {}
        return {f"unit {parameters.unit}": document.of_unit(parameters.unit)}  # no scenario has such a name

    def _scenarios(self, parameters: P, document: PolicyDocument) -> dict[str, PolicyDocument]:
        """The scenarios in which an expectation is judged, each with the policy of that scenario; empty without any.

        By default these are all that have its attributes at stake. A check that depends on nothing that is known is
        judged once, unless the expectation names scenarios; one that needs no quasi-identifier and reads those that
        there are is judged where there are any. Names that the policy does not have are left out; see `faults`.
        """
        if document.scenario is not None:
            return {}
        if parameters.knows is not None:
            name = name_of_knowledge(parameters.knows)
            return {name: document.in_scenario(name, parameters.knows)}
        declared = document.scenarios or {}
        if parameters.against is not None:
            named = [parameters.against] if isinstance(parameters.against, str) else parameters.against
            return {name: document.in_scenario(name) for name in dict.fromkeys(named) if name in declared}
        within = {name: document.in_scenario(name) for name in declared}
        if not self.needs_quasi_identifiers:
            read = {name: self.reads_known(parameters, own) for name, own in within.items()}
            if all(one is None for one in read.values()):
                return {}
            return {name: own for name, own in within.items() if read[name]} or within
        if not self.on_attribute:
            return within
        chosen = {*self._chosen(parameters)}
        at_stake = {name: {*own.with_role(Role.SENSITIVE)} for name, own in within.items()}
        return {name: own for name, own in within.items() if at_stake[name] and chosen <= at_stake[name]} or within

    def _targets(self, parameters: P, document: PolicyDocument) -> list[Target]:
        """The targets of an expectation in one scenario."""
        if not self.on_attribute:
            return [Target()]
        sensitive = sorted(name for name, one in document.attributes.items() if one.role is Role.SENSITIVE)
        chosen = self._chosen(parameters)
        convention = document.conventions.multiple_sensitive
        if self.joint or self.joint_if(parameters) or (convention == "joint" and not chosen):
            return [Target(tuple(chosen or sensitive))] if chosen or sensitive else []
        known = convention == "others_as_quasi_identifiers"
        return [
            Target((name,), tuple(other for other in sensitive if other != name) if known else ())
            for name in chosen or sensitive
        ]

    def known(self, parameters: P, document: PolicyDocument, target: Target) -> list[str]:  # noqa: ARG002
        """The columns that the intruder is taken to know: the quasi-identifiers, and others by convention."""
        quasi_identifiers = (n for n, one in document.attributes.items() if one.role is Role.QUASI_IDENTIFIER)
        return [*sorted(quasi_identifiers), *target.known]

    def reading(self, parameters: P) -> str:
        """The reading of a released unit that joins rows; see `history_reading`."""
        if self.history_reading is not None:
            return self.history_reading(parameters)
        if not self.on_classes:
            return "rows"
        return "cells" if self.on_attribute else "units"

    def _chosen(self, parameters: P) -> list[str]:
        """The sensitive attributes that the parameters name."""
        one, several = getattr(parameters, "attribute", None), getattr(parameters, "attributes", None)
        return [one] if one is not None else sorted(several or [])

    def faults(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """The reasons why an expectation cannot hold for this policy: (parameter or "", sentence)."""
        if not document.has_records:
            yield "", NO_RECORDS
            return
        misnamed = [*_misnamed_scenarios(parameters, document), *_misnamed_unit(parameters, document)]
        yield from misnamed
        if misnamed:
            return
        parts = self.parts(parameters, document)
        if not parts:
            yield from self._faults(parameters, document)
            return
        own = {name: list(self._faults(parameters.in_scenario(one), one)) for name, one in parts.items()}
        for field_name, sentence in dict.fromkeys(chain.from_iterable(own.values())):
            where = [name for name, faults in own.items() if (field_name, sentence) in faults]
            of_some = f"in {noun_form('scenario', len(where))} {listing(where)}: " if len(where) < len(own) else ""
            yield field_name, f"{of_some}{sentence}"

    def _faults(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """The reasons why it cannot hold in one scenario."""
        known = (one.role is Role.QUASI_IDENTIFIER for one in document.attributes.values())
        if self.needs_quasi_identifiers and not any(known):
            yield "", "no attribute has the role quasi_identifier, so there is nothing to group by"
        misnamed = list(self._misnamed(parameters, document)) if self.on_attribute else []
        yield from misnamed
        if misnamed:
            return
        targets = self._targets(parameters, document)
        if not targets:
            in_scenario = document.scenario is not None
            yield "", "no sensitive attribute is at stake" if in_scenario else "no attribute has the role sensitive"
        for target in targets:
            yield from self._unmeasurable(parameters, target, document)
        yield from self._unmet(parameters, document)
        if parameters.known_rows == "all" and self._reading_of(parameters, document) in ("rows", "none"):
            yield "known_rows", "it judges single rows, however many of them are known; leave `known_rows` out"
        if document.tables is not None:
            yield from self._of_several_tables(parameters, targets, document)
        gave = f"`validate` of the check {self.name!r} gave"
        yield from items_of(self.validate(parameters, document), tuple, gave, PluginError)

    def _reading_of(self, parameters: P, document: PolicyDocument) -> str:
        """The reading, where the number of tables may decide on it."""
        reading = self.reading(parameters)
        return reading if reading != LINKED else "rows" if document.tables is None else "units"

    def _of_several_tables(
        self, parameters: P, targets: Iterable[Target], document: PolicyDocument
    ) -> Iterator[tuple[str, str]]:
        """The faults of a demand on several tables, which are judged as whole histories if they are linked."""
        reading = self._reading_of(parameters, document)
        of_histories = self.on_classes or reading == "units"
        if document.is_unlinked and of_histories:
            yield "", CLASSES_OF_TABLES
        elif parameters.known_rows == "one":
            yield "known_rows", SEVERAL_TABLES
        elif self.on_classes and reading in ("rows", "events"):
            yield "", SEVERAL_TABLES
        elif reading == "none":
            yield "", UNDEFINED
        elif reading == "rows" and OF_SINGLE_ROWS & self.needs and Need.ROWS not in self.needs:
            yield from self._unpaired(parameters, document)
        elif any(one.known or len({name.partition(SEPARATOR)[0] for name in one.attributes}) > 1 for one in targets):
            yield "", KNOWN_SECRETS

    def _unpaired(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        """The reason why no rows are paired; rows of the table of units are, by an unchanged unit."""
        named = getattr(parameters, "attributes", None) or ()
        top = (document.unit or "").partition(SEPARATOR)[0]
        if OF_SINGLE_ROWS & self.needs != {Need.ORIGINAL} or "attributes" not in self.parameters.model_fields:
            yield "", PAIRS_OF_TABLES
        elif not document.keep_links:
            yield "", PAIRS_BY_UNIT
        elif not named or top in document.event_tables or any(not one.startswith(f"{top}{SEPARATOR}") for one in named):
            yield "attributes", PAIRS_OF_UNITS

    def _unmet(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        needs, demands = {*self.needs, *self.needs_if(parameters, document)}, bool(self.demands(parameters))
        if document.tables is not None and self._reading_of(parameters, document) == "units":
            needs -= {Need.ROWS}  # each unit, with its whole history, is one row
        for need in Need:
            if need in needs:
                yield from missing(need, parameters, document, demands=demands)

    def _misnamed(self, parameters: P, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        field_name = "attributes" if getattr(parameters, "attribute", None) is None else "attribute"
        for name in self._chosen(parameters):
            declaration = document.attributes.get(name)
            if declaration is None:
                suggestion = nearest(name, document.attributes)
                yield field_name, f"the policy declares no attribute {name!r}{suggestion}"
            elif declaration.role is not Role.SENSITIVE and document.scenario is not None:
                yield field_name, f"{name!r} is not at stake: it is known, or `at_stake` does not name it"
            elif declaration.role is not Role.SENSITIVE:
                yield field_name, f"{name!r} is not sensitive: its role is {declaration.role.value}"

    def _unmeasurable(self, parameters: P, target: Target, document: PolicyDocument) -> Iterator[tuple[str, str]]:
        allowed, title = self.scales(parameters), self.titled(parameters)
        if len(target.attributes) > 1 and (allowed is not None or self.needs_hierarchy(parameters)):
            yield "", f"{title} cannot read several attributes as one; name one `attribute`"
            return
        for name in target.attributes:
            declaration = document.attributes[name]
            if allowed is not None:
                yield from _scale_faults(title, name, declaration, allowed)
            if self.needs_hierarchy(parameters) and declaration.hierarchy is None:
                yield ("", f"{title} needs a hierarchy of {name!r}; add `hierarchy: {name}.csv` to its declaration")
            if document.conventions.reference == "declared" and declaration.distribution is None:
                yield ("", f"the reference is declared, but {name!r} has none; add `distribution: uniform` or weights")


def _misnamed_scenarios(parameters: Parameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The faults of the scenarios that an expectation names, and of what it takes to be known."""
    if parameters.against is not None and parameters.knows is not None:
        yield "knows", "the scenarios of `against` say what is known; leave out one of the two"
        return
    if parameters.against is not None:
        named = [parameters.against] if isinstance(parameters.against, str) else parameters.against
        declared = document.scenarios or {}
        for number, name in enumerate(named):
            if name not in declared:
                more = nearest(name, declared) if declared else "; declare it under `scenarios:`"
                yield "against", f"the policy declares no scenario {name!r}{more}"
            elif name in named[:number]:
                yield "against", f"{name!r} is named twice"
    for sentence in faults_of_knowledge(parameters.knows or (), document):
        yield "knows", sentence


def _misnamed_unit(parameters: Parameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """The faults of the unit that an expectation names."""
    name = parameters.unit
    if name is None:
        return
    declared, purposes = document.attributes.get(name), (document.unit, document.household)
    if declared is None and name not in purposes:
        yield "unit", f"the policy declares no attribute {name!r}{nearest(name, document.attributes)}"
    elif name == document.unit and document.household is None:
        yield "unit", f"{name!r} is the unit of the policy, which every demand judges; leave `unit` out"
    elif document.scenarios or parameters.against is not None or parameters.knows is not None:
        yield "unit", "a scenario is judged by the unit of the policy; leave `unit` out, or write a separate policy"
    elif declared is not None and declared.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE):
        role = declared.role.value.replace("_", "-")
        yield "unit", f"{name!r} joins rows, and its role is {role}; name a column that is neither known nor at stake"
    elif declared is not None and declared.role is Role.IDENTIFIER:
        yield "unit", f"{name!r} is an identifier, which no release may contain, so that it joins no rows"
    elif name == document.key and not document.keep_key:
        yield "unit", f"{name!r} is the key, which is not released, so that it joins no rows"
    elif document.is_unlinked:
        yield "unit", "nothing links the tables of the policy, so that no unit has rows in them; leave `unit` out"
    elif document.tables is not None and name.partition(SEPARATOR)[0] != document.unit_table:
        of = repr(document.unit_table)
        yield "unit", f"{name!r} is no column of the table of units, {of}, whose rows it would join; name one of {of}"


def _scale_faults(
    title: str, name: str, declaration: AttributeDeclaration, allowed: frozenset[Scale]
) -> Iterator[tuple[str, str]]:
    if declaration.scale not in allowed:
        scales = " or ".join(sorted(scale.value for scale in allowed))
        example = f"{name}: {{role: sensitive, scale: {'numeric' if Scale.NUMERIC in allowed else scales}}}"
        yield "", f"{title} needs {name!r} to be {scales}; declare it, for example `{example}`"
    elif declaration.scale is Scale.ORDINAL and declaration.order is None:
        example = f"{name}: {{role: sensitive, scale: ordinal, order: [low, middle, high]}}"
        yield "", f"{title} needs the order of {name!r}; declare it, for example `{example}`"
