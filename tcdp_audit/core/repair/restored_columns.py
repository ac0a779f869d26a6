"""A treated release in the types that it came in: the engine's types are not those of every source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from tcdp_audit.core.auditor.evaluation import Evaluation, evaluation
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.outcome import AUDITED_ALIGNED, AUDITED_WITH, LINKABLE_ORDER, SHUFFLED, Outcome, Status
from tcdp_audit.core.engines.arrow_types import array_of_numbers
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.remedy.treatment import changed_cells, differing
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.change_log import ChangeLog
from tcdp_audit.core.session.inputs import AuditInputs

pc: Any = pyarrow.compute  # it makes its functions when it is imported, so that no type checker knows them

_WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
MISSING_COLUMNS = "missing_columns"
Opens = Callable[[], AbstractContextManager[Engine]]


def taken(table: pa.Table, rows: NDArray[np.intp]) -> pa.Table:
    """Some records of a table, in a given order. Of a missing cell nothing is left in the memory behind it."""
    columns = [_taken(column, array_of_numbers(rows)) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _taken(column: pa.ChunkedArray, rows: pa.Array) -> pa.ChunkedArray:
    plain = _WITHOUT_VIEWS.get(column.type)  # pyarrow takes nothing from views
    return column.take(rows) if plain is None else column.cast(plain).take(rows).cast(column.type)


def without_views_in_dictionaries(table: pa.Table) -> pa.Table:
    """A table whose dictionaries hold plain texts, as files can; polars lists its categories as views."""
    for position, field in enumerate(table.schema):
        plain = _WITHOUT_VIEWS.get(field.type.value_type) if pa.types.is_dictionary(field.type) else None
        if plain is not None:
            chunks = [
                pa.DictionaryArray.from_arrays(one.indices, one.dictionary.cast(plain), ordered=field.type.ordered)
                for one in table[position].chunks
            ]
            kind = pa.dictionary(field.type.index_type, plain, ordered=field.type.ordered)
            table = table.set_column(position, field.name, pa.chunked_array(chunks, kind))
    return table


def in_own_types(released: pa.Table, source: pa.Table, changed: Mapping[str, int]) -> pa.Table:
    """A treated release in the types that it came in.

    A column without a changed cell is the source's own. A changed one takes the source's type again where that holds
    its cells. What describes the source besides its cells (metadata of its file, values that a dictionary lists and no
    record has) is left out.

    Args:
        released: the release as remedies left it, in the engine's types.
        source: the records that stayed, in the source's types and the same order.
        changed: how many cells of each column were changed.
    """
    columns = [
        _fitted(released[name], source[name].type) if changed[name] else source[name] for name in released.column_names
    ]
    columns = [_of_used_values(column) if pa.types.is_dictionary(column.type) else column for column in columns]
    fields = [
        pa.field(name, column.type, nullable=source.schema.field(name).nullable or bool(column.null_count))
        for name, column in zip(released.column_names, columns, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _fitted(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column in another type if that holds every cell exactly, else as it is."""
    if column.type == kind:
        return column
    try:
        fitted = _encoded(column, kind) if pa.types.is_dictionary(kind) else column.cast(kind)
        is_exact = not differing(fitted.cast(column.type), column)
    except pa.ArrowException:
        return column
    return fitted if is_exact else column


def _encoded(column: pa.ChunkedArray, kind: pa.DictionaryType) -> pa.ChunkedArray:
    """A column as a dictionary without an order: a new value has no place in the old one."""
    encoded = column.cast(kind.value_type).dictionary_encode()
    return encoded.cast(pa.dictionary(kind.index_type, kind.value_type))


def _of_used_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary column that lists the values of its cells and no others, sorted where they have no order."""
    kind = column.type
    cells = column.cast(kind.value_type)
    used = pc.drop_null(pc.unique(cells))
    if kind.ordered:
        declared = column.unify_dictionaries().chunk(0).dictionary if column.num_chunks else used
        used = declared.filter(pc.is_in(declared, value_set=used))
    else:
        used = used.take(pc.sort_indices(used))
    indices = pc.index_in(cells, value_set=used, skip_nulls=True).cast(kind.index_type)
    chunks = [pa.DictionaryArray.from_arrays(chunk, used, ordered=kind.ordered) for chunk in indices.chunks]
    return pa.chunked_array(chunks, pa.dictionary(kind.index_type, kind.value_type, ordered=kind.ordered))


@dataclass(frozen=True)
class Aligned:
    """The released records in the original's order.

    Args:
        opens: opens them, read as the release is read; dropped columns that demands need are among theirs.
        places: for each released record its place among them.
    """

    opens: Opens
    places: NDArray[np.intp]


@dataclass(frozen=True)
class PutBack:
    """Columns and an order that recipients do not get, and demands need.

    Args:
        names: of the columns; none where no demand needs any.
        whole: opens what was released with these columns beside it, read as the release is read.
        aligned: the same records in the original's order, where they were shuffled out of it.
    """

    names: tuple[str, ...]
    whole: Opens
    aligned: Aligned | None = None

    def audit(self, released: AuditInputs, log: ChangeLog) -> Audit:
        """The audit of what is released.

        Args:
            released: it, as it is handed over.
            log: what was done.

        Raises:
            DataError: the records with the columns, or in the original's order, are not those that were released.
        """
        shuffled = log.order == "shuffled" and released.policy.document.rows_aligned
        as_handed_over = replace(released, policy=released.policy.out_of_order) if shuffled else released
        evaluated = self._with_columns(as_handed_over, as_handed_over.evaluated())
        if shuffled:
            evaluated = replace(evaluated, outcomes=tuple(map(_shuffled, evaluated.outcomes)))
        if any(AUDITED_WITH in one.details for one in evaluated.outcomes):
            log = replace(log, judged_with_columns=self.names)
        if self.aligned is not None:
            evaluated, digest = self._in_order(self.aligned, released, evaluated)
            log = replace(log, aligned_sha256=digest)
        return released.audit_of(evaluated, change_log=log)

    # Columns

    def _with_columns(self, released: AuditInputs, alone: Evaluation) -> Evaluation:
        """Evaluate a release, its demands with the columns."""
        if not self._is_needed(released, alone):
            return alone
        with self.whole() as engine:
            _require_same_records(released.engine, engine)
            beside = evaluation(released.policy, engine, released.options, released.companions)
        return replace(alone, outcomes=tuple(self._joined(alone.outcomes, beside.outcomes)), exposed=beside.exposed)

    def _is_needed(self, released: AuditInputs, alone: Evaluation) -> bool:
        """Say whether some demand may come out otherwise with the columns."""
        if not self.names:
            return False
        compares = any(one.check.requires - {"population"} for one in released.policy.expectations)
        incomplete = any(one.status is Status.ERROR for one in alone.outcomes)
        return compares or incomplete or released.policy.document.unit in self.names

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
        """The outcome of a demand with the columns, unless it fails only without them."""
        fails = without.status is Status.FAILED and outcome.status is not Status.FAILED
        return without if fails else self._marked(outcome, without)

    def _marked(self, outcome: Outcome, without: Outcome | None = None) -> Outcome:
        """An outcome that says so where it needed the columns."""
        if outcome == without:
            return outcome
        return replace(outcome, details={**outcome.details, AUDITED_WITH: list(self.names)})

    # Order

    def _in_order(
        self, aligned: Aligned, released: AuditInputs, evaluated: Evaluation
    ) -> tuple[Evaluation, str | None]:
        """Evaluate a release, its demands on pairs in the original's order; and give that copy's digest."""
        checks = _paired(released.policy, evaluated.outcomes)
        if not checks:
            return evaluated, None
        policy = released.policy.only(checks)
        with aligned.opens() as engine:
            _require_same_records(released.engine, engine, aligned.places)
            beside = evaluation(policy, engine, released.options, released.companions)
            digest = engine.sha256()
        judged = [one for one in beside.outcomes if not one.is_structural]
        outcomes = tuple(_replaced(evaluated.outcomes, judged, checks, digest))
        return replace(evaluated, outcomes=outcomes), digest


def _shuffled(outcome: Outcome) -> Outcome:
    """An outcome, the finding on the order saying that a repair has shuffled the records."""
    if not outcome.is_structural or outcome.check != LINKABLE_ORDER:
        return outcome
    return replace(outcome, details={**outcome.details, SHUFFLED: True})


def _paired(policy: Policy, outcomes: Sequence[Outcome]) -> frozenset[str]:
    """The checks that pair records with the original's, and those that could not be evaluated out of its order."""
    pairs = {one.check.name for one in policy.expectations if "original" in one.check.requires}
    asked = {one.check.name for one in policy.expectations}
    errors = {one.check for one in outcomes if one.status is Status.ERROR and not _is_on_quality(one)}
    return frozenset(pairs | (errors & asked))


def _replaced(
    outcomes: Sequence[Outcome], judged: Sequence[Outcome], checks: Collection[str], digest: str | None
) -> Iterator[Outcome]:
    """Outcomes of shuffled records, those of some checks as judged in the original's order. None is ever left out."""
    waiting = list(judged)
    for one in outcomes:
        is_own = not one.is_structural and not _is_on_quality(one) and one.check in checks
        place = next((number for number, other in enumerate(waiting) if is_own and _name(other) == _name(one)), None)
        yield one if place is None else _marked_as_aligned(waiting.pop(place), one, digest)
    yield from waiting


def _marked_as_aligned(outcome: Outcome, shuffled: Outcome, digest: str | None) -> Outcome:
    """An outcome that says on which copy it was judged; with what it was judged before, such as columns."""
    with_columns = {AUDITED_WITH: shuffled.details[AUDITED_WITH]} if AUDITED_WITH in shuffled.details else {}
    return replace(outcome, details={**outcome.details, **with_columns, AUDITED_ALIGNED: digest})


def _require_same_records(released: Engine, whole: Engine, places: NDArray[np.intp] | None = None) -> None:
    """Insist that two tables have the same cells in the columns that are released, record by record.

    Args:
        released: what was read back.
        whole: the other one.
        places: for each released record its place in the other one, each once; None for the same order.
    """
    names = [column.name for column in released.columns]
    table, beside = released.table(), whole.table()
    is_same = table.num_rows == beside.num_rows
    if is_same and places is not None:
        is_same = np.array_equal(np.sort(places), np.arange(table.num_rows))  # a permutation
        beside = taken(beside.select(names), places) if is_same else beside
    if not is_same or any(changed_cells(table, beside, names).values()):
        raise DataError(
            "what was read back differs from what was released; nothing is kept. Choose another kind of file"
        )


def _is_on_quality(outcome: Outcome) -> bool:
    """Say whether a schema, a suite or a profile asked for it, and no expectation."""
    return outcome.is_schema or outcome.is_question


def _name(outcome: Outcome) -> tuple[str, str | None]:
    return outcome.check, outcome.attribute
