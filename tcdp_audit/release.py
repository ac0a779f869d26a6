"""A release: a table in an engine, read under a policy's roles, scales and conventions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from tcdp_audit.encoding import Domain, Misfit, canonical
from tcdp_audit.engines.base import Engine
from tcdp_audit.errors import DataError
from tcdp_audit.policy import AttributeDeclaration, Policy, Role, Scale


@dataclass(frozen=True)
class Release:
    """A table with declared roles.

    Args:
        engine: where it lives.
        policy: what its columns mean.
    """

    engine: Engine
    policy: Policy

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of the table's columns."""
        return frozenset(column.name for column in self.engine.columns)

    @cached_property
    def _read(self) -> Mapping[str, tuple[Domain, Misfit | None] | DataError]:
        return {name: self._domain(name) for name in self._examined if name in self.columns}

    def _domain(self, attribute: str) -> tuple[Domain, Misfit | None] | DataError:
        declaration = self.policy.attributes.get(attribute, AttributeDeclaration(role=Role.INSENSITIVE))
        try:
            raw = self.engine.domain(attribute)
            return canonical(attribute, raw, declaration, self.policy.conventions)
        except DataError as error:
            return error

    @property
    def _examined(self) -> list[str]:
        """The attributes whose values matter: those that are grouped or measured, and those with a scale to keep."""
        wanted = [
            name
            for name, one in sorted(self.policy.attributes.items())
            if one.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE) or one.scale in (Scale.NUMERIC, Scale.ORDINAL)
        ]
        unit = self.policy.document.unit
        return [*wanted, unit] if unit is not None and unit not in wanted else wanted

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """The domain of each examined attribute that could be read."""
        return {name: read[0] for name, read in self._read.items() if not isinstance(read, DataError)}

    @cached_property
    def misfits(self) -> Mapping[str, Misfit]:
        """The attributes some of whose values do not fit their declared scale."""
        found = ((name, read) for name, read in self._read.items() if not isinstance(read, DataError))
        return {name: read[1] for name, read in found if read[1] is not None}

    @cached_property
    def unreadable(self) -> Mapping[str, str]:
        """The attributes that have no domain, each with a sentence that says why."""
        return {name: str(read) for name, read in self._read.items() if isinstance(read, DataError)}

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
