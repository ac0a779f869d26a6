"""A release: a table in an engine, read under a policy's roles, scales and conventions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.encoding.domain import Domain, Misfit, RawDomain, canonical, incomparable
from tcdp_audit.encoding.hierarchy import Hierarchy, Tree, load_hierarchy
from tcdp_audit.engines.base import Engine
from tcdp_audit.errors import DataError
from tcdp_audit.frozen import FrozenDict, frozen
from tcdp_audit.policy import AttributeDeclaration, Policy, Role, Scale


@dataclass(frozen=True)
class Release:
    """A table with declared roles.

    Args:
        engine: where it lives.
        policy: what its columns mean.
        original: the table it was made from, where the policy names one.
    """

    engine: Engine
    policy: Policy
    original: Engine | None = None

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of the table's columns."""
        return frozenset(column.name for column in self.engine.columns)

    @cached_property
    def _read(self) -> Mapping[str, tuple[Domain, Misfit | None] | DataError]:
        return {name: self._domain(name) for name in self._examined if name in self.columns}

    def _domain(self, attribute: str) -> tuple[Domain, Misfit | None] | DataError:
        try:
            domain, misfit = self._canonical(attribute, self.engine.domain(attribute))
            return domain.onto(self._values(domain)), misfit
        except DataError as error:
            return error

    def _canonical(self, attribute: str, raw: RawDomain) -> tuple[Domain, Misfit | None]:
        declaration = self.policy.attributes.get(attribute, AttributeDeclaration(role=Role.INSENSITIVE))
        return canonical(attribute, raw, declaration, self.policy.conventions)

    def _values(self, domain: Domain) -> NDArray[Any]:
        """A domain's values, and those that only its reference distribution has."""
        declaration = self.policy.attributes.get(domain.attribute)
        if declaration is None or declaration.order is not None or declaration.role is not Role.SENSITIVE:
            return domain.values
        further: list[Domain] = []
        if self.policy.conventions.reference == "declared" and isinstance(declaration.distribution, dict):
            declared = np.array([*sorted(declaration.distribution), None], dtype=object)[:-1]
            raw = RawDomain(declared, np.ones(len(declared), dtype=np.int64), 0)
            further.append(self._canonical(domain.attribute, raw)[0])
        if domain.attribute in self._original_domains:
            further.append(self._original_domains[domain.attribute])
        if not further:
            return domain.values
        if domain.covers is not None or any(
            (one.values.dtype == object) != (domain.values.dtype == object) for one in further
        ):
            raise DataError(
                f"column {domain.attribute!r} is generalised in the release and not in its reference distribution; "
                "generalise both alike, or set `reference: release`"
            )
        reason = incomparable([domain, *further])
        if reason:
            raise DataError(f"column {domain.attribute!r} {reason}")
        values = [one.values for one in (domain, *further)]
        if domain.values.dtype != object:
            return np.unique(np.concatenate(values))
        return np.array([*sorted(set().union(*(one.tolist() for one in values))), None], dtype=object)[:-1]

    @cached_property
    def _original_domains(self) -> Mapping[str, Domain]:
        """The sensitive attributes of the original, where it is the reference."""
        if self.original is None or self.policy.conventions.reference != "original":
            return {}
        columns = {column.name for column in self.original.columns}
        names = [name for name in self.policy.with_role(Role.SENSITIVE) if name in columns]
        return {name: self._canonical(name, self.original.domain(name))[0] for name in names}

    @cached_property
    def original_domains(self) -> Mapping[str, Domain]:
        """The original's sensitive attributes, coded as the release's are."""
        found = self._original_domains.items()
        coded = {name: domain.onto(self.domains[name].values) for name, domain in found if name in self.domains}
        return FrozenDict(coded)

    @cached_property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """The declared hierarchies.

        Raises:
            PolicyError: one cannot be read, or is not one tree of one depth.
        """
        declared = {name: one.hierarchy for name, one in self.policy.attributes.items() if one.hierarchy is not None}
        return FrozenDict({name: load_hierarchy(one, self._hierarchy_path(one)) for name, one in declared.items()})

    def _hierarchy_path(self, hierarchy: str | Mapping[str, Any]) -> Path | None:
        return Path(self.policy.resolve(hierarchy)) if isinstance(hierarchy, str) else None

    @cached_property
    def unknown_labels(self) -> Mapping[str, list[int]]:
        """For each attribute with a hierarchy the codes of values that the hierarchy does not have."""
        found = {name: self.domains[name] for name in self.hierarchies if name in self.domains}
        unknown = {name: self.hierarchies[name].unknown(domain.labels) for name, domain in found.items()}
        return FrozenDict({name: frozen(codes) for name, codes in unknown.items() if codes})

    def tree(self, domain: Domain) -> Tree | None:
        """An attribute's hierarchy laid over its domain, where it has one that knows all values."""
        hierarchy = self.hierarchies.get(domain.attribute)
        if hierarchy is None or domain.attribute in self.unknown_labels:
            return None
        return hierarchy.over(domain.labels)

    @property
    def _examined(self) -> list[str]:
        """The attributes whose values matter: those that are grouped or measured, and those with a scale to keep."""
        wanted = [
            name
            for name, one in sorted(self.policy.attributes.items())
            if one.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
            or one.scale in (Scale.NUMERIC, Scale.ORDINAL)
            or one.hierarchy is not None
        ]
        unit = self.policy.document.unit
        return [*wanted, unit] if unit is not None and unit not in wanted else wanted

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """The domain of each examined attribute that could be read."""
        return FrozenDict({name: read[0] for name, read in self._read.items() if not isinstance(read, DataError)})

    def domain(self, attribute: str) -> Domain:
        """The domain of any column, examined or not.

        Raises:
            DataError: it has none.
        """
        if attribute in self.domains:
            return self.domains[attribute]
        read = self._domain(attribute)
        if isinstance(read, DataError):
            raise read
        return read[0]

    @cached_property
    def misfits(self) -> Mapping[str, Misfit]:
        """The attributes some of whose values do not fit their declared scale."""
        found = ((name, read) for name, read in self._read.items() if not isinstance(read, DataError))
        return FrozenDict({name: read[1] for name, read in found if read[1] is not None})

    @cached_property
    def unreadable(self) -> Mapping[str, str]:
        """The attributes that have no domain, each with a sentence that says why."""
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
        """The domain of the entity column, where the policy declares one."""
        name = self.policy.document.unit
        return None if name is None else self.domains.get(name)

    def obstacle(self, attribute: str) -> str:
        """Why an attribute cannot be used, or nothing."""
        if attribute not in self.columns:
            return f"column {attribute!r} is not in the release"
        if attribute in self.unreadable:
            return self.unreadable[attribute]
        if attribute in self.misfits:
            return f"column {attribute!r} does not keep its declared scale"
        return ""
