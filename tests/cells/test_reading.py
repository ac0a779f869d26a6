"""Tables of figures as they are read: intervals of every kind, layouts, lines, and what can be wrong with a file."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import parquet
from pydantic import ValidationError
from released import declared, read, rows_of

from tcdp_audit.core.base.errors import DataError, PolicyError
from tcdp_audit.core.cells.categories import parse_band
from tcdp_audit.core.cells.figures import UNDECLARED, FigureTexts, rounded_count
from tcdp_audit.core.cells.table import UNBOUNDED, CellState
from tcdp_audit.core.policy.aggregates import Measure, Rounding

WARDS = {"ward": {"total": "All"}}
BOTH = {"ward": {"total": "All"}, "age": {"total": "All"}}
LONG = "ward,age,n\nA,young,3\nA,old,4\nA,All,7\nB,young,5\nB,old,<3\nB,All,7\nAll,young,8\nAll,old,6\nAll,All,14\n"
TOKEN = {"<3": [1, 2]}


def shown_for(kind: str, base: int, half: str | None, value: int) -> set[int]:
    """What a true count may be published as, from the definition of each method."""
    below, above = value // base * base, -(-value // base) * base
    if kind == "down":
        return {below}
    if kind == "up":
        return {above}
    if kind in ("random", "controlled"):
        return {below, above}
    if kind == "midpoint":
        return {above - base // 2} if value else {0}
    if 2 * (value - below) != base:
        return {below if 2 * (value - below) < base else above}
    even = below if below // base % 2 == 0 else above
    return {"up": {above}, "even": {even}}.get(half or "unknown", {above, even})


METHODS = [
    *(("conventional", half) for half in ("up", "even", "unknown", None)),
    *((kind, None) for kind in ("random", "controlled", "down", "up", "midpoint")),
]


@pytest.mark.parametrize(("kind", "half"), METHODS)
@pytest.mark.parametrize("base", range(2, 13))
def test_intervals_of_rounded_counts_are_exactly_what_rounds_there(kind: str, half: str | None, base: int):
    rounding = Rounding(base=base, kind=kind, half=half)
    by_shown: dict[int, list[int]] = {}
    for value in range(200 + 2 * base):
        for shown in shown_for(kind, base, half, value):
            by_shown.setdefault(shown, []).append(value)

    for shown in range(201):
        ends = rounded_count(shown, rounding)
        values = by_shown.get(shown)
        if values is None:
            assert ends is None, shown
        else:
            assert ends is not None
            assert (max(ends[0], 0), ends[1]) == (min(values), max(values)), shown
            assert values == list(range(min(values), max(values) + 1))


@pytest.mark.parametrize("steps", [1, 2])
def test_controlled_rounding_may_move_a_figure_by_further_bases(steps: int):
    assert rounded_count(10, Rounding(base=5, kind="controlled", steps=steps)) == (
        10 - 5 * (steps + 1) + 1,
        10 + 5 * (steps + 1) - 1,
    )


def meaning(text: str, measure: dict[str, object], **more: object) -> tuple[int, int] | str:
    """The ends of a text in steps, or what is wrong with it."""
    declaration = declared({}, {"m": measure}, **more)
    read_text = FigureTexts.of(Measure.model_validate(measure), declaration, [text]).read(text)
    return read_text.problem.says if read_text.problem else (read_text.low, read_text.high)


def test_a_figure_above_what_is_hidden_is_larger_than_it():
    rounding = {"base": 5, "above": 7}
    counts = {"counts": "people"}

    assert meaning("10", counts, rounding=rounding) == (8, 12)
    assert meaning("0", counts, rounding=rounding) == (0, 0)
    assert meaning("5", counts, rounding=rounding) == "is no figure that the declared rounding gives"


@pytest.mark.parametrize(
    ("text", "measure", "steps", "ends"),
    [
        ("12090.91", {"mean": "income", "decimals": 2}, 200, (2418181, 2418183)),
        ("12", {"sum": "income"}, 2, (23, 25)),
        ("12.50", {"sum": "income"}, 200, (2499, 2501)),
        ("12.5", {"sum": "income", "decimals": "exact"}, 10, (125, 125)),
        ("100.0", {"share": "smoker", "decimals": 1}, 20, (1999, 2000)),
        ("0", {"share": "smoker", "as": "fraction", "decimals": 2}, 200, (0, 1)),
        ("0", {"sum": "profit", "at_least": -5, "decimals": 0}, 2, (-1, 1)),
        ("20", {"sum": "income", "rounding": {"base": 5}}, 2, (35, 45)),
        ("20", {"sum": "income", "rounding": {"base": 5, "kind": "random"}}, 2, (30, 50)),
        ("20", {"sum": "income", "rounding": {"base": 5, "kind": "down"}}, 2, (40, 50)),
        ("7", {"counts": "people", "noise": {"kind": "bounded", "deviation": 2}}, 1, (5, 9)),
        ("-1", {"counts": "people", "noise": {"kind": "bounded", "deviation": 2}}, 1, (0, 1)),
        ("-3.7", {"counts": "people", "noise": {"kind": "laplace", "scale": 2}}, 1, (0, UNBOUNDED)),
        ("12.0", {"counts": "people"}, 1, (12, 12)),
        ("30", {"mean": "age", "decimals": 0, "at_least": "59/2"}, 2, (59, 61)),
    ],
)
def test_the_ends_of_a_figure(text: str, measure: dict[str, object], steps: int, ends: tuple[int, int]):
    reader = FigureTexts.of(Measure.model_validate(measure), declared({}, {"m": measure}), [text])

    assert reader.scale == steps
    assert (reader.read(text).low, reader.read(text).high) == ends


@pytest.mark.parametrize(
    ("text", "measure", "problem"),
    [
        ("", {"counts": "people"}, "is blank"),
        ("1,234", {"counts": "people"}, "has a separator of thousands or a decimal comma"),
        ("1 234", {"counts": "people"}, "has a separator of thousands or a decimal comma"),
        ("12,5", {"sum": "x"}, "has a separator of thousands or a decimal comma"),
        ("5%", {"share": "x"}, "has a percent sign"),
        ("1e3", {"counts": "people"}, "is no number in plain decimal digits, and no text that `suppressed` declares"),
        ("٣", {"counts": "people"}, "is no number in plain decimal digits, and no text that `suppressed` declares"),
        ("-1", {"counts": "people"}, "is below 0"),
        ("1.5", {"counts": "people"}, "is no whole number"),
        ("7", {"counts": "people", "rounding": {"base": 5}}, "is no figure that the declared rounding gives"),
        ("7", {"sum": "x", "rounding": {"base": 5}}, "is no figure that the declared rounding gives"),
        ("101", {"share": "x"}, "is above what it can be"),
        ("-5", {"sum": "x"}, "is below what it can be"),
        ("10", {"mean": "age", "at_least": 18}, "is below what it can be"),
        ("130", {"mean": "age", "at_most": 120}, "is above what it can be"),
        ("1.234", {"sum": "x", "decimals": 2}, "has more decimals than `decimals` declares"),
        ("9" * 20, {"counts": "people"}, "has more digits than can be computed with exactly"),
        ("9" * 20, {"sum": "x"}, "has more digits than can be computed with exactly"),
    ],
)
def test_texts_that_are_no_figure(text: str, measure: dict[str, object], problem: str):
    assert meaning(text, measure) == problem


def test_counts_are_rounded_to_whole_numbers_only():
    with pytest.raises(ValidationError, match="rounded to a whole number"):
        declared({}, rounding={"base": "1/2"})
    with pytest.raises(ValidationError, match="rounded to a whole number"):
        declared({}, {"n": {"counts": "people", "rounding": {"base": 2.5}}})


@pytest.mark.parametrize(
    ("label", "band"),
    [
        ("17-24", (17, 25)),
        ("17–24", (17, 25)),
        ("-17", (-np.inf, 18)),
        ("<18", (-np.inf, 18)),
        ("<=17", (-np.inf, 18)),
        ("85+", (85, np.inf)),
        (">=85", (85, np.inf)),
        (">84", (85, np.inf)),
        ("[18, 25)", (18, 25)),
        ("(17, 24]", (18, 25)),
        ("(17.0, 24.0]", (18, 25)),
        ("[65, inf)", (65, np.inf)),
        ("25", (25, 26)),
        ("24-17", None),
        ("young", None),
        ("", None),
    ],
)
def test_bands(label: str, band: tuple[float, float] | None):
    assert parse_band(label) == band


def test_a_long_and_a_wide_table_are_the_same(tmp_path: Path):
    wide = "ward,young,old,All\nA,3,4,7\nB,5,<3,7\nAll,8,6,14\n"
    long = read(tmp_path, LONG, declared(BOTH, suppressed=TOKEN))
    across = read(tmp_path, wide, declared(BOTH, suppressed=TOKEN, layout={"rows": ["ward"], "columns": ["age"]}))

    assert not long.findings + across.findings
    assert rows_of(long) == rows_of(across)
    assert long.line.tolist() == list(range(2, 11))
    assert across.line.tolist() == [2, 2, 2, 3, 3, 3, 4, 4, 4]


def test_text_and_typed_columns_are_the_same(tmp_path: Path):
    measures = {"n": {"counts": "people"}, "m": {"mean": "age", "decimals": 1}}
    declaration = declared(WARDS, measures, suppressed={"": [0, 3]})
    text = read(tmp_path, "ward,n,m\nA,,\nB,4,12.5\nAll,6,30\n", declaration)
    frame = pd.DataFrame({"ward": ["A", "B", "All"], "n": [np.nan, 4, 6], "m": [np.nan, 12.5, 30]})
    typed = pa.table(
        {
            "ward": ["A", "B", "All"],
            "n": pa.array([None, 4, 6], pa.int16()),
            "m": pa.array([None, 12.5, 30], pa.float32()),
        }
    )
    parquet.write_table(typed, tmp_path / "typed.parquet")

    for content in (frame, typed, tmp_path / "typed.parquet"):
        other = read(tmp_path, content, declaration)
        assert not other.findings
        for name in measures:
            assert rows_of(other, name) == rows_of(text, name)
        assert other.line.tolist() == [0, 0, 0]


def test_json_lines_have_lines(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"ward": "A", "n": 3}\n{"ward": "All", "n": 3}\n', encoding="utf-8")

    assert read(tmp_path, path, declared(WARDS)).line.tolist() == [1, 2]


def test_a_label_with_a_line_end_moves_the_lines(tmp_path: Path):
    table = read(tmp_path, 'ward,n\n"A\nB",3\n\nC,1\nAll,4\n', declared(WARDS))

    assert table.line.tolist() == [2, 5, 6]


def test_all_findings_are_reported_at_once(tmp_path: Path):
    content = "ward,age,n\nA,young,3\nA,young,3\nA,old,oops\nB,young,-4\nB,old,\nC,old,2.5\nall,old,1\nAll,All,9\n"
    ward = {"total": "All", "hierarchy": {"All": ["A", "B"]}}
    table = read(tmp_path, content, declared({"ward": ward, "age": {"total": "Total"}}))

    assert [(one.kind, one.says.partition(";")[0]) for one in table.findings] == [
        ("unknown_category", "table.csv: ward: 'all' and the total 'All' are spelt alike"),
        ("unknown_category", "table.csv: age: the total 'Total' does not occur"),
        ("unknown_category", "table.csv:7: ward 'C' and 'all' are not in the declared hierarchy or order"),
        ("duplicate_cell", "table.csv:2: ward A, age young has more than one row"),
        ("unknown_token", f"table.csv:4: n of ward A, age old {UNDECLARED.says}"),
        ("impossible_figure", "table.csv:5: n of ward B, age young is below 0"),
        ("unknown_token", "table.csv:6: n of ward B, age old is blank"),
    ]
    assert "oops" not in " ".join(one.says for one in table.findings)
    assert table.findings[4].cells[0].labels == {"ward": "A", "age": "old"}
    assert table.findings[4].cells[0].line == 4


def test_a_total_in_other_letters_is_a_finding(tmp_path: Path):
    (finding,) = read(tmp_path, "ward,n\nA,1\nall,1\n", declared(WARDS)).findings

    assert finding.says == (
        "table.csv: ward: the total 'All' does not occur; did you mean 'all'?; "
        "correct `total`, or write `exhaustive: true` in its place if the table has none and all categories."
    )


def test_a_second_spelling_of_the_total_is_a_finding(tmp_path: Path):
    (finding,) = read(tmp_path, "ward,n\nA,1\nAll,1\nall ,1\n", declared(WARDS)).findings

    assert finding.kind == "unknown_category"
    assert "'all '" in finding.says


def test_an_undecided_token_is_none(tmp_path: Path):
    table = read(tmp_path, "ward,n\nA,x\n", declared({"ward": {}}, suppressed={"x": "TODO"}))

    assert [one.kind for one in table.findings] == ["unknown_token"]


@pytest.mark.parametrize(
    ("absent", "state", "ends"),
    [
        ("zero", CellState.ABSENT, (0, 0)),
        ("unknown", CellState.ABSENT, (0, UNBOUNDED)),
        ("structural", CellState.IMPOSSIBLE, (0, 0)),
    ],
)
def test_combinations_without_a_row(tmp_path: Path, absent: str, state: CellState, ends: tuple[int, int]):
    table = read(tmp_path, "a,b,n\n1,1,3\n2,2,4\n", declared({"a": {}, "b": {}}, absent=absent))

    assert rows_of(table)["1", "2"] == ends
    assert table.figures["n"].state.tolist() == [0, state, state, 0]
    assert table.line.tolist() == [2, 0, 0, 3]


def test_a_node_that_is_not_published_is_not_zero(tmp_path: Path):
    hierarchy = {"north": ["A", "B"], "south": ["C"]}
    table = read(tmp_path, "ward,n\nA,3\nC,4\nAll,7\n", declared({"ward": {"total": "All", "hierarchy": hierarchy}}))

    assert rows_of(table)["north",] == (0, UNBOUNDED)
    assert rows_of(table)["B",] == (0, 0)


def test_a_mean_of_no_row_is_unknown(tmp_path: Path):
    measures = {"m": {"mean": "age", "at_least": 18, "decimals": 0}}
    table = read(tmp_path, "a,b,m\n1,1,30\n2,2,40\n", declared({"a": {}, "b": {}}, measures))

    assert rows_of(table, "m")["1", "2"] == (36, UNBOUNDED)


def test_a_table_of_one_cell(tmp_path: Path):
    table = read(tmp_path, "n\n5\n", declared({}))

    assert (table.shape, rows_of(table), table.say(0)) == ((), {(): (5, 5)}, "the only cell")
    assert [one.kind for one in read(tmp_path, "n\n5\n6\n", declared({})).findings] == ["duplicate_cell"]


def test_cells_in_words(tmp_path: Path):
    table = read(tmp_path, LONG, declared(BOTH, suppressed=TOKEN))

    assert [table.say(cell) for cell in (0, 2, 8)] == ["ward A, age young", "the total of ward A", "the grand total"]


def test_too_many_cells_are_refused_before_they_are_made(tmp_path: Path):
    names = [f"d{number}" for number in range(8)]
    rows = [",".join([str(number)] * 8 + ["1"]) for number in range(10)]
    content = "\n".join([",".join([*names, "n"]), *rows])

    with pytest.raises(DataError, match="combine to 100,000,000 cells"):
        read(tmp_path, content, declared({name: {} for name in names}))
    with pytest.raises(DataError, match="has 9 dimensions"):
        read(tmp_path, content, declared({f"d{number}": {} for number in range(9)}))


@pytest.mark.parametrize(
    ("content", "declaration", "message"),
    [
        ("ward,m\nA,1\n", declared(WARDS), "it has no column 'n'"),
        ("ward,n\n", declared(WARDS), "the table has no rows"),
        ("ward,x\nA,1\n", declared(BOTH, layout={"rows": ["age"], "columns": ["age"]}), "`layout` must name each"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path: Path, content: str, declaration: object, message: str):
    with pytest.raises(DataError, match=message):
        read(tmp_path, content, declaration)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hierarchy", "message"),
    [
        ({"a": ["b"], "b": ["a"]}, "is below itself"),
        ({"a": ["b", "b"]}, "is listed twice"),
        ({"a": ["b", "c"], "b": ["x", "y"], "c": ["y", "z"]}, "share a category"),
        ({"a": []}, "has no children"),
        ({"a": 3}, "must have a list of its children"),
        ({"a": ["b", ["c"]]}, "has labels and lists"),
        ("missing.yaml", "cannot be read"),
    ],
)
def test_hierarchies_that_cannot_be(tmp_path: Path, hierarchy: object, message: str):
    with pytest.raises(PolicyError, match=message):
        read(tmp_path, "ward,n\na,1\n", declared({"ward": {"hierarchy": hierarchy}}))


def test_a_hierarchy_is_nested_flat_or_in_a_file(tmp_path: Path):
    content = "w,n\n" + "\n".join(f"{label},1" for label in ("A", "B", "C", "north", "city", "All"))
    nested = {"north": {"city": ["A", "B"], "C": None}}
    flat = {"north": ["city", "C"], "city": ["A", "B"]}
    (tmp_path / "w.yaml").write_text("north:\n- city: [A, B]\n- C\n", encoding="utf-8")
    tables = [
        read(tmp_path, content, declared({"w": {"total": "All", "hierarchy": one}})) for one in (nested, flat, "w.yaml")
    ]

    for table in tables:
        nodes = table.dimensions[0]
        sums = {nodes.labels[node]: {nodes.labels[one] for one in under} for node, under, _ in nodes.sums}
        assert sums == {"north": {"city", "C"}, "city": {"A", "B"}, "All": {"north"}}
        assert not table.findings
        assert [nodes.labels[leaf] for leaf in nodes.leaves] == ["A", "B", "C"]


def test_two_hierarchies_are_summed_over_leaves(tmp_path: Path):
    content = "w,n\n" + "\n".join(f"{label},1" for label in ("A", "B", "C", "east", "west", "big", "small", "All"))
    two = {"east": ["A", "B"], "west": ["C"], "big": ["A", "C"], "small": ["B"]}
    nodes = read(tmp_path, content, declared({"w": {"total": "All", "hierarchy": two}})).dimensions[0]

    assert [nodes.labels[one] for one in nodes.sums[-1][1]] == ["A", "B", "C"]


def test_categories_are_in_the_declared_order(tmp_path: Path):
    content = "age,n\n85+,1\nAll,6\n25-84,3\n<25,2\n"
    by_bounds = read(tmp_path, content, declared({"age": {"total": "All", "order": "by_bounds"}}))
    listed = read(tmp_path, content, declared({"age": {"total": "All", "order": ["85+", "<25", "25-84"]}}))
    short = read(tmp_path, content, declared({"age": {"total": "All", "order": ["85+", "<25"]}}))
    words = read(tmp_path, "age,n\nold,1\nAll,1\n", declared({"age": {"total": "All", "order": "by_bounds"}}))

    assert by_bounds.dimensions[0].labels == ("<25", "25-84", "85+", "All")
    assert listed.dimensions[0].labels == ("85+", "<25", "25-84", "All")
    assert "not in the declared hierarchy or order" in short.findings[0].says
    assert "'old' is no range such as" in words.findings[0].says


TABLES = st.tuples(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))


def random_rows(seed: int, wards: int, ages: int) -> list[tuple[str, str, str]]:
    """The rows of a table that adds up, some of them hidden, some left out where they are 0."""
    draw = random.Random(seed)  # noqa: S311
    leaves = {(w, a): int(draw.random() ** 3 * 30) for w in range(wards) for a in range(ages)}
    rows = []
    for w, a in product([*range(wards), None], [*range(ages), None]):
        n = sum(v for (i, j), v in leaves.items() if w in (None, i) and a in (None, j))
        if n or draw.random() < 0.5:
            text = "<3" if 1 <= n <= 2 else str(n)
            rows.append(("All" if w is None else f"w{w}", "All" if a is None else f"a{a}", text))
    return rows


@given(TABLES)
@settings(max_examples=25)
def test_neither_the_order_of_rows_nor_the_layout_nor_names_change_a_figure(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[int, int, int]
):
    folder, rows = tmp_path_factory.mktemp("t"), random_rows(*drawn)
    declaration = declared(BOTH, suppressed={**TOKEN, "": "unknown"}, absent="zero")

    def text(some: list[tuple[str, str, str]]) -> str:
        return "ward,age,n\n" + "".join(",".join(one) + "\n" for one in some)

    first = rows_of(read(folder, text(rows), declaration))
    shuffled = random.Random(1).sample(rows, len(rows))  # noqa: S311
    renamed = [(w.replace("w", "Ward "), a, n) for w, a, n in rows]

    assert rows_of(read(folder, text(shuffled), declaration)) == first
    others = rows_of(read(folder, text(renamed), declaration))
    assert {(w.replace("w", "Ward "), a): ends for (w, a), ends in first.items()} == others


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_intervals_of_a_rounded_table_contain_the_truth(tmp_path: Path, seed: int):
    draw = random.Random(seed)  # noqa: S311
    base, kind = draw.randint(2, 12), draw.choice(["conventional", "random", "down", "up", "midpoint"])
    half = draw.choice(["up", "even"]) if kind == "conventional" else None
    truth = [draw.randint(0, 60) for _ in range(60)]
    shown = [draw.choice(sorted(shown_for(kind, base, half, one))) for one in truth]
    content = "c,n\n" + "".join(f"c{place},{one}\n" for place, one in enumerate(shown))
    table = read(tmp_path, content, declared({"c": {}}, rounding={"base": base, "kind": kind, "half": half}))

    assert not table.findings
    assert all(low <= one <= high for one, (low, high) in zip(truth, rows_of(table).values(), strict=True))


def test_a_column_that_is_not_declared_is_a_finding(tmp_path: Path):
    (finding,) = read(tmp_path, "ward,n,deaths\nA,5,1\n", declared({"ward": {}})).findings

    assert finding.says == (
        "table.csv: it has a column that is no dimension and no measure: 'deaths'; declare it, or leave it out of "
        "the file."
    )
