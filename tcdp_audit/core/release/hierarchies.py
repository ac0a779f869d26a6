"""The hierarchies that a policy declares, read at once: every unsound one is named, at its line of the policy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tcdp_audit.core.base.errors import PolicyError
from tcdp_audit.core.base.frozen import FrozenDict
from tcdp_audit.core.encoding.hierarchy import Hierarchy, load_hierarchy
from tcdp_audit.core.policy import AttributeDeclaration, Policy
from tcdp_audit.core.policy.faults import located, unsound
from tcdp_audit.core.policy.source import Source, parse


def declared_hierarchies(policy: Policy) -> Mapping[str, Hierarchy]:
    """The hierarchy of each attribute that has one.

    Raises:
        PolicyError: some cannot be read, or are not one tree of one depth; it has the faults of all of them.
    """
    hierarchies: dict[str, Hierarchy] = {}
    faults: list[tuple[str, str]] = []  # attribute and sentence
    for name, declaration in policy.attributes.items():
        try:
            hierarchies |= _hierarchy(policy, name, declaration)
        except PolicyError as error:
            faults += [(name, line) for line in str(error).splitlines()]
    if faults:
        raise _unsound(policy, faults)
    return FrozenDict(hierarchies)


def _hierarchy(policy: Policy, name: str, declaration: AttributeDeclaration) -> dict[str, Hierarchy]:
    declared = declaration.hierarchy
    if declared is None:
        return {}
    return {name: load_hierarchy(declared, Path(policy.resolve(declared)) if isinstance(declared, str) else None)}


def _unsound(policy: Policy, faults: list[tuple[str, str]]) -> PolicyError:
    source = Source(None, None) if policy.path is None else parse(policy.text)
    at = [located(source, ["attributes", name, "hierarchy"], sentence) for name, sentence in faults]
    if policy.path is None:
        return PolicyError("\n".join(f"{one.location}: {one.message}" for one in at))
    return unsound(str(policy.path), policy.text, at)
