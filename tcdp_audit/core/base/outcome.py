"""The outcome of one expectation: its status, the figures behind it, and no cell of the release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from fractions import Fraction
from math import inf, isinf
from typing import Any

from tcdp_audit.core.base.frozen import dataclass, freeze
from tcdp_audit.core.base.notebook import Row, as_html
from tcdp_audit.core.base.provenance import Proof
from tcdp_audit.core.base.words import agree, decimal, figure, listing, prose, visible


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
class FailingCell:
    """A cell of a released table of figures that misses a demand, named by the labels of its dimensions.

    Args:
        table: the table; the model where it is the output of one.
        labels: the label of each dimension; metadata of the table, never a hidden value.
        measure: the measure.
        line: its line in the file, counted from 1; 0 where the file has none for it.
        says: why it fails, in words and labels without any figure of it.
        name: the cell in words: `ward A, age 80+`; by default its labels.
        figures: what was asked for to be shown: `value`, `low`, `high`.
    """

    table: str
    labels: Mapping[str, str]
    measure: str = ""
    line: int = 0
    says: str = ""
    name: str = ""
    figures: Mapping[str, Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Lock its mappings, and name it by its labels where that was not done."""
        freeze(self, "labels", "figures")
        object.__setattr__(self, "name", self.name or cell_in_words(self.labels) or self.measure or self.table)

    @property
    def sentence(self) -> str:
        """Its name and why it fails: `ward A, age 80+ is the total of ward A less age 60-79`."""
        return f"{self.name} {self.says}".strip()

    @property
    def description(self) -> str:
        """The cell with its measure and its table, why it fails, and the figures that were asked for."""
        return sentence_on_cell(self.as_json())

    @property
    def why(self) -> str:
        """The reason why it fails, as a clause, and the figures that were asked for."""
        return why_cell_fails(self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Its entry in the JSON contract."""
        plain = {"table": self.table, "measure": self.measure, "name": self.name, "cell": dict(self.labels)}
        more = {"figures": number(self.figures)} if self.figures is not None else {}
        return {**plain, "line": self.line or None, "says": self.says, **more}


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
    # the columns in the policy's order, which is that of a list in a sentence
    columns: tuple[str, ...] = ()
    # the units of numbers, as nouns in the plural, by the names of their columns; only those that have one
    measured_in: Mapping[str, str] = field(default_factory=dict)
    # the chance that the only scenario's attack is tried
    attempt: Fraction = Fraction(1)
    # whether the only scenario's intruder does not know who is in the release
    is_blind: bool = False

    def __post_init__(self) -> None:
        """Lock its mappings."""
        freeze(self, "labels", "measured_in")

    def column(self, name: str) -> str:
        """The name of a column in a sentence: its label, or its name in quotes."""
        return self.labels.get(name) or repr(name)

    def in_order(self, names: Sequence[str]) -> list[str]:
        """Columns in the policy's order, and then those that it does not name."""
        places = {name: place for place, name in enumerate(self.columns)}
        return sorted(names, key=lambda one: places.get(one, len(places)))

    def with_combination(self, names: Sequence[str], name: str) -> DisplayNames:
        """The same with a label for the columns `names` that are read together, which an outcome calls `name`."""
        combination = f"the combination of {listing([self.column(one) for one in names])}"
        return replace(self, labels={**self.labels, name: combination})


@dataclass(frozen=True)
class UsualThreshold:
    """A threshold that is usual for a demand.

    Args:
        threshold: the threshold.
        says: what it is, to follow `is`: usual for public files.
        source: the document that says so, or the name of the profile that demands it.
        profile: the profile that demands it; empty where the guide of the check names the threshold.
    """

    threshold: Fraction
    says: str
    source: str
    profile: str = ""

    def as_json(self) -> dict[str, Any]:
        """Its entry in an outcome."""
        entry = {"threshold": number(self.threshold), "says": self.says, "source": self.source}
        return {**entry, **({"profile": self.profile} if self.profile else {})}


@dataclass(frozen=True, kw_only=True, repr=False)
class Outcome:
    """The result of one expectation. Immutable, serialisable, and free of cell values unless they were asked for.

    `message` is a sentence about people. `individual_impact` says what the outcome means for one of them: what an
    intruder knows, how far that narrows the search, and what it reveals; empty where the check does not say.
    `known` are the columns that the intruder is taken to know, `scenario` is who that is, empty where the policy
    has none. `unit` is the column that the demand names in the place of the policy's unit, empty where it names none.
    `reason` is why the policy makes the demand, in its author's words. `laxer_than` are stricter thresholds that are
    usual, the laxest first, and `implied_by` names another demand that holds only where this one does. `table` is, of
    several tables, the one whose column or rows the outcome is of; empty for one of all tables together, and None where
    the release is one table. `proof` is what checks the outcome without this program, where the table alone decides it.
    `cells` and `failing_cells` are of tables of figures, None and empty of records.
    """

    check: str
    status: Status
    title: str = ""
    attribute: str | None = None
    table: str | None = None
    scenario: str = ""
    unit: str = ""
    severity: Severity = Severity.ERROR
    parameters: Mapping[str, Any] = field(default_factory=dict)
    conventions: Mapping[str, str] = field(default_factory=dict)
    observed: float | None = None
    threshold: Fraction | None = None
    comparison: Comparison | None = None
    classes: Tally | None = None
    records: Tally | None = None
    cells: Tally | None = None
    failing_cells: tuple[FailingCell, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    worst: tuple[WorstClass, ...] = ()
    message: str = ""
    individual_impact: str = ""
    known: tuple[str, ...] = ()
    naming: DisplayNames = field(default_factory=DisplayNames)
    source: str = ""
    reason: str = ""
    laxer_than: tuple[UsualThreshold, ...] = ()
    implied_by: str = ""
    proof: Proof | None = None
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
            observed=self.bound_met or figure(self.observed, self.threshold),
            demanded="none" if sign is None else f"{sign} {decimal(self.threshold)}",
            failing=_failing(self.classes, self.records),
            failing_cells=None if self.cells is None else self.cells.failing,
            note=self.note,
            title=self.title,
        )

    @property
    def bound_met(self) -> str:
        """The text in the place of the figure that a demand on tables of figures found, such as `< 10`; else empty.

        The least number of people in a cell is the cell's own figure, which only the JSON of a result has.
        """
        return (
            ""
            if self.cells is None or not self.is_judged
            else bound_met(self.observed, self.threshold, self.comparison)
        )

    @property
    def name(self) -> str:
        """Its check, with the attribute and the scenario or the unit: `t_closeness on 'salary', neighbour`."""
        named = self.check if self.attribute is None else f"{self.check} on {self.attribute!r}"
        return ", ".join(filter(None, (named, self.name_of_part)))

    @property
    def name_of_part(self) -> str:
        """Its scenario, or the unit that it names: `neighbour`, `unit home`; empty where there is neither."""
        return part_name(self.of_part)

    @property
    def of_part(self) -> dict[str, str]:
        """Its scenario, or the unit that it names, as an entry of JSON; nothing where there is none."""
        return {name: one for name, one in (("scenario", self.scenario), ("unit", self.unit)) if one}

    @property
    def note(self) -> str:
        """The message, without cells whatever was asked for: a finding on columns has their names only."""
        if not self.is_structural or self.cells is not None:
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
            **self.of_part,
            "parameters": {name: number(value) for name, value in self.parameters.items()},
            "conventions": dict(self.conventions),
            "severity": self.severity.value,
            "status": self.status.value,
            "observed": number(self.observed),
            "threshold": number(self.threshold),
            "comparison": None if self.comparison is None else self.comparison.value,
            "classes": None if self.classes is None else {"total": self.classes.total, "failing": self.classes.failing},
            "records": None if self.records is None else {"total": self.records.total, "failing": self.records.failing},
            **self._cells_as_json(),
            "details": number(self.details),
            "worst": [one.as_json() for one in self.worst],
            "message": self.message,
            "individual_impact": self.individual_impact,
            "known": list(self.known),
            "source": self.source,
            **({"reason": self.reason} if self.reason else {}),
            **({"laxer_than": [one.as_json() for one in self.laxer_than]} if self.laxer_than else {}),
            **({"implied_by": self.implied_by} if self.implied_by else {}),
            **({"proof": self.proof.as_json()} if self.proof else {}),
        }

    def _cells_as_json(self) -> dict[str, Any]:
        """The cells of tables of figures; nothing where the outcome is of records."""
        if self.cells is None:
            return {}
        named = [one.as_json() for one in self.failing_cells[:NAMED_CELLS]]
        return {"cells": {"total": self.cells.total, "failing": self.cells.failing}, "failing_cells": named}


def bound_met(observed: float | None, threshold: Fraction | None, comparison: Comparison | None) -> str:
    """A figure of which more is safer as the side of its threshold on which it is; empty for any other, or none."""
    if observed is None or threshold is None or comparison is not Comparison.AT_LEAST or isinf(observed):
        return ""
    return f"{comparison.sign if observed >= threshold else '<'} {decimal(threshold)}"


NAMED_CELLS = 1_000  # failing cells that a result names


def cell_in_words(labels: Mapping[str, str]) -> str:
    """A cell by its labels, each with its dimension unless the label begins with it: `ward A, age 80+, county-1`."""
    named = (
        label if label.casefold().startswith(dimension.casefold()) else f"{dimension} {label}"
        for dimension, label in labels.items()
    )
    return visible(", ".join(named))


def sentence_on_cell(entry: Mapping[str, Any]) -> str:
    """The entry of a failing cell as a clause: `ward A, age 80+ (patients of admissions): is the total of …`."""
    name, measure, table = (str(entry[key]) for key in ("name", "measure", "table"))
    of = " of ".join(one for one in (measure, table) if one and one != name)
    named = visible(f"{name} ({of})" if of else name)
    return ": ".join(filter(None, (named, why_cell_fails(entry))))


def why_cell_fails(entry: Mapping[str, Any]) -> str:
    """The reason in the entry of a failing cell, as a clause, and the figures that were asked for."""
    return "; ".join(filter(None, (prose(str(entry["says"])).rstrip("."), _figures_in_words(entry))))


def _figures_in_words(entry: Mapping[str, Any]) -> str:
    figures = entry.get("figures") or {}
    return ", ".join(f"{visible(str(name)).replace('_', ' ')} {_shown(value)}" for name, value in figures.items())


def _shown(value: Any) -> str:
    """A figure that was asked for: a number with all its digits, any other as text."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:,.15g}" if is_number else visible(str(value))


def part_name(entry: Mapping[str, Any]) -> str:
    """The scenario of an outcome in JSON, or the unit that it names, as `unit home`; empty where there is neither."""
    return str(entry.get("scenario") or ("unit" in entry and f"unit {entry['unit']}") or "")


def _failing(classes: Tally | None, records: Tally | None) -> tuple[int, int] | None:
    """The numbers of classes and records that fail, where both are known."""
    if classes is None or records is None or classes.failing is None or records.failing is None:
        return None
    return classes.failing, records.failing


NAMED = 10  # columns, at most
UNFAILABLE = "unfailable"  # the detail that names demands which nothing can fail
CLASSES_WITHOUT_VALUE = "classes_without_value"  # the detail with the number of classes where no record has a value
RECORDS_WITHOUT_VALUE = "records_without_value"  # the detail with the number of records in them
WORST_WITH_VALUE = "worst_with_value"  # the detail with the figure and the members of the worst of the other classes
MISSING_AS_VALUE = "missing_as_value"  # the detail with the number of missing values that count as a value
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
UNITS_WITH_ROWS = "units_with_rows"  # its detail with the units that have a row in each table below that of units
EXPOSED_WITH_ROWS = "exposed_with_rows"  # and with those of them that failing demands expose
UNIT_NOUN = "unit_noun"  # the detail of a failing demand on rows with what the units are called that it counts
ALONE_WITH = "alone_with"  # its detail that names the tables of several with which a unit may be alone
LINKABLE_ROWS = "linkable_rows"
WITHOUT_UNIT = "without_unit"
NOT_CONSTANT = "not_constant"
HIDDEN_PEOPLE = "hidden_people"
UNDECLARED_IDENTIFIERS = "undeclared_identifiers"
DIFFERING = "differing"  # its detail with the values and records of columns that differ in nearly every record
ACKNOWLEDGED = "acknowledged"  # its detail with the policy's reason why a column is no identifier, by column
UNDEMANDED_SENSITIVE = "undemanded_sensitive"
ONLY_WARNED = "only_warned"  # its detail that names the columns that a demand of severity warning is on
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
FURTHER_CONTENT = "further_content"
CONTENTS = "contents"  # its detail that lists what the file holds
FILE_DEMANDS = (FURTHER_CONTENT,)  # a release from a workbook has an outcome for each, after the others
ORPHAN_ROWS = "orphan_rows"
REPEATED_UNIT = "repeated_unit"
LINK_DEMANDS = (ORPHAN_ROWS, REPEATED_UNIT)  # a release of several tables has an outcome for each, after the others
UNKNOWN_TOKEN = "unknown_token"  # noqa: S105 - the name of a finding
DUPLICATE_CELL = "duplicate_cell"
UNKNOWN_CATEGORY = "unknown_category"
IMPOSSIBLE_FIGURE = "impossible_figure"
CONTRADICTION = "contradiction"
CELLS_AGREE = "cells_agree"
UNDEMANDED_PARTS = "undemanded_parts"
CELL_DEMANDS = (  # a release of tables of figures has an outcome for each, in this order
    UNKNOWN_TOKEN,
    DUPLICATE_CELL,
    UNKNOWN_CATEGORY,
    IMPOSSIBLE_FIGURE,
    CONTRADICTION,
    CELLS_AGREE,
)
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
