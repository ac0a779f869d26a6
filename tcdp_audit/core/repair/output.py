"""The output file of a repaired release: tested before the repair, audited before it is moved to its path."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tcdp_audit.core.base.errors import DataError, TcdpAuditError, UsageError
from tcdp_audit.core.base.files import plain_name, replaced_atomically
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.scratch import Scratch, writing_temporarily
from tcdp_audit.core.engines.arrow_types import array_of_numbers
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.engines.files import delimiter_of
from tcdp_audit.core.engines.opening import EngineOpener, writer_of, written_in
from tcdp_audit.core.engines.writing import require_holdable, write_table
from tcdp_audit.core.repair.attacks import with_attacks
from tcdp_audit.core.repair.restored_columns import Aligned, PutBack
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.change_log import ChangeLog
from tcdp_audit.core.session.inputs import AuditInputs


@dataclass(frozen=True)
class Released:
    """A repaired release.

    Args:
        table: its records in the types of the input.
        rows: the position of each record in the input.
        order: "kept" or "shuffled".
        whole: the same records with the columns that are restored for the audit; None if there are none.
        aligned: the same records, with these columns, in the original's order; None if they are released in it.
        places: for each record its position in `aligned`, if there is one.
    """

    table: pa.Table = field(repr=False)  # it would show cells
    rows: NDArray[np.intp]
    order: str = "kept"
    whole: pa.Table | None = field(default=None, repr=False)  # likewise
    aligned: pa.Table | None = field(default=None, repr=False)  # likewise
    places: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    redrawn = ()  # several linked tables have such columns

    @property
    def column_names(self) -> list[str]:
        """The columns."""
        return list(self.table.column_names)

    @property
    def restored_columns(self) -> tuple[str, ...]:
        """The columns that are restored for the audit."""
        names = [] if self.whole is None else self.whole.column_names
        return tuple(name for name in names if name not in self.table.column_names)

    @property
    def rows_in_order(self) -> NDArray[np.intp]:
        """The position in the input of each record of `aligned`."""
        rows = np.empty_like(self.rows)
        rows[self.places] = self.rows
        return rows


@dataclass(frozen=True)
class OutputFile:
    """The output file of a release.

    Args:
        path: the file.
        inputs: the release before the repair, whose number format and delimiter are preserved.
    """

    path: Path
    inputs: AuditInputs

    def try_one_record(self, source: pa.Table) -> None:
        """Write one record and read it back before the repair, so that errors are reported early.

        Args:
            source: the input without the dropped columns.

        Raises:
            UsageError: the kind of file cannot hold a column or its name.
            DataError: it cannot be read back.
        """
        self._require_holdable(source)
        if not source.num_rows:
            return  # the audit reports it
        with Scratch() as folder, self._named_in_errors(folder):
            trial = folder / plain_name(self.path)
            with writing_temporarily():
                self._write(Released(source.slice(0, 1), np.arange(1)), trial)
            with self.inputs.reopened(trial) as engine:
                names = [column.name for column in engine.columns]
        lost = [name for name in source.column_names if name not in names]
        if names != source.column_names:
            raise UsageError(
                f"{self.path}: the column name {', '.join(map(repr, lost))} does not read back from this kind of "
                "file; rename it, or choose another kind"
            )

    @property
    def _writer(self) -> EngineOpener | None:
        return writer_of(self.path, self.inputs.plugins.engines.values())

    def _require_holdable(self, source: pa.Table) -> None:
        if self._writer is None:
            require_holdable(source, self.path)
        else:
            self._writer.require(source, str(self.path))

    def write_proven(self, released: Released, log: ChangeLog, *, keep_failing: bool) -> tuple[Audit, Path | None]:
        """Write a release, read it back and audit it; return the audit, and the file if it passed and was kept."""
        with replaced_atomically(self.path) as temporary, self._named_in_errors(temporary.parent):
            self.fill(temporary, released, log)
            audit = self._audit(temporary, released, log)
            is_written = audit.passed or keep_failing
            if not is_written:
                temporary.unlink()
        return audit, self.path if is_written else None

    def fill(self, temporary: Path, released: Released, log: ChangeLog) -> None:
        """Write a release to a temporary file: a copy of the input's if nothing changed."""
        source = self.inputs.engine.path
        if log.order == "kept" and log.is_unchanged and source is not None and _same_kind(source, self.path):
            shutil.copyfile(source, temporary)
        else:
            self._write(released, temporary)

    def _audit(self, temporary: Path, released: Released, log: ChangeLog) -> Audit:
        """Audit the written file, under its final name."""
        records = released.table.num_rows
        with self.inputs.with_release(temporary) as written:
            if written.engine.records != records:
                raise DataError(
                    f"{self.path}: {written.engine.records:,} records read back where {records:,} were written; "
                    "nothing is kept. Choose another kind of file"
                )
            log = with_attacks(log, written, self.inputs, released.rows)
            audit = self._put_back(released).audit(written, log)
        return replace(audit, release=replace(audit.release, uri=str(self.path)))

    def _put_back(self, released: Released) -> PutBack:
        """Write the copies for the audit, which are not released, to temporary files of the same kind."""
        whole = replace(released, table=released.whole)
        if released.aligned is None:
            return PutBack(released.restored_columns, lambda: self._copy(whole))
        in_order = replace(released, table=released.aligned, rows=released.rows_in_order)
        return PutBack(
            released.restored_columns, lambda: self._copy(whole), Aligned(lambda: self._copy(in_order), released.places)
        )

    @contextmanager
    def _copy(self, released: Released) -> Iterator[Engine]:
        """Write records to a file of the same kind in a private folder."""
        with Scratch() as folder, self._named_in_errors(folder):
            path = folder / plain_name(self.path)
            with writing_temporarily():
                self._write(released, path)
            with self.inputs.reopened(path) as engine:
                yield engine

    def _write(self, released: Released, path: Path) -> None:
        form, writer = self.inputs.engine.text_form, self._writer
        if writer is not None:
            writer.require(released.table, str(self.path))
            with written_in(form):
                writer.write(released.table, path)
            return
        source, kinds = self.inputs.engine.path, self.inputs.engine.token_kinds()
        delimiter = "," if source is None else delimiter_of(source, self.inputs.engine.encoding)
        tokens = None
        if kinds is not None:
            names = [column.name for column in self.inputs.engine.columns]
            places = [names.index(name) for name in released.table.column_names]
            tokens = kinds.select(places).take(array_of_numbers(released.rows))
        write_table(released.table, path, kind=self.path, delimiter=delimiter, tokens=tokens, form=form)

    @contextmanager
    def _named_in_errors(self, folder: Path) -> Iterator[None]:
        """Replace the temporary file's path in errors by the output's."""
        try:
            yield
        except TcdpAuditError as error:
            raise type(error)(str(error).replace(str(folder / plain_name(self.path)), str(self.path))) from None


def _same_kind(one: Path, other: Path) -> bool:
    return one.suffixes[-2:] == other.suffixes[-2:]
