"""Tasks: one expectation on one attribute, and the outcome that the auditor makes of the check's figures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.cache import Cache, Identity
from tcdp_audit.core.base.errors import CheckError, sentence_about
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import KNOWN_ROWS, UNFAILABLE, DisplayNames, Outcome, Status
from tcdp_audit.core.base.phrases import bound, column_of, observed, part_of, record_noun, victims, worst_group_of
from tcdp_audit.core.base.words import agree, sentence_case, visible
from tcdp_audit.core.check.evidence import vacuous_sentence
from tcdp_audit.core.check.specification import Specification
from tcdp_audit.core.check.summary import ClassSummary
from tcdp_audit.core.check.threshold import Target, Verdict
from tcdp_audit.core.classes.histogram import LargestShares
from tcdp_audit.core.policy.model import Conventions
from tcdp_audit.core.policy.policy import Expectation

if TYPE_CHECKING:
    from tcdp_audit.core.check.table_view import TableView


C = TypeVar("C", bound=Specification[Any])

Places = frozenset[int]  # indices of tasks, among those that are measured on classes
Summaries = tuple[ClassSummary, ...]  # one for each figure of the check, the headline first
Result = Summaries | BaseException | None  # None where there was no class


@dataclass(frozen=True)
class ShardExposure:
    """The failing records of a shard, or of a part of its classes.

    Args:
        records: the number of records that fail exactly the tasks of a set, by the tasks' indices.
        entities: for each task the entities of records that fail it; empty if the unit is the record.
        victims: for each attack the entities in the classes on which it succeeds, with or without a demand; empty if
            each entity has one record, so that counting records suffices.
    """

    records: Mapping[Places, int]
    entities: Mapping[int, NDArray[np.integer[Any]]] = field(default_factory=dict)
    victims: Mapping[int, NDArray[np.integer[Any]]] = field(default_factory=dict)


@dataclass(frozen=True)
class CountedRecords:
    """The counted part of a release.

    Args:
        records: the number of records that are not exempt.
        entities: the number of entities with such a record; None if the unit of privacy is the record.
    """

    records: int
    entities: int | None = None


@dataclass(frozen=True)
class MeasuredShard:
    """The results of a shard, or of a part of its classes.

    Args:
        results: the result of each task; None for one without a class there.
        exposed: the failing records.
        shares: of demands on cells, the shares of values in classes of histories, by histories and attribute.
    """

    results: Sequence[Result]
    exposed: ShardExposure = field(default_factory=lambda: ShardExposure({}))
    shares: Mapping[Identity, LargestShares] = field(default_factory=dict)


@dataclass(frozen=True)
class Measurements:
    """The input of outcomes.

    Args:
        view: gives the tables, for tasks on tables.
        of_classes: the merged summaries or the error of each task on classes, by its identity.
        cache: has what was measured on tables for another audit.
        tables: a key of everything except the check and its parameters that a figure of the view depends on.
    """

    view: Callable[[], TableView]
    of_classes: Mapping[int, Result] = field(default_factory=dict)
    cache: Cache = field(default_factory=Cache)
    tables: Hashable = None


@dataclass(frozen=True)
class Task(ABC, Generic[C]):
    """A check to run.

    Args:
        check: the check.
        expectation: the check's parameters and position in the policy.
        target: the names of the attributes that it runs on.
        conventions: the conventions of the verdict, for the outcome.
        obstacle: why it cannot be run; empty if it can.
        violation: why it fails whatever is measured; empty if it does not.
        known: the columns that the intruder is assumed to know.
        naming: the names of people and columns in sentences.
        scenario: who is assumed to know them; empty where the policy has no scenario.
    """

    check: C
    expectation: Expectation
    target: Target
    conventions: Mapping[str, str] = field(default_factory=dict)
    obstacle: str = ""
    violation: str = ""
    known: tuple[str, ...] = ()
    naming: DisplayNames = field(default_factory=DisplayNames)
    scenario: str = ""

    def outcome(self, measurements: Measurements) -> Outcome:
        """The outcome of the measurements; an error of the check becomes an outcome."""
        if self.obstacle:
            return replace(self._blank(), message=self.obstacle)
        try:
            return self._outcome(measurements)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - a check that raises must not take the others down
            return self._raised(error)

    @abstractmethod
    def _outcome(self, measurements: Measurements) -> Outcome:
        """The outcome of the measurements; the check may raise any error."""

    def _raised(self, error: BaseException) -> Outcome:
        """The outcome of a check that raised an error, with the check's provider."""
        return replace(self._blank(), message=sentence_about(error, "the check", self.expectation.plugin))

    def _judged(self, outcome: Outcome, unfailable: tuple[str, ...], whatever: str) -> Outcome:
        """Mark a passed outcome whose demands cannot fail; if it has no other demand, it is only measured."""
        if not unfailable:
            return self._worded(outcome)
        demands = self.check.demands(self.expectation.parameters)
        judged = len(unfailable) < len(demands)
        worded = self._worded(outcome if judged else replace(outcome, status=Status.MEASURED))
        why = vacuous_sentence(unfailable, demands, judged=judged, whatever=whatever)
        details = {**outcome.details, UNFAILABLE: list(unfailable)}
        return replace(worded, details=details, message=f"{worded.message} {why}")

    def _worded(self, outcome: Outcome) -> Outcome:
        """The outcome with its sentences."""
        general = partial(_general, label=self.check.headline.figure)
        own = self._violated(outcome) or self.check.sentences.message(outcome) or general(outcome)
        message = " ".join(filter(None, (own, self._asked())))
        return replace(outcome, message=message, individual_impact=self.check.sentences.individual_impact(outcome))

    def _violated(self, outcome: Outcome) -> str:
        """The reason why the outcome fails whatever was measured, and how many records and groups fail."""
        if self.violation and outcome.records and outcome.classes and outcome.classes.failing:
            return f"{self.violation}; {victims(outcome)} that {agree(outcome.classes.failing, 'fails', 'fail')}"
        return self.violation

    def _asked(self) -> str:
        """The profile that asks for the demand, with its comment on the threshold."""
        one = self.expectation
        return f"Asked by the profile {one.profile}: {one.says}" if one.profile else ""

    def _status(self, verdict: Verdict) -> Status:
        """The status of a verdict; a violated convention fails whatever was measured."""
        if self.violation:
            return Status.FAILED
        if verdict.undecided:
            return Status.ERROR
        if verdict.failed is None:
            return Status.MEASURED
        return Status.FAILED if verdict.failed else Status.PASSED

    def _blank(self) -> Outcome:
        """An outcome without results."""
        check, parameters = self.check, self.expectation.parameters
        return Outcome(
            check=check.name,
            title=self._title(),
            status=Status.ERROR,
            severity=parameters.severity,
            attribute=self.target.name,
            scenario=self.scenario,
            unit=parameters.unit or "",
            parameters=parameters.figures(),
            conventions=self.conventions,
            known=self.known,
            naming=self.naming,
            threshold=check.demanded(parameters),
            comparison=check.headline.comparison,
            source=check.guide.source,
            reason=parameters.reason or "",
            line=self.expectation.line,
            column=self.expectation.column,
        )

    def _title(self) -> str:
        """The check's title with its parameters, or without them if the check raises an error; and the part."""
        try:
            title = str(self.check.titled(self.expectation.parameters))
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - the outcome says elsewhere what the check raised
            title = self.check.title
        if not self.scenario:
            unit = self.expectation.parameters.unit
            return title if unit is None else f"{title} for each {visible(unit)}"
        return f"{title} if an intruder {self.scenario}" if " " in self.scenario else f"{title} against {self.scenario}"


def raised_by_check(error: BaseException) -> CheckError:
    """Convert a check's error to one that can be sent between processes; the message states where it arose."""
    return CheckError(sentence_about(error, "the check"))


def plain_figures(details: Any) -> Any:
    """Return details unchanged if a result can hold them.

    Raises:
        CheckError: one is neither a number nor text, nor a list or a mapping of such.
    """
    if isinstance(details, Mapping):
        return {str(name): plain_figures(one) for name, one in details.items()}
    if isinstance(details, list | tuple):
        return [plain_figures(one) for one in details]
    if details is None or isinstance(details, str | bool | int | float | Fraction):
        return details
    raise CheckError(f"the check gave a {type(details).__name__} among its details; they hold numbers and text")


def _general(outcome: Outcome, label: str) -> str:
    """A sentence about an outcome, for checks without one; `label` names the headline figure."""
    where = f"{sentence_case(worst_group_of(outcome, 'worst'))} is" if outcome.classes is not None else "The release is"
    column = "" if outcome.attribute is None else f" in {column_of(outcome)}"
    figure = f"{where} at {observed(outcome)}{column}{f' ({label})' if label else ''}"
    if outcome.threshold is None:
        return f"{figure}; the policy sets no threshold."
    if outcome.status is Status.FAILED:
        return f"{figure}, where {bound(outcome)}.{_exposed(outcome)}"
    return f"{figure}; {bound(outcome)}."


def _exposed(outcome: Outcome) -> str:
    """The clause on failing records; empty if they are not counted."""
    records = outcome.records
    if records is None or records.failing is None:
        return ""
    part = sentence_case(part_of(records.failing, records.total, record_noun(outcome)))
    return f" {part} {agree(records.failing or 1, 'falls', 'fall')} short."


def conventions_of(
    conventions: Conventions, *, sensitive: bool, declared: bool, unit: str | None, known_rows: str | None = None
) -> dict[str, str]:
    """The conventions that affect an outcome's verdict; `known_rows` only where a unit joins rows."""
    named = {
        "missing_quasi_identifier": conventions.missing_quasi_identifier,
        "suppressed": conventions.suppressed,
        "unit": unit if unit is not None else "row",
    }
    if known_rows is not None:
        named[KNOWN_ROWS] = known_rows
    if sensitive:
        named |= {
            "missing_sensitive": conventions.missing_sensitive,
            "multiple_sensitive": conventions.multiple_sensitive,
            "reference": conventions.reference,
            "domain": "declared" if declared else "observed",
        }
    return named
