"""`fix`: repair a release under its policy, prove it by auditing what was written, and say what it cost."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.auditor.evaluation import Options
from tcdp_audit.classes.shards import silent
from tcdp_audit.engines import open_engine
from tcdp_audit.engines.files import delimiter_of
from tcdp_audit.engines.writing import require_holdable, require_table_file, write_table
from tcdp_audit.errors import DataError, Discreet, TcdpAuditError, UsageError
from tcdp_audit.files import appearing, plain_name, require_writable
from tcdp_audit.inputs import Opened, opened
from tcdp_audit.policy import Policy
from tcdp_audit.registry import Plugins
from tcdp_audit.remedy.treatment import changed_cells, in_unlinkable_order
from tcdp_audit.repair.loop import Course, State, beyond_repair
from tcdp_audit.repair.own_types import in_own_types, taken, without_views_in_dictionaries
from tcdp_audit.results.audit import Audit
from tcdp_audit.results.change_log import ChangeLog, standing_against
from tcdp_audit.results.own_files import files_of, require_own_files
from tcdp_audit.scratch import Scratch, writing_temporarily

NOTHING_TO_REPAIR = "nothing that the policy demands could fail, so there is nothing to repair"
NOTHING_PROVED = "nothing that the policy demands could fail any more, so that keeping it proves nothing"


@dataclass(frozen=True, kw_only=True)
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
    released: pa.Table = field(repr=False)  # its text would be cells
    written: Path | None = None

    @property
    def passed(self) -> bool:
        """Whether the release keeps its policy now."""
        return self.after.passed

    @property
    def log(self) -> ChangeLog:
        """What was done, and what it cost."""
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


@Discreet()
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

    After every remedy the whole release is audited again. A release that passes already is left as it is. The result
    has exactly the columns of the input in their order; its records are in an order that says nothing about the
    order they came in, unless the policy says `rows_aligned: true`.

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
    target = None if output is None else Path(output)
    if target is not None:
        require_table_file(target)
        require_writable(target)
    options = Options(memory, progress=progress or silent)
    with opened(release, policy, original, population, plugins, options) as bench:
        if target is not None:
            read = files_of(bench.policy, release=release, original=original, population=population)
            require_own_files([("the output", target)], read)
        return _Fix(bench, target, keep_failing=keep_failing, keep_order=keep_order).run()


class _Fix:
    """One call of `fix`."""

    def __init__(self, bench: Opened, target: Path | None, *, keep_failing: bool, keep_order: bool) -> None:
        self.bench, self.target, self.keep_failing = bench, target, keep_failing
        self.keep_order = keep_order or bench.policy.document.rows_aligned
        self.source = without_views_in_dictionaries(bench.engine.source_table())
        self.source_rows: NDArray[np.intp] = np.arange(self.source.num_rows)  # of each record its place in the source

    def run(self) -> Remediation:
        self._try_one_record()
        outcomes = self.bench.outcomes()
        before = self.bench.audit(outcomes)
        table = self.bench.engine.table()
        start = State(table, np.arange(table.num_rows), outcomes)
        course = Course(
            policy=self.bench.policy,
            table=table,
            remedies=self.bench.plugins.remedies,
            auditing=self._audited,
            memory=self.bench.memory,
            progress=self.bench.options.progress,
        )
        obstacle = beyond_repair(outcomes)
        needed = before.status in ("failed", "error") and not obstacle
        state = course.run(start) if needed else start
        return self._finished(before, course, state, obstacle)

    def _audited(self, table: pa.Table) -> tuple[Any, ...]:
        with open_engine(table, self.bench.memory) as engine:
            return self.bench.outcomes(engine, table)

    def _try_one_record(self) -> None:
        """Write one record and read it back before the work, so that what cannot be written is said now.

        Raises:
            UsageError: the output's kind of file does not hold a column, or its name.
            DataError: it cannot be read back.
        """
        if self.target is None:
            with open_engine(self.source.slice(0, 1), self.bench.memory, self.bench.engine.name):
                return
        require_holdable(self.source, self.target)
        if not self.source.num_rows:
            return  # which the audit says
        with Scratch() as folder, _speaking_of(self.target, folder):
            trial = folder / plain_name(self.target)
            with writing_temporarily():
                self._write(self.source.slice(0, 1), trial, self.source_rows[:1])
            with open_engine(trial, self.bench.memory) as engine:
                names = [column.name for column in engine.columns]
        lost = [name for name in self.source.column_names if name not in names]
        if names != self.source.column_names:
            raise UsageError(
                f"{self.target}: the column name {', '.join(map(repr, lost))} does not read back from this kind of "
                "file; rename it, or choose another kind"
            )

    def _write(self, table: pa.Table, path: Path, rows: NDArray[np.intp]) -> None:
        """Write records as they are now; `rows` are their places in the source."""
        source, kinds = self.bench.engine.path, self.bench.engine.token_kinds()
        delimiter = "," if source is None else delimiter_of(source)
        tokens = None if kinds is None else kinds.take(pa.array(rows))
        write_table(table, path, kind=self.target, delimiter=delimiter, tokens=tokens)

    def _ordered(self, released: pa.Table) -> tuple[pa.Table, str]:
        """The records in the order that they are released in, and nothing left of what a missing cell may cover."""
        rows = np.arange(released.num_rows) if self.keep_order else in_unlinkable_order(released, self._seed)
        self.source_rows = self.source_rows[rows]
        return taken(released, rows), "kept" if self.keep_order else "shuffled"

    @property
    def _seed(self) -> int:
        return self.bench.policy.document.seed

    def _finished(self, before: Audit, course: Course, state: State, obstacle: str) -> Remediation:
        with course.losing(state) as loss:
            changed, further = _changes(course, state, loss.cells_changed), loss.as_json()
        released, order = self.source, "kept"
        if state.steps:
            self.source_rows, kept = state.kept, taken(self.source, state.kept)
            released, order = self._ordered(in_own_types(course.released(state), kept, changed))
        log = ChangeLog(
            input=before.release,
            before=before.outcomes,
            steps=state.steps,
            tried=tuple(course.tried),
            records=before.release.records,
            suppressed=before.release.records - len(state.kept),
            cells=changed,
            planned=not self.bench.policy.remedies,
            order=order,
            seed=self._seed,
            loss=further,
            reason=_reason(state, obstacle, passed=self.bench.audit(state.outcomes).passed),
        )
        after, written = self._proven(released, log)
        return Remediation(before=before, after=after, released=released, written=written)

    def _proven(self, released: pa.Table, log: ChangeLog) -> tuple[Audit, Path | None]:
        """The audit of what is released, read back from its file where there is one, and the file if it was kept."""
        if self.target is None:
            with open_engine(released, self.bench.memory) as engine:
                return self.bench.audit(self.bench.outcomes(engine, released), engine, change_log=log), None
        with appearing(self.target) as temporary, _speaking_of(self.target, temporary.parent):
            audit = self._audit_of_file(temporary, released, log)
            kept = audit.passed or self.keep_failing
            if not kept:
                temporary.unlink()
        return audit, self.target if kept else None

    def _audit_of_file(self, temporary: Path, released: pa.Table, log: ChangeLog) -> Audit:
        """Write the release, read it back, and audit it under its final name."""
        assert self.target is not None  # noqa: S101 - only asked where there is one
        source = self.bench.engine.path
        if log.order == "kept" and log.is_unchanged and source is not None and _same_kind(source, self.target):
            shutil.copyfile(source, temporary)
        else:
            self._write(released, temporary, self.source_rows)
        with open_engine(temporary, self.bench.memory) as engine:
            if engine.records != released.num_rows:
                raise DataError(
                    f"{self.target}: {engine.records:,} records read back where {released.num_rows:,} were written; "
                    "nothing is kept. Choose another kind of file"
                )
            audit = self.bench.audit(self.bench.outcomes(engine, temporary), engine, change_log=log)
        return replace(audit, release=replace(audit.release, uri=str(self.target)))


@contextmanager
def _speaking_of(target: Path, folder: Path) -> Iterator[None]:
    """Let errors name the output, and not the temporary file of the same name in a folder."""
    try:
        yield
    except TcdpAuditError as error:
        raise type(error)(str(error).replace(str(folder / plain_name(target)), str(target))) from None


def _same_kind(one: Path, other: Path) -> bool:
    return one.suffixes[-2:] == other.suffixes[-2:]


def _changes(course: Course, state: State, known: Mapping[str, int]) -> dict[str, int]:
    """How many cells of each column differ in the records that stayed, in the table's order.

    Args:
        course: the input.
        state: what came of it.
        known: the columns whose values have been compared; of the others it is counted what is written differently.
    """
    before = course.table.take(pa.array(state.kept)) if len(state.kept) < course.table.num_rows else course.table
    others = [name for name in before.column_names if name not in known]
    counts = {**known, **changed_cells(before, course.released(state), others)}
    return {name: counts[name] for name in before.column_names}


def _reason(state: State, obstacle: str, *, passed: bool) -> str:
    """Why the release does not pass, or nothing."""
    if state.passes:
        return "" if passed else NOTHING_PROVED if state.steps else NOTHING_TO_REPAIR
    if obstacle:
        return f"no remedy changes columns or the policy; {obstacle}"
    standing = standing_against(state.outcomes)
    named = ", ".join(
        dict.fromkeys(one.check + (f" on {one.attribute!r}" if one.attribute else "") for one in standing)
    )
    return f"{len(standing)} of {len(state.outcomes)} outcomes still stand against the release: {named}"
