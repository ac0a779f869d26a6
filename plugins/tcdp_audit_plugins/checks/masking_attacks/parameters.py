"""Parameters of attacks on masked releases, why an attribute cannot be compared, and matrices of numbers with labels.

A matrix, which a masking declares of itself, is in the policy or in a CSV file.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tcdp_audit.plugin._internal import Floats
from tcdp_audit.plugin.check import Parameters
from tcdp_audit.plugin.detector import Exact, PolicyDocument, Role, Scale, Text
from tcdp_audit.plugin.engine import CheckError
from tcdp_audit_plugins.checks._shared.known_attributes import (
    known_attributes,
    quasi_identifiers_of,
    why_unknown,
    without_key,
)

BY_DEFAULT = 40_000  # distinct records up to which a release is attacked without being asked: a minute of a processor
Direction = Literal["masked_to_original", "original_to_masked"]


class AttackParameters(Parameters):
    """Parameters of every attack on candidate sets."""

    at_most: Annotated[Exact | None, Field(ge=0, le=1, description="The largest share of people who may be found.")] = (
        None
    )
    links: Annotated[
        Literal["certain", "expected"],
        Field(description="Which links are counted: certain ones, or right ones by guessing among the candidates."),
    ] = "certain"
    closure: Annotated[
        bool, Field(description="Whether candidates are ruled out that no one-to-one matching of all people leaves.")
    ] = True
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that the intruder knows; without it, all quasi-identifiers."),
    ] = None


class LikelihoodParameters(Parameters):
    """Parameters of every attack by likelihood."""

    at_most: Annotated[
        Exact | None, Field(ge=0, le=1, description="The largest share of records that may be linked correctly.")
    ] = None
    attributes: Annotated[
        list[Text] | None,
        Field(min_length=1, description="The attributes that the intruder knows; without it, all quasi-identifiers."),
    ] = None
    direction: Annotated[
        Direction, Field(description="Which records are linked: released ones to known ones, or the reverse.")
    ] = "masked_to_original"
    probability: Annotated[
        Exact, Field(ge=0, lt=1, description="People with a posterior above this are candidates for a released record.")
    ] = Fraction(1, 10)
    limit: Annotated[
        int, Field(ge=2, description="The most distinct records of a table; time grows with the square.")
    ] = 100_000


def ordered_attributes(parameters: AttackParameters, document: PolicyDocument) -> list[str]:
    """The attributes that are named, else all ordered quasi-identifiers; sorted."""
    own = (name for name in without_key(document) if not why_unordered(name, document))
    return known_attributes(parameters.attributes, own)


def ordered_faults(parameters: AttackParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Report attributes that cannot be ranked: (parameter, sentence)."""
    for name in sorted(set(parameters.attributes or [])):
        reason = why_not_released(name, document) or why_unordered(name, document)
        if reason:
            yield "attributes", reason
    if not ordered_attributes(parameters, document):
        yield (
            "",
            "no quasi-identifier is numeric, or ordinal with an `order`, so that none has ranks; name `attributes`",
        )


def why_not_released(name: str, document: PolicyDocument) -> str:
    """The reason why an intruder cannot compare an attribute with the release; empty where one can."""
    reason = why_unknown(name, document)
    if not reason and document.attributes[name].role is Role.IDENTIFIER:
        return f"{name!r} is an identifier, which is not released; leave it out"
    return reason


def why_unordered(name: str, document: PolicyDocument) -> str:
    """The reason why an attribute has no ranks; empty where it has."""
    declaration = document.attributes[name]
    if declaration.scale is Scale.NUMERIC or (declaration.scale is Scale.ORDINAL and declaration.order is not None):
        return ""
    example = f"{name}: {{role: {declaration.role.value}, scale: numeric}}"
    return f"{name!r} has no order, so its values have no ranks; declare its scale, for example `{example}`"


def unknown_attributes(parameters: LikelihoodParameters, document: PolicyDocument) -> Iterator[tuple[str, str]]:
    """Report attributes that no intruder can know: (parameter, sentence)."""
    for name in known_attributes(parameters.attributes, quasi_identifiers_of(document)):
        reason = why_unknown(name, document)
        if reason:
            yield "attributes", reason


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
