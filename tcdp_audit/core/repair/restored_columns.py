"""A treated release in the types of its source, from which the engine's types may differ, and its audit."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from tcdp_audit.core.auditor.evaluation import Evaluation, evaluation
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.base.outcome import AUDITED_ALIGNED, AUDITED_WITH, LINKABLE_ORDER, SHUFFLED, Outcome, Status
from tcdp_audit.core.engines.arrow_types import array_of_numbers
from tcdp_audit.core.engines.base import Engine
from tcdp_audit.core.policy.policy import Policy
from tcdp_audit.core.remedy.treatment import changed_cells, differing
from tcdp_audit.core.results.audit import Audit
from tcdp_audit.core.results.change_log import ChangeLog
from tcdp_audit.core.session.inputs import AuditInputs

pc: Any = pyarrow.compute  # its functions are created on import, so type checkers do not know them

_WITHOUT_VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
MISSING_COLUMNS = "missing_columns"
Opens = Callable[[], AbstractContextManager[Engine]]


def taken(table: pa.Table, rows: NDArray[np.intp]) -> pa.Table:
    """Some records of a table, in a given order. The memory of missing cells holds no former values."""
    columns = [_taken(column, array_of_numbers(rows)) for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _taken(column: pa.ChunkedArray, rows: pa.Array) -> pa.ChunkedArray:
    plain = _WITHOUT_VIEWS.get(column.type)  # pyarrow cannot take from views
    return column.take(rows) if plain is None else column.cast(plain).take(rows).cast(column.type)


def without_views_in_dictionaries(table: pa.Table) -> pa.Table:
    """Convert dictionaries of text views, which polars uses and files cannot hold, to plain texts."""
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
    """Convert a treated release to the types of its source.

    A column without a changed cell is copied from the source. A changed one gets the source's type if that can hold its
    cells. File metadata and dictionary values that no record has are left out.

    Args:
        released: the treated release, in the engine's types.
        source: the retained records, in the source's types and the same order.
        changed: the number of changed cells of each column.
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
    """Convert a column to another type if that holds every cell exactly; otherwise return it unchanged."""
    if column.type == kind:
        return column
    try:
        fitted = _encoded(column, kind) if pa.types.is_dictionary(kind) else column.cast(kind)
        is_exact = not differing(fitted.cast(column.type), column)
    except pa.ArrowException:
        return column
    return fitted if is_exact else column


def _encoded(column: pa.ChunkedArray, kind: pa.DictionaryType) -> pa.ChunkedArray:
    """Encode a column as an unordered dictionary: a new value has no rank in the old order."""
    encoded = column.cast(kind.value_type).dictionary_encode()
    return encoded.cast(pa.dictionary(kind.index_type, kind.value_type))


def _of_used_values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Reduce a dictionary to the values of its cells, sorted unless they have an order."""
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
        opens: opens them as the release is read, with the dropped columns that demands need.
        places: for each released record its position among them.
    """

    opens: Opens
    places: NDArray[np.intp]


@dataclass(frozen=True)
class PutBack:
    """Columns and an order that demands need and recipients do not get.

    Args:
        names: the columns; empty if no demand needs any.
        whole: opens the released records together with these columns, as the release is read.
        aligned: the same records in the original's order; None if they are released in it.
    """

    names: tuple[str, ...]
    whole: Opens
    aligned: Aligned | None = None

    def audit(self, released: AuditInputs, log: ChangeLog) -> Audit:
        """Audit the released table.

        Args:
            released: the table as recipients get it.
            log: the change log.

        Raises:
            DataError: the records with the columns, or in the original's order, are not the released ones.
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
        """Evaluate a release; demands are judged with the columns."""
        if not self._is_needed(released, alone):
            return alone
        with self.whole() as engine:
            _require_same_records(released.engine, engine)
            beside = evaluation(released.policy, engine, released.options, released.companions)
        return replace(alone, outcomes=tuple(self._joined(alone.outcomes, beside.outcomes)), exposed=beside.exposed)

    def _is_needed(self, released: AuditInputs, alone: Evaluation) -> bool:
        """Whether the columns may change the outcome of a demand."""
        if not self.names:
            return False
        compares = any(one.check.requires - {"population"} for one in released.policy.expectations)
        incomplete = any(one.status is Status.ERROR for one in alone.outcomes)
        return compares or incomplete or released.policy.document.unit in self.names

    def _joined(self, alone: Sequence[Outcome], beside: Sequence[Outcome]) -> Iterator[Outcome]:
        """Findings on columns and on quality from the released table; demands as judged with the columns.

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
        """The outcome, marked if it needed the columns."""
        if outcome == without:
            return outcome
        return replace(outcome, details={**outcome.details, AUDITED_WITH: list(self.names)})

    # Order

    def _in_order(
        self, aligned: Aligned, released: AuditInputs, evaluated: Evaluation
    ) -> tuple[Evaluation, str | None]:
        """Evaluate a release with demands on pairs in the original's order; return also the digest of that copy."""
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
    """The outcome; the finding on the order states that a repair has shuffled the records."""
    if not outcome.is_structural or outcome.check != LINKABLE_ORDER:
        return outcome
    return replace(outcome, details={**outcome.details, SHUFFLED: True})


def _paired(policy: Policy, outcomes: Sequence[Outcome]) -> frozenset[str]:
    """The checks that pair records with the original's, and those that cannot be evaluated without its order."""
    pairs = {one.check.name for one in policy.expectations if "original" in one.check.requires}
    asked = {one.check.name for one in policy.expectations}
    errors = {one.check for one in outcomes if one.status is Status.ERROR and not _is_on_quality(one)}
    return frozenset(pairs | (errors & asked))


def _replaced(
    outcomes: Sequence[Outcome], judged: Sequence[Outcome], checks: Collection[str], digest: str | None
) -> Iterator[Outcome]:
    """All outcomes of shuffled records, with those of some checks replaced by those in the original's order."""
    waiting = list(judged)
    for one in outcomes:
        is_own = not one.is_structural and not _is_on_quality(one) and one.check in checks
        place = next((number for number, other in enumerate(waiting) if is_own and _name(other) == _name(one)), None)
        yield one if place is None else _marked_as_aligned(waiting.pop(place), one, digest)
    yield from waiting


def _marked_as_aligned(outcome: Outcome, shuffled: Outcome, digest: str | None) -> Outcome:
    """The outcome with the copy on which it was judged, in addition to restored columns."""
    with_columns = {AUDITED_WITH: shuffled.details[AUDITED_WITH]} if AUDITED_WITH in shuffled.details else {}
    return replace(outcome, details={**outcome.details, **with_columns, AUDITED_ALIGNED: digest})


def _require_same_records(released: Engine, whole: Engine, places: NDArray[np.intp] | None = None) -> None:
    """Raise `DataError` unless two tables have the same cells in the released columns, record by record.

    Args:
        released: the table that was read back.
        whole: the other table.
        places: for each released record its position in the other table, each once; None for the same order.
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
    """Whether an outcome belongs to a schema, a suite or a profile, and to no expectation."""
    return outcome.is_schema or outcome.is_question


def _name(outcome: Outcome) -> tuple[str, str | None, str]:
    return outcome.check, outcome.attribute, outcome.name_of_part
