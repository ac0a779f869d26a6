"""Trials of remedies, of changes of tables of figures, and of settings: demands with varied thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import zip_longest
from math import inf
from typing import Any, TypeAlias

from tcdp_audit.core.base.errors import UsageError
from tcdp_audit.core.base.frozen import dataclass, freeze
from tcdp_audit.core.base.outcome import Comparison, FailingCell, Outcome, number
from tcdp_audit.core.base.words import agree, count, decimal, listing, sentence_case, visible
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
        sha256: the digest of the written file, or over the files of several tables; empty if none was written.
        average_risk: of several linked tables the classes of whole histories divided by those who have them; else None.
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
    average_risk: float | None = None
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

        That is the number of equivalence classes divided by that of records, the average prosecutor risk; of several
        linked tables that of people by their whole histories. None without classes.
        """
        if "average_class_size" not in self.loss:
            return self.average_risk
        size, k = (self.loss["average_class_size"][name] for name in ("after", "k"))
        return None if not size else 1 / (size * (k or 1))

    @property
    def name(self) -> str:
        """The remedies in a few words: titles, each with its parameters if it has any."""
        pairs = zip_longest(self.titles[: len(self.remedies)], self.remedies)
        return " + ".join(_in_words(title, entry) for title, entry in pairs) or "none: as it is"

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
            "average_risk": self.average_risk,
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
            average_risk=entry["average_risk"],
            attempts=tuple(map(Attempt.from_json, entry["attempts"])),
            **texts,
        )


def _in_words(title: str | None, entry: str) -> str:
    """A remedy of a policy, such as `suppression: {at_most: 0.05}`, as its title and its parameters."""
    name, _, parameters = entry.partition(": ")
    inner = parameters.strip().removeprefix("{").removesuffix("}").replace("_", " ")
    return f"{title or name.replace('_', ' ')}{f' ({inner})' if inner else ''}"


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


NOT_OPTIMAL = (
    "Each was tried on the audited tables in memory, and audited. Other patterns may cost less: choosing the best is "
    "the business of tools such as τ-Argus and sdcTable."
)
LISTED = 12  # cells of a proposal that reports list
HOLDS = "Every demand on the tables then holds"


@dataclass(frozen=True, kw_only=True)
class FigureProposal:
    """A change of released tables of figures that was tried in memory, and what the policy then says of them.

    Args:
        hidden: figures to hide, each with the reason in `says`; never with its value.
        margins: totals to leave out: a table and a dimension each.
        base: the base to round all counts to; None for no rounding.
        passes: whether every demand on tables then holds, and nothing that is hidden or rounded can be computed.
        mends: the titles of the demands that failed and then hold.
        remains: what does not hold then, in sentences.
        figures_lost: how many published figures are not shown, or not exactly, any more.
        figures: how many figures are published.
        people: the people in the hidden cells that are no totals; None unless figures were asked for, since it may be
            the figure of one hidden cell.
    """

    hidden: tuple[FailingCell, ...] = ()
    margins: tuple[tuple[str, str], ...] = ()
    base: int | None = None
    passes: bool
    mends: tuple[str, ...]
    remains: tuple[str, ...] = ()
    figures_lost: int
    figures: int
    people: int | None = None

    @property
    def title(self) -> str:
        """The change: `Hide 3 figures`, `Leave out the total over age of admissions`, `Round all counts to base 10`."""
        parts = []
        if self.hidden:
            parts.append(f"hide {count(len(self.hidden), 'figure')}")
        if self.margins:
            totals = [f"{visible(name)} of {visible(table)}" for table, name in self.margins]
            parts.append(f"leave out the {agree(len(totals), 'total', 'totals')} over {listing(totals)}")
        if self.base is not None:
            parts.append(f"round all counts to base {self.base}")
        words = ", and ".join(parts)
        return words[:1].upper() + words[1:]

    @property
    def cells(self) -> Sequence[str]:
        """The figures to hide, a line each with its reason; of many the first, and how many more there are."""
        lines = [one.description for one in self.hidden[:LISTED]]
        more = len(self.hidden) - LISTED
        return [*lines, *([f"and {count(more, 'more figure')}"] if more > 0 else [])]

    @property
    def declaration(self) -> str:
        """The declaration of what was changed in the policy, as a sentence; empty where nothing has to be said."""
        says = []
        if self.hidden:
            says.append(
                'Hide them by a text that says nothing of their size, declared as `suppressed: {"*": unknown}`.'
            )
        if self.margins:
            says.append("Declare `exhaustive: true` of such a dimension in the place of its `total`.")
        if self.base is not None:
            says.append(f"Declare `rounding: {{base: {self.base}, half: up}}` of every table.")
        return " ".join(says)

    @property
    def effect(self) -> str:
        """The demands that then hold and do not, and what is lost, in sentences."""
        holds = (
            f"{HOLDS}."
            if self.passes
            else f"{listing(list(self.mends))} then {agree(len(self.mends), 'holds', 'hold')}."
        )
        verb = "are not shown exactly any more" if self.base is not None else "are not shown any more"
        lost = f"{self.figures_lost:,} of {count(self.figures, 'published figure')} {verb}"
        people = "" if self.people is None else f"; the hidden cells have {self.people:,} people"
        return " ".join([holds, *(f"What remains: {one}" for one in self.remains), f"{lost}{people}."])

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "title": self.title,
            "hide": [one.as_json() for one in self.hidden],
            "margins": [{"table": table, "dimension": name} for table, name in self.margins],
            "base": self.base,
            "passes": self.passes,
            "mends": list(self.mends),
            "remains": list(self.remains),
            "figures_lost": self.figures_lost,
            "figures": self.figures,
            "people": self.people,
        }


@dataclass(frozen=True, kw_only=True)
class FigureTrial:
    """A trial of changes of tables of figures in memory. It writes no file and does not affect the verdict.

    Args:
        proposals: the changes after which every demand holds; where there is none, those that meet some demand.
        reason: why there is none, or why not all changes were tried; empty otherwise.
    """

    proposals: tuple[FigureProposal, ...] = ()
    reason: str = ""

    @property
    def note(self) -> str:
        """A note on all proposals, and on why there is none or no more, in sentences."""
        reason = f"{sentence_case(self.reason)}." if self.reason else ""
        return " ".join(one for one in (NOT_OPTIMAL if self.proposals else "", reason) if one)

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {"proposals": [one.as_json() for one in self.proposals], "reason": self.reason}
