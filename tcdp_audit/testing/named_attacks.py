"""Conformance of the attacks that a treatment names: each could stand in a policy, and demands nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from tcdp_audit.api import Check, Policy
from tcdp_audit.plugin.remedy import Treatment

RECORD = "\0record"  # the key that pairs records while a release is attacked; no column has this name


def faults_of_attacks(treatment: Treatment, policy: Policy, checks: Mapping[str, Check]) -> Iterator[str]:
    """What is wrong with the attacks of a treatment.

    Args:
        treatment: what a remedy answered.
        policy: of the release that it treated.
        checks: those that are known; of another one nothing can be said.
    """
    attacks: Any = treatment.attacks  # which may be anything
    if not isinstance(attacks, tuple) or not all(isinstance(one, Mapping) for one in attacks):
        yield "they must be a tuple of `{check: parameters}`"
        return
    for name, given in ((name, given) for attack in attacks for name, given in attack.items()):
        if not isinstance(given, Mapping):
            yield f"the parameters of {name!r} must be a mapping"
        elif name in checks:
            yield from _faults(checks[name], given, policy)


def _faults(check: Check, given: Mapping[str, Any], policy: Policy) -> Iterator[str]:
    try:
        parameters = check.parameters.model_validate(dict(given))
    except ValidationError as error:
        yield f"{check.name} refuses {', '.join(sorted({str(one['loc'][0]) for one in error.errors() if one['loc']}))}"
        return
    if check.demands(parameters):
        yield f"{check.name} has a demand, and an attack on a remedy measures only"
    document = policy.document.model_copy(update={"key": RECORD})
    yield from (f"{check.name}: {sentence}" for _, sentence in check.faults(parameters, document))
