"""One expectation as the auditor knows it, and one audit for all expectations of a batch that fit into one policy.

Nothing here knows Great Expectations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from typing import Any

from tcdp_audit.api import Options, Plugins, Policy, PolicyError, open_inputs, read_policy
from tcdp_audit.plugin.engine import TcdpAuditError, redact_errors
from tcdp_audit.plugin.sentences import Outcome

STRUCTURE = ""  # in place of a check's name: the core's own demands on the columns
UNMEASURED: dict[str, Any] = {}  # an entry of `expect` that no check is made of
PLACE = re.compile(r"^policy: (?:expect\[0\](?:\.\w+)?[.:] ?)?", re.MULTILINE)


@cache
def plugins() -> Plugins:
    """The installed plugins, loaded once for all expectations of a process."""
    return Plugins.load()


@dataclass(frozen=True)
class Fault:
    """Why a demand was not judged, in a sentence without cells."""

    sentence: str


Answer = Sequence[Outcome] | Fault  # one outcome; of the structure several


@dataclass(frozen=True)
class Demand:
    """One check with its parameters, or the core's demands on the columns, on a table that is set up in some way.

    Args:
        text: check, parameters and setup as JSON; equal demands have equal texts. The setup is a policy without
            `expect`.
    """

    text: str

    @classmethod
    def of(cls, check: str, parameters: Mapping[str, Any], setup: Mapping[str, Any]) -> Demand:
        """The demand that a check, its parameters and a setup make.

        Raises:
            PolicyError: they are no sound policy, or would give more than one outcome.
        """
        whole = {"check": check, "parameters": dict(parameters), "setup": dict(setup)}
        try:
            demand = cls(json.dumps(whole, sort_keys=True))
        except (TypeError, ValueError):
            raise PolicyError("its parameters must be texts, numbers, lists and mappings, as JSON has them") from None
        _require_soundness(demand)
        return demand

    @cached_property
    def _whole(self) -> dict[str, Any]:
        whole: dict[str, Any] = json.loads(self.text)
        return whole

    @property
    def check(self) -> str:
        """The name of the check; `STRUCTURE` for none."""
        return str(self._whole["check"])

    @property
    def entry(self) -> dict[str, Any]:
        """Its entry in `expect` of a policy."""
        return {self.check: self._whole["parameters"]}

    @property
    def attributes(self) -> dict[str, Any]:
        """The columns that it declares."""
        return dict(self._whole["setup"]["attributes"])

    @property
    def head(self) -> dict[str, Any]:
        """The policy that it stands in, without its columns and demands."""
        return {name: value for name, value in self._whole["setup"].items() if name != "attributes"}

    @property
    def names_its_target(self) -> bool:
        """Whether what it measures does not depend on which other columns are sensitive."""
        on_attribute = self.check in plugins().checks and plugins().checks[self.check].on_attribute
        return not on_attribute or bool({"attribute", "attributes"} & set(self._whole["parameters"]))


@lru_cache(maxsize=4096)  # Great Expectations makes each expectation several times
@redact_errors()
def _require_soundness(demand: Demand) -> None:
    """Insist that a policy of one demand alone is sound and gives one outcome; see `Demand.of`."""
    try:
        policy = policy_of_demands([demand], demand.attributes)
    except PolicyError as error:
        raise PolicyError(PLACE.sub("", str(error))) from None
    for expectation in policy.expectations:
        targets = len(expectation.check.targets(expectation.parameters, policy.document))
        if targets != 1:
            raise PolicyError(f"it would give {targets} outcomes, one for each sensitive column; name one `column`")


def policy_of_demands(demands: Sequence[Demand], attributes: Mapping[str, Any]) -> Policy:
    """The policy of some demands with the same head, in their order.

    Raises:
        PolicyError: it is not sound.
    """
    checks = [one for one in demands if one.check != STRUCTURE]
    whole = {"version": 1, **demands[0].head, "attributes": dict(attributes)}
    if checks:
        return read_policy({**whole, "expect": [one.entry for one in checks]}, plugins())
    return _without_checks(whole)


def _without_checks(whole: Mapping[str, Any]) -> Policy:
    """A policy that demands nothing but its columns, which no file could be."""
    from pydantic import ValidationError  # noqa: PLC0415 - beside the one use

    from tcdp_audit.api import (  # noqa: PLC0415
        PolicySource,
        from_validation,
        render,
    )
    from tcdp_audit.plugin.detector import PolicyDocument  # noqa: PLC0415

    data = {**whole, "expect": [UNMEASURED]}
    try:
        document = PolicyDocument.model_validate(data)
    except ValidationError as error:
        raise PolicyError(
            render("policy", "", from_validation(error, PolicySource(data, None), PolicyDocument))
        ) from None
    return Policy(document, (), json.dumps(data, sort_keys=True))


@dataclass
class _Joint:
    """Demands that one policy holds, so that each is judged as it would be alone."""

    demands: list[Demand]
    attributes: dict[str, Any] = field(default_factory=dict)

    def takes(self, demand: Demand) -> bool:
        """Take a demand in, where that changes no figure of it or of the others."""
        fits = self._fits(demand) if self.demands else True
        if fits:
            self.demands.append(demand)
            self.attributes |= demand.attributes
        return fits

    def _fits(self, demand: Demand) -> bool:
        new = demand.attributes
        if demand.head != self.demands[0].head or _known(new) != _known(self.attributes):
            return False
        if any(self.attributes[name] != new[name] for name in self.attributes.keys() & new.keys()):
            return False
        together = self.attributes | new
        return all(one.attributes == together for one in [*self.demands, demand] if _reads_every_column(one))


def _known(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: declared for name, declared in attributes.items() if declared["role"] == "quasi_identifier"}


def _reads_every_column(demand: Demand) -> bool:
    """Whether another declared column could change what it measures.

    A figure of equivalence classes rests on the quasi-identifiers and on its own sensitive column, unless a convention
    has it read the others. Any other check may take every declared column, as interval disclosure averages over them.
    """
    if demand.check == STRUCTURE or not demand.names_its_target:
        return True
    conventions = demand.head.get("conventions", {})
    apart = conventions.get("multiple_sensitive", "per_attribute") == "per_attribute"
    counted = conventions.get("suppressed", "counted") == "counted"
    return not (apart and counted and plugins().checks[demand.check].on_classes)


def joined(demands: Iterable[Demand]) -> list[tuple[list[Demand], dict[str, Any]]]:
    """The demands in as few policies as hold them, each with its columns; as a rule one.

    Those that read every declared column come first, since only what declares no other column fits to them.
    """
    listed = list(demands)
    joints: list[_Joint] = []
    for demand in sorted(listed, key=_reads_every_column, reverse=True):
        if not any(joint.takes(demand) for joint in joints):
            joints.append(_Joint([demand], demand.attributes))
    place = {demand: number for number, demand in reversed([*enumerate(listed)])}
    return [(sorted(joint.demands, key=place.__getitem__), joint.attributes) for joint in joints]


def answers(table: Any, demands: Iterable[Demand]) -> dict[Demand, Answer]:
    """What comes of some demands on a table; one audit for all that fit into one policy.

    Args:
        table: whatever an engine opens.
        demands: each is answered, if only by the fault that kept it from being judged.

    Cost: that of `audit`, once for each policy.
    """
    given: dict[Demand, Answer] = {}
    for together, attributes in joined(demands):
        try:
            given |= _audited(table, together, attributes)
        except TcdpAuditError as error:
            given |= dict.fromkeys(together, Fault(str(error)))
        except Exception as error:  # noqa: BLE001 - its text may hold cells
            given |= dict.fromkeys(together, Fault(f"the audit raised {type(error).__name__}"))
    return given


@redact_errors()
def _audited(table: Any, demands: Sequence[Demand], attributes: Mapping[str, Any]) -> dict[Demand, Answer]:
    policy = policy_of_demands(demands, attributes)
    with open_inputs(table, policy, None, None, plugins(), Options()) as inputs:
        outcomes = inputs.outcomes()
        if not inputs.engine.ordered:
            inputs.engine.sha256()  # of a database it says whether everything could be read
    return _by_demand(policy, demands, outcomes)


def _by_demand(policy: Policy, demands: Sequence[Demand], outcomes: Sequence[Outcome]) -> dict[Demand, Answer]:
    """Each demand with its outcomes: those on columns come first, then one for each check in the policy's order."""
    structural = [one for one in outcomes if one.is_structural]
    judged = [one for one in outcomes if not one.is_structural]
    checks = [one for one in demands if one.check != STRUCTURE]
    assert len(checks) == len(judged) == len(policy.expectations)  # noqa: S101 - each demand gives one outcome
    single: dict[Demand, Answer] = {demand: [one] for demand, one in zip(checks, judged, strict=True)}
    return single | dict.fromkeys((one for one in demands if one.check == STRUCTURE), structural)
