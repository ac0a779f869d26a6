"""Tables whose classes are written down: what is in them, and why they are asked about."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STAGES = {"L": "low", "M": "middle", "H": "high", "S": "severe", "F": "fatal", ".": "", "*": "*"}
COSTS = {"L": "5", "M": "10", "H": "100", "S": "1000", "F": "2000", ".": ""}
ORDER = ("low", "middle", "high", "severe")
TREE = {"*": {"mild": ["low", "middle"], "grave": ["high", "severe"]}}
QUASI = {"role": "quasi_identifier", "scale": "nominal"}
PAPERS = Path(__file__).parents[2] / "examples" / "papers"


@dataclass(frozen=True)
class Case:
    """A table and what is declared of it.

    Args:
        name: of its file.
        text: the file.
        quasi_identifiers: its columns that an intruder may know.
        conventions: where they differ from the defaults.
        declared: what else is declared, beside attributes.
        attributes: of columns that are neither quasi-identifiers nor `stage` or `cost`.
        order: of stages, where it is not the usual one.
        secrets: the sensitive columns that the table has.
        source: where the table is printed.
        parameters: that questions about it have.
    """

    name: str
    text: str
    quasi_identifiers: Sequence[str] = ("ward",)
    conventions: Mapping[str, Any] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    order: Sequence[str] = ORDER
    secrets: Sequence[str] = ("stage", "cost")
    source: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Of the table, in its order."""
        return next(csv.reader(io.StringIO(self.text)))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Comma-separated text with a header."""
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([columns, *rows])
    return file.getvalue()


def case(name: str, classes: Mapping[Any, str], *, costs: Mapping[str, str] = COSTS, **more: Any) -> Case:
    """A table from its classes: the cells that their records share, and a letter for the stage of each record."""
    names = list(more.get("quasi_identifiers", ["ward"]))
    rows = []
    for key, letters in classes.items():
        cells = [key] if isinstance(key, str) else list(key)
        rows += [[*cells, STAGES[one], costs.get(one, "")] for one in letters]
    secrets = ("stage",) if any("*" in letters for letters in classes.values()) else ("stage", "cost")
    columns = [*names, "stage", "cost"]
    if secrets == ("stage",):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return Case(name, table(columns, rows), secrets=secrets, **more)


def shapes() -> Iterator[Case]:
    """Sizes, ties, single and empty classes, and thresholds."""
    yield case("three_equal", {"1": "LMH", "2": "LMH"})
    yield case("one_dominant", {"1": "LLLLLLLLMH", "2": "LMHSS"})
    yield case("ties", {"1": "LLMM", "2": "LMMH", "3": "LLHH"})
    yield case("single_class", {"1": "LLMHS"})
    yield case("single_value", {"1": "LLL", "2": "LL"})
    yield case("all_alone", {"1": "L", "2": "M", "3": "H", "4": "S"})
    yield case("one_and_nine", {"1": "L", "2": "LLLMMMHHS"})
    yield case("absent_value", {"1": "LLM", "2": "LMHH"})
    yield case("no_value_absent", {"1": "LLMH", "2": "LMMH", "3": "LMHH"})
    yield case("homogeneous", {"1": "LLL", "2": "LMHS"})
    yield case("almost_homogeneous", {"1": "LLLLM", "2": "MMHS"})
    yield case("nine_of_ten", {"1": "LLLLL", "2": "LLLLM"})
    yield case("near_leaves", {"1": "LM", "2": "HS"})
    yield case("far_leaves", {"1": "LH", "2": "MS"})
    yield case("declared_order", {"1": "LL", "2": "MM"}, order=[*ORDER, "fatal"])
    yield case("zero_one_hundred", {"1": "LM", "2": "LMHH"}, costs={"L": "0", "M": "1", "H": "100"})
    yield case("thirds_and_sevenths", {"1": "LLM", "2": "LLMMMMM"})
    yield case("five_and_six", {"1": "LLLMH", "2": "LMMHSS"})
    yield case("ten_and_eleven", {"1": "LLLLMMMMHH", "2": "LLLMMMHHHSS"})
    yield case("eleven_and_twelve", {"1": "LLLMMMHHHSS", "2": "LLLMMMHHHSSS"})
    yield case("rare_harm", {"1": "LS", "2": "LLLLLLLLMM", "3": "LLLMMMLLLL"})
    yield case("equal_records", {"1": "LLLLLLLLLL", "2": "LLLMMM"})
    yield case("negative_numbers", {"1": "LM", "2": "MHS"}, costs={"L": "-10", "M": "-9", "H": "0", "S": "5"})
    yield case("decimals", {"1": "LMH", "2": "MHSS"}, costs={"L": "0.1", "M": "0.2", "H": "0.3", "S": "1.5"})
    for seed in range(1, 5):
        g = random.Random(seed)  # noqa: S311 - tables to test with
        letters = [g.choices("LMHS", weights=[5, 3, 2, 1], k=g.randint(2, 9)) for _ in range(g.randint(3, 5))]
        yield case(f"drawn_{seed}", {str(i): "".join(one) for i, one in enumerate(letters)})


def missing_cells() -> Iterator[Case]:
    """Missing and suppressed cells under each convention."""
    two: dict[str, Any] = {"quasi_identifiers": ["sex", "ward"]}
    known = {("F", "1"): "LM", ("F", ""): "H", ("M", "2"): "LL"}
    for convention in ("own_category", "wildcard", "fail"):
        conventions = {} if convention == "own_category" else {"missing_quasi_identifier": convention}
        yield case(f"missing_ward_{convention}", known, conventions=conventions, **two)
    yield case("missing_in_the_only_column", {"1": "LM", "": "S", "2": "LLM"})
    wild = {"missing_quasi_identifier": "wildcard"}
    yield case("missing_in_the_only_column_wildcard", {"1": "LM", "": "S", "2": "LLM"}, conventions=wild)
    chain = {("F", "1"): "LL", ("F", "2"): "MM", ("F", ""): "H", ("", "2"): "S", ("M", "2"): "LH"}
    for convention in ("own_category", "wildcard"):
        conventions = {} if convention == "own_category" else {"missing_quasi_identifier": convention}
        yield case(f"missing_chain_{convention}", chain, conventions=conventions, **two)
    yield case("missing_together", {("F", "1"): "LMH", ("F", ""): "LLL", ("", ""): "MM"}, **two)
    yield case("missing_column", {("F", ""): "LMH", ("M", ""): "LL"}, **two)
    secret = {"1": "LL.", "2": "LMM", "3": "MH"}
    for convention in ("excluded", "own_category", "fail"):
        conventions = {} if convention == "excluded" else {"missing_sensitive": convention}
        one = case(f"missing_stage_{convention}", secret, conventions=conventions)
        yield Case(**{**vars(one), "secrets": ("stage",)}) if convention == "own_category" else one
    yield case("missing_all_of_a_class", {"1": "..", "2": "LM", "3": "LMM"})
    yield case("declared_missing", {("1"): "LLM", "?": "LM", "9": "MH"}, conventions={"missing_tokens": ["", "?"]})
    yield case("suppressed_ward", {"1": "LMH", "2": "LL", "*": "MS"})
    stars = {"1": "LM", "2": "LMH", "*": "*"}
    yield case("suppressed_records_counted", stars)
    yield case("suppressed_records_exempt", stars, conventions={"suppressed": "exempt"})
    kept = {"1": "LM", "2": "LMH", "*": "*S"}
    yield case("suppressed_but_for_a_secret", kept, conventions={"suppressed": "exempt"})
    dash = {"suppressed": "exempt", "suppressed_tokens": ["-"]}
    one = case("suppressed_by_a_dash", {"1": "LM", "2": "LMH", "-": "L"}, conventions=dash)
    text = one.text.replace("-,low,5", "-,-,").replace(",cost", "").replace(",\n", "\n")
    text = "\n".join(",".join(line.split(",")[:2]) for line in text.splitlines()) + "\n"
    yield Case(**{**vars(one), "text": text, "secrets": ("stage",)})
    yield case("suppressed_throughout", {"*": "***"}, conventions={"suppressed": "exempt"})
    yield Case("no_record", "ward,stage,cost\n")


def texts() -> Iterator[Case]:
    """Cells that look like numbers, like nothing, or like each other."""
    pairs = {
        "leading_zero": ("02139", "2139"),
        "trailing_zero": ("1.0", "1"),
        "exponent": ("1e3", "1000"),
        "plus_sign": ("+1", "1"),
        "large_numbers": ("9007199254740993", "9007199254740992"),
        "minus_zero": ("-0", "0"),
        "not_a_number": ("NaN", "nan"),
        "not_available": ("NA", "N/A"),
        "null": ("null", ""),
        "none": ("None", "NULL"),
        "leading_blank": (" north", "north"),
        "trailing_blank": ("north ", "north"),
        "only_a_blank": (" ", ""),
        "case": ("north", "North"),
        "composed_letter": ("\u00e9toile", "e\u0301toile"),
        "truth_values": ("True", "true"),
        "quoted_comma": ("north, old", "north, new"),
        "quoted_line": ("north\nold", "north\nnew"),
        "quotes": ('the "old" one', "the old one"),
        "no_break_space": ("a\u00a0b", "a b"),
        "sharp_s": ("Stra\u00dfe", "STRASSE"),
        "thousands": ("1,000", "1000"),
    }
    for name, (one, other) in pairs.items():
        yield case(f"text_{name}", {one: "LM", other: "MHS", "x": "LMHS"})


def units() -> Iterator[Case]:
    """People with several rows, and columns that are neither known nor secret."""
    rows = {
        "five_rows_of_one_person": [("p", "1", "L")] * 5 + [("q", "2", "M"), ("r", "2", "H")],
        "people_who_share": [("p", "1", "S"), ("p", "1", "L"), ("q", "1", "S"), ("q", "1", "M"), ("r", "1", "S"),
                             ("r", "1", "H"), ("s", "2", "L"), ("t", "2", "M"), ("t", "2", "M"), ("u", "2", "L")],
        "rows_without_a_person": [("p", "1", "L"), ("p", "1", "L"), ("q", "1", "M"), ("", "1", "H"), ("", "1", "H"),
                                  ("s", "2", "L"), ("t", "2", "M")],
    }  # fmt: skip
    for name, own in rows.items():
        text = table(["person", "ward", "stage"], [[who, ward, STAGES[one]] for who, ward, one in own])
        attributes = {"person": {"role": "insensitive"}}
        more: dict[str, Any] = {"attributes": attributes, "secrets": ("stage",), "declared": {"unit": "person"}}
        yield Case(f"unit_{name}", text, conventions={"known_rows": "one"}, **more)
    other = [("1", "a", "L"), ("1", "b", "M"), ("2", "a", "M"), ("2", "a", "H"), ("2", "c", "H")]
    text = table(["ward", "note", "stage"], [[a, b, STAGES[c]] for a, b, c in other])
    yield Case("another_column", text, attributes={"note": {"role": "insensitive"}}, secrets=("stage",))
    weighted = [("1", "10", "L"), ("1", "20", "M"), ("2", "30", "M"), ("2", "5", "H"), ("2", "5", "S")]
    text = table(["ward", "weight", "stage"], [[a, b, STAGES[c]] for a, b, c in weighted])
    weight = {"weight": {"role": "insensitive", "scale": "numeric"}}
    yield Case("weights", text, attributes=weight, secrets=("stage",), declared={"weight": "weight"})
    two = {("F", "1"): "LM", ("F", "2"): "HH", ("M", "1"): "MSL", ("M", "2"): "LM"}
    yield case("two_columns", two, quasi_identifiers=["sex", "ward"])
    drugs = [("1", "L", "x"), ("1", "L", "x"), ("1", "M", "y"), ("1", "M", "z"), ("2", "L", "x"), ("2", "H", "x")]
    text = table(["ward", "stage", "drug"], [[a, STAGES[b], c] for a, b, c in drugs])
    sensitive = {"drug": {"role": "sensitive", "scale": "nominal"}}
    for convention in ("per_attribute", "others_as_quasi_identifiers", "joint"):
        conventions = {} if convention == "per_attribute" else {"multiple_sensitive": convention}
        yield Case(f"two_secrets_{convention}", text, attributes=sensitive, secrets=("stage",), conventions=conventions)


def references() -> Iterator[Case]:
    """Distributions that closeness is measured against."""
    classes = {"1": "LM", "2": "LLLM", "3": "LHS"}
    original = {"original": {"table": "../tables/reference_original_source.csv"}}
    yield case("reference_original_source", {"1": "LMHS", "2": "MMHS"})
    yield case("reference_original", classes, declared=original, conventions={"reference": "original"})
    yield case("reference_uniform", classes, conventions={"reference": "declared"},
               parameters={"distribution": "uniform"})  # fmt: skip
    weights = {"low": "4", "middle": "3", "high": "2", "severe": "1"}
    yield case("reference_weights", classes, conventions={"reference": "declared"},
               parameters={"distribution": weights})  # fmt: skip


def everything() -> list[Case]:
    """Every generic table."""
    return [*shapes(), *missing_cells(), *texts(), *units(), *references()]
