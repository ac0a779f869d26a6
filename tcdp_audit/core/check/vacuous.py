"""Demands that no release could fail, read from the policy alone, before there is any data.

Each check says which demands nothing can fail in the worst possible releases: every record in a class of its own,
unique values together with values that nearly all records have. A demand is vacuous if the check says so of all of
them. A check that needs the attribute's own values, numbers or hierarchy for its answer gives none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from tcdp_audit.core.base.guide_file import DisclosureType
from tcdp_audit.core.base.outcome import Severity
from tcdp_audit.core.check.class_check import CheckOnClasses
from tcdp_audit.core.check.evidence import ClassEvidence, ReferenceDistribution, SingletonClasses, classes_of_one
from tcdp_audit.core.check.specification import Specification
from tcdp_audit.core.check.table_check import TableFigure
from tcdp_audit.core.check.threshold import Parameters
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.policy.policy import Expectation, Policy

MANY = 10**12  # records, so that a share of one of them is next to nothing
VALUES = 1000


def vacuous(check: Specification[Any], parameters: Parameters) -> tuple[str, ...]:
    """The parameters whose demand every release keeps. Where that is not known without data, nothing."""
    try:
        of_table = TableFigure(0, records=MANY)
        return check.by_kind(lambda one: _of_classes(one, parameters), lambda one: one.unfailable(of_table, parameters))
    except Exception:  # noqa: BLE001 - it asks for what only a release has, or is a plugin's that raises
        return ()


def _of_classes(check: CheckOnClasses[Any], parameters: Parameters) -> tuple[str, ...]:
    said = [check.unfailable(one, parameters) for one in _releases(on_attribute=check.on_attribute)]
    return tuple(name for name in said[0] if all(name in others for others in said))


def _releases(*, on_attribute: bool) -> Iterator[SingletonClasses]:
    """Releases of many records, each in a class of its own, with a rare value, with equal ones, with many."""
    if not on_attribute:
        one = np.ones(1, dtype=np.int64)
        yield SingletonClasses(ClassEvidence(size=one, records=MANY), one * MANY)
        return
    for counts in ([1, MANY], [MANY, 1], [1, MANY, 1], [MANY, MANY], [MANY // VALUES] * VALUES):
        weights = np.array(counts, dtype=np.int64)
        classes = ClassEvidence(
            size=np.ones(len(weights), dtype=np.int64),
            histogram=classes_of_one(np.arange(len(weights))),
            marginal=ReferenceDistribution(weights),
            labels=_Unknown(),
            records=int(weights.sum()),
        )
        yield SingletonClasses(classes, weights)


class _Unknown(Sequence[str]):
    """The values of an attribute before there is any data: to ask for one is an error."""

    @overload
    def __getitem__(self, position: int) -> str: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[str]: ...

    def __getitem__(self, position: int | slice) -> str | Sequence[str]:
        raise LookupError("the values are not known without a release")

    def __len__(self) -> int:
        raise LookupError("the values are not known without a release")


OF_ATTRIBUTES = (DisclosureType.ATTRIBUTE_MODEL, DisclosureType.ATTRIBUTE_DEGREE)


def undemanded(policy: Policy) -> list[str]:
    """The sensitive columns, by name, that no expectation of the policy protects from being learned.

    An expectation protects a column if its check is about learning attributes, a demand of it counts and can fail, and
    it is made of the column: the check runs on it, a parameter names it, or no parameter names any. Size of groups
    protects none: all members of a group may share a secret.

    Cost: that of `vacuous` for each expectation; no data.
    """
    sensitive = policy.with_role(Role.SENSITIVE)
    protected = {name for one in policy.expectations if _can_fail(one) for name in _protected(one, policy)}
    return [name for name in sensitive if name not in protected]


def _can_fail(expectation: Expectation) -> bool:
    """Whether a demand of it can fail a release."""
    check, parameters = expectation.check, expectation.parameters
    if check.disclosure_type not in OF_ATTRIBUTES or parameters.severity is not Severity.ERROR:
        return False
    return len(vacuous(check, parameters)) < len(check.demands(parameters))


def _protected(expectation: Expectation, policy: Policy) -> Iterator[str]:
    """The columns that an expectation protects: in each scenario of those that are at stake there."""
    check, parameters = expectation.check, expectation.parameters
    for own in (check.scenarios(parameters, policy.document) or {"": policy.document}).values():
        here, at_stake = parameters.in_scenario(own), own.with_role(Role.SENSITIVE)
        on_classes = {name for target in check.targets(here, own) for name in target.attributes}
        yield from on_classes or ({*_texts(here.model_dump())} & {*at_stake}) or at_stake


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
