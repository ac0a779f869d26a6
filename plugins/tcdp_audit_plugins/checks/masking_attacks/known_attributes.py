"""The attributes that an attack compares: what is ordered, and why others cannot be."""

from __future__ import annotations

from collections.abc import Iterator

from tcdp_audit.plugin.detector import PolicyDocument, Role, Scale
from tcdp_audit_plugins.checks.masking_attacks.candidate_figure import AttackParameters


def ordered_attributes(parameters: AttackParameters, document: PolicyDocument) -> list[str]:
    """Those that are named, or else all ordered quasi-identifiers, sorted."""
    if parameters.attributes:
        return sorted(set(parameters.attributes))
    declared = document.attributes.items()
    quasi = (name for name, one in declared if one.role is Role.QUASI_IDENTIFIER and name != document.key)
    return sorted(name for name in quasi if not unordered(name, document))


def ordered_faults(parameters: AttackParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Why they cannot be ranked: (parameter, sentence)."""
    for name in sorted(set(parameters.attributes or [])):
        reason = unknown(name, document) or unordered(name, document)
        if reason:
            yield "attributes", reason
    if not ordered_attributes(parameters, document):
        yield (
            "",
            "no quasi-identifier is numeric, or ordinal with an `order`, so that none has ranks; name `attributes`",
        )


def unknown(name: str, document: PolicyDocument) -> str:
    """Why an attribute is nothing that an intruder compares; nothing where it is."""
    declaration = document.attributes.get(name)
    if declaration is None:
        return f"the policy declares no attribute {name!r}"
    if name == document.key:
        return f"{name!r} is the key, which an intruder does not have; leave it out"
    if declaration.role is Role.IDENTIFIER:
        return f"{name!r} is an identifier, which is not released; leave it out"
    return ""


def unordered(name: str, document: PolicyDocument) -> str:
    """Why an attribute has no ranks; nothing where it has."""
    declaration = document.attributes[name]
    if declaration.scale is Scale.NUMERIC or (declaration.scale is Scale.ORDINAL and declaration.order is not None):
        return ""
    example = f"{name}: {{role: {declaration.role.value}, scale: numeric}}"
    return f"{name!r} has no order, so its values have no ranks; declare its scale, for example `{example}`"
