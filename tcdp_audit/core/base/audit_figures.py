"""Figures of an audit as a whole: the people whom failing demands expose, and the effect of other conventions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tcdp_audit.core.base.frozen import dataclass, freeze
from tcdp_audit.core.base.outcome import Outcome, Status


@dataclass(frozen=True, kw_only=True)
class ExposureCount:
    """The distinct records that failing demands expose, and the distinct entities where the policy names a unit.

    A demand of severity warning does not count. A failing demand on groups exposes the records of the groups that do
    not keep it. One on the release as a whole gives a number that cannot be joined with others: it is left out, unless
    it is the only one that gives a number of records.
    """

    records: int | None  # how many records; None where no failing demand says which records it is about
    of: int  # how many records of the release count: all that no convention exempts
    units: int | None = None  # how many entities have such a record; None where the unit of privacy is the record
    units_of: int | None = None  # how many entities have a record that counts
    counted: tuple[int, ...] = ()  # the failing demands that are counted, by their position among the audit's outcomes
    left_out: tuple[int, ...] = ()  # the other failures of severity error, likewise
    # the same for each group of demands of which several fail, see `demand_groups`; its own `left_out` are those of
    # the group that cannot be joined with its others
    by_group: tuple[ExposureCount, ...] = ()

    @property
    def people(self) -> int | None:
        """The number to report: of entities where the policy names a unit, otherwise of records."""
        return self.records if self.units is None else self.units

    @property
    def people_of(self) -> int:
        """What it is a part of."""
        return self.of if self.units_of is None else self.units_of

    @property
    def is_least(self) -> bool:
        """Whether there may be more, since a failing demand is left out."""
        return bool(self.left_out)

    def among(self, outcomes: Sequence[Outcome]) -> ExposureCount | None:
        """The same with what is left out among all outcomes of an audit; None where nothing fails."""
        failed = failures(outcomes)
        return replace(self, left_out=tuple(one for one in failed if one not in self.counted)) if failed else None

    def as_json(self, outcomes: Sequence[Outcome]) -> dict[str, Any]:
        """The entry in the JSON result."""
        plain: dict[str, Any] = {"records": self.records, "of": self.of, "units": self.units, "units_of": self.units_of}
        named = {"counted": self.counted, "left_out": self.left_out}
        return plain | {
            name: [
                {"outcome": number, "check": outcomes[number].check, "attribute": outcomes[number].attribute}
                for number in numbers
            ]
            for name, numbers in named.items()
        }


@dataclass(frozen=True, kw_only=True)
class ColumnRisk:
    """The risk that one column adds.

    Args:
        column: its name.
        label: what the policy calls it; nothing without a label.
        share: of the risk, from 0 to 1; all columns together have 1.
        distinction: different values for each record, by this column alone.
        separation: the part of all pairs of records that this column alone distinguishes.
        unique: records that are unique by all columns.
        unique_without: records that are unique without this one.
        noun: what is counted in the place of records, in the singular: the unit or the household whose whole histories
            are compared. Empty for records.
    """

    column: str
    label: str = ""
    share: float
    distinction: float
    separation: float
    unique: int
    unique_without: int
    noun: str = ""

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "column": self.column,
            "share": self.share,
            "distinction": self.distinction,
            "separation": self.separation,
            "unique": self.unique,
            "unique_without": self.unique_without,
            **({"of": self.noun} if self.noun else {}),
        }


@dataclass(frozen=True, kw_only=True)
class ScenarioResult:
    """One scenario of a policy: its intruder, and the people whom failing demands expose to it.

    Args:
        name: its name in the policy; that of a set of columns says what is known.
        intruder: who it is, with an article; empty where the policy does not say.
        knows: the columns that the intruder knows.
        at_stake: the sensitive columns that the intruder is after.
        attempt: the chance that the attack is tried.
        known_fraction: the share of people of whom the intruder knows this much.
        in_release: whether the intruder knows who is in the release: `known` or `unknown`.
        tables: the tables that this scenario has and the others do not.
        exposed: the people exposed to it; None if none of its demands fails.
        column_risks: what each column that it knows adds to the risk, the most first; empty if all of its demands hold,
            or if it was not measured.
    """

    name: str
    intruder: str
    knows: tuple[str, ...]
    at_stake: tuple[str, ...]
    attempt: Fraction
    known_fraction: Fraction
    in_release: str
    tables: tuple[str, ...] = ()
    exposed: ExposureCount | None = None
    column_risks: tuple[ColumnRisk, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        one = self.exposed
        people = None if one is None else {name: getattr(one, name) for name in ("records", "of", "units", "units_of")}
        return {
            "name": self.name,
            "intruder": self.intruder,
            "knows": list(self.knows),
            "at_stake": list(self.at_stake),
            "attempt": float(self.attempt),
            "known_fraction": float(self.known_fraction),
            "in_release": self.in_release,
            "tables": list(self.tables),
            "exposed": people,
            **({"column_risks": [one.as_json() for one in self.column_risks]} if self.column_risks else {}),
        }


GROUP = 5  # demands of one check that are fewer are no group


def demand_groups(outcomes: Sequence[Outcome]) -> list[tuple[int, ...]]:
    """Group demands of one check that differ in their columns, scenarios or tables only.

    Demands of one group have the same parameters, threshold, severity and unit. Cost: linear in the outcomes.

    Returns:
        the positions of the outcomes of each group of at least five, by the first of each.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for number, one in enumerate(outcomes):
        if not (one.is_structural or one.is_question):
            parameters = sorted((name, repr(value)) for name, value in one.parameters.items() if name not in TARGETS)
            key = (one.check, title_of_demand(one), one.source, one.severity, one.unit, one.threshold, *parameters)
            groups.setdefault(key, []).append(number)
    return [tuple(numbers) for numbers in groups.values() if len(numbers) >= GROUP]


TARGETS = frozenset({"attribute", "attributes", "knows", "tables"})  # parameters that say what a demand is on


def title_of_demand(outcome: Outcome) -> str:
    """The title of a demand without its scenario."""
    title = outcome.title or outcome.check
    return title.removesuffix(f" against {outcome.scenario}").removesuffix(f" if an intruder {outcome.scenario}")


def failures(outcomes: Sequence[Outcome]) -> list[int]:
    """The positions of what fails with the severity of an error."""
    return [number for number, one in enumerate(outcomes) if one.blocks and one.status is Status.FAILED]


@dataclass(frozen=True)
class ConventionVariant:
    """The status of each expectation under one combination of conventions.

    Args:
        conventions: the combination, only those that were varied.
        verdicts: status of each expectation, in the policy's order; skipped where the combination does not suit it.
        declared: whether it is the policy's own combination.
        demands: status of each demand that an expectation makes, for each expectation; see `verdicts`.
    """

    conventions: Mapping[str, str]
    verdicts: tuple[Status, ...]
    declared: bool = False
    demands: tuple[tuple[Status, ...], ...] = ()

    def __post_init__(self) -> None:
        """Lock its mapping."""
        freeze(self, "conventions")

    def as_json(self) -> dict[str, Any]:
        """The entry in the JSON result."""
        return {
            "conventions": dict(self.conventions),
            "declared": self.declared,
            "verdicts": [verdict.value for verdict in self.verdicts],
            "demands": [[verdict.value for verdict in each] for each in self.demands],
        }


def flips(variants: Sequence[ConventionVariant]) -> list[int]:
    """The positions of expectations of which a verdict is not the same under every combination that suits them."""
    return [position for position in range(len(variants[0].verdicts)) if _flips(variants, position)] if variants else []


def _flips(variants: Sequence[ConventionVariant], position: int) -> bool:
    """True if an expectation's verdict differs, or that of one of its demands where it makes the same ones."""
    suited = [one for one in variants if one.verdicts[position] is not Status.SKIPPED]
    of_demands = {one.demands[position] for one in suited if one.demands}
    return len({one.verdicts[position] for one in suited}) > 1 or len({*map(len, of_demands)}) < len(of_demands)
