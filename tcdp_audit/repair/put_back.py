"""What is released, audited as people get it; demands on what was dropped with those columns put back beside it.

A check that pairs records with their originals needs the key, which nobody gets. It reads the cells that were written
and the key of the same records. That they are the same is proven before: the table with the key has to have, cell by
cell and in the same order, what was read back without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from tcdp_audit.auditor.evaluation import Evaluation, evaluation
from tcdp_audit.engines import Engine
from tcdp_audit.errors import DataError
from tcdp_audit.inputs import AuditInputs
from tcdp_audit.outcome import AUDITED_WITH, Outcome, Status
from tcdp_audit.remedy.treatment import changed_cells
from tcdp_audit.results.audit import Audit
from tcdp_audit.results.change_log import ChangeLog

MISSING_COLUMNS = "missing_columns"


@dataclass(frozen=True)
class PutBack:
    """Dropped columns that demands need.

    Args:
        names: of the columns; none where no demand needs any.
        whole: opens what was released with these columns beside it, read as the release is read.
    """

    names: tuple[str, ...]
    whole: Callable[[], AbstractContextManager[Engine]]

    def audit(self, released: AuditInputs, log: ChangeLog) -> Audit:
        """The audit of what is released.

        Args:
            released: it, as it is handed over.
            log: what was done.

        Raises:
            DataError: the records with the columns are not those that were released.
        """
        alone = released.evaluated()
        if not self._is_needed(released, alone):
            return released.audit_of(alone, change_log=log)
        with self.whole() as engine:
            self._require_same_records(released.engine, engine)
            beside = evaluation(released.policy, engine, released.options, released.companions)
        outcomes = tuple(self._joined(alone.outcomes, beside.outcomes))
        needed = any(AUDITED_WITH in one.details for one in outcomes)
        log = replace(log, audited_with=self.names) if needed else log
        return released.audit_of(replace(alone, outcomes=outcomes, exposed=beside.exposed), change_log=log)

    def _is_needed(self, released: AuditInputs, alone: Evaluation) -> bool:
        """Whether some demand may come out otherwise with the columns."""
        if not self.names:
            return False
        compares = any(one.check.requires - {"population"} for one in released.policy.expectations)
        incomplete = any(one.status is Status.ERROR for one in alone.outcomes)
        return compares or incomplete or released.policy.document.unit in self.names

    def _require_same_records(self, released: Engine, whole: Engine) -> None:
        names = [column.name for column in released.columns]
        table, beside = released.table(), whole.table()
        if table.num_rows != beside.num_rows or any(changed_cells(table, beside, names).values()):
            raise DataError(
                "what was read back differs from what was released; nothing is kept. Choose another kind of file"
            )

    def _joined(self, alone: Sequence[Outcome], beside: Sequence[Outcome]) -> Iterator[Outcome]:
        """The findings on the columns and on quality as people get the table; demands as judged with the columns.

        A demand that fails without them fails.
        """
        structure = {one.check: one for one in beside if one.is_structural}
        judged = [one for one in beside if not one.is_structural]
        own = [one for one in alone if not one.is_structural and not _is_on_quality(one)]
        for one in alone:
            if one.is_structural:
                yield self._marked(structure[one.check], one) if one.check == MISSING_COLUMNS else one
        alike = [_name(one) for one in own] == [_name(one) for one in judged]
        yield from map(self._worse, own, judged) if alike else map(self._marked, judged)
        yield from (one for one in alone if _is_on_quality(one))
        yield from (one for one in own if one.status is Status.FAILED and not alike)

    def _worse(self, without: Outcome, outcome: Outcome) -> Outcome:
        """What came of a demand with the columns, unless it fails only without them."""
        fails = without.status is Status.FAILED and outcome.status is not Status.FAILED
        return without if fails else self._marked(outcome, without)

    def _marked(self, outcome: Outcome, without: Outcome | None = None) -> Outcome:
        """An outcome that says so where it needed the columns."""
        if outcome == without:
            return outcome
        return replace(outcome, details={**outcome.details, AUDITED_WITH: list(self.names)})


def _is_on_quality(outcome: Outcome) -> bool:
    """Whether a schema, a suite or a profile asked for it, and no expectation."""
    return outcome.is_schema or outcome.is_question


def _name(outcome: Outcome) -> tuple[str, str | None]:
    return outcome.check, outcome.attribute
