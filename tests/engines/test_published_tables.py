"""Tables of figures of statistical offices: cells as other libraries read or write them, symbols and statuses kept."""

from __future__ import annotations

import json
import warnings
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import sdmx
from pyaxis import pyaxis
from pyjstat import pyjstat
from sdmx.model import v21
from sdmx.model.common import Agency

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import open_table

PLUGINS = Plugins.load(external=False)
PX = """CHARSET="ANSI";
CODEPAGE="{page}";
LANGUAGES="en","de";
TITLE="Persons; by ""region""
"
"and sex";
STUB="region","Age; group";
STUB[de]="Region","Alter";
HEADING="sex";
VALUES("region")="Total","Süd","West";
VALUES("Age; group")="0-17",
"18+";
VALUES("sex")="men","women";
CODES("sex")="M","F";
DATA=
1 2
3 ".."
"." 6 7 8
- 10.5
11 -12;
"""


def read(path: Path) -> pa.Table:
    with open_table(str(path), "release", 2**28, PLUGINS) as engine:
        return engine.table()


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def fault(path: Path) -> str:
    with pytest.raises(DataError) as raised:
        read(path)
    return str(raised.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize("page", ["utf-8", "windows-1252", "iso-8859-15"])
def test_a_px_file_is_read_with_its_symbols(tmp_path: Path, page: str) -> None:
    table = read(written(tmp_path / "t.px", PX.format(page=page).encode(page)))

    assert table.column_names == ["region", "Age; group", "sex", "value"]
    assert table["value"].to_pylist() == ["1", "2", "3", "..", ".", "6", "7", "8", "-", "10.5", "11", "-12"]
    assert table.slice(5, 1).to_pylist() == [{"region": "Süd", "Age; group": "0-17", "sex": "women", "value": "6"}]


@pytest.mark.parametrize("seed", range(8))
def test_random_px_files_are_read_as_pyaxis_reads_them(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    names = [f"d{place}" for place in range(rng.randrange(1, 5))]
    labels = [[f"{name} {place}" for place in range(rng.randrange(2, 5))] for name in names]
    cells = [*product(*labels)]
    figures = [str(rng.randrange(1000)) for _ in cells]
    stub = rng.randrange(1, len(names) + 1)
    listed = {"STUB": names[:stub], **({"HEADING": names[stub:]} if names[stub:] else {})}
    head = [f"{key}={','.join(map(_quoted, some))};" for key, some in listed.items()]
    head += [f"VALUES({_quoted(name)})={','.join(map(_quoted, own))};" for name, own in zip(names, labels, strict=True)]
    path = written(tmp_path / "t.px", "\n".join(['CHARSET="ANSI";', *head, f"DATA=\n{' '.join(figures)};"]) + "\n")

    table = read(path)
    if "HEADING" in listed:  # which pyaxis requires
        frame = pyaxis.parse(str(path), encoding="utf-8")["DATA"]
        assert [*zip(*(table[name].to_pylist() for name in names), strict=True)] == [
            *frame[names].itertuples(index=False, name=None)
        ]
        assert table["value"].to_pylist() == frame["DATA"].astype(str).tolist()
    assert [*zip(*(table[name].to_pylist() for name in names), strict=True)] == cells
    assert table["value"].to_pylist() == figures


def _quoted(text: str) -> str:
    return f'"{text}"'


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("11 -12;", "11;", "t.px: has 11 figures where its categories combine to 12"),
        ("11 -12;", "11 -12", "t.px:15: no statement of PC-Axis begins here, or it has no semicolon"),
        ('STUB="region","Age; group";', 'STUB="other";', "t.px: is no PC-Axis file with STUB or HEADING, their VALUES"),
        ("DATA=", 'KEYS("region")=VALUES;\nDATA=', "t.px: has figures by key (KEYS)"),
        ("utf-8", "ascii", "t.px: the text is not ascii, as CODEPAGE says"),
    ],
)
def test_a_wrong_px_file_is_refused(tmp_path: Path, before: str, after: str, said: str) -> None:
    text = PX.format(page="utf-8").replace(before, after, 1)

    assert fault(written(tmp_path / "t.px", text)).startswith(said)


def _cube(seed: int) -> dict[str, Any]:
    rng = Random(seed)  # noqa: S311 - no secret
    ids = [f"d{place}" for place in range(rng.randrange(1, 5))]
    sizes = [rng.randrange(2, 5) for _ in ids]
    dimension = {
        name: {
            "label": name,
            "category": {
                "index": {f"{name}{place}": place for place in range(size)},
                "label": {f"{name}{place}": f"{name} no. {place}" for place in range(size)},
            },
        }
        for name, size in zip(ids, sizes, strict=True)
    }
    cells = 1
    for size in sizes:
        cells *= size
    values = [rng.choice([None, rng.randrange(1000), 0.5]) for _ in range(cells)]
    return {"version": "2.0", "class": "dataset", "id": ids, "size": sizes, "dimension": dimension, "value": values}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("form", ["list", "by position", "version 1"])
def test_json_stat_is_read_as_pyjstat_reads_it(tmp_path: Path, seed: int, form: str) -> None:
    cube = _cube(seed)
    with warnings.catch_warnings(action="ignore"):  # pyjstat calls what it has deprecated
        frame = pyjstat.Dataset.read(json.dumps(cube)).write("dataframe")
    if form == "by position":
        cube["value"] = {str(place): one for place, one in enumerate(cube["value"]) if one is not None}
    if form == "version 1":
        cube["dimension"] |= {"id": cube.pop("id"), "size": cube.pop("size")}
        cube = {"dataset": cube}

    table = read(written(tmp_path / "t.json", json.dumps(cube)))

    names = [name for name in table.column_names if name != "value"]
    assert [*zip(*(table[name].to_pylist() for name in names), strict=True)] == [
        *frame[names].itertuples(index=False, name=None)
    ]
    expected = [None if one is None or one != one else one for one in frame["value"].tolist()]  # noqa: PLR0124
    assert [None if one is None else float(one) for one in table["value"].to_pylist()] == expected


def test_a_status_replaces_a_value_that_is_null_and_metrics_become_columns(tmp_path: Path) -> None:
    cube = {
        "class": "dataset",
        "id": ["sex", "what"],
        "size": [2, 2],
        "role": {"metric": ["what"]},
        "dimension": {
            "sex": {"category": {"index": ["m", "f"], "label": {"m": "men", "f": "women"}}},
            "what": {"category": {"index": ["persons", "income"]}},
        },
        "value": [5, 1000.25, None, 12345678901234567890],
        "status": {"2": "c", "0": "p"},
    }

    assert read(written(tmp_path / "t.json", json.dumps(cube))).to_pydict() == {
        "sex": ["men", "women"],
        "persons": ["5", "c"],
        "income": ["1000.25", "12345678901234567890"],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "t.json: is no JSON in UTF-8, or cut off"),
        ("[" * 100_000, "t.json: is no JSON in UTF-8, or cut off"),
        ("[]", "t.json: is no dataset of JSON-stat"),
        ('{"class": "collection", "link": {}}', "t.json: is no dataset of JSON-stat"),
        (json.dumps({**_cube(1), "size": [9, 9]}), "t.json: the size of a dimension is not its number"),
        (json.dumps({**_cube(1), "value": [1]}), "t.json: is no dataset of JSON-stat"),
    ],
)
def test_wrong_json_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert fault(written(tmp_path / "t.json", text)).startswith(said)


FIGURES = (3, 20, 23, 15, 25, 40, 18, 45, 63)
SDMX = """STRUCTURE,STRUCTURE_ID,ACTION,SEX,TIME_PERIOD,OBS_VALUE,OBS_STATUS,CONF_STATUS,UNIT_MULT
dataflow,X:T(1.0),I,M,2024,17,A,F,0
dataflow,X:T(1.0),I,F,2024,,A,C,0
"""


def test_sdmx_csv_keeps_dimensions_and_figures(tmp_path: Path) -> None:
    assert read(written(tmp_path / "t.sdmx.csv", SDMX)).to_pydict() == {
        "SEX": ["M", "F"],
        "TIME_PERIOD": ["2024", "2024"],
        "OBS_VALUE": ["17", "C"],
    }


LABELS = ("1", "0012", "Süd", "a, b", 'so "called"', "two\nlines", "_T", "2024-W03", "=1+1")


@pytest.mark.parametrize("seed", range(12))
def test_random_sdmx_csv_is_read_as_sdmx1_writes_it(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    names = [f"D{place}" for place in range(rng.randrange(1, 5))]
    cells = [*product(*(rng.sample(LABELS, rng.randrange(2, 5)) for _ in names))]
    rng.shuffle(cells)
    figures = [rng.choice([rng.randrange(-9, 1000), rng.randrange(10**9) / 64]) for _ in cells]
    agency = Agency(id="X")
    structure = v21.DataStructureDefinition(id="D", version="1.0", maintainer=agency)
    for name in names:
        structure.dimensions.append(v21.Dimension(id=name))
    structure.measures.append(v21.PrimaryMeasure(id="OBS_VALUE"))
    flow = v21.DataflowDefinition(id="T", version="1.0", maintainer=agency, structure=structure)
    observed = [
        v21.Observation(dimension=structure.make_key(v21.Key, dict(zip(names, cell, strict=True))), value=figure)
        for cell, figure in zip(cells, figures, strict=True)
    ]
    path = tmp_path / "t.sdmx.csv"
    sdmx.to_csv(v21.DataSet(described_by=flow, structured_by=structure, obs=observed), path=path)

    table = read(path)

    assert table.column_names == [*names, "OBS_VALUE"]
    assert [*zip(*(table[name].to_pylist() for name in names), strict=True)] == cells
    assert [float(one) for one in table["OBS_VALUE"].to_pylist()] == figures


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("OBS_VALUE", "VALUE", "t.sdmx.csv: has no column OBS_VALUE"),
        ("F,2024,,A,C,0", "F,2024,,A,C,3", "t.sdmx.csv: has figures in tens, thousands or the like (UNIT_MULT)"),
        ("X:T(1.0),I,F", "X:U(1.0),I,F", "t.sdmx.csv: has observations of several tables (STRUCTURE_ID)"),
        ("X:T(1.0),I,F", "X:T(1.0),D,F", "t.sdmx.csv: has rows that delete observations"),
        ("17,A,F,0", "17,A,F", "t.sdmx.csv:2: the record has another number of cells than the header"),
    ],
)
def test_a_wrong_sdmx_csv_file_is_refused(tmp_path: Path, before: str, after: str, said: str) -> None:
    assert fault(written(tmp_path / "t.sdmx.csv", SDMX.replace(before, after))).startswith(said)


def test_an_audit_of_figures_takes_all_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = 'STUB="ward";HEADING="sex";VALUES("ward")="N","S","Total";VALUES("sex")="f","m","Total";'
    written(tmp_path / "t.px", f'CHARSET="ANSI";{text}DATA=".." 20 23 15 25 40 18 45 63;')
    rows = "".join(f"X:T(1),{w},{s},{v}\n" for (w, s), v in zip(product("NST", "fmt"), FIGURES, strict=True))
    written(tmp_path / "t.sdmx.csv", "DATAFLOW,ward,sex,OBS_VALUE\n" + rows)
    cube = {
        "id": ["ward", "sex"],
        "size": [3, 3],
        "dimension": {one: {"category": {"index": ["a", "b", "Total"]}} for one in ("ward", "sex")},
        "value": [None, 20, 23, 15, 25, 40, 18, 45, 63],
        "status": {"0": "c"},
    }
    written(tmp_path / "t.json", json.dumps(cube))

    for file, value, total, hides in (
        ("t.px", "value", "Total", {"..": [1, 9]}),
        ("t.json", "value", "Total", {"c": [1, 9]}),
    ):
        policy = {
            "version": 1,
            "tables": {
                "t": {
                    "file": file,
                    "about": {"who": "patients"},
                    "dimensions": {"ward": {"total": total}, "sex": {"total": total}},
                    "measures": {value: {"counts": "people"}},
                    "suppressed": hides,
                }
            },
            "expect": [{"derivable_small_count": {"k": 10}}],
        }
        result = audit(None, policy)
        (outcome,) = result.expectations
        assert outcome.status == "failed"
        assert outcome.observed == 1
    assert run("init", ["t.px", "--kind", "figures"]) == 0
    assert "total: Total" in Path("t.tcdp.yaml").read_text()
    assert run("init", ["t.sdmx.csv", "--kind", "figures", "--force"]) == 0
