"""Text in other encodings and notations of numbers: read as other libraries read it, and refused where it is wrong."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from tcdp_audit import audit
from tcdp_audit.cli.run import run
from tcdp_audit.core.base.errors import DataError, PolicyError, TcdpAuditError
from tcdp_audit.core.engines.opening import open_engine
from tcdp_audit.core.engines.text_form import PLAIN_FORM, TextForm
from tcdp_audit.core.repair.fixing import fix
from tcdp_audit.drafting import draft_policy

MEMORY = 2**28
GERMAN = "Größe;Straße\n180;Bäckerstraße\n175;Königsallee\n\n170;Gänsemarkt\n"
POLISH = "imię;miasto\nŁukasz;Łódź\nŻaneta;Kraków\nMałgorzata;Wrocław\nWłodzimierz;Gdańsk\n"
RUSSIAN = "имя;город\nИван;Москва\nМария;Казань\nНадежда;Новосибирск\nСергей;Екатеринбург\n"
COMMAS = TextForm(decimal=",", thousands=".", numbers=frozenset({"x"}))


def read(path: Path, form: TextForm = PLAIN_FORM, memory: int = MEMORY) -> pa.Table:
    with open_engine(path, memory, "release", form) as engine:
        return engine.table()


def written(path: Path, content: str | bytes, encoding: str = "utf-8") -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def fault(path: Path, form: TextForm = PLAIN_FORM, kind: type[TcdpAuditError] = DataError) -> str:
    with pytest.raises(kind) as raised:
        read(path, form)
    return str(raised.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize("memory", [MEMORY, 64])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "utf-16"),
    ],
)
def test_an_encoding_is_detected_and_read_as_pandas_reads_it(
    tmp_path: Path, text: str, encoding: str, suffix: str, memory: int
) -> None:
    content = text.encode(encoding)
    path = written(tmp_path / f"x{suffix}", gzip.compress(content) if suffix.endswith("gz") else content)

    expected = pd.read_csv(path, sep=";", encoding=encoding, dtype=str)

    assert read(path, memory=memory).to_pylist() == expected.to_dict("records")


@pytest.mark.parametrize(
    ("text", "encoding"), [(POLISH, "cp1250"), (GERMAN, "cp850"), (GERMAN, "latin-1"), (POLISH, "cp852")]
)
def test_a_declared_encoding_is_used(tmp_path: Path, text: str, encoding: str) -> None:
    path = written(tmp_path / "x.csv", text, encoding)

    expected = pd.read_csv(path, sep=";", encoding=encoding, dtype=str)

    assert read(path, TextForm(encoding)).to_pylist() == expected.to_dict("records")


def test_an_encoding_is_detected_far_behind_the_start(tmp_path: Path) -> None:
    rows = "n;x\n" + "".join(f"{n};Anna\n" for n in range(600_000)) + "7;Jürgen Müller\n8;Käthe Größe\n"
    path = written(tmp_path / "x.csv", rows, "cp1252")

    assert read(path)["x"].to_pylist()[-2:] == ["Jürgen Müller", "Käthe Größe"]


@pytest.mark.parametrize(
    ("content", "declared", "said"),
    [
        (GERMAN.encode(), "cp1252", "x.csv:1: the file is UTF-8, and read_as says cp1252; correct the policy"),
        (
            b"a\n1\n" + "ä\n".encode(),
            "latin-1",
            "x.csv:3: the file is UTF-8, and read_as says latin-1; correct the policy",
        ),
        (
            GERMAN.encode("cp1252"),
            "utf-8",
            "x.csv:1: the text is not UTF-8; save the file as UTF-8, or correct read_as",
        ),
        (
            GERMAN.encode("utf-16"),
            "cp1252",
            "x.csv:1: the file begins with the byte order mark of UTF-16, and read_as says",
        ),
        (GERMAN.encode("cp1252"), "utf-16", "x.csv:1: the text is not utf-16, as read_as says; correct the policy"),
        (
            b"a;b\n1;2\n\x81;3\n",
            "cp1252",
            "x.csv:3: the text is not cp1252, as read_as says; correct the policy, or save",
        ),
        (b"a;b\n1;2\n\xff\xff;3\n", "shift_jis", "x.csv:3: the text is not shift_jis, as read_as says"),
        ("a;b\n1;ä\n".encode("utf-16-le") + b"\x00\xd8", "utf-16-le", "x.csv:3: the text is not utf-16-le, as read_as"),
    ],
)
def test_a_wrong_declaration_is_a_fault_with_its_line(tmp_path: Path, content: bytes, declared: str, said: str) -> None:
    assert fault(written(tmp_path / "x.csv", content), TextForm(declared)).startswith(said)


def test_bytes_of_no_encoding_are_refused(tmp_path: Path) -> None:
    rng = Random(1)  # noqa: S311 - no secret
    noise = b"a;b\n1;" + bytes(rng.randrange(128, 256) for _ in range(3000)) + b"\n"

    assert "or name its encoding in the policy: `read_as: {encoding: cp1252}`" in fault(
        written(tmp_path / "x.csv", noise)
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("decimal", "thousands"), [(",", "."), (",", ""), (",", " "), (".", ","), (".", "'")])
def test_numbers_are_read_as_pandas_reads_them(tmp_path: Path, decimal: str, thousands: str, seed: int) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    numbers = [round(rng.gauss(0, 10 ** rng.randrange(1, 9)), rng.randrange(3)) for _ in range(50)]
    texts = [f"{one:,}".translate({ord(","): thousands or None, ord("."): decimal}) for one in numbers]
    path = written(tmp_path / "x.csv", "x;label\n" + "".join(f"{one};{one}\n" for one in texts))

    table = read(path, TextForm(decimal=decimal, thousands=thousands, numbers=frozenset({"x"})))

    expected = pd.read_csv(path, sep=";", decimal=decimal, thousands=thousands or None)
    assert [float(one) for one in table["x"].to_pylist()] == expected["x"].tolist() == numbers
    assert table["label"].to_pylist() == texts  # a text is no number


@pytest.mark.parametrize("memory", [MEMORY, 64])
def test_ranges_and_tokens_are_read_and_written(tmp_path: Path, memory: int) -> None:
    cells = ["3,5", "[3,5; 4.000,25[", "1.234", "*", "", ">=1,5", "3-4", "n/a", "-1.000,5"]
    path = written(tmp_path / "x.csv", "y;x\n" + "".join(f'a;"{one}"\n' for one in cells))

    table = read(path, COMMAS, memory)

    points = ["3.5", "[3.5; 4000.25[", "1234", "*", None, ">=1.5", "3-4", "n/a", "-1000.5"]
    assert table["x"].to_pylist() == points
    assert COMMAS.write_numbers(pa.table({"x": ["[3.5, 4[", "3.5", "*", None]}))["x"].to_pylist() == [
        *("[3,5; 4[", "3,5", "*", None)
    ]


@pytest.mark.parametrize("cell", ["3.5", "1.23,5", "12.34", "1,234,5", "1 000"])
def test_a_number_in_another_notation_is_refused(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path / "x.csv", f"y;x\na;1,5\nb;{cell}\n")

    assert fault(path, COMMAS) == (
        "x.csv: column 'x' has a number in record 2 that is not written with the decimal mark ',' and the thousands "
        "separator '.', as read_as says; correct the cell, or the policy"
    )
    assert cell not in fault(path, COMMAS).replace("'.'", "")


def _policy(**more: Any) -> dict[str, Any]:
    attributes = {
        "alter": {"role": "quasi_identifier", "scale": "numeric"},
        "ort": {"role": "quasi_identifier"},
        "lohn": {"role": "sensitive", "scale": "numeric"},
    }
    demands = [{"k_anonymity": {"k": 3}}, {"distinct_l_diversity": {"l": 2}}]
    return {"version": 1, "attributes": attributes, "expect": demands, **more}


def _people(path: Path, encoding: str) -> Path:
    rng = Random(2)  # noqa: S311 - no secret
    rows = [
        (f"{rng.randrange(20, 60)},5", rng.choice(["Köln", "Mönchengladbach"]), f"{rng.randrange(1, 9)}.{n:03},25")
        for n in range(60)
    ]
    return written(path, "alter;ort;lohn\n" + "".join(f"{a};{b};{c}\n" for a, b, c in rows), encoding)


@pytest.mark.parametrize(
    ("encoding", "declared"), [("cp1252", "cp1252"), ("cp1252", None), ("utf-16", "utf-16"), ("utf-8", None)]
)
@pytest.mark.parametrize("output", ["out.csv", "out.csv.gz", "out.tsv", "out.xlsx", "out.parquet"])
def test_a_repaired_release_passes_the_policy_that_it_failed(
    tmp_path: Path, encoding: str, declared: str | None, output: str
) -> None:
    read_as = {"decimal": ",", "thousands": ".", **({} if declared is None else {"encoding": declared})}
    policy = _policy(read_as=read_as)

    repaired = fix(_people(tmp_path / "p.csv", encoding), policy, output=tmp_path / output)

    assert not repaired.before.passed
    assert repaired.after.passed
    if output != "out.parquet":  # whose text has decimal points
        assert audit(tmp_path / output, policy).passed
    if output == "out.csv":
        text = (tmp_path / output).read_bytes().decode(declared or "utf-8")
        assert text.startswith("alter;ort;lohn\n")
        assert ",25" in text
        assert "Mönchengladbach" in text


def test_provenance_says_how_text_was_read(tmp_path: Path) -> None:
    path = _people(tmp_path / "p.csv", "cp1252")

    detected = audit(path, _policy(read_as={"decimal": ","} | {"thousands": "."})).release
    declared = audit(path, _policy(read_as={"decimal": ",", "thousands": ".", "encoding": "cp1252"})).release

    assert detected.as_json()["encoding"] == "cp1252, detected from its bytes"
    assert detected.size == "60 records, 3 columns, read as cp1252, detected from its bytes"
    assert declared.as_json()["encoding"] == "cp1252"


def test_a_companion_has_a_form_of_its_own(tmp_path: Path) -> None:
    release = written(tmp_path / "r.csv", "id,x\n" + "".join(f"{n},{n % 2}.5\n" for n in range(8)))
    original = written(tmp_path / "o.csv", "id;x\n" + "".join(f"{n};{n % 2},5\n" for n in range(8)))
    policy = {
        "version": 1,
        "key": "id",
        "original": {"file": str(original), "read_as": {"decimal": ","}},
        "attributes": {"id": {"role": "identifier"}, "x": {"role": "quasi_identifier", "scale": "numeric"}},
        "expect": [{"k_anonymity": {"k": 2}}],
    }

    assert [one.status for one in audit(release, policy).expectations] == ["passed"]


@pytest.mark.parametrize("layout", ["long", "wide"])
def test_a_table_of_figures_has_a_form(tmp_path: Path, layout: str) -> None:
    long = "größe;sex;n\n1,5;m;1.200\n1,5;w;2.300\n1,5;alle;3.500\n2;m;7\n2;w;..\n2;alle;15\n"
    wide = "größe;m;w;alle\n1,5;1.200;2.300;3.500\n2;7;..;15\n"
    file = written(tmp_path / "t.csv", long if layout == "long" else wide, "cp1252")
    table = {
        "file": str(file),
        "read_as": {"decimal": ",", "thousands": "."},
        "about": {"who": "people"},
        "dimensions": {"größe": {}, "sex": {"total": "alle"}},
        "measures": {"n": {"counts": "people"}},
        "suppressed": {"..": [1, 9]},
        **({} if layout == "long" else {"layout": {"rows": ["größe"], "columns": ["sex"]}}),
    }

    result = audit(None, {"version": 1, "tables": {"t": table}, "expect": [{"derivable_small_count": {"k": 10}}]})

    assert not [one.message for one in result.structure if one.status == "error"]
    assert [(one.status, one.observed) for one in result.expectations] == [("failed", 1)]


def test_a_decimal_comma_that_is_not_declared_is_explained(tmp_path: Path) -> None:
    outcomes = audit(_people(tmp_path / "p.csv", "utf-8"), _policy()).outcomes

    said = next(one.message for one in outcomes if one.check == "wrong_scale")
    assert 'a number with a decimal comma; say `read_as: {decimal: ","}`, or write 3.5 for 3,5' in said


@pytest.mark.parametrize(
    ("read_as", "said"),
    [
        ({"encoding": "base64"}, "is no encoding that Python knows"),
        ({"encoding": "cp9999"}, "is no encoding that Python knows"),
        ({"decimal": ",", "thousands": ","}, "are the same mark"),
        ({"thousands": "."}, "are the same mark"),
        ({"decimal": ";"}, "decimal"),
        ({"separator": ";"}, "separator"),
    ],
)
def test_a_wrong_form_is_a_fault_of_the_policy(tmp_path: Path, read_as: dict[str, str], said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        audit(_people(tmp_path / "p.csv", "utf-8"), _policy(read_as=read_as))


def test_a_draft_says_the_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _people(tmp_path / "p.csv", "cp1252")
    written(tmp_path / "q.csv", "zip,pay\n" + "".join(f'0{n},"{n},234.5"\n' for n in range(10, 40)))
    written(tmp_path / "r.csv", "a;b\n" + "".join(f"{n % 9},{n:03};x\n" for n in range(30)))  # a thousand, or not

    forms = [draft_policy(name).read_as for name in ("p.csv", "q.csv", "r.csv")]

    assert forms == [{"p": 'encoding: cp1252, decimal: ",", thousands: "."'}, {"q": 'thousands: ","'}, {}]
    assert run("init", ["p.csv"]) == 0
    text = (tmp_path / "p.tcdp.yaml").read_text()
    assert 'read_as: {encoding: cp1252, decimal: ",", thousands: "."}' in text
    assert "lohn: {role: sensitive, scale: numeric}" in text
