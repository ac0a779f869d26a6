"""Trials of remedies, and demands with varied thresholds with a trial of each setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.frozen import freeze
from tcdp_audit.core.base.outcome import Comparison, Outcome, number
from tcdp_audit.core.base.words import decimal
from tcdp_audit.core.results.change_log import ChangeLog

Setting: TypeAlias = tuple[Fraction, ...]  # a threshold for each varied demand, in their order

MARGIN = Fraction(1, 10**9)  # relative; a figure nearer to a threshold than this may be on either side


@dataclass(frozen=True)
class VariedDemand:
    """A demand of a policy, and the thresholds that are tried in place of its own.

    Args:
        name: the argument of the call: a check, or a check and an attribute (`t_closeness:salary`).
        title: the check's title.
        parameter: the parameter with the threshold.
        comparison: the comparison of figures with it.
        own: the policy's threshold.
        levels: the thresholds that are tried, the least strict first.
    """

    name: str
    title: str
    parameter: str
    comparison: Comparison
    own: Fraction
    levels: tuple[Fraction, ...]

    @property
    def label(self) -> str:
        """Its parameter, with the attribute if the call named one: `k`, `t of salary`."""
        attribute = self.name.partition(":")[2]
        return f"{self.parameter} of {attribute}" if attribute else self.parameter

    def phrase(self, level: Fraction) -> str:
        """A threshold in a few characters: `k ≥ 5`."""
        return f"{self.label} {self.comparison.sign} {decimal(level)}"

    def risk(self, figure: float | None) -> float:
        """A figure as a risk, lower is safer; a missing figure is the worst."""
        if figure is None or figure != figure:  # noqa: PLR0124 - NaN
            return inf
        return -figure if self.comparison.higher_is_safer else figure

    def worst(self, figures: Sequence[float | None]) -> float | None:
        """The riskiest of some figures."""
        return max(figures, key=self.risk, default=None)

    def is_laxer(self, one: Fraction, other: Fraction) -> bool:
        """Whether every figure that satisfies `other` satisfies `one`."""
        return one <= other if self.comparison.higher_is_safer else one >= other

    def keeps(self, figure: float | None, level: Fraction) -> bool:
        """Whether a figure certainly satisfies a threshold.

        A figure is a rounded number: if it is within the rounding error of the threshold, and the two are not both
        whole, the answer is no.
        """
        if figure is None or self.risk(figure) == inf:
            return False
        if abs(figure) == inf:
            return True  # at the safe end
        exact = Fraction(figure)
        difference = exact - level
        whole = exact.denominator == level.denominator == 1
        if not whole and abs(difference) <= MARGIN * max(abs(level), MARGIN):
            return False
        return bool(self.comparison.holds((difference > 0) - (difference < 0)))

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "name": self.name,
            "title": self.title,
            "parameter": self.parameter,
            "comparison": self.comparison.value,
            "own": number(self.own),
            "levels": [number(one) for one in self.levels],
        }


def phrase_of(demands: Sequence[VariedDemand], setting: Setting) -> str:
    """A setting in a few characters: `k ≥ 5, t ≤ 0.2`."""
    return ", ".join(demand.phrase(level) for demand, level in zip(demands, setting, strict=True))


def is_laxer(demands: Sequence[VariedDemand], one: Setting, other: Setting) -> bool:
    """Whether every release that satisfies `other` satisfies `one`."""
    return all(demand.is_laxer(a, b) for demand, a, b in zip(demands, one, other, strict=True))


@dataclass(frozen=True)
class Attempt:
    """One remedy that was tried alone.

    Args:
        remedy: its name.
        title: its title.
        parameters: the parameters that were set, as in a policy.
        loss: the total information loss after it; None if not measured.
        keeps: whether the release passed after it.
        reason: why it could not be applied or was stopped; empty otherwise.
        at_least: a lower bound of its loss, if it was stopped because another remedy loses less.
    """

    remedy: str
    title: str
    parameters: str
    loss: float | None
    keeps: bool
    reason: str = ""
    at_least: float | None = None

    @property
    def entry(self) -> str:
        """The entry of a policy's `remedy`."""
        return f"{self.remedy}: {self.parameters}"

    @property
    def bound(self) -> float | None:
        """A lower bound of its loss under stricter demands; None if unknown."""
        return self.loss if self.keeps else self.at_least

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "remedy": self.remedy,
            "title": self.title,
            "parameters": self.parameters,
            "loss": self.loss,
            "keeps": self.keeps,
            "reason": self.reason,
            "at_least": self.at_least,
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Attempt:
        """Read an entry of a JSON result."""
        return cls(**entry)


@dataclass(frozen=True)
class Example:
    """One record before and after a repair. It holds cells, so a caller gets it only if values may be shown.

    Args:
        record: its place in the release that came in, from 0.
        before: its cells by column, as they came in.
        after: its cells as they are released, without the columns that were dropped; None where the record was.
    """

    record: int
    before: Mapping[str, Any] = field(repr=False)
    after: Mapping[str, Any] | None = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class SettingTrial:
    """The result of `fix` under one setting of the thresholds, from the audit of the written file.

    Args:
        setting: the thresholds.
        planned: whether the remedies were chosen by the loop, and not named by the policy.
        status: the status of the written file; of the best release if none was written.
        reason: why it does not pass; empty if it does.
        remedies: the remedies with their parameters, each as an entry of a policy's `remedy`.
        titles: the remedies' titles.
        expect: entries of a policy's `expect`: the varied demands at this setting, and those that the remedies need.
        figures: the observed figures of each varied demand, one for each attribute.
        loss: the information loss, by the names of `InformationLoss.as_json`.
        records: the number of records of the input.
        suppressed: the number of records dropped.
        constant_columns: the columns that distinguished records in the input, and are constant in the result.
        sha256: the digest of the written file; empty if none was written.
        attempts: the remedies that were tried alone.
        examples: the records that the call named, before and after; in no JSON and no saved file.
    """

    setting: Setting
    planned: bool
    status: str
    reason: str
    remedies: tuple[str, ...]
    titles: tuple[str, ...]
    expect: tuple[str, ...]
    figures: tuple[tuple[float | None, ...], ...]
    loss: Mapping[str, Any]
    records: int
    suppressed: int
    constant_columns: tuple[str, ...] = ()
    sha256: str = ""
    attempts: tuple[Attempt, ...] = field(default=())
    examples: tuple[Example, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Make the mapping read-only."""
        freeze(self, "loss")

    def example(self, record: int) -> Example:
        """The change of one record.

        Args:
            record: its place in the release that came in, from 0.

        Raises:
            UsageError: the call of `frontier` did not name it, or the trial was read from a file.
        """
        known = next((one for one in self.examples if one.record == record), None)
        if known is None:
            raise UsageError(
                f"record {record} was not kept; name it in `session.frontier(examples=[{record}])`, with a session "
                "opened with `show_values=True` and without a file to resume from"
            )
        return known

    @property
    def passed(self) -> bool:
        """Whether the file was written and its audit passes."""
        return self.status == "passed" and bool(self.sha256)

    @property
    def total_loss(self) -> float:
        """The mean loss of a cell."""
        return float(self.loss["total"])

    @property
    def reidentified(self) -> float | None:
        """The share of released records that an intruder with all quasi-identifiers of everyone re-identifies.

        That is the number of equivalence classes divided by that of records, the average prosecutor risk. None without
        classes.
        """
        size, k = (self.loss["average_class_size"][name] for name in ("after", "k"))
        return None if not size else 1 / (size * (k or 1))

    @property
    def name(self) -> str:
        """The remedies in a few words."""
        return " + ".join(self.remedies) if self.remedies else "none: as it is"

    @property
    def lines(self) -> str:
        """The policy lines for exactly this release, which replace those for the same demands."""
        expect = "".join(f"  - {one}\n" for one in self.expect)
        remedies = "".join(f"  - {one}\n" for one in self.remedies)
        return f"expect:\n{expect}" + (f"remedy:\n{remedies}" if remedies else "")

    def worst(self, demands: Sequence[VariedDemand]) -> tuple[float | None, ...]:
        """The riskiest figure of each varied demand."""
        return tuple(demand.worst(figures) for demand, figures in zip(demands, self.figures, strict=True))

    def vector(self, demands: Sequence[VariedDemand]) -> tuple[float, ...]:
        """Risks and loss, lower is better, for the comparison of points."""
        pairs = zip(demands, self.figures, strict=True)
        return (*(demand.risk(one) for demand, figures in pairs for one in figures), self.total_loss)

    def keeps(self, demands: Sequence[VariedDemand], setting: Setting) -> bool:
        """Whether it satisfies a setting: its own, or one that its figures certainly satisfy."""
        if not self.passed or setting == self.setting:
            return self.passed
        asked = zip(demands, self.figures, setting, strict=True)
        return all(figures and all(demand.keeps(one, level) for one in figures) for demand, figures, level in asked)

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "thresholds": [number(one) for one in self.setting],
            "planned": self.planned,
            "status": self.status,
            "reason": self.reason,
            "remedies": list(self.remedies),
            "titles": list(self.titles),
            "expect": list(self.expect),
            "figures": number(self.figures),
            "records": self.records,
            "records_suppressed": self.suppressed,
            "constant_columns": list(self.constant_columns),
            "sha256": self.sha256 or None,
            "loss": number(self.loss),
            "attempts": [one.as_json() for one in self.attempts],
        }

    @classmethod
    def from_json(cls, setting: Setting, entry: Mapping[str, Any]) -> SettingTrial:
        """Read an entry of a JSON result; `setting` has exact thresholds, which JSON has not."""
        texts = {name: tuple(entry[name]) for name in ("remedies", "titles", "expect", "constant_columns")}
        return cls(
            setting=setting,
            planned=entry["planned"],
            status=entry["status"],
            reason=entry["reason"],
            figures=tuple(tuple(None if one is None else float(one) for one in row) for row in entry["figures"]),
            loss=entry["loss"],
            records=entry["records"],
            suppressed=entry["records_suppressed"],
            sha256=entry["sha256"] or "",
            attempts=tuple(map(Attempt.from_json, entry["attempts"])),
            **texts,
        )


@dataclass(frozen=True, kw_only=True)
class RemedyTrial:
    """A trial of `fix` in memory. It writes no file and does not affect the verdict.

    Args:
        log: the change log; None if remedies could not be tried.
        passes: whether the audit of the result passes.
        reason: why it does not; empty if it does.
        outcomes: the outcomes of that audit; empty if remedies could not be tried.
    """

    log: ChangeLog | None
    passes: bool
    reason: str = ""
    outcomes: tuple[Outcome, ...] = ()

    @property
    def only_drops(self) -> bool:
        """Whether the release would pass without a remedy if its identifiers and its key were dropped."""
        return self.passes and self.log is not None and not self.log.steps and bool(self.log.dropped)

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        changes: Mapping[str, Any] = {} if self.log is None else self.log.as_json()
        return {
            "passes": self.passes,
            "reason": self.reason,
            "columns_dropped": changes.get("columns_dropped", []),
            "steps": changes.get("steps", []),
            "tried": changes.get("tried", []),
            "records_suppressed": changes.get("records_suppressed"),
            "cells_changed": changes.get("cells_changed", {}),
            "planned": changes.get("planned"),
            "loss": changes.get("loss"),
            "constant_columns": changes.get("constant_columns", []),
        }
