"""Sensitive columns of which a policy demands nothing that could fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tcdp_audit.core.base.outcome import Severity
from tcdp_audit.core.check.guide import DisclosureType
from tcdp_audit.core.check.vacuous import vacuous
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.policy.policy import Expectation, Policy

OF_ATTRIBUTES = (DisclosureType.ATTRIBUTE_MODEL, DisclosureType.ATTRIBUTE_DEGREE)


def undemanded(policy: Policy) -> list[str]:
    """The sensitive columns, by name, that no expectation of the policy protects from being learned.

    An expectation protects a column if its check is about learning attributes, a demand of it counts and can fail, and
    it is made of the column: the check runs on it, a parameter names it, or no parameter names any. Size of groups
    protects none: all members of a group may share a secret.

    Cost: that of `vacuous` for each expectation; no data.
    """
    sensitive = policy.with_role(Role.SENSITIVE)
    protected = {name for one in policy.expectations if _can_fail(one) for name in _protected(one, policy, sensitive)}
    return [name for name in sensitive if name not in protected]


def _can_fail(expectation: Expectation) -> bool:
    """Whether a demand of it can fail a release."""
    check, parameters = expectation.check, expectation.parameters
    if check.disclosure_type not in OF_ATTRIBUTES or parameters.severity is not Severity.ERROR:
        return False
    return len(vacuous(check, parameters)) < len(check.demands(parameters))


def _protected(expectation: Expectation, policy: Policy, sensitive: list[str]) -> Iterator[str]:
    targets = expectation.check.targets(expectation.parameters, policy.document)
    on_classes = {name for target in targets for name in target.attributes}
    named = on_classes or ({*_texts(expectation.parameters.model_dump())} & {*sensitive})
    yield from named or sensitive


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value of a parameter."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
