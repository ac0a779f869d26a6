"""The log of a remediation, step by step, with what it cost: counts and figures, never a cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from itertools import groupby
from typing import Any

import yaml

from tcdp_audit.core.base.frozen import freeze
from tcdp_audit.core.base.outcome import Outcome, number
from tcdp_audit.core.base.provenance import Table
from tcdp_audit.core.base.words import agree, count, listing
from tcdp_audit.core.results.cost import Cost


@dataclass(frozen=True, kw_only=True)
class DroppedColumn:
    """A column of the input that is not written.

    Args:
        name: its name.
        why: "identifier", "key" for what pairs its records with the original's, or "unit" for what joins those of a
            person.
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
        title: what a person calls it.
        parameters: those that were given.
        outcomes: the audit of the whole release after it; empty where the remedy could not be applied.
        cells: how many cells of each column it changed, columns without a change left out.
        suppressed: how many records it dropped.
        notes: figures about how it was done, documented on the remedy's page.
        lines: what an audit of the release has to know, as lines of a policy.
        error: why it could not be applied, was stopped before its audit, or lost more than the policy allows; or
            nothing.
        loss: the total information loss after it, where it was measured to choose between remedies, or because the
            policy limits it.
        at_least: what it would have lost at least, where it was stopped because another remedy loses less.
        unhelped: which demands that failed before it a remedy of the policy does not act on, and why; or nothing.
        attacks: the checks that attack what it did; see `Treatment.attacks`.
    """

    remedy: str
    title: str
    parameters: Mapping[str, Any]
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

    def __post_init__(self) -> None:
        """Lock its mappings."""
        freeze(self, "parameters", "cells", "notes")

    def __repr__(self) -> str:
        """What was done: parameters and lines of a policy may name values."""
        return f"<Step {self.remedy}: {_changed(self.cells, self.suppressed)}>"

    @property
    def failing(self) -> list[Outcome]:
        """The demands that still fail."""
        return failing_demands(self.outcomes)

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "remedy": self.remedy,
            "parameters": number(self.parameters),
            "failing": [{"check": one.check, "attribute": one.attribute} for one in self.failing],
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
    """What an intruder who knows what a remedy did, and how, finds in the release: measured, never a demand.

    Args:
        step: which of the steps is attacked, from 0.
        check: the attack's name.
        title: what a person calls it.
        outcome: what came of it; None where it was not run.
        reason: why it could not be run; or nothing.
        in_policy: whether the policy asks for this attack itself, so that it is among the outcomes.
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
        """What came of it, after the title and a colon."""
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
    """How a release became what it is.

    Args:
        input: the release as it came in.
        before: its outcomes.
        steps: the remedies that made the release, in order.
        tried: what else was tried: remedies that could not be applied, did not help, cost more, or were stopped.
        records: records that came in.
        suppressed: how many of them were dropped.
        cells: how many cells of each column differ from the input in the records that stayed.
        planned: whether the remedies were chosen here, because the policy names none.
        order: "shuffled", or "kept".
        seed: of every random choice.
        loss: what it cost, by the names of `InformationLoss.as_json`.
        reason: why the release does not pass, or nothing.
        constant_columns: the columns that distinguished records, and in which all records agree now.
        dropped: the columns that are not written.
        judged_with_columns: those of them without which some demand cannot be judged; it was judged with them and what
            was written.
        aligned_sha256: the digest of the same records in the original's order, in which demands that pair records by
            their places were judged; None where there are none.
        left_out: the titles of the remedies that were not tried, each with the reason, where they were chosen here.
        attacks: what an intruder who knows what the remedies did finds in it.
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
    judged_with_columns: tuple[str, ...] = ()
    aligned_sha256: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    attacks: tuple[RemedyAttack, ...] = ()

    def __post_init__(self) -> None:
        """Lock its mappings."""
        freeze(self, "cells", "loss", "left_out")

    def __repr__(self) -> str:
        """What was changed in all."""
        dropped = f"{count(len(self.dropped), 'column')} dropped, " if self.dropped else ""
        changed = f"{dropped}{_changed(self.cells, self.suppressed)}"
        return f"<ChangeLog of {count(len(self.steps), 'step')}: {changed} of {count(self.records, 'record')}>"

    @property
    def is_unchanged(self) -> bool:
        """Whether no cell, no record and no column was touched."""
        return not self.dropped and not self.suppressed and not any(self.cells.values())

    @property
    def drops(self) -> str:
        """Which columns are not written, and why, in a clause; nothing where all are."""
        names = [f"{one.name!r} ({REASONS[one.why]})" for one in self.dropped]
        return f"dropped from what is written: {listing(names)}" if names else ""

    @property
    def restored_columns(self) -> str:
        """What was put back to judge demands, in a clause; nothing where every demand was judged without."""
        if not self.judged_with_columns:
            return ""
        names = listing([repr(name) for name in self.judged_with_columns])
        number = len(self.judged_with_columns)
        return (
            f"demands that need {names} were judged with {agree(number, 'it', 'them')} together with the written cells"
        )

    @property
    def aligned(self) -> str:
        """On which copy demands on pairs were judged, in a clause; nothing where the order has no part in them."""
        if self.aligned_sha256 is None:
            return ""
        return (
            "demands that compare records with the original's were judged on the same records in its order "
            f"(SHA-256 {self.aligned_sha256})"
        )

    @property
    def cost(self) -> str:
        """What it costs in all, in a clause."""
        return self._cost.clause

    @property
    def utility_impact(self) -> list[str]:
        """What it costs those who use the release, in sentences: the worst first."""
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

    @property
    def lines(self) -> str:
        """The policy lines that say what was done, to paste; a remedy that was applied several times in a row once."""
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
    """The outcomes for which a release does not pass."""
    return [one for one in outcomes if one.blocks]


def flow(parameters: Mapping[str, Any]) -> str:
    """Parameters in braces, as a policy has them."""
    return yaml.safe_dump(_plain(parameters), default_flow_style=True, sort_keys=False, width=2**20).strip()


def _plain(value: Any) -> Any:
    """What YAML can write: an exact number as the decimal it is, or as a fraction where no decimal is exact.

    A choice of several words, such as the name of a loss, is its word.
    """
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
