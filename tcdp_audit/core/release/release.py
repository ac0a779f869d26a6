"""A release: a table in an engine, read under a policy's roles, scales, conventions and hierarchies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.base.errors import DataError, PolicyError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.frozen import FrozenDict, dataclass, frozen
from tcdp_audit.core.encoding.domain import Domain, Misfit, RawDomain
from tcdp_audit.core.encoding.reading import domain_of, joined_without_blanks, union
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.faults import located, unsound
from tcdp_audit.core.policy.model import AttributeDeclaration, Role, Scale
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.policy.source import PolicySource, parse_yaml

if TYPE_CHECKING:
    from tcdp_audit.core.encoding.hierarchy import Hierarchy, Tree


@dataclass(frozen=True)
class _Read:
    """An attribute: its domain, the values that do not fit its scale, and its domain in the reference."""

    domain: Domain
    misfit: Misfit | None
    reference: Domain | None = None


@dataclass(frozen=True)
class Release:
    """A table with declared roles.

    Args:
        engine: the engine over the table.
        policy: the policy that declares its columns.
        original: the table it was made from, if the policy names one.
        cache: keeps what columns were read as, from one audit to the next.
    """

    engine: Engine
    policy: Policy
    original: Engine | None = None
    cache: Cache = field(default_factory=Cache, repr=False, compare=False)

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of the table's columns."""
        return _columns(self.engine)

    @cached_property
    def _read(self) -> Mapping[str, _Read | DataError]:
        return {name: self._reading(name) for name in self._examined if name in self.columns}

    @property
    def _readable(self) -> Mapping[str, _Read]:
        return {name: read for name, read in self._read.items() if isinstance(read, _Read)}

    def _reading(self, attribute: str) -> _Read | DataError:
        try:
            own, misfit = self._domain_of(attribute, self.engine.domain(attribute))
            reference = self._reference_domain(attribute)
            if reference is None:
                return _Read(own, misfit)
            _require_alike(own, reference)
            both = [own, reference]
            own, reference = self.cache.get(("union", Identity(*both)), lambda: union(both))
            return _Read(own, misfit, reference)
        except DataError as error:
            return error

    def _domain_of(self, attribute: str, raw: RawDomain) -> tuple[Domain, Misfit | None]:
        declaration = self.policy.attributes.get(attribute, AttributeDeclaration(role=Role.INSENSITIVE))
        conventions = self.policy.conventions
        joins = attribute in (self.policy.document.unit, self.policy.document.household)
        key = ("domain", attribute, Identity(raw), declaration.reading, conventions.model_dump_json(), joins)

        def read() -> tuple[Domain, Misfit | None]:
            domain, misfit = domain_of(attribute, raw, declaration, conventions)
            return (joined_without_blanks(domain, conventions) if joins else domain), misfit

        return self.cache.get(key, read)

    def _reference_domain(self, attribute: str) -> Domain | None:
        """A sensitive attribute's domain in its reference distribution, if that is not the release's."""
        declaration = self.policy.attributes.get(attribute)
        if declaration is None or declaration.role is not Role.SENSITIVE:
            return None
        reference, raw = self.policy.conventions.reference, None
        if reference == "original" and self.original is not None and attribute in _columns(self.original):
            raw = self.original.domain(attribute)
        elif reference == "declared" and declaration.order is None:
            raw = self.cache.get(("declared", declaration.reading), lambda: _declared(declaration))
        return None if raw is None else self._domain_of(attribute, raw)[0]

    @cached_property
    def original_domains(self) -> Mapping[str, Domain]:
        """The original's sensitive attributes, coded like the release's, if the original is the reference."""
        if self.policy.conventions.reference != "original":
            return FrozenDict()
        return FrozenDict({name: one.reference for name, one in self._readable.items() if one.reference is not None})

    @cached_property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """The declared hierarchies; see `declared_hierarchies`."""
        return declared_hierarchies(self.policy, self.cache)

    @cached_property
    def unknown_labels(self) -> Mapping[str, list[int]]:
        """For each attribute with a hierarchy the codes of values that are not in it."""
        domains = {name: self.domains[name] for name in self.hierarchies if name in self.domains}
        unknown = {name: self.hierarchies[name].unknown(domain.labels) for name, domain in domains.items()}
        return FrozenDict({name: frozen(codes) for name, codes in unknown.items() if codes})

    def tree(self, domain: Domain) -> Tree | None:
        """An attribute's hierarchy over its domain; None if it has none with all its values."""
        hierarchy = self.hierarchies.get(domain.attribute)
        if hierarchy is None or domain.attribute in self.unknown_labels:
            return None
        return self.cache.get(("tree", Identity(hierarchy, domain)), lambda: hierarchy.over(domain.labels))

    @property
    def _examined(self) -> list[str]:
        """The attributes whose values are read: those that are grouped or measured, and those with a scale."""
        wanted = [
            name
            for name, one in sorted(self.policy.attributes.items())
            if one.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
            or one.scale in (Scale.NUMERIC, Scale.ORDINAL)
            or one.hierarchy is not None
        ]
        document = self.policy.document
        joining = [one for one in (document.unit, document.household) if one is not None and one not in wanted]
        return [*wanted, *joining]

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """The domain of each examined attribute that could be read."""
        return FrozenDict({name: read.domain for name, read in self._readable.items()})

    def domain(self, attribute: str) -> Domain:
        """The domain of any column, examined or not; `DataError` if it has none."""
        if attribute in self.domains:
            return self.domains[attribute]
        read = self._reading(attribute)
        if isinstance(read, DataError):
            raise read
        return read.domain

    @cached_property
    def misfits(self) -> Mapping[str, Misfit]:
        """The attributes with values that do not fit their declared scale."""
        return FrozenDict({name: read.misfit for name, read in self._readable.items() if read.misfit is not None})

    @cached_property
    def unreadable(self) -> Mapping[str, str]:
        """The attributes that have no domain, each with the reason."""
        return FrozenDict({name: str(read) for name, read in self._read.items() if isinstance(read, DataError)})

    @cached_property
    def quasi_identifiers(self) -> tuple[Domain, ...]:
        """The domains of the quasi-identifiers that the table has."""
        names = self.policy.with_role(Role.QUASI_IDENTIFIER)
        return tuple(self.domains[name] for name in names if name in self.domains)

    @cached_property
    def sensitive(self) -> tuple[Domain, ...]:
        """The domains of the sensitive attributes that the table has."""
        return tuple(self.domains[name] for name in self.policy.with_role(Role.SENSITIVE) if name in self.domains)

    @property
    def unit(self) -> Domain | None:
        """The domain of the entity column, if the policy declares one."""
        name = self.policy.document.unit
        return None if name is None else self.domains.get(name)

    def obstacle(self, attribute: str) -> str:
        """The reason why an attribute cannot be used; empty if it can."""
        if attribute not in self.columns:
            document = self.policy.document
            dropped = attribute == document.unit and not document.unit_released
            more = ", and is what the audit counts by; audit the copy that has it" if dropped else ""
            return f"column {attribute!r} is not in the release{more}"
        if attribute in self.unreadable:
            return self.unreadable[attribute]
        if attribute in self.misfits:
            return f"column {attribute!r} does not keep its declared scale"
        return ""


def _columns(engine: Engine) -> frozenset[str]:
    return frozenset(column.name for column in engine.columns)


def _declared(declaration: AttributeDeclaration) -> RawDomain | None:
    """The values of a declared distribution as raw values of a column."""
    if not isinstance(declaration.distribution, dict):
        return None
    values = np.array([*sorted(declaration.distribution), None], dtype=object)[:-1]
    return RawDomain(values, np.ones(len(values), dtype=np.int64), 0)


def _require_alike(own: Domain, reference: Domain) -> None:
    """Raise an error if one of two domains is generalised and the other is not."""
    forms = {(one.covers is None, one.values.dtype == object) for one in (own, reference)}
    if len(forms) > 1:
        raise DataError(
            f"column {own.attribute!r} is generalised in one of the release and its reference distribution; "
            "generalise both alike, or set `reference: release`"
        )


def declared_hierarchies(policy: Policy, cache: Cache | None = None) -> Mapping[str, Hierarchy]:
    """The hierarchy of each attribute that has one.

    Args:
        policy: the policy that declares them.
        cache: has the hierarchies that were read before and have not changed.

    Raises:
        PolicyError: some cannot be read, or are not one tree of one depth. The error has all faults, each with its
            line of the policy.
    """
    hierarchies: dict[str, Hierarchy] = {}
    faults: list[tuple[str, str]] = []  # attribute and sentence
    for name, declaration in policy.attributes.items():
        try:
            hierarchies |= _hierarchy(policy, name, declaration, cache or Cache())
        except PolicyError as error:
            faults += [(name, line) for line in str(error).splitlines()]
    if faults:
        raise _unsound(policy, faults)
    return FrozenDict(hierarchies)


def _hierarchy(policy: Policy, name: str, declaration: AttributeDeclaration, cache: Cache) -> dict[str, Hierarchy]:
    declared = declaration.hierarchy
    if declared is None:
        return {}
    from tcdp_audit.core.encoding.hierarchy import load_hierarchy  # noqa: PLC0415 - only where one is declared

    path = Path(policy.resolve(declared)) if isinstance(declared, str) else None
    key = ("hierarchy", repr(declared), path, content_digest(path) if cache.room and path is not None else None)
    return {name: cache.get(key, lambda: load_hierarchy(declared, path))}


def _unsound(policy: Policy, faults: list[tuple[str, str]]) -> PolicyError:
    source = PolicySource(None, None) if policy.path is None else parse_yaml(policy.text)
    at = [located(source, ["attributes", name, "hierarchy"], sentence) for name, sentence in faults]
    if policy.path is None:
        return PolicyError("\n".join(f"{one.location}: {one.message}" for one in at))
    return unsound(str(policy.path), policy.text, at)


@dataclass(frozen=True, kw_only=True)
class AuditedColumn:
    """The declaration and figures of one column.

    Args:
        name: its name.
        role: its declared role; None if the policy does not declare it.
        scale: its declared scale; None if that is not declared.
        label: its meaning, in the policy's words; empty without any.
        measured_in: the unit of its numbers, in the policy's words; empty without any.
        reason: the policy's reason for the declaration, in its author's words; empty without any.
        acknowledged: the policy's reason why the column is no identifier, likewise.
        is_present: whether the release has it.
        values: the number of distinct values in the release; None if the audit does not read them.
        missing: the number of records without a value; None likewise.
        has_hierarchy: whether the policy declares a hierarchy.
        is_key: whether it pairs released and original records.
        is_unit: whether it names the entity that is the unit of privacy.
    """

    name: str
    role: Role | None = None
    scale: Scale | None = None
    label: str = ""
    measured_in: str = ""
    reason: str = ""
    acknowledged: str = ""
    is_present: bool = True
    values: int | None = None
    missing: int | None = None
    has_hierarchy: bool = False
    is_key: bool = False
    is_unit: bool = False

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "name": self.name,
            "role": None if self.role is None else self.role.value,
            "scale": None if self.scale is None else self.scale.value,
            "label": self.label,
            **({"measured_in": self.measured_in} if self.measured_in else {}),
            "present": self.is_present,
            "values": self.values,
            "missing": self.missing,
            "hierarchy": self.has_hierarchy,
            "key": self.is_key,
            "unit": self.is_unit,
            **({"reason": self.reason} if self.reason else {}),
            **({"acknowledged": self.acknowledged} if self.acknowledged else {}),
        }


def audited_columns(release: Release) -> Iterator[AuditedColumn]:
    """The columns in the policy's order, then undeclared ones. Cost: O(values of the examined columns)."""
    declared = release.policy.attributes
    for name in [*declared, *sorted(release.columns - declared.keys())]:
        one, domain = declared.get(name), release.domains.get(name)
        yield AuditedColumn(
            name=name,
            role=None if one is None else one.role,
            scale=None if one is None else one.scale,
            label="" if one is None else one.label or "",
            measured_in="" if one is None else one.measured_in or "",
            reason="" if one is None else one.reason or "",
            acknowledged="" if one is None else one.acknowledged or "",
            is_present=name in release.columns,
            values=None
            if domain is None
            else int(np.count_nonzero(domain.counts)),  # without values that only the reference has
            missing=None if domain is None else int(domain.missing),
            has_hierarchy=one is not None and one.hierarchy is not None,
            is_key=name == release.policy.document.key,
            is_unit=name == release.policy.document.unit,
        )
