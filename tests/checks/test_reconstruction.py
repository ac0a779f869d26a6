"""The check `reconstruction`: golden numbers of tables that fit, through files and policies."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from random import Random
from typing import Any

import pytest
from figure_tables import audit_tables, crosstab, table

from tcdp_audit import Outcome

sys.path.insert(0, str(Path(__file__).parents[1] / "cells"))

from cells_reference import Key, generate, two_per_line

NAMES = ("row", "column")
TOTALS = {"row": {"total": "T"}, "column": {"total": "T"}}


def judged(folder: Path, text: str, expectation: Mapping[str, Any], dimensions: Any = None, **declared: Any) -> Outcome:
    tables = {"t": table(text, dimensions or TOTALS, **{"suppressed": {"x": "unknown"}, **declared})}
    return audit_tables(folder, tables, [{"reconstruction": dict(expectation)}]).expectations[0]


def cross(full: Mapping[Key, int], hidden: set[Key]) -> tuple[str, dict[str, Any]]:
    """A generated table as a file, and its dimensions."""
    names = [f"d{place}" for place in range(len(next(iter(full))))]
    lines = [",".join([*names, "patients"])]
    lines += [",".join([*key, "x" if key in hidden else str(value)]) for key, value in full.items()]
    return "\n".join(lines) + "\n", {name: {"total": "T"} for name in names}


GEURTS = crosstab(
    ["1", "2", "T"], [("1", ["x", "x", 7]), ("2", ["x", "x", 3]), ("3", [3, 3, 6]), ("T", [9, 7, 16])], NAMES
)


def test_geurts_table_leaves_four_tables(tmp_path: Path):
    """G1: [3, 6], [1, 4], [0, 3], [0, 3] and the published 3 and 3: 10 of 16 people are certain."""
    outcome = judged(tmp_path, GEURTS, {"certain_people": 9})

    assert (outcome.status.value, outcome.observed) == ("failed", 10)
    assert (outcome.details["solutions"], outcome.details["more_solutions"], outcome.details["unique"]) == (
        4,
        False,
        False,
    )
    assert judged(tmp_path, GEURTS, {"certain_people": 10, "solutions": 4}).status.value == "passed"
    assert judged(tmp_path, GEURTS, {"solutions": 5}).status.value == "failed"


@pytest.mark.parametrize(("total", "token", "solutions"), [(109, [1, 9], 8), (118, [1, 9], 1), (118, "unknown", 19)])
def test_tokens_leave_so_many_tables(tmp_path: Path, total: int, token: Any, solutions: int):
    """G5 of the definitions."""
    text = f"row,patients\nA,60\nB,40\nC,<10\nD,<10\nT,{total}\n"
    outcome = judged(tmp_path, text, {}, {"row": {"total": "T"}}, suppressed={"<10": token})

    assert (outcome.details["solutions"], outcome.details["unique"]) == (solutions, solutions == 1)


@pytest.mark.parametrize(
    ("kind", "rows", "solutions"),
    [
        ({"base": 10, "kind": "conventional", "half": "up"}, (10, 10, 30), 10),
        ({"base": 10, "kind": "conventional", "half": "up"}, (10, 10, 10), 15),
        ({"base": 10, "kind": "conventional", "half": "even"}, (0, 0, 10), 15),
        ({"base": 3, "kind": "random"}, (0, 3, 3, 0), 1),
    ],
)
def test_rounding_leaves_so_many_tables(tmp_path: Path, kind: Any, rows: tuple[int, ...], solutions: int):
    """G8 of the definitions."""
    labels = [*"ABC"[: len(rows) - 1], "T"]
    text = "row,patients\n" + "".join(f"{label},{value}\n" for label, value in zip(labels, rows, strict=True))

    assert judged(tmp_path, text, {}, {"row": {"total": "T"}}, rounding=kind).details["solutions"] == solutions


@pytest.mark.parametrize(
    ("arguments", "two", "solutions"),
    [
        ((1, (4, 4), 40, 5), False, 1),
        ((1, (4, 4), 40, 5), True, 3430),
        ((2, (5, 4), 30, 5), True, 4),
        ((13, (3, 3, 3), 30, 5), True, 2000),
    ],
)
def test_generated_tables(tmp_path: Path, arguments: Any, two: bool, solutions: int):
    full, small = generate(*arguments)
    hidden = two_per_line(full, small, arguments[1]) if two else set(small)
    outcome = judged(tmp_path, *cross(full, hidden)[:1], {}, cross(full, hidden)[1])

    assert outcome.details["solutions"] == solutions


def test_counting_ends_at_the_cap(tmp_path: Path):
    full, small = generate(1, (4, 4), 40, 5)
    text, dimensions = cross(full, two_per_line(full, small, (4, 4)))
    outcome = judged(tmp_path, text, {"solutions": 101, "cap": 100}, dimensions)

    assert (outcome.status.value, outcome.details["solutions"], outcome.details["more_solutions"]) == (
        "passed",
        100,
        True,
    )
    assert "more than 100 tables" in outcome.message


def test_a_table_without_hidden_cells_makes_everyone_certain(tmp_path: Path):
    outcome = judged(tmp_path, "row,patients\nA,6\nB,4\nT,10\n", {"certain_people": 9}, {"row": {"total": "T"}})

    assert (outcome.status.value, outcome.observed, outcome.details["unique"]) == ("failed", 10, True)


def test_a_table_that_does_not_add_up_is_an_error(tmp_path: Path):
    text = "row,patients\nA,6\nB,x\nT,5\n"
    assert judged(tmp_path, text, {"solutions": 2}, {"row": {"total": "T"}}).status.value == "error"


# Medians and means: sets of people

AGE: Mapping[str, Any] = {"integers": True, "at_least": 0, "at_most": 125}
CENSUS = """sex,race,marital,patients,median,mean
T,T,T,7,30,38.0
F,T,T,4,30,33.5
M,T,T,3,30,44.0
T,B,T,4,51,48.5
T,W,T,3,24,24.0
T,T,married,4,51,54.0
F,B,T,3,36,36.7
M,B,T,D,-,-
M,W,T,D,-,-
F,W,T,D,-,-
"""


def block(text: str, names: Sequence[str], meaning: Any = "unknown", **age: Any) -> dict[str, Any]:
    """A table of counts with the median and the mean of an age."""
    own = {**AGE, **age, "over": "patients"}
    measures = {
        "patients": {"counts": "people"},
        "median": {"quantile": "age", "at": "0.5", "decimals": "exact", **own},
        "mean": {"mean": "age", "decimals": 1, **own},
    }
    marital = {"total": "T", "order": ["single", "married"]}
    return {
        "text": text,
        "dimensions": {name: marital if name == "marital" else {"total": "T"} for name in names},
        "measures": measures,
        "suppressed": {"D": meaning, "-": "unknown"},
        "absent": "unknown",
    }


def reconstructed(folder: Path, tables: Mapping[str, Any], **asked: Any) -> Outcome:
    return audit_tables(folder, tables, [{"reconstruction": {"solutions": 2, **asked}}]).expectations[0]


def test_one_set_of_people_has_the_figures_of_the_census_block(tmp_path: Path):
    """G15: seven people of Garfinkel, Abowd and Martindale."""
    outcome = reconstructed(tmp_path, {"block": block(CENSUS, ("sex", "race", "marital"))})

    assert (outcome.status.value, outcome.observed, outcome.details["certain_with_values"]) == ("failed", 7, 7)
    assert (outcome.details["solutions"], outcome.details["people"], outcome.details["unique"]) == (1, 7, True)
    assert "only one set of 7 patients fits the published counts and the statistics of 'age'" in outcome.message


AGES = {
    "text": "age,patients\n<5,D\n<18,D\n64+,D\n",
    "dimensions": {"age": {"order": "by_bounds"}},
    "measures": {"patients": {"counts": "people"}},
    "absent": "unknown",
}


@pytest.mark.parametrize(("token", "status"), [("unknown", "failed"), ([1, 2], "error")])
def test_hidden_counts_of_bands_of_the_value(tmp_path: Path, token: Any, status: str):
    """G15: nobody is under five, so that nothing fits if a hidden count means 1 or 2."""
    tables = {
        "block": block(CENSUS, ("sex", "race", "marital"), token),
        "ages": {**AGES, "suppressed": {"D": token}},
    }
    outcome = reconstructed(tmp_path, tables)

    assert outcome.status.value == status
    if status == "error":
        assert "no set of people has the published counts and the statistics of 'age'" in outcome.message
    else:
        assert outcome.details["solutions"] == 1


@pytest.mark.parametrize(("youngest", "triples"), [(0, 31), (1, 30)])
def test_ages_of_the_men_of_the_census_block(tmp_path: Path, youngest: int, triples: int):
    """G15: as the paper prints it from age 1."""
    text = "sex,patients,median,mean\nT,3,30,44.0\nM,3,30,44.0\n"
    outcome = reconstructed(tmp_path, {"men": block(text, ("sex",), at_least=youngest)})

    assert (outcome.status.value, outcome.details["solutions"]) == ("passed", triples)
    assert (outcome.observed, outcome.details["certain_with_values"]) == (3, 1)  # one of them is 30
    assert f"{triples} sets of patients fit the published counts" in outcome.message


def test_the_search_ends_at_the_cap_and_values_that_nothing_bounds_are_not_decided(tmp_path: Path):
    text = "sex,patients,median,mean\nT,3,30,44.0\nM,3,30,44.0\n"
    capped = reconstructed(tmp_path, {"men": block(text, ("sex",))}, cap=10)
    medians = "sex,patients,median,mean\nT,3,30,-\nM,3,30,-\n"
    unbounded = reconstructed(tmp_path, {"men": block(medians, ("sex",), at_most=None)}, effort=1)

    assert (capped.details["solutions"], capped.details["more_solutions"]) == (10, True)
    assert capped.status.value == "passed"
    assert unbounded.status.value == "error"


KINDS = [(sex, race, age) for sex in "FM" for race in "BW" for age in range(4)]
MEASURES = ("patients", "median", "mean", "least", "largest")


def figures_of(people: Sequence[tuple[str, str, int]], cell: tuple[str, str]) -> dict[str, Fraction]:
    """The figures of a cell, by plain counting."""
    ages = sorted(age for *own, age in people if all(one in ("T", two) for one, two in zip(cell, own, strict=True)))
    if not ages:
        return {"patients": Fraction(0)}
    middle = Fraction(ages[(len(ages) - 1) // 2] + ages[len(ages) // 2], 2)
    mean = Fraction(sum(ages), len(ages))
    values = [len(ages), middle, mean, ages[0], ages[-1]]
    return dict(zip(MEASURES, map(Fraction, values), strict=True))


def every_set_is_tried(folder: Path, seed: int) -> None:
    """A random block of at most three people, some of whose figures are shown: next to all blocks of that size."""
    random = Random(seed)  # noqa: S311 - the same tables every time
    people = [random.choice(KINDS) for _ in range(random.randint(1, 3))]
    cells = [(sex, race) for sex in "TFM" for race in "TBW"]
    shown: dict[tuple[str, str], dict[str, Fraction]] = {}
    for cell in cells:
        own = figures_of(people, cell)
        always = {"patients", "mean"} if cell == ("T", "T") else set()
        shown[cell] = {name: one for name, one in own.items() if name in always or random.random() < 0.4}
    lines = [",".join(("sex", "race", *MEASURES))]
    for cell, own in shown.items():
        lines.append(",".join((*cell, *(f"{float(own[name]):.1f}" if name in own else "-" for name in MEASURES))))
    age = {**AGE, "at_most": 3, "over": "patients"}
    table = {
        **block("\n".join(lines) + "\n", ("sex", "race")),
        "measures": {
            "patients": {"counts": "people"},
            "median": {"quantile": "age", "at": "0.5", "decimals": "exact", **age},
            "mean": {"mean": "age", "decimals": 1, **age},
            "least": {"minimum": "age", "decimals": "exact", **age},
            "largest": {"maximum": "age", "decimals": "exact", **age},
        },
    }
    fitting = [
        Counter(one) for one in combinations_with_replacement(KINDS, len(people))
        if all(_shows(figures_of(one, cell), own) for cell, own in shown.items())
    ]  # fmt: skip
    common, leaves = fitting[0], Counter(kind[:2] for kind in fitting[0].elements())
    for one in fitting[1:]:
        common, leaves = common & one, leaves & Counter(kind[:2] for kind in one.elements())

    outcome = reconstructed(folder, {"block": table})

    assert outcome.details["solutions"] == len(fitting)
    assert outcome.details["certain_with_values"] == common.total()
    assert outcome.observed == leaves.total()
    assert outcome.status.value == ("failed" if len(fitting) == 1 else "passed")


def _shows(own: Mapping[str, Fraction], shown: Mapping[str, Fraction]) -> bool:
    """Whether these figures are printed as those that are shown."""
    printed = {name: Fraction(f"{float(one):.1f}") for name, one in shown.items()}
    off = {"mean": Fraction(1, 20)}
    return all(name in own and abs(own[name] - one) <= off.get(name, 0) for name, one in printed.items())


def test_sets_of_people_are_those_of_trying_all(tmp_path: Path):
    for seed in range(15):
        every_set_is_tried(tmp_path, seed)


@pytest.mark.long
def test_sets_of_people_are_those_of_trying_all_on_500_more_blocks(tmp_path: Path):
    for seed in range(1000, 1500):
        every_set_is_tried(tmp_path, seed)
