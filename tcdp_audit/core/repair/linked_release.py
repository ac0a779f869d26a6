"""A repaired release of linked tables: a file for each in one folder, proven by an audit of what was written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pyarrow as pa

from tcdp_audit.core.base.errors import DataError, TcdpAuditError, UsageError
from tcdp_audit.core.base.files import os_error_reason, plain_name, require_writable, split_sheet, written_paths
from tcdp_audit.core.base.frozen import FrozenDict, dataclass
from tcdp_audit.core.base.provenance import Table
from tcdp_audit.core.base.scratch import Scratch
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.opening import open_any, open_engine, writer_of
from tcdp_audit.core.engines.writing import require_table_file
from tcdp_audit.core.policy.model import SEPARATOR
from tcdp_audit.core.remedy.treatment import changed_cells, in_unlinkable_order
from tcdp_audit.core.repair.candidate import Candidate
from tcdp_audit.core.repair.output import OutputFile, Released
from tcdp_audit.core.repair.restored_columns import in_own_types, taken, without_views_in_dictionaries
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.change_log import ChangeLog, DroppedColumn
from tcdp_audit.core.session.inputs import AuditInputs
from tcdp_audit.core.units.linked import LinkedTables

if TYPE_CHECKING:
    from tcdp_audit.core.repair.linked_loop import LinkedRelease

UNNAMED = ".parquet"  # the kind of file of a table that has none, or one that cannot be written


@dataclass(frozen=True)
class ReleasedTables:
    """Several repaired tables.

    Args:
        tables: each table by its name, in the types of the input.
        order: "kept" or "shuffled".
        redrawn: the columns of pseudonyms that were drawn anew.
    """

    tables: Mapping[str, Released]
    order: str
    redrawn: tuple[str, ...] = ()

    @property
    def table(self) -> Mapping[str, pa.Table]:
        """The rows of each table."""
        return {name: one.table for name, one in self.tables.items()}

    @property
    def rows(self) -> Mapping[str, np.ndarray[tuple[int], np.dtype[np.intp]]]:
        """The position of each row in the input."""
        return {name: one.rows for name, one in self.tables.items()}

    @property
    def column_names(self) -> list[str]:
        """The columns, each with its table."""
        return [f"{name}{SEPARATOR}{column}" for name, one in self.table.items() for column in one.column_names]


@dataclass(frozen=True)
class LinkedRepair:
    """What a repair of several tables reads, and what it makes of them.

    Args:
        inputs: the tables before the repair.
        dropped: the columns that are not written.
    """

    inputs: AuditInputs
    dropped: tuple[DroppedColumn, ...]

    @property
    def linked(self) -> LinkedTables:
        """The engine over the tables before the repair."""
        assert isinstance(self.inputs.engine, LinkedTables)  # noqa: S101 - the policy has tables
        return self.inputs.engine

    @cached_property
    def sources(self) -> Mapping[str, pa.Table]:
        """The tables before the repair, in their own types."""
        return {
            name: without_views_in_dictionaries(engine.source_table()) for name, engine in self.linked.tables.items()
        }

    def written(self, name: str, table: pa.Table) -> pa.Table:
        """A table without its dropped columns."""
        dropped = {one.name for one in self.dropped}
        return table.drop_columns([one for one in table.column_names if f"{name}{SEPARATOR}{one}" in dropped])

    def changes(self, before: LinkedRelease, best: Candidate, known: Mapping[str, int]) -> dict[str, int]:
        """Count the changed cells of each column in the rows that stayed; `known` are those that are counted."""
        counts: dict[str, int] = {}
        after = cast("LinkedRelease", best.as_released)
        for name, table in before.tables.items():
            here = taken(table, after.retained[name])
            cells = changed_cells(here, after.tables[name], table.column_names)
            counts |= {f"{name}{SEPARATOR}{column}": number for column, number in cells.items()}
        return counts | dict(known)

    def released(self, best: Candidate, changed: Mapping[str, int], *, keep_order: bool) -> ReleasedTables:
        """A candidate in the types of the input, each table shuffled unless its order is kept."""
        after = cast("LinkedRelease", best.as_released)
        if not best.steps and not self.dropped and not after.redrawn:
            same = {name: Released(one, np.arange(one.num_rows)) for name, one in self.sources.items()}
            return ReleasedTables(same, "kept")
        released = {}
        for name, source in self.sources.items():
            own = {column: changed[f"{name}{SEPARATOR}{column}"] for column in source.column_names}
            retained = after.retained[name]
            table = self.written(name, in_own_types(after.tables[name], taken(source, retained), own))
            seed = self.inputs.policy.document.seed
            order = np.arange(table.num_rows) if keep_order else in_unlinkable_order(table, seed)
            released[name] = Released(taken(table, order), retained[order])
        return ReleasedTables(released, "kept" if keep_order else "shuffled", after.redrawn)

    def audit_in_memory(self, released: ReleasedTables, log: ChangeLog) -> Audit:
        """Audit repaired tables that are not written."""
        with ExitStack() as stack:
            engines = {
                name: stack.enter_context(open_engine(one, self.inputs.memory, name))
                for name, one in released.table.items()
            }
            return self._audit(released, log, engines)

    def _audit(self, released: ReleasedTables, log: ChangeLog, engines: Mapping[str, Engine]) -> Audit:
        linked = LinkedTables(engines, self.inputs.policy.document)
        inputs = self.inputs.over(released.table, linked)
        return inputs.audit_of(inputs.evaluated(), change_log=log)

    def audit_of_files(self, released: ReleasedTables, log: ChangeLog, files: Mapping[str, Path]) -> Audit:
        """Audit tables that are read back from files.

        Raises:
            DataError: a file does not have the cells that were written.
        """
        with ExitStack() as stack:
            engines = {name: stack.enter_context(self._reopened(name, one)) for name, one in files.items()}
            for name, engine in engines.items():
                if engine.records != released.table[name].num_rows:
                    raise DataError(
                        f"{files[name].name}: {engine.records:,} records read back where "
                        f"{released.table[name].num_rows:,} were written; nothing is kept. Choose another kind of file"
                    )
            return self._audit(released, log, engines)

    def _reopened(self, name: str, file: Path) -> Engine:
        source: Engine = self.inputs.engine.tables[name]  # type: ignore[attr-defined]
        openers = self.inputs.plugins.engines.values()
        return open_any(file, name, self.inputs.memory, openers, source.text_form)


@dataclass(frozen=True)
class OutputFolder:
    """The folder of a release of several tables: it appears with all of its files, or does not appear.

    Args:
        path: the folder, which does not exist or is empty.
        inputs: the tables before the repair, whose names of files, number formats and delimiters are preserved.

    Raises:
        UsageError: it is no new folder, cannot be made, or two tables have files of the same name.
    """

    path: Path
    inputs: AuditInputs

    def __post_init__(self) -> None:
        """Refuse a place that cannot be written."""
        require_new_folder(self.path)
        names = [plain_name(Path(one)).casefold() for one in self.files.values()]
        if len(set(names)) < len(names):
            raise UsageError(
                f"{self.path}: files of the tables have the same name, and a folder has one of each; rename one"
            )

    @property
    def _engines(self) -> Mapping[str, Engine]:
        assert isinstance(self.inputs.engine, LinkedTables)  # noqa: S101 - the policy has tables
        return self.inputs.engine.tables

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The name of each table's file: that of the input, or of the policy's `file:`; else that of the table.

        A kind of file that cannot be written becomes Parquet.
        """
        declared = self.inputs.policy.document.tables or {}
        files = {}
        for name, engine in self._engines.items():
            file = declared[name].file
            own = engine.path if engine.path is not None else None if file is None else Path(file)
            if own is not None and split_sheet(own.name)[1]:  # of one workbook, several sheets may be tables
                own = Path(f"{name}{Path(split_sheet(own.name)[0]).suffix}")
            if own is not None and (_is_table_file(own) or writer_of(own, self.inputs.plugins.engines.values())):
                files[name] = own.name
            else:
                files[name] = f"{name if own is None else own.stem}{UNNAMED}"
        return files

    def _output(self, name: str, folder: Path) -> OutputFile:
        return OutputFile(folder / self.files[name], replace(self.inputs, engine=self._engines[name]))

    def try_one_record(self, sources: Mapping[str, pa.Table]) -> None:
        """Write one row of each table and read it back before the repair; see `OutputFile`."""
        for name, source in sources.items():
            self._output(name, self.path).try_one_record(source)

    def write_proven(
        self, repair: LinkedRepair, released: ReleasedTables, log: ChangeLog, *, keep_failing: bool
    ) -> tuple[Audit, Path | None]:
        """Write the tables, read them back and audit them; return the audit, and the folder if it was kept."""
        with self._new_folder() as folder:
            files = {}
            for name, one in released.tables.items():
                files[name] = folder / plain_name(Path(self.files[name]))
                self._output(name, folder).fill(files[name], one, log)
            audit = repair.audit_of_files(released, log, files)
            is_written = audit.passed or keep_failing
            if is_written:
                self._put(folder, files)
        return replace(audit, release=self._provenance(audit.release)), self.path if is_written else None

    @contextmanager
    def _new_folder(self) -> Iterator[Path]:
        """A private folder next to the target. Errors name the target's files."""
        try:
            with Scratch(self.path.absolute().parent) as scratch:
                folder = scratch / "tables"
                folder.mkdir()
                try:
                    yield folder
                except TcdpAuditError as error:
                    raise type(error)(str(error).replace(str(folder), str(self.path))) from None
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be written: {os_error_reason(error)}") from None

    def _put(self, folder: Path, files: Mapping[str, Path]) -> None:
        """Give a folder the target's name, once its files are on the disk: one step, after which all are there."""
        for file in files.values():
            with file.open("rb+") as written:
                os.fsync(written.fileno())
        require_new_folder(self.path)  # it may have been made meanwhile
        if self.path.is_dir():
            self.path.rmdir()  # Windows puts no folder in the place of an empty one
        folder.rename(self.path)
        written_paths.append(self.path)

    def _provenance(self, release: Table) -> Table:
        """The tables under their final names."""
        tables = {
            name: replace(one, uri=str(self.path / plain_name(Path(self.files[name]))))
            for name, one in release.tables.items()
        }
        return replace(release, uri=", ".join(one.uri for one in tables.values()), tables=FrozenDict(tables))


def _is_table_file(path: Path) -> bool:
    """Whether a path has the name of a file that a table can be written to."""
    try:
        require_table_file(path)
    except UsageError:
        return False
    return True


def require_new_folder(path: Path) -> None:
    """Check that a folder can be made.

    Raises:
        UsageError: it is a file or has the name of one, it has files, or it cannot be made there.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()) or _is_table_file(path):
        raise UsageError(f"{path}: names a file; several tables are written to a folder, so name a new one")
    try:
        has_files = path.is_dir() and any(path.iterdir())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {os_error_reason(error)}; choose another place") from None
    if has_files:
        raise UsageError(f"{path}: the folder has files already; name a new one, so that it holds this release alone")
    neighbour = path.absolute().parent / f"{path.name}.tmp"
    try:
        require_writable(neighbour)
    except UsageError as error:
        raise UsageError(str(error).replace(str(neighbour), str(path))) from None
