"""Demands that no release could fail, read from the policy alone, before there is any data.

Each check says which demands nothing can fail in the worst possible releases: every record in a class of its own,
unique values together with values that nearly all records have. A demand is vacuous if the check says so of all of
them. A check that needs the attribute's own values, numbers or hierarchy for its answer gives none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set as AbstractSet
from dataclasses import replace
from typing import Any, overload

import numpy as np

from tcdp_audit.core.base.guide_file import DisclosureType
from tcdp_audit.core.base.outcome import Severity
from tcdp_audit.core.check.aggregate_check import CellFigure
from tcdp_audit.core.check.class_check import CheckOnClasses
from tcdp_audit.core.check.evidence import ClassEvidence, ReferenceDistribution, SingletonClasses, classes_of_one
from tcdp_audit.core.check.specification import Specification
from tcdp_audit.core.check.table_check import TableFigure
from tcdp_audit.core.check.threshold import Parameters
from tcdp_audit.core.check.translation import say
from tcdp_audit.core.policy.model import PolicyDocument, Role
from tcdp_audit.core.policy.policy import Expectation, Policy

MANY = 10**12  # records, so that a share of one of them is next to nothing
VALUES = 1000


def vacuous(check: Specification[Any], parameters: Parameters) -> tuple[str, ...]:
    """The parameters whose demand every release keeps. Where that is not known without data, nothing."""
    try:
        of_table, of_cells = TableFigure(0, records=MANY), CellFigure(0, cells=MANY)
        return check.by_kind(
            lambda one: _of_classes(one, parameters),
            lambda one: one.unfailable(of_table, parameters),
            lambda one: one.unfailable(of_cells, parameters),
        )
    except Exception:  # noqa: BLE001 - it asks for what only a release has, or is a plugin's that raises
        return ()


def _of_classes(check: CheckOnClasses[Any], parameters: Parameters) -> tuple[str, ...]:
    names = tuple(check.demands(parameters))
    for release in _releases(on_attribute=check.on_attribute):
        unfailable = check.unfailable(release, parameters)
        names = tuple(name for name in names if name in unfailable)
        if not names:
            break
    return names


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
SIZES = frozenset({"k", "K"})  # by the field's convention the least number of people, whatever they share
CONFIDENCES = frozenset({"C"})  # likewise the largest chance of inferring a secret, also of a check on sizes
SECRETS = ("attribute", "sensitive", "target")  # a parameter that names the column to be protected


def undemanded(policy: Policy) -> list[str]:
    """The sensitive columns, by name, that no expectation of the policy protects from being learned.

    An expectation protects a column if a demand of it counts, can fail and limits what is learned of attributes, and it
    is made of the column: the check runs on it, a parameter names it, or no parameter names any. Size of groups
    protects none, also as the `k` of a check on attributes: all members of a group may share a secret. A policy that
    demands nothing that counts leaves out no column in particular: the list is empty.

    Cost: that of `vacuous` for each expectation; no data.
    """
    sensitive = policy.with_role(Role.SENSITIVE)
    if not sensitive or not any(map(_judging, policy.expectations)):
        return []
    protected = _protected_by(policy.expectations, policy)
    return [name for name in sensitive if name not in protected]


def warned_of(policy: Policy, columns: Sequence[str]) -> list[str]:
    """The sensitive columns, among some, that only demands of severity warning would protect."""
    warning = [one for one in policy.expectations if one.parameters.severity is Severity.WARNING]
    counting = {"severity": Severity.ERROR}
    as_errors = [replace(one, parameters=one.parameters.model_copy(update=counting)) for one in warning]
    return sorted(_protected_by(as_errors, policy).intersection(columns))


def _protected_by(expectations: Iterable[Expectation], policy: Policy) -> set[str]:
    """The sensitive columns that some expectations protect from being learned."""
    return {name for one in expectations if _of_secrets(one, _judging(one)) for name in _protected(one, policy)}


def undemanded_title(policy: Policy, columns: Sequence[str]) -> str:
    """The title of a finding on sensitive columns without a demand that counts, and whether all have one that warns."""
    if set(columns) <= {*warned_of(policy, columns)}:
        return "Sensitive columns with demands that only warn"
    return "Sensitive columns without a demand"


def undemanded_sentence(policy: Policy, columns: Sequence[str]) -> str:
    """The sentence on sensitive columns without a demand: why groups do not protect them, and what to demand."""
    asking = [one.key for one in policy.profiles]
    return say(
        "nothing [{warning?}that can stop publication ]is demanded of {names:names}, which must stay secret: "
        "[{n>0?}{asking:names} {n:asks|ask} how many look alike, not what they have in common|no demand would "
        "[{warning?}do more than warn|notice] if all members of a group had the same value]; demand l-diversity or "
        "t-closeness as well, or declare {columns:it|them} insensitive",
        warning=bool(warned_of(policy, columns)),
        names=[repr(name) for name in columns],
        asking=asking,
        n=len(asking),
        columns=len(columns),
    )


def _judging(expectation: Expectation) -> AbstractSet[str]:
    """The parameters whose demand counts and can fail a release."""
    check, parameters = expectation.check, expectation.parameters
    if parameters.severity is not Severity.ERROR:
        return frozenset()
    return check.demands(parameters).keys() - {*vacuous(check, parameters)}


def _of_secrets(expectation: Expectation, demands: AbstractSet[str]) -> bool:
    """Whether one of these demands limits what is learned of attributes."""
    if expectation.check.disclosure_type in OF_ATTRIBUTES:
        return bool(demands - SIZES)
    return bool(demands & CONFIDENCES)


def _protected(expectation: Expectation, policy: Policy) -> Iterator[str]:
    """The columns that an expectation protects: in each scenario of those that are at stake there."""
    check, parameters = expectation.check, expectation.parameters
    for own in (check.parts(parameters, policy.document) or {"": policy.document}).values():
        at_stake = own.with_role(Role.SENSITIVE)
        yield from (name for name in _protected_in(check, parameters.in_scenario(own), own) if name in at_stake)


def _protected_in(check: Specification[Any], parameters: Any, document: PolicyDocument) -> Iterable[str]:
    """The columns that a check with these parameters is on."""
    if check.on_attribute:
        targets = check.targets(parameters, document)
        return [name for target in targets for name in target.attributes]
    secret = next((name for name in SECRETS if name in type(parameters).model_fields), None)
    named = getattr(parameters, secret or "attributes", None)
    if named is not None:
        return [named] if secret else named
    scales, declared = check.scales(parameters), document.attributes
    return [name for name in document.with_role(Role.SENSITIVE) if scales is None or declared[name].scale in scales]
