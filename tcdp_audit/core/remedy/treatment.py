"""Application of treatments to a table.

The columns and their order do not change, and a cell changes only if its value does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from tcdp_audit.core.base.declared_types import require_type
from tcdp_audit.core.encoding.domain import Domain
from tcdp_audit.core.encoding.generalised import number_text
from tcdp_audit.core.encoding.keys import Codes, fold
from tcdp_audit.core.engines.arrow_types import array_of_numbers, array_of_texts, array_of_truths, dictionary_positions
from tcdp_audit.core.remedy.remedy import NewColumn, RemedyError, Treatment
from tcdp_audit.core.remedy.view import Attribute, RemedyView

pc: Any = pyarrow.compute  # its functions are created on import, so type checkers do not know them


def apply_treatment(table: pa.Table, view: RemedyView, treatment: Treatment) -> pa.Table:
    """A table after a treatment.

    Args:
        table: the release, in the order of the view's records.
        view: the view of the remedy.
        treatment: the treatment.

    Raises:
        RemedyError: the treatment does not fit the table; treatments are always validated.

    Cost: O(records) for each changed column.
    """
    require_treatment(treatment, view)
    for name, column in treatment.columns.items():
        position = table.column_names.index(name)
        table = table.set_column(position, name, new_cells(table[name], view.attribute(name), column))
    return table if treatment.retained is None else table.filter(array_of_truths(treatment.retained))


def touched(view: RemedyView, treatment: Treatment) -> dict[str, int]:
    """Count the cells of each column that a treatment changes in retained records; a rewritten value is no change."""
    retained = np.ones(view.records, dtype=bool) if treatment.retained is None else treatment.retained
    counts = {}
    for name, column in treatment.columns.items():
        home = view.home(name)
        stays = retained if home is view or view.linked is None else retained[view.linked.top_rows(_table(view, home))]
        counts[name] = int((stays & ~_unchanged(home.attribute(name), column)).sum())
    homes = [view, *(view.tables.values() if counts else ())]
    columns = (one.name for home in homes for one in home.release.engine.columns)
    return {name: counts[name] for name in columns if counts.get(name)}


def _table(view: RemedyView, home: RemedyView) -> str:
    """The name of one of the tables of a view."""
    return next(name for name, one in view.tables.items() if one is home)


def require_treatment(treatment: Any, view: RemedyView) -> None:
    """Insist that a remedy's answer fits the records that it saw; it is never trusted blindly.

    Raises:
        RemedyError: it does not.
    """
    require_type(treatment, Treatment, "the remedy gave", RemedyError)
    for name, column in treatment.columns.items():
        home = view.home(name)
        if name not in home.release.columns:
            raise RemedyError(f"the remedy changed a column {name!r}, which the release does not have")
        if len(column.codes) != home.records:
            raise RemedyError(
                f"the remedy gave {len(column.codes):,} codes of column {name!r} for {home.records:,} records"
            )
        if home.records and not 0 <= column.codes.min() <= column.codes.max() <= len(column.cells):
            raise RemedyError(f"the remedy gave codes of column {name!r} that represent no cell")
        if column.cells.dtype.kind == "f" and not np.isfinite(column.cells).all():
            raise RemedyError(f"the remedy gave column {name!r} a cell that is no finite number")
    retained = treatment.retained
    if retained is None:
        return
    if retained.dtype != bool or retained.shape != (view.records,):
        raise RemedyError(
            f"the remedy must say of each of the {view.records:,} records whether it stays, by a bool; it gave "
            f"`retained` of type {retained.dtype} and shape {retained.shape}"
        )
    if not retained.any():
        raise RemedyError("nothing is left: the remedy would suppress every record")


def new_cells(old: pa.ChunkedArray, attribute: Attribute, new: NewColumn) -> pa.ChunkedArray:
    """A column's new cells; a cell that is equal to the record's former one is unchanged.

    Args:
        old: the column as it is.
        attribute: the same column as codes.
        new: the column after a remedy.
    """
    same = _unchanged(attribute, new)
    if same.all():
        return old
    number = pa.types.is_integer(old.type) or pa.types.is_floating(old.type)
    if number and new.cells.dtype != object:
        return _numbers(old, new, same)
    fresh = array_of_texts([*_labels(new), None]).take(array_of_numbers(new.codes))
    return pc.if_else(array_of_truths(same), as_text(old, attribute.domain, attribute.codes), fresh)


def _labels(column: NewColumn) -> list[str]:
    """New cells as the text that the audit compares."""
    return [number_text(cell) for cell in column.cells.tolist()]


def _unchanged(attribute: Attribute, new: NewColumn) -> NDArray[np.bool_]:
    """Whether each record has its former value, even if it is written differently."""
    old = {label: code for code, label in enumerate(attribute.domain.labels)}
    lookup = np.array([*(old.get(label, -1) for label in _labels(new)), attribute.domain.size], dtype=np.int64)
    return lookup[new.codes] == attribute.codes


def _numbers(old: pa.ChunkedArray, new: NewColumn, same: NDArray[np.bool_]) -> pa.ChunkedArray:
    """Numbers in the column's type if they fit, otherwise as float64."""
    whole = new.cells.dtype.kind == "i" or bool(np.all(new.cells == np.floor(new.cells)))
    kind = old.type if pa.types.is_floating(old.type) or whole else pa.float64()
    fresh = pa.array([*new.cells.tolist(), None]).take(array_of_numbers(new.codes))
    try:
        fresh = fresh.cast(kind)
    except pa.ArrowInvalid:  # too large for the column's own type
        kind = pa.int64() if whole and pa.types.is_integer(old.type) else pa.float64()
        fresh = fresh.cast(kind)
    return pc.if_else(array_of_truths(same), old.cast(kind), fresh)


def as_text(column: pa.ChunkedArray, domain: Domain, codes: Codes) -> pa.ChunkedArray:
    """A column as text: unchanged if it is text, otherwise in the form that the audit compares."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return column.cast(pa.string())
    return pa.chunked_array([array_of_texts([*domain.labels, None]).take(array_of_numbers(codes.astype(np.int64)))])


def settled(table: pa.Table, missing: Mapping[str, tuple[Domain, Codes]], token: str) -> pa.Table:
    """A table without missing quasi-identifiers, which become suppressed cells.

    The verdict is then the same under every convention on missing quasi-identifiers.

    Args:
        table: a treated release.
        missing: domain and codes of the quasi-identifiers that have missing values.
        token: the suppressed cell.
    """
    for name, (domain, codes) in missing.items():
        text = as_text(table[name], domain, codes)
        cells = pc.if_else(array_of_truths(codes == domain.size), array_of_texts([token])[0], text)
        table = table.set_column(table.column_names.index(name), name, cells)
    return table


def in_unlinkable_order(table: pa.Table, seed: int) -> NDArray[np.intp]:
    """An order of the records that is independent of their former order: sorted by content, then shuffled.

    Anyone who knows the seed and the number of records can undo a shuffle; after sorting, that gives the sorted table.

    Cost: a sort of the records.
    """
    codes = [ranks_of_cells(column) for column in table.columns]
    keys = fold(codes, [int(column.max(initial=0)) + 1 for column in codes]).values
    return np.argsort(keys, kind="stable")[np.random.default_rng(seed).permutation(len(keys))]


def ranks_of_cells(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Each cell's rank among the column's distinct cells, compared as text; 0 for a missing value."""
    encoded = _texts(column).dictionary_encode().unify_dictionaries()
    if not encoded.num_chunks:
        return np.zeros(0, dtype=np.int64)
    values = encoded.chunk(0).dictionary.to_pylist()
    place = {value: rank for rank, value in enumerate(sorted(values), 1)}
    rank = np.array([*(place[value] for value in values), 0], dtype=np.int64)
    return rank[np.concatenate([dictionary_positions(chunk, len(values)) for chunk in encoded.chunks])]


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells as texts that are distinct if the cells are."""
    if not isinstance(column.type, pa.BaseExtensionType):
        try:
            return column.cast(pa.string())
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            pass  # nested or binary
    texts = (None if cell is None else repr(cell) for cell in column.to_pylist())
    return pa.chunked_array([array_of_texts(list(texts))])


def changed_cells(before: pa.Table, after: pa.Table, names: Iterable[str]) -> dict[str, int]:
    """Count the cells of some columns that differ between two tables of the same records. O(records) each."""
    return {name: differing(before[name], after[name]) for name in names}


def same_cells(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables of the same columns have the same records in the same order."""
    if one.num_rows != other.num_rows or one.schema != other.schema:
        return False
    return not any(changed_cells(one, other, one.column_names).values())


def differing(before: pa.ChunkedArray, after: pa.ChunkedArray) -> int:
    """Count the cells that differ between two columns, as text if their types differ. NaN equals NaN."""
    if before is after or before.equals(after):
        return 0
    if before.type != after.type or pa.types.is_nested(before.type):
        before, after = _texts(before), _texts(after)
    if isinstance(before.type, pa.BaseExtensionType):
        before, after = _texts(before), _texts(after)
    differ = _certainly(pc.not_equal(before, after))
    if pa.types.is_floating(before.type):
        differ = pc.and_not(differ, _certainly(pc.and_(pc.is_nan(before), pc.is_nan(after))))
    one_missing = pc.xor(before.is_null(), after.is_null())
    return int(pc.sum(pc.or_(differ, one_missing)).as_py() or 0)


def _certainly(truths: pa.ChunkedArray) -> pa.ChunkedArray:
    """Truth values, with null as false."""
    return pc.and_kleene(truths, truths.is_valid())
