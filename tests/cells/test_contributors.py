"""The records behind tables: people and contributions of each cell, and figures that agree with them, or do not."""

from __future__ import annotations

import random
from collections import defaultdict
from fractions import Fraction
from itertools import product
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from released import declared, policy_in, read

from tcdp_audit.core.base.errors import CheckError, DataError, PolicyError
from tcdp_audit.core.cells.contributors import Records
from tcdp_audit.core.cells.table import PublishedTable
from tcdp_audit.core.cells.view import CellsView
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.policy.aggregates import Microdata
from tcdp_audit.core.policy.model import Conventions

SUMMED = {"total": "T"}


def records(folder: Path, frame: Any, unit: str | None = None, **of: Any) -> Records:
    """The records of a frame, or of a CSV text."""
    if isinstance(frame, str):
        path = folder / "people.csv"
        path.write_text(frame, encoding="utf-8")
        frame = path
    microdata = Microdata.model_validate({"file": "people.csv", "unit": unit, "of": of})
    policy = policy_in(folder, microdata=microdata, conventions=Conventions())
    with open_engine(frame, 2**28, "people") as engine:
        return Records.of(policy, engine)


def says(records_: Records, *tables: PublishedTable) -> list[str]:
    return [one.says.partition("; ")[0] for one in records_.agreement({one.name: one for one in tables}).findings]


PATIENTS = "ward,income\n" + "".join(
    f"A,{income}\n" for income in [*[1000] * 3, 2000, 2000, 2000, 3000, 5000, 6000, 10000]
)
T20 = f"{PATIENTS}A,100000\nB,7\nB,8\n"


def test_the_mean_of_eleven_incomes(tmp_path: Path):
    """G12."""
    measures = {
        "n": {"counts": "people"},
        "m": {"mean": "income", "over": "n", "decimals": 2},
        "x": {"maximum": "income", "decimals": 0},
        "q": {"quantile": "income", "at": 0.95, "decimals": 0},
        "h": {"quantile": "income", "at": 0.5, "decimals": 0},
        "s": {"sum": "income", "decimals": 0},
    }
    table = read(
        tmp_path, "ward,n,m,x,q,h,s\nA,11,12090.91,100000,100000,2000,133000\n", declared({"ward": {}}, measures)
    )
    people = records(tmp_path, T20)

    assert table.cells == 1
    assert says(people, table) == ["people.csv: 2 records are in no category of ward of 'table', first record 12"]

    both = read(
        tmp_path,
        "ward,n,m,x,q,h,s\nA,11,12090.91,100000,100000,2000,133000\nB,2,7.50,8,8,7,15\n",
        declared({"ward": {}}, measures),
    )
    own = people.contributions(both, "income", 2)
    assert not says(people, both)
    assert people.agreement({"table": both}).compared == 12
    assert (own.people[0], own.total[0], own.largest[0].tolist()) == (11, 133000, [100000, 10000])


def test_figures_that_differ_are_named(tmp_path: Path):
    people = records(tmp_path, "ward,age,x\nA,1,5\nA,2,6\nB,1,7\n")
    content = "ward,age,n\nA,1,1\nA,2,<3\nA,T,3\nB,1,1\nB,T,1\nT,1,2\nT,2,1\nT,T,4\n"
    table = read(tmp_path, content, declared({"ward": SUMMED, "age": SUMMED}, suppressed={"<3": [2, 2]}))
    empty = read(tmp_path, "ward,age,n\nA,1,1\nB,1,1\n", declared({"ward": {}, "age": {"order": ["1", "2"]}}), "empty")

    assert says(people, table) == [
        "table.csv:4: n of the total of ward A is not the figure of the records, likewise 1 other cell",
        "table.csv:3: n of ward A, age 2 is hidden by a text that does not say what the records give",
    ]
    assert says(people, empty) == ["empty.csv: n of ward A, age 2 has no row, but the records have people in it"]
    with pytest.raises(CheckError, match="nothing is judged"):
        people.contributions(table, "x")
    with pytest.raises(CheckError, match="nothing is judged"):
        people.people(table)


def test_what_cannot_be_compared_is_said(tmp_path: Path):
    people = records(tmp_path, "ward,x\nA,5\n")
    noisy = read(tmp_path, "ward,n\nA,9\n", declared({"ward": {}}, noise={"kind": "laplace", "scale": 2}))
    ratio = read(tmp_path, "ward,r\nA,9\n", declared({"ward": {}}, {"r": {"ratio": "x"}}), "ratio")
    agreement = people.agreement({"noisy": noisy, "ratio": ratio})

    assert agreement.not_compared == (
        "table.csv: n was not compared with the records: its noise has no bound.",
        "ratio.csv: r was not compared with the records: of what its parts are, the policy says nothing.",
    )
    assert not agreement.findings
    assert agreement.compared == 0


@pytest.mark.parametrize(
    ("frame", "measure", "message"),
    [
        ("ward,x\nA,5\n", {"mean": "y"}, "the microdata have no column 'y' for a measure"),
        ("w,x\nA,5\n", {"mean": "x"}, "the microdata have no column 'ward' for the dimension 'ward'"),
        ("ward,x\nA,five\n", {"mean": "x"}, "'x' has texts that are no plain numbers, first in record 1"),
        ("ward,x\nA,5\n", {"share": "x"}, "a share is of a column of 1 and 0, true and false, or yes and no"),
        (f"ward,x\nA,{10**19}\n", {"mean": "x"}, "'x' has too many digits"),
    ],
)
def test_records_that_cannot_be_used_are_a_finding(tmp_path: Path, frame: str, measure: dict[str, str], message: str):
    table = read(tmp_path, "ward,m\nA,5\n", declared({"ward": {}}, {"m": measure}))
    (finding,) = records(tmp_path, frame).agreement({"table": table}).findings

    assert message in finding.says
    assert finding.kind == "cells_agree"
    assert "five" not in finding.says


def test_records_without_a_person_are_refused(tmp_path: Path):
    with pytest.raises(DataError, match="1 record without 'id'"):
        records(tmp_path, "id,ward\n1,A\n,B\n", "id")
    with pytest.raises(DataError, match="no column 'id'"):
        records(tmp_path, "ward\nA\n", "id")
    with pytest.raises(DataError, match="no records"):
        records(tmp_path, "id,ward\n", "id")


def test_values_fall_into_bands_by_number_or_by_a_list(tmp_path: Path):
    ordered = {"total": "T", "order": "by_bounds"}
    table = read(tmp_path, "age,n\n<18,2\n18-24,1\n25+,3\nT,6\n", declared({"age": ordered}))
    people = "a,v\n17.5,x\n3,x\n18,y\n25,z\n90,z\n25.0,z\n"
    lists = {"<18": ["x"], "18-24": ["y"], "25+": ["z"]}
    ranges = {"<18": ["0-17", "17.5"], "18-24": ["[18, 25)"], "25+": ["25+"]}
    (tmp_path / "bands.yaml").write_text("'<18': [x]\n18-24: [y]\n25+: [z]\n", encoding="utf-8")
    (tmp_path / "wrong.yaml").write_text("- x\n", encoding="utf-8")

    for of in ("a", {"column": "a"}, {"column": "a", "bands": ranges}, {"column": "v", "bands": lists}):
        assert not says(records(tmp_path, people, age=of), table), of
    assert not says(records(tmp_path, people, age={"column": "v", "bands": "bands.yaml"}), table)
    assert says(records(tmp_path, people, age={"column": "v", "bands": {"<18": ["x"]}}), table)
    with pytest.raises(PolicyError, match="a mapping of each category"):
        says(records(tmp_path, people, age={"column": "v", "bands": "wrong.yaml"}), table)


def test_a_subgroup_and_the_rest(tmp_path: Path):
    people = records(tmp_path, "sex,c\nm,A\nm,B\nf,A\nx,A\n", sex={"column": "sex", "bands": {"male": ["m"]}})
    male = read(tmp_path, "c,n\nA,1\nB,1\n", declared({"c": {}}, about={"sex": "male"}), "male")
    others = read(tmp_path, "c,n\nA,2\nB,0\n", declared({"c": {}}, about={"sex": {"not": "male"}}), "others")

    assert not says(people, male, others)


def test_negative_contributions_are_refused_or_counted_without_sign(tmp_path: Path):
    people = records(tmp_path, "c,x\nA,-5\nA,3\n")
    table = read(tmp_path, "c,n\nA,2\n", declared({"c": {}}))
    own = people.contributions(table, "x", 3, "absolute")

    assert (own.total.tolist(), own.size.tolist(), own.largest.tolist()) == ([-2], [8], [[5, 3, 0]])
    with pytest.raises(CheckError, match="negative contributions"):
        people.contributions(table, "x")


def test_totals_of_what_is_shown_are_at_most_those_of_the_records(tmp_path: Path):
    people = records(tmp_path, "c\nA\nA\nB\n")
    shown = {"suppressed": {"x": "unknown"}, "totals": "shown"}

    assert not says(people, read(tmp_path, "c,n\nA,2\nB,x\nT,2\n", declared({"c": SUMMED}, **shown)))
    assert says(people, read(tmp_path, "c,n\nA,2\nB,x\nT,4\n", declared({"c": SUMMED}, **shown), "more"))


def test_a_view_compares_with_the_records(tmp_path: Path):
    (tmp_path / "t.csv").write_text("c,n\nA,2\n", encoding="utf-8")
    (tmp_path / "p.csv").write_text("c\nA\n", encoding="utf-8")
    policy = policy_in(tmp_path, aggregates={"t": declared({"c": {}})}, microdata=None, conventions=Conventions())
    view = CellsView.of(policy, {"t": open_engine(tmp_path / "t.csv", 2**28)}, open_engine(tmp_path / "p.csv", 2**28))

    assert view.has_microdata
    assert [one.kind for one in view.findings] == ["cells_agree"]
    assert view.not_compared == ()


REGIONS = {"north": ["A", "B"], "south": {"west": ["C"], "east": ["D", "E"]}}
SIZES = {"big": ["A", "C"], "small": ["B", "D", "E"]}
UNDER = {
    "north": "AB", "south": "CDE", "west": "C", "east": "DE", "big": "AC", "small": "BDE", "T": "ABCDE"
} | {one: one for one in "ABCDE"}  # fmt: skip
AGES = {"0-9": (0, 9), "10-19": (10, 19), "20+": (20, 99), "T": (0, 99)}
MEASURES = {
    "n": {"counts": "people"},
    "r": {"counts": "rows", "of": "visit"},
    "s": {"sum": "x", "decimals": "exact", "at_least": -100},
    "m": {"mean": "x", "decimals": 2, "at_least": -100},
    "p": {"share": "y", "decimals": 1},
    "lo": {"minimum": "x", "decimals": "exact", "at_least": -100},
    "hi": {"maximum": "x", "decimals": "exact", "at_least": -100},
    "q": {"quantile": "x", "at": "0.75", "decimals": "exact", "at_least": -100},
    "d": {"deviation": "x", "decimals": 3},
}


def random_people(seed: int) -> pd.DataFrame:
    draw = random.Random(seed)  # noqa: S311
    rows = [
        {
            "id": f"p{draw.randrange(40)}",
            "ward": draw.choice("ABCDE"),
            "age": draw.randrange(30),
            "x": None if draw.random() < 0.1 else f"{draw.randrange(-50, 3000) / 10}",
            "y": draw.choice(["yes", "no"]),
        }
        for _ in range(draw.randint(1, 90))
    ]
    return pd.DataFrame(rows)


def by_person(frame: pd.DataFrame, ward: str, ages: str) -> tuple[list[Fraction], list[bool], int, int]:
    """The added values of everyone in a cell who has one, whether each has y, and the numbers of people and rows."""
    values: dict[str, list[Fraction]] = defaultdict(list)
    has: dict[str, bool] = defaultdict(bool)
    rows = 0
    low, high = AGES[ages]
    for one in frame.to_dict("records"):
        if one["ward"] in UNDER[ward] and low <= one["age"] <= high:
            rows += 1
            has[one["id"]] |= one["y"] == "yes"
            if not pd.isna(one["x"]):
                values[one["id"]].append(Fraction(one["x"]))
    return [sum(own, Fraction(0)) for own in values.values()], list(has.values()), len(has), rows


def figures(frame: pd.DataFrame, ward: str, ages: str) -> list[str]:
    """The figures of `MEASURES` of a cell, computed slowly."""
    values, has, people, rows = by_person(frame, ward, ages)
    n, total = len(values), sum(values, Fraction(0))
    ranked = sorted(values)
    spread = sqrt((n * sum(one * one for one in values) - total**2) / (n * (n - 1))) if n > 1 else None
    shown: list[float | Fraction | str | None] = [
        *(people, rows, total),
        f"{float(total / n):.2f}" if n else None,
        f"{100 * sum(has) / people:.1f}" if people else None,
        *((ranked[0], ranked[-1], ranked[ceil(Fraction(3, 4) * n) - 1]) if n else (None, None, None)),
        None if spread is None else f"{spread:.3f}",
    ]
    return [
        "-" if one is None else one if isinstance(one, str) else str(float(one)).removesuffix(".0") for one in shown
    ]


def require_agreement(folder: Path, seed: int) -> None:
    draw, frame = random.Random(seed), random_people(seed)  # noqa: S311
    hierarchy = {**REGIONS, **SIZES} if draw.random() < 0.5 else REGIONS
    wards = [one for one in UNDER if one not in SIZES or hierarchy is not REGIONS]
    dimensions = {"ward": {"total": "T", "hierarchy": hierarchy}, "age": {"total": "T", "order": "by_bounds"}}
    cells = {(ward, ages): figures(frame, ward, ages) for ward, ages in product(wards, AGES)}
    content = (
        ",".join(["ward", "age", *MEASURES])
        + "\n"
        + "".join(",".join([*key, *own]) + "\n" for key, own in cells.items())
    )
    declaration = declared(dimensions, MEASURES, suppressed={"-": "unknown"})
    table = read(folder, content, declaration)
    people = records(folder, frame, "id")

    assert not table.findings
    assert not says(people, table)
    own = people.contributions(table, "x", 3, "absolute")
    for cell in range(table.cells):
        values, _, everyone, _ = by_person(frame, *table.labels(cell).values())
        sizes = sorted((abs(one) for one in values), reverse=True)
        assert own.people[cell] == len(values)
        assert Fraction(int(own.total[cell]), own.scale) == sum(values)
        assert Fraction(int(own.size[cell]), own.scale) == sum(sizes)
        assert [Fraction(int(one), own.scale) for one in own.largest[cell]] == (sizes + [Fraction(0)] * 3)[:3]
        assert people.people(table)[cell] == everyone
    change_one(folder, draw, cells, declaration, frame)


def change_one(folder: Path, draw: random.Random, cells: dict[Any, list[str]], declaration: Any, frame: Any) -> None:
    """A figure that is changed by more than its rounding is the only one that differs."""
    key = draw.choice([one for one, own in cells.items() if own[-1] != "-"] or list(cells))
    place = draw.choice([number for number, one in enumerate(cells[key]) if one != "-"])
    changed = {**cells, key: [*cells[key]]}
    changed[key][place] = (
        str(Fraction(changed[key][place]) + 1) if place < 2 else f"{float(changed[key][place]) + 1.1:.1f}"
    )
    if place == 4:
        changed[key][place] = f"{float(cells[key][place]) - 0.2 if float(cells[key][place]) else 0.2:.1f}"
    content = (
        ",".join(["ward", "age", *MEASURES])
        + "\n"
        + "".join(",".join([*one, *own]) + "\n" for one, own in changed.items())
    )
    table = read(folder, content, declaration, "changed")
    findings = records(folder, frame, "id").agreement({"changed": table}).findings

    assert [(tuple(one.cells[0].labels.values()), one.measure, one.count) for one in findings] == [
        (key, list(MEASURES)[place], 1)
    ]


@pytest.mark.parametrize("seed", range(3))
def test_figures_of_random_records_agree(tmp_path: Path, seed: int):
    require_agreement(tmp_path, seed)


@pytest.mark.long
@pytest.mark.parametrize("start", range(10, 70, 15))
def test_figures_of_many_random_records_agree(tmp_path: Path, start: int):
    for seed in range(start, start + 15):
        require_agreement(tmp_path, seed)
