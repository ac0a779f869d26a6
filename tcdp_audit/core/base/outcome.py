"""The outcome of one expectation: its status, the figures behind it, and no cell of the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from math import inf, isinf
from typing import Any

from tcdp_audit.core.base.frozen import freeze
from tcdp_audit.core.base.notebook import Row, as_html
from tcdp_audit.core.base.words import agree, decimal, figure, listing


class Status(StrEnum):
    """Passed or failed a threshold, measured without one, skipped on purpose, or could not be evaluated."""

    PASSED = "passed"
    FAILED = "failed"
    MEASURED = "measured"
    SKIPPED = "skipped"
    ERROR = "error"


class Severity(StrEnum):
    """Whether a failed expectation fails the audit. An error always does."""

    ERROR = "error"
    WARNING = "warning"


class Comparison(StrEnum):
    """The relation that an observed value must have to its threshold."""

    AT_LEAST = ">="
    AT_MOST = "<="
    BELOW = "<"
    ABOVE = ">"

    @property
    def sign(self) -> str:
        """It as people write it: `≥`."""
        return {">=": "≥", "<=": "≤"}.get(self.value, self.value)

    @property
    def higher_is_safer(self) -> bool:
        """True where the smallest value of a table is its worst."""
        return self in (Comparison.AT_LEAST, Comparison.ABOVE)

    @property
    def worst_possible(self) -> float:
        """The value that no threshold accepts: what a class without any distribution gets."""
        return 0.0 if self.higher_is_safer else inf

    def holds(self, sign: Any) -> Any:
        """Whether it holds, for the sign of observed minus threshold; elementwise on arrays."""
        if self is Comparison.AT_LEAST:
            return sign >= 0
        if self is Comparison.AT_MOST:
            return sign <= 0
        return sign < 0 if self is Comparison.BELOW else sign > 0


@dataclass(frozen=True)
class WorstClass:
    """An equivalence class by its ordinal (1 is the worst); `cells` only where values were asked for."""

    ordinal: int
    records: int
    value: float
    cells: Mapping[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Lock its cells."""
        freeze(self, "cells")

    def as_json(self) -> dict[str, Any]:
        """The `worst` entry of the JSON contract."""
        plain = {"class": self.ordinal, "records": self.records, "value": number(self.value)}
        return plain if self.cells is None else {**plain, "cells": dict(self.cells)}


@dataclass(frozen=True)
class Tally:
    """A total, and the number of it that fails."""

    total: int
    failing: int | None


@dataclass(frozen=True)
class DisplayNames:
    """The policy's names of people and columns, for sentences."""

    # what a record is, or what the unit of privacy identifies, in the singular; nothing where the policy does not say
    unit_name: str = ""
    # what columns mean, by their names; only those that have a label
    labels: Mapping[str, str] = field(default_factory=dict)
    # what a record of the judged table is, where it is not what the policy's table has: a unit with its whole history,
    # or a record of one of several tables
    record_name: str = ""
    # what is known of a unit whose rows are joined: its history, or the composition of a household
    history_name: str = "whole history of"
    # who attacks, with an article: an insurer; nothing where the policy does not say
    intruder_name: str = ""

    def __post_init__(self) -> None:
        """Lock its mapping."""
        freeze(self, "labels")

    def column(self, name: str) -> str:
        """The name of a column in a sentence: its label, or its name in quotes."""
        return self.labels.get(name) or repr(name)

    def with_combination(self, names: Sequence[str], name: str) -> DisplayNames:
        """The same with a label for the columns `names` that are read together, which an outcome calls `name`."""
        combination = f"the combination of {listing([self.column(one) for one in names])}"
        return replace(self, labels={**self.labels, name: combination})


@dataclass(frozen=True, kw_only=True, repr=False)
class Outcome:
    """The result of one expectation. Immutable, serialisable, and free of cell values unless they were asked for.

    `message` is a sentence about people. `individual_impact` says what the outcome means for one of them: what an
    intruder knows, how far that narrows the search, and what it reveals; empty where the check does not say.
    `known` are the columns that the intruder is taken to know, `scenario` is who that is, empty where the policy
    has none. `reason` is why the policy makes the demand, in its author's words. `table` is, of several tables, the
    one whose column or rows the outcome is of; empty for one of all tables together, and None where the release is
    one table.
    """

    check: str
    status: Status
    title: str = ""
    attribute: str | None = None
    table: str | None = None
    scenario: str = ""
    severity: Severity = Severity.ERROR
    parameters: Mapping[str, Any] = field(default_factory=dict)
    conventions: Mapping[str, str] = field(default_factory=dict)
    observed: float | None = None
    threshold: Fraction | None = None
    comparison: Comparison | None = None
    classes: Tally | None = None
    records: Tally | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    worst: tuple[WorstClass, ...] = ()
    message: str = ""
    individual_impact: str = ""
    known: tuple[str, ...] = ()
    naming: DisplayNames = field(default_factory=DisplayNames)
    source: str = ""
    reason: str = ""
    line: int | None = None
    column: int | None = None

    def __post_init__(self) -> None:
        """Lock its mappings."""
        freeze(self, "parameters", "conventions", "details", "worst")

    def __repr__(self) -> str:
        """One line without cells."""
        return f"<Outcome {self.as_row().line}>"

    def _repr_html_(self) -> str:
        """A table of one row, for notebooks."""
        return as_html([self.as_row()])

    def as_row(self) -> Row:
        """The outcome as a row of a notebook's table."""
        sign = None if self.threshold is None or self.comparison is None else self.comparison.sign
        return Row(
            state="warning" if self.is_warning else self.status.value,
            name=self.name,
            observed=figure(self.observed, self.threshold),
            demanded="none" if sign is None else f"{sign} {decimal(self.threshold)}",
            failing=_failing(self.classes, self.records),
            note=self.note,
            title=self.title,
        )

    @property
    def name(self) -> str:
        """Its check, with the attribute and the scenario: `t_closeness on 'salary', neighbour`."""
        named = self.check if self.attribute is None else f"{self.check} on {self.attribute!r}"
        return f"{named}, {self.scenario}" if self.scenario else named

    @property
    def of_scenario(self) -> dict[str, str]:
        """Its scenario as an entry of JSON; nothing where the policy has none."""
        return {"scenario": self.scenario} if self.scenario else {}

    @property
    def note(self) -> str:
        """The message, without cells whatever was asked for: a finding on columns has their names only."""
        if not self.is_structural:
            return self.message
        columns = [repr(name) for name in self.details.get("columns", ())]
        named = columns if len(columns) <= NAMED else [*columns[:NAMED], f"{len(columns) - NAMED:,} more"]
        return f"{agree(len(columns), 'column', 'columns')} {listing(named)}" if columns else ""

    @property
    def is_structural(self) -> bool:
        """True for the core's own findings on columns, which no expectation asked for."""
        return self.source == STRUCTURE

    @property
    def is_schema(self) -> bool:
        """True for what the policy's own schema or suite says of quality; it demands nothing about disclosure."""
        return self.source in (SCHEMA, SUITE)

    @property
    def is_question(self) -> bool:
        """True for what a profile asks a person, answered or not; no figure decides it."""
        return self.source == PROFILE

    @property
    def blocks(self) -> bool:
        """True where a release does not pass with it: a failure of error severity, or what could not be evaluated."""
        return self.status is Status.ERROR or (self.status is Status.FAILED and self.severity is Severity.ERROR)

    @property
    def is_warning(self) -> bool:
        """True where a failure only warns."""
        return self.status is Status.FAILED and self.severity is Severity.WARNING

    @property
    def unfailable(self) -> Sequence[str]:
        """The parameters whose demand nothing can fail. Where there is no other demand, it is only measured."""
        return tuple(self.details.get(UNFAILABLE, ()))

    @property
    def is_estimated(self) -> bool:
        """Whether the figure is that of a sample, which an interval says more of."""
        return ESTIMATE in self.details

    @property
    def is_judged(self) -> bool:
        """Whether a demand that can fail was compared with the figure."""
        return self.status in (Status.PASSED, Status.FAILED)

    def as_json(self) -> dict[str, Any]:
        """This outcome in the JSON contract, thresholds and figures as numbers, infinity as text."""
        return {
            "check": self.check,
            "attribute": self.attribute,
            **({} if self.table is None else {"table": self.table or None}),
            **self.of_scenario,
            "parameters": {name: number(value) for name, value in self.parameters.items()},
            "conventions": dict(self.conventions),
            "severity": self.severity.value,
            "status": self.status.value,
            "observed": number(self.observed),
            "threshold": number(self.threshold),
            "comparison": None if self.comparison is None else self.comparison.value,
            "classes": None if self.classes is None else {"total": self.classes.total, "failing": self.classes.failing},
            "records": None if self.records is None else {"total": self.records.total, "failing": self.records.failing},
            "details": number(self.details),
            "worst": [one.as_json() for one in self.worst],
            "message": self.message,
            "individual_impact": self.individual_impact,
            "known": list(self.known),
            "source": self.source,
            **({"reason": self.reason} if self.reason else {}),
        }


def _failing(classes: Tally | None, records: Tally | None) -> tuple[int, int] | None:
    """The numbers of classes and records that fail, where both are known."""
    if classes is None or records is None or classes.failing is None or records.failing is None:
        return None
    return classes.failing, records.failing


NAMED = 10  # columns, at most
UNFAILABLE = "unfailable"  # the detail that names demands which nothing can fail
WORST_GROUP = "worst_group"  # the detail with the shares of values in the worst class and in the reference
BY_SIZE = "by_size"  # the detail with the number of classes by their size and figure
ESTIMATE = "estimate"  # the detail with the interval of a figure of a sample
# The detail that names columns which the release does not have, put back to judge it
AUDITED_WITH = "judged_with_columns"
AUDITED_ALIGNED = "audited_aligned"  # the detail with the digest of the same records in the original's order
SHUFFLED = "shuffled"  # the detail of the finding on the order where a repair has shuffled the records
RESTORED_COLUMNS = frozenset({AUDITED_WITH, AUDITED_ALIGNED, SHUFFLED})  # only a repeated repair can confirm them
STAYS_INSIDE = "internal_only"  # the detail of the findings on key and order where the policy says that the file does
DROPPED = "dropped"  # the detail of the finding on the unit where the policy says that its column is not released
KNOWN_ROWS = "known_rows"  # its detail where the policy claims no more than `one` row of a person
LINKABLE_KEY = "linkable_key"
LINKABLE_ORDER = "linkable_order"
LINKED_ROWS = "linked_rows"
ALONE_WITH = "alone_with"  # its detail that names the tables of several with which a unit may be alone
LINKABLE_ROWS = "linkable_rows"
WITHOUT_UNIT = "without_unit"
NOT_CONSTANT = "not_constant"
HIDDEN_PEOPLE = "hidden_people"
UNDECLARED_IDENTIFIERS = "undeclared_identifiers"
UNDEMANDED_SENSITIVE = "undemanded_sensitive"
LEFT_OUT = "left_out"  # the detail with the number of records that a convention leaves out of every demand
STRUCTURE = "tcdp-audit: structure"
COLUMN_DEMANDS = (  # every release has an outcome for each, in this order
    "missing_columns",
    "undeclared_columns",
    "present_identifiers",
    LINKABLE_KEY,
    LINKABLE_ORDER,
    LINKED_ROWS,
    WITHOUT_UNIT,
    "wrong_scale",
    "outside_hierarchy",
    "text_variants",
    HIDDEN_PEOPLE,
    UNDECLARED_IDENTIFIERS,
    UNDEMANDED_SENSITIVE,
    NOT_CONSTANT,
    LINKABLE_ROWS,
)
ORPHAN_ROWS = "orphan_rows"
REPEATED_UNIT = "repeated_unit"
LINK_DEMANDS = (ORPHAN_ROWS, REPEATED_UNIT)  # a release of several tables has an outcome for each, after the others
SCHEMA = "pandera schema"
SUITE = "Great Expectations suite"
PROFILE = "profile"  # what asks a question that only a person can answer


def number(value: Any) -> Any:
    """A value as JSON takes it: exact fractions as numbers, whole floats as integers, infinity as text."""
    if value is None or isinstance(value, str | int):
        return value  # what is common comes first: to ask whether something is a fraction or a mapping takes far longer
    if isinstance(value, float):
        return _plain(value)
    if isinstance(value, list | tuple):
        return [number(inner) for inner in value]
    if isinstance(value, Fraction):
        return _plain(float(value))
    if isinstance(value, Mapping):
        return {str(key): number(inner) for key, inner in value.items()}
    return value


def _plain(value: float) -> float | str:
    if isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
