"""What one check of a pandera schema demands: an expectation, and the policy that it stands in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from tcdp_audit.api import Expectation, Plugins, Policy, PolicyError, TypedFloat, TypedInt, policy_of_one, read_policy
from tcdp_audit.plugin.sentences import Severity

POLICY = "policy"  # the key of a check's statistics that holds the policy it stands in
_LOCATIONS = ("original", "population", "holdout", "registry", "previous")
_OF_NO_USE = (
    "release",
    "schema",
    "suite",
    "remedy",
    "max_loss",
    "keep",
    "keep_key",
    "internal_only",
    "seed",
    "expect",
)  # to a single expectation of a policy
_DECLARED = ("scale", "order", "hierarchy", "distribution")


@cache
def installed() -> Plugins:
    """The plugins of this process: they are looked for once, and not for each check."""
    return Plugins.load()


@dataclass(frozen=True)
class Demand:
    """An expectation as text, so that equal ones are found equal, whoever made them.

    Args:
        policy: the policy without its expectations, as JSON.
        entry: the expectation as it would stand in it, as JSON; nothing where the policy's columns are what is judged.
    """

    policy: str
    entry: str = ""

    @staticmethod
    def of(document: Mapping[str, Any], entry: Mapping[str, Any] | None = None) -> Demand:
        """The demand of one expectation in a policy that is given as a mapping."""
        rest = {name: value for name, value in document.items() if name != "expect"}
        return Demand(json.dumps(rest), "" if entry is None else json.dumps(entry))

    def with_entries(self, entries: Sequence[str]) -> dict[str, Any]:
        """The policy with some expectations."""
        return {**json.loads(self.policy), "expect": [json.loads(one) for one in entries]}

    def expectation(self) -> Expectation:
        """The expectation, as the policy's checks understand it.

        Raises:
            PolicyError: it cannot stand in this policy.
        """
        return read_policy(self.with_entries([self.entry]), installed()).expectations[0]


@dataclass(frozen=True)
class Demanded:
    """What a check of a schema demands.

    Args:
        demand: the demand.
        batch: all of the policy that it stands in, which are measured together.
        warns: whether a failure only warns.
    """

    demand: Demand
    batch: tuple[Demand, ...]
    warns: bool = False


def demanded_by(name: str, statistics: Mapping[str, Any]) -> Demanded:
    """What a check demands that is named in a schema.

    Args:
        name: the check's name.
        statistics: its parameters, and what it stands in: a `policy` as a mapping or as the path of its file; or
            `quasi_identifiers` and the other arguments of `tcdp_audit.measure`.

    Raises:
        PolicyError: a name or a parameter is wrong, or nothing could fail it.
        UsageError: the policy's file cannot be read.
    """
    parameters = dict(statistics)
    if POLICY in parameters:
        document = document_of(parameters.pop(POLICY))
    else:
        document = _alone(name, parameters)
        parameters = document["expect"][0][name]
    demand = Demand.of(document, {name: parameters})
    expectation = demand.expectation()
    _require_threshold(expectation)
    return Demanded(demand, batch_of(document), warns(expectation))


def warns(expectation: Expectation) -> bool:
    """Whether a failure of an expectation only warns."""
    return bool(expectation.parameters.severity is Severity.WARNING)


def batch_of(document: Mapping[str, Any]) -> tuple[Demand, ...]:
    """All that a policy demands or measures."""
    return tuple(Demand.of(document, entry) for entry in document["expect"])


def judges(expectation: Expectation) -> bool:
    """Whether an expectation has a threshold."""
    return bool(expectation.check.demands(expectation.parameters))


def _require_threshold(expectation: Expectation) -> None:
    """Insist that something can fail an expectation."""
    check = expectation.check
    if not judges(expectation):
        names = " or ".join(f"`{one.parameter}`" for one in check.limits)
        raise PolicyError(
            f"{check.name} is given no threshold, so that nothing can fail it, and a schema only judges; "
            f"give {names}, or call tcdp_audit.measure to see the figure"
        )


def document_of(policy: str | Path | Mapping[str, Any] | Policy) -> dict[str, Any]:
    """A policy as a mapping that stands by itself: locations do not depend on the policy's folder.

    Raises:
        PolicyError: the policy is wrong.
        UsageError: its file cannot be read.
    """
    read = read_policy(policy, installed())
    document = plain(read.document.model_dump(by_alias=True, exclude_defaults=True))
    document = {name: value for name, value in document.items() if name not in _OF_NO_USE}
    for name in _LOCATIONS:
        if name in document:
            located = document[name]
            many = isinstance(located, list)  # of several earlier releases
            document[name] = [read.resolve(one) for one in located] if many else read.resolve(located)
    for declaration in document["attributes"].values():
        if isinstance(declaration.get("hierarchy"), str):
            declaration["hierarchy"] = read.resolve(declaration["hierarchy"])
    for name in ("profile", "answers"):  # its demands are among the expectations, and no figure answers a question
        document.pop(name, None)
    return {**document, "version": 1, "expect": [plain(one) for one in read.document.expect]}


def _alone(name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The policy of a check that says itself what it groups by."""
    known = parameters.pop("quasi_identifiers", None)
    if not isinstance(known, list):
        raise PolicyError(
            f"{name}: name the columns to group by as a list, `quasi_identifiers`, or the `policy` that declares them"
        )
    declared = {key: parameters.pop(key) for key in _DECLARED if key in parameters}
    attribute, conventions = parameters.pop("attribute", None), parameters.pop("conventions", None)
    return policy_of_one(name, known, attribute, declared, conventions, parameters)


def plain(value: Any) -> Any:
    """A value as YAML and JSON take it, exact numbers as the text that a policy takes."""
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, TypedInt | TypedFloat):  # as typed in a file: 1.10 may be a name, and not 1.1
        number = float(value) if isinstance(value, float) else int(value)
        return number if str(number) == value.text else value.text
    return str(value) if isinstance(value, str | Fraction | Path) else value
