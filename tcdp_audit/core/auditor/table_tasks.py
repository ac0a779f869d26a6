"""One expectation measured on the whole release and its companion tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tcdp_audit.core.auditor.tasks import Measurements, Task, plain_figures
from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.declared_types import require_type
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.outcome import ESTIMATE, Outcome, Status, Tally
from tcdp_audit.core.base.phrases import LIMITS, unit_noun
from tcdp_audit.core.base.words import noun_of_column, percent_of, plural, with_article
from tcdp_audit.core.check.needs import ROWS_OF_TABLES, Need
from tcdp_audit.core.check.table_check import Estimate, TableCheck, TableFigure
from tcdp_audit.core.check.threshold import Verdict

if TYPE_CHECKING:
    from tcdp_audit.core.check.table_view import TableView
    from tcdp_audit.core.engines.base import Engine

OF_ROWS = frozenset({"original", "holdout"})  # tables that are compared with the release row by row
SEVERAL_ROWS = (
    "cannot be evaluated: it counts rows, and some {people} have several in {table}, as its column {unit!r} says, "
    "which would not count as one; make one row of each"
)
OF_HOUSEHOLDS = (
    "cannot be evaluated: it counts rows, and whole households are judged; say `known_rows: one` of this demand, which "
    "then judges people one by one"
)


@dataclass(frozen=True)
class TableTask(Task[TableCheck[Any]]):
    """A check to run on tables.

    Args:
        several_rows: whether some units of the policy have several rows.
        of_single_rows: whether rows count although the policy names a unit, which none of them shares.
    """

    several_rows: bool = False
    of_single_rows: bool = False

    def _outcome(self, measurements: Measurements) -> Outcome:
        parameters, view = self.expectation.parameters, measurements.view()
        counts_rows = self._counts_rows(view)
        if counts_rows:
            self._require_single_rows(view, measurements)
        figure = self._figure(measurements)
        of_single_rows = counts_rows and view.policy.document.unit is not None
        task = replace(self, violation=self.violation or figure.violation, of_single_rows=of_single_rows)
        outcome = task._outcome_of_table(figure, self.check.verdict(figure, parameters))  # noqa: SLF001 - a task
        unfailable = self.check.unfailable(figure, parameters) if outcome.status is Status.PASSED else ()
        return _with_estimate(task._judged(outcome, unfailable, "by every release"), figure.estimate)  # noqa: SLF001

    def _figure(self, measurements: Measurements) -> TableFigure:
        """The check's figure; for an equal question about the same tables and files, the one measured then."""
        view, parameters = measurements.view(), self.expectation.parameters

        def measured() -> TableFigure:
            figure = self.check.measure(view, parameters)
            require_type(figure, TableFigure, "the check gave", CheckError)
            return figure

        if not measurements.cache.room:
            return measured()
        files = tuple(content_digest(Path(view.policy.resolve(location))) for *_, location in parameters.files())
        key = ("table figure", Identity(self.check), repr(parameters), files, measurements.tables)
        return measurements.cache.get(key, measured)

    def _counts_rows(self, view: TableView) -> bool:
        """Whether rows count, so that they must be those of different units, given the tables that there are."""
        document = view.policy.document
        if document.root is None:
            return False
        given = {name: name for name in view.companions if getattr(document, name, name) is None}
        needs_if = self.check.needs_if(self.expectation.parameters, document.model_copy(update=given))
        return Need.ROWS in {*self.check.needs, *needs_if}

    def _require_single_rows(self, view: TableView, measurements: Measurements) -> None:
        """Insist that no unit has several rows, in the release or in a table that its rows are compared with.

        Raises:
            CheckError: one has, or whole households are judged.

        Cost: the distinct values of the unit in each of the tables that have its column.
        """
        document = (view.of_rows or view).policy.document
        unit = document.unit or ""
        people = plural(document.unit_name or noun_of_column(unit))
        if self.several_rows:
            raise CheckError(SEVERAL_ROWS.format(people=people, table="the release", unit=unit))
        if document.tables is not None:
            raise CheckError(f"cannot be evaluated: {ROWS_OF_TABLES}")
        if view.of_rows is not None:
            raise CheckError(OF_HOUSEHOLDS)
        for name, engine in view.companions.items():
            if name.partition(" ")[0] not in self.check.requires or unit not in {one.name for one in engine.columns}:
                continue
            key = ("repeats", unit, repr(document.conventions), Identity(engine))
            if measurements.cache.get(key, partial(_repeats, unit, engine, view)):
                raise CheckError(SEVERAL_ROWS.format(people=people, table=engine.name, unit=unit))

    def _worded(self, outcome: Outcome) -> Outcome:
        """The outcome with its sentences, and the limitation of a comparison of rows if people have several."""
        worded = super()._worded(outcome)
        if self.of_single_rows:
            return replace(
                worded, message=f"{worded.message} No {unit_noun(outcome)} has two rows, so rows are counted."
            )
        if not (self.several_rows and self.check.requires & OF_ROWS):
            return worded
        an_intruder = with_article(unit_noun(outcome))
        several = f"Every row counts, however many {an_intruder} has, and what is known of {an_intruder} is one row."
        return replace(worded, message=f"{worded.message} {several}")

    def _outcome_of_table(self, figure: TableFigure, verdict: Verdict) -> Outcome:
        distribution = {"distribution": [list(one) for one in figure.distribution]} if figure.distribution else {}
        return replace(
            self._blank(),
            status=self._status(verdict),
            observed=verdict.observed,
            classes=None if figure.classes is None else Tally(*figure.classes),
            records=Tally(figure.records, figure.failing),
            details=plain_figures({**distribution, **figure.details}),
        )


def _repeats(unit: str, engine: Engine, view: TableView) -> bool:
    """Whether the unit has several rows in a table."""
    from tcdp_audit.core.release.coded import separate_domains  # noqa: PLC0415 - rarely asked for

    ((domain,),) = separate_domains([engine], [unit], view.policy.attributes, view.policy.conventions)
    return domain.repeats


def _with_estimate(outcome: Outcome, estimate: Estimate | None) -> Outcome:
    """Add to an outcome whose figure comes from a sample what the sample represents."""
    if estimate is None:
        return outcome
    sentences = [outcome.message, estimate.sentence(outcome.threshold)]
    if outcome.status is Status.ERROR:
        sentences.append(f"So whether {_open_demand(outcome)} cannot be decided; {estimate.more}.")
    details = {**outcome.details, ESTIMATE: estimate.as_details()}
    return replace(outcome, details=plain_figures(details), message=" ".join(sentences))


def _open_demand(outcome: Outcome) -> str:
    """The demand that an estimate leaves undecided: `at most 20% is kept`."""
    assert outcome.comparison is not None  # noqa: S101 - the outcome of a demand has one
    return f"{LIMITS[outcome.comparison]} {percent_of(outcome.threshold)} is kept"
