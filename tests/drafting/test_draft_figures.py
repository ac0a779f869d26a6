"""Tables of figures are recognised by their figures alone, and a draft of them has faults exactly at its TODOs."""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from tcdp_audit import PolicyError, UsageError
from tcdp_audit.api import read_policy
from tcdp_audit.cli.run import run
from tcdp_audit.core.check.aggregate_check import AggregateCheck, CellFigure
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.drafting import PolicyDraft, draft_policy
from tcdp_audit.drafting.figures import NO_TOTAL, Guess, Total, figures_of, guess_of, number_of, total_of
from tcdp_audit.plugin.check import Parameters, hookimpl
from tcdp_audit.plugin.engine import DataError
from tcdp_audit.testing.reports import SAMPLE

ADMISSIONS = """\
ward,age,patients,visits,mean_income,smokers_%
All,All,60,131,3000.50,10.1
All,18-34,25,51,2500.00,12.0
All,35+,35,80,3357.20,8.8
A,All,40,90,2900.10,10.0
A,18-34,18,35,2400.00,11.1
A,35+,22,55,3300.00,9.0
B,All,20,41,3201.30,10.2
B,18-34,<10,16,*,:c
B,35+,13,25,3400.00,8.2
"""
MEN = "age,n\nAll,33\n18-34,11\n35+,22\n"
WIDE = "ward,<18,18-64,65+,Total\nA,10,20,30,60\nB,1,*,4,8\nC,2,2,2,6\nTotal,13,25,36,74\n"
PEOPLE = "sex,age,ill\nf,34,flu\nm,35,asthma\nf,36,flu\nm,40,flu\n"


def _check(name: str) -> Any:
    return AggregateCheck(
        name=name,
        title="Sample",
        guide=SAMPLE.guide,
        disclosure_type=SAMPLE.disclosure_type,
        parameters=Parameters,
        measure=lambda _, __: CellFigure(0, 1),
    )


def plugins() -> Plugins:
    loaded = Plugins.load(external=False)
    if "cell_frequency" not in loaded.checks:
        loaded.register(SimpleNamespace(tcdp_audit_checks=hookimpl(lambda: [_check("cell_frequency")])), "sample")
    return loaded


PLUGINS = plugins()


def drafted(folder: Path, kind: str | None = None, **texts: str) -> PolicyDraft:
    files = {name: folder / f"{name}.csv" for name in texts}
    for name, file in files.items():
        file.write_text(texts[name], encoding="utf-8")
    return draft_policy(files, plugins=PLUGINS, kind=kind)


def text_of(draft: PolicyDraft, folder: Path) -> str:
    path = folder / "draft.tcdp.yaml"
    draft.write(path, force=True)
    return path.read_text(encoding="utf-8")


def test_a_draft_says_what_the_figures_say(tmp_path: Path) -> None:
    text = text_of(drafted(tmp_path, admissions=ADMISSIONS, men=MEN, wide=WIDE), tmp_path)
    lines = {line.strip() for line in text.splitlines()}
    assert {
        "ward: {total: All}",
        "age: {total: All, order: by_bounds}",
        "patients: {counts: people}",
        "visits: {counts: rows, of: visit}",
        "mean_income: {mean: income, decimals: 2, over: patients}",
        '"smokers_%": {share: smokers, decimals: 1, as: percent, over: patients}',
        'suppressed: {"*": TODO, ":c": TODO, "<10": TODO}',
        '"n": {counts: TODO}',
        "layout: {rows: [ward], columns: [TODO]}",
        "ward: {total: Total}",
        "TODO: {total: Total, order: by_bounds}",
        "about: {who: TODO}",
    } <= lines
    assert "attributes" not in text


def test_its_faults_are_its_todos(tmp_path: Path) -> None:
    path = tmp_path / "draft.tcdp.yaml"
    text = text_of(drafted(tmp_path, admissions=ADMISSIONS, men=MEN, wide=WIDE, people=PEOPLE), tmp_path)
    with pytest.raises(PolicyError) as error:
        read_policy(path, PLUGINS)
    todos = [
        number
        for number, line in enumerate(text.splitlines(), 1)
        for _ in re.findall(r"\bTODO\b", line)
        if not line.lstrip().startswith("#")
    ]
    assert [line for line, _, _ in error.value.faults] == todos
    decided = (
        text.replace("role: TODO", "role: sensitive")
        .replace("who: TODO", "who: x")
        .replace("counts: TODO", "counts: people")
        .replace("[TODO]", "[age]")
    )
    path.write_text(re.sub(r"(?m)^( *)TODO:", r"\1age:", decided).replace(": TODO", ": unknown"), encoding="utf-8")
    document = read_policy(path, PLUGINS).document
    assert list(document.aggregates or ()) == ["admissions", "men", "wide"]
    assert list(document.attributes) == ["sex", "age", "ill"]
    assert Path(document.release or "").name == "people.csv"


def test_several_tables_of_records_stay_linked(tmp_path: Path) -> None:
    patients, visits = "patient,sex\np,f\nq,m\nr,f\n", "patient,ward\np,a\np,b\nq,a\n"
    draft = drafted(tmp_path, men=MEN, patients=patients, visits=visits)
    assert [one.name for one in draft.tables] == ["patients", "visits"]
    assert [one.name for one in draft.figures] == ["men"]
    assert draft.unit == "patient"


MICRODATA = {
    "people": PEOPLE,
    "one row a person": "name,visits\nann,3\nbob,2\ncy,1\n",
    "a sum among few": "id,children\n1,4\n2,1\n3,1\n4,1\n5,1\n",
    "columns that add up": "id,wage,bonus,total\n1,10,2,12\n2,20,1,21\n3,9,9,18\n4,5,1,6\n",
    "columns and one row": "id,wage,bonus,total\n1,10,2,12\n2,20,4,24\n3,30,6,36\n4,5,1,6\n",
    "flags": "id,a,b\n1,1,0\n2,1,0\n3,0,1\n4,0,1\n",
    "only zeros": "ward,n\nAll,0\nA,0\nB,0\n",
    "visits": "patient,day,cost\np,1,10\np,2,20\nq,1,30\nq,2,5\n",
    "one column": "age\n3\n4\n5\n",
    "text": "a,b\nx,y\nz,w\n",
}


@pytest.mark.parametrize("name", MICRODATA)
def test_records_stay_records(name: str, tmp_path: Path) -> None:
    assert not drafted(tmp_path, one=MICRODATA[name]).figures


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_random_records_stay_records(seed: int) -> None:
    source = random.Random(seed)  # noqa: S311 - no secret
    rows = source.randint(2, 40)
    columns = {f"c{n}": [source.randint(0, source.choice([1, 5, 90])) for _ in range(rows)] for n in range(3)}
    columns["sex"] = [source.choice("fm") for _ in range(rows)]
    with open_engine(pa.table(columns), 2**26) as engine:
        assert figures_of("t", None, engine, asked=False) is None


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_addition_gives_the_totals(seed: int, width: int, is_hidden: bool) -> None:
    """All margins of a random table; where cells are hidden, the total has to be called one."""
    source = random.Random(seed)  # noqa: S311 - no secret
    total = "All" if is_hidden or width == 1 else "zzz"
    labels = [[f"v{n}" for n in range(source.randint(3, 5))] for _ in range(width)]
    cells = {key: source.randint(1, 30) for key in product(*labels)}
    figures = {
        key: sum(value for cell, value in cells.items() if all(a in (total, b) for a, b in zip(key, cell, strict=True)))
        for key in product(*[[*one, total] for one in labels])
    }
    order = source.sample(list(figures), len(figures))
    hidden = {key for key in order if is_hidden and total not in key and figures[key] < 5}
    table = {f"d{n}": [key[n] for key in order] for n in range(width)}
    counts = ["*" if key in hidden else str(figures[key]) for key in order]
    with open_engine(pa.table({**table, "n": counts}), 2**26) as engine:
        drafted = figures_of("t", None, engine, asked=True)
    assert drafted is not None
    said = "\n".join(drafted.lines)
    assert said.count(f"{{total: {total}}}") == width, said
    assert ("suppressed" in said) == bool(hidden)


def test_what_is_called_a_total_and_does_not_add_up_is_left_open(tmp_path: Path) -> None:
    text = text_of(drafted(tmp_path, "figures", one="ward,n\nAll,9\nA,4\nB,4\n"), tmp_path)
    assert "ward: {total: TODO}" in text
    assert "Are there subtotals?" in text


def test_totals_of_what_is_shown_get_a_comment(tmp_path: Path) -> None:
    text = text_of(drafted(tmp_path, "figures", one="ward,n\nAll,9\nA,4\nB,5\nC,*\n"), tmp_path)
    assert "ward: {total: All}" in text
    assert "say `totals: shown`" in " ".join(text.replace("#", "").split())


def test_a_rounded_table_keeps_what_is_called_a_total(tmp_path: Path) -> None:
    rows = "".join(f"w{n},{10 * n}\n" for n in range(1, 10))
    text = text_of(drafted(tmp_path, "figures", one=f"ward,n\nTotal,440\n{rows}"), tmp_path)
    assert "ward: {total: Total}" in text
    assert "Every figure is a multiple of 10" in " ".join(text.replace("#", "").split())


@pytest.mark.parametrize(
    ("name", "cells", "entries"),
    [
        ("n", "12", [("counts", "TODO")]),
        ("N patients", "12", [("counts", "people")]),
        ("admissions", "12", [("counts", "rows"), ("of", "admission")]),
        ("mean_age", "12.5", [("mean", "age"), ("decimals", "1")]),
        ("avgIncome", "12", [("mean", "income"), ("decimals", "0")]),
        ("median_stay", "3", [("quantile", "stay"), ("at", "0.5"), ("decimals", "0")]),
        ("p90_stay", "3", [("quantile", "stay"), ("at", "0.90"), ("decimals", "0")]),
        ("max_age", "3", [("maximum", "age"), ("decimals", "0")]),
        ("sd of age", "3.25", [("deviation", "age"), ("decimals", "2")]),
        ("share_smokers", "0.25", [("share", "smokers"), ("decimals", "2"), ("as", "fraction")]),
        ("%", "25.0", [("share", "TODO"), ("decimals", "1"), ("as", "percent")]),
        ("x", "-3", [("mean", "TODO"), ("decimals", "0")]),
    ],
)
def test_a_measure_is_guessed_from_its_name(name: str, cells: str, entries: list[tuple[str, str]]) -> None:
    assert guess_of(name, [number_of(cells)]).entries == entries
    assert isinstance(guess_of(name, [None]), Guess)


def test_a_total_needs_a_figure() -> None:
    assert total_of([]) == Total(None, NO_TOTAL)


def test_what_is_no_table_of_figures_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no table of figures"):
        drafted(tmp_path, "figures", one="a,b\nx,y\nz,w\n")
    nine = ",".join(f"d{n}" for n in range(9))
    cross = "".join(f"{','.join(one)},1\n" for one in product("ab", repeat=9))
    with pytest.raises(DataError, match="has 9 columns of labels"):
        drafted(tmp_path, "figures", one=f"{nine},n\n{cross}")
    with pytest.raises(UsageError, match="'records' or 'figures'"):
        drafted(tmp_path, "tables", one=MEN)
    with pytest.raises(UsageError, match="neither roles nor intruders"):
        draft_policy(pa.table({"age": ["All", "a", "b", "c"], "n": [6, 1, 2, 3]}), plugins=PLUGINS, scenarios=True)


def test_any_table_is_one_of_records_if_that_is_said(tmp_path: Path) -> None:
    assert not drafted(tmp_path, "records", men=MEN).figures


def test_a_folder_of_outputs_gives_one_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outputs").mkdir()
    for number in range(10):
        (tmp_path / "outputs" / f"t{number}.csv").write_text(ADMISSIONS, encoding="utf-8")
    (tmp_path / "outputs" / "log.txt").write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run("init", ["outputs", "--kind", "figures"]) == 0
    assert "10: t0, t1, t2, t3, t4, t5, t6, t7, and 2 more" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "tables.tcdp.yaml").read_text(encoding="utf-8").count("about: {who: TODO}") == 10
    (tmp_path / "none").mkdir()
    assert run("init", ["none", "--kind", "figures"]) == 2
    assert "the folder holds no .csv or .parquet file" in capsys.readouterr().err


def test_the_columns_of_a_wide_table_have_the_name_that_another_table_gives_their_labels(tmp_path: Path) -> None:
    (tmp_path / "a_wide.csv").write_text(
        "ward,female,male,All\nA,10,20,30\nB,11,21,32\nAll,21,41,62\n", encoding="utf-8"
    )
    (tmp_path / "b.csv").write_text("age,sex,n\n" + "".join(
        f"{age},{sex},{n}\n" for age, ns in (("x", (7, 21, 28)), ("y", (14, 20, 34)), ("All", (21, 41, 62)))
        for sex, n in zip(("female", "male", "All"), ns, strict=True)
    ), encoding="utf-8")  # fmt: skip
    both = {one: tmp_path / f"{one}.csv" for one in ("a_wide", "b")}
    text = text_of(draft_policy(both, kind="figures"), tmp_path)
    assert "layout: {rows: [ward], columns: [sex]}" in text
    assert "      sex: {total: All}" in text
    (tmp_path / "c.csv").write_text(
        (tmp_path / "b.csv").read_text(encoding="utf-8").replace("sex", "gender"), encoding="utf-8"
    )
    ambiguous = text_of(draft_policy({**both, "c": tmp_path / "c.csv"}, kind="figures"), tmp_path)
    assert "columns: [TODO]" in ambiguous


def test_a_total_in_a_name_is_a_sum_and_alone_it_is_a_label(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("ward,patients,total_cost\nA,10,200\nB,20,300\nAll,30,500\n", encoding="utf-8")
    text = text_of(draft_policy({"t": tmp_path / "t.csv"}, kind="figures"), tmp_path)
    assert "total_cost: {sum: cost" in text
    for check in ("cell_frequency", "derivable_small_count", "table_differencing"):
        assert f"- {check}:" in text
