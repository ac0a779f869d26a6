"""Matrices of numbers with labelled rows and columns, in CSV files: what a masking declares of itself."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.engine import CheckError


@dataclass(frozen=True)
class LabelledMatrix:
    """A matrix as its file has it."""

    name: str  # what messages call it
    rows: Sequence[str]  # the labels of its rows
    columns: Sequence[str]  # the labels of its columns
    numbers: Floats  # float64, finite, shape (rows, columns)
    # the same as fractions, a row each; None where the numbers are decimals in a file
    typed: Sequence[Sequence[Fraction]] | None = None

    def fractions(self, row: int) -> Sequence[Fraction]:
        """A row exactly: the shortest decimals that float64 takes for the same numbers, which are those of the file."""
        if self.typed is not None:
            return self.typed[row]
        return [Fraction(repr(one)) for one in self.numbers[row].tolist()]


def matrix_of(lines: Mapping[str, Mapping[str, Fraction]], name: str) -> LabelledMatrix:
    """A matrix in a policy; what a line does not name is 0.

    Example:
        >>> matrix_of({"m": {"m": Fraction(1)}, "f": {"m": Fraction(1, 2), "f": Fraction(1, 2)}}, "it").numbers.tolist()
        [[0.0, 1.0], [0.5, 0.5]]
    """
    columns = sorted({label for line in lines.values() for label in line})
    typed = [[line.get(label, Fraction(0)) for label in columns] for line in lines.values()]
    return LabelledMatrix(name, list(lines), columns, np.array(typed, np.float64), typed)


def read_matrix(path: Path, name: str) -> LabelledMatrix:
    """Read a CSV file: the first line has the labels of columns, and every further line a label and its numbers.

    Cells are parted by semicolons where the first line has one, otherwise by commas; its first cell may be anything.

    Raises:
        CheckError: it cannot be read, or is no such matrix; the message names a line and no label.
    """
    head, *body = _lines(path, name)
    columns = [label.strip() for label in head[1][1:]]
    for number, cells in body:
        if len(cells) != len(columns) + 1:
            raise CheckError(f"{name}: line {number} has {len(cells):,} cells, and the first has {len(columns) + 1:,}")
    rows = [cells[0].strip() for _, cells in body]
    if not rows or not columns:
        raise CheckError(f"{name}: there are no numbers in it; write a line of labels, then one line for each value")
    for labels, what in ((rows, "line"), (columns, "column")):
        if max(Counter(labels).values()) > 1:
            raise CheckError(f"{name}: two {what}s have the same label; leave one of them")
    return LabelledMatrix(name, rows, columns, np.array([_numbers(cells[1:], number, name) for number, cells in body]))


def _lines(path: Path, name: str) -> list[tuple[int, list[str]]]:
    """Every line that is not empty, with its number."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CheckError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise CheckError(f"{name} is not UTF-8 text (byte {error.start:,}); save it as UTF-8") from None
    delimiter = ";" if ";" in text.lstrip("\r\n").partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        raise CheckError(f"{name}: line {reader.line_num} is not CSV: {error}") from None
    return lines or [(1, [])]


def _numbers(cells: Sequence[str], line: int, name: str) -> list[float]:
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        raise CheckError(f"{name}: line {line} has a cell after its label that is no number") from None
    if not np.isfinite(numbers).all():
        raise CheckError(f"{name}: line {line} has a number that is not finite")
    return numbers
