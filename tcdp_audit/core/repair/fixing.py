"""`fix`: repair a release under its policy, prove it by auditing what was written, and say what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.auditor.evaluation import Options
from tcdp_audit.core.base.errors import redact_errors
from tcdp_audit.core.base.files import require_writable
from tcdp_audit.core.base.notebook import as_paragraph
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.phrases import part_of
from tcdp_audit.core.base.plugin_faults import sentence_about
from tcdp_audit.core.base.words import agree
from tcdp_audit.core.classes.shards import silent
from tcdp_audit.core.engines.arrow_types import array_of_numbers
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.writing import require_table_file
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.remedy.treatment import changed_cells, in_unlinkable_order
from tcdp_audit.core.repair.attacks import with_attacks
from tcdp_audit.core.repair.candidate import Candidate, columns_to_put_back, dropped_columns
from tcdp_audit.core.repair.loop import RepairLoop, beyond_repair
from tcdp_audit.core.repair.output import OutputFile, Released
from tcdp_audit.core.repair.restored_columns import Aligned, PutBack, in_own_types, taken, without_views_in_dictionaries
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.change_log import ChangeLog, DroppedColumn, failing_demands
from tcdp_audit.core.results.protected_files import files_of, require_own_files
from tcdp_audit.core.results.remedy_trial import RemedyTrial
from tcdp_audit.core.results.tally import status_of, tally_of
from tcdp_audit.core.session.inputs import AuditInputs, open_inputs
from tcdp_audit.core.session.registry import Plugins

NOTHING_TO_REPAIR = "nothing that the policy demands could fail, so there is nothing to repair"
NOTHING_PROVED = "nothing that the policy demands could fail any more, so that keeping it proves nothing"
OTHERWISE = "the release that comes of the remedies does not pass"


@dataclass(frozen=True, kw_only=True, repr=False)
class Remediation:
    """A release before and after remedies.

    Args:
        before: the audit of the release as it came in.
        after: the audit of the release as it stands; its `change_log` says what was done and what it cost.
        released: the table as it is released, in the types that it came in.
        written: the file it was written to, or None.
    """

    before: Audit
    after: Audit
    released: pa.Table
    written: Path | None = None

    def __repr__(self) -> str:
        """Show what was changed, and the audit of the result, without cells."""
        return f"<Remediation: was {self.before.status}, is {self.after.status}; {self.log!r}>\n{self.after!r}"

    def _repr_html_(self) -> str:
        """Show what was dropped, and the audit of the result, for notebooks."""
        return f"{as_paragraph(self.log.drops)}{self.after._repr_html_()}"

    @property
    def passed(self) -> bool:
        """Say whether the release keeps its policy now."""
        return self.after.passed

    @property
    def log(self) -> ChangeLog:
        """The change log: what was done, and what it cost."""
        assert self.after.change_log is not None  # noqa: S101 - `fix` always gives one
        return self.after.change_log

    def raise_for_failures(self) -> None:
        """Do nothing if the release passes now.

        Raises:
            ExpectationsFailedError: it does not.
        """
        self.after.raise_for_failures()

    def write(self, path: str | Path) -> None:
        """Write a report of the audit with its change log; the extension chooses the format."""
        self.after.write(path)


@redact_errors()
def fix(
    release: Any,
    policy: str | Path | Mapping[str, Any] | Policy,
    original: Any = None,
    population: Any = None,
    *,
    output: str | Path | None = None,
    keep_failing: bool = False,
    keep_order: bool = False,
    plugins: Plugins | None = None,
    memory: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Remediation:
    """Repair a release with the remedies that its policy names, or with those that lose least where it names none.

    After every remedy the whole release is audited again. A release that passes already and has nothing to drop is
    left as it is. The result has the columns of the input in their order, without identifiers and without the key
    (unless the policy says `keep_key: true`); its records are in an order that says nothing about the order they came
    in, also where the policy says `rows_aligned: true`: demands on pairs are then judged in the original's order.

    Args:
        release: a path or a table; see `audit`. None for the release that the policy names.
        policy: a policy, the path of a policy file, or its content as a mapping.
        original: the table that the release was made from, where the policy needs one.
        population: the population that the release was drawn from, likewise.
        output: the file to write the release to. It appears only if the audit of what was written passes.
        keep_failing: write the best release that was found even if it does not pass.
        keep_order: leave the records in their order. Order links records.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free. The release itself is held in memory.
        progress: called with (step, done, in all).

    Returns:
        The audits before and after, the table, and the log of changes. Look at `.passed`.

    Raises:
        UsageError: a file does not exist, or the output cannot be written.
        PolicyError: the policy is wrong.
        DataError: the release is empty or cannot be read.
        PluginError: a plugin that the policy needs does not work.

    Cost: an audit for every remedy tried, and the remedies' own.
    """
    tables = {"release": release, "original": original, "population": population}
    options = Options(memory, progress=progress or silent, samples=False)
    return fix_tables(tables, policy, output, options, plugins, keep_failing=keep_failing, keep_order=keep_order)


def fix_tables(
    tables: Mapping[str, Any],
    policy: str | Path | Mapping[str, Any] | Policy,
    output: str | Path | None,
    options: Options,
    plugins: Plugins | None,
    *,
    keep_failing: bool = False,
    keep_order: bool = False,
    lost: Mapping[str, float] | None = None,
) -> Remediation:
    """Repair a release as `fix` does; see there for what is not said here, and for what it raises.

    Args:
        tables: the release, the original and the population, by these names.
        policy: what the release must satisfy.
        output: the file to write it to, if any.
        options: of every audit on the way.
        plugins: the plugins to use; None for all that are installed.
        keep_failing: write the best release that was found even if it does not pass.
        keep_order: leave the records in their order.
        lost: what remedies lost where less was demanded of the same release; see `RepairLoop`.
    """
    target = None if output is None else Path(output)
    if target is not None:
        require_table_file(target)
        require_writable(target)
    with open_inputs(policy=policy, plugins=plugins, options=options, **tables) as inputs:
        if target is not None:
            require_own_files([("the output", target)], files_of(inputs.policy, **tables))
        file = None if target is None else OutputFile(target, inputs)
        repair = _Repair(inputs=inputs, output=file, keep_failing=keep_failing, keep_order=keep_order, lost=lost or {})
        return repair.run()


def repaired(inputs: AuditInputs) -> Remediation:
    """Repair a release in memory, as `fix` does; it is not attacked, because no one gets it.

    Args:
        inputs: the release as it came in, and what it must satisfy.

    Raises:
        TcdpAuditError: it cannot be held, or read again.
    """
    return _Repair(inputs=inputs, output=None, keep_failing=False, keep_order=False, attacks=False).run()


@dataclass(frozen=True, kw_only=True)
class _Repair:
    """One call of `fix`; see there for the arguments.

    Args:
        attacks: whether the release is attacked by an intruder who knows the remedies.
        lost: what remedies lost where less was demanded.
    """

    inputs: AuditInputs
    output: OutputFile | None
    keep_failing: bool
    keep_order: bool
    attacks: bool = True
    lost: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def dropped(self) -> tuple[DroppedColumn, ...]:
        """The columns that are not written."""
        return dropped_columns(self.inputs.policy, [column.name for column in self.inputs.engine.columns])

    @cached_property
    def source(self) -> pa.Table:
        """The release as it came in, in its own types."""
        return without_views_in_dictionaries(self.inputs.engine.source_table())

    def run(self) -> Remediation:
        self._try_one_record()
        before = self.inputs.audited()
        outcomes = self.inputs.without(before.outcomes, [one.name for one in self.dropped])
        obstacle = beyond_repair(outcomes)
        needed = status_of(outcomes) in ("failed", "error") and not obstacle
        with RepairLoop(self.inputs, self.lost) as loop:
            best = loop.run(outcomes) if needed else loop.start(outcomes)
            loss = loop.loss_of(best)
            changed, measures = _changes(loop, best, loss.cells_changed), loss.as_json()
            constant_columns, refusal, left_out = loss.emptied, loop.refusal, loop.left_out
        released = self._released(best, changed)
        log = ChangeLog(
            input=before.release,
            before=before.outcomes,
            steps=best.steps,
            tried=tuple(loop.tried),
            records=before.release.records,
            suppressed=before.release.records - len(best.retained),
            cells={name: changed[name] for name in released.table.column_names},
            planned=not self.inputs.policy.remedies,
            order=released.order,
            seed=self.inputs.policy.document.seed,
            loss=measures,
            reason=_reason(best, obstacle, refusal, passed=self.inputs.with_provenance(best.outcomes).passed),
            constant_columns=constant_columns,
            dropped=self.dropped,
            left_out=left_out,
        )
        after, written = self._proven(released, log)
        if (
            after.passed and log.reason
        ):  # what failed in the input's order, and holds of the records as they are written
            after = replace(after, change_log=replace(after.change_log or log, reason=""))
        return Remediation(before=before, after=after, released=released.table, written=written)

    def _try_one_record(self) -> None:
        """Read one record as it will be released, before the work."""
        source = self._written(self.source)
        if self.output is not None:
            self.output.try_one_record(source)
        else:
            open_engine(source.slice(0, 1), self.inputs.memory, self.inputs.engine.name).close()

    def _written(self, table: pa.Table) -> pa.Table:
        """A table without the columns that are not written."""
        return table.drop_columns([one.name for one in self.dropped]) if self.dropped else table

    def _released(self, best: Candidate, changed: Mapping[str, int]) -> Released:
        """A candidate in the types of the input, in an order that links no records unless it is to be kept."""
        links = self.inputs.policy.document.rows_aligned and not self.keep_order
        if not best.steps and not self.dropped and not links:
            return Released(self.source, np.arange(self.source.num_rows))
        table = in_own_types(best.released, taken(self.source, best.retained), changed)
        if self.keep_order:
            return self._handed_over(table, np.arange(table.num_rows), best.retained, "kept")
        rows = in_unlinkable_order(self._written(table), self.inputs.policy.document.seed)
        return self._handed_over(table, rows, best.retained[rows], "shuffled")

    def _handed_over(self, table: pa.Table, order: NDArray[np.intp], rows: NDArray[np.intp], kind: str) -> Released:
        """The records of a table in some order, without what is not written, and with what their audit needs."""
        own = self._written(table).column_names
        names = [*own, *columns_to_put_back(self.inputs.policy, self.dropped)]
        whole = taken(table.select(names), order)
        needs_order = kind == "shuffled" and self.inputs.policy.pairs_by_order
        return Released(
            table=whole.select(own),
            rows=rows,
            order=kind,
            whole=whole if len(names) > len(own) else None,
            aligned=table.select(names) if needs_order else None,
            places=order,
        )

    def _proven(self, released: Released, log: ChangeLog) -> tuple[Audit, Path | None]:
        """The audit of what is released, read back from its file where there is one, and the file if it was kept."""
        if self.output is not None:
            return self.output.write_proven(released, log, keep_failing=self.keep_failing)
        restored_columns = self._put_back(released)
        with self.inputs.with_release(released.table) as after:
            if self.attacks:
                log = with_attacks(log, after, self.inputs, released.rows)
            return restored_columns.audit(after, log), None

    def _put_back(self, released: Released) -> PutBack:
        """Hold what is not handed over, in memory."""
        memory = self.inputs.memory
        aligned = Aligned(lambda: open_engine(released.aligned, memory), released.places)
        return PutBack(
            released.restored_columns,
            lambda: open_engine(released.whole, memory),
            None if released.aligned is None else aligned,
        )


def _changes(loop: RepairLoop, best: Candidate, known: Mapping[str, int]) -> dict[str, int]:
    """Count the cells of each column that differ in the records that stayed, in the table's order.

    Args:
        loop: the input.
        best: what came of it.
        known: the columns whose values have been compared; of the others it is counted what is written differently.
    """
    table = loop.input.table
    before = table.take(array_of_numbers(best.retained)) if len(best.retained) < table.num_rows else table
    others = [name for name in before.column_names if name not in known]
    counts = {**known, **changed_cells(before, best.released, others)}
    return {name: counts[name] for name in before.column_names}


def _reason(best: Candidate, obstacle: str, refusal: str, *, passed: bool) -> str:
    """Say why the release does not pass, or nothing."""
    if best.passes:
        return "" if passed else NOTHING_PROVED if best.steps else NOTHING_TO_REPAIR
    if obstacle:
        return f"no remedy can change this: {obstacle}"
    failing = failing_demands(best.outcomes)
    named = ", ".join(dict.fromkeys(one.check + (f" on {one.attribute!r}" if one.attribute else "") for one in failing))
    tally = tally_of(best.outcomes)
    demands = tally.demands.total + (tally.columns.total if any(one.is_structural for one in failing) else 0)
    part, fail = part_of(len(failing), demands, "demand"), agree(len(failing), "fails", "fail")
    refused = f"; refused because of what it costs: {refusal}" if refusal else ""
    return f"{part} still {fail}: {named}{refused}"


def remedy_trial(inputs: AuditInputs, outcomes: tuple[Outcome, ...]) -> RemedyTrial | None:
    """Try what `fix` would make of a release that does not pass; None where no demand fails.

    What keeps remedies from being tried at all, such as a table that cannot be held, takes no audit down, which is
    complete by then: it is the reason of the trial.

    Args:
        inputs: the release and what it must satisfy.
        outcomes: what came of its audit.
    """
    if not failing_demands(outcomes):
        return None
    options = replace(inputs.options, samples=False, show_values=False, column_risks=False)  # those of `fix`
    try:
        remediation = repaired(replace(inputs, options=options))
    except Exception as error:  # noqa: BLE001 - whatever it is, the audit stands
        reason = f"remedies could not be tried: {sentence_about(error, 'the trial')}"
        return RemedyTrial(log=None, passes=False, reason=reason)
    reason = "" if remediation.passed else remediation.log.reason or OTHERWISE
    after = remediation.after.outcomes
    return RemedyTrial(log=remediation.log, passes=remediation.passed, reason=reason, outcomes=after)
