"""One expectation on one attribute: what the auditor asks of a check, and the outcome that it makes of the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.outcome import UNFAILABLE, DisplayNames, Outcome, Status
from tcdp_audit.core.base.phrases import bound, column_of, observed, part_of, record_noun, worst_group_of
from tcdp_audit.core.base.plugin_faults import sentence_about
from tcdp_audit.core.base.words import agree, sentence_case
from tcdp_audit.core.check.evidence import Target
from tcdp_audit.core.check.specification import Specification
from tcdp_audit.core.check.summary import ClassSummary
from tcdp_audit.core.check.unfailable import vacuous_sentence
from tcdp_audit.core.check.verdict import Verdict
from tcdp_audit.core.policy.model import Conventions
from tcdp_audit.core.policy.policy import Expectation

if TYPE_CHECKING:
    from tcdp_audit.core.check.table_view import TableView

C = TypeVar("C", bound=Specification[Any])
Codes = NDArray[np.integer[Any]]
Places = frozenset[int]  # of tasks, among those that are measured on classes
Summaries = tuple[ClassSummary, ...]  # one for each figure of the check, the headline first
Result = Summaries | BaseException | None  # None where there was no class


@dataclass(frozen=True)
class ShardExposure:
    """What came of a shard, or of a part of its classes.

    Args:
        records: how many records fail every task of a set and no other, by the tasks' places.
        entities: for each task the entities of records that fail it; nothing where the unit is the record.
        victims: for each attack the entities of records in the classes that it succeeds on, whether or not the policy
            demands anything; nothing where each entity has one record, so that to count records is enough.
    """

    records: Mapping[Places, int]
    entities: Mapping[int, Codes] = field(default_factory=dict)
    victims: Mapping[int, Codes] = field(default_factory=dict)


@dataclass(frozen=True)
class CountedRecords:
    """How much of a release counts.

    Args:
        records: that are not exempt.
        entities: with such a record; None where the unit of privacy is the record.
    """

    records: int
    entities: int | None = None


@dataclass(frozen=True)
class MeasuredShard:
    """What came of a shard, or of a part of its classes.

    Args:
        results: of each task; None for one that has no class there.
        exposed: the records that fail.
    """

    results: Sequence[Result]
    exposed: ShardExposure = field(default_factory=lambda: ShardExposure({}))


@dataclass(frozen=True)
class Measurements:
    """What outcomes are made of.

    Args:
        view: the tables, for the tasks on them.
        of_classes: the merged summaries of each task on classes, by its identity, or what went wrong.
    """

    view: TableView
    of_classes: Mapping[int, Result] = field(default_factory=dict)


@dataclass(frozen=True)
class Task(ABC, Generic[C]):
    """A check to run.

    Args:
        check: the check.
        expectation: the same with its parameters, and its place in the policy.
        target: the attributes that it runs on, by name.
        conventions: what the verdict means, as the outcome will say.
        obstacle: why it cannot be run at all, or nothing.
        violation: why it fails whatever is measured, or nothing.
        known: the columns that the intruder is taken to know.
        naming: what people and columns are called.
    """

    check: C
    expectation: Expectation
    target: Target
    conventions: Mapping[str, str] = field(default_factory=dict)
    obstacle: str = ""
    violation: str = ""
    known: tuple[str, ...] = ()
    naming: DisplayNames = field(default_factory=DisplayNames)

    def outcome(self, measurements: Measurements) -> Outcome:
        """What came of it, or what went wrong."""
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
        """What came of it; a check may raise anything."""

    def _raised(self, error: BaseException) -> Outcome:
        """An outcome that says what the check raised, and whose check it is."""
        return replace(self._blank(), message=sentence_about(error, "the check", self.expectation.plugin))

    def _judged(self, outcome: Outcome, unfailable: tuple[str, ...], whatever: str) -> Outcome:
        """An outcome that passed, but for the demands that nothing can fail: without another it is only measured."""
        if not unfailable:
            return self._worded(outcome)
        demands = self.check.demands(self.expectation.parameters)
        judged = len(unfailable) < len(demands)
        worded = self._worded(outcome if judged else replace(outcome, status=Status.MEASURED))
        why = vacuous_sentence(unfailable, demands, judged=judged, whatever=whatever)
        details = {**outcome.details, UNFAILABLE: list(unfailable)}
        return replace(worded, details=details, message=f"{worded.message} {why}")

    def _worded(self, outcome: Outcome) -> Outcome:
        """An outcome with its sentences."""
        general = partial(_general, label=self.check.headline.figure)
        own = self.violation or self.check.sentences.message(outcome) or general(outcome)
        message = " ".join(filter(None, (own, self._asked())))
        return replace(outcome, message=message, individual_impact=self.check.sentences.individual_impact(outcome))

    def _asked(self) -> str:
        """Which profile asks, and what it says of its threshold."""
        one = self.expectation
        return f"Asked by the profile {one.profile}: {one.says}" if one.profile else ""

    def _status(self, verdict: Verdict) -> Status:
        """What a verdict says; a violated convention fails whatever was measured."""
        if self.violation:
            return Status.FAILED
        if verdict.undecided:
            return Status.ERROR
        if verdict.failed is None:
            return Status.MEASURED
        return Status.FAILED if verdict.failed else Status.PASSED

    def _blank(self) -> Outcome:
        """An outcome that says only what was asked for."""
        check, parameters = self.check, self.expectation.parameters
        return Outcome(
            check=check.name,
            title=self._title(),
            status=Status.ERROR,
            severity=parameters.severity,
            attribute=self.target.name,
            parameters=parameters.figures(),
            conventions=self.conventions,
            known=self.known,
            naming=self.naming,
            threshold=check.demanded(parameters),
            comparison=check.headline.comparison,
            source=check.guide.source,
            line=self.expectation.line,
            column=self.expectation.column,
        )

    def _title(self) -> str:
        """The check's title; without what its parameters add where the check cannot say it."""
        try:
            return str(self.check.titled(self.expectation.parameters))
        except KeyboardInterrupt:
            raise
        except BaseException:  # noqa: BLE001 - the outcome says elsewhere what the check raised
            return self.check.title


def raised_by_check(error: BaseException) -> CheckError:
    """What a check raised, as an error that can travel from wherever a shard is; its sentence says where it arose."""
    return CheckError(sentence_about(error, "the check"))


def plain_figures(details: Any) -> Any:
    """Details as they are, if a result can hold them.

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
    """One sentence about an outcome, for checks that bring none.

    Args:
        outcome: with its figures.
        label: what the headline figure is called.
    """
    where = f"{sentence_case(worst_group_of(outcome, 'worst'))} is" if outcome.classes is not None else "The release is"
    column = "" if outcome.attribute is None else f" in {column_of(outcome)}"
    figure = f"{where} at {observed(outcome)}{column}{f' ({label})' if label else ''}"
    if outcome.threshold is None:
        return f"{figure}; the policy sets no threshold."
    if outcome.status is Status.FAILED:
        return f"{figure}, where {bound(outcome)}.{_exposed(outcome)}"
    return f"{figure}; {bound(outcome)}."


def _exposed(outcome: Outcome) -> str:
    """How many records fall short, where they are counted."""
    records = outcome.records
    if records is None or records.failing is None:
        return ""
    part = sentence_case(part_of(records.failing, records.total, record_noun(outcome)))
    return f" {part} {agree(records.failing or 1, 'falls', 'fall')} short."


def conventions_of(conventions: Conventions, *, sensitive: bool, declared: bool, unit: str | None) -> dict[str, str]:
    """The conventions that an outcome's verdict rests on."""
    named = {
        "missing_quasi_identifier": conventions.missing_quasi_identifier,
        "suppressed": conventions.suppressed,
        "unit": unit if unit is not None else "row",
    }
    if sensitive:
        named |= {
            "missing_sensitive": conventions.missing_sensitive,
            "multiple_sensitive": conventions.multiple_sensitive,
            "reference": conventions.reference,
            "domain": "declared" if declared else "observed",
        }
    return named
