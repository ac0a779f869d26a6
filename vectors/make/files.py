"""Questions about originals, cells of sums, and the rules of regulators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from vectors.make.asked import Asked, quasi, repeated
from vectors.make.tables import table
from vectors.reading import Vector, rows
from vectors.reference import other_tables
from vectors.reference.classes import companion
from vectors.reference.values import Value

TORRA = "Torra, Privacy models and disclosure risk, 2020"
HANDBOOK = "Hundepool and others, Handbook on Statistical Disclosure Control, second edition, 2024, section 4.2"
SAFE_HARBOR = "45 CFR 164.514(b)(2)(i)"
CMS = "CMS, Cell Size Suppression Policy, 2024"
WP216 = "Article 29 Working Party, Opinion 05/2014 (WP216); Cohen, Nissim, PNAS 117(15), 2020"
NUMERIC = {"role": "quasi_identifier", "scale": "numeric"}
KEY = {"role": "insensitive", "scale": "nominal"}

MASKED = {  # released and original values, aligned by the key
    "six": (["2", "2", "2", "11", "11", "11"], ["1", "2", "3", "10", "11", "12"]),
    "shifted": (["10", "20", "30", "40", "50"], ["12", "20", "37", "41", "90"]),
    "ends": (["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], ["3", "2", "1", "4", "9", "6", "7", "8", "10", "5"]),
    "tied": (["5", "5", "5", "5", "9"], ["4", "5", "6", "5", "9"]),
    "edge": (["3", "5"], ["2", "4"]),
    "missing": (["10", "", "30", "40"], ["10", "20", "", "48"]),
}


def _pair(name: str, order: Sequence[int] | None = None) -> dict[str, Any]:
    released, original = MASKED[name]
    keys = [str(i) for i in range(len(released))]
    shuffled = order or range(len(released))
    return {
        "name": f"masked_{name}",
        "text": table(["key", "value"], [[keys[i], released[i]] for i in shuffled]),
        "declared": {
            "attributes": {"key": KEY, "value": NUMERIC},
            "key": "key",
            "original": {"table": f"../tables/original_{name}.csv"},
        },
        "companions": {f"original_{name}": table(["key", "value"], list(zip(keys, original, strict=True)))},
    }


def _by_position(vector: Vector, test: Any) -> Fraction:
    pairs = list(zip(rows(vector.path), companion(vector, "original"), strict=True))
    return Fraction(sum(test(a["value"], b["value"]) for a, b in pairs), len(pairs))


def _missing_inside(vector: Vector) -> Fraction:
    pairs = list(zip(rows(vector.path), companion(vector, "original"), strict=True))
    lacking = sum(not a["value"] or not b["value"] for a, b in pairs)
    measure = other_tables.sd_interval if vector.measure.startswith("sd") else other_tables.rank_interval
    return measure(vector) + Fraction(lacking, len(pairs))


def _population_deviation(vector: Vector) -> Fraction:
    values = [Fraction(row["value"]) for row in companion(vector, "original") if row["value"]]
    mean = sum(values, Fraction(0)) / len(values)
    variance = sum(((v - mean) ** 2 for v in values), Fraction(0)) / len(values)
    p = Fraction(vector.parameters["p"]) / 100
    return _by_position(vector, lambda a, b: bool(a and b) and (Fraction(a) - Fraction(b)) ** 2 <= p**2 * variance)


def _whole_range(_: Vector) -> Fraction:
    return Fraction(1)


def _first_match(vector: Vector) -> Fraction:
    released, original = rows(vector.path), companion(vector, "original")
    hits = 0
    for row in released:
        gaps = [abs(Fraction(other["value"]) - Fraction(row["value"])) for other in original]
        hits += original[gaps.index(min(gaps))]["key"] == row["key"]
    return Fraction(hits, len(released))


def _order_of_rows(_: Vector) -> Fraction:
    return Fraction(1)


def masked() -> Iterator[Asked]:
    """Intervals around masked values, and links to the nearest."""
    deviation = "a standard deviation with n in its denominator, where it is n - 1"
    for name, p in {"shifted": "10", "six": "20", "ends": "66", "tied": "100"}.items():
        for q in (p, str(2 * int(p)), str(3 * int(p))):
            given = {"p": q, "at_most": "1/2"}
            yield Asked("sd_interval_disclosure", **_pair(name), parameters=given, mistake="halves_the_width",
                        sentence="takes p for the whole width of the interval, not for the half of it",
                        wrong={"parameters": {**given, "p": str(Fraction(q) / 2)}}, source=TORRA)  # fmt: skip
    for name, p in {"six": "21", "ends": "34", "shifted": "23", "edge": "100"}.items():
        yield Asked("sd_interval_disclosure", **_pair(name), parameters={"p": p, "at_most": "1/2"},
                    mistake="divides_by_n", sentence=f"takes {deviation}", wrong=_population_deviation,
                    source=TORRA)  # fmt: skip
    for p in ("20", "50"):
        yield Asked("sd_interval_disclosure", **_pair("missing"), parameters={"p": p, "at_most": "1/2"},
                    mistake="counts_missing_values", sentence="counts a missing value as inside",
                    wrong=_missing_inside, source=f"{TORRA}; sdcMicro's dRisk counts them")  # fmt: skip
        yield Asked("rank_interval_disclosure", **_pair("missing"), parameters={"p": p, "at_most": "1/2"},
                    mistake="counts_missing_values", sentence="counts a missing value as inside",
                    wrong=_missing_inside, source=TORRA)  # fmt: skip
    for name, ps in {"ends": ("20", "40", "60"), "shifted": ("40", "80"), "six": ("34",), "tied": ("40",)}.items():
        for p in ps:
            yield Asked("rank_interval_disclosure", **_pair(name), parameters={"p": p, "at_most": "1/2"},
                        mistake="swaps_the_ends", sentence="swaps min and max at the ends, as the lecture's "
                        "pseudo-code does, so that every interval is the whole range", wrong=_whole_range,
                        source=TORRA)  # fmt: skip
    order = {"six": [3, 0, 5, 1, 4, 2], "shifted": [4, 3, 2, 1, 0], "tied": [4, 0, 2, 3, 1]}
    for name in ("six", "tied"):
        pair = _pair(name, order[name])
        yield Asked("distance_record_linkage", **{**pair, "name": f"{pair['name']}_shuffled"},
                    parameters={"at_most": "1/2"}, mistake="takes_the_order_for_the_truth",
                    sentence="takes the order of the rows for the truth, and ties for matches",
                    wrong=_order_of_rows, source=f"{TORRA}; sdcMicro's recordLinkage does so")  # fmt: skip
    for name, released, original in LINKED:
        keys = [str(i) for i in range(len(released))]
        yield Asked("distance_record_linkage", f"linked_{name}", table(["key", "value"], list(zip(keys, released,
                    strict=True))), {"attributes": {"key": KEY, "value": NUMERIC}, "key": "key", "original": {"table":
                    f"../tables/linked_{name}_original.csv"}}, {"at_most": "1/2"}, "takes_the_first_of_ties",
                    "gives a tie to the first record, so that the order of rows decides", _first_match, TORRA,
                    companions={f"linked_{name}_original": table(["key", "value"], list(zip(keys, original,
                    strict=True)))})  # fmt: skip


LINKED = [  # variances whose ratio is the square of a fraction, so that distances are fractions
    ("first_of_two", ["1", "1", "3", "3"], ["1", "1", "3", "3"]),
    ("twice", ["2", "2", "6", "6", "10"], ["1", "1", "3", "3", "5"]),
    ("one_tie", ["0", "4", "4", "8"], ["0", "4", "4", "8"]),
    ("three_ties", ["1", "1", "1", "9"], ["1", "1", "1", "9"]),
    ("swapped", ["3", "1", "5", "5"], ["1", "3", "5", "5"]),
]

SINGLE = {
    "ten_equal": (["a"] * 10 + ["b"], ["a"] * 10 + ["b", "b"]),
    "nobody": (["a", "b", "c"], ["a", "a", "b", "b", "d"]),
    "half": (["a", "b", "b", "c"], ["a", "b", "c", "c"]),
    "all": (["a", "b", "c"], ["a", "b", "c"]),
    "twins": (["a", "a", "b", "b", "c"], ["a", "a", "b", "b", "c", "c"]),
    "two_of_three": (["a", "b", "c", "d", "d"], ["a", "b", "c", "c", "d"]),
    "strangers": (["a", "b", "c", "d"], ["a", "b", "e", "f"]),
    "one_of_three": (["a", "b", "c"], ["c", "d", "e", "f"]),
    "nobody_left": (["a", "b"], ["c", "d", "e"]),
    "none_alone": (["a"] * 10, ["a", "b"]),
}


def _once_each(vector: Vector) -> Fraction:
    released = {row["value"] for row in rows(vector.path)}
    original = Counter({row["value"] for row in companion(vector, "original")})
    return Fraction(sum(original[key] == 1 for key in released), len(released))


def _claims(_: Vector) -> Fraction:
    return Fraction(1)


def singled_out() -> Iterator[Asked]:
    """Claims that one record makes about one person."""
    for name, (released, original) in SINGLE.items():
        declared = {"attributes": quasi("value"), "original": {"table": f"../tables/single_{name}_original.csv"}}
        more: dict[str, Any] = {
            "name": f"single_{name}",
            "text": repeated(["value"], *((v, 1) for v in released)),
            "declared": declared,
            "parameters": {},
            "companions": {f"single_{name}_original": repeated(["value"], *((v, 1) for v in original))},
        }
        repeats = len(set(released)) < len(released) or len(set(original)) < len(original)
        if repeats:
            yield Asked("singling_out", **more, mistake="removes_equal_records", wrong=_once_each,
                        sentence="removes equal records before it looks for unique ones",
                        source=f"{WP216}; Anonymeter 1.1.0 does so")  # fmt: skip
        else:
            yield Asked("singling_out", **more, mistake="believes_every_claim", wrong=_claims,
                        sentence="does not ask whether the original has one such person", source=WP216)  # fmt: skip


CELLS = {  # people's contributions to a cell
    "exactly_ninety": {"a": [60, 30, 5, 5], "b": [10, 10, 10, 10]},
    "two_people": {"a": [50, 50], "b": [1, 1, 1]},
    "one_person": {"a": [7], "b": [3, 3, 3, 3]},
    "ms_rich": {"a": [100_000, *range(1000, 10_001, 1000)][:11]},
    "handbook_1": {"a": [100_000, 50_000, 49_000]},
    "handbook_2": {"a": [110_000, 52_000, 50_000]},
    "at_ten_percent": {"a": [100, 40, 6, 4], "b": [50, 30, 20]},
    "below_ten_percent": {"a": [100, 40, 6, 3]},
    "half": {"a": [50, 30, 20], "b": [40, 40, 40]},
    "zero": {"a": [0, 0, 0], "b": [5, 4, 3, 2]},
}
UNIT_ROWS = [
    ("a", "p", 40),
    ("a", "p", 40),
    ("a", "q", 15),
    ("a", "r", 5),
    ("b", "s", 10),
    ("b", "t", 10),
    ("b", "u", 10),
]


def _contributions(cells: Mapping[str, Sequence[int]]) -> str:
    return table(["cell", "person", "value"], [
        [cell, f"{cell}{i}", str(x)] for cell, xs in cells.items() for i, x in enumerate(xs)])  # fmt: skip


SUMS = {"cell": "cell", "unit": "person", "value": "value"}


def _largest_alone(vector: Vector) -> Fraction:
    return other_tables.dominance(_with(vector, n="1"))


def _all_rows(vector: Vector) -> Fraction:
    n = int(vector.parameters["n"])
    cells: dict[str, list[int]] = {}
    for row in rows(vector.path):
        cells.setdefault(row["cell"], []).append(int(row["value"]))
    return max(Fraction(100 * sum(sorted(xs, reverse=True)[:n]), sum(xs)) for xs in cells.values() if sum(xs))


def _keeps_second(vector: Vector) -> Value:
    cells = other_tables.cells(vector).values()
    return min((100 * sum(xs[1:], Fraction(0)) / xs[0] for xs in cells if sum(xs)), default=None)


def _over_total(vector: Vector) -> Value:
    cells = other_tables.cells(vector).values()
    return min((100 * sum(xs[2:], Fraction(0)) / sum(xs) for xs in cells if sum(xs)), default=None)


def _row_count(vector: Vector) -> Fraction:
    return Fraction(min(Counter(row["cell"] for row in rows(vector.path)).values()))


def _with(vector: Vector, **parameters: str) -> Vector:
    return Vector(**{**vars(vector), "parameters": {**vector.parameters, **parameters}})


def sums() -> Iterator[Asked]:
    """Cells to which few people contribute, or one of them nearly everything."""
    for name, cells in CELLS.items():
        more: dict[str, Any] = {
            "name": f"sums_{name}",
            "text": _contributions(cells),
            "declared": SUMS,
            "source": HANDBOOK,
        }
        for n, k in (("2", "90"), ("1", "50"), ("2", "67")):
            if n == "2":
                yield Asked("dominance", **more, parameters={"n": n, "k": k}, mistake="looks_at_the_largest_alone",
                            sentence="takes the largest contributor alone, not the n largest",
                            wrong=_largest_alone)  # fmt: skip
        yield Asked("p_percent", **more, parameters={"p": "10"}, mistake="keeps_the_second",
                    sentence="does not take off what the second largest knows: their own part",
                    wrong=_keeps_second)  # fmt: skip
        yield Asked("p_percent", **more, parameters={"p": "15"}, mistake="divides_by_the_total",
                    sentence="divides by the total instead of the largest contribution", wrong=_over_total)  # fmt: skip
    text = table(["cell", "person", "value"], [[a, b, str(c)] for a, b, c in UNIT_ROWS])
    more = {"name": "sums_rows_of_people", "text": text, "declared": SUMS, "source": HANDBOOK}
    for n, k in (("1", "50"), ("2", "90")):
        yield Asked("dominance", **more, parameters={"n": n, "k": k}, mistake="counts_rows",
                    sentence="takes each row for a contributor, not each person", wrong=_all_rows)  # fmt: skip


COUNTS = {
    "ten": ["10", "11", "30"],
    "eleven": ["11", "12", "30"],
    "zero": ["0", "11", "25"],
    "one": ["1", "40", "12"],
    "all_zero": ["0", "0"],
    "nine": ["9", "10", "11"],
}


def _with_zeros(vector: Vector) -> Fraction:
    return min(Fraction(row["patients"]) for row in rows(vector.path))


def _largest(vector: Vector) -> Fraction:
    return max(Fraction(row["patients"]) for row in rows(vector.path))


def counts() -> Iterator[Asked]:
    """Published counts of people."""
    for name, numbers in COUNTS.items():
        text = table(["ward", "patients"], [[str(i), n] for i, n in enumerate(numbers)])
        more: dict[str, Any] = {
            "name": f"counts_{name}",
            "text": text,
            "declared": {"count": "patients", "labels": ["ward"]},
        }
        for k, source in (("11", CMS), ("10", "UK LLC and ACRO 1.0.2, threshold 10")):
            if "0" in numbers:
                yield Asked("cell_frequency", **more, parameters={"k": k}, mistake="counts_zeros",
                            sentence="fails a count of 0, which is of no one, where zeros are allowed",
                            wrong=_with_zeros, source=source)  # fmt: skip
                if name != "all_zero":
                    yield Asked("cell_frequency", **more, parameters={"k": k, "zeros": "counted"},
                                mistake="allows_zeros", sentence="lets a count of 0 through, where zeros are counted",
                                wrong={"parameters": {"k": k}}, source="UK LLC: below 10, including zero")  # fmt: skip
            else:
                yield Asked("cell_frequency", **more, parameters={"k": k}, mistake="looks_at_the_largest",
                            sentence="looks at the largest count", wrong=_largest, source=source)  # fmt: skip


AGES = {
    "eighty_nine": ["45", "89", "12"],
    "ninety": ["45", "90", "12"],
    "open_category": ["45", "90+", "90+"],
    "higher_category": ["45", "95+", "12"],
    "range_to_89": ["80-89", "30-39"],
    "range_above": ["85-94", "30-39"],
    "hundred_and_one": ["101", "30", "90+"],
    "missing": ["", "30", "*"],
    "eighty_nine_and_more": ["89", "91", "92"],
}


def _larger_text(vector: Vector) -> Fraction:
    return Fraction(sum(row["age"] > "89" for row in rows(vector.path)))


def _at_the_cap(vector: Vector) -> Fraction:
    return other_tables.ages_above(_with(vector, at="88"))


def _plain_numbers(vector: Vector) -> Fraction:
    return Fraction(sum(row["age"].isdigit() and int(row["age"]) > 89 for row in rows(vector.path)))


REGIONS = {
    "exactly_20000": ({"036": 20000, "021": 4_000_000}, ["036", "021"]),
    "one_more": ({"036": 20001, "021": 4_000_000}, ["036", "021"]),
    "not_released": ({"036": 12000, "021": 4_000_000}, ["021", "021"]),
    "replaced": ({"036": 12000, "021": 4_000_000}, ["*", "021"]),
    "leading_zero": ({"036": 15000, "36": 900_000, "360": 30_000}, ["036", "360"]),
    "in_two_rows": ({"036": 0, "021": 0}, ["036", "021"]),
}


def _smallest_of_all(vector: Vector) -> Fraction:
    return Fraction(min(int(row["people"]) for row in companion(vector, "population")))


def _counts_rows(vector: Vector) -> Fraction:
    return Fraction(min(Counter(row["zip"] for row in rows(vector.path) if row["zip"] != "*").values()))


def rules() -> Iterator[Asked]:
    """Safe Harbor: ages above 89, and regions of 20,000 people or fewer."""
    for name, ages in AGES.items():
        more: dict[str, Any] = {
            "name": f"ages_{name}",
            "text": table(["age", "ward"], [[age, "1"] for age in ages]),
            "declared": {"attributes": {"age": NUMERIC, "ward": quasi("ward")["ward"]}},
            "parameters": {"column": "age", "at": "89", "at_most": "0"},
            "source": f"{SAFE_HARBOR}(C)",
        }
        for mistake, sentence, wrong in [
            ("compares_texts", "compares ages as texts", _larger_text),
            ("counts_the_cap", "counts 89 itself", _at_the_cap),
            ("reads_plain_numbers", "reads plain numbers alone, no ranges", _plain_numbers),
        ]:
            if _differs(mistake, name):
                yield Asked("age_cap", **more, mistake=mistake, sentence=sentence, wrong=wrong)
    for name, (people, cells) in REGIONS.items():
        register = [[zip3, str(n)] for zip3, n in people.items()]
        if name == "in_two_rows":
            register = [["036", "12000"], ["036", "9000"], ["021", "40000"]]
        more = {
            "name": f"regions_{name}",
            "text": table(["zip", "ward"], [[cell, "1"] for cell in cells]),
            "declared": {
                "attributes": quasi("zip", "ward"),
                "population": {"table": f"../tables/regions_{name}_people.csv", "count": "people"},
            },
            "parameters": {"column": "zip", "at_least": "20001"},
            "source": f"{SAFE_HARBOR}(B)",
            "companions": {f"regions_{name}_people": table(["zip", "people"], register)},
        }
        yield Asked("region_population", **more, mistake="counts_records",
                    sentence="counts the released records of a region, not its people", wrong=_counts_rows)  # fmt: skip
        if name in {"not_released", "replaced", "in_two_rows"}:
            yield Asked("region_population", **more, mistake="looks_at_every_region",
                        sentence="looks at every row of the register, released or not, one by one",
                        wrong=_smallest_of_all)  # fmt: skip


def _differs(mistake: str, name: str) -> bool:
    return {
        "compares_texts": name in {"open_category", "hundred_and_one"},
        "counts_the_cap": name in {"eighty_nine", "range_to_89", "eighty_nine_and_more"},
        "reads_plain_numbers": name in {"higher_category", "range_above"},
    }[mistake]
