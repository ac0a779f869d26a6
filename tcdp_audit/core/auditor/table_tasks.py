"""One expectation measured on the whole release and its companion tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tcdp_audit.core.auditor.tasks import Measurements, Task, plain_figures
from tcdp_audit.core.base.cache import Identity
from tcdp_audit.core.base.declared_types import require_type
from tcdp_audit.core.base.errors import CheckError
from tcdp_audit.core.base.files import content_digest
from tcdp_audit.core.base.outcome import ESTIMATE, Outcome, Status, Tally
from tcdp_audit.core.base.phrases import LIMITS, unit_noun
from tcdp_audit.core.base.words import percent_of, with_article
from tcdp_audit.core.check.table_check import Estimate, TableCheck, TableFigure
from tcdp_audit.core.check.threshold import Verdict

OF_ROWS = frozenset({"original", "holdout"})  # tables that are compared with the release row by row


@dataclass(frozen=True)
class TableTask(Task[TableCheck[Any]]):
    """A check to run on tables.

    Args:
        several_rows: whether some units of the policy have several rows.
    """

    several_rows: bool = False

    def _outcome(self, measurements: Measurements) -> Outcome:
        parameters = self.expectation.parameters
        figure = self._figure(measurements)
        task = replace(self, violation=self.violation or figure.violation)
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

    def _worded(self, outcome: Outcome) -> Outcome:
        """The outcome with its sentences, and the limitation of a comparison of rows if people have several."""
        worded = super()._worded(outcome)
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
