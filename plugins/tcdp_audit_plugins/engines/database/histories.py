"""Whole histories compared in a database: one row a unit with its history as a text, grouped there.

A row's label is made of its cells, each as its length, a colon and its text, or a hyphen where it is missing. The
labels of a unit are sorted and joined. So two units have the same text only if they have the same labels, each as
often: the text can be read back in one way. Order of labels is that of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.functions import FunctionElement

from tcdp_audit.plugin._internal import UnitClasses
from tcdp_audit_plugins.engines.database.statements import Cell, Relation

BLANKS = tuple(chr(one) for one in range(128) if chr(one).isspace())  # that Python strips
DIALECTS = ("postgresql", "duckdb")  # an SQLite file is read by this process, so that nothing would be saved
NOT_A_NUMBER = ("nan", "NaN")
Read = Callable[[Any, pa.Schema], pa.Table]  # sends a statement
Term = ColumnElement[Any]


class _Joined(FunctionElement[str]):
    """Texts of a group as one, in the order of their bytes."""

    type = sa.Text()
    inherit_cache = True


@compiles(_Joined)
def _joined(element: _Joined, compiler: Any, **options: Any) -> str:
    text = compiler.process(element.clauses, **options)
    return f"string_agg({text}, '' ORDER BY {text})"


class DatabaseUnitClasses(UnitClasses):
    """The histories of the units of a relation.

    Args:
        read: sends a statement and gives its rows.
        relation: the table.
        dialect: of its database, one of `DIALECTS`.
        cells: the cells of the unit, of what is known, and of any other column.
        unit: the column of the unit.
        known: the columns that make labels.
        missing: texts that count as no value.
    """

    def __init__(
        self,
        read: Read,
        relation: Relation,
        dialect: str,
        cells: Callable[[str], Cell],
        unit: str,
        known: Sequence[str],
        missing: Sequence[str],
    ) -> None:
        self._read, self._relation, self._dialect, self._cells = read, relation, dialect, cells
        self._unit, self._known, self._missing = unit, known, missing

    def is_doubtful(self) -> bool:
        """Whether units have blanks around their text, letters beyond ASCII, or differ in case only."""
        cell = self._cells(self._unit)
        if cell.arrow != pa.string():
            return False
        units = sa.select(self._own(cell).label("unit")).select_from(self._relation).distinct().subquery("units")
        unit = units.c.unit
        ends = sa.func.substr(unit, 1, 1), sa.func.substr(unit, sa.func.length(unit), 1)
        blanks = [sa.literal(one, sa.Text) for one in BLANKS]
        odd = sa.or_(*(end.in_(blanks) for end in ends), self._bytes(unit) != sa.func.length(unit))
        figures = _total(odd), sa.func.count(unit), sa.func.count(sa.distinct(sa.func.lower(self._exactly(unit))))
        names = ("odd", "units", "in_lower_case")
        row = self._only(sa.select(*(one.label(name) for one, name in zip(figures, names, strict=True))), names)
        counted = {name: column[0].as_py() for name, column in row.items()}
        return bool(counted["odd"]) or counted["in_lower_case"] < counted["units"]

    def sizes(self) -> pa.Table:
        """The number of classes of each size."""
        whole = self._by_history([])
        names = ("rows", "lacking", "unnamed", "units")
        sizes = [whole.c[name] for name in names]
        return self._numbers(sa.select(*sizes, _count().label("classes")).group_by(*sizes), (*names, "classes"))

    def values(self, attributes: Sequence[str]) -> pa.Table:
        """The number of units with each combination of values in each class."""
        whole = self._by_history(attributes)
        names, places = ("rows", "lacking", "unnamed", "units"), range(len(attributes))
        chosen = [
            self._ranked(whole.c.history, "class"),
            *(whole.c[name] for name in names),
            *(whole.c[f"v{one}"] for one in places),
        ]
        fields = [("class", pa.int64()), *((name, pa.int64()) for name in names)]
        fields += [(name, self._arrow(name)) for name in attributes]
        return self._read(sa.select(*chosen), pa.schema(fields))

    def shares(self, attribute: str, *, in_cells: bool) -> pa.Table:
        """The number of units with each value, in each class or cell."""
        pairs = self._pairs(attribute, in_cells=in_cells)
        own = pairs.c.number, pairs.c.label, pairs.c.text
        figures = _count().label("units"), _sum(pairs.c.records).label("records")
        each = sa.select(*own, *figures, sa.func.min(pairs.c.value).label("value")).group_by(*own).subquery("shares")
        chosen = each.c.number, self._ranked(each.c.label, "label"), each.c.units, each.c.records, each.c.value
        fields = [(name, pa.int64()) for name in ("class", "label", "units", "records")]
        return self._read(sa.select(*chosen), pa.schema([*fields, (attribute, self._arrow(attribute))]))

    def members(self, attribute: str, *, in_cells: bool) -> pa.Table:
        """The number of units with any value, in each class or cell."""
        pairs = self._pairs(attribute, in_cells=in_cells)
        has = sa.func.max(_flag(pairs.c.value.is_not(None))).label("has")
        own = pairs.c.number, pairs.c.label
        units = sa.select(*own, has).group_by(*own, pairs.c.code).subquery("of_units")
        own = units.c.number, units.c.label
        each = sa.select(*own, _sum(units.c.has).label("units")).group_by(*own).subquery("members")
        chosen = each.c.number, self._ranked(each.c.label, "label"), each.c.units
        return self._numbers(sa.select(*chosen), ("class", "label", "units"))

    def _pairs(self, attribute: str, *, in_cells: bool) -> sa.Subquery:
        """The distinct values of each unit, and of each of its labels, with the number of its class and of records."""
        rows, others = self._rows([attribute]), self._rows([])
        units = (
            sa.select(others.c.code, _Joined(others.c.label).label("history")).group_by(others.c.code).subquery("units")
        )
        classes = sa.select(units.c.code, self._ranked(units.c.history, "number")).subquery("classes")
        label = (rows.c.label if in_cells else sa.literal_column("''")).label("label")
        each = (
            sa.select(classes.c.number, label, rows.c.t0.label("text"), rows.c.code, rows.c.v0)
            .select_from(rows.join(classes, rows.c.code == classes.c.code))
            .subquery("joined")
        )
        own = each.c.number, each.c.label, each.c.text, each.c.code
        value = sa.func.min(each.c.v0).label("value")
        return sa.select(*own, value, _count().label("records")).group_by(*own).subquery("pairs")

    def _ranked(self, text: Term, name: str) -> sa.Label[Any]:
        return sa.func.dense_rank().over(order_by=self._exactly(text)).label(name)

    def varying(self, attributes: Sequence[str]) -> Mapping[str, int]:
        """The number of units that have several values of each attribute."""
        rows = self._rows(attributes)
        ends = [
            (sa.func.min(rows.c[f"t{place}"]).label(f"a{place}"), sa.func.max(rows.c[f"t{place}"]).label(f"b{place}"))
            for place in range(len(attributes))
        ]
        units = sa.select(*(one for pair in ends for one in pair)).group_by(rows.c.unit).subquery("units")
        counts = [
            _total(units.c[f"a{place}"] != units.c[f"b{place}"]).label(f"n{place}") for place in range(len(attributes))
        ]
        return {name: int(column[0].as_py()) for name, column in self._only(sa.select(*counts), attributes).items()}

    def per_row(self) -> tuple[int, int]:
        """The smallest number of units among rows with equal labels, and the number of labels."""
        rows = self._rows([])
        pairs = sa.select(rows.c.unit, rows.c.label).distinct().subquery("pairs")
        each = sa.select(_count().label("units")).select_from(pairs).group_by(pairs.c.label).subquery("labels")
        least = sa.func.coalesce(sa.func.min(each.c.units), 0).label("k")
        figures = self._only(sa.select(least, _count().label("classes")), ("k", "classes"))
        return int(figures["k"][0].as_py()), int(figures["classes"][0].as_py())

    def units_joined(self, attribute: str, left_out: Sequence[str]) -> int | None:
        """The number of units of the records whose value several records have; None if units share a value."""
        cell = self._cells(attribute)
        text = self._text(cell)
        absent = [*left_out, *([] if cell.arrow == pa.string() else [*(f"{one}.0" for one in left_out), *NOT_A_NUMBER])]
        unit = self._coded(self._cells(self._unit)).label("unit")
        rows = (
            sa.select(text.label("value"), unit)
            .select_from(self._relation)
            .where(cell.value.is_not(None), text.not_in([sa.literal(one, sa.Text) for one in absent]))
            .subquery("records")
        )
        least, most = sa.func.min(rows.c.unit), sa.func.max(rows.c.unit)
        each = (
            sa.select(least.label("unit"), _flag(least != most).label("shared"), _count().label("records"))
            .group_by(rows.c.value)
            .subquery("each_value")
        )
        several = sa.func.count(sa.distinct(sa.case((each.c.records > 1, each.c.unit)))).label("units")
        figures = self._only(sa.select(_total(each.c.shared == 1).label("shared"), several), ("shared", "units"))
        return None if figures["shared"][0].as_py() else int(figures["units"][0].as_py())

    def _by_history(self, attributes: Sequence[str]) -> sa.Subquery:
        """The units with each history, and with each value of some attributes: their number, and what they share."""
        rows, places = self._rows(attributes), range(len(attributes))
        values = [sa.func.min(rows.c[f"v{place}"]).label(f"v{place}") for place in places]
        texts = [rows.c[f"t{place}"] for place in places]
        units = (
            sa.select(
                rows.c.unit,
                _count().label("rows"),
                _Joined(rows.c.label).label("history"),
                sa.func.max(rows.c.lacking).label("lacking"),
                *(text.label(f"t{place}") for place, text in enumerate(texts)),
                *values,
            )
            .group_by(rows.c.unit, *texts)
            .subquery("units")
        )
        shared = [sa.func.max(units.c[name]).label(name) for name in ("rows", "lacking")]
        unnamed = sa.func.max(_flag(units.c.unit.is_(None))).label("unnamed")
        values = [sa.func.min(units.c[f"v{place}"]).label(f"v{place}") for place in places]
        of_texts = [units.c[f"t{place}"] for place in places]
        return (
            sa.select(units.c.history, *shared, unnamed, _count().label("units"), *values)
            .group_by(units.c.history, *of_texts)
            .subquery("classes")
        )

    def _rows(self, attributes: Sequence[str]) -> sa.Subquery:
        """The rows: the unit, the label, whether a known cell is missing, and of each attribute the cell and a text."""
        known = [self._cells(name) for name in self._known]
        label = self._exactly(_concatenated([self._coded(one) for one in known])).label("label")
        lacking = _flag(sa.or_(*(self._own(one).is_(None) for one in known))).label("lacking")
        further = [self._cells(name) for name in attributes]
        own = self._cells(self._unit)
        unit, code = self._own(own).label("unit"), self._exactly(self._coded(own)).label("code")
        values = [self._own(one).label(f"v{place}") for place, one in enumerate(further)]
        texts = [self._coded(one).label(f"t{place}") for place, one in enumerate(further)]
        rows = sa.select(unit, code, label, lacking, *values, *texts).select_from(self._relation)
        return rows.subquery("records")

    def _own(self, cell: Cell) -> Term:
        """A cell's value, NULL where it counts as missing."""
        if cell.arrow == pa.bool_():
            return self._text(cell)
        if cell.arrow != pa.string():
            return cell.value
        text = self._text(cell)
        missing = [sa.literal(one, sa.Text) for one in self._missing]
        return sa.case((text.in_(missing), sa.null()), else_=text) if missing else text

    def _text(self, cell: Cell) -> Term:
        """A cell's text; two cells have the same only where they are the same value."""
        if cell.arrow == pa.string():
            return cell.value
        if cell.arrow not in (pa.float32(), pa.float64()):
            return sa.cast(cell.value, sa.Text)
        return sa.cast(cell.value + sa.literal_column("0.0"), sa.Text)  # there is one zero

    def _exactly(self, text: Term) -> Term:
        """A text that is compared byte by byte."""
        return sa.collate(text, "C")

    def _bytes(self, text: Term) -> Term:
        """The number of bytes of a text."""
        return sa.func.strlen(text) if self._dialect == "duckdb" else sa.func.octet_length(text)

    def _coded(self, cell: Cell) -> Term:
        """A cell as a part of a label: no such part begins another one."""
        text = self._text(cell)
        written = sa.cast(sa.func.length(text), sa.Text).concat(sa.literal_column("':'")).concat(text)
        if cell.arrow == pa.string() and self._missing:
            written = sa.case((text.in_([sa.literal(one, sa.Text) for one in self._missing]), sa.null()), else_=written)
        return sa.func.coalesce(written, sa.literal_column("'-'"))

    def _arrow(self, name: str) -> pa.DataType:
        """The type in which values arrive: truth values as text, of which a server has the least."""
        arrow = self._cells(name).arrow
        return pa.string() if arrow == pa.bool_() else arrow

    def _numbers(self, statement: Any, names: Sequence[str]) -> pa.Table:
        return self._read(statement, pa.schema([(name, pa.int64()) for name in names]))

    def _only(self, statement: Any, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
        """The columns of the only row of a statement."""
        table = self._numbers(statement, names)
        return dict(zip(names, table.columns, strict=True))


def _concatenated(parts: Sequence[Term]) -> Term:
    first, *others = parts
    for one in others:
        first = first.concat(one)
    return first


def _count() -> Term:
    return sa.func.count()


def _flag(condition: Term) -> Term:
    """1 where a condition holds, otherwise 0."""
    return sa.case((condition, sa.literal_column("1")), else_=sa.literal_column("0"))


def _total(condition: Term) -> Term:
    """The number of rows for which a condition holds."""
    return _sum(_flag(condition))


def _sum(number: Term) -> Term:
    return sa.cast(sa.func.coalesce(sa.func.sum(number), 0), sa.BigInteger)
