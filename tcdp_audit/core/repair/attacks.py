"""Attacks on a repaired release by an intruder who knows what its remedies did, and how: the transparency principle.

Each remedy names the checks and their parameters. They compare the written release with the input record by record,
whatever the policy pairs and whether or not it names an original. They do not affect the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pydantic import ValidationError

from tcdp_audit.core.auditor.evaluation import evaluate
from tcdp_audit.core.base.errors import CheckError, sentence_about
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import Outcome, Status
from tcdp_audit.core.check.kinds import Check
from tcdp_audit.core.engines.arrow_types import array_of_texts
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.model import PolicyDocument
from tcdp_audit.core.policy.policy import Expectation, Policy
from tcdp_audit.core.repair.candidate import OpenTable
from tcdp_audit.core.results.change_log import ChangeLog, RemedyAttack, Step
from tcdp_audit.core.session.inputs import AuditInputs
from tcdp_audit.core.session.registry import CHECKS

RECORD = "\0record"  # no column of a table has this name


class NoAttackError(CheckError):
    """A remedy names an attack that cannot be run."""


def with_attacks(log: ChangeLog, written: AuditInputs, inputs: AuditInputs, rows: NDArray[np.intp]) -> ChangeLog:
    """Add to a change log the results of the attacks that its remedies name.

    Args:
        log: the change log.
        written: the release as it was written.
        inputs: the release before the repair.
        rows: for each written record its position in the input.

    Cost: that of the attacks. An error in one affects neither the others nor the repair.
    """
    named = list(_named(log.steps))
    if not named:
        return log
    try:
        with _paired(written, inputs, rows) as pair:
            attacks = [_attack(pair, *one) for one in named]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the repair is valid without its attacks
        reason = sentence_about(error, "the attack")
        attacks = [RemedyAttack(step=step, check=check, title=check, reason=reason) for step, check, _ in named]
    return replace(log, attacks=tuple(attacks))


def _named(steps: tuple[Step, ...]) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """Step, check and parameters of every distinct attack; steps that changed nothing have none."""
    seen: list[tuple[str, Mapping[str, Any]]] = []
    for number, step in enumerate(steps):
        for check, parameters in (one for attack in step.attacks if step.cells for one in attack.items()):
            if (check, parameters) not in seen:
                seen.append((check, parameters))
                yield number, check, parameters


@dataclass(frozen=True)
class _Pair:
    """A release before and after its repair, under the policy.

    Args:
        inputs: the policy, the plugins and the options.
        written: the release; each record has the number of its position in the input.
        original: the input, numbered likewise.
    """

    inputs: AuditInputs
    written: Engine
    original: Engine

    @property
    def document(self) -> PolicyDocument:
        """The policy with records paired by number and without exemptions, which do not bind an intruder."""
        document = self.inputs.policy.document
        conventions = document.conventions.model_copy(update={"suppressed": "counted"})
        changes = {"key": RECORD, "rows_aligned": False, "conventions": conventions, "scenarios": None}
        return document.model_copy(update=changes)

    def outcome(self, expectation: Expectation) -> Outcome:
        """Evaluate an attack.

        Raises:
            NoAttackError: it cannot be run; the message states why.
        """
        policy = replace(self.inputs.policy, document=self.document, expectations=(expectation,))
        outcomes = evaluate(policy, self.written, self.inputs.options, {"original": self.original})
        measured = [one for one in outcomes if not one.is_structural]
        if len(measured) != 1:
            raise NoAttackError(
                f"{expectation.check.name} is asked {len(measured)} times of this release, and not once"
            )
        if measured[0].status is not Status.MEASURED:
            raise NoAttackError(measured[0].message)
        return measured[0]


@contextmanager
def _paired(written: AuditInputs, inputs: AuditInputs, rows: NDArray[np.intp]) -> Iterator[_Pair]:
    if not written.engine.ordered:
        raise NoAttackError("the written records have no order, so that they cannot be paired with the input's")
    before = inputs.engine.table()
    with ExitStack() as stack:
        released = stack.enter_context(OpenTable(_numbered(written.engine.table(), rows), inputs))
        original = stack.enter_context(OpenTable(_numbered(before, np.arange(before.num_rows)), inputs))
        yield _Pair(inputs, released.engine, original.engine)


def _numbered(table: pa.Table, rows: NDArray[np.intp]) -> pa.Table:
    """Add a column with the number of each record in the input."""
    return table.append_column(RECORD, array_of_texts([str(row) for row in rows.tolist()]))


def _attack(pair: _Pair, step: int, name: str, given: Mapping[str, Any]) -> RemedyAttack:
    """Run one attack; an error is reported as its result."""
    try:
        check = _check(pair.inputs, name)
    except NoAttackError as error:
        return RemedyAttack(step=step, check=name, title=name, reason=str(error))
    blank = RemedyAttack(step=step, check=name, title=check.title)
    try:
        expectation = _expectation(pair, check, given)
        if _is_asked(pair.inputs.policy, expectation):
            return replace(blank, in_policy=True)
        return replace(blank, outcome=pair.outcome(expectation))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - an attack that raises must not take the repair down
        return replace(blank, reason=sentence_about(error, "the attack"))


def _check(inputs: AuditInputs, name: str) -> Check:
    checks = inputs.plugins.checks
    if name not in checks:
        raise NoAttackError(f"no check {name!r} is known; install the plugin that has it, or name it under `plugins:`")
    check: Check = checks[name]
    return check


def _expectation(pair: _Pair, check: Check, given: Mapping[str, Any]) -> Expectation:
    """An attack with its parameters, as an expectation of the policy.

    Raises:
        NoAttackError: the parameters are invalid, or set a demand, which attacks on remedies do not have.
    """
    try:
        parameters = check.parameters.model_validate(dict(given))
    except ValidationError:
        raise NoAttackError("the remedy gave it parameters that a policy would reject") from None
    if check.demands(parameters):
        raise NoAttackError("the remedy gave it a demand, and an attack on a remedy measures only")
    faults = [sentence for _, sentence in check.faults(parameters, pair.document)]
    if faults:
        raise NoAttackError(faults[0])
    plugin = pair.inputs.plugins.provider_of(CHECKS, check.name)
    return Expectation(check, parameters, plugin=plugin)


def _is_asked(policy: Policy, attack: Expectation) -> bool:
    """Whether the policy contains the attack, by an intruder who knows at least the same columns."""
    known = _known(policy.document.model_copy(update={"scenarios": None}), attack)
    own = ((each.document, one) for each in policy.parts.values() for one in each.expectations)
    return any(one.check.name == attack.check.name and _known(document, one) >= known for document, one in own)


def _known(document: PolicyDocument, expectation: Expectation) -> set[str]:
    check, parameters = expectation.check, expectation.parameters
    targets = check.targets(parameters, document)
    return {name for one in targets for name in check.known(parameters, document, one)}
