"""What a policy and a release say of each column, for whoever reads a result without the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tcdp_audit.core.policy.model import Role, Scale
from tcdp_audit.core.release.release import Release


@dataclass(frozen=True, kw_only=True)
class AuditedColumn:
    """One column.

    Args:
        name: its name.
        role: what the policy declares that it can do to a person; None where the policy does not declare it.
        scale: how its values relate; None where that is not declared.
        label: what it means, in the policy's words; nothing without any.
        is_present: whether the release has it.
        values: how many distinct values it has in the release; None where nothing of the audit asks for them.
        missing: how many records have no value, likewise.
        has_hierarchy: whether the policy gives it one.
        is_key: whether it pairs released and original records.
        is_unit: whether it names the entity that is the unit of privacy.
    """

    name: str
    role: Role | None = None
    scale: Scale | None = None
    label: str = ""
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
            "present": self.is_present,
            "values": self.values,
            "missing": self.missing,
            "hierarchy": self.has_hierarchy,
            "key": self.is_key,
            "unit": self.is_unit,
        }


def audited_columns(release: Release) -> Iterator[AuditedColumn]:
    """The columns in the policy's order, then those that it does not declare. Cost: O(values of those examined)."""
    declared = release.policy.attributes
    for name in [*declared, *sorted(release.columns - declared.keys())]:
        one, domain = declared.get(name), release.domains.get(name)
        yield AuditedColumn(
            name=name,
            role=None if one is None else one.role,
            scale=None if one is None else one.scale,
            label="" if one is None else one.label or "",
            is_present=name in release.columns,
            values=None if domain is None else int(np.count_nonzero(domain.counts)),  # not those of a reference alone
            missing=None if domain is None else int(domain.missing),
            has_hierarchy=one is not None and one.hierarchy is not None,
            is_key=name == release.policy.document.key,
            is_unit=name == release.policy.document.unit,
        )
