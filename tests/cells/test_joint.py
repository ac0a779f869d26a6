"""Several tables as one system: shared cells, subgroups, bands that differ, totals of what is shown, contradictions."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from released import declared, findings_of, intervals_of, policy_in, read
from scipy.optimize import linprog

from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.cells.categories import parse_band
from tcdp_audit.core.cells.joint import Key, join_figures
from tcdp_audit.core.cells.table import UNBOUNDED, PublishedTable
from tcdp_audit.core.cells.view import (
    CORRECT,
    OTHER_PEOPLE,
    CellsView,
    contradictions_of,
    say_computation,
    say_variable,
)
from tcdp_audit.core.engines.opening import open_engine

HIDDEN = {"x": "unknown"}
SUMMED = {"total": "T"}


def crossed(folder: Path, text: str, name: str = "table", **more: Any) -> PublishedTable:
    """A wide table of wards by columns; x is hidden."""
    dimensions = more.pop("dimensions", {"row": SUMMED, "col": SUMMED})
    layout = {"rows": ["row"], "columns": ["col"]}
    return read(
        folder, text, declared(dimensions, layout=layout, suppressed={**HIDDEN, **more.pop("tokens", {})}, **more), name
    )


def listed(folder: Path, figures: str, name: str = "table", dimension: str = "c", **more: Any) -> PublishedTable:
    """A table of one dimension with the total T from words such as `A=3 T=9`."""
    content = f"{dimension},n\n" + figures.replace("=", ",").replace(" ", "\n") + "\n"
    declaration = more.pop("declaration", {"total": "T"})
    tokens = {**HIDDEN, **more.pop("tokens", {})}
    return read(folder, content, declared({dimension: declaration}, suppressed=tokens, **more), name)


def test_geurts(tmp_path: Path):
    """G1."""
    table = crossed(tmp_path, "row,1,2,T\n1,x,x,7\n2,x,x,3\n3,3,3,6\nT,9,7,16\n")
    ends = intervals_of(table)

    assert [ends[f"row {row}, col {col}"] for row, col in ((1, 1), (1, 2), (2, 1), (2, 2))] == [
        (3, 6),
        (1, 4),
        (0, 3),
        (0, 3),
    ]


@pytest.mark.parametrize(("total", "ends"), [(118, (9, 9)), (102, (1, 1)), (109, (1, 8))])
def test_tokens_with_ends(tmp_path: Path, total: int, ends: tuple[int, int]):
    """G5."""
    table = listed(tmp_path, f"A=60 B=40 C=<10 D=<10 T={total}", tokens={"<10": [1, 9]})
    unknown = listed(tmp_path, f"A=60 B=40 C=x D=x T={total}", "unknown")

    assert intervals_of(table)["c C"] == intervals_of(table)["c D"] == ends
    assert intervals_of(unknown)["c C"] == (0, total - 100)


COUNTY = {"county-1": ["A", "B", "I", "J"], "county-2": ["K", "L", "M", "N"]}
SIZE = {"big": ["L", "M"], "small": ["A", "B", "I", "J", "K", "N"]}
TOWNS = "A=x B=x I=8 J=8 K=x L=x M=x N=7"


def test_two_hierarchies_of_one_dimension(tmp_path: Path):
    """G6: each hierarchy by itself protects what both together do not."""

    def ends(name: str, figures: str, hierarchy: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
        table = listed(tmp_path, f"{TOWNS} {figures}", name, "town", declaration={"total": "T", "hierarchy": hierarchy})
        assert not table.findings
        return intervals_of(table)

    by_county = ends("county", "county-1=20 county-2=16 T=36", COUNTY)
    by_size = ends("size", "big=6 small=30 T=36", SIZE)
    both = ends("both", "county-1=20 county-2=16 big=6 small=30 T=36", {**COUNTY, **SIZE})

    assert (by_county["town A"], by_county["town K"]) == ((0, 4), (0, 9))
    assert (by_size["town A"], by_size["town K"], by_size["town L"]) == ((0, 7), (0, 7), (0, 6))
    assert (both["town A"], both["town K"], both["town L"]) == ((0, 4), (3, 3), (0, 6))


def test_two_linked_tables_are_the_same_as_two_hierarchies(tmp_path: Path):
    by_county = listed(
        tmp_path, f"{TOWNS} county-1=20 county-2=16 T=36", "a", "town", declaration={"total": "T", "hierarchy": COUNTY}
    )
    by_size = listed(
        tmp_path, f"{TOWNS} big=6 small=30 T=36", "b", "town", declaration={"total": "T", "hierarchy": SIZE}
    )

    assert intervals_of(by_county, by_size)["town K"] == (3, 3)


def test_a_rounded_table_of_the_handbook(tmp_path: Path):
    """G7, with the total of C as 30."""
    text = "row,M,F,T\nA,0,0,0\nB,5,5,5\nC,10,20,30\nT,15,25,40\n"
    ends = intervals_of(crossed(tmp_path, text, rounding={"base": 5}))

    assert [ends[f"row {one}"] for one in ("A, col M", "B, col M", "B, col F", "C, col M")] == [
        (0, 2),
        (3, 4),
        (3, 4),
        (8, 12),
    ]
    assert [ends[one] for one in ("the total of row B", "the total of row C", "the grand total")] == [
        (6, 7),
        (29, 32),
        (38, 41),
    ]


@pytest.mark.parametrize(
    ("figures", "rounding", "parts", "total"),
    [
        ("A=0 B=3 C=3 T=0", {"base": 3, "kind": "random"}, [(0, 0), (1, 1), (1, 1)], (2, 2)),
        ("A=10 B=10 T=30", {"base": 10, "half": "up"}, [(11, 14), (11, 14)], (25, 28)),
        ("A=10 B=10 T=10", {"base": 10, "half": "up"}, [(5, 9), (5, 9)], (10, 14)),
        ("A=0 B=0 T=10", {"base": 10, "half": "up"}, [(1, 4), (1, 4)], (5, 8)),
        ("A=0 B=0 T=10", {"base": 10, "half": "even"}, [(1, 5), (1, 5)], (6, 10)),
    ],
)
def test_rounding_is_unpicked_by_totals(
    tmp_path: Path, figures: str, rounding: dict[str, Any], parts: list[tuple[int, int]], total: tuple[int, int]
):
    """G8."""
    ends = intervals_of(listed(tmp_path, figures, rounding=rounding))

    assert [ends[f"c {label}"] for label in "ABC"[: len(parts)]] == parts
    assert ends["the grand total"] == total


def test_noise_with_a_bound(tmp_path: Path):
    """G9."""
    figures = "A=1000 B=1100 C=16 T=2109"
    noisy = listed(tmp_path, figures, noise={"kind": "bounded", "deviation": 2})
    ends = intervals_of(noisy)

    assert [ends[f"c {label}"] for label in "ABC"] == [(998, 999), (1098, 1099), (14, 15)]
    assert ends["the grand total"] == (2110, 2111)
    assert findings_of(listed(tmp_path, figures, "d1", noise={"kind": "bounded", "deviation": 1}))


def people(folder: Path, figures: str, name: str, **about: Any) -> PublishedTable:
    return listed(folder, figures, name, "age", declaration={}, about={"who": "patients", **about})


def test_all_less_men_is_women(tmp_path: Path):
    """G17."""
    everyone = people(tmp_path, "21-30=1 31-40=10 41-50=12 51-60=15", "all")
    men = people(tmp_path, "21-30=0 31-40=5 41-50=5 51-60=3", "men", sex="male")
    ends = intervals_of(everyone, men)

    women = [ends[f"{age}, sex other than male"] for age in ("age 21-30", "age 31-40", "age 41-50", "age 51-60")]
    assert women == [(1, 1), (5, 5), (7, 7), (12, 12)]


def test_a_demonstration_of_acro_is_undone_by_a_second_table(tmp_path: Path):
    """G17: neither table has totals, and the categories of each are all there are."""
    recommended = (
        "r,great,pretentious,usual\nnot,1440,1440,1440\npriority,858,1484,1924\nrecommend,x,x,x\n"
        "spec,2022,1264,758\nvery,x,132,196\n"
    )
    financed = "f,great,pretentious,usual\nconvenient,2160,2160,2160\ninconv,2160,2160,2160\n"

    def across(content: str, down: str, name: str, **own: Any) -> PublishedTable:
        layout = {"rows": [down], "columns": ["parents"]}
        return read(tmp_path, content, declared({down: own, "parents": {}}, layout=layout, suppressed=HIDDEN), name)

    first = across(recommended, "r", "first", exhaustive=True)
    second = across(financed, "f", "second", exhaustive=True)
    hidden = [
        "r recommend, parents great",
        "r very, parents great",
        "r recommend, parents pretentious",
        "r recommend, parents usual",
    ]

    assert [intervals_of(first)[one] for one in hidden] == [(0, inf)] * 4
    assert [intervals_of(first, second)[one] for one in hidden] == [(0, 0), (0, 0), (0, 0), (2, 2)]
    apart = across(recommended, "r", "apart")
    assert intervals_of(apart, second)["r recommend, parents usual"] == (0, 4320)


def test_a_subgroup_is_a_cell_of_a_table_with_the_dimension(tmp_path: Path):
    by_sex = crossed(
        tmp_path,
        "row,young,old,T\nmale,x,x,7\nfemale,x,x,3\nT,6,4,10\n",
        "by_sex",
        dimensions={"row": SUMMED, "col": SUMMED},
    )
    male = listed(tmp_path, "young=5 old=2 T=7", "male", "col", about={"row": "male"})
    (joint,), links = join_figures([by_sex, male])

    assert [len(joint.where(one)) for one in joint.variables["male", "n"]] == [2, 2, 2]
    assert intervals_of(by_sex, male)["row female, col young"] == (1, 1)
    assert links[0].joined
    assert not joint.extras


def test_a_subgroup_by_complement(tmp_path: Path):
    by_race = listed(tmp_path, "White=50 Black=40 Other=x T=97", "all", "race")
    others = read(tmp_path, "n\n90\n", declared({}, about={"race": {"not": "Other"}}), "most")

    assert intervals_of(by_race, others)["race Other"] == (7, 7)


def test_a_cell_that_cannot_be_is_0_in_another_table(tmp_path: Path):
    possible = read(
        tmp_path, "sex,d,n\nf,a,3\nf,b,4\nm,a,2\n", declared({"sex": {}, "d": {}}, absent="structural"), "a"
    )
    hidden = read(tmp_path, "sex,d,n\nm,a,x\nm,b,x\n", declared({"sex": {}, "d": {}}, suppressed=HIDDEN), "b")

    assert intervals_of(possible, hidden)["sex m, d b"] == (0, 0)


def test_figures_whose_common_steps_leave_64_bits_are_a_finding(tmp_path: Path):
    sums = {"n": {"sum": "x", "decimals": "exact"}}
    first = read(tmp_path, f"c,n\nA,{2**59}\n", declared({"c": {}}, sums), "first")
    second = read(tmp_path, "c,n\nA,0.125\n", declared({"c": {}}, sums), "second")
    (finding,) = CellsView(policy_in(tmp_path), {"first": first, "second": second}).findings

    assert "too many digits together" in finding.says


def test_bands_that_are_cut_differently_have_atoms(tmp_path: Path):
    ordered = {"total": "T", "order": "by_bounds"}
    at_25 = listed(tmp_path, "17-24=10 25-34=20 T=30", "a", "age", declaration=ordered)
    at_26 = listed(tmp_path, "17-25=13 26-34=17 T=30", "b", "age", declaration=ordered)
    brackets = listed(
        tmp_path,
        "[17,25)=10 [25,35)=20 T=30".replace("[17,25)", '"[17, 25)"').replace("[25,35)", '"[25, 35)"'),
        "c",
        "age",
        declaration=ordered,
    )

    assert intervals_of(at_25, at_26)["age 25"] == (3, 3)
    assert len(intervals_of(at_25, at_26)) == 6
    assert len(intervals_of(at_25, brackets)) == 3


def test_a_subgroup_in_wider_bands_is_taken_off_sums_of_the_narrow_ones(tmp_path: Path):
    ordered = {"total": "T", "order": "by_bounds"}
    everyone = listed(tmp_path, "17-24=10 25-34=20 35-44=9 T=39", "all", "age", declaration=ordered)
    men = listed(tmp_path, "17-34=28 35-44=9 T=37", "men", "age", declaration=ordered, about={"sex": "male"})

    assert intervals_of(everyone, men)["age 17-34, sex other than male"] == (2, 2)


def test_totals_of_what_is_shown_take_no_part(tmp_path: Path):
    text = "row,1,2,T\nA,x,5,5\nB,3,4,7\nT,3,9,12\n"
    everything = crossed(tmp_path, text, "everything")
    shown = crossed(tmp_path, text, "shown", totals="shown")

    assert intervals_of(everything)["row A, col 1"] == (0, 0)
    assert intervals_of(shown)["row A, col 1"] == (0, inf)
    assert intervals_of(shown)["the total of row A"] == (5, inf)
    assert intervals_of(shown)["the total of row B"] == (7, 7)


def test_hidden_figures_that_are_left_out_of_totals_are_hinted_at(tmp_path: Path):
    def hints(text: str, **more: Any) -> tuple[str, ...]:
        table = crossed(tmp_path, text, **more)
        return CellsView(policy_in(tmp_path), {"table": table}).hints

    text = "row,1,2,T\nA,x,5,5\nB,3,4,7\nT,3,9,12\n"
    assert "either they are all 0, or totals are of what is shown" in hints(text)[0]
    assert not hints(text, totals="shown")
    assert not hints("row,1,2,T\nA,x,5,6\nB,3,4,7\nT,4,9,13\n")
    assert not hints("row,1,2,T\nA,1,5,6\nB,3,4,7\nT,4,9,13\n")


def test_a_table_that_does_not_add_up(tmp_path: Path):
    """The singleton table of the manual of tau-Argus as it is printed."""
    (says,) = findings_of(listed(tmp_path, "A=52 B=24 T=73"))

    assert says == (
        f"table.csv:4: n of the grand total is not the sum of its 2 categories of c (it is 3 less); {CORRECT}."
    )


def test_a_token_that_contradicts_a_total(tmp_path: Path):
    table = listed(tmp_path, "A=52 B=<10 T=52", tokens={"<10": [1, 9]})
    (finding,) = contradictions_of(join_figures([table])[0])

    assert finding.kind == "contradiction"
    assert "totals are of what is shown" in finding.says
    assert finding.cells[0].labels == {"c": "T"}
    assert finding.cells[0].line == 4


def test_a_combination_without_a_row_that_is_not_zero(tmp_path: Path):
    says = findings_of(listed(tmp_path, "A=5 T=9", declaration={"total": "T", "order": ["A", "B"]}))

    assert "declare `absent: unknown`" in says[0]


def test_a_partial_hierarchy_is_at_least_its_parts(tmp_path: Path):
    partial = {"total": "T", "complete": False}

    assert intervals_of(listed(tmp_path, "A=5 B=x T=9", declaration=partial))["c B"] == (0, 4)
    assert (
        "is less than the sum of its listed 2 categories"
        in findings_of(listed(tmp_path, "A=5 B=6 T=9", declaration=partial))[0]
    )


def test_two_tables_that_differ(tmp_path: Path):
    first = listed(tmp_path, "A=5 B=4 T=9", "first")
    second = listed(tmp_path, "A=5 B=5 T=10", "second")
    same_total = listed(tmp_path, "A=4 B=5 T=9", "third")

    (says,) = findings_of(first, second)
    assert says == (
        f"second.csv:4: n of the grand total differs between the tables 'second' and 'first' (first.csv:4), likewise 1 "
        f"other cell; correct one of them{OTHER_PEOPLE}."
    )
    assert "grand totals" not in findings_of(first, same_total)[0]


def test_several_relations_together(tmp_path: Path):
    """No single table contradicts itself, and no cell that two share."""
    first = crossed(tmp_path, "row,1,2,T\nA,x,x,5\nB,x,x,5\nT,9,1,10\n", "first")
    second = listed(tmp_path, "1=1 2=x T=5", "second", "col", about={"row": "A"})
    (finding,) = contradictions_of(join_figures([first, second])[0])

    assert finding.says.startswith("first.csv")
    assert "these sums cannot all hold" in finding.says
    assert finding.cells


def test_sums_are_joined_in_common_steps(tmp_path: Path):
    one = declared({"c": SUMMED}, {"n": {"sum": "income", "decimals": 1}}, suppressed=HIDDEN)
    two = declared({"c": SUMMED}, {"m": {"sum": "income", "decimals": "exact"}}, suppressed=HIDDEN)
    first = read(tmp_path, "c,n\nA,1.5\nB,x\nT,4.0\n", one, "first")
    second = read(tmp_path, "c,m\nA,1.52\nB,x\nT,x\n", two, "second")
    (joint,), _ = join_figures([first, second])

    assert (joint.of, joint.scale) == (("sum", "income"), 100)
    assert intervals_of(first, second)["c A"] == (1.52, 1.52)
    assert intervals_of(first, second)["c B"] == (2.43, 2.53)


def test_what_is_joined_and_what_is_not(tmp_path: Path):
    visits = {"n": {"counts": "rows", "of": "visit"}}
    tables = [
        people(tmp_path, "1=3", "a"),
        people(tmp_path, "1=3", "b"),
        listed(tmp_path, "1=3 T=3", "c", about={"who": "others"}),
        read(tmp_path, "n\n7\n", declared({}, visits, about={"who": "patients"}), "d"),
    ]
    links = {one.tables: (one.joined, one.why) for one in join_figures(tables)[1]}

    assert links["a", "b"] == (True, "both have counts of people of patients")
    assert links["a", "c"] == (False, "`about` says that they are about different people")
    assert links["b", "d"] == (False, "they have no counts, or sums of one column, in common")


def test_two_measures_of_one_kind_are_joined_by_name(tmp_path: Path):
    measures = {"patients": {"counts": "people"}, "smokers": {"counts": "people"}}
    one = read(tmp_path, "c,patients,smokers\nA,5,2\n", declared({"c": {}}, measures), "one")
    two = read(tmp_path, "c,smokers\nA,2\n", declared({"c": {}}, {"smokers": {"counts": "people"}}), "two")

    assert not findings_of(one, two)
    assert [sorted(joint.variables) for joint in join_figures([one, two])[0]] == [
        [("one", "patients")],
        [("one", "smokers"), ("two", "smokers")],
    ]


def test_figures_that_cannot_be_added_are_a_finding(tmp_path: Path):
    table = listed(tmp_path, f"A={2**60} B={2**60} T={2**61 - 1}")
    (finding,) = CellsView(policy_in(tmp_path), {"table": table}).findings

    assert finding.kind == "impossible_figure"
    assert "cannot be added up" in finding.says


def test_a_computation_in_words(tmp_path: Path):
    table = crossed(tmp_path, "row,1,2,3,T\nA,x,5,4,12\nB,3,4,4,11\nT,6,9,8,23\n")
    (joint,), _ = join_figures([table])
    number = {say_variable(joint, one): one for one in range(len(joint.system.low))}

    def said(*terms: tuple[int, str]) -> str:
        return say_computation(joint, [(factor, number[words]) for factor, words in terms])

    assert said((1, "the total of row A"), (-1, "row A, col 2"), (-1, "row A, col 3")) == (
        "the total of row A less col 2 and col 3"
    )
    assert said((1, "the total of col 1"), (-1, "row B, col 1")) == "the total of col 1 less row B"
    assert said((1, "the grand total"), (-1, "the total of row B"), (-1, "row A, col 2")) == (
        "the grand total less the total of row B and row A, col 2"
    )
    half = [(Fraction(1, 2), number["the grand total"])]
    assert say_computation(joint, half) == "1/2 of the grand total"


def test_a_computation_across_tables_names_them(tmp_path: Path):
    everyone = people(tmp_path, "21-30=1 31-40=10", "all")
    men = people(tmp_path, "21-30=0 31-40=5", "men", sex="male")
    (joint,), _ = join_figures([everyone, men])
    number = {say_variable(joint, one): one for one in range(len(joint.system.low))}
    terms = [(1, number["age 21-30"]), (-1, number["sex male, age 21-30"])]

    assert say_computation(joint, terms) == "age 21-30 of 'all' less sex male of 'men'"


def test_a_view_reads_all_tables_and_names_all_that_cannot_be_read(tmp_path: Path):
    aggregates = {name: declared({"c": SUMMED}, {"n": {"counts": "people"}}) for name in ("one", "two", "three")}
    policy = policy_in(tmp_path, aggregates=aggregates)
    for name, content in (("one", "c,n\nA,3\nT,3\n"), ("two", "c,m\nA,1\n"), ("three", "d,n\nA,1\n")):
        (tmp_path / f"{name}.csv").write_text(content, encoding="utf-8")
    engines = {name: open_engine(tmp_path / f"{name}.csv", 2**28) for name in aggregates}

    with pytest.raises(DataError, match=r"(?s)two.csv: it has no column 'n'.*three.csv: it has no column 'c'"):
        CellsView.of(policy, engines)
    view = CellsView.of(policy_in(tmp_path, aggregates={"one": aggregates["one"]}), engines)
    cell = view.failing_cell("one", "n", 0, "is small", {"value": 3})
    assert (cell.labels, cell.line, cell.says, cell.figures) == ({"c": "A"}, 2, "is small", None)
    assert not view.has_microdata
    assert not view.findings


SEXES, WARDS = ["m", "f", "x"], ["A", "B", "C"]
BANDS = [["0-3", "4-9"], ["0-4", "5-9"], ["0-1", "2-4", "5-9"], [str(one) for one in range(10)], ["0-3", "4-6", "7-9"]]
LEAVES = [{"sex": sex, "age": age, "ward": ward} for sex in SEXES for age in range(10) for ward in WARDS]


def is_in(person: dict[str, Any], name: str, key: Key) -> bool:
    """Whether a person is in a category, by the definition of each."""
    if isinstance(key, str):
        band = parse_band(key) if name == "age" else None
        return person[name] == key if band is None else band[0] <= person[name] < band[1]
    if key[0] == "not":
        return not is_in(person, name, key[1])
    if key[0] == "rest":
        return not all(is_in(person, *one) for one in key[1])
    if key[0] == "of":
        return is_in(person, name, key[1]) and is_in(person, name, key[2])
    return bool(key[0] <= person[name] < key[1])


def random_tables(folder: Path, seed: int, totals: float) -> tuple[list[PublishedTable], list[int]]:
    """Up to three tables of one population, and the people of each leaf."""
    draw = random.Random(seed)  # noqa: S311
    leaves = [int(draw.random() ** 3 * 8) for _ in LEAVES]
    tables = []
    for number in range(draw.randint(1, 3)):
        names = draw.sample(["sex", "age", "ward"], draw.randint(0, 2))
        dimensions = {name: dict(SUMMED) if draw.random() < totals else {} for name in names}
        if "age" in names:
            dimensions["age"]["order"] = "by_bounds"
        about: dict[str, Any] = {"who": "all"}
        for name, values in (("sex", SEXES), ("ward", WARDS)):
            if name not in names and draw.random() < 0.4:
                value = draw.choice(values)
                about[name] = value if draw.random() < 0.7 else {"not": value}
        group = {
            name: one if isinstance(one, str) else ("not", one["not"]) for name, one in about.items() if name != "who"
        }
        categories = {"sex": SEXES, "ward": WARDS, "age": draw.choice(BANDS)}
        lines = [",".join([*names, "n"])]
        for labels in product(*[[*categories[one], *(["T"] if "total" in dimensions[one] else [])] for one in names]):
            keys = {**group, **{name: label for name, label in zip(names, labels, strict=True) if label != "T"}}
            n = counted(leaves, keys)
            lines.append(",".join([*labels, "x" if draw.random() < 0.35 else "<3" if 1 <= n <= 2 else str(n)]))
        declaration = declared(dimensions, about=about, suppressed={**HIDDEN, "<3": [1, 2]})
        tables.append(read(folder, "\n".join(lines) + "\n", declaration, f"t{number}"))
    return tables, leaves


def counted(leaves: list[int], keys: dict[str, Key]) -> int:
    """The people in all of some categories."""
    inside = (n for one, n in zip(LEAVES, leaves, strict=True) if all(is_in(one, *key) for key in keys.items()))
    return sum(inside)


@pytest.mark.parametrize("totals", [1.0, 0.5])
@pytest.mark.parametrize("seed", range(6))
def test_the_truth_solves_the_system_of_random_tables(tmp_path: Path, seed: int, totals: float):
    require_truth(tmp_path, seed, totals)


@pytest.mark.long
@pytest.mark.parametrize("totals", [1.0, 0.5])
@pytest.mark.parametrize("start", range(0, 60, 20))
def test_the_truth_solves_the_system_of_many_random_tables(tmp_path: Path, start: int, totals: float):
    for seed in range(start, start + 20):
        require_truth(tmp_path, seed, totals)


def require_truth(folder: Path, seed: int, totals: float) -> None:
    tables, leaves = random_tables(folder, seed, totals)
    systems, _ = join_figures(tables)
    (joint,) = systems
    truth = np.array([counted(leaves, joint.labels(one)) for one in range(len(joint.system.low))])

    assert not any(table.findings for table in tables)
    assert not (joint.system.relations @ truth).any()
    assert joint.system.inequalities is None or (joint.system.inequalities @ truth >= 0).all()
    assert (joint.system.low <= truth).all()
    assert (truth <= joint.system.high).all()
    assert not list(contradictions_of(systems))


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, 24, 6))
def test_cells_and_leaves_agree(tmp_path: Path, start: int):
    """Every interval of the system is that of unknown people in the finest categories."""
    for seed in range(start, start + 6):
        (joint,), _ = join_figures(random_tables(tmp_path, seed, 1.0)[0])
        system, cells = joint.system, len(joint.system.low)
        members = [
            [all(is_in(one, *key) for key in joint.labels(cell).items()) for one in LEAVES] for cell in range(cells)
        ]
        sums = np.hstack([np.eye(cells), -np.array(members, float)])
        ends = [
            (-inf if low <= -UNBOUNDED else low, inf if high >= UNBOUNDED else high)
            for low, high in zip(system.low.tolist(), system.high.tolist(), strict=True)
        ]
        rows = system.relations.toarray().astype(float)
        under = None if system.inequalities is None else system.inequalities.toarray().astype(float)
        for cell in range(cells):
            own = limits(np.eye(cells)[cell], rows, ends, under)
            leaf = limits(np.eye(cells + len(LEAVES))[cell], sums, ends + [(0, inf)] * len(LEAVES), None)
            assert own == pytest.approx(leaf), (seed, say_variable(joint, cell))


def limits(target: Any, rows: Any, ends: list[tuple[float, float]], under: Any) -> list[float]:
    """The least and the largest value of a sum under relations."""
    extremes = []
    for sign in (1, -1):
        more = {} if under is None else {"A_ub": -under, "b_ub": np.zeros(len(under))}
        equal = {} if not len(rows) else {"A_eq": rows, "b_eq": np.zeros(len(rows))}
        solved = linprog(sign * target, bounds=ends, **equal, **more)
        extremes.append(sign * inf if solved.status == 3 else round(sign * solved.fun, 6) + 0.0)
    return [-extremes[0] if extremes[0] == inf else extremes[0], inf if extremes[1] == -inf else extremes[1]]
