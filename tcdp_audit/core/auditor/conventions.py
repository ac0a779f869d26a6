"""Audits under every combination of conventions that applies, to see whether another would change the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from types import MappingProxyType

from tcdp_audit.core.auditor.evaluation import evaluate
from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.base.audit_figures import ConventionVariant
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.classes.shards import silent
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import Role
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.release.release import Release

GRAVITY = (Status.SKIPPED, Status.MEASURED, Status.PASSED, Status.FAILED, Status.ERROR)


def convention_matrix(
    policy: Policy,
    engine: Engine,
    options: Options,
    companions: Mapping[str, Engine] = MappingProxyType({}),
    *,
    own: Sequence[Outcome],
) -> tuple[ConventionVariant, ...]:
    """Audit under every combination of conventions that applies, the policy's own first.

    A convention applies if the release has a case that it decides: missing values, suppressed records, several
    sensitive attributes, a second reference distribution.

    Args:
        policy: what the release must satisfy.
        engine: the release.
        options: how to run.
        companions: the further tables by their name in the policy.
        own: the outcomes under the policy's own conventions.

    Cost: that of one audit for each other combination.
    """
    choices: dict[str, list[str]] = {}
    for each in policy.parts.values():
        choices |= _choices(Release(engine, each, companions.get("original"), options.cache))
    combinations = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    declared = {name: getattr(policy.conventions, name) for name in choices}
    combinations.sort(key=lambda combination: combination != declared)
    variants = []
    for done, combination in enumerate(combinations, 1):
        is_own, asked = combination == declared, policy.with_conventions(**combination)
        suited = tuple(e for e in asked.expectations if not any(e.check.faults(e.parameters, asked.document)))
        outcomes = own if is_own else _outcomes(replace(asked, expectations=suited), engine, options, companions)
        of_demands = tuple(_verdicts(asked, suited, outcomes))
        gravest = tuple(max(each, key=GRAVITY.index, default=Status.SKIPPED) for each in of_demands)
        variants.append(ConventionVariant(combination, gravest, is_own, of_demands))
        options.progress("conventions", done, len(combinations))
    return tuple(variants)


def _choices(release: Release) -> dict[str, list[str]]:
    """The values of each convention that could change a verdict, always including the policy's."""
    policy = release.policy
    sensitive = [policy.attributes[domain.attribute] for domain in release.sensitive]
    references = ["release"]
    references += ["original"] if release.original is not None else []
    references += ["declared"] if sensitive and all(one.distribution is not None for one in sensitive) else []
    choices = {
        "missing_quasi_identifier": (
            ["own_category", "wildcard", "fail"] if any(d.missing for d in release.quasi_identifiers) else []
        ),
        "missing_sensitive": (
            ["excluded", "own_category", "fail"] if any(d.missing for d in release.sensitive) else []
        ),
        "suppressed": ["counted", "exempt"] if all(d.suppressed for d in release.quasi_identifiers) else [],
        "multiple_sensitive": (
            ["per_attribute", "others_as_quasi_identifiers", "joint"]
            if len(policy.with_role(Role.SENSITIVE)) > 1
            else []
        ),
        "reference": references if len(references) > 1 else [],
    }
    return {name: values for name, values in choices.items() if values}


def _outcomes(policy: Policy, engine: Engine, options: Options, companions: Mapping[str, Engine]) -> Sequence[Outcome]:
    return evaluate(policy, engine, replace(options, progress=silent), companions) if policy.expectations else ()


def _verdicts(
    policy: Policy, suited: Sequence[Expectation], outcomes: Sequence[Outcome]
) -> Iterator[tuple[Status, ...]]:
    """The statuses of each expectation's outcomes; none if the conventions exclude it."""
    statuses = (one.status for one in outcomes if not one.is_structural)
    for expectation in policy.expectations:
        targets = expectation.check.targets(expectation.parameters, policy.document) if expectation in suited else []
        yield tuple(islice(statuses, len(targets)))
