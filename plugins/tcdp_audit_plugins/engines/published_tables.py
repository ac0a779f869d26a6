"""Tables of figures as statistical offices publish them: PC-Axis (.px), JSON-stat (.json) and SDMX-CSV (.sdmx.csv).

Each becomes a table with a row for each cell: a column of labels for each dimension, and a column of figures, `value`
or `OBS_VALUE`, or one for each metric where the file says which dimension has them. Figures are texts as the file has
them. Where a figure is missing, the cell is the symbol in its place, or the code of its status.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tcdp_audit.plugin._internal import open_converted, require_names
from tcdp_audit.plugin.engine import DataError, Engine, EngineOpener, UsageError
from tcdp_audit.plugin.sentences import count

VALUE, OBSERVED = "value", "OBS_VALUE"
MOST_BYTES = 2**28  # of a file
MOST_CELLS = 5_000_000
DAMAGED = "cut off or damaged; write it again"
# Attributes of an observation that say nothing of people, which a file of SDMX may have next to its dimensions
STATUSES = ("CONF_STATUS", "OBS_STATUS", "OBS_CONF", "OBS_FLAG", "FLAG")
ATTRIBUTES = (*STATUSES, "DECIMALS", "UNIT_MEASURE", "UNIT_MULT", "TIME_FORMAT", "COLLECTION", "COMMENT_TS")
STRUCTURE = ("DATAFLOW", "STRUCTURE", "STRUCTURE_ID", "STRUCTURE_NAME", "ACTION", "LAST UPDATE")


@dataclass(frozen=True)
class Cube:
    """Figures by dimensions.

    Args:
        names: the dimensions.
        labels: of each dimension, the labels of its categories.
        figures: the figures as texts, the last dimension varying fastest; None for a missing one.
        metric: the position of the dimension whose categories are kinds of figures; None where there is one kind.
    """

    names: Sequence[str]
    labels: Sequence[Sequence[str]]
    figures: Sequence[str | None]
    metric: int | None = None

    def table(self, place: str) -> pa.Table:
        """A row for each cell.

        Raises:
            DataError: there are fewer or more figures than cells, or too many.
        """
        sizes = [len(one) for one in self.labels]
        if len(self.figures) != prod(sizes):
            raise DataError(
                f"{place}: has {count(len(self.figures), 'figure')} where its categories combine to {prod(sizes):,}"
            )
        figures = np.array([*self.figures, None], object)[:-1].reshape(sizes or [1])
        own = [place for place in range(len(sizes)) if place != self.metric]
        measures = [VALUE] if self.metric is None else list(self.labels[self.metric])
        figures = figures[..., None] if self.metric is None else np.moveaxis(figures, self.metric, -1)
        rows = prod(sizes[one] for one in own)
        columns: dict[str, pa.Array] = {}
        for axis, position in enumerate(own):
            after = prod(sizes[one] for one in own[axis + 1 :])
            codes = np.tile(np.repeat(np.arange(sizes[position]), after), rows // max(1, after * sizes[position]))
            labels = pa.array(list(self.labels[position]), pa.string())
            columns[self.names[position]] = labels.take(pa.array(codes))
        names = [*(self.names[position] for position in own), *measures]
        require_names(names, place)
        arrays = [
            *columns.values(),
            *(pa.array(figures[..., at].ravel().tolist(), pa.string()) for at in range(len(measures))),
        ]
        return pa.Table.from_arrays(arrays, names)


def open_published(path: Path, memory: int) -> Engine:
    """The embedded engine over a file of PC-Axis, JSON-stat or SDMX-CSV.

    Raises:
        UsageError: the file does not exist, or is too large.
        DataError: it is damaged, or says something that a table of figures cannot hold.

    Cost: the file and its cells in memory.
    """
    if not path.is_file():
        raise UsageError(f"{path}: {'is a folder; name a file' if path.is_dir() else 'no such file'}")
    if path.stat().st_size > min(MOST_BYTES, memory):
        raise UsageError(f"{path}: is larger than 256 MB or --memory; publish fewer dimensions together")
    read = next(read for ending, read in READERS.items() if path.name.lower().endswith(ending))

    def convert(folder: Path) -> Path:
        from pyarrow import parquet  # noqa: PLC0415 - late, as everything large

        target = folder / "release.parquet"
        parquet.write_table(read(path), target)
        return target

    return open_converted(convert, path, memory)


def _require_cells(sizes: Sequence[int], path: Path) -> None:
    if prod(sizes) > MOST_CELLS:
        raise DataError(
            f"{path}: its categories combine to {count(prod(sizes), 'cell')}; at most {MOST_CELLS:,} are read"
        )


def _labels(labels: Sequence[str], codes: Sequence[str]) -> Sequence[str]:
    """The labels of a dimension's categories; their codes where two have one label."""
    return labels if len(set(labels)) == len(labels) or len(codes) != len(labels) else codes


# PC-Axis: statements such as VALUES("sex")="men","women"; of which DATA is the last

_TEXT = r'"(?:[^"]|"")*+"'  # a quote in a text is doubled
_STATEMENT = re.compile(
    rf'\s*+([A-Z][A-Z0-9-]*+)(\[[^\]]*+\])?(\((?:{_TEXT}|[^")])*+\))?\s*+=((?:{_TEXT}|[^";])*+);', re.DOTALL
)
_VALUE = re.compile(rf"(?:{_TEXT}\s*+)++|[^,\s\"]++")
_FIGURE = re.compile(rf'{_TEXT}|[^\s,;"]+')
_CODEPAGE = re.compile(rb'CODEPAGE="([A-Za-z0-9_-]+)"')


def read_px(path: Path) -> pa.Table:
    """The cells of a PC-Axis file, by the texts of its default language; a symbol such as `..` is its own text."""
    statements = dict(_statements(_px_text(path), path))
    if "KEYS" in {name for name, _ in statements}:
        raise DataError(f"{path}: has figures by key (KEYS); save it as a full matrix")
    texts = {key: [_unquoted(one) for one in _VALUE.findall(value)] for key, value in statements.items()}
    names = [*texts.get(("STUB", ""), []), *texts.get(("HEADING", ""), [])]
    missing = [name for name in names if not texts.get(("VALUES", name))]
    if not names or missing or ("DATA", "") not in statements:
        raise DataError(f"{path}: is no PC-Axis file with STUB or HEADING, their VALUES, and DATA")
    labels = [_labels(texts["VALUES", name], texts.get(("CODES", name), [])) for name in names]
    _require_cells([len(one) for one in labels], path)
    figures = [_unquoted(one) or None for one in _FIGURE.findall(statements["DATA", ""])]
    metric = next((names.index(one) for one in texts.get(("CONTVARIABLE", ""), []) if one in names), None)
    return Cube(names, labels, figures, metric).table(str(path))


def _px_text(path: Path) -> str:
    content, declared = path.read_bytes(), EngineOpener.text_form().encoding
    page = _CODEPAGE.search(content)
    named = declared or (page[1].decode() if page is not None else "")
    usual = "cp1252" if b'CHARSET="ANSI"' in content else "cp850"  # of DOS, where nothing is said
    for encoding in [named] if named else ["utf-8-sig", usual]:
        try:
            return content.decode("utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    raise DataError(f"{path}: the text is not {named or 'UTF-8'}, as {'read_as' if declared else 'CODEPAGE'} says")


def _statements(text: str, path: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """The statements without a language, each by its keyword and the variable that it is about."""
    position = 0
    while match := _STATEMENT.match(text, position):
        position = match.end()
        about = _VALUE.search(match[3].strip("()")) if match[3] else None
        if match[2] is None:
            yield (match[1], _unquoted(about[0]) if about else ""), match[4]
    if text[position:].strip().strip("\x1a"):
        line = 1 + text.count("\n", 0, position) + (text[position : position + 1] in "\r\n")
        raise DataError(f"{path}:{line}: no statement of PC-Axis begins here, or it has no semicolon; {DAMAGED}")


def _unquoted(text: str) -> str:
    """A text without its quotes; several in a row, over lines, are one."""
    parts = re.findall(_TEXT, text)
    return "".join(one[1:-1].replace('""', '"') for one in parts) if parts else text.strip()


# JSON-stat: a dataset with the ids and sizes of its dimensions, and values in their order


def read_json_stat(path: Path) -> pa.Table:
    """The cells of a JSON-stat dataset; where a value is null, the cell is its status."""
    data: Any = None
    try:
        data = json.loads(path.read_bytes().decode("utf-8-sig"), parse_float=str, parse_int=str, parse_constant=str)
    except (ValueError, RecursionError):
        raise DataError(f"{path}: is no JSON in UTF-8, or {DAMAGED}") from None
    if isinstance(data, dict) and isinstance(data.get("dataset"), dict):  # version 1
        data = data["dataset"]
    try:
        cube = _cube_of(data, path)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        cube = None
    if cube is None:
        raise DataError(
            f"{path}: is no dataset of JSON-stat, which has `id`, `size`, `dimension` and `value`; of a collection, "
            "save each dataset; save records as .jsonl"
        )
    return cube.table(str(path))


def _cube_of(data: Mapping[str, Any], path: Path) -> Cube:
    dimension = data["dimension"]
    ids = [str(one) for one in data.get("id") or dimension["id"]]
    sizes = [int(one) for one in data.get("size") or dimension["size"]]
    labels = [_categories(dimension[one]["category"]) for one in ids]
    if [len(one) for one in labels] != sizes:
        raise DataError(f"{path}: the size of a dimension is not its number of categories; {DAMAGED}")
    _require_cells(sizes, path)
    roles = data.get("role") or dimension.get("role") or {}
    metric = next((ids.index(str(one)) for one in roles.get("metric", ()) if str(one) in ids), None)
    values, statuses = (_in_order(data.get(key), prod(sizes)) for key in ("value", "status"))
    figures = [status if value is None else value for value, status in zip(values, statuses, strict=True)]
    return Cube(ids, labels, figures, metric)


def _categories(category: Mapping[str, Any]) -> Sequence[str]:
    """The labels of a dimension's categories in their order."""
    index, label = category.get("index"), category.get("label") or {}
    if isinstance(index, Mapping):
        codes = sorted(map(str, index), key=lambda code: int(index[code]))
    else:
        codes = [str(one) for one in (index if index is not None else label)]
    return _labels([str(label.get(code, code)) for code in codes], codes)


def _in_order(values: Any, cells: int) -> list[str | None]:
    """Values or statuses of all cells, from a list, from those that are there by position, or one of all."""
    if isinstance(values, Mapping):
        listed: list[Any] = [None] * cells
        for position, value in values.items():
            listed[int(position)] = value
    elif isinstance(values, str) or values is None:
        listed = [values] * cells
    else:
        listed = list(values)
    return [None if one is None or one == "" else str(one) for one in listed]


# SDMX-CSV: a row for each observation


def read_sdmx_csv(path: Path) -> pa.Table:
    """The cells of an SDMX-CSV file without columns on the file itself; a status replaces a missing value."""
    rows: list[list[str]] = []
    try:
        rows = [*csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"), newline=""), strict=True)]
    except (UnicodeDecodeError, csv.Error):
        raise DataError(f"{path}: is no CSV file in UTF-8 with commas, as SDMX-CSV is; {DAMAGED}") from None
    names = rows[0] if rows else []
    columns = [one.partition(":")[0].strip() for one in names]
    if OBSERVED not in columns:
        raise DataError(f"{path}: has no column {OBSERVED}, which every SDMX-CSV file has; name other tables .csv")
    wrong = next((line for line, row in enumerate(rows, 1) if len(row) != len(names)), None)
    if wrong is not None:
        raise DataError(f"{path}:{wrong}: the record has another number of cells than the header")
    cells = {name: [row[place] for row in rows[1:]] for place, name in enumerate(columns)}
    require_names(columns, str(path))
    _require_one_table(cells, path)
    statuses = [cells[name] for name in STATUSES if name in cells]
    cells[OBSERVED] = [
        value or next((status[row] for status in statuses if status[row]), "")
        for row, value in enumerate(cells[OBSERVED])
    ]
    own = [name for name in columns if name not in (*STRUCTURE, *ATTRIBUTES)]
    return pa.table({name: pa.array([cell or None for cell in cells[name]], pa.string()) for name in own})


def _require_one_table(cells: Mapping[str, Sequence[str]], path: Path) -> None:
    """Refuse a file of several tables, of deletions, or of figures in thousands."""
    for name in ("DATAFLOW", "STRUCTURE_ID"):
        if len(set(cells.get(name, ()))) > 1:
            raise DataError(f"{path}: has observations of several tables ({name}); write each into its own file")
    if set(cells.get("ACTION", ())) & {"D", "Delete"}:
        raise DataError(f"{path}: has rows that delete observations (ACTION); write the table that is published")
    if set(cells.get("UNIT_MULT", ())) - {"", "0"}:
        raise DataError(f"{path}: has figures in tens, thousands or the like (UNIT_MULT); write them in units")


READERS: Mapping[str, Callable[[Path], pa.Table]] = {
    ".px": read_px,
    ".json": read_json_stat,
    ".sdmx.csv": read_sdmx_csv,
}
