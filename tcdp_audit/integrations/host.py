"""Common code of the hosts, the libraries that evaluate check by check: one audit answers all that fits together.

A host makes a `Demand` of each check, asks for its answer on a table, and gets outcomes or a `Fault`. This module is
independent of the hosts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

from tcdp_audit.api import OpenTables, Options, Plugins, Policy, PolicyError, policy_without_checks, read_policy
from tcdp_audit.plugin.engine import TcdpAuditError, redact_errors
from tcdp_audit.plugin.sentences import Outcome

STRUCTURE = ""  # in place of an expectation: the core's own demands on the columns
T = TypeVar("T")


@cache
def plugins() -> Plugins:
    """The installed plugins, loaded once for all checks of a process."""
    return Plugins.load()


@dataclass(frozen=True)
class Fault:
    """Reason why a demand was not judged, in a sentence without cells."""

    sentence: str

    @classmethod
    def about(cls, error: Exception, what: str) -> Fault:
        """The fault of an error. Only our own errors are quoted: another's text may hold a cell."""
        return cls(str(error) if isinstance(error, TcdpAuditError) else f"{what} raised {type(error).__name__}")


Answer = Sequence[Outcome] | Fault


@dataclass(frozen=True)
class Demand:
    """One expectation in a policy, or the core's demands on its columns; as text, so that equal demands are equal."""

    policy: str  # the policy without its expectations, as JSON
    entry: str = STRUCTURE  # the expectation in it, as JSON; `STRUCTURE` for the demands on the columns

    @classmethod
    def of(cls, document: Mapping[str, Any], entry: Mapping[str, Any] | None = None) -> Demand:
        """The demand of one expectation in a policy.

        Raises:
            PolicyError: JSON has no such values.
        """
        rest = {name: value for name, value in document.items() if name != "expect"}
        try:
            return cls(json.dumps(rest), STRUCTURE if entry is None else json.dumps(entry))
        except (TypeError, ValueError):
            raise PolicyError("its parameters must be texts, numbers, lists and mappings, as JSON has them") from None

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The policy without its expectations."""
        content: dict[str, Any] = json.loads(self.policy)
        return content

    @cached_property
    def expected(self) -> Mapping[str, Any]:
        """The expectation as an entry of the policy; empty for the demands on the columns."""
        content: dict[str, Any] = json.loads(self.entry) if self.entry else {}
        return content

    @property
    def check(self) -> str:
        """The name of the check; `STRUCTURE` for none."""
        return next(iter(self.expected), STRUCTURE)

    @property
    def attributes(self) -> dict[str, Any]:
        """The columns that its policy declares."""
        return dict(self.document["attributes"])

    @property
    def head(self) -> dict[str, Any]:
        """Its policy without columns and expectations."""
        return {name: value for name, value in self.document.items() if name != "attributes"}


def policy_of(demands: Sequence[Demand], attributes: Mapping[str, Any] | None = None) -> Policy:
    """The policy of demands that agree in all but the columns they declare, in their order.

    Args:
        demands: at least one.
        attributes: the columns that the policy declares; by default those of the first demand.

    Raises:
        PolicyError: it is not valid.
    """
    first = demands[0]
    document = {**first.head, "attributes": first.attributes if attributes is None else dict(attributes)}
    expect = [one.expected for one in demands if one.entry]
    if expect:
        return read_policy({**document, "expect": expect}, plugins(), is_part=True)
    return policy_without_checks(document)


def by_demand(policy: Policy, demands: Iterable[Demand], structural: Any, judged: Iterable[Any]) -> dict[Demand, Any]:
    """Each demand of a policy with its answer, in the order of `policy_of`; `structural` is that on columns.

    `judged` are the outcomes of the expectations, in order, one for each attribute that an expectation runs on.
    """
    listed, following = list(demands), iter(judged)
    checks = [one for one in listed if one.entry]
    answers: dict[Demand, Any] = {}
    for demand, expectation in zip(checks, policy.expectations, strict=True):
        targets = expectation.check.targets(expectation.parameters, policy.document)
        answers[demand] = tuple(next(following) for _ in targets)
    assert next(following, None) is None  # noqa: S101 - each is of one of the demands
    return answers | dict.fromkeys((one for one in listed if not one.entry), structural)


@dataclass
class Pending(Generic[T]):
    """The demands on one table that wait for their audit, and its answers that wait to be fetched, each once."""

    asked: dict[Demand, None] = field(default_factory=dict)
    answered: dict[Demand, T] = field(default_factory=dict)

    def ask(self, *demands: Demand) -> None:
        """Record demands for the next audit."""
        self.asked |= dict.fromkeys(demands)

    def answer(self, demand: Demand, measure: Callable[[list[Demand]], Mapping[Demand, T]]) -> T:
        """Answer a demand; unless it is answered already, by an audit of all recorded demands."""
        if demand not in self.answered:
            self.ask(demand)
            asked, self.asked = list(self.asked), {}
            self.answered |= measure(asked)
        return self.answered.pop(demand)


@dataclass
class _Joint:
    """Demands that one policy holds, so that each is judged as it would be alone."""

    demands: list[Demand]
    attributes: dict[str, Any]

    def takes(self, demand: Demand) -> bool:
        """Add a demand if that changes no figure of it or of the others; report whether it was added."""
        fits = self._fits(demand)
        if fits:
            self.demands.append(demand)
            self.attributes |= demand.attributes
        return fits

    def _fits(self, demand: Demand) -> bool:
        new = demand.attributes
        if demand.head != self.demands[0].head or _quasi_identifiers(new) != _quasi_identifiers(self.attributes):
            return False
        if any(self.attributes[name] != new[name] for name in self.attributes.keys() & new.keys()):
            return False
        together = self.attributes | new
        return all(one.attributes == together for one in [*self.demands, demand] if _reads_every_column(one))


def _quasi_identifiers(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: declared for name, declared in attributes.items() if declared["role"] == "quasi_identifier"}


def _reads_every_column(demand: Demand) -> bool:
    """Whether another declared column could change its figures.

    A figure of equivalence classes depends on the quasi-identifiers and on its own sensitive column, unless a
    convention makes it read the others. Any other check may take every declared column, as interval disclosure averages
    over them.
    """
    check = plugins().checks.get(demand.check)
    if check is None:
        return True
    names_its_target = bool({"attribute", "attributes"} & set(demand.expected[demand.check] or ()))
    if check.on_attribute and not names_its_target:
        return True
    conventions = demand.head.get("conventions", {})
    apart = conventions.get("multiple_sensitive", "per_attribute") == "per_attribute"
    counted = conventions.get("suppressed", "counted") == "counted"
    return not (apart and counted and check.on_classes)


def joined(demands: Iterable[Demand]) -> Iterator[tuple[list[Demand], dict[str, Any]]]:
    """The demands in as few policies as hold them, usually one, each with its columns.

    Those that read every declared column come first: only demands that declare no other column fit to them.
    """
    listed = list(demands)
    joints: list[_Joint] = []
    for demand in sorted(listed, key=_reads_every_column, reverse=True):
        if not any(joint.takes(demand) for joint in joints):
            joints.append(_Joint([demand], demand.attributes))
    place = {demand: number for number, demand in reversed([*enumerate(listed)])}
    return ((sorted(joint.demands, key=place.__getitem__), joint.attributes) for joint in joints)


def answers_to(demands: Iterable[Demand], table: Any) -> dict[Demand, Answer]:
    """Answer demands on a table, which is opened once; one audit for all that fit into one policy.

    Args:
        demands: each is answered, with a fault where it could not be judged.
        table: any table that an engine opens.

    Cost: that of `audit`, once for each policy.
    """
    answers: dict[Demand, Answer] = {}
    with OpenTables(table, None, None, plugins(), Options(), keep=True) as tables:
        for together, attributes in joined(demands):
            try:
                answers |= _audited(tables, together, attributes)
            except Exception as error:  # noqa: BLE001 - its text may hold cells
                answers |= dict.fromkeys(together, Fault.about(error, "the audit"))
    return answers


@redact_errors()
def _audited(tables: OpenTables, demands: Sequence[Demand], attributes: Mapping[str, Any]) -> dict[Demand, Answer]:
    policy = policy_of(demands, attributes)
    inputs = tables.inputs(policy)
    outcomes = inputs.outcomes()
    if not inputs.engine.ordered:
        inputs.engine.sha256()  # of a database it raises where not everything could be read
    structural = tuple(one for one in outcomes if one.is_structural)
    return by_demand(policy, demands, structural, (one for one in outcomes if not one.is_structural))
