"""The log of a remediation, step by step, with the information loss: counts and figures, never a cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum
from fractions import Fraction
from itertools import groupby
from typing import Any

import yaml

from tcdp_audit.core.base.frozen import dataclass, freeze
from tcdp_audit.core.base.outcome import Outcome, number
from tcdp_audit.core.base.provenance import Table
from tcdp_audit.core.base.words import agree, count, listing
from tcdp_audit.core.check.translation import say
from tcdp_audit.core.results.cost import Cost


@dataclass(frozen=True, kw_only=True)
class DroppedColumn:
    """A column of the input that is not written.

    Args:
        name: its name.
        why: "identifier", "key" (pairs records with the original's), or "unit" (joins the records of a person).
    """

    name: str
    why: str

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {"name": self.name, "why": self.why}


@dataclass(frozen=True, kw_only=True, repr=False)
class Step:
    """One remedy, applied and audited.

    Args:
        remedy: its name.
        title: its title.
        parameters: the parameters that were set.
        against: the scenarios against which it acted; none where it acted against all.
        outcomes: the audit of the whole release after it; empty if the remedy could not be applied.
        cells: the number of cells that it changed in each changed column.
        suppressed: the number of records that it dropped.
        notes: figures of its application, documented on the remedy's page.
        lines: policy lines that an audit of the release needs.
        error: why it could not be applied, was stopped before its audit, or lost more than the policy allows; empty if
            it was applied.
        loss: the total information loss after it, if measured to choose between remedies or for a limit of the policy.
        at_least: a lower bound of its loss, if it was stopped because another remedy loses less.
        unhelped: the demands failing before it on which the policy's remedy does not act, and why; empty if none.
        attacks: the checks that attack its result; see `Treatment.attacks`.
        after: the steps to whose result it was applied; none where that was the release as it came.
    """

    remedy: str
    title: str
    parameters: Mapping[str, Any]
    against: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    cells: Mapping[str, int] = field(default_factory=dict)
    suppressed: int = 0
    notes: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    error: str = ""
    loss: float | None = None
    at_least: float | None = None
    unhelped: str = ""
    attacks: tuple[Mapping[str, Mapping[str, Any]], ...] = ()
    after: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        """Make the mappings read-only."""
        freeze(self, "parameters", "cells", "notes")

    def __repr__(self) -> str:
        """The changes without parameters and policy lines, which may name values."""
        return f"<Step {self.remedy}: {_changed(self.cells, self.suppressed)}>"

    @property
    def name(self) -> str:
        """Its title, with the intruders against whom it acted: `Mondrian partitioning against neighbour`."""
        intruders = [f"an intruder who {one}" if " " in one else one for one in self.against if one]
        return f"{self.title} against {listing(intruders)}" if intruders else self.title

    @property
    def failing(self) -> list[Outcome]:
        """The demands that still fail."""
        return failing_demands(self.outcomes)

    def as_applied(self) -> dict[str, Any]:
        """What was applied, in the JSON result."""
        return {"remedy": self.remedy, "parameters": number(self.parameters)}

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "remedy": self.remedy,
            "parameters": number(self.parameters),
            **({"against": list(self.against)} if self.against else {}),
            **({"after": [one.as_applied() for one in self.after]} if self.after else {}),
            "failing": [{"check": one.check, "attribute": one.attribute, **one.of_part} for one in self.failing],
            "cells_changed": dict(self.cells),
            "records_suppressed": self.suppressed,
            "notes": number(self.notes),
            "lines": list(self.lines),
            "error": self.error,
            "loss": self.loss,
            "unhelped": self.unhelped,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class RemedyAttack:
    """An attack by an intruder who knows a remedy and its parameters: measured, never a demand.

    Args:
        step: the index of the attacked step, from 0.
        check: the attack's name.
        title: the attack's title.
        outcome: its outcome; None if it was not run.
        reason: why it could not be run; empty if it was.
        in_policy: whether the policy contains this attack, so that it is among the outcomes.
    """

    step: int
    check: str
    title: str
    outcome: Outcome | None = None
    reason: str = ""
    in_policy: bool = False

    def __repr__(self) -> str:
        """The attack, and whether it was run."""
        return f"<RemedyAttack {self.check} on step {self.step + 1}{'' if self.outcome else ': not run'}>"

    @property
    def sentence(self) -> str:
        """The message of the outcome, or the reason why it was not run."""
        if self.outcome is not None:
            return self.outcome.message
        return "the policy asks for it itself" if self.in_policy else f"could not be run: {self.reason}"

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "step": self.step,
            "check": self.check,
            "in_policy": self.in_policy,
            "outcome": None if self.outcome is None else self.outcome.as_json(),
            "reason": self.reason,
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class ChangeLog:
    """The remediation of a release.

    Args:
        input: the release before the repair.
        before: its outcomes.
        steps: the remedies that made the release, in order.
        tried: the other remedies that were tried: not applicable, of no help, of greater loss, or stopped.
        records: the number of records of the input.
        suppressed: the number of records dropped.
        cells: for each column the number of cells in retained records that differ from the input, without the columns
            of `redrawn`.
        planned: whether the remedies were chosen by the loop, because the policy names none.
        order: "shuffled", or "kept".
        seed: the seed of every random choice.
        loss: the information loss, by the names of `InformationLoss.as_json`.
        reason: why the release does not pass; empty if it does.
        constant_columns: the columns that distinguished records in the input, and are constant in the result.
        dropped: the columns that are not written.
        redrawn: the columns whose pseudonyms were drawn anew in all linked tables when the release was written.
        judged_with_columns: the dropped columns that some demand needs; it was judged with them.
        aligned_sha256: the digest of the same records in the original's order, in which demands that pair records by
            position were judged; None if there are none.
        left_out: the titles of the remedies that a plan did not try, each with the reason.
        attacks: attacks by an intruder who knows the remedies.
    """

    input: Table
    before: tuple[Outcome, ...]
    steps: tuple[Step, ...]
    records: int
    suppressed: int
    cells: Mapping[str, int]
    planned: bool
    order: str
    seed: int
    loss: Mapping[str, Any]
    tried: tuple[Step, ...] = ()
    reason: str = ""
    constant_columns: tuple[str, ...] = ()
    dropped: tuple[DroppedColumn, ...] = ()
    redrawn: tuple[str, ...] = ()
    judged_with_columns: tuple[str, ...] = ()
    aligned_sha256: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    attacks: tuple[RemedyAttack, ...] = ()

    def __post_init__(self) -> None:
        """Make the mappings read-only."""
        freeze(self, "cells", "loss", "left_out")

    def __repr__(self) -> str:
        """The total of the changes."""
        dropped = f"{count(len(self.dropped), 'column')} dropped, " if self.dropped else ""
        changed = f"{dropped}{_changed(self.cells, self.suppressed)}"
        return f"<ChangeLog of {count(len(self.steps), 'step')}: {changed} of {count(self.records, 'record')}>"

    @property
    def is_unchanged(self) -> bool:
        """Whether no cell, record or column changed."""
        return not (self.dropped or self.redrawn or self.suppressed or any(self.cells.values()))

    @property
    def drops(self) -> str:
        """The clause on the columns that are not written, with the reasons; empty if all are."""
        names = [say("{name} ({reason:text})", name=repr(one.name), reason=REASONS[one.why]) for one in self.dropped]
        return say("dropped from what is written: {columns:text}", columns=names) if names else ""

    @property
    def links(self) -> str:
        """The clause on pseudonyms that were drawn anew when several tables were written; empty if none were."""
        names = listing([repr(name) for name in self.redrawn])
        return f"new pseudonyms, alike in all tables: {names}" if names else ""

    @property
    def restored_columns(self) -> str:
        """The clause on the columns restored to judge demands; empty if no demand needs any."""
        if not self.judged_with_columns:
            return ""
        names = listing([repr(name) for name in self.judged_with_columns])
        number = len(self.judged_with_columns)
        return (
            f"demands that need {names} were judged with {agree(number, 'it', 'them')} together with the written cells"
        )

    @property
    def aligned(self) -> str:
        """The clause on the copy on which demands on pairs were judged; empty if they do not depend on the order."""
        if self.aligned_sha256 is None:
            return ""
        return (
            "demands that compare records with the original's were judged on the same records in its order "
            f"(SHA-256 {self.aligned_sha256})"
        )

    @property
    def cost(self) -> str:
        """The clause on all changes and losses."""
        return self._cost.clause

    @property
    def utility_impact(self) -> list[str]:
        """The consequences for users of the release, in sentences: the worst first."""
        return self._cost.sentences

    @property
    def _cost(self) -> Cost:
        return Cost(self.loss, self.cells, self.records, self.suppressed, self.constant_columns)

    @property
    def left_out_by_reason(self) -> dict[str, list[str]]:
        """The titles of the remedies that were not tried, by reason."""
        titles: dict[str, list[str]] = {}
        for title, reason in self.left_out.items():
            titles.setdefault(reason, []).append(title)
        return titles

    def records_left(self, column: str) -> int:
        """The number of records of the result that have a column: those of its table, where there are several."""
        return self._cost.records_left(column)

    @property
    def lines(self) -> str:
        """The policy lines of the remedies applied, to paste; consecutive applications of a remedy appear once."""
        if not self.steps:
            return ""
        every = (f"  - {one.remedy}: {flow(one.parameters)}\n" for one in self.steps)
        entries = "".join(entry for entry, _ in groupby(every))
        text = "".join(f"  {line}\n" for one in self.steps for line in one.lines)
        return f"remedy:\n{entries}" + (f"expect:\n{text}" if text else "")

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "columns_dropped": [one.as_json() for one in self.dropped],
            **({"columns_redrawn": list(self.redrawn)} if self.redrawn else {}),
            "judged_with_columns": list(self.judged_with_columns),
            "aligned_sha256": self.aligned_sha256,
            "input": self.input.as_json(),
            "before": [one.as_json() for one in self.before],
            "steps": [one.as_json() for one in self.steps],
            "tried": [one.as_json() for one in self.tried],
            "records": self.records,
            "records_suppressed": self.suppressed,
            "cells_changed": dict(self.cells),
            "planned": self.planned,
            "order": self.order,
            "seed": self.seed,
            "loss": number(self.loss),
            "reason": self.reason,
            "constant_columns": list(self.constant_columns),
            "left_out": dict(self.left_out),
            "attacks": [one.as_json() for one in self.attacks],
        }


REASONS = {
    "identifier": "identifier",
    "key": "key that links to the original",
    "unit": "unit that joins the records of a person",
}


def failing_demands(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The outcomes that prevent a release from passing."""
    return [one for one in outcomes if one.blocks]


def flow(parameters: Mapping[str, Any]) -> str:
    """Parameters as a YAML flow mapping, as in a policy."""
    return yaml.safe_dump(_plain(parameters), default_flow_style=True, sort_keys=False, width=2**20).strip()


def _plain(value: Any) -> Any:
    """Convert a value to YAML's types: a fraction to an exact decimal or to text, an enumeration to its value."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Fraction):
        decimal = float(value)
        exact = Fraction(repr(decimal)) == value
        return (int(decimal) if decimal.is_integer() else decimal) if exact else str(value)
    return value


def _changed(cells: Mapping[str, int], suppressed: int) -> str:
    return f"{count(sum(cells.values()), 'cell')} changed, {count(suppressed, 'record')} suppressed"
