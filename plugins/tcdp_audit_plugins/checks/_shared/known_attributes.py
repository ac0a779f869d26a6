"""The attributes that an intruder knows: those that an expectation names, else the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tcdp_audit.plugin.detector import PolicyDocument, Role


def known_attributes(attributes: Sequence[str] | None, quasi_identifiers: Iterable[str], *others: str) -> list[str]:
    """The attributes that are named, else all quasi-identifiers but for others; sorted, each once."""
    return sorted(set(attributes or [name for name in quasi_identifiers if name not in others]))


def quasi_identifiers_of(document: PolicyDocument) -> list[str]:
    """The quasi-identifiers that a policy declares, in its order."""
    return [name for name, declaration in document.attributes.items() if declaration.role is Role.QUASI_IDENTIFIER]


def without_key(document: PolicyDocument) -> list[str]:
    """The quasi-identifiers but for the key, which an intruder does not have."""
    return [name for name in quasi_identifiers_of(document) if name != document.key]


def why_unknown(name: str, document: PolicyDocument) -> str:
    """Why no intruder can know an attribute: it is not declared, or it is the key; empty where one can."""
    if name not in document.attributes:
        return f"the policy declares no attribute {name!r}"
    if name == document.key:
        return f"{name!r} is the key, which an intruder does not have; leave it out"
    return ""
