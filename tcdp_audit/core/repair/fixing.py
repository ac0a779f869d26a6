"""`fix`: repair a release under its policy, audit the written result, and report the information loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.auditor.view_evaluation import Options
from tcdp_audit.core.base.errors import UsageError, redact_errors, sentence_about
from tcdp_audit.core.base.files import require_writable
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.notebook import as_paragraph
from tcdp_audit.core.base.outcome import Outcome
from tcdp_audit.core.base.phrases import part_of
from tcdp_audit.core.base.words import agree, visible
from tcdp_audit.core.check.demands import expectations_of, required_class_size, sufficient_class_size
from tcdp_audit.core.classes.shards import silent
from tcdp_audit.core.engines.arrow_types import array_of_numbers
from tcdp_audit.core.engines.opening import open_engine, opener_of
from tcdp_audit.core.engines.writing import require_table_file
from tcdp_audit.core.information_loss.loss import InformationLoss, TablesLoss, information_loss
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.remedy.treatment import changed_cells, in_unlinkable_order
from tcdp_audit.core.remedy.view import judges_histories
from tcdp_audit.core.repair.attacks import with_attacks
from tcdp_audit.core.repair.candidate import Candidate, OpenTable, columns_to_put_back, dropped_columns
from tcdp_audit.core.repair.linked_loop import LinkedLoop, LinkedRelease, require_remedies_of_tables
from tcdp_audit.core.repair.linked_release import LinkedRepair, OutputFolder, ReleasedTables, require_new_folder
from tcdp_audit.core.repair.loop import RepairLoop, beyond_repair
from tcdp_audit.core.repair.output import OutputFile, Released
from tcdp_audit.core.repair.restored_columns import Aligned, PutBack, in_own_types, taken, without_views_in_dictionaries
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.change_log import ChangeLog, DroppedColumn, failing_demands
from tcdp_audit.core.results.protected_files import files_of, require_own_files
from tcdp_audit.core.results.setting_trial import Example, RemedyTrial
from tcdp_audit.core.results.tally import status_of, tally_of
from tcdp_audit.core.session.inputs import AuditInputs
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import NO_LEVELS, OpenTables

NOTHING_TO_REPAIR = "nothing that the policy demands could fail, so there is nothing to repair"
NOTHING_PROVED = "nothing that the policy demands could fail any more, so that keeping it proves nothing"
OTHERWISE = "the release that comes of the remedies does not pass"


@dataclass(frozen=True, kw_only=True, repr=False)
class Remediation:
    """A release before and after remedies.

    Args:
        before: the audit of the release before the repair.
        after: the audit of the result; its `change_log` has the remedies and the information loss.
        released: the table to release, in the types of the input; of several linked tables each by its name.
        written: the output file, or the folder of several tables; None if nothing was written.
        records: the input and the place in it of each released record, for `example`; None if values are not shown.
    """

    before: Audit
    after: Audit
    released: pa.Table | Mapping[str, pa.Table]
    written: Path | None = None
    records: tuple[pa.Table, NDArray[np.intp]] | None = None

    def example(self, record: int) -> Example:
        """One record before and after.

        Args:
            record: its place in the release that came in, from 0.

        Raises:
            UsageError: values may not be shown, or there is no such record.
        """
        if self.records is None:
            raise UsageError(
                "an example shows cells of one table; repair such a release in a session opened with `show_values=True`"
            )
        released: Any = self.released  # one table, as several have no records
        table, rows = self.records
        if not 0 <= record < table.num_rows:
            raise UsageError(f"there is no record {record}; records count from 0 to {table.num_rows - 1}")
        places = np.flatnonzero(rows == record)
        after = released.slice(int(places[0]), 1).to_pylist()[0] if len(places) else None
        return Example(record, table.slice(record, 1).to_pylist()[0], after)

    def __repr__(self) -> str:
        """The changes and the audit of the result, without cells."""
        return f"<Remediation: was {self.before.status}, is {self.after.status}; {self.log!r}>\n{self.after!r}"

    def _repr_html_(self) -> str:
        """The dropped columns and the audit of the result, for notebooks."""
        return f"{as_paragraph(self.log.drops)}{self.after._repr_html_()}"

    @property
    def passed(self) -> bool:
        """Whether the repaired release satisfies its policy."""
        return self.after.passed

    @property
    def log(self) -> ChangeLog:
        """The change log: the remedies applied and the information loss."""
        assert self.after.change_log is not None  # noqa: S101 - `fix` always gives one
        return self.after.change_log

    def raise_for_failures(self) -> None:
        """Raise `ExpectationsFailedError` unless the repaired release passes."""
        self.after.raise_for_failures()

    def write(self, path: str | Path, language: str = "en") -> None:
        """Write a report of the audit with its change log, as `Audit.write` does."""
        self.after.write(path, language)


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
    """Repair a release with the remedies that its policy names; if it names none, with those of the least loss.

    After every remedy the whole release is audited again. A release that passes and has no column to drop is unchanged.
    The columns that link several tables always get new pseudonyms, unless the policy says `keep_links: true`.
    The result has the columns of the input in their order, without identifiers and without the key (unless the policy
    says `keep_key: true`). Its records are shuffled, so that their order reveals nothing. With `rows_aligned: true`
    demands on pairs are judged on a copy in the original's order.

    Args:
        release: a path or a table; see `audit`. None for the release that the policy names.
        policy: a policy, the path of a policy file, or its content as a mapping.
        original: the table that the release was made from, if the policy needs one.
        population: the population that the release was drawn from, likewise.
        output: the file to write the release to, or the new folder for several linked tables. It is created only if the
            audit of the written release passes.
        keep_failing: write the best release even if it does not pass.
        keep_order: do not shuffle the records. Their order may link them with the original.
        plugins: the plugins to use; by default all that are installed.
        memory: budget in bytes; by default three quarters of what is free. The release itself is held in memory.
        progress: called with (step, done, total).

    Returns:
        The audits before and after, the table, and the change log. Read `.passed`.

    Raises:
        UsageError: a file does not exist, or the output cannot be written.
        PolicyError: the policy is wrong.
        DataError: the release is empty or cannot be read.
        PluginError: a plugin that the policy needs does not work.

    Cost: an audit for every remedy tried, and the cost of the remedies.
    """
    target = None if output is None else Path(output)
    options = Options(memory, progress=progress or silent)
    with OpenTables(release, original, population, plugins, options, keep=False) as tables:
        return fix_tables(tables, policy, target, keep_failing=keep_failing, keep_order=keep_order)


def _require_writable_table(path: Path, plugins: Plugins) -> None:
    further = [kind for one in plugins.engines.values() for kind in one.writes]
    opener = opener_of(path, plugins.engines.values())
    if opener is not None and opener.instead and path.suffix.lower() not in further:
        raise UsageError(f"{path}: files of this kind are read and not written; {opener.instead}")
    require_table_file(path, further)
    require_writable(path)


def fix_tables(
    tables: OpenTables,
    policy: str | Path | Mapping[str, Any] | Policy,
    output: Path | None,
    *,
    levels: Mapping[str, int] = NO_LEVELS,
    keep_failing: bool = False,
    keep_order: bool = False,
    lost: Mapping[str, float] | None = None,
    **options: Any,
) -> Remediation:
    """Repair a release that is open; see `fix` for the other arguments and the errors.

    Args:
        tables: the tables that are open, or are opened where the policy needs them.
        policy: what the release must satisfy.
        output: the file to write it to, or the folder of several tables, if any.
        levels: the levels of hierarchies at which columns of the release are seen.
        keep_failing: write the best release even if it does not pass.
        keep_order: do not shuffle the records.
        lost: the losses of remedies under weaker demands on the same release; see `RepairLoop`.
        **options: the options of every audit that differ from those of the tables.
    """
    read = tables.read(policy)
    _require_records(read)
    is_linked = read.document.tables is not None
    if output is not None:  # before any table is read
        require_new_folder(output) if is_linked else _require_writable_table(output, tables.plugins)
        require_own_files([("the output", output)], files_of(read, **tables.given))
        tables.require_unchanged()
    inputs = tables.inputs(read, levels, samples=False, **options)
    if is_linked:
        folder = None if output is None else OutputFolder(output, inputs)
        linked = _RepairOfTables(inputs=inputs, keep_failing=keep_failing, keep_order=keep_order, lost=lost or {})
        return replace(linked, folder=folder).run()
    file = None if output is None else OutputFile(output, inputs)
    return _Repair(inputs=inputs, output=file, keep_failing=keep_failing, keep_order=keep_order, lost=lost or {}).run()


def repaired(inputs: AuditInputs) -> Remediation:
    """Repair a release in memory, as `fix` does, but without attacks, because it is not released.

    Raises:
        TcdpAuditError: it does not fit into memory, or cannot be read again.
    """
    _require_records(inputs.policy)
    kind = _Repair if inputs.policy.document.tables is None else _RepairOfTables
    return kind(inputs=inputs, keep_failing=False, keep_order=False, attacks=False).run()


def _require_records(policy: Policy) -> None:
    """Insist that a policy releases records alone, which are what remedies change."""
    if policy.document.has_figures:
        from tcdp_audit.core.policy.tables import require_records  # noqa: PLC0415 - only for figures

        require_records(policy, "remedies change records")


@dataclass(frozen=True, kw_only=True)
class _Repair:
    """One call of `fix`; see there for the other arguments.

    Args:
        attacks: whether to attack the release as an intruder who knows the remedies.
        lost: the losses of remedies under weaker demands.
    """

    inputs: AuditInputs
    output: OutputFile | None = None
    keep_failing: bool
    keep_order: bool
    attacks: bool = True
    lost: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def dropped(self) -> tuple[DroppedColumn, ...]:
        """The columns that are dropped."""
        return dropped_columns(self.inputs.policy, [column.name for column in self.inputs.engine.columns])

    @cached_property
    def source(self) -> pa.Table:
        """The release before the repair, in its own types."""
        return without_views_in_dictionaries(self.inputs.engine.source_table())

    def run(self) -> Remediation:
        self._try_one_record()
        before = self.inputs.audited()
        outcomes = self.inputs.without(before.outcomes, [one.name for one in self.dropped])
        obstacle = beyond_repair(outcomes)
        needed = status_of(outcomes) in ("failed", "error") and not obstacle
        with self._loop() as loop:
            best = loop.run(outcomes) if needed else loop.start(outcomes)
            loss = loop.loss_of(best)
            best = loop.finished(best)
            changed, measures = self._changes(loop, best, loss.cells_changed), loss.as_json()
            constant_columns, refusal, left_out = loss.emptied, loop.refusal, loop.left_out
            records, suppressed = loop.input.rows, loop.input.rows - best.opened.rows
            released = self._released(best, changed)
        log = ChangeLog(
            input=before.release,
            before=before.outcomes,
            steps=best.steps,
            tried=tuple(loop.tried),
            records=records,
            suppressed=suppressed,
            cells={name: changed[name] for name in released.column_names if name not in released.redrawn},
            planned=not self.inputs.policy.remedies,
            order=released.order,
            seed=self.inputs.policy.document.seed,
            loss=measures,
            reason=self._reason(best, obstacle, refusal),
            constant_columns=constant_columns,
            dropped=self.dropped,
            redrawn=released.redrawn,
            left_out=left_out,
        )
        after, written = self._proven(released, log)
        if after.passed and log.reason:  # failed in the input's order, and passes in the written order
            after = replace(after, change_log=replace(after.change_log or log, reason=""))
        shown = self._shown(released) if self.inputs.options.show_values else None
        return Remediation(before=before, after=after, released=released.table, written=written, records=shown)

    def _reason(self, best: Candidate, obstacle: str, refusal: str) -> str:
        reason = _reason(best, obstacle, refusal, passed=self.inputs.with_provenance(best.outcomes).passed)
        more = (
            []
            if best.passes or obstacle
            else [*_class_sizes(self.inputs.policy, best), *_of_other_units(self.inputs.policy, best)]
        )
        return "; ".join([reason, *more])

    def _loop(self) -> RepairLoop:
        return RepairLoop(self.inputs, _loss, self.lost)

    def _changes(self, loop: RepairLoop, best: Candidate, known: Mapping[str, int]) -> dict[str, int]:
        return _changes(loop, best, known)

    def _shown(self, released: Any) -> tuple[pa.Table, NDArray[np.intp]] | None:
        """The input, and the place in it of each released record."""
        return self.source, released.rows

    def _try_one_record(self) -> None:
        """Test, before the work, that a record in the released form can be read."""
        source = self._written(self.source)
        if self.output is not None:
            self.output.try_one_record(source)
        else:
            open_engine(source.slice(0, 1), self.inputs.memory, self.inputs.engine.name).close()

    def _written(self, table: pa.Table) -> pa.Table:
        """A table without the dropped columns."""
        return table.drop_columns([one.name for one in self.dropped]) if self.dropped else table

    def _released(self, best: Candidate, changed: Mapping[str, int]) -> Any:
        """A candidate in the types of the input, shuffled unless `keep_order` is set."""
        links = self.inputs.policy.document.rows_aligned and not self.keep_order
        if not best.steps and not self.dropped and not links:
            return Released(self.source, np.arange(self.source.num_rows))
        table = in_own_types(best.released, taken(self.source, best.retained), changed)
        if self.keep_order:
            return self._handed_over(table, np.arange(table.num_rows), best.retained, "kept")
        rows = in_unlinkable_order(self._written(table), self.inputs.policy.document.seed)
        return self._handed_over(table, rows, best.retained[rows], "shuffled")

    def _handed_over(self, table: pa.Table, order: NDArray[np.intp], rows: NDArray[np.intp], kind: str) -> Released:
        """The records of a table in some order without the dropped columns, and the copies that their audit needs."""
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

    def _proven(self, released: Any, log: ChangeLog) -> tuple[Audit, Path | None]:
        """Audit the released table, read back from its file if there is one; return the file if it was kept."""
        if self.output is not None:
            return self.output.write_proven(released, log, keep_failing=self.keep_failing)
        restored_columns = self._put_back(released)
        with self.inputs.with_release(released.table) as after:
            if self.attacks:
                log = with_attacks(log, after, self.inputs, released.rows)
            return restored_columns.audit(after, log), None

    def _put_back(self, released: Released) -> PutBack:
        """Open in memory the columns and the order that are not released."""
        memory = self.inputs.memory
        aligned = Aligned(lambda: open_engine(released.aligned, memory), released.places)
        return PutBack(
            released.restored_columns,
            lambda: open_engine(released.whole, memory),
            None if released.aligned is None else aligned,
        )


@dataclass(frozen=True, kw_only=True)
class _RepairOfTables(_Repair):
    """One call of `fix` on several linked tables.

    Args:
        folder: the folder to write them to, if any.
    """

    folder: OutputFolder | None = None

    @cached_property
    def linked(self) -> LinkedRepair:
        """What is read of the tables, and made of them."""
        return LinkedRepair(self.inputs, self.dropped)

    def run(self) -> Remediation:
        """Repair the tables.

        Raises:
            PolicyError: the policy names a remedy that does not work over several tables.
        """
        require_remedies_of_tables(self.inputs.policy, self.inputs.plugins.remedies)
        return super().run()

    def _try_one_record(self) -> None:
        sources = {name: self.linked.written(name, one) for name, one in self.linked.sources.items()}
        if self.folder is not None:
            self.folder.try_one_record(sources)

    def _loop(self) -> RepairLoop:
        return LinkedLoop(self.inputs, _loss_of_tables, self.lost)

    def _changes(self, loop: RepairLoop, best: Candidate, known: Mapping[str, int]) -> dict[str, int]:
        return self.linked.changes(cast("LinkedRelease", loop.input), best, known)

    def _shown(self, released: Any) -> None:  # noqa: ARG002 - records of several tables have no number
        return None

    def _released(self, best: Candidate, changed: Mapping[str, int]) -> ReleasedTables:
        return self.linked.released(best, changed, keep_order=self.keep_order)

    def _proven(self, released: Any, log: ChangeLog) -> tuple[Audit, Path | None]:
        if self.folder is None:
            return self.linked.audit_in_memory(released, log), None
        return self.folder.write_proven(self.linked, released, log, keep_failing=self.keep_failing)


def _loss(before: OpenTable, after: OpenTable, retained: NDArray[np.intp]) -> InformationLoss:
    return information_loss(before.release, after.release, retained)


def _loss_of_tables(before: OpenTable, after: OpenTable, _: NDArray[np.intp]) -> TablesLoss:
    """The loss of each table, which knows its retained rows itself, and of the links between its rows."""
    assert isinstance(before, LinkedRelease)  # noqa: S101 - the policy has tables
    assert isinstance(after, LinkedRelease)  # noqa: S101 - likewise
    losses, once = {}, after.without_copies
    for name in before.tables:
        loss = information_loss(before.release_of(name), once.release_of(name), once.retained[name])
        losses[name] = replace(loss, links=after.lost_links(before, name))
    return TablesLoss(losses)


def _changes(loop: RepairLoop, best: Candidate, known: Mapping[str, int]) -> dict[str, int]:
    """Count the changed cells of each column in the retained records, in the table's order.

    Args:
        loop: the loop, which has the input.
        best: its result.
        known: columns whose changes are already counted, by value; in the others, differently written cells count.
    """
    table = loop.input.table
    before = table.take(array_of_numbers(best.retained)) if len(best.retained) < table.num_rows else table
    others = [name for name in before.column_names if name not in known]
    counts = {**known, **changed_cells(before, best.released, others)}
    return {name: counts[name] for name in before.column_names}


def _reason(best: Candidate, obstacle: str, refusal: str, *, passed: bool) -> str:
    """The reason why the release does not pass; empty if it does."""
    if best.passes:
        return "" if passed else NOTHING_PROVED if best.steps else NOTHING_TO_REPAIR
    if obstacle:
        return f"no remedy can change this: {obstacle}"
    failing = failing_demands(best.outcomes)
    named = ", ".join(dict.fromkeys(one.name for one in failing))
    tally = tally_of(best.outcomes)
    demands = tally.demands.total + (tally.columns.total if any(one.is_structural for one in failing) else 0)
    part, fail = part_of(len(failing), demands, "demand"), agree(len(failing), "fails", "fail")
    refused = f"; refused because of what it costs: {refusal}" if refusal else ""
    return f"{part} still {fail}: {named}{refused}"


def _class_sizes(policy: Policy, best: Candidate) -> list[str]:
    """What the size of classes says of failing demands: which one would do, or why none does."""
    said, records = dict[str, None](), best.opened.rows
    judged = [one for one in best.failing_demands if not (one.is_structural or judges_histories(policy, one))]
    for outcome in judged:
        for one in expectations_of(outcome, policy):
            required = required_class_size(one, policy.document)
            least = max(required or 0, one.check.class_size(one.parameters) or 0)
            enough = sufficient_class_size(one, policy.document)
            if least > records:
                needs = f"{outcome.check} needs classes of at least {least:,} records"
                said[f"{needs}, and the release has {records:,}; release more records"] = None
            elif (
                policy.remedies
                and not one.check.on_classes
                and required is None
                and enough is not None
                and enough <= records
            ):
                said[f"{outcome.check} holds where classes have {enough:,} records; give a remedy `k: {enough}`"] = None
    return [*said]


def _of_other_units(policy: Policy, best: Candidate) -> list[str]:
    """The reason why no remedy repairs failing demands that name another unit than the policy's, and what to do."""
    units = dict.fromkeys(one.unit for one in best.failing_demands if one.unit not in ("", policy.document.root))
    return [
        f"remedies repair no demand that names a unit; repair the release under a policy with `unit: {visible(one)}`, "
        "and audit the result under this one"
        for one in units
    ]


def remedy_trial(inputs: AuditInputs, outcomes: tuple[Outcome, ...]) -> RemedyTrial | None:
    """Try `fix` in memory on a release that does not pass; None if no demand fails.

    An error that prevents the trial, such as a table that exceeds the memory, becomes its reason and does not affect
    the audit, which is complete.
    """
    if not failing_demands(outcomes):
        return None
    options = replace(inputs.options, samples=False, show_values=False, column_risks=False)  # the options of `fix`
    try:
        remediation = repaired(replace(inputs, options=options))
    except Exception as error:  # noqa: BLE001 - the audit is valid without the trial
        reason = f"remedies could not be tried: {sentence_about(error, 'the trial')}"
        return RemedyTrial(log=None, passes=False, reason=reason)
    reason = "" if remediation.passed else remediation.log.reason or OTHERWISE
    after = remediation.after.outcomes
    return RemedyTrial(log=remediation.log, passes=remediation.passed, reason=reason, outcomes=after)
