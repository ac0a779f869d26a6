"""Consistent cells in units: the treatment of a cell in one row is applied to all rows of its unit.

Otherwise the other rows reveal it: the roof of a household that is suppressed for one member is in the rows of the
others. See decision 076.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tcdp_audit.core.base.frozen import dataclass
from tcdp_audit.core.encoding.domain import Domain, RawDomain
from tcdp_audit.core.encoding.generalised import number_text
from tcdp_audit.core.encoding.keys import boundaries
from tcdp_audit.core.encoding.reading import domain_of
from tcdp_audit.core.release.common_parts import NO_PART, common_parts_of
from tcdp_audit.core.release.unit_readings import AGREEING
from tcdp_audit.core.remedy.remedy import NewColumn, Treatment

if TYPE_CHECKING:
    from tcdp_audit.core.remedy.view import Attribute, RemedyView

Numbers = NDArray[np.int64]
Rows = NDArray[np.intp]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class UnitRows:
    """The rows of each unit, without rows of no unit.

    Args:
        rows: positions of rows, unit by unit, those of a unit in the table's order.
        units: the number of each row's unit, ascending. Shape (len(rows),).
    """

    rows: Rows
    units: Numbers

    @classmethod
    def of(cls, unit: Attribute) -> UnitRows | None:
        """The rows of each unit of a column; None if no unit has several."""
        joined = np.flatnonzero(~unit.domain.is_uninformative[unit.codes])
        rows = joined[np.argsort(unit.codes[joined], kind="stable")]
        codes = unit.codes[rows].astype(np.int64)
        starts = boundaries(codes)
        if len(starts) == len(rows):
            return None
        return cls(rows, np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows)))))

    def agreeing(self, attribute: Attribute) -> Mask | None:
        """Whether each row has the value of all rows of its unit; None if the attribute is not constant in the unit.

        It counts as constant if the values agree in every unit, or in a hundred units for each one in which they do
        not. A missing or suppressed value agrees with every other, and is False. Shape (len(rows),).
        """
        codes = attribute.codes[self.rows].astype(np.int64)
        telling = ~attribute.domain.is_uninformative[codes]
        starts, size = boundaries(self.units), attribute.domain.size
        least = np.minimum.reduceat(np.where(telling, codes, size), starts)
        largest = np.maximum.reduceat(np.where(telling, codes, -1), starts)
        several = np.add.reduceat(telling.astype(np.int64), starts) > 1
        agree = least >= largest
        agreeing, excluded = int((several & agree).sum()), int((several & ~agree).sum())
        return agree[self.units] & telling if 0 < agreeing >= excluded * AGREEING else None


def with_unit_cells(view: RemedyView, treatment: Treatment) -> Treatment:
    """Make a treatment consistent in every unit; the same object if it is.

    For generalised cells the rows of a unit get the narrowest label that covers all of theirs; a suppressed cell is
    suppressed in all rows; for other values all rows get that of the first.

    Args:
        view: the view of the remedy.
        treatment: the treatment.

    Cost: a sort of the records by unit, once for a view; O(records) for each changed column.
    """
    rows = view.unit_rows
    if rows is None:
        return treatment
    columns = {name: _with_unit_cells(view, rows, name, treatment) for name in treatment.columns}
    changed = any(columns[name] is not treatment.columns[name] for name in columns)
    return replace(treatment, columns=columns) if changed else treatment


def _with_unit_cells(view: RemedyView, rows: UnitRows, name: str, treatment: Treatment) -> NewColumn:
    """Make one column consistent; the same object if the rows of every unit agree."""
    column, attribute = treatment.columns[name], view.attribute(name)
    agreeing = None if name == view.policy.document.unit else rows.agreeing(attribute)
    if agreeing is None:
        return column
    if treatment.retained is not None:
        agreeing &= treatment.retained[rows.rows]
    chosen, units = rows.rows[agreeing], rows.units[agreeing]
    starts = boundaries(units)
    if not len(starts):
        return column
    cells = column.codes[chosen].astype(np.int64)
    differs = np.minimum.reduceat(cells, starts) < np.maximum.reduceat(cells, starts)
    if not differs.any():
        return column
    lengths = np.diff(np.append(starts, len(units)))
    written_apart = np.repeat(differs, lengths)
    chosen, cells, units = chosen[written_apart], cells[written_apart], units[written_apart]
    labels, common = _common_cells(view, attribute, column, boundaries(units), cells)
    codes = np.where(column.codes == len(column.cells), len(labels), column.codes).astype(np.int64)
    codes[chosen] = np.repeat(common, lengths[differs])
    return NewColumn(labels, codes)


def _common_cells(
    view: RemedyView, attribute: Attribute, column: NewColumn, starts: Rows, cells: Numbers
) -> tuple[NDArray[Any], Numbers]:
    """The distinct cells of a column, and the index of the common cell of each unit.

    Args:
        view: the view of the remedy.
        attribute: the column before the remedy.
        column: the column after the remedy.
        starts: the position at which each unit begins among some rows.
        cells: the cell of each of these rows.
    """
    first = cells[starts]
    if column.cells.dtype != object:
        return column.cells, first
    domain, code_of_cell = _as_domain(view, attribute, column)
    hierarchy = attribute.hierarchy
    parts = common_parts_of(domain, attribute.declaration, hierarchy, missing_is_open=True)
    if parts is None:
        return column.cells, first
    codes = code_of_cell[cells]
    joined, exists = parts.join(starts, codes), parts.common(starts, codes) != NO_PART
    labels = [*column.cells.tolist(), *parts.new, view.suppressed_token]
    cell_of_code = np.full(domain.size + 1 + len(parts.new) + 1, len(labels) - 1, dtype=np.int64)
    cell_of_code[code_of_cell[-2::-1]] = np.arange(len(column.cells))[::-1]
    cell_of_code[domain.size + 1 : -1] = len(column.cells) + np.arange(len(parts.new))
    hidden = np.logical_or.reduceat(domain.is_uninformative[codes], starts)
    common = np.where(hidden, len(labels) - 1, np.where(exists, cell_of_code[joined], first))
    return np.array([*labels, None], dtype=object)[:-1], common


def _as_domain(view: RemedyView, attribute: Attribute, column: NewColumn) -> tuple[Domain, Numbers]:
    """The cells after a remedy as a domain of their attribute, and the code of each, the missing one last."""
    labels = [number_text(cell) for cell in column.cells.tolist()]
    ordered = sorted(set(labels))
    place = {label: rank for rank, label in enumerate(ordered)}
    ranks = np.array([*(place[label] for label in labels), len(ordered)], dtype=np.int64)
    counts = np.bincount(ranks[column.codes], minlength=len(ordered) + 1).astype(np.int64)
    raw = RawDomain(np.array([*ordered, None], dtype=object)[:-1], counts[:-1], int(counts[-1]))
    domain, _ = domain_of(attribute.name, raw, attribute.declaration, view.policy.conventions)
    return domain, np.append(domain.code_of_raw, domain.size)[ranks]
