"""Text in fixed width: cells as pandas reads them, and what no column covers."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pandas as pd
import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError, TcdpAuditError, UsageError
from tcdp_audit.core.engines.text_form import TextForm
from tcdp_audit.core.repair.fixing import fix
from tcdp_audit.core.session.registry import Plugins
from tcdp_audit.core.session.tables import open_table

PLUGINS = Plugins.load(external=False)
LAYOUT = "name,start,width\nage,1,3\nname,5,8\npay,13,7\n"
RECORDS = " 23 Müller  1.234,5\n  7 Ö        17,25\n100          \n"


def files(folder: Path, records: str | bytes = RECORDS, layout: str = LAYOUT) -> Path:
    (folder / "x.layout.csv").write_text(layout, encoding="utf-8")
    (folder / "x.dat").write_bytes(records.encode() if isinstance(records, str) else records)
    return folder / "x.dat"


def read(path: Path, **form: object) -> dict[str, list[str | None]]:
    form_of_file = TextForm(layout=path.with_suffix(".layout.csv"), **form)  # type: ignore[arg-type]
    with open_table(str(path), "release", 2**28, PLUGINS, form_of_file) as engine:
        return engine.table().to_pydict()


def fault(path: Path, kind: type[TcdpAuditError] = DataError) -> str:
    with pytest.raises(kind) as raised:
        read(path)
    return str(raised.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_cells_are_at_their_places(tmp_path: Path, encoding: str, line_end: str) -> None:
    path = files(tmp_path, (RECORDS.replace("\n", line_end) + line_end).encode(encoding))

    assert read(path, decimal=",", thousands=".", numbers=frozenset({"pay"})) == {
        "age": ["23", "7", "100"],
        "name": ["Müller", "Ö", None],
        "pay": ["1234.5", "17.25", None],
    }


@pytest.mark.parametrize("seed", range(10))
def test_random_files_are_read_as_pandas_reads_them(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    widths = [rng.randrange(1, 9) for _ in range(rng.randrange(1, 7))]
    rows = [["".join(rng.choices("aé€ 0", k=width)) for width in widths] for _ in range(rng.randrange(2, 60))]
    lines = ["".join(row) for row in rows if "".join(row).strip()]
    starts = [sum(widths[:place]) for place in range(len(widths))]
    layout = "".join(f"c{place},{start + 1},{widths[place]}\n" for place, start in enumerate(starts))
    path = files(tmp_path, "\n".join(lines) + "\n", "name,start,width\n" + layout)

    ends = [(start, start + width) for start, width in zip(starts, widths, strict=True)]
    frame = pd.read_fwf(path, colspecs=ends, header=None, dtype=str, delimiter=" ", keep_default_na=False)

    assert list(read(path).values()) == [[one or None for one in frame[place]] for place in range(len(widths))]


@pytest.mark.parametrize(
    ("records", "said"),
    [
        (" 23xMüller\n", "x.dat:1: the line has characters at place 4 that no column of the layout covers"),
        (" 23 A\n" + " " * 19 + "x\n", "x.dat:2: the line has characters from place 20 that no column"),
        (" 23\tA\n", "x.dat:1: the line has a tab, so that its places are unknown"),
        (" 23 A\n\n 24 B\n", "x.dat:2: the line is blank; remove it, or write the record"),
        ("", "x.dat: the file is empty"),
    ],
)
def test_nothing_is_left_unread(tmp_path: Path, records: str, said: str) -> None:
    assert fault(files(tmp_path, records)).startswith(said)


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        ("name,start\na,1\n", "x.layout.csv: the layout has not the columns name, start and width"),
        ("name,start,width\n", "x.layout.csv: the layout has not the columns"),
        ("name,start,width\na,0,1\n", "x.layout.csv:2: start and width are whole numbers from 1"),
        ("name,start,width\na,1,3\nb,3,1\n", "x.layout.csv: the places of 'a' and 'b' overlap"),
        ("name,start,width\na,1,3\na,4,1\n", "x.layout.csv: the column name 'a' appears more than once"),
        ("name,start,width\n,1,3\n", "x.layout.csv: column 1 has no name"),
    ],
)
def test_a_wrong_layout_is_refused(tmp_path: Path, layout: str, said: str) -> None:
    assert fault(files(tmp_path, layout=layout)).startswith(said)


def test_commands_take_the_layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files(tmp_path, "".join(f" {20 + n % 2} Ulm      {n % 3}1,5\n" for n in range(12)))

    assert run("init", ["x.dat"]) == 0
    assert 'read_as: {layout: x.layout.csv, decimal: ","}' in Path("x.tcdp.yaml").read_text()
    policy = {
        "version": 1,
        "read_as": {"layout": str(tmp_path / "x.layout.csv"), "decimal": ","},
        "attributes": {
            "age": {"role": "quasi_identifier", "scale": "numeric"},
            "name": {"role": "quasi_identifier"},
            "pay": {"role": "sensitive", "scale": "numeric"},
        },
        "expect": [{"k_anonymity": {"k": 6}}],
    }
    result = audit("x.dat", policy)
    assert result.passed
    assert [one.kind for one in result.files] == ["layout"]


def test_without_a_layout_the_sentence_says_how(tmp_path: Path) -> None:
    (tmp_path / "y.txt").write_text("a\n")

    with pytest.raises(UsageError, match=r"y.txt: text in fixed width needs a layout, .*`read_as: \{layout: FILE\}`"):
        open_table(str(tmp_path / "y.txt"), "release", 2**28, PLUGINS)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("out.dat", "a generalised cell such as [20, 30[ has no room in the layout, so write .csv, .tsv or .parquet"),
        ("out.ods", "write .xlsx, which the programs of other kinds open and save"),
        ("out.sav", "write .csv, which SPSS, Stata and SAS import"),
    ],
)
def test_a_kind_of_file_that_is_only_read_says_what_to_write(tmp_path: Path, name: str, said: str) -> None:
    table = pa.table({"age": [1, 2], "ill": ["a", "b"]})
    policy = {
        "version": 1,
        "attributes": {"age": {"role": "quasi_identifier"}, "ill": {"role": "sensitive"}},
        "expect": [{"k_anonymity": {"k": 1}}],
    }

    with pytest.raises(UsageError, match=re.escape(f"{name}: files of this kind are read and not written; {said}")):
        fix(table, policy, output=tmp_path / name)
    assert not (tmp_path / name).exists()
