"""Vectors and their tables, as files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
CASES = ROOT / "cases"
Row = Mapping[str, str]


@dataclass(frozen=True)
class Vector:
    """A question with one right answer.

    Args:
        id: the measure and a number.
        table: the table's path, from the folder of the vector's file.
        declared: what a publisher says of the table: `attributes`, and where they matter `unit`, `weight`,
            `population`, `original`, `key`, `sampling_fraction`.
        measure: what is asked, a section of README.md.
        parameters: of the measure; numbers as texts, so that none is rounded.
        conventions: where they differ from the defaults of README.md.
        answer: a fraction, `infinite`, `undefined`, or an interval that holds an irrational figure.
        verdict: `pass` or `fail`, where a parameter is a threshold; empty otherwise.
        catches: a mistake, and what a tool that makes it answers.
        source: where the definition or the figure stands.
        confirmed_by: implementations apart from tcdp-audit that give this answer.
        folder: where the file is.
        licence: CC0-1.0.
        readings: other documented definitions of the measure, and their answers.
    """

    id: str
    table: str
    declared: Mapping[str, Any]
    measure: str
    parameters: Mapping[str, Any]
    conventions: Mapping[str, Any]
    answer: str | Mapping[str, str]
    verdict: str
    catches: Mapping[str, Any]
    source: str
    confirmed_by: Sequence[str] = ()
    folder: Path = CASES
    licence: str = "CC0-1.0"
    readings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The table."""
        return self.folder / self.table

    def document(self) -> dict[str, Any]:
        """The file's content."""
        names = "id table declared measure parameters conventions answer verdict catches readings source licence"
        document = {name: getattr(self, name) for name in [*names.split(), "confirmed_by"]}
        return {name: value for name, value in document.items() if value or name not in {"verdict", "readings"}}


def load(root: Path = CASES) -> list[Vector]:
    """Every vector below a folder, by its id."""
    return sorted((read(path) for path in root.rglob("*.json")), key=lambda one: one.id)


def read(path: Path) -> Vector:
    """The vector in a file."""
    document = json.loads(path.read_text(encoding="utf-8"))
    return Vector(**{"verdict": "", "folder": path.parent, **document})


@cache
def rows(path: Path) -> tuple[Row, ...]:
    """The rows of a table, every cell as the text that it is."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file, strict=True))


def header(path: Path) -> list[str]:
    """The columns of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file))


def is_answer(vector: Vector, text: str) -> bool:
    """Whether a figure is the vector's answer: as a fraction, or as a float to 11 digits."""
    if isinstance(vector.answer, str) and not vector.answer[:1].isdigit():
        return text == vector.answer
    if text in {"infinite", "undefined"}:
        return False
    return any(_agree(text, right) for right in _ends(vector.answer))


def _ends(answer: str | Mapping[str, str]) -> Iterator[Fraction]:
    yield from [Fraction(answer)] if isinstance(answer, str) else [Fraction(answer["low"]), Fraction(answer["high"])]


def _agree(text: str, right: Fraction) -> bool:
    is_float = any(mark in text for mark in ".e")
    return abs(Fraction(text) - right) <= (max(abs(right), Fraction(1, 1000)) / 10**11 if is_float else 0)
