"""A demand whose threshold is varied, and what came of a setting of such thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

from tcdp_audit.core.base.frozen import freeze
from tcdp_audit.core.base.outcome import Comparison, number
from tcdp_audit.core.base.words import decimal

Setting: TypeAlias = tuple[Fraction, ...]  # a threshold for each varied demand, in their order

MARGIN = Fraction(1, 10**9)  # relative; a figure nearer to a threshold than this may be on either side of it


@dataclass(frozen=True)
class VariedDemand:
    """A demand of a policy, and the thresholds that are tried in place of its own.

    Args:
        name: what the call named: a check, or a check and an attribute (`t_closeness:salary`).
        title: what people call the check.
        parameter: the one that holds the threshold.
        comparison: how figures must compare with it.
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
        """Its parameter, with the attribute where the call named one: `k`, `t of salary`."""
        attribute = self.name.partition(":")[2]
        return f"{self.parameter} of {attribute}" if attribute else self.parameter

    def phrase(self, level: Fraction) -> str:
        """A threshold of it in a few characters: `k ≥ 5`."""
        return f"{self.label} {self.comparison.sign} {decimal(level)}"

    def risk(self, figure: float | None) -> float:
        """A figure as a risk, the less the safer; what was not measured is the worst."""
        if figure is None or figure != figure:  # noqa: PLR0124 - NaN
            return inf
        return -figure if self.comparison.higher_is_safer else figure

    def worst(self, figures: Sequence[float | None]) -> float | None:
        """The riskiest of some figures."""
        return max(figures, key=self.risk, default=None)

    def is_laxer(self, one: Fraction, other: Fraction) -> bool:
        """Whether whatever keeps `other` keeps `one` as well."""
        return one <= other if self.comparison.higher_is_safer else one >= other

    def keeps(self, figure: float | None, level: Fraction) -> bool:
        """Whether a figure keeps a threshold for certain.

        A figure is a float in place of an exact number: where it is nearer to the threshold than rounding can
        show, and the two are not both whole, the answer is no.
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
    """Whether whatever keeps `other` keeps `one` as well."""
    return all(demand.is_laxer(a, b) for demand, a, b in zip(demands, one, other, strict=True))


@dataclass(frozen=True)
class Attempt:
    """One remedy that was tried by itself.

    Args:
        remedy: its name.
        title: what a person calls it.
        parameters: those that were given, as a policy has them.
        loss: the total information loss after it; None where that was not measured.
        keeps: whether the release passed after it.
        reason: why it could not be applied or was stopped; or nothing.
        at_least: what it would have lost at least, where it was stopped because another remedy loses less.
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
        """It as an entry of a policy's `remedy`."""
        return f"{self.remedy}: {self.parameters}"

    @property
    def bound(self) -> float | None:
        """What it loses at least where more is demanded; None where that is not known."""
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
        """The attempt of an entry."""
        return cls(**entry)


@dataclass(frozen=True, kw_only=True)
class SettingTrial:
    """What `fix` made of a release under one setting of the thresholds, as the audit of the written file has it.

    Args:
        setting: the thresholds.
        planned: whether the remedies were chosen, and not those that the policy names.
        status: of the audit of the file that was written; of the release that fails least where none was.
        reason: why it does not pass, or nothing.
        remedies: the remedies with their parameters, each as an entry of a policy's `remedy`.
        titles: what people call them.
        expect: entries of a policy's `expect`: the varied demands at this setting, and what the remedies need.
        figures: for each varied demand what was observed, once for each attribute.
        loss: what it cost, by the names of `InformationLoss.as_json`.
        records: records that came in.
        suppressed: how many of them were dropped.
        constant_columns: the columns that distinguished records, and in which all records agree now.
        sha256: digest of the file that was written; empty where none was.
        attempts: the remedies that were tried each by itself.
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

    def __post_init__(self) -> None:
        """Lock its mapping."""
        freeze(self, "loss")

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
        """The share of released records that an intruder re-identifies who knows all quasi-identifiers of everyone.

        That is the number of equivalence classes by that of records, what is called the average prosecutor risk. None
        where there are no classes.
        """
        size, k = (self.loss["average_class_size"][name] for name in ("after", "k"))
        return None if not size else 1 / (size * (k or 1))

    @property
    def name(self) -> str:
        """The remedies in a few words."""
        return " + ".join(self.remedies) if self.remedies else "none: as it is"

    @property
    def lines(self) -> str:
        """The policy lines that give exactly this release, in place of the policy's own for the same demands."""
        expect = "".join(f"  - {one}\n" for one in self.expect)
        remedies = "".join(f"  - {one}\n" for one in self.remedies)
        return f"expect:\n{expect}" + (f"remedy:\n{remedies}" if remedies else "")

    def worst(self, demands: Sequence[VariedDemand]) -> tuple[float | None, ...]:
        """For each varied demand the riskiest figure."""
        return tuple(demand.worst(figures) for demand, figures in zip(demands, self.figures, strict=True))

    def vector(self, demands: Sequence[VariedDemand]) -> tuple[float, ...]:
        """Risks and loss, each the less the better: what one point of the map is compared with another by."""
        pairs = zip(demands, self.figures, strict=True)
        return (*(demand.risk(one) for demand, figures in pairs for one in figures), self.total_loss)

    def keeps(self, demands: Sequence[VariedDemand], setting: Setting) -> bool:
        """Whether it keeps a setting: its own, or one that its figures keep for certain."""
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
        """The trial of an entry; thresholds are exact, and numbers in JSON are not."""
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
