"""Questions on classes: every table, measure and mistake that are worth a vector."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import count
from math import floor
from pathlib import Path
from typing import Any, NamedTuple

from vectors.make import papers
from vectors.make.measure_mistakes import is_irrational, mistakes_of, nearest
from vectors.make.reading_mistakes import READING, applies
from vectors.make.table_mistakes import TABLE_MISTAKES
from vectors.make.tables import QUASI, TREE, Case
from vectors.reading import Vector, header, rows
from vectors.reference.answers import answer, threshold_of, value_of
from vectors.reference.class_measures import CLASS_MEASURES
from vectors.reference.classes import judge
from vectors.reference.values import Value, keeps, size, written

PER_MEASURE = 30
WHOLE = {"k_anonymity", "p_sensitive_k_anonymity", "distinct_l_diversity", "background_knowledge"}
WITHOUT_ATTRIBUTE = {"k_anonymity", "sample_uniqueness", "reidentification_risk"}
SCALES = {
    "t_closeness_ordered": "ordinal",
    "t_closeness_numeric": "numeric",
    "t_closeness_hierarchical": "tree",
}
SOURCES = {
    "k_anonymity": "Samarati, Protecting respondents' identities, TKDE 13(6), 2001, definition 2.1",
    "alpha_k_anonymity": "Wong, Li, Fu, Wang, (alpha,k)-Anonymity, KDD 2006",
    "p_sensitive_k_anonymity": "Truta, Vinay, p-sensitive k-anonymity property, ICDE workshops 2006",
    "distinct_l_diversity": "Machanavajjhala and others, l-Diversity, TKDD 1(1), 2007",
    "entropy_l_diversity": "Machanavajjhala and others, l-Diversity, TKDD 1(1), 2007, definition 4.1",
    "recursive_cl_diversity": "Machanavajjhala and others, l-Diversity, TKDD 1(1), 2007, definition 4.2",
    "basic_beta_likeness": "Cao, Karras, PVLDB 5(11), 2012, basic beta-likeness",
    "enhanced_beta_likeness": "Cao, Karras, PVLDB 5(11), 2012, enhanced beta-likeness",
    "delta_disclosure": "Brickell, Shmatikov, The cost of privacy, KDD 2008",
    "skewness": f"{papers.LI}, section 3",
    "background_knowledge": "Torra, Guide to Data Privacy, Springer 2022",
    "homogeneity": "Machanavajjhala and others, l-Diversity, TKDD 1(1), 2007, homogeneity attack",
    "sample_uniqueness": "Bethlehem, Keller, Pannekoek, JASA 85(409), 1990",
    "reidentification_risk": "El Emam, Guide to the De-Identification of Personal Health Information, 2013",
    "t_closeness_multiplicative": f"{papers.DS}, definition 4",
    **{f"t_closeness_{one}": f"{papers.LI}, definition 1" for one in ("equal", "ordered", "hierarchical")},
    "t_closeness_numeric": f"{papers.LI}, definition 1, with the numbers' differences as ground distance",
}
OF_REFERENCE = {
    *(name for name in CLASS_MEASURES if name.startswith("t_closeness")),
    "basic_beta_likeness",
    "enhanced_beta_likeness",
    "delta_disclosure",
    "skewness",
}
MEASURES = [*CLASS_MEASURES, *TABLE_MISTAKES]


class Caught(NamedTuple):
    """What a mistake makes of a question."""

    name: str
    sentence: str
    question: Vector
    value: Any
    verdict: str


class Generator:
    """Writes tables into a folder and asks about them."""

    def __init__(self, folder: Path, scratch: Path) -> None:
        """Keep both.

        Args:
            folder: of the vectors.
            scratch: for tables as a mistake reads them.
        """
        self.folder, self.scratch, self.numbers = folder, scratch, count()

    def questions(self, measure: str, case: Case) -> Iterator[Vector]:
        """What a measure asks about a table; nothing if it has not the column for it."""
        attribute = None if measure in WITHOUT_ATTRIBUTE else "cost" if measure == "t_closeness_numeric" else "stage"
        if not _has_an_answer(measure, case, attribute):
            return
        declared = {**case.declared, "attributes": self._attributes(measure, case, attribute)}
        base: dict[str, Any] = {} if attribute is None else {"attribute": attribute}
        vector = Vector("", f"../tables/{case.name}.csv", declared, measure, base, case.conventions, "", "", {},
                        SOURCES[measure], folder=self.folder / measure)  # fmt: skip
        if measure == "reidentification_risk":
            yield vector
            if "unit" not in case.declared:
                yield _with(vector, measure="average")
                for risk in ("1/5", "0.09", "1/3", "0.332"):
                    yield _with(vector, measure="share_above", threshold_risk=risk)
        elif measure == "recursive_cl_diversity":
            yield _with(vector, l="2")
            yield _with(vector, l="3")
        elif measure == "skewness":
            values = {row["stage"] for row in rows(vector.path)} - {"", "*", "-"}
            order = [one for one in case.order if one in values]
            if order:
                yield _with(vector, sensitive_values=[order[-1]])
        else:
            yield vector

    def _attributes(self, measure: str, case: Case, attribute: str | None) -> dict[str, Any]:
        scales: dict[str, dict[str, Any]] = {
            "nominal": {"scale": "nominal"},
            "numeric": {"scale": "numeric"},
            "ordinal": {"scale": "ordinal", "order": list(case.order)},
            "tree": {"scale": "nominal", "hierarchy": TREE},
        }
        scale = scales[SCALES.get(measure, "nominal")]
        if "distribution" in case.parameters:
            scale = {**scale, "distribution": case.parameters["distribution"]}
            if scale["distribution"] == "uniform" and "order" not in scale:
                scale["distribution"] = dict.fromkeys(case.order, "1")
        if attribute == "cost" and isinstance(scale.get("distribution"), Mapping):
            numbers = {"low": "5", "middle": "10", "high": "100", "severe": "1000"}
            scale["distribution"] = {numbers[v]: weight for v, weight in scale["distribution"].items()}
        attributes: dict[str, Any] = {}
        for name in case.columns:
            if name in case.quasi_identifiers:
                attributes[name] = QUASI
            elif name == attribute:
                attributes[name] = {"role": "sensitive", **scale}
            else:
                attributes[name] = case.attributes.get(name, {"role": "insensitive", "scale": "nominal"})
        return attributes

    def caught(self, question: Vector) -> Iterator[Caught]:
        """Every mistake that changes the answer of a question, with the threshold at which it changes the verdict."""
        for name, mistake in READING.items():
            if not applies(name, question):
                continue
            wrong = question if mistake.of is None else mistake.of(question)
            if mistake.rows is not None:
                wrong = replace(wrong, table=str(self._written(wrong, mistake.rows(rows(question.path), question))))
            yield from self._compared(question, name, mistake.sentence, lambda one=wrong: value_of(one), wrong)
        own = {**TABLE_MISTAKES.get(question.measure, {}), **(mistakes_of(question.measure) if question.measure in
               CLASS_MEASURES else {})}  # fmt: skip
        for name, error in own.items():
            yield from self._compared(question, name, error.sentence, lambda one=error: one.value(question), None)

    def _written(self, vector: Vector, table: Any) -> Path:
        path = self.scratch / f"{next(self.numbers)}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, header(vector.path), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
        return path

    def _compared(
        self, question: Vector, name: str, sentence: str, value: Any, other: Vector | None
    ) -> Iterator[Caught]:
        right = _right(question)
        if right == "undefined":
            return
        try:
            wrong: Any = "undefined" if other is not None and _right(other) == "undefined" else value()
        except (ArithmeticError, LookupError, ValueError, TypeError):
            return
        if wrong == "undefined" or written(wrong) == written(right):
            if name == "passes_what_lacks_cells" and wrong != "undefined":
                yield from self._judged(question, name, sentence, right)
            return
        threshold = between(question.measure, right, wrong)
        asked = question if threshold is None else _with(question, **threshold)
        yield Caught(name, sentence, asked, written(wrong), _verdict_of(asked, wrong))

    def _judged(self, question: Vector, name: str, sentence: str, right: Value) -> Iterator[Caught]:
        loose = _loose(question.measure, right)
        if loose is not None:
            yield Caught(name, sentence, _with(question, **loose), written(right), "pass")

    def thresholds(self, question: Vector) -> Iterator[Caught]:
        """Mistakes in comparing: the threshold itself, and figures that were rounded."""
        name, comparison = threshold_of(question.measure)
        right = _right(question)
        if right in {"undefined", None} or size(right) in {0, 1} or is_irrational(right):
            return
        at = _with(question, **{name: str(right)})
        verdict = answer(at)[1]
        flipped = {"pass": "fail", "fail": "pass"}[verdict]
        sentence = f"decides a figure at the threshold the other way: it is kept if figure {comparison} threshold"
        yield Caught("moves_the_threshold", sentence, at, written(right), flipped)
        for digits in (1, 2, 3):
            near = nearest(right, digits)
            if near in {right, 0, 1} or keeps(right, comparison, near) == keeps(near, comparison, near):
                continue
            asked = _with(question, **{name: str(near)})
            if answer(asked)[1] == "fail":
                yield Caught("rounds_before_it_compares", f"rounds to {digits} decimals before it compares", asked,
                             written(right), "pass")  # fmt: skip
                break

    def undefined(self, question: Vector) -> Iterator[Caught]:
        """A table without a record to judge is never a pass."""
        if _right(question) == "undefined":
            name, comparison = threshold_of(question.measure)
            loose = "2" if comparison == ">=" else "9/10"
            if question.measure in {"t_closeness_multiplicative", "recursive_cl_diversity", "skewness"}:
                loose = "2"
            asked = _with(question, **{name: loose})
            yield Caught("passes_nothing", "passes a table without a record to judge", asked, "infinite", "pass")


def _has_an_answer(measure: str, case: Case, attribute: str | None) -> bool:
    """Whether a table has what a measure asks about, and one right answer to it."""
    conventions = case.conventions
    return not (
        (attribute and attribute not in case.secrets)
        # a missing or suppressed value, or a pair, has no place in an order or a tree
        or (measure in SCALES and conventions.get("missing_sensitive") == "own_category")
        or (measure in SCALES and case.name.startswith("suppressed"))
        or (measure in {*SCALES, "skewness"} and conventions.get("multiple_sensitive") == "joint")
        or ("reference" in conventions and measure not in OF_REFERENCE)
        # whose average is over every record, or over those that are left, is a choice without a source
        or (measure == "reidentification_risk" and "suppressed" in conventions)
        or (attribute is None and {"missing_sensitive", "multiple_sensitive"} & {*conventions})
    )


def _with(vector: Vector, **parameters: Any) -> Vector:
    return replace(vector, parameters={**vector.parameters, **parameters})


def _right(vector: Vector) -> Any:
    table = rows(vector.path)
    return "undefined" if not table or judge(vector) is None else value_of(vector)


def between(measure: str, one: Value, other: Value) -> dict[str, str] | None:
    """A threshold that one of two figures keeps and the other does not."""
    name, comparison = threshold_of(measure)
    low, high = sorted((one, other), key=size)
    if measure in WHOLE:
        step = floor(size(low)) + 1
        return {name: str(step)} if step >= 2 and size(high) >= step else None
    if low is None:
        return None
    if high is None:
        middle = nearest(low, 2) + 1
    elif comparison == ">=" and measure == "entropy_l_diversity" and size(low) < 1:
        middle = max(Fraction(1), nearest(high, 3) - Fraction(1, 1000))
    else:
        middle = Fraction((size(low) + size(high)) / 2)
        for digits in range(1, 12):
            near = nearest(Fraction((size(low) + size(high)) / 2), digits)
            if size(low) < size(near) < size(high):
                middle = near
                break
    smallest, largest = BOUNDS.get(measure, (Fraction(0), Fraction(1)))
    return {name: str(middle)} if smallest < middle < largest else None


BOUNDS = {
    **dict.fromkeys(
        ["basic_beta_likeness", "enhanced_beta_likeness", "delta_disclosure", "recursive_cl_diversity", "skewness"],
        (Fraction(0), Fraction(10**6)),
    ),
    "t_closeness_multiplicative": (Fraction(1), Fraction(10**6)),
    "entropy_l_diversity": (Fraction(1), Fraction(10**6)),
}


def _loose(measure: str, right: Value) -> dict[str, str] | None:
    """A threshold that a figure keeps, and that some figure would not."""
    name, comparison = threshold_of(measure)
    if right is None:
        return None
    if comparison == ">=":
        return {name: str(right)} if size(right) >= 2 and isinstance(right, Fraction) else None
    top = BOUNDS.get(measure, (Fraction(0), Fraction(1)))[1]
    found = nearest(right, 2) + Fraction(1, 10)
    return {name: str(found)} if found < top else None


def _verdict_of(vector: Vector, wrong: Value) -> str:
    name, comparison = threshold_of(vector.measure)
    if name not in vector.parameters:
        return ""
    return "pass" if keeps(wrong, comparison, Fraction(vector.parameters[name])) else "fail"
