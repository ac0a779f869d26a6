"""What the report calls columns: what each can do to a person, in everyday words."""

from __future__ import annotations

from tcdp_audit.plugin.detector import Role
from tcdp_audit.plugin.report import Audit, AuditedColumn
from tcdp_audit.plugin.sentences import count, listing, visible

ROLES = {
    Role.QUASI_IDENTIFIER: "a neighbour may know it",
    Role.SENSITIVE: "must stay secret",
    Role.IDENTIFIER: "names a person: should not be here",
    Role.INSENSITIVE: "taken to be harmless",
}


def role_of(column: AuditedColumn) -> str:
    """The role in everyday words."""
    if column.is_key and column.is_present:
        return "links records to another table: should not be published"
    if column.role is None:
        return "not declared: its role is unknown"
    if column.role is Role.IDENTIFIER and not column.is_present:
        return "names a person: is not in the file"
    if column.is_unit:
        return "names the person whom records belong to"
    return ROLES[column.role] if column.is_present else f"{ROLES[column.role]}; is missing from the file"


def known(audit: Audit) -> list[str]:
    """What to call the columns that a neighbour may know."""
    return _with_role(audit, Role.QUASI_IDENTIFIER)


def secret(audit: Audit) -> list[str]:
    """What to call the columns that must stay secret."""
    return _with_role(audit, Role.SENSITIVE)


def unwanted(audit: Audit) -> list[str]:
    """What to call the columns that should not be in the published file."""
    document = audit.policy.document
    unit = [one for one in audit.columns if one.is_unit and one.is_present and not document.unit_released]
    return [
        name_of(one)
        for one in audit.columns
        if one in unit or (_is_unwanted(one) and not (document.internal_only and one.is_key))
    ]


def _is_unwanted(column: AuditedColumn) -> bool:
    return column.is_present and (column.role in (Role.IDENTIFIER, None) or column.is_key)


def _with_role(audit: Audit, role: Role) -> list[str]:
    return [name_of(one) for one in audit.columns if one.role is role and one.is_present]


def name_of(column: AuditedColumn) -> str:
    """A column's label, or its name."""
    return visible(column.label or column.name)


def named(names: list[str], most: int = 8) -> str:
    """Some names in a sentence; of many the first, and how many more there are."""
    if not names:
        return "none"
    return listing(names if len(names) <= most else [*names[: most - 1], f"{count(len(names) - most + 1)} more"])
