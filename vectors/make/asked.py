"""A question written by hand, with its tables and the mistake that it catches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from vectors.make.generic import Caught
from vectors.make.tables import QUASI, table
from vectors.reading import Vector
from vectors.reference.answers import TABLE_MEASURES, threshold_of, value_of
from vectors.reference.values import Value, keeps, written

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Asked:
    """A question.

    Args:
        measure: what is asked.
        name: of its table.
        text: of its table.
        declared: of the table.
        parameters: of the measure.
        mistake: its name.
        sentence: what a tool that makes it does.
        wrong: its figure; or the question that such a tool answers, as what is replaced.
        source: of the definition.
        conventions: where they differ from the defaults.
        companions: other tables, by the names of their files.
    """

    measure: str
    name: str
    text: str
    declared: Mapping[str, Any]
    parameters: Mapping[str, Any]
    mistake: str
    sentence: str
    wrong: Value | str | Mapping[str, Any] | Callable[[Vector], Value]
    source: str
    conventions: Mapping[str, Any] = field(default_factory=dict)
    companions: Mapping[str, str] = field(default_factory=dict)

    def caught(self, root: Path, folder: str) -> Caught:
        """The question with its tables written, and what the mistake answers."""
        for name, text in {self.name: self.text, **self.companions}.items():
            (root / "tables" / f"{name}.csv").write_text(text, encoding="utf-8", newline="")
        (root / folder).mkdir(exist_ok=True)
        vector = Vector("", f"../tables/{self.name}.csv", self.declared, self.measure, self.parameters,
                        self.conventions, "", "", {}, self.source, folder=root / folder)  # fmt: skip
        wrong = self._wrong(vector, root)
        if isinstance(wrong, str):
            return Caught(self.mistake, self.sentence, vector, wrong, "")
        verdict = ""
        threshold = threshold_of(self.measure)[0]
        if threshold and threshold in self.parameters:
            comparison = TABLE_MEASURES[self.measure].comparison if self.measure in TABLE_MEASURES else ">="
            verdict = "pass" if keeps(wrong, comparison, Fraction(self.parameters[threshold])) else "fail"
        return Caught(self.mistake, self.sentence, vector, written(wrong), verdict)

    def _wrong(self, vector: Vector, root: Path) -> Value | str:
        if isinstance(self.wrong, Mapping):
            changed = dict(self.wrong)
            if "text" in changed:
                path = root / "tables" / f".{self.name}.csv"
                path.write_text(changed.pop("text"), encoding="utf-8", newline="")
                changed["table"] = f"../tables/.{self.name}.csv"
            value = value_of(replace(vector, **changed))
            if "table" in changed:
                path.unlink()
            return value
        return self.wrong(vector) if callable(self.wrong) else self.wrong


def quasi(*names: str, **others: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes: some quasi-identifiers, and others as declared."""
    return {**dict.fromkeys(names, QUASI), **others}


def repeated(columns: Sequence[str], *counts: tuple[Any, int]) -> str:
    """A table in which each row stands so many times."""
    return table(columns, [([row] if isinstance(row, str) else list(row)) for row, n in counts for _ in range(n)])


def written_out(asked: Iterable[Asked], root: Path) -> dict[str, list[Caught]]:
    """Questions by the folder of their measure."""
    found: dict[str, list[Caught]] = {}
    for one in asked:
        folder = "k_anonymity_of_histories" if one.measure == "k_anonymity" else one.measure
        found.setdefault(folder, []).append(one.caught(root, folder))
    return found
