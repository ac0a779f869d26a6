"""One expectation measured on the release as a whole, and on the tables beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tcdp_audit.auditor.tasks import Measurements, Task
from tcdp_audit.check.kinds import TableCheck, TableFigure, Verdict
from tcdp_audit.outcome import Outcome, Status, Tally


class TableTask(Task[TableCheck[Any]]):
    """A check to run on tables."""

    def _outcome(self, measurements: Measurements) -> Outcome:
        parameters = self.expectation.parameters
        figure = self.check.measure(measurements.view, parameters)
        outcome = self._outcome_of_table(figure, self.check.verdict(figure, parameters))
        if outcome.status is not Status.PASSED:
            return self._worded(outcome)
        return self._judged(outcome, self.check.unfailable(figure, parameters), "by every release")

    def _outcome_of_table(self, figure: TableFigure, verdict: Verdict) -> Outcome:
        distribution = {"distribution": [list(one) for one in figure.distribution]} if figure.distribution else {}
        return replace(
            self._blank(),
            status=self._status(verdict),
            observed=verdict.observed,
            classes=None if figure.classes is None else Tally(*figure.classes),
            records=Tally(figure.records, figure.failing),
            details={**distribution, **figure.details},
        )
